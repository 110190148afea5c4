"""All that knows transformers: checkpoints of other makers, run through it or converted to our own network."""
