"""Write without a browser."""
