"""What a visitor's browser keeps, as plain values: runs and messages written down, and read again as hostile input."""
