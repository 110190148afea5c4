"""Reads run documents, which are hostile until they are checked, and brings them back as the records they came from.

Documents of the first form, "attend.trace/1", are read for ever: they are rewritten as one of the second form and then
checked like it.
"""

from __future__ import annotations

import json
import math
import zlib
from base64 import b64decode
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, TypeVar, cast

from pydantic import TypeAdapter, ValidationError

from decoding.request import ModelWithTokenizer, Request, RequestOptions
from decoding.run.run_document import MAX_STEPS, SCHEMA, BeamEntry, InvalidDocument, RunDocument, SearchEntry, StepEntry
from decoding.run.trace import Trace
from decoding.run.upgrade import upgraded
from decoding.run.writer import ids_in
from decoding.settings import DecodingSettings
from decoding.step import CandidateRecord, Choice, ContrastiveCandidate, Dropped, Hypothesis, LayerContrast, Step
from model.errors import AttendError
from model.inspection.intervention import interventions_of

MAX_SEARCH = 2_000_000  # tokens of all texts of all steps: one text of 2,000 tokens, four of 1,000
_MAX_QUOTED = 40  # characters of a wrong value in a sentence

T = TypeVar("T")
_adapter = cache(TypeAdapter[Any])


def parse(text: str | bytes) -> Any:
    """The values of a JSON text; `InvalidDocument` if the text is no JSON."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:  # no JSON, or lists nested too deeply
        raise InvalidDocument("invalid JSON") from error


def unpack(packed: str, limit: int) -> bytes:
    """Decompress base64; `InvalidDocument` if it is damaged, or has more bytes than `limit` when decompressed."""
    try:
        reader = zlib.decompressobj()
        written = reader.decompress(b64decode(packed, validate=True), max(1, limit))
    except (ValueError, zlib.error) as error:
        raise InvalidDocument("a run is damaged") from error
    if reader.unconsumed_tail:
        raise InvalidDocument("its runs are too large")
    return written


def checked(kind: type[T], value: object) -> T:
    """A value of a declared form, such as a TypedDict; `InvalidDocument` names the first field that is not."""
    try:
        return _adapter(kind).validate_python(value)
    except (ValidationError, RecursionError) as error:
        raise _invalid(error) from error


def read_run_document(value: object) -> RunDocument:
    """A run document of either form, checked; `InvalidDocument` says what is wrong with it."""
    schema = value.get("schema") if isinstance(value, Mapping) else None
    if schema == "attend.trace/1":
        value = upgraded(cast(Mapping[str, Any], value))
    elif schema != SCHEMA:
        raise InvalidDocument("not saved by Attend")
    document = checked(RunDocument, value)
    _check_steps(document)
    _check_search(document)
    _check_attention(document)
    return document


def _invalid(error: ValidationError | RecursionError) -> InvalidDocument:
    if isinstance(error, RecursionError):
        return InvalidDocument("its lists are nested too deeply")
    first = error.errors(include_url=False)[0]
    where = ".".join(str(part) for part in first["loc"]) or "it"
    if first["type"] == "missing":
        return InvalidDocument(f"{where} is missing")
    written = repr(first["input"])
    quoted = written if len(written) <= _MAX_QUOTED else f"{written[:_MAX_QUOTED]}…"
    return InvalidDocument(f"{where} can't be {quoted}: {first['msg'][0].lower()}{first['msg'][1:]}")


def _check_steps(document: RunDocument) -> None:
    """Check what no declaration of a single field can say."""
    steps, ids = document["steps"], [*document["prompt"]["ids"], *document["ids"]]
    if len(steps) > len(ids) or [step["id"] for step in steps] != ids[len(ids) - len(steps) :]:
        raise InvalidDocument("its tokens are not those of its steps")
    if any(str(step["id"]) not in document["labels"] for step in steps):
        raise InvalidDocument("labels of its tokens are missing")
    for number, step in enumerate(steps):
        columns = [step[name] for name in ("kept", "mass", "entropy", "rest")]
        columns += [candidate["probabilities"] for candidate in step["candidates"]]
        if any(len(column) != len(step["stages"]) for column in columns):
            raise InvalidDocument(
                f"steps.{number} has numbers for more or fewer than its {len(step['stages'])} filters"
            )
        if all(candidate["id"] != step["id"] for candidate in step["candidates"]):
            raise InvalidDocument(f"the token of steps.{number} is not among its candidates")
        contrast = step.get("contrast")
        if contrast and all(each["layer"] != contrast["layer"] for each in contrast["divergences"]):
            raise InvalidDocument(f"the layer of steps.{number} is not among those compared")


def _check_search(document: RunDocument) -> None:
    search = document.get("search", [])
    if sum(number * len(entry["beams"]) for number, entry in enumerate(search, start=1)) > MAX_SEARCH:
        raise InvalidDocument("its search is too large")
    living = 1
    for number, entry in enumerate(search):
        if any(beam["parent"] >= living for beam in entry["beams"]):
            raise InvalidDocument(f"the parent of a text of search.{number} does not exist")
        living = sum(beam["finish_reason"] is None for beam in entry["beams"])
        indices = [*entry["returned"], *entry["dropped"], *([entry["best"]] if entry["best"] else [])]
        if any(at["step"] > number or at["index"] >= len(search[at["step"]]["beams"]) for at in indices):
            raise InvalidDocument(f"a beam that search.{number} names does not exist")


def _check_attention(document: RunDocument) -> None:
    """Check that every step has a row of one byte for each layer, head and key."""
    if (attention := document.get("attention")) is None:
        return
    steps, rows, maps = document["steps"], attention["rows"], attention["layers"] * attention["heads"]
    if len(rows) != len(steps):
        raise InvalidDocument(f"its attention has {len(rows):,} rows for {len(steps):,} steps")
    text = len(document.get("source", ())) + len(document["prompt"]["ids"]) + len(document["ids"])
    for number, row in enumerate(rows):
        size = maps * (text - len(steps) + number)
        try:
            is_whole = len(row) == 4 * math.ceil(size / 3) and len(b64decode(row, validate=True)) == size
        except ValueError:
            is_whole = False
        if not is_whole:
            raise InvalidDocument(f"attention.rows.{number} isn't base64 of its {size:,} bytes")


def read_choice(step: StepEntry) -> Choice:
    """The record that a step was written from."""
    contrast = step.get("contrast")
    return Choice(
        step["id"],
        rank=step["rank"],
        draw=step["draw"],
        stages=tuple(step["stages"]),
        kept=tuple(step["kept"]),
        candidates=tuple(CandidateRecord(each["id"], tuple(each["probabilities"])) for each in step["candidates"]),
        rest=tuple(step["rest"]),
        mass=tuple(step["mass"]),
        stage_entropy=tuple(step["entropy"]),
        contrastive_candidates=tuple(ContrastiveCandidate(**each) for each in step.get("contrastive", ())),
        contrast=contrast
        and LayerContrast(contrast["layer"], tuple((each["layer"], each["bits"]) for each in contrast["divergences"])),
    )


def read_trace(document: RunDocument, loaded: ModelWithTokenizer, name: str) -> Trace:
    """The record of a run of this model; `InvalidDocument` if the model could not have made it.

    A search's other texts come back without the candidates of their tokens, which are never shown.
    """
    prompt, ids, source = document["prompt"], tuple(document["ids"]), tuple(document.get("source", ()))
    check_vocabulary(document, loaded.model.vocabulary_size)
    if len(ids) > MAX_STEPS:  # typed tokens aren't counted; each record holds all tokens up to its own
        raise InvalidDocument(f"it has {len(ids):,} generated tokens, but a run has at most {MAX_STEPS:,}")
    try:
        changes = interventions_of(document.get("interventions", ()))
        options = RequestOptions(draws_used=document.get("draws_used", 0), interventions=changes)
        request = Request.of(loaded, source or tuple(prompt["ids"]), options)
        settings = DecodingSettings.from_dict(document["settings"])
    except AttendError as error:
        raise InvalidDocument(str(error).rstrip(".")) from error
    if request.prompt != tuple(prompt["ids"]):
        raise InvalidDocument("its prompt belongs to another model")
    if settings.seeded() is not settings:
        raise InvalidDocument(f"its seed can't be {settings.seed}")
    choices = [read_choice(step) for step in document["steps"][len(document["steps"]) - len(ids) :]]
    steps = _searched(document["search"], ids, choices) if "search" in document else _alone(document, choices)
    trace = Trace(name, prompt["text"], request, settings, loaded.tokenizer, prompt.get("messages", ()), steps)
    if len(choices) != len(ids) or trace.ids != ids:
        raise InvalidDocument("its tokens are not those of its steps")
    return trace


def check_vocabulary(document: RunDocument, size: int) -> None:
    """Raise `InvalidDocument` for tokens that a vocabulary of this size does not have."""
    explained = ids_in(document["steps"], document.get("search", ()))
    named = (*document["prompt"]["ids"], *document.get("source", ()), *map(int, document["labels"]))
    if any(token >= size for token in (*explained, *named)):
        raise InvalidDocument("it has tokens that its model doesn't have")


def _alone(document: RunDocument, choices: Sequence[Choice]) -> list[Step]:
    """The steps of a single text, whose scores are sums of its tokens' log-probabilities."""
    steps: list[Step] = []
    score = log_probability = 0.0
    tokens: tuple[int, ...] = ()
    reason = None if document["finish_reason"] == "cancelled" else document["finish_reason"]
    for number, choice in enumerate(choices, start=1):
        tokens = (*tokens, choice.token)
        added = math.log(choice.final_probability) if choice.final_probability else -1e9
        score += added
        log_probability += math.log(choice.probability) if choice.probability else -1e9
        ended = reason if number == len(choices) else None
        text = Hypothesis(tokens, score, added, log_probability, 0, choice, ended)
        steps.append(Step((text,), best=text, returned=(text,) if ended else ()))
    return steps


