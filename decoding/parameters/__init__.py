"""One setting: its range, its default and its help, and the check that every value goes through."""
