"""Chapter: how a text is generated."""
