"""Chapter: positions."""
