"""Measures a model on unseen text: bits per byte of dialogues, or BLEU and chrF of translations.

    python -m training.evaluate --model attend-chat --data FILE.jsonl.gz
    python -m training.evaluate --model attend-translate --data FILE.tsv.gz --beams 1 2 4 8
    python -m training.evaluate --model attend-chat --skills FILE.jsonl.gz
    python -m training.evaluate --model attend-chat --blimp FILE.jsonl.gz

Bits per byte measure a model's surprise, whatever its vocabulary: the cost of all tokens divided by the UTF-8 bytes of
the turns. Control tokens count, except for `<s>`, which nothing predicts. Each token is scored once, after as much of
the dialogue as fits. `training.translation.translate` says how translations are scored, `training.skills.testing` what
the skills are, and `training.blimp` what BLiMP is. The last line of the output is JSON.
"""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

from tqdm import tqdm

from decoding.settings import DecodingSettings
from model.catalog import load
from model.command_line import Parser, command
from model.device import DeviceConfig
from model.errors import AttendError
from model.inspection.naming import read_names
from model.interface import LanguageModel
from model.lazy import torch
from model.loaded import LoadedModel
from model.text.conversation import ChatFormat
from model.text.tokenizer import TextTokenizer
from training.blimp import measure
from training.data import Document, messages, read_records
from training.skills.scoring import Tally, score
from training.skills.testing import read_items
from training.translation.pairs import by_source, read_pairs
from training.translation.translate import LONGEST_ANSWER, score_translations, translate_all


def bits_per_byte(
    model: LanguageModel,
    tokenizer: TextTokenizer,
    chat: ChatFormat,
    documents: Sequence[Document],
    *,
    progress: bool = False,
) -> float:
    """The total cost in bits, divided by the total UTF-8 bytes of the documents' turns."""
    bits, size = 0.0, 0
    for document in tqdm(documents, disable=not progress, unit="dialogue", leave=False):
        for context, wanted in windows(document, tokenizer, chat, model.context_length):
            log_probabilities = model.logits(context, wanted).log_softmax(dim=-1)  # (wanted, V)
            chosen = log_probabilities[torch.arange(len(wanted)), torch.tensor(wanted)]  # (wanted,)
            bits -= chosen.double().sum().item() / math.log(2)
        size += sum(len(turn.encode()) for turn in document.turns)
    return bits / size


def windows(
    document: Document, tokenizer: TextTokenizer, chat: ChatFormat, context_length: int
) -> Iterator[tuple[list[int], list[int]]]:
    """Yield contexts, each with the tokens to score after it, which together cover a document once.

    The turns that fit into the context are scored in one pass. Each later turn has a pass of its own, after `<s>` and
    as many whole earlier turns as fit. A turn that is too long on its own is scored in pieces, each after half a
    context of the tokens before it. The last token of a pass is only predicted, not read, which makes room for `<s>`.
    """
    if document.story:
        parts = [tokenizer.encode(document.turns[0]) + [chat.end] * (not document.continued)]
    else:
        parts = [chat.turn(message) for message in messages(document.turns)]
    fitting, used = 0, 0
    while fitting < len(parts) and used + len(parts[fitting]) <= context_length:
        used += len(parts[fitting])
        fitting += 1
    if fitting:
        yield [chat.begin], [token for part in parts[:fitting] for token in part]
    for number in range(fitting, len(parts)):
        part, first = parts[number], number
        room = context_length - len(part)
        while first > 0 and len(parts[first - 1]) <= room:
            first -= 1
            room -= len(parts[first])
        context = [chat.begin, *(token for earlier in parts[first:number] for token in earlier)]
        if room >= 0:
            yield context, part
            continue
        half = context_length // 2
        for start in range(0, len(part), half):
            yield [chat.begin, *part[max(0, start - half + 1) : start]], part[start : start + half]


