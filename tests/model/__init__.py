"""Tests of models, tokenizers and checkpoints."""
