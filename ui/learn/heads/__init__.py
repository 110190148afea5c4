"""The chapter on several heads."""
