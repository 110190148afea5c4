"""Chapter: sentences to look at."""
