"""Tokenizers of checkpoints: which file says how a text is cut, and what that file's own library makes of it."""
