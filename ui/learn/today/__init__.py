"""Chapter: from this block to today's models."""
