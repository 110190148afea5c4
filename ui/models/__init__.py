"""The choice of a model."""
