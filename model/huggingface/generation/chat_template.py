"""Conversations as the chat template of a Hugging Face checkpoint writes them.

A template turns a conversation into one text, in which a message that spells a special token looks like the template's
own tokens. So the template is also rendered with marks in place of the messages, which shows where its own text ends.
If tokenizing the whole text finds other special tokens than the template's, the template's text and the messages are
tokenized separately. The marks also show whether each message is there, so no message is lost silently. A template is a
program written by whoever made the checkpoint, so it runs in a sandbox.
"""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Self

from model.errors import AttendError
from model.huggingface.tokenizer import CheckpointTokenizer
from model.limits import TooLong, max_characters
from model.sandbox.process import OutOfBounds, Refused, Sandbox
from model.text.conversation import ChatPrompt, Message, as_dicts, fitted

_SECONDS = 5.0  # for one conversation, however often it is rendered to fit; usually milliseconds
_PROBE_SECONDS = 10.0  # for all probes of the template, including the start of its process
_MAX_PROBE = 1_000_000  # characters in the text of a probe
_MAX_SEARCHED = 10_000  # characters after an answer in which its end token is looked for
# What some templates change: capitals, HTML, quotation marks, inner blanks, the end of long messages.
_WORDS = "Ab <b>&</b> \"c\" 'd'\t{{ e }}  f\n\n \u00e9\U0001f98a " + "g h " * 1_000 + "Z"
_THOUGHT, _REPLY = "<think>\n0123\n</think>", "4567"
_ROLES = {"user": "your messages", "assistant": "earlier answers", "system": "the system prompt"}


