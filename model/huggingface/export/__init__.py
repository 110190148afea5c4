"""Export of our models to the layouts of transformers."""
