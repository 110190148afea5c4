"""Translate without a browser."""
