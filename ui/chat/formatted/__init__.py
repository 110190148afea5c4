"""Answers as formatted text instead of tokens."""
