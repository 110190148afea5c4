"""What takes the place of the tabs for an encoder alone, which cannot generate."""
