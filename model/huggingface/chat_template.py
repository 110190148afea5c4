"""Conversations as the chat template of a Hugging Face checkpoint writes them.

A template turns a conversation into one text, in which a message that spells a special token looks like the template's
own tokens. So the template is also rendered with marks in place of the messages, which shows where its own text ends.
If tokenizing the whole text finds other special tokens than the template's, the template's text and the messages are
tokenized separately.
"""

from __future__ import annotations

import re
import traceback
from collections.abc import Sequence
from contextlib import suppress
from typing import Self

from jinja2 import TemplateSyntaxError

from model.errors import AttendError
from model.huggingface.tokenizer import HuggingFaceTokenizer
from model.text.conversation import ChatPrompt, Message, as_dicts, fitted

_MARK = re.compile("\ue000(\\d+)\ue001")  # private characters, which no template writes itself


class TemplateChat:
    """The chat template of a tokenizer; what a person types stays text in it."""

    manner: str = "chat template"
    stop_texts: tuple[str, ...] = ()

    def __init__(self, tokenizer: HuggingFaceTokenizer) -> None:
        """Raises `AttendError` for a template that cannot write a single message."""
        self._tokenizer = tokenizer
        self._written(as_dicts([Message("user", "Hi")]), answered=False)
        self.no_system = self._why_no_system()

    @classmethod
    def of(cls, tokenizer: HuggingFaceTokenizer) -> Self | None:
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
        try:
            return str(
                self._tokenizer.hf_tokenizer.apply_chat_template(
                    messages, tokenize=False, add_generation_prompt=not answered
                )
            )
        except TemplateSyntaxError as error:
            reason = error.message.rstrip(".") if error.message else "a syntax error"
            raise AttendError(
                f"The chat template of this model is damaged (line {error.lineno}: {reason}): copy the checkpoint "
                "folder again."
            ) from _without_frames(error)
        except Exception as error:  # anything that a template's expressions raise, such as {{ 1 / 0 }}
            raise AttendError(
                f"The chat template of this model rejects the conversation ({str(error).rstrip('.')})."
            ) from _without_frames(error)


def _without_frames(error: Exception) -> Exception:
    """The error, with the frames behind its traceback emptied.

    Those that jinja2 puts there refer to each other, and through them to the variables of every caller: a model that is
    being loaded would stay in memory until the garbage collector runs.
    """
    for frame, _ in traceback.walk_tb(error.__traceback__):
        with suppress(RuntimeError):  # from here on they are still running
            while frame is not None:
                frame.clear()
                frame = frame.f_back
    return error.with_traceback(None)
