"""Chat without a browser."""
