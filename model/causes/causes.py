"""What a loaded model can say about the causes of a text, in plain numbers: for `attend.py` and the endpoints.

The analyses are those of `model.inspection`; this file turns texts into ids, and tensors into records. Each piece of
work holds the model's lock on its own, so that the runs of others go on between them.

Shapes: V vocabulary.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from torch import Tensor

from model.causes.reading import Read, Text, named, read, separators, split, token_id, word_spans
from model.causes.records import Attributed, Grid, Inputs, Inspected, Numbers, Parts, Patched, Word
from model.errors import AttendError
from model.inspection.attribution import attribute_directly, attribute_inputs
from model.inspection.heads import PATTERNS, score_heads
from model.inspection.inspector import BATCH, Inspector, opened
from model.inspection.intervention import Intervention
from model.inspection.lens import read_layers
from model.inspection.patching import patch
from model.inspection.words import leave_out
from model.loaded import LoadedModel

T = TypeVar("T")


class Causes:
    """Asks one model."""

    def __init__(self, loaded: LoadedModel, *, seconds: float = float("inf"), most_tokens: int = 2**20) -> None:
        """
        Args:
            seconds: the time limit of all questions together, which is checked between two pieces of work.
            most_tokens: of a text.

        Raises `AttendError` for a model that can't be opened.
        """
        self._loaded, self._inspector = loaded, opened(loaded.model).inspector()
        self._seconds, self._most_tokens = seconds, most_tokens
        self._end = time.monotonic() + seconds

    def inspect(
        self, text: Text, *, source: Text = "", interventions: Sequence[Intervention] = (), sublayers: bool = False
    ) -> Inspected:
        """See `Inspected`; with `sublayers`, there are columns between the sub-layers of a layer, too."""
        given = self._read(text, source)
        changes = {"source": given.source, "interventions": interventions}
        lens = self._work(lambda inspector: read_layers(inspector, given.ids, sublayers=sublayers, **changes))
        inside = self._work(lambda inspector: inspector.inspect(given.ids, **changes))
        scores = score_heads(inside.attention.decoder[0], given.ids, separators(self._loaded, given.ids))
        return Inspected(
            named(self._loaded, given.ids),
            named(self._loaded, given.source),
            lens.columns,
            tuple(named(self._loaded, row) for row in lens.top.tolist()),
            _grid(lens.top_probability),
            _grid(lens.chosen),
            lens.decided,
            {name: _grid(getattr(scores, name)) for name in PATTERNS},
        )

    def attribute(
        self,
        text: Text,
        chosen: str | int | None = None,
        rival: str | int | None = None,
        *,
        source: Text = "",
        steps: int | None = 30,
    ) -> Attributed:
        """
        Args:
            chosen: a token, as its text or its id; None: the likeliest.
            rival: another one, instead of which it would be chosen; None: none.
            steps: of integrated gradients; 0: gradient times input; None: none, as weights in few bits have no
                gradients.
        """
        given = self._read(text, source)
        scores = self._predictions(given).log_softmax(dim=-1)  # (V,)
        token = int(scores.argmax()) if chosen is None else token_id(self._loaded, chosen)
        other = None if rival is None else token_id(self._loaded, rival)
        asked, options = (token, other), {"source": given.source}
        spans = word_spans(self._loaded, given.source or given.ids)
        direct = self._work(lambda inspector: attribute_directly(inspector, given.ids, *asked, **options))
        effects: list[float] = []
        size = max(1, BATCH // max(map(len, given)))
        for first in range(0, len(spans), size):
            some = spans[first : first + size]
            effects += self._work(
                lambda inspector, some=some: leave_out(inspector, given.ids, some, *asked, **options)
            ).tolist()
        inputs = steps is not None and self._work(
            lambda inspector: attribute_inputs(inspector, given.ids, *asked, steps=steps, **options)
        )
        words = [
            Word(self._loaded.tokenizer.decode((given.source or given.ids)[start:end]), start, end, effect)
            for (start, end), effect in zip(spans, effects, strict=True)
        ]
        return Attributed(
            named(self._loaded, given.ids),
            named(self._loaded, given.source),
            named(self._loaded, [token])[0],
            None if other is None else named(self._loaded, [other])[0],
            float(scores[token] - (0 if other is None else scores[other])),
            tuple(words),
            Parts(
                direct.embedding,
                dict(zip(self._inspector.anatomy.names, _grid(direct.sublayers.T), strict=True)),
                direct.heads if direct.heads is None else _grid(direct.heads),
                direct.head_rest if direct.head_rest is None else _row(direct.head_rest),
                direct.cross_heads if direct.cross_heads is None else _grid(direct.cross_heads),
                direct.cross_rest if direct.cross_rest is None else _row(direct.cross_rest),
                direct.constant,
                direct.total,
                direct.gap,
            ),
            Inputs(_row(inputs.scores), inputs.total, inputs.gap) if inputs else None,
        )

    def patch(
        self,
        clean: Text,
        corrupted: Text,
        answer: str | int | None = None,
        rival: str | int | None = None,
        *,
        source: Text = "",
        corrupted_source: Text = "",
    ) -> Patched:
        """
        Args:
            answer: the token of the clean text's choice; None: the likeliest after it.
            rival: that of the corrupted text's; None: the likeliest after it.
            corrupted_source: what the encoder reads for the corrupted text; empty: the same.
        """
        one, other = self._read(clean, source), self._read(corrupted, corrupted_source or source)
        token = int(self._predictions(one).argmax()) if answer is None else token_id(self._loaded, answer)
        instead = int(self._predictions(other).argmax()) if rival is None else token_id(self._loaded, rival)
        if token == instead:
            raise AttendError(
                f"Both texts lead to {self._loaded.tokenizer.label(token)!r}: name another answer, or another rival."
            )
        if len(one.ids) != len(other.ids):
            raise AttendError(
                f"The texts have {len(one.ids)} and {len(other.ids)} tokens, but a patch needs texts of equal length: "
                f"{split(self._loaded, one.ids)} and {split(self._loaded, other.ids)}. Change words of as many tokens."
            )
        sources: dict[str, Any] = {"source": one.source, "corrupted_source": other.source} if one.source else {}
        *_, found = self._each(patch(self._inspector, one.ids, other.ids, token, instead, **sources))
        return Patched(
            named(self._loaded, one.ids),
            named(self._loaded, other.ids),
            named(self._loaded, [token])[0],
            named(self._loaded, [instead])[0],
            found.clean,
            found.corrupted,
            _grid(found.positions),
            _grid(found.heads),
        )

    def _read(self, text: Text, source: Text) -> Read:
        return read(self._loaded, text, source, most_tokens=self._most_tokens)

    def _work(self, work: Callable[[Inspector], T]) -> T:
        """One piece of work, under the model's lock."""
        if time.monotonic() > self._end:
            raise AttendError(f"This took more than {self._seconds:g} seconds: choose a shorter text.")
        with self._loaded.lock:
            return work(self._inspector)

    def _each(self, pieces: Iterator[T]) -> Iterator[T]:
        """Each piece of an iterator's work, under the model's lock; whoever closes this ends it."""
        while (piece := self._work(lambda _: next(pieces, None))) is not None:
            yield piece

    def _predictions(self, given: Read) -> Tensor:
        """The logits of the next token, (V,)."""
        sources = [given.source] if given.source else []
        return self._work(lambda inspector: inspector.predictions([given.ids], sources=sources))[0].cpu()


def _row(values: Tensor) -> Numbers:
    return tuple(values.tolist())


def _grid(values: Tensor) -> Grid:
    return tuple(map(tuple, values.tolist()))
