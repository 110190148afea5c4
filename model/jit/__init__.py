"""Compiles plain loops over arrays to machine code, and keeps that on the disk."""

from model.jit.functions import AVAILABLE, announced, compiled

__all__ = ["AVAILABLE", "announced", "compiled"]
