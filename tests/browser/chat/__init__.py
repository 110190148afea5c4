"""The Chat tab in a browser."""
