"""/v1/chat/completions: answers a conversation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from decoding.parameters.parameter import quoted
from model.loaded import LoadedModel
from ui.kit.validation import checked_message, checked_system, checked_text
from ui.runs.prompts import MAX_MESSAGES, chat_prompt, chat_settings
from ui.runs.versions.conversation import Turn
from ui.server.openai.body import ChatBody, check_format, interventions_in, settings_of, token_limit
from ui.server.openai.choices import Choices, Prompt, Written
from ui.server.openai.errors import RequestError
from ui.server.openai.generation import Generation
from ui.server.openai.log_probabilities import chat_token

_DROPPED = "x-attend-dropped"  # the header that says how many of the oldest messages did not fit into the context
_LONGEST = 4096  # tokens, where the request names no limit: until the model ends, or its context is full


class Chat(Generation):
    identifier, whole_object, chunk_object = "chatcmpl", "chat.completion", "chat.completion.chunk"

    def __init__(self, loaded: LoadedModel, body: ChatBody, value: Mapping[str, Any]) -> None:
        """
        Args:
            value: the body as it was sent, with Attend's own settings.
        """
        check_format(body)
        if token_limit(body) == 0:
            raise RequestError("max_tokens is 0, which leaves nothing to return: raise it.", field="max_tokens")
        if body.top_logprobs and not body.logprobs:
            raise RequestError("top_logprobs needs logprobs: set logprobs to true.", field="top_logprobs")
        self._top = body.top_logprobs or 0
        self._logprobs = bool(body.logprobs)
        settings = chat_settings(loaded, settings_of(body, value, loaded, length=_LONGEST, top=self._top))
        system, turns = read_messages(body.messages)
        prompt, messages = chat_prompt(loaded, turns, settings, system)
        run = Choices(
            loaded,
            Prompt(prompt.ids, turns[-1].text, messages),
            settings,
            body.n or 1,
            attention=bool(body.attend and body.attend.attention),
            interventions=interventions_in(value),
        )
        super().__init__(loaded, body, [run])
        self._dropped = prompt.dropped

    @property
    def notes(self) -> Mapping[str, str]:
        return {_DROPPED: f"{self._dropped}"} if self._dropped else {}

    def first_choices(self) -> Iterator[dict[str, Any]]:
        for index in self.runs[0].indexes:
            yield _in_chunk(index, {"role": "assistant", "content": ""})

    def token_choice(self, written: Written) -> dict[str, Any]:
        return _in_chunk(written.index, {"content": written.text}, self._columns([written]))

    def last_choice(self, index: int, finish_reason: str) -> dict[str, Any]:
        return _in_chunk(index, {}, finish_reason=finish_reason)

    def whole_choice(self, index: int, tokens: Sequence[Written], finish_reason: str) -> dict[str, Any]:
        message = {"role": "assistant", "content": "".join(each.text for each in tokens), "refusal": None}
        return {"index": index, "message": message, "logprobs": self._columns(tokens), "finish_reason": finish_reason}

    def _columns(self, tokens: Sequence[Written]) -> dict[str, Any] | None:
        if not self._logprobs:
            return None
        content = [chat_token(self.loaded.tokenizer, each.choice, self._top) for each in tokens if each.choice]
        return {"content": content, "refusal": None}


def _in_chunk(
    index: int, delta: dict[str, Any], logprobs: Any = None, finish_reason: str | None = None
) -> dict[str, Any]:
    return {"index": index, "delta": delta, "logprobs": logprobs, "finish_reason": finish_reason}


def read_messages(messages: Sequence[Any]) -> tuple[str, list[Turn]]:
    """The system prompt, "" if there is none, and the conversation; `RequestError` for anything else.

    Several system messages at the beginning are paragraphs of one prompt.
    """
    if len(messages) > MAX_MESSAGES:
        raise RequestError(
            f"There are {len(messages):,} messages: send the newest {MAX_MESSAGES} or fewer.", field="messages"
        )
    system: list[str] = []
    turns: list[Turn] = []
    for number, entry in enumerate(messages, start=1):
        role, text = _role_and_text(number, entry)
        if role == "system":
            if turns:
                raise RequestError(
                    f"Message {number} is a system message after the first turn: put it before them.", field="messages"
                )
            system.append(text)
        else:
            turns.append(Turn(role, checked_text(text, f"Message {number}")))
    if not turns or turns[-1].role != "user":
        raise RequestError("The last message must be the user's: add the message to answer.", field="messages")
    turns[-1] = Turn("user", checked_message(turns[-1].text))
    return checked_system("\n\n".join(each for each in system if each.strip())), turns


def _role_and_text(number: int, entry: object) -> tuple[Any, str]:
    role, content = (entry.get("role"), entry.get("content")) if isinstance(entry, Mapping) else (None, None)
    role = {"developer": "system"}.get(role, role) if isinstance(role, str) else role
    if role not in ("system", "user", "assistant"):
        raise RequestError(
            f"The role of message {number} is {quoted(role)}, but must be system, user or assistant.", field="messages"
        )
    parts = content if isinstance(content, list) else [{"type": "text", "text": content}]
    texts = []
    for part in parts:
        kind = part.get("type") if isinstance(part, Mapping) else None
        text = part.get("text") if isinstance(part, Mapping) else None
        if kind != "text" or not isinstance(text, str):
            what = f"a part of type {quoted(kind)}" if isinstance(content, list) else quoted(content)
            raise RequestError(
                f"The content of message {number} is {what}, but must be a text or a list of text parts.",
                field="messages",
            )
        texts.append(text)
    return role, "".join(texts)
