"""Serving the page: launch, security and the endpoints for programs."""
