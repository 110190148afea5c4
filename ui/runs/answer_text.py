"""The text of a growing answer: every token is decoded once, however often the page is updated.

A search may replace tokens; then decoding starts again at the first one that changed, or at the last complete character
before it. A stop text and everything after it are left out. Knows nothing of runs or of the screen.
"""

from __future__ import annotations

from collections.abc import Sequence

from decoding.stop import before_stop, certain
from model.text.tokenizer import TextTokenizer


class AnswerText:
    """The text of each token of an answer."""

    def __init__(
        self,
        tokenizer: TextTokenizer,
        stop_texts: Sequence[str] = (),
        *,
        prompt: Sequence[int] = (),
        begins: bool = False,
    ) -> None:
        """
        Args:
            stop_texts: end the answer; they have no effect in the prompt.
            prompt: the text before the answer, if the two are one text.
            begins: whether the first token is at the beginning of a text.
        """
        self._tokenizer = tokenizer
        self._stop_texts = stop_texts
        self._begins = begins
        self._first = len(prompt)
        self._ids: list[int] = []  # including the prompt's, as in the two lists below
        self._texts: list[str] = []
        self._complete: list[bool] = []  # whether a token ends with a complete character
        self._stream = tokenizer.detokenizer(begins=begins)
        self._push(prompt)
        self._before = "".join(self._texts)

    def update(self, ids: Sequence[int]) -> None:
        """Take the whole answer so far."""
        known, new = self._ids[self._first :], list(ids)
        if new[: len(known)] == known:
            self._push(new[len(known) :])
            return
        agreed = common_prefix(known, new)
        kept = end = self._first + agreed
        while kept and not self._complete[kept - 1]:
            kept -= 1
        again = self._ids[kept:end]
        del self._ids[kept:], self._texts[kept:], self._complete[kept:]
        self._stream = self._tokenizer.detokenizer(begins=self._begins and not any(self._texts))
        self._push([*again, *new[agreed:]])

    def texts(self, *, finished: bool) -> list[str]:
        """The text of each token; "" for the bytes of a character that is not complete yet, for a stop text and all
        after it and, while the answer grows, for a text that may yet become a stop text."""
        texts = self._texts[self._first :]
        if finished and texts:
            texts[-1] += self._stream.finish()
        streamed = "".join(texts)
        visible = before_stop(streamed, self._stop_texts) if finished else certain(streamed, self._stop_texts)
        surplus = len(streamed) - len(visible)
        for index in range(len(texts) - 1, -1, -1):
            if surplus <= 0:
                break
            length = len(texts[index])
            texts[index] = texts[index][: max(0, length - surplus)]
            surplus -= length
        return texts

    def label(self, piece: int) -> str:
        """What a token is called."""
        return self._tokenizer.label(piece)

    def text(self, *, finished: bool) -> str:
        """The prompt and the answer."""
        return self._before + "".join(self.texts(finished=finished))

    def _push(self, ids: Sequence[int]) -> None:
        for piece in ids:
            self._ids.append(piece)
            self._texts.append(self._stream.push(piece))
            self._complete.append(self._stream.is_complete)


def common_prefix(one: Sequence[object], other: Sequence[object]) -> int:
    """How many elements at the start of both are equal."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((index for index, (left, right) in pairs if left != right), min(len(one), len(other)))