def read_documents(path: Path, limit: int | None = None) -> list[Document]:
    """The first `limit` dialogues (or stories) of a file, or all; `AttendError` if the file has another form."""
    dialogues = []
    for number, record in enumerate(islice(read_records(path), limit), start=1):
        turns = record.get("turns") if isinstance(record, dict) else None
        if isinstance(turns, list) and turns and all(isinstance(turn, str) for turn in turns):
            dialogues.append(Document(tuple(turns)))
        elif isinstance(record, dict) and isinstance(record.get("text"), str):
            dialogues.append(Document((record["text"],), story=True))
        else:
            raise AttendError(f'Line {number} of {path} holds neither {{"turns": [...]}} nor {{"text": ...}}.')
    if not any(turn for document in dialogues for turn in document.turns):
        raise AttendError(f"{path} contains no text: choose a file with at least one dialogue.")
    return dialogues


def _chat_format(loaded: LoadedModel) -> ChatFormat:
    """The model's chat format; `AttendError` if it is not Attend's."""
    if not isinstance(loaded.chat, ChatFormat):
        raise AttendError(
            f"{loaded.name} does not use Attend's chat format: choose a model that does, such as attend-chat."
        )
    return loaded.chat


def evaluate_dialogues(loaded: LoadedModel, path: Path, limit: int | None) -> dict[str, Any]:
    """The figures of the JSON line; `AttendError` for a model that does not use our chat format."""
    chat, dialogues = _chat_format(loaded), read_documents(path, limit)
    start = time.perf_counter()
    result = bits_per_byte(loaded.model, loaded.tokenizer, chat, dialogues, progress=True)
    seconds = time.perf_counter() - start
    print(f"{loaded.name} on {path.name}: {result:.4f} bits per byte ({len(dialogues):,} documents)")
    size = sum(len(turn.encode()) for document in dialogues for turn in document.turns)
    return {"documents": len(dialogues), "bytes": size, "bits_per_byte": round(result, 5), "seconds": round(seconds, 1)}


def evaluate_pairs(loaded: LoadedModel, path: Path, limit: int | None, beams: Sequence[int]) -> dict[str, Any]:
    """The figures of the JSON line, for every number of beams and, at the top level, for the last one.

    `AttendError` for a model that does not translate.
    """
    if not loaded.model.decoder_start:
        raise AttendError(f"{loaded.name} is not a translator: choose another model.")
    references = dict(islice(by_source(read_pairs(path)).items(), limit))
    if not references:
        raise AttendError(f"{path} contains no pair: choose a file with at least one.")
    rows = []
    print(f"{loaded.name} on {path.name} ({len(references):,} sentences)\nbeams   BLEU   chrF  sentences/s")
    for count in beams:
        settings = DecodingSettings(
            strategy="beam" if count > 1 else "greedy", num_beams=count, max_new_tokens=LONGEST_ANSWER
        )
        start = time.perf_counter()
        translations = translate_all(loaded, list(references), settings, progress=True)
        speed = len(references) / (time.perf_counter() - start)
        scores = score_translations(translations, list(references.values()))
        print(f"{count:5} {scores.bleu:6.2f} {scores.chrf:6.2f} {speed:12.1f}", flush=True)
        row = {"num_beams": count, "bleu": round(scores.bleu, 3), "chrf": round(scores.chrf, 3)}
        rows.append({**row, "sentences_per_second": round(speed, 2)})
    return {"sentences": len(references), "all": rows, **rows[-1]}


def evaluate_skills(loaded: LoadedModel, path: Path, limit: int | None, *, answers: bool) -> dict[str, Any]:
    """The figures of the JSON line; `AttendError` for a model that does not use our chat format."""
    _chat_format(loaded)
    items = read_items(path)[:limit]
    scores = score(loaded, items, progress=True)
    if answers:
        for item, answer in zip(items, scores.answers, strict=True):
            verdict = "right" if item.is_right(answer) else "wrong"
            print(f"{verdict}  {item.skill}  {' | '.join(item.turns)}  ->  {answer}")
    tables: dict[str, dict[Any, Tally]] = {
        "skills": scores.skills,
        "recall_by_exchanges_between": scores.distances,
        "recall_by_kind": scores.kinds,
    }
    for title, table in tables.items():
        print(f"\n{title.replace('_', ' ')}")
        for name, tally in table.items():
            print(f"{name!s:24} {tally.right:4} of {tally.items:4} {100 * tally.share:6.1f} %")
    heads = sorted(scores.heads.items(), key=lambda one: -one[1])[:8]
    print(f"\nsome head points at the value: {scores.pointing.right} of {scores.pointing.items} recalled facts")
    for (layer, head), count in heads:
        print(f"layer {layer}, head {head}: {count}")
    return {
        "items": len(items),
        **{title: {str(name): tally.row() for name, tally in table.items()} for title, table in tables.items()},
        "pointing": scores.pointing.row(),
        "heads": [{"layer": layer, "head": head, "facts": count} for (layer, head), count in heads],
    }


