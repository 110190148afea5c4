"""Shared files as the page makes them from the server's template (`withDocument` of shared_file.js)."""

from __future__ import annotations

from ui.share.bundle import inside_script, template


def shared_file(document: object, kind: str = "run") -> str:
    return template(kind).replace("{document}", inside_script(document))
