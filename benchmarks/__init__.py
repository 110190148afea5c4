"""Benchmarks of Attend beside other engines. Each prints a table, and one JSON line last."""
