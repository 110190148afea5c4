"""Decoding: from a model's logits to text, every step told. Knows of models only what `model.interface` says."""
