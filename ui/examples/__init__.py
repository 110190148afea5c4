"""Recorded runs that a tab shows until the visitor has one of their own; `python -m docs.examples` records them."""
