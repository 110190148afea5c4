"""The networks, their text and their checkpoints."""
