"""What a loaded model can say about the causes of a text, in plain numbers: for `attend.py` and the endpoints.

The analyses are those of `model.inspection`; this file turns texts into ids, and tensors into records. Each piece of
work holds the model's lock on its own, so that the runs of others go on between them. It imports torch with the first
question.

Shapes: V vocabulary.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

from model.causes.reading import Text, left_out_words, named, read, separators, split, token_id
from model.causes.records import Attributed, Grid, Head, Inputs, Inspected, Numbers, Parts, Patched, Word
from model.errors import AttendError
from model.inspection.intervention import Interventions, interventions_of

if TYPE_CHECKING:
    from torch import Tensor

    from model.causes.reading import Tokenized
    from model.inspection.heads import HeadScores
    from model.inspection.inspector import Inspector
    from model.inspection.lens import Lens
    from model.loaded import LoadedModel

T = TypeVar("T")


class Causes:
    """Asks one model; the answers are frozen records, whose `document()` is ready for JSON."""

    def __init__(self, loaded: LoadedModel, *, seconds: float = float("inf"), max_tokens: int = 2**20) -> None:
        """
        Args:
            seconds: the time limit of all questions together, which is checked between two pieces of work.
            max_tokens: of a text.
        """
        self.loaded = loaded
        self._seconds, self._max_tokens = seconds, max_tokens
        self._end = time.monotonic() + seconds

    def inspect(
        self,
        text: Text,
        *,
        source: Text = "",
        interventions: Interventions = (),
        sublayers: bool = False,
        head: tuple[int, int] | None = None,
    ) -> Inspected:
        """What each layer would predict after each token of a text, and what each head looks at.

        Args:
            text: or its ids. For a translator: the translation; `source` is then what its encoder reads.
            sublayers: also read the stream between attention and feed-forward of each layer.
            head: a layer and a head of it, counted from 0, whose queries and keys to return.
        """
        from model.inspection.heads import PATTERNS, score_heads
        from model.inspection.lens import read_layers

        changes, tokenized = interventions_of(interventions), self._read(text, source)
        options: dict[str, Any] = {"source": tokenized.source, "interventions": changes}
        marks = separators(self.loaded.tokenizer, tokenized.ids)

        def look(inspector: Inspector) -> tuple[Lens, HeadScores]:
            """Inspect in one piece of work, so that only one call at a time has the large tensors of an inspection."""
            inside = inspector.inspect(tokenized.ids, **options, last=True)
            lens = read_layers(inspector, tokenized.ids, sublayers=sublayers, inside=inside)
            return lens, score_heads(inside.attention.decoder[0], tokenized.ids, marks)

        lens, scores = self._work(look)
        matching = head and self._work(lambda inspector: inspector.match(tokenized.ids, *head, **options))
        return Inspected(
            named(self.loaded, tokenized.ids),
            named(self.loaded, tokenized.source),
            lens.columns,
            tuple(named(self.loaded, row) for row in lens.top.tolist()),
            _grid(lens.top_probability),
            _grid(lens.chosen),
            lens.decided,
            {name: _grid(getattr(scores, name)) for name in PATTERNS},
            matching and Head(_grid(matching.queries), _grid(matching.keys), matching.scale, _grid(matching.weights)),
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
        """Which words and parts speak for the chosen token after a text, and against a rival.

        Args:
            chosen: a token, as its text or its id; None: the likeliest.
            rival: another one, instead of which it would be chosen; None: none.
            steps: of integrated gradients; 0: gradient times input; None: none, as weights in few bits have no
                gradients.
        """
        from model.inspection.attribution import attribute_directly, attribute_inputs
        from model.inspection.words import leave_out

        tokenized = self._read(text, source)
        scores = self._predictions(tokenized).log_softmax(dim=-1)  # (V,)
        token = int(scores.argmax()) if chosen is None else token_id(self.loaded, chosen)
        other = None if rival is None else token_id(self.loaded, rival)
        pair, options = (token, other), {"source": tokenized.source}
        changed = tokenized.source or tokenized.ids
        spans = left_out_words(self.loaded.tokenizer, changed)
        direct = self._work(lambda inspector: attribute_directly(inspector, tokenized.ids, *pair, **options))
        effects: list[float] = []
        for progress in self._each(lambda inspector: leave_out(inspector, tokenized.ids, spans, *pair, **options)):
            effects = progress.changes.tolist()
        inputs = steps is not None and self._work(
            lambda inspector: attribute_inputs(inspector, tokenized.ids, *pair, steps=steps, **options)
        )
        words = [
            Word(self.loaded.tokenizer.decode(changed[start:end]), start, end, effect)
            for (start, end), effect in zip(spans, effects, strict=True)
        ]
        return Attributed(
            named(self.loaded, tokenized.ids),
            named(self.loaded, tokenized.source),
            named(self.loaded, [token])[0],
            None if other is None else named(self.loaded, [other])[0],
            float(scores[token] - (0 if other is None else scores[other])),
            tuple(words),
            Parts(
                direct.embedding,
                dict(zip(self._inspector.anatomy.names, _grid(direct.sublayers.T), strict=True)),
                None if direct.heads is None else _grid(direct.heads),
                None if direct.head_rest is None else _row(direct.head_rest),
                None if direct.cross_heads is None else _grid(direct.cross_heads),
                None if direct.cross_rest is None else _row(direct.cross_rest),
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
        """How far each part of a clean text brings back the answer when it is put into a corrupted text of as many
        tokens, after which the model would choose the rival.

        Args:
            answer: the token of the clean text's choice; None: the likeliest after it.
            rival: that of the corrupted text's; None: the likeliest after it.
            corrupted_source: what the encoder reads for the corrupted text; empty: the same.
        """
        from model.inspection.patching import patch

        one, other = self._read(clean, source), self._read(corrupted, corrupted_source or source)
        token = int(self._predictions(one).argmax()) if answer is None else token_id(self.loaded, answer)
        instead = int(self._predictions(other).argmax()) if rival is None else token_id(self.loaded, rival)
        if token == instead:
            raise AttendError(
                f"Both texts lead to {self.loaded.tokenizer.label(token)!r}: name another answer, or another rival."
            )
        if len(one.ids) != len(other.ids):
            raise AttendError(
                f"The texts have {len(one.ids)} and {len(other.ids)} tokens, but a patch needs texts of equal length: "
                f"{split(self.loaded, one.ids)} and {split(self.loaded, other.ids)}. Choose words with the "
                "same number of tokens."
            )
        sources: dict[str, Any] = {"source": one.source, "corrupted_source": other.source} if one.source else {}
        *_, patching = self._each(lambda inspector: patch(inspector, one.ids, other.ids, token, instead, **sources))
        return Patched(
            named(self.loaded, one.ids),
            named(self.loaded, other.ids),
            named(self.loaded, [token])[0],
            named(self.loaded, [instead])[0],
            patching.clean,
            patching.corrupted,
            _grid(patching.positions),
            _grid(patching.heads),
        )

    @property
    def _inspector(self) -> Inspector:
        """The model, opened; `AttendError` for one that can't be."""
        from model.inspection.inspector import opened

        return opened(self.loaded.model).inspector()

    def _read(self, text: Text, source: Text) -> Tokenized:
        return read(self.loaded, text, source, max_tokens=self._max_tokens)

    def _work(self, work: Callable[[Inspector], T]) -> T:
        """Do one piece of work under the model's lock."""
        if time.monotonic() > self._end:
            raise AttendError(f"This took more than {self._seconds:g} seconds: choose a shorter text.")
        with self.loaded.lock:
            return work(self._inspector)

    def _each(self, work: Callable[[Inspector], Iterator[T]]) -> Iterator[T]:
        """Do each piece of an iterator's work under the model's lock; close the generator to stop."""
        pieces = self._work(work)
        while (piece := self._work(lambda _: next(pieces, None))) is not None:
            yield piece

    def _predictions(self, tokenized: Tokenized) -> Tensor:
        """The logits of the next token, (V,)."""
        sources = [tokenized.source] if tokenized.source else []
        return self._work(lambda inspector: inspector.predictions([tokenized.ids], sources=sources))[0].cpu()


def _row(values: Tensor) -> Numbers:
    return tuple(values.tolist())


def _grid(values: Tensor) -> Grid:
    return tuple(map(tuple, values.tolist()))
