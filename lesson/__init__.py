"""What the lesson shows, computed by the model's own code; knows nothing of pages."""
