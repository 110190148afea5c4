"""Choosing and loading models."""
