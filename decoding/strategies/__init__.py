"""One module per strategy: how the next tokens are chosen from the logits of a pass."""
