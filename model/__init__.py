"""Our transformer, its tokenizer and its checkpoints. The rest of Attend only knows `model.interface`."""
