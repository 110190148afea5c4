"""The tour of the page: six steps that point at the real things, for a first visit and for whoever asks.

It is a script of the page alone, fetched when somebody takes it.
"""

from __future__ import annotations

# Run in a browser before the page's own scripts, it makes the page that of a returning visitor: for tests and pictures.
SEEN = "try { localStorage.setItem('attend-tour', 'seen') } catch { /* an empty page has no storage */ }"
