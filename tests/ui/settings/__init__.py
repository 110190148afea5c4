"""The settings panel, and a run as code."""
