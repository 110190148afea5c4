"""Plain loops over arrays, compiled to machine code, which is kept on the disk."""

from model.jit.functions import AVAILABLE, announced, compiled

__all__ = ["AVAILABLE", "announced", "compiled"]
