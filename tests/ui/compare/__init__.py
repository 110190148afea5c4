"""Compare without a browser."""
