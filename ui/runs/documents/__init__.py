"""Documents, which the visitor's browser keeps: runs and messages as plain values, read back as hostile input."""
