"""Our own network, written to be read: decoder-only and encoder-decoder, with its cache and its checkpoints."""
