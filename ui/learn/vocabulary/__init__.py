"""Chapter: a vocabulary of your own."""
