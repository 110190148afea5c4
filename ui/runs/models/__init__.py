"""The models of the page: which may be used, which are in memory, and decoding with them."""

from ui.runs.models.registry import Models

__all__ = ["Models"]
