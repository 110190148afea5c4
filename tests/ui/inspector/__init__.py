"""What is told of a run."""
