"""Chapter: a block by hand."""
