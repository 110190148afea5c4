"""Tests of the compiled step."""
