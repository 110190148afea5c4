"""The same network as fast single steps, in full precision and in 8 bits; held equal to `model.transformer`."""
