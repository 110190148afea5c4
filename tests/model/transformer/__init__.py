"""Our own network."""
