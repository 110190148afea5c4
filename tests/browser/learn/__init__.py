"""Learn in a real browser."""
