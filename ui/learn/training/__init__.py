"""Chapter: one training step."""
