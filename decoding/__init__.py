"""From a model's logits to text, with a record of every step. Knows models only by `model.interface`."""
