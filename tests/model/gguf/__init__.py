"""Tests of GGUF files: written here by the `gguf` package, and a real one from a package."""
