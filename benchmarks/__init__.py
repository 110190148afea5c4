"""Attend held against its peers and its own aims: each benchmark prints a table, then one JSON line last."""
