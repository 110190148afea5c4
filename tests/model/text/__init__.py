"""Tokenizers, conversations and languages."""
