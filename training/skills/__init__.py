"""Dialogues written by a program, from which a small model learns to use what stands in its context.

`kinds.toml`, `wordings.toml`, `values.toml` and `talk.toml` are what is said, `facts` and `exercises` how it is put
together, `dialogues` mixes it with small talk, and `testing` writes the items that no training saw.
"""
