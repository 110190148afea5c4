"""Tests of what the chapter on why attention was needed computes."""
