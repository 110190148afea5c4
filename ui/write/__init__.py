"""The Write tab."""
