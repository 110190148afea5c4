"""Greedy translation of a sentence with the model's alignment, and the recurrent translators that come with Attend.

Shapes: S source tokens, T tokens of the translation.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from torch import Tensor

from decoding.generate import generate
from decoding.request import Request
from decoding.settings import DecodingSettings
from model.loaded import LoadedModel
from model.names import EMBEDDED
from model.recurrent import checkpoint
from model.text.sentencepiece_tokenizer import Tokenizer

RECURRENT = EMBEDDED / "gru-translate"
WITHOUT_ATTENTION, WITH_ATTENTION = "gru", "gru-attention"  # folders in it
VOCABULARY_OF = "attend-translate"  # both use its tokenizer

_loading = threading.Lock()


@dataclass(frozen=True, slots=True)
class AlignedTranslation:
    """A translation, and where the model looked."""

    text: str
    source: tuple[int, ...]
    tokens: tuple[int, ...]
    complete: bool  # False if it was cut off at the token limit
    alignment: Tensor | None  # (T, S), each row sums to 1; None for a model without attention to its source


def translate(loaded: LoadedModel, sentence: str, most: int) -> AlignedTranslation:
    """A greedy translation of at most `most` tokens, with the last layer's attention to the source, the mean of its
    heads.

    Each token was chosen by the pass that read the token before it, so that token is the query of its row.
    """
    source = loaded.prompt(sentence)
    request = Request.of(loaded, source)
    strategy = DecodingSettings(strategy="greedy", max_new_tokens=most).strategy_for(request)
    steps = generate(loaded.model, source, strategy)
    while True:
        with loaded.lock:  # for one pass at a time, so that others take their turns in between
            step = next(steps)
        if step.finished:
            break
    hypothesis = step.returned[0]
    with loaded.lock:
        cross = loaded.model.inspect((*request.prompt, *hypothesis.tokens[:-1]), source=source).attention.cross
    return AlignedTranslation(
        loaded.text_of(hypothesis.tokens),
        source,
        hypothesis.tokens,
        hypothesis.finish_reason == "stop",
        None if cross is None else cross[0, -1].float().mean(dim=0),
    )


def recurrent_translator(name: str) -> LoadedModel:
    """One of the two GRUs, loaded when it is first asked for and then kept for everybody: 5 MB in memory each.

    Raises `AttendError` if its folder is damaged or missing.
    """
    with _loading:  # two visitors who come at once wait for one load
        return _load(RECURRENT / name, name)


@cache
def _load(folder: Path, name: str) -> LoadedModel:
    tokenizer = Tokenizer.load(EMBEDDED / VOCABULARY_OF / "tokenizer.model", padded=True)
    return LoadedModel.from_transformer(name, checkpoint.load(folder), tokenizer)
