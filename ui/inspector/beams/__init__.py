"""The tree and the table of beams."""
