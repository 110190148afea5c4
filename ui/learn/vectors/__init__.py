"""Chapter: words as vectors."""
