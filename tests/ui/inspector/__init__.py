"""Tests of the inspector's values."""
