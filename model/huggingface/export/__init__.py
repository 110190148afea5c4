"""Models of ours in the layouts of transformers."""
