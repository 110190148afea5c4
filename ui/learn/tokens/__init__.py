"""Chapter: tokens, side by side."""
