"""A page's run as a run document, packed into one string for the visitor's browser, and read back.

If its model is not loaded, a run that was read has no trace, but its tokens and their tables can be shown. The copy in
the browser has no attention, which is computed again; a file that is saved has.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from typing_extensions import TypedDict

from decoding.request import TokenLabels
from decoding.run.reader import check_vocabulary, checked, parse, read_choice, read_run_document, read_trace
from decoding.run.run_document import SCHEMA, Count, InvalidDocument, Label, Layer, RunDocument
from decoding.run.upgrade import upgraded_kept_run
from decoding.run.writer import ids_in, step_entry
from model.loaded import LoadedModel
from ui.runs.run import Mode, RunRecord, StoredRun, TokenRecord


class KeptRun(TypedDict):
    """A run as the visitor's browser keeps it."""

    key: Label
    dropped: Count  # oldest messages that did not fit into the prompt
    layers: Layer  # of its attention
    heads: Layer
    run: dict[str, Any]  # a `RunDocument`


def run_name(run: RunRecord) -> str:
    """The name of a run in documents, which changes when the run grows."""
    return f"{run.key}-{len(run.tokens)}"


def run_document(run: RunRecord, tokenizer: TokenLabels) -> RunDocument:
    """All that is known of a run, with its attention if that is at hand for every step."""
    explained = run.tokens[run.first :]
    steps = [step_entry(token.choice, token.origin) for token in explained if token.choice is not None]
    rows = [token.row for token in explained if token.row is not None]
    if run.trace is not None:
        document = run.trace.document(steps)
    else:
        document = RunDocument(
            schema=SCHEMA,
            model="",
            prompt={"text": "", "ids": list(run.ids[len(run.source) :])},
            settings=None,
            seed=None,
            text="",
            ids=[],
            finish_reason="cancelled",
            steps=steps,
            labels={},
            source=list(run.source),
        )
    special = sorted({token.id for token in run.tokens if tokenizer.is_special(token.id)})
    named = ids_in(steps).union(run.ids)
    labels = document["labels"] | {str(token): tokenizer.label(token) for token in sorted(named)}
    document.update({"model": run.model, "labels": labels, "special": special})
    if steps and len(rows) == len(steps):
        document["attention"] = {"layers": run.shape[0], "heads": run.shape[1], "rows": rows}
    return document


def packed_run(run: RunRecord, tokenizer: TokenLabels) -> str:
    """A run without its attention as one string, a tenth as long as its JSON."""
    document = run_document(run, tokenizer)
    document.pop("attention", None)
    layers, heads = run.shape
    kept = {"key": run.key, "dropped": run.dropped, "layers": layers, "heads": heads, "run": document}
    written = json.dumps(kept, ensure_ascii=False, separators=(",", ":"))
    return base64.b64encode(zlib.compress(written.encode())).decode("ascii")


def parsed_run(written: bytes) -> KeptRun:
    """A kept run, in this form or an earlier one; `InvalidDocument` for anything else."""
    value = parse(written)
    if not isinstance(value, Mapping):
        raise InvalidDocument("a run is damaged")
    return checked(KeptRun, value if "run" in value else upgraded_kept_run(value))


def read_run(kept: KeptRun, identifier: str, mode: Mode, loaded: LoadedModel | None, *, packed: str = "") -> RunRecord:
    """A kept run under a new identifier; see `run_of`."""
    run = run_of(read_run_document(kept["run"]), identifier, mode, loaded, packed=packed)
    run.key, run.dropped, run.shape = kept["key"], kept["dropped"], (kept["layers"], kept["heads"])
    return run


def run_of(
    document: RunDocument, identifier: str, mode: Mode, loaded: LoadedModel | None, *, packed: str = ""
) -> RunRecord:
    """The run of a checked document; `InvalidDocument` if the model could not have made it.

    Args:
        loaded: its model; None if it isn't loaded.
        packed: what the run was unpacked from, to be read again once the model is loaded.
    """
    source, attention = document.get("source", []), document.get("attention")
    ids = [*source, *document["prompt"]["ids"], *document["ids"]]
    first = len(ids) - len(document["steps"])
    rows = attention["rows"] if attention else [None] * len(document["steps"])
    tokens = [TokenRecord(token, "given") for token in ids[:first]]
    for step, row in zip(document["steps"], rows, strict=True):
        tokens.append(TokenRecord(step["id"], step["origin"], read_choice(step), row))
    if not tokens:
        raise InvalidDocument("it has no tokens")
    run = RunRecord(
        identifier,
        mode,
        document["model"] if loaded is None else loaded.name,
        tokens,
        shape=(attention["layers"], attention["heads"]) if attention else (0, 0),
        source=tuple(source),
    )
    if loaded is None:
        labels = {int(token): label for token, label in document["labels"].items()}
        run.stored = StoredRun(packed, labels, frozenset(document.get("special", ())))
    elif document["settings"] is not None:
        run.trace = read_trace(document, loaded, loaded.name)
        choices = run.trace.choices()
        start = len(tokens) - len(choices)
        run.tokens[start:] = [
            replace(token, choice=choice) for token, choice in zip(tokens[start:], choices, strict=True)
        ]  # which shares the records with the trace, so that they count once
    else:
        check_vocabulary(document, loaded.model.vocabulary_size)
    return run
