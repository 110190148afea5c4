"""What a model is worth on unseen text: bits per byte of dialogues, or BLEU and chrF of translations.

    python -m training.evaluate --model attend-chat --data FILE.jsonl.gz
    python -m training.evaluate --model attend-translate --data FILE.tsv.gz --beams 1 2 4 8

Bits per byte are what a model's surprise costs, whatever its vocabulary: the cost of every token, control tokens
included (all but the `<s>` that nothing predicts), each scored once with as much earlier dialogue as fits, over the
UTF-8 bytes of the turns. How translations are scored stands in `training.translate`. The last line is JSON.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import torch
from tqdm import tqdm

from decoding.settings import DecodingSettings
from model.catalog import load
from model.chat import ChatFormat
from model.errors import AttendError
from model.interface import LanguageModel
from model.loaded import LoadedModel
from model.placement import Placement
from model.text import TextTokenizer
from training.data import Document, messages, read_records
from training.pairs import by_source, read_pairs
from training.translate import LONGEST_ANSWER, scored, translated


def bits_per_byte(
    model: LanguageModel,
    tokenizer: TextTokenizer,
    chat: ChatFormat,
    documents: Sequence[Document],
    *,
    progress: bool = False,
) -> float:
    """Total cost in bits over total UTF-8 bytes of the documents' turns."""
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
    """(context, tokens to score) pairs that cover a document once.

    What fits is one pass. From the first turn that does not, every turn is its own pass behind `<s>` and as many whole
    earlier turns as fit; a turn too long even alone is scored piece by piece, each behind the half context before it.
    The last token of a pass is only predicted, not read, which makes up for the place of `<s>`.
    """
    if document.story:
        parts = [[*tokenizer.encode(document.turns[0]), chat.end]]
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
    """The first `limit` dialogues (or stories) of a file, or all; `AttendError` for a file of another form."""
    found = []
    for number, record in enumerate(islice(read_records(path), limit), start=1):
        turns = record.get("turns") if isinstance(record, dict) else None
        if isinstance(turns, list) and turns and all(isinstance(turn, str) for turn in turns):
            found.append(Document(tuple(turns)))
        elif isinstance(record, dict) and isinstance(record.get("text"), str):
            found.append(Document((record["text"],), story=True))
        else:
            raise AttendError(f'Line {number} of {path} holds neither {{"turns": [...]}} nor {{"text": ...}}.')
    if not any(turn for document in found for turn in document.turns):
        raise AttendError(f"What was read of {path} holds no text: give a file with at least one dialogue.")
    return found


def evaluate_dialogues(loaded: LoadedModel, path: Path, limit: int | None) -> dict[str, Any]:
    """The figures of the JSON line; `AttendError` for a model that has not our chat format."""
    if not isinstance(loaded.chat, ChatFormat):
        raise AttendError(f"{loaded.name} does not have our chat format to write dialogues in.")
    found = read_documents(path, limit)
    start = time.perf_counter()
    result = bits_per_byte(loaded.model, loaded.tokenizer, loaded.chat, found, progress=True)
    seconds = time.perf_counter() - start
    print(f"{loaded.name} on {path.name}: {result:.4f} bits per byte ({len(found):,} documents)")
    size = sum(len(turn.encode()) for document in found for turn in document.turns)
    return {"documents": len(found), "bytes": size, "bits_per_byte": round(result, 5), "seconds": round(seconds, 1)}


def evaluate_pairs(loaded: LoadedModel, path: Path, limit: int | None, beams: Sequence[int]) -> dict[str, Any]:
    """The figures of the JSON line: of every number of beams and, outermost, of the last; `AttendError` for a model
    that translates nothing."""
    if not loaded.model.decoder_start:
        raise AttendError(f"{loaded.name} has no encoder, so it translates nothing: name another model.")
    references = dict(islice(by_source(read_pairs(path)).items(), limit))
    if not references:
        raise AttendError(f"What was read of {path} holds no pair: give a file with at least one.")
    rows = []
    print(f"{loaded.name} on {path.name} ({len(references):,} sentences)\nbeams   BLEU   chrF  sentences/s")
    for count in beams:
        settings = DecodingSettings(
            strategy="beam" if count > 1 else "greedy", num_beams=count, max_new_tokens=LONGEST_ANSWER
        )
        start = time.perf_counter()
        said = translated(loaded, list(references), settings, progress=True)
        speed = len(references) / (time.perf_counter() - start)
        scores = scored(said, list(references.values()))
        print(f"{count:5} {scores.bleu:6.2f} {scores.chrf:6.2f} {speed:12.1f}", flush=True)
        row = {"num_beams": count, "bleu": round(scores.bleu, 3), "chrf": round(scores.chrf, 3)}
        rows.append({**row, "sentences_per_second": round(speed, 2)})
    return {"sentences": len(references), "all": rows, **rows[-1]}


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure a model on a file of unseen dialogues or sentence pairs.")
    parser.add_argument("--model", default="attend-chat", help="a name from the catalogue, or a checkpoint folder")
    parser.add_argument("--data", type=Path, required=True, help="FILE.jsonl.gz, or FILE.tsv.gz with English first")
    parser.add_argument("--limit", type=int, default=0, help="only the first so many documents or sentences (0: all)")
    parser.add_argument("--beams", type=int, nargs="+", default=[4], help="of a translator; 1 is greedy")
    parser.add_argument("--dtype", default="auto", help="the precision to compute in: auto, float32, bfloat16, int8")
    arguments = parser.parse_args()
    limit = arguments.limit or None
    try:
        if arguments.limit < 0:
            raise AttendError(f"--limit is {arguments.limit}, but must be at least 0, which takes all.")
        loaded: LoadedModel = load(arguments.model, placement=Placement(dtype=arguments.dtype))
        if arguments.data.name.endswith(".tsv.gz"):
            figures = evaluate_pairs(loaded, arguments.data, limit, arguments.beams)
        else:
            figures = evaluate_dialogues(loaded, arguments.data, limit)
    except AttendError as error:
        parser.exit(2, f"{error}\n")
    print(json.dumps({"model": arguments.model, "data": arguments.data.name, **figures}))


if __name__ == "__main__":
    main()
