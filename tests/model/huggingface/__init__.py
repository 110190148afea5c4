"""Checkpoints of other makers."""
