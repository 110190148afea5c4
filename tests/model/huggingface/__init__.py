"""Tests of Hugging Face checkpoints."""
