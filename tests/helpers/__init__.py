"""Shared helpers: tiny models, checkpoint folders, a fake Hub, pages and browsers."""
