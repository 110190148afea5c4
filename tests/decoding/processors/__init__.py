"""Tests of the processors."""
