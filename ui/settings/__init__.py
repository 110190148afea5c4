"""The settings panel beside the text."""