def evaluate_blimp(loaded: LoadedModel, path: Path, limit: int | None) -> dict[str, Any]:
    """The figures of the JSON line."""
    paradigms = measure(loaded, path, limit, progress=True)
    for name, share in sorted(paradigms.items(), key=lambda one: one[1]):
        print(f"{name:56} {100 * share:6.1f} %")
    mean = sum(paradigms.values()) / len(paradigms)
    print(f"{loaded.name} on {path.name}: {100 * mean:.2f} % of the pairs, the mean of {len(paradigms)} paradigms")
    return {"blimp": round(mean, 5), "paradigms": {name: round(share, 4) for name, share in paradigms.items()}}


@command
def main(arguments: Sequence[str] | None = None) -> None:
    parser = Parser(
        prog="python -m training.evaluate",
        description="Measure a model on unseen dialogues, sentence pairs, skills or BLiMP; prints one JSON line last.",
    )
    parser.add_argument(
        "--model", metavar="MODEL", default="attend-chat", help="a model's name or folder (default attend-chat)"
    )
    measured = parser.add_mutually_exclusive_group(required=True)
    measured.add_argument(
        "--data",
        metavar="FILE",
        type=Path,
        help="dialogues (.jsonl.gz), or sentence pairs with English first (.tsv.gz)",
    )
    measured.add_argument("--skills", metavar="FILE", type=Path, help="a file of training.skills.testing (.jsonl.gz)")
    measured.add_argument("--blimp", metavar="FILE", type=Path, help="BLiMP's sentence pairs (.jsonl.gz)")
    parser.add_argument(
        "--limit",
        metavar="N",
        type=int,
        default=0,
        help="measure only the first N documents, sentences, items or pairs (default 0: all)",
    )
    parser.add_argument(
        "--without",
        metavar="PARTS",
        default="",
        help='measure with parts switched off, such as "6.5, 6.7" (layer.head)',
    )
    parser.add_argument("--answers", action="store_true", help="skills: also print every answer")
    parser.add_argument(
        "--beams",
        metavar="N",
        type=int,
        nargs="+",
        default=[4],
        help="translators: numbers of beams (default 4; 1: greedy)",
    )
    parser.add_argument(
        "--dtype", metavar="DTYPE", default="auto", help="the precision: auto, float32, bfloat16 or int8 (default auto)"
    )
    options = parser.parse_args(arguments)
    limit = options.limit or None
    if options.limit < 0:
        raise AttendError(f"--limit is {options.limit}, but must be 0 (all) or more.")
    loaded: LoadedModel = load(options.model, device_config=DeviceConfig(dtype=options.dtype))
    if options.without:
        from model.inspection.inspector import opened

        changed = opened(loaded.model).with_interventions(read_names(options.without))
        loaded = replace(loaded, model=changed)
    if options.skills:
        figures = evaluate_skills(loaded, options.skills, limit, answers=options.answers)
    elif options.blimp:
        figures = evaluate_blimp(loaded, options.blimp, limit)
    elif options.data.name.endswith(".tsv.gz"):
        figures = evaluate_pairs(loaded, options.data, limit, options.beams)
    else:
        figures = evaluate_dialogues(loaded, options.data, limit)
    file = options.data or options.skills or options.blimp
    print(json.dumps({"model": options.model, "without": options.without, "data": file.name, **figures}))


if __name__ == "__main__":
    sys.exit(main())
