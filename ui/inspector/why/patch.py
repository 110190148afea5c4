"""Two texts that differ in a word: where inside the model the difference is kept.

Each function answers one question (`QUESTIONS` of `why_events.py`); `model.inspection.patching` computes what it says.
"""

from __future__ import annotations

from dataclasses import dataclass

from decoding.parameters.parameter import quoted
from model.errors import AttendError
from model.inspection.inspector import opened
from model.inspection.patching import patch
from model.loaded import LoadedModel
from model.text.conversation import Message
from ui.inspector.endpoints import MAX_PATCHED
from ui.inspector.why.question import Progress, Question, last_step, short
from ui.inspector.why.why_contract import PatchAnswer, PatchBeginning, PatchForm
from ui.kit.packing import significant
from ui.kit.validation import checked_start, checked_text

_EXAMPLES: dict[str, PatchForm] = {
    "chat": {
        "clean": "My dog is called Tom. What is my dog called?",
        "corrupted": "My dog is called Max. What is my dog called?",
        "beginning": "Your dog is called",
        "answer": "Tom",
        "rival": "Max",
    },
    "write": {
        "clean": "My dog is called Tom. My dog is called",
        "corrupted": "My dog is called Max. My dog is called",
        "beginning": "",
        "answer": "Tom",
        "rival": "Max",
    },
}


@dataclass(frozen=True, slots=True)
class _Text:
    """What the model reads: the decoder's text, and the source of one with an encoder."""

    tokens: tuple[int, ...]
    source: tuple[int, ...] = ()


def patch_form(question: Question) -> PatchBeginning:
    """Two texts to begin with, for the model of the run."""
    mode = _mode_of(_loaded(question))
    return {"mode": mode, "example": _EXAMPLES.get(mode)}


def patch_texts(question: Question) -> Progress[PatchAnswer]:
    """Which positions and heads carry the difference between the texts, as shares of it that a patch restores."""
    loaded = _loaded(question)
    inspector = opened(loaded.model).inspector()
    beginning = checked_text(question.fields.get("beginning", ""), "The beginning of the answer")
    clean, corrupted = (
        _read(loaded, checked_start(question.fields.get(name), title), beginning)
        for name, title in (("clean", "The first text"), ("corrupted", "The second text"))
    )
    answer, rival = (
        _first_token(loaded, checked_start(question.fields.get(name), title), beginning)
        for name, title in (("answer", "The first text’s answer"), ("rival", "The second text’s answer"))
    )
    if answer == rival:
        raise AttendError("Both answers begin with the same token: choose answers that differ from their first one on.")
    label = loaded.tokenizer.label
    result: PatchAnswer = {
        "clean": [label(token) for token in (*clean.source, *clean.tokens)],
        "corrupted": [label(token) for token in (*corrupted.source, *corrupted.tokens)],
        "first": len(clean.source),
        "answer": label(answer),
        "rival": label(rival),
        "positions": None,
        "heads": None,
        "differences": [],
    }
    if len(result["clean"]) != len(result["corrupted"]):
        return result  # the page shows both tokenizations
    if len(result["clean"]) > MAX_PATCHED:
        raise AttendError(
            f"The texts have {len(result['clean'])} tokens, but at most {MAX_PATCHED} fit, since each is patched "
            "in every layer: shorten them."
        )
    steps = patch(
        inspector,
        clean.tokens,
        corrupted.tokens,
        answer,
        rival,
        source=clean.source,
        corrupted_source=corrupted.source,
    )
    last = yield from last_step(steps, loaded.lock)
    assert last is not None  # every model has heads
    result["positions"] = [short(row) for row in last.positions.tolist()]
    result["heads"] = [short(row) for row in last.heads.tolist()]
    result["differences"] = [significant(last.clean, 4), significant(last.corrupted, 4)]
    return result


def _loaded(question: Question) -> LoadedModel:
    """The model of the run that is shown."""
    return question.models.require_loaded(question.run().model)


def _mode_of(loaded: LoadedModel) -> str:
    if loaded.model.decoder_start:
        return "translate"
    return "write" if loaded.chat is None else "chat"


def _read(loaded: LoadedModel, text: str, beginning: str) -> _Text:
    """A text as the model reads it: as a message, as a source or as it is, with the beginning of its answer."""
    start = loaded.tokenizer.encode(beginning, begins=True) if beginning.strip() else []
    match _mode_of(loaded):
        case "translate":
            return _Text((*loaded.model.decoder_start, *start), loaded.prompt(text))
        case "chat":
            return _Text((*loaded.chat_prompt([Message("user", text)], reserve=1).ids, *start))
        case _:
            return _Text((*loaded.prompt(text), *loaded.tokenizer.encode(_continued(beginning))))


def _first_token(loaded: LoadedModel, answer: str, beginning: str) -> int:
    """The token with which an answer goes on; `AttendError` for an answer without tokens."""
    begins = _mode_of(loaded) != "write" and not beginning.strip()
    tokens = loaded.tokenizer.encode(answer if begins else _continued(answer), begins=begins)
    if not tokens:  # invisible characters, which some tokenizers drop
        raise AttendError(f"The answer {quoted(answer)} has no tokens in this model: enter another answer.")
    return tokens[0]


def _continued(text: str) -> str:
    """Put a word after another one: with a space, unless it begins with one or with a sign such as a comma."""
    return f" {text}" if text[:1].isalnum() else text
