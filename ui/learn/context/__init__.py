"""The chapter on a word in its context."""
