"""One training run: the loop, its optimizer, its curve, the mean of its last weights, and what the machine can do."""
