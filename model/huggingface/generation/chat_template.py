"""Conversations as the chat template of a Hugging Face checkpoint writes them.

A template turns a conversation into one text, in which a message that spells a special token looks like the template's
own tokens. So the template is also rendered with marks in place of the messages, which shows where its own text ends.
If tokenizing the whole text finds other special tokens than the template's, the template's text and the messages are
tokenized separately. A template is a program by whoever made the checkpoint, so it runs in a sandbox.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from typing import Self

from model.errors import AttendError
from model.huggingface.tokenizer import CheckpointTokenizer
from model.sandbox.process import OutOfBounds, Refused, Sandbox
from model.text.conversation import ChatPrompt, Message, as_dicts, fitted

_MARK = re.compile("\ue000(\\d+)\ue001")  # private characters, which no template writes itself
_SECONDS = 5.0  # for a text; the longest takes milliseconds


class TemplateChat:
    """The chat template of a tokenizer; what a person types stays text in it."""

    manner: str = "chat template"
    stop_texts: tuple[str, ...] = ()

    def __init__(self, tokenizer: CheckpointTokenizer) -> None:
        """Raises `AttendError` for a template that cannot write a single message."""
        self._tokenizer = tokenizer
        self._sandbox = Sandbox("chat_template", seconds=_SECONDS)
        self._written(as_dicts([Message("user", "Hi")]), answered=False)
        self.no_system = self._why_no_system()

    @classmethod
    def of(cls, tokenizer: CheckpointTokenizer) -> Self | None:
        return cls(tokenizer) if tokenizer.hf_tokenizer.chat_template else None

    @property
    def end_tokens(self) -> frozenset[int]:
        """The special token that follows an answer, where the template writes one."""
        exchange = [Message("user", "\ue0000\ue001"), Message("assistant", "\ue0001\ue001")]
        behind = self._written(as_dicts(exchange), answered=True).rpartition("\ue001")[2]
        return frozenset(self._special_tokens(self._tokenizer.parse(behind))[:1])

    def prompt(self, messages: Sequence[Message], *, system: str = "", context_length: int, reserve: int) -> ChatPrompt:
        """See `model.text.conversation.Chat.prompt`; without a system prompt the template may put in one of its own."""
        return fitted(
            messages,
            lambda first: self._ids(as_dicts(messages[first:], system)),
            frame=0,  # a template may refuse an empty message, so its own words cannot be told from the shortest
            context_length=context_length,
            reserve=reserve,
            system=system,
        )

    def _why_no_system(self) -> str:
        """See `model.text.conversation.Chat.no_system`; found out by rendering one."""
        mark, message = "\ue0000\ue001", Message("user", "\ue0001\ue001")
        try:
            written = self._written(as_dicts([message], mark), answered=False)
        except AttendError:
            return "its chat template rejects them"
        if mark not in written:
            return "its chat template leaves them out"
        for role in ("user", "assistant"):
            with suppress(AttendError):  # turns that do not alternate, which no system prompt is
                if written == self._written(as_dicts([Message(role, mark), message]), answered=False):
                    return "its chat template has no place for them"
        return ""

    def _ids(self, messages: list[dict[str, str]]) -> list[int]:
        marks = [{**message, "content": f"\ue000{index}\ue001"} for index, message in enumerate(messages)]
        apart: list[int] = []
        special_tokens: list[int] = []  # the template's special tokens
        for index, part in enumerate(_MARK.split(self._written(marks, answered=False))):
            if index % 2:
                apart += self._tokenizer.encode(messages[int(part)]["content"])
            else:
                apart += (ids := self._tokenizer.parse(part))
                special_tokens += self._special_tokens(ids)
        together = self._tokenizer.parse(self._written(messages, answered=False))
        return together if self._special_tokens(together) == special_tokens else apart

    def _special_tokens(self, ids: Sequence[int]) -> list[int]:
        return [piece for piece in ids if self._tokenizer.is_special(piece)]

    def _written(self, messages: list[dict[str, str]], *, answered: bool) -> str:
        """The conversation as one text; unless it is answered already, up to where the answer begins."""
        variables = {"messages": messages, "tools": None, "documents": None, "add_generation_prompt": not answered}
        try:
            return self._sandbox.answer(
                {
                    "template": self._tokenizer.hf_tokenizer.get_chat_template(),
                    "variables": self._tokenizer.hf_tokenizer.special_tokens_map | variables,
                }
            )
        except OutOfBounds as error:
            raise AttendError(
                f"The chat template of this model took more than {_SECONDS:g} seconds or too much memory and was "
                "stopped: choose another model."
            ) from error
        except (Refused, ValueError) as error:  # whatever a template's own expressions raise, {{ 1 / 0 }} for one
            reason = str(error).rstrip(".")
            if (line := getattr(error, "line", None)) is not None:
                raise AttendError(
                    f"The chat template of this model is damaged (line {line}: {reason}): copy the checkpoint folder "
                    "again."
                ) from error
            raise AttendError(f"The chat template of this model rejects the conversation ({reason}).") from error
