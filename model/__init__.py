"""Our transformer, its tokenizer and its checkpoints; the rest of Attend knows only `model.interface` of it."""
