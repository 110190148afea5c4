"""The tour of the page: six tips that point at its parts, on the first visit and on request.

The tour is a script, which is fetched when somebody takes it.
"""

from __future__ import annotations

# Tests and pictures run this before the page's own scripts, so that the page treats them as a returning visitor.
SEEN = "try { localStorage.setItem('attend-tour', 'seen') } catch { /* an empty page has no storage */ }"
