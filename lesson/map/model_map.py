"""A model as a map: its parts in their order, the numbers that each has learned, and what each computes for a text.

Shapes: T tokens, V vocabulary.
"""

from __future__ import annotations

import torch

from lesson.map import foreign, own
from lesson.map.arrays import Array, Text, Values
from lesson.map.parameters import Counts, count_foreign, count_own, network_of
from lesson.map.plan import Side, foreign_plan, own_plan
from lesson.map.recording import recorded
from lesson.sentences import at_most
from model.inspection.inspector import opened
from model.loaded import LoadedModel
from model.transformer.decoder import Transformer


class ModelMap:
    """One model, opened."""

    counts: Counts
    sides: tuple[Side, ...]

    def __init__(self, loaded: LoadedModel) -> None:
        """Raises `AttendError` for a model that can't be opened."""
        self._loaded, self._inspector = loaded, opened(loaded.model).inspector()
        anatomy = self._inspector.anatomy
        self.network, self.heads = network_of(loaded), anatomy.heads
        if isinstance(self.network, Transformer):
            self.counts, self.sides = count_own(self.network), own_plan(self.network.config)
        else:
            self.counts = count_foreign(self.network, anatomy)
            self.sides = foreign_plan(anatomy, set(self.counts))

    @property
    def is_own(self) -> bool:
        return isinstance(self._loaded.model, Transformer)

    @property
    def has_source(self) -> bool:
        return len(self.sides) > 1

    @property
    def layers(self) -> int:
        """The number of the side that has most."""
        return max(side.layers for side in self.sides)

    @property
    def positions(self) -> str:
        """How positions are marked, or "" where that isn't known."""
        return self.network.config.positions if isinstance(self.network, Transformer) else ""

    @property
    def norm_first(self) -> bool:
        return not self._inspector.anatomy.norm_after

    def read(self, sentence: str, translation: str, most: int) -> Text:
        """The ids of a text; with an encoder, of the sentence that it reads and of what the decoder has written so far.

        Raises `AttendError` for more than `most` of either.
        """
        ids = at_most(most, self._loaded.prompt(sentence))
        if not self.has_source:
            return Text(ids)
        written = (*self._loaded.model.decoder_start, *self._loaded.tokenizer.encode(translation))
        return Text(at_most(most, written, "translation"), ids)

    @torch.inference_mode()
    def values(self, text: Text, layer: int) -> Values:
        """What every part computes in this layer, or in the last one of a side that has no such layer."""
        model, anatomy = self._loaded.model, self._inspector.anatomy
        hooked = own.modules(model, layer) if isinstance(model, Transformer) else foreign.modules(anatomy, layer)
        with self._loaded.lock, recorded(hooked) as calls:
            inside = self._inspector.inspect(text.tokens, source=text.source)
        arrays = (
            own.values(model, calls, inside.attention, text, layer)
            if isinstance(model, Transformer)
            else foreign.values(anatomy, calls, inside, layer)
        )
        shares = inside.logits.softmax(dim=-1)  # (T, V)
        return {
            **dict(arrays),
            "decoder.logits": (Array("Logits", ("text", "vocabulary"), inside.logits),),
            "decoder.probabilities": (Array("Probabilities", ("text", "vocabulary"), shares),),
        }
