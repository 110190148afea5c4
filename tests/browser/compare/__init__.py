"""The Compare tab in a browser."""
