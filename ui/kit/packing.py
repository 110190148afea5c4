"""How values travel to the page's scripts: as one string, which Gradio passes on unchanged."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor

ALMOST_ALL = 0.999999  # the largest share below 1 with six digits
_STEPS = 32767  # on each side of zero, of 16 bits


def packed(value: Mapping[str, object]) -> str:
    """The value that a handler returns for a component: JSON without `<`, since Gradio would look for scripts.

    Gradio's page compares, copies and watches each list and number of a value, six times an update, which took longer
    than drawing. Handlers do this, and not the components' `postprocess`: Gradio rebuilds a component from its class in
    a session that once skipped it, and patches nested lists wrongly, so the page showed tables of other tokens.
    """
    return json.dumps(value, separators=(",", ":")).replace("<", "\\u003c")


def significant(number: float, digits: int = 6) -> float:
    """The number with as many significant digits as are sent.

    A number below 1 stays below it, so that the page never writes 100 % for a smaller share.
    """
    rounded = float(f"{number:.{digits}g}")
    return ALMOST_ALL if number < 1 <= rounded else rounded


def packed_bytes(values: Tensor) -> str:
    """The bytes of an integer tensor in base64, with the last dimension fastest."""
    return base64.b64encode(values.cpu().contiguous().numpy().tobytes()).decode("ascii")


def packed_shares(values: Tensor) -> str:
    """Numbers from −1 to 1 as 16-bit integers, packed in the same way; read by `ui/learn/drawings/packed.js`."""
    return packed_bytes((values.float() * _STEPS).round().short())
