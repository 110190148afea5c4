"""A run as a file, the same document that `generate.py --json` writes.

The browser creates the file, so none is left on the server. Knows nothing of gradio.
"""

from __future__ import annotations

import json
import re

from model.errors import AttendError
from ui.runs.session import Session


def saved(session: Session, identifier: object) -> tuple[str, str]:
    """Name and content of the file; `AttendError` for a run that cannot be saved."""
    session.refuse_while_busy()
    trace = session.run(identifier if isinstance(identifier, str) else None).trace
    if trace is None or not trace.steps:
        raise AttendError(
            "The steps behind this text are not stored: continue it or retry the answer, then save the run."
        )
    document = trace.document()
    parts = (trace.model, trace.settings.strategy, document["seed"])
    name = "-".join(re.sub(r"[^\w.-]+", "_", str(part)) for part in parts if part is not None)
    return f"{name}.json", json.dumps(document, ensure_ascii=False) + "\n"
