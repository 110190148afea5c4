"""What the lesson shows."""
