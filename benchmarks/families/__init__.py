"""Every model family of transformers, compared with transformers itself."""
