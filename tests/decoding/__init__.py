"""Decoding, against slow twins and transformers."""
