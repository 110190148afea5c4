"""Tests of what families of transformers have in common."""
