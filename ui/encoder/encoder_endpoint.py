"""The endpoints of an encoder alone: `/similarity`, and `/generate`, which is refused."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from model.encoder import Encoder
from model.errors import AttendError
from ui.encoder import encoder_actions
from ui.kit.validation import checked_text


def endpoints(encoder: Encoder) -> Mapping[str, Callable[..., Any]]:
    """Their functions, by their names."""

    def similarity(word: str, sentences: list[str], layer: int | None = None) -> dict[str, Any]:
        """Compare what a layer makes of one word in several sentences.

        Args:
            word: must occur in every sentence.
            sentences: 2 to 12 of them.
            layer: 0 (the embeddings) to the last, which is the default.

        Returns:
            {"word", "layer", "pieces": its tokens in each sentence, "vectors", "cosines": of each vector to each}
        """
        if not isinstance(sentences, list):
            raise AttendError("The sentences must be a list of texts.")
        listed = "\n".join(" ".join(checked_text(sentence, "A sentence").split()) for sentence in sentences)
        chosen = encoder.layer_count if layer is None else layer
        value = encoder_actions.compare(encoder, word, listed, chosen)
        return {**{key: value[key] for key in ("word", "pieces", "vectors", "cosines")}, "layer": chosen}

    def generate(prompt: str, model: str = encoder.name, settings: dict[str, Any] | None = None) -> dict[str, Any]:
        """Refused: an encoder continues no text."""
        raise AttendError(encoder_actions.about(encoder))

    return {"similarity": similarity, "generate": generate}
