"""Bits per byte on unseen dialogues: what a model's surprise costs, whatever its vocabulary.

The cost of every token, control tokens included (all but the `<s>` that nothing predicts), each scored once with as
much earlier dialogue as fits, over the UTF-8 bytes of the turns.

    python -m training.evaluate --model attend-chat --data FILE.jsonl.gz
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

import torch
from tqdm import tqdm

from model.catalog import load
from model.chat import ChatFormat
from model.errors import AttendError
from model.interface import LanguageModel
from model.loaded import LoadedModel
from model.placement import Placement
from model.text import TextTokenizer
from training.data import Document, messages, read_records


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
        for context, scored in windows(document, tokenizer, chat, model.context_length):
            log_probabilities = model.logits(context, scored).log_softmax(dim=-1)  # (scored, V)
            chosen = log_probabilities[torch.arange(len(scored)), torch.tensor(scored)]  # (scored,)
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


def main() -> None:
    parser = argparse.ArgumentParser(description="Bits per byte of a model on a file of dialogues.")
    parser.add_argument("--model", default="attend-chat", help="a name from the catalogue, or a checkpoint folder")
    parser.add_argument("--data", type=Path, required=True, help="FILE.jsonl.gz")
    parser.add_argument("--limit", type=int, default=0, help="only the first so many documents (0: all)")
    parser.add_argument("--dtype", default="auto", help="the precision to compute in: auto, float32, bfloat16, int8")
    arguments = parser.parse_args()
    try:
        loaded: LoadedModel = load(arguments.model, placement=Placement(dtype=arguments.dtype))
        if not isinstance(loaded.chat, ChatFormat):
            raise AttendError(f"{arguments.model} does not have our chat format to write dialogues in.")
        if arguments.limit < 0:
            raise AttendError(f"--limit is {arguments.limit}, but must be at least 0, which takes all documents.")
        found = read_documents(arguments.data, arguments.limit or None)
        start = time.perf_counter()
        result = bits_per_byte(loaded.model, loaded.tokenizer, loaded.chat, found, progress=True)
    except AttendError as error:
        parser.exit(2, f"{error}\n")
    size = sum(len(turn.encode()) for document in found for turn in document.turns)
    seconds = time.perf_counter() - start
    print(f"{arguments.model} on {arguments.data.name}: {result:.4f} bits per byte ({len(found):,} documents)")
    summary = {"model": arguments.model, "data": arguments.data.name, "documents": len(found), "bytes": size}
    print(json.dumps({**summary, "bits_per_byte": round(result, 5), "seconds": round(seconds, 1)}))


if __name__ == "__main__":
    main()
