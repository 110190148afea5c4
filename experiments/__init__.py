"""Small models trained on one budget, to compare architectures; the embedded models are not made here."""
