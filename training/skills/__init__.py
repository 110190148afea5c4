"""Synthetic dialogues that teach a small model to use its context.

The TOML files and `common_words.txt` hold wordings and values; `facts` and `exercises` fill in the wordings,
`dialogues` mixes the results with small talk, `testing` writes the held-out test, and `scoring` scores a model on it.
"""
