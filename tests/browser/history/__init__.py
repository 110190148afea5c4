"""What the visitor's browser keeps, in a real browser."""
