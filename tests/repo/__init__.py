"""The repository itself: its architecture, its README, its commands."""
