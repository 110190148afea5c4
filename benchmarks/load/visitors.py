"""Visitors of a page: some only chat; others also stop, vanish in the middle of an answer, and come back."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import httpx
import openai
from gradio_client import Client

MESSAGES = ("Hi! How are you today?", "Tell me a story about a small dog.", "What do you like to eat?", "I am sad.")
_TIMEOUT = 120.0  # seconds
_SAME_PIECE = 0.001  # seconds between two tokens that came together


@dataclass(slots=True)
class Experience:
    """What one visitor experienced."""

    first: list[float] = field(default_factory=list)  # seconds from a question to the first token of its answer
    gaps: list[float] = field(default_factory=list)  # seconds between two pieces of an answer
    tokens: int = 0
    failed: list[str] = field(default_factory=list)  # error messages
    done: dict[str, int] = field(default_factory=dict)  # how often the visitor did each thing


class Visitor:
    """A program that uses the page as a person would."""

    def __init__(self, address: str, model: str, tokens: int, number: int) -> None:
        self._address, self._model, self._tokens, self._number = address, model, tokens, number
        self._random = random.Random(number)
        self._client = Client(address, verbose=False)
        self.seen = Experience()

    def stay(self, barrier: threading.Barrier, seconds: float, *, restless: bool) -> Experience:
        """Do one thing after another, once all visitors have arrived.

        Args:
            restless: whether to stop, vanish and come back as well.
        """
        barrier.wait()
        end = time.perf_counter() + seconds
        everything = (self.chat, self.chat, self.chat, self.stop, self.vanish, self.come_back)
        while time.perf_counter() < end:
            act: Callable[[float], None] = self._random.choice(everything) if restless else self.chat
            self.seen.done[act.__name__] = self.seen.done.get(act.__name__, 0) + 1
            try:
                act(end)
            except Exception as error:  # whatever it is, it belongs in the table
                self.seen.failed.append(f"{act.__name__}: {error or type(error).__name__}")
        self._client.close()
        return self.seen

    def chat(self, end: float) -> None:
        """Ask for an answer and read it to its end."""
        times = [time.perf_counter()]
        job = self._asked()
        for item in job:
            times.append(time.perf_counter())
            self.seen.tokens += len(item["tokens"]) if times[-1] < end else 0
        job.result()
        waited = [after - before for before, after in pairwise(times)]
        self.seen.first.append(waited[0])
        self.seen.gaps += waited[1:]

    def stop(self, end: float) -> None:
        """Ask for an answer and stop it after its first piece."""
        job = self._asked()
        for _ in job:
            job.cancel()
            break
        with suppress(Exception):  # the client then receives no answer
            job.result(timeout=_TIMEOUT)

    def vanish(self, end: float) -> None:
        """Ask for an answer, and break the connection in the middle of it or before reading any of it."""
        data = {"data": [self._message, [], self._model, self._settings, ""]}
        begun = httpx.post(f"{self._address}/gradio_api/call/chat", json=data, timeout=_TIMEOUT).raise_for_status()
        if self._random.random() < 0.5:
            answer = f"{self._address}/gradio_api/call/chat/{begun.json()['event_id']}"
            with httpx.stream("GET", answer, timeout=_TIMEOUT) as stream:
                next(line for line in stream.iter_lines() if line.startswith("event:") and "heartbeat" not in line)

    def come_back(self, end: float) -> None:
        """Close the page and open it again."""
        self._client.close()
        self._client = Client(self._address, verbose=False)

    def _asked(self) -> Any:
        return self._client.submit(self._message, [], self._model, self._settings, api_name="/chat")

    @property
    def _message(self) -> str:
        return MESSAGES[self._number % len(MESSAGES)]

    @property
    def _settings(self) -> dict[str, Any]:
        return {
            "min_new_tokens": self._tokens,
            "max_new_tokens": self._tokens,
            "temperature": 0.8,
            "seed": self._number,
        }


class OpenAIVisitor(Visitor):
    """The same through OpenAI's protocol; it only chats."""

    def __init__(self, address: str, model: str, tokens: int, number: int) -> None:
        self._address, self._model, self._tokens, self._number = address, model, tokens, number
        self._client = openai.OpenAI(base_url=f"{address}/v1", api_key="none", timeout=_TIMEOUT, max_retries=0)
        self.seen = Experience()

    def chat(self, end: float) -> None:
        times, tokens = [time.perf_counter()], 0
        for chunk in self._client.chat.completions.create(
            model=self._model,
            messages=[{"role": "user", "content": self._message}],
            stream=True,
            max_tokens=self._tokens,
            temperature=0.8,
            seed=self._number,
            extra_body={"min_new_tokens": self._tokens},
        ):
            choice = chunk.choices[0]
            if choice.delta.role is None and choice.finish_reason is None:  # a token
                times.append(time.perf_counter())
                tokens += times[-1] < end
        self.seen.tokens += tokens
        waited = [after - before for before, after in pairwise(times)]
        self.seen.first.append(waited[0])
        self.seen.gaps += [each for each in waited[1:] if each > _SAME_PIECE]


PROTOCOLS = {"gradio": Visitor, "openai": OpenAIVisitor}
