"""Tests of our own transformer."""
