"""Chapter: attention by hand."""