class TemplateChat:
    """The chat template of a tokenizer; what a person types always stays text."""

    manner: str = "chat template"
    stop_texts: tuple[str, ...] = ()

    def __init__(self, tokenizer: CheckpointTokenizer) -> None:
        """Raises `AttendError` for a template that cannot write a single message, or that leaves it out."""
        self._tokenizer = tokenizer
        self._sandbox = Sandbox("chat_template", seconds=_SECONDS)
        self._probes_end = time.monotonic() + _PROBE_SECONDS
        self._template = tokenizer.hf_tokenizer.get_chat_template()
        # Digits, since no filter changes them; they are a digest of the template, which can't contain its own digest.
        self._own = str(int(hashlib.sha256(str(self._template).encode("utf-8", "replace")).hexdigest(), 16))[:20]
        self._roles_in_parts: frozenset[str] = frozenset()  # roles whose messages must be lists of parts
        self._choose_parts("user", as_dicts([Message("user", self._marks(1)[0])]))
        self.no_system = self._why_no_system()
        self.notes: tuple[str, ...] = ()  # sentences that a person should read
        with suppress(_Stopped, TooLong):  # its conversations will be refused, too
            self._look_at_answers()
        self.end_tokens = self._find_end_tokens()

    @classmethod
    def of(cls, tokenizer: CheckpointTokenizer) -> Self | None:
        """None if a tokenizer has no template, or none to use by default."""
        templates = tokenizer.hf_tokenizer.chat_template
        return cls(tokenizer) if templates and not names_without_default(tokenizer) else None

    def _find_end_tokens(self) -> frozenset[int]:
        """The special token that follows an answer, if the template writes one."""
        user, answer = self._marks(2)
        exchange = [Message("user", user), Message("assistant", answer)]
        following = self._written(as_dicts(exchange), answered=True).rpartition(answer)[2][:_MAX_SEARCHED]
        return frozenset(self._special_tokens(self._tokenizer.parse(following))[:1])

    def prompt(self, messages: Sequence[Message], *, system: str = "", context_length: int, reserve: int) -> ChatPrompt:
        """See `model.text.conversation.Chat.prompt`; without a system prompt, the template may insert its own."""
        ends = time.monotonic() + _SECONDS
        return fitted(
            messages,
            lambda first: self._ids(as_dicts(messages[first:], system), max_characters(context_length), ends),
            frame=0,  # a template may refuse an empty message, so its own words cannot be told from the shortest
            context_length=context_length,
            reserve=reserve,
            system=system,
        )

    def _why_no_system(self) -> str:
        """See `model.text.conversation.Chat.no_system`; found out by rendering one."""
        mark, text = self._marks(2)
        message = Message("user", text)
        try:
            self._choose_parts("system", as_dicts([message], mark))
        except _Lost:
            return "its chat template leaves them out"
        except (_Rejected, _Stopped):
            return "its chat template rejects them"
        written = self._written(as_dicts([message], mark), answered=False)
        for role in ("user", "assistant"):
            with suppress(AttendError):  # these turns do not alternate, but a system prompt is no turn
                if written == self._written(as_dicts([Message(role, mark), message]), answered=False):
                    return "its chat template has no place for them"
        return ""

    def _choose_parts(self, role: str, messages: list[dict[str, str]], index: int = 0) -> None:
        """Pass the texts of a role as lists of parts, as templates for images expect, if they are lost otherwise.

        Args:
            messages: with marks in place of their texts.
            index: the index of a message of this role.

        Raises `_Rejected` if the template rejects the messages, and `_Lost` if it loses this one in either form.
        """
        mark, plain = messages[index]["content"], self._roles_in_parts
        for roles in (plain, plain | {role}):
            self._roles_in_parts = roles
            with suppress(_Rejected):
                written = self._written(messages, answered=False)
                listed = roles != plain and re.search(f"['\"]{mark}['\"]", written)  # a list in Python's notation
                if mark in written and not listed:
                    return
        self._roles_in_parts = plain
        self._written(messages, answered=False)  # raises again what it did
        raise _Lost(f"The chat template of this model leaves out {_ROLES[role]}: choose another model.")

    def _look_at_answers(self) -> None:
        """Find out how the template takes earlier answers, and which words of a conversation it changes, apart from the
        blanks around them."""
        user, answer, last = self._marks(3)
        with suppress(_Rejected, _Lost):  # such a conversation is refused once there is one
            exchange = [Message("user", user), Message("assistant", answer), Message("user", last)]
            self._choose_parts("assistant", as_dicts(exchange), 1)
        changed = []
        for role in ("user", "assistant", *(() if self.no_system else ("system",))):
            words = {each: _WORDS if each == role else "x" for each in _ROLES}
            exchange = [Message("user", words["user"]), Message("assistant", words["assistant"]), Message("user", "x")]
            with suppress(_Rejected):
                system = words["system"] if role == "system" else ""
                if _WORDS not in self._written(as_dicts(exchange, system), answered=False):
                    changed.append(_ROLES[role])
        if changed:
            self.notes += (f"This model's chat template changes {' and '.join(changed)}: look at the exact prompt.",)
        exchange = [Message("user", "x"), Message("assistant", f"{_THOUGHT}\n\n{_REPLY}"), Message("user", "x")]
        with suppress(_Rejected):
            written = self._written(as_dicts(exchange), answered=False)
            if _THOUGHT not in written and _REPLY in written and not changed:
                self.notes += ("This model's chat template leaves out what earlier answers hold in <think> tags.",)

    def _marks(self, count: int) -> list[str]:
        """Texts that stand for messages and that no template writes itself."""
        return [f"\ue000{self._own}\ue002{index}\ue001" for index in range(count)]

    def _ids(self, messages: list[dict[str, str]], most: int, ends: float) -> list[int]:
        """`most`: characters of a text that the context could hold; `TooLong` for a longer one."""
        marks = self._marks(len(messages))
        marked = [{**message, "content": mark} for message, mark in zip(messages, marks, strict=True)]
        parts = re.split(f"({'|'.join(marks)})", self._written(marked, answered=False, most=most, ends=ends))
        for number, (message, mark) in enumerate(zip(messages, marks, strict=True), start=1):
            if mark not in parts:
                raise AttendError(
                    f"The chat template of this model leaves out message {number} of {len(messages)} "
                    f"({message['role']}): start a new conversation, or choose another model."
                )
        texts = {mark: message["content"] for message, mark in zip(messages, marks, strict=True)}
        together = self._written(messages, answered=False, most=most, ends=ends)
        apart: list[int] = []
        special_tokens: list[int] = []  # the template's special tokens
        for part in parts:
            if part in texts:
                apart += self._tokenizer.encode(texts[part])
            else:
                apart += (ids := self._tokenizer.parse(part))
                special_tokens += self._special_tokens(ids)
        ids = self._tokenizer.parse(together)
        return ids if self._special_tokens(ids) == special_tokens else apart

    def _special_tokens(self, ids: Sequence[int]) -> list[int]:
        return [piece for piece in ids if self._tokenizer.is_special(piece)]

    def _written(
        self,
        messages: list[dict[str, str]],
        *,
        answered: bool,
        most: int = _MAX_PROBE,
        ends: float | None = None,
    ) -> str:
        """The conversation as one text; unless it is answered already, up to where the answer begins.

        Args:
            most: characters of the text; `TooLong` for more.
            ends: the deadline, by the monotonic clock; None for a probe, since probes share one.
        """
        variables = {
            "messages": [self._handed_over(message) for message in messages],
            "tools": None,
            "documents": None,
            "add_generation_prompt": not answered,
        }
        try:
            written = self._sandbox.answer(
                {
                    "template": self._template,
                    "variables": self._tokenizer.hf_tokenizer.special_tokens_map | variables,
                    "most": most,
                },
                ends=self._probes_end if ends is None else ends,
            )
        except OutOfBounds as error:
            raise _Stopped(
                f"The chat template of this model took too long ({_SECONDS:g} seconds for a conversation, "
                f"{_PROBE_SECONDS:g} for all that is tried on loading) or too much memory, and was stopped: choose "
                "another model."
            ) from error
        except (Refused, ValueError) as error:  # whatever a template's own expressions raise, such as {{ 1 / 0 }}
            reason = str(error).rstrip(".")
            if (line := getattr(error, "line", None)) is not None:
                raise AttendError(
                    f"The chat template of this model is damaged (line {line}: {reason}): copy the checkpoint folder "
                    "again."
                ) from error
            raise _Rejected(f"The chat template of this model rejects the conversation ({reason}).") from error
        if len(written) > most:
            raise TooLong(
                f"The chat template of this model writes more than {most:,} characters, more than the model can read: "
                "shorten the conversation, or choose another model."
            )
        return written

    def _handed_over(self, message: dict[str, str]) -> dict[str, Any]:
        """A message in the form that the template takes."""
        if message["role"] not in self._roles_in_parts:
            return dict(message)
        return {**message, "content": [{"type": "text", "text": message["content"]}]}


class _Lost(AttendError):
    """The template leaves out a message."""


class _Rejected(AttendError):
    """The template raises an error."""


class _Stopped(AttendError):
    """The template took too long or too much memory."""


def names_without_default(tokenizer: CheckpointTokenizer) -> list[str]:
    """The names of a tokenizer's chat templates if there are several and none to use by default; otherwise none."""
    templates = tokenizer.hf_tokenizer.chat_template
    return sorted(templates) if isinstance(templates, dict) and "default" not in templates else []
