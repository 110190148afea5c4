"""/v1/embeddings: a vector of each text, where the page has an encoder."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any

import numpy as np
from torch.nn import functional

from decoding.parameters.parameter import quoted
from model.encoder import Encoder
from ui.kit.validation import checked_text
from ui.server.openai.body import MAX_PROMPTS, EmbeddingBody
from ui.server.openai.errors import RequestError


def embeddings(encoder: Encoder, body: EmbeddingBody) -> dict[str, Any]:
    """The mean of a text's vectors after the last layer, scaled to length 1, as sentence-transformers' models for
    sentences are used."""
    encoding = body.encoding_format or "float"
    if encoding not in ("float", "base64"):
        raise RequestError(
            f'encoding_format is {quoted(encoding)}, but must be "float" or "base64".', field="encoding_format"
        )
    texts: Sequence[str] = [body.input] if isinstance(body.input, str) else body.input
    if not 0 < len(texts) <= MAX_PROMPTS:
        raise RequestError(f"input has {len(texts):,} texts, but must have 1 to {MAX_PROMPTS}.", field="input")
    data, tokens = [], 0
    for index, text in enumerate(texts):
        reading = encoder.read(checked_text(text, "A text"))
        vector = functional.normalize(reading.hidden[-1].mean(dim=0), dim=0)  # (W,)
        tokens += len(reading.pieces)
        written = np.asarray(vector, np.float32)
        value: Any = written.tolist() if encoding == "float" else base64.b64encode(written.tobytes()).decode("ascii")
        data.append({"object": "embedding", "index": index, "embedding": value})
    usage = {"prompt_tokens": tokens, "total_tokens": tokens}
    return {"object": "list", "data": data, "model": encoder.name, "usage": usage}
