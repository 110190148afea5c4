"""The Translate tab."""
