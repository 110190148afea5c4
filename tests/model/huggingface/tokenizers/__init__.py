"""Tests of the tokenizers that a checkpoint's files have."""
