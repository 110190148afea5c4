"""A run as plain values, packed into one string, and read back. If its model is not loaded, it has no trace, but its
tokens and their tables can be shown. Attention is not kept; it is computed again.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Mapping, Sequence
from typing import Any, cast, get_args

from decoding.step import Choice
from decoding.trace import step_document
from model.loaded import LoadedModel
from ui.runs.documents.reader import (
    MAX_ID,
    InvalidDocument,
    as_count,
    as_mapping,
    as_text,
    ids_in,
    list_in,
    wrong,
)
from ui.runs.documents.steps import MAX_STEPS, read_step
from ui.runs.documents.traces import read_trace, trace_document
from ui.runs.run import Mode, RunRecord, StoredRun, TokenLabels, TokenRecord
from ui.runs.runs_contract import TokenOrigin

MAX_TOKENS = 2**17  # of a run's whole context
MAX_NAME = 300  # characters of a model's name


def run_name(run: RunRecord) -> str:
    """The name of a run in documents, which changes when the run grows."""
    return f"{run.key}-{len(run.tokens)}"


def packed_run(run: RunRecord, tokenizer: TokenLabels) -> str:
    """A run without its attention as one string, a tenth as long as its JSON."""
    written = json.dumps(run_document(run, tokenizer), ensure_ascii=False, separators=(",", ":"))
    return base64.b64encode(zlib.compress(written.encode())).decode("ascii")


def run_document(run: RunRecord, tokenizer: TokenLabels) -> dict[str, Any]:
    first = run.first
    return {
        "model": run.model,
        "key": run.key,
        "ids": list(run.ids),
        "source": len(run.source),
        "dropped": run.dropped,
        "shape": list(run.shape),
        "labels": [tokenizer.label(token.id) for token in run.tokens],
        "special": sorted({token.id for token in run.tokens if tokenizer.is_special(token.id)}),
        "origins": [token.origin for token in run.tokens[first:]],
        "steps": [step_document(token.choice, tokenizer.label) for token in run.tokens[first:] if token.choice],
        "trace": None if run.trace is None else trace_document(run.trace),
    }


def unpacked(value: object, most: int) -> bytes:
    """The JSON of a packed run; `InvalidDocument` if it is not one.

    Args:
        most: bytes that it may have.
    """
    try:
        reader = zlib.decompressobj()
        written = reader.decompress(base64.b64decode(as_text("a run", value, most), validate=True), max(1, most))
    except (ValueError, zlib.error) as error:
        raise InvalidDocument("a run is damaged") from error
    if reader.unconsumed_tail:
        raise InvalidDocument("its runs are too large")
    return written


def parsed_run(written: bytes) -> Mapping[str, Any]:
    """The plain values of a run; `InvalidDocument` if it is not JSON."""
    try:
        return as_mapping("a run", json.loads(written))
    except (ValueError, RecursionError) as error:
        raise InvalidDocument("a run is damaged") from error


def read_run(
    document: Mapping[str, Any], identifier: str, mode: Mode, loaded: LoadedModel | None, *, packed: str = ""
) -> RunRecord:
    """A run under a new name; `InvalidDocument` for what is none of this model's.

    Args:
        loaded: its model; None if it isn't loaded.
        packed: what the values were unpacked from, to be read again once the model is loaded.
    """
    vocabulary = MAX_ID if loaded is None else loaded.model.vocabulary_size
    ids = ids_in("its tokens", document, "ids", MAX_TOKENS, vocabulary)
    source = ids[: as_count("the length of its source", document.get("source"), 0, len(ids))]
    choices, labels = _read_steps(document, ids, vocabulary)
    origins = list_in("the origins of its tokens", document, "origins", len(ids))
    if len(origins) != len(choices) or not all(origin in get_args(TokenOrigin) for origin in origins):
        raise wrong("the origins of its tokens", origins)
    first = len(ids) - len(choices)
    for token, label in zip(ids, list_in("the labels", document, "labels", len(ids)), strict=False):
        labels.setdefault(token, as_text("a label", label))
    tokens = [TokenRecord(token, "given") for token in ids[:first]]
    tokens += [
        TokenRecord(choice.token, cast(TokenOrigin, origin), choice)
        for choice, origin in zip(choices, origins, strict=True)
    ]
    layers, heads = (
        as_count("the shape of its attention", each, 0, 10_000)
        for each in (*list_in("the shape of its attention", document, "shape", 2), 0, 0)[:2]
    )
    run = RunRecord(
        identifier,
        mode,
        as_text("its model", document.get("model"), MAX_NAME) if loaded is None else loaded.name,
        tokens,
        shape=(layers, heads),
        dropped=as_count("the number of dropped messages", document.get("dropped"), 0, MAX_STEPS),
        source=source,
        key=as_text("its key", document.get("key")),
    )
    if loaded is None:
        special = frozenset(ids_in("the special tokens", document, "special", len(ids)))
        run.stored = StoredRun(packed, labels, special)
    elif document.get("trace") is not None:
        explained = dict(enumerate(choices, start=first))
        run.trace = read_trace(document["trace"], loaded, source, ids, explained)
    return run


def _read_steps(
    document: Mapping[str, Any], ids: Sequence[int], vocabulary: int
) -> tuple[list[Choice], dict[int, str]]:
    """The choices behind the last tokens, and the labels of all tokens in them."""
    choices, labels = list[Choice](), dict[int, str]()
    for number, step in enumerate(list_in("its steps", document, "steps", len(ids)), start=1):
        choice, shown = read_step(number, step)
        choices.append(choice)
        labels |= shown
    if any(token >= vocabulary for token in labels):
        raise InvalidDocument("it has tokens that its model doesn't have")
    if tuple(choice.token for choice in choices) != tuple(ids[len(ids) - len(choices) :]):
        raise InvalidDocument("its tokens are not those of its steps")
    return choices, labels
