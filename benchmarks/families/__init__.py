"""Every family of models that transformers has, held against transformers."""
