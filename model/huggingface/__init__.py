"""Everything that uses transformers: checkpoints in its format, run through it or converted to our own network."""
