"""Its fast steps."""
