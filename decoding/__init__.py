"""From a model's logits to text, every step on record. Knows of models only what is in `model.interface`."""
