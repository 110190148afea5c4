"""How `lesson/recurrence/reach.py` is sent to the chapter on why attention: curves by distance, and times by length."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from typing import Any

from lesson.recurrence.reach import Reader, changes, gradient_by_distance, is_differentiable, time_reading, untrained
from lesson.recurrence.translation import VOCABULARY_OF, WITH_ATTENTION, WITHOUT_ATTENTION, recurrent_translator
from model.errors import AttendError
from model.loaded import LoadedModel
from model.recurrent.network import Recurrent
from model.transformer.encoder_decoder import EncoderDecoder
from ui.learn.wording import sent
from ui.runs.models import Models

LENGTHS = (8, 32, 120)  # tokens of the texts that are timed
MAX_TOKENS = 48  # of a text that is read
TITLES = {WITHOUT_ATTENTION: "GRU", WITH_ATTENTION: "GRU with attention", VOCABULARY_OF: VOCABULARY_OF}
_kept: dict[tuple[str, ...], Any] = {}


def translators(models: Models) -> dict[str, LoadedModel]:
    """Both GRUs and, where the page offers it, attend-translate."""
    loaded = {name: recurrent_translator(name) for name in (WITHOUT_ATTENTION, WITH_ATTENTION)}
    return {**loaded, **({VOCABULARY_OF: models.get(VOCABULARY_OF)} if VOCABULARY_OF in models.names else {})}


def keep(key: tuple[str, ...], keeps: bool, compute: Callable[[], Any]) -> Any:
    """What is computed for a chapter's own texts is kept; what visitors type isn't."""
    if key in _kept:
        return _kept[key]
    result = compute()
    if keeps:
        _kept[key] = result
    return result


def timings(loaded: Mapping[str, LoadedModel]) -> list[list[Any]]:
    """A row for each translator and length, measured now."""
    rows = []
    for name, translator in loaded.items():
        times = time_reading(translator, LENGTHS)
        for one in times:
            waits = len(_reader(translator).encoder_blocks) if name == VOCABULARY_OF else one.tokens  # type: ignore[union-attr]
            growth = f"{one.seconds / times[0].seconds:.1f} times"
            rows.append([TITLES[name], f"{one.tokens} tokens", waits, f"{1000 * one.seconds:.1f} ms", growth])
    return rows


def gradients(loaded: Mapping[str, LoadedModel], sentence: str, own: str) -> list[dict[str, Any]]:
    """How much each reader's last vector depends on each token, the last first, as a share of the most."""
    tokens = read_tokens(loaded, sentence, "The long sentence")
    readers = {"untrained": _untrained(), **{name: _reader(translator) for name, translator in loaded.items()}}
    curves = []
    for name, reader in readers.items():
        if not is_differentiable(reader):
            continue
        norms = keep(("gradient", name, sentence), sentence == own, partial(gradient_by_distance, reader, tokens))
        title = TITLES.get(name, "GRU before training")
        curves.append({"name": name, "title": title, "shares": sent(norms / norms.max())})
    return curves


def noticed(
    loaded: Mapping[str, LoadedModel], nouns: tuple[str, str], between: Sequence[str], *, own: bool
) -> list[dict[str, Any]]:
    """How much the vector of “il” changes when the noun at the beginning does, by the number of words between."""
    curves = []
    for name, translator in loaded.items():
        shares = keep(("noticed", name, *nouns, *between), own, partial(_changes, translator, nouns, between))
        curves.append({"name": name, "title": TITLES[name], "shares": sent(shares)})
    return curves


def _changes(translator: LoadedModel, nouns: tuple[str, str], between: Sequence[str]) -> list[float]:
    """The changes after 0, 2, … words between."""
    counts = range(0, len(between) + 1, 2)
    texts = ([_until_it(translator, noun, between[:count]) for noun in nouns] for count in counts)
    return [changes(_reader(translator), one, other) for one, other in texts]


def _until_it(translator: LoadedModel, noun: str, between: Sequence[str]) -> Sequence[int]:
    """The tokens of a sentence up to “il”, without the end that a prompt has."""
    sentence = " ".join(["Le", noun, *between, "dort parce qu’il"])
    return read_tokens({WITHOUT_ATTENTION: translator}, sentence, "The sentence")[:-1]


def read_tokens(loaded: Mapping[str, LoadedModel], sentence: str, subject: str) -> Sequence[int]:
    """A sentence in tokens, which are the same for all; `AttendError` for too many."""
    tokens = loaded[WITHOUT_ATTENTION].prompt(sentence)
    if len(tokens) > MAX_TOKENS:
        raise AttendError(f"{subject} has {len(tokens)} tokens, but the limit is {MAX_TOKENS}: shorten it.")
    return tokens


def _reader(translator: LoadedModel) -> Reader:
    assert isinstance(translator.model, Recurrent | EncoderDecoder)
    return translator.model


@cache
def _untrained() -> Recurrent:
    trained = recurrent_translator(WITHOUT_ATTENTION).model
    assert isinstance(trained, Recurrent)
    return untrained(trained.config, seed=0)
