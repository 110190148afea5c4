"""Rewrites what earlier versions wrote, "attend.trace/1" and the runs in the page's history, as a run document.

Only the form changes: whoever calls this checks the result, so what was impossible before is refused then.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import Any

from decoding.run.run_document import SCHEMA, InvalidDocument

Old = Mapping[str, Any]


def _damaged(rewrite: Callable[[Old], dict[str, Any]]) -> Callable[[Old], dict[str, Any]]:
    """Refuse a document with a missing part, or one of another kind, in one sentence."""

    @wraps(rewrite)
    def rewritten(old: Old) -> dict[str, Any]:
        try:
            return rewrite(old)
        except (KeyError, TypeError, ValueError, IndexError, AttributeError, RecursionError) as error:
            raise InvalidDocument(f"a part of it is missing or damaged: {str(error)[:60]}") from error

    return rewritten


@_damaged
def upgraded(old: Old) -> dict[str, Any]:
    """An "attend.trace/1" document in the second form."""
    labels: dict[str, str] = {}
    searched = old["settings"].get("strategy") in ("beam", "beam_sample", "diverse_beam")
    steps = [_step(step, "search" if searched else "chosen", labels) for step in old["steps"]]
    document = {
        "schema": SCHEMA,
        "model": old.get("model", ""),
        "prompt": {"ids": [], **old["prompt"]},
        "settings": old["settings"],
        "seed": old.get("seed"),
        "text": old.get("text", ""),
        "ids": [step["id"] for step in steps],
        "finish_reason": old.get("finish_reason", "cancelled"),
        "steps": steps,
        "labels": labels,
        **{name: old[name] for name in ("source", "sequences") if name in old},
    }
    if "messages" in old:
        document["prompt"]["messages"] = old["messages"]
    if "drawn" in old:
        document["draws_used"] = old["drawn"]
    beams = old.get("beams", [])
    # The beams of the first files had neither.
    if beams and all("text" in beam and "ids" in beam for step in beams for beam in step):
        document["search"] = _search(beams, labels)
    return document


@_damaged
def upgraded_kept_run(old: Old) -> dict[str, Any]:
    """A run of the page's history as it was kept before the second form."""
    ids, trace, source = old["ids"], old["trace"], old["source"]
    prompt_length = len(ids) if trace is None else trace["given"]
    labels = {str(token): label for token, label in zip(ids, old["labels"], strict=False)}
    steps = [_step(step, origin, labels) for step, origin in zip(old["steps"], old["origins"], strict=True)]
    search = [] if trace is None else [_kept_step(step) for step in trace["steps"]]
    ends = [search[-1]["beams"][at["index"]]["finish_reason"] for at in search[-1]["returned"][:1]] if search else []
    run = {
        "schema": SCHEMA,
        "model": old["model"],
        "prompt": {
            "text": "" if trace is None else trace["prompt"],
            "ids": ids[source:prompt_length],
            "messages": [] if trace is None else trace["messages"],
        },
        "settings": None if trace is None else trace["settings"],
        "seed": None if trace is None else trace["settings"].get("seed"),
        "text": "",
        "ids": ids[prompt_length:],
        "finish_reason": (ends or ["cancelled"])[0],
        "steps": steps,
        "labels": labels,
        "special": old["special"],
        "source": ids[:source],
        "draws_used": 0 if trace is None else trace["drawn"],
        "search": search,
    }
    layers, heads = (*old["shape"], 0, 0)[:2]
    return {"key": old["key"], "dropped": old["dropped"], "layers": layers, "heads": heads, "run": run}


def _step(old: Old, origin: str, labels: dict[str, str]) -> dict[str, Any]:
    """Upgrade one step, and add the labels of its tokens to `labels`."""

    def named(token: Old) -> int:
        labels[str(token["id"])] = token["text"]
        return token["id"]

    step = {
        "id": named(old["token"]),
        "origin": origin,
        "candidates": [{"id": named(each), "probabilities": each["probabilities"]} for each in old["candidates"]],
        "entropy": old["stage_entropy"],
        **{name: old[name] for name in ("rank", "draw", "stages", "kept", "mass", "rest")},
    }
    if "weighed" in old:
        step["contrastive"] = [{**each, "id": named(each)} for each in old["weighed"]]
    return {**step, "contrast": old["contrast"]} if "contrast" in old else step


def _search(steps: Sequence[Sequence[Old]], labels: dict[str, str]) -> list[dict[str, Any]]:
    """The beams of "attend.trace/1", best first: here the unfinished ones stand before the others."""
    ordered = [sorted(step, key=lambda beam: beam["finished"]) for step in steps]
    search: list[dict[str, Any]] = []
    for beams in ordered:
        search.append({"beams": [], "best": None, "returned": [], "dropped": []})
        for beam in beams:
            token = beam["ids"][-1]
            labels.setdefault(str(token), beam["text"])
            search[-1]["beams"].append(
                {
                    "id": token,
                    "group": 0,
                    "finish_reason": "stop" if beam["finished"] else None,
                    **{name: beam[name] for name in ("parent", "score", "step_score", "log_probability")},
                    "final_score": beam.get("final_score"),
                    **({"group": beam["group"]} if "group" in beam else {}),
                }
            )
    ranks: dict[int, dict[str, int]] = {}
    for number, beams in enumerate(ordered):
        for index, beam in enumerate(beams):
            beam_index = {"step": number, "index": index}
            if beam.get("leads"):
                search[-1]["best"] = beam_index
            if beam.get("returned") is not None:
                ranks[beam["returned"]] = beam_index
            if (drop := beam.get("dropped")) is not None:
                search[drop.get("step", number)]["dropped"].append({"row": None, **drop, **beam_index})
    search[-1]["returned"] = [ranks[rank] for rank in sorted(ranks)]
    return search


def _kept_step(old: Old) -> dict[str, Any]:
    """Upgrade one step of a search, which the history kept in lists with a meaning for each index."""

    def beam_index(at: Sequence[int]) -> dict[str, int]:
        step, index = at
        return {"step": step, "index": index}

    beams = []
    for token, score, step_score, log_probability, parent, reason, final, group in old["hypotheses"]:
        beams.append(
            {
                "id": token,
                "parent": parent,
                "score": score,
                "step_score": step_score,
                "log_probability": log_probability,
                "final_score": final,
                "finish_reason": reason,
                "group": group,
            }
        )
    dropped = [
        {**beam_index(at), "reason": reason, "row": row, "score": score, "to_beat": to_beat}
        for at, reason, row, score, to_beat in old["dropped"]
    ]
    best = old["best"] and beam_index(old["best"])
    return {"beams": beams, "best": best, "returned": [beam_index(at) for at in old["returned"]], "dropped": dropped}
