"""Which tokens of a prompt make up the messages in it, by character offsets. Knows nothing of gradio."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from model.errors import AttendError
from model.loaded import LoadedModel
from model.text.conversation import Message, from_dicts
from model.text.tokenizer import TextTokenizer
from ui.chat.chat_contract import MessageToken
from ui.runs.models import Models
from ui.runs.run import RunRecord
from ui.runs.session import Session

_MARK = "\ue000"  # a private character, which no chat format writes itself


def find_message_tokens(session: Session, models: Models, run: str) -> list[list[MessageToken]]:
    """`message_tokens` of one of a visitor's runs; empty where it or its model is not at hand."""
    record = session.runs.get(run)
    if record is None or not models.is_loaded(record.model):
        return []
    return message_tokens(record, models.get(record.model))


def message_tokens(run: RunRecord, loaded: LoadedModel) -> list[list[MessageToken]]:
    """The tokens of each message in the prompt of a run, oldest first; their texts together are the message's.

    Empty where they are unknown: the run is no longer stored in full, or the chat format rewrites messages.
    """
    if run.trace is None or not run.trace.messages:
        return []
    system, messages = from_dicts(run.trace.messages)
    kept = messages[run.dropped :]
    try:
        # the same prompt with marks for messages shows what is written around them
        marked = loaded.chat_prompt([Message(one.role, _MARK) for one in kept], system=system, reserve=1)
    except AttendError:
        return []
    around = "".join(_texts(marked.ids, loaded.tokenizer)).split(_MARK)
    texts = _texts(run.ids[: run.first], loaded.tokenizer)
    written = _written("".join(texts), [one.text for one in kept], around)
    return [_parts(one.text, span, texts) for one, span in zip(kept, written, strict=False)]


def _texts(ids: Sequence[int], tokenizer: TextTokenizer) -> list[str]:
    """The text of each token; of a special one, its name between characters that no text contains."""
    texts: list[str] = []
    stream = tokenizer.detokenizer(begins=True)
    for piece in ids:
        special = tokenizer.is_special(piece)
        texts.append(f"\0{tokenizer.label(piece)}\0" if special else stream.push(piece))
    return texts


def _written(prompt: str, messages: Sequence[str], around: Sequence[str]) -> list[range]:
    """Where each message stands in a prompt, which may have left out the white space around it; nothing where the
    prompt is not these messages with these texts around them."""
    if len(around) != len(messages) + 1 or not prompt.startswith(around[0]):
        return []
    spans, at = [], len(around[0])
    for message, behind in zip(messages, around[1:], strict=True):
        text = next((text for text in (message, message.strip()) if prompt.startswith(text + behind, at)), None)
        if text is None:
            return []
        spans.append(range(at, at + len(text)))
        at += len(text) + len(behind)
    return spans


def _parts(message: str, written: range, texts: Sequence[str]) -> list[MessageToken]:
    """A message as the parts of the tokens that it is written with; white space that was left out has none."""
    before = 0 if len(written) == len(message) else len(message) - len(message.lstrip())
    ends = itertools.accumulate(map(len, texts))
    parts: list[MessageToken] = [{"text": message[:before], "token": None}]
    for number, (text, end) in enumerate(zip(texts, ends, strict=True)):
        start, stop = max(end - len(text), written.start), min(end, written.stop)
        if start < stop:
            parts.append({"text": text[len(text) - end + start : len(text) - end + stop], "token": number})
    parts.append({"text": message[before + len(written) :], "token": None})
    return [part for part in parts if part["text"]]
