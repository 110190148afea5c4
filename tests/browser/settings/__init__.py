"""The panel of the settings in a real browser."""
