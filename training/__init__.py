"""How the embedded checkpoints were made: data, the training loop and the metric."""
