"""Training, evaluation and experiments."""