def _searched(search: Sequence[SearchEntry], ids: Sequence[int], choices: Sequence[Choice]) -> list[Step]:
    """The steps of a search; the best text has the choices."""
    levels: list[list[Hypothesis]] = []
    for entry in search:
        living = [text.tokens for text in levels[-1] if not text.finished] if levels else [()]
        levels.append([_hypothesis(beam, living[beam["parent"]], ids, choices) for beam in entry["beams"]])

    def at(beam: Any) -> Hypothesis:
        return levels[beam["step"]][beam["index"]]

    return [
        Step(
            tuple(texts),
            best=entry["best"] and at(entry["best"]),
            returned=tuple(at(beam) for beam in entry["returned"]),
            dropped=tuple(
                Dropped(
                    drop["reason"], (text := at(drop)).tokens, drop["row"], drop["score"], drop["to_beat"], text.group
                )
                for drop in entry["dropped"]
            ),
        )
        for texts, entry in zip(levels, search, strict=True)
    ]


def _hypothesis(beam: BeamEntry, before: tuple[int, ...], ids: Sequence[int], choices: Sequence[Choice]) -> Hypothesis:
    tokens = (*before, beam["id"])
    leads = tuple(ids[: len(tokens)]) == tokens and len(tokens) <= len(choices)
    return Hypothesis(
        tokens,
        beam["score"],
        beam["step_score"],
        beam["log_probability"],
        beam["parent"],
        choices[len(tokens) - 1] if leads else _unexplained(beam["id"]),
        beam["finish_reason"],
        beam["final_score"],
        beam["group"],
    )


def _unexplained(token: int) -> Choice:
    """A choice of which only the token is known."""
    return Choice(token, 1, None, ("model",), (0,), (), rest=(0.0,), mass=(1.0,), stage_entropy=(0.0,))
