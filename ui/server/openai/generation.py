"""What chat and completions have in common: the answer to one request, as a whole or in chunks of one token."""

from __future__ import annotations

import hashlib
import time
import uuid
from abc import ABC, abstractmethod
from collections.abc import Generator, Iterator, Mapping, Sequence
from typing import Any, ClassVar

from decoding.run.trace import Trace
from model.loaded import LoadedModel
from ui.runs.models import Models
from ui.server.openai.body import Explanation, GenerationBody
from ui.server.openai.choices import FINISH_REASONS, Choices, Written
from ui.server.openai.errors import RequestError
from ui.server.openai.log_probabilities import explained

_ROWS = 8  # of a pass that the prompts of one request take together, unless one of them alone takes more

Chunk = dict[str, Any]


class Generation(ABC):
    """The answer to one request."""

    identifier: ClassVar[str]  # how its id begins
    whole_object: ClassVar[str]
    chunk_object: ClassVar[str]

    def __init__(self, loaded: LoadedModel, body: GenerationBody, runs: Sequence[Choices]) -> None:
        """
        Args:
            runs: one for each prompt.
        """
        self.loaded, self.body, self.runs = loaded, body, runs
        self._explanation = body.attend or Explanation()
        self._head = {
            "id": f"{self.identifier}-{uuid.uuid4().hex}",
            "created": int(time.time()),
            "model": loaded.name,
            "system_fingerprint": fingerprint(loaded),
        }

    @abstractmethod
    def token_choice(self, written: Written) -> dict[str, Any]:
        """A token in a chunk."""

    @abstractmethod
    def last_choice(self, index: int, finish_reason: str) -> dict[str, Any]:
        """The end of a text in a chunk."""

    @abstractmethod
    def whole_choice(self, index: int, tokens: Sequence[Written], finish_reason: str) -> dict[str, Any]:
        """A text in the whole answer."""

    @property
    def notes(self) -> Mapping[str, str]:
        """Headers that say what else a program should know."""
        return {}

    def first_choices(self) -> Iterator[dict[str, Any]]:
        """What the first chunks hold, before a token."""
        return iter(())

    def selected(self) -> list[tuple[int, Trace]]:
        """The finished texts that are returned, in their order, each with the index under which it was written."""
        return [each for run in self.runs for each in enumerate(run.finished(), start=run.first)]

    def run(self, models: Models, visitor: str) -> Generator[list[Written], None, None]:
        """Decode all texts to the end; yields the tokens that became certain, or none, at every update.

        `RequestError` if the time limit of one answer is reached before the last prompts have begun.
        """
        end = time.monotonic() + models.limits.run_seconds
        together = max(1, _ROWS // max(run.rows for run in self.runs))
        for first in range(0, len(self.runs), together):
            check_time(end, first, len(self.runs))
            running = [run.run(models, visitor, end) for run in self.runs[first : first + together]]
            try:
                while running:
                    for each in [*running]:
                        try:
                            yield next(each)
                        except StopIteration:
                            running.remove(each)
            finally:
                for each in running:
                    each.close()

    def chunks(self, models: Models, visitor: str) -> Generator[list[Chunk], None, None]:
        """The answer in chunks of one token, those of one update together, which may be none."""
        usage = self.body.stream_options is not None and self.body.stream_options.include_usage
        later = {"usage": None} if usage else {}
        yield [self._chunk(each) | later for each in self.first_choices()]
        for tokens in self.run(models, visitor):
            yield [self._chunk(self._with_explanation(self.token_choice(each), [each])) | later for each in tokens]
        last = [self.last_choice(index, FINISH_REASONS[trace.finish_reason]) for index, trace in self.selected()]
        yield [self._chunk(each) | later for each in last]
        if usage:
            yield [{**self._head, "object": self.chunk_object, "choices": [], "usage": self._usage()}]

    def whole(self, written: Sequence[Written]) -> dict[str, Any]:
        """The whole answer, of all that `run` has yielded."""
        tokens: dict[int, list[Written]] = {}
        for each in written:
            tokens.setdefault(each.index, []).append(each)
        choices = []
        for index, (own, trace) in enumerate(self.selected()):
            of_text = tokens.get(own, [])
            choice = self.whole_choice(index, of_text, FINISH_REASONS[trace.finish_reason])
            choices.append(self._with_explanation(choice, of_text))
        return {**self._head, "object": self.whole_object, "choices": choices, "usage": self._usage()}

    def _with_explanation(self, choice: dict[str, Any], tokens: Sequence[Written]) -> dict[str, Any]:
        if not (self._explanation.stages or self._explanation.attention):
            return choice
        origin = self.runs[0].traces[0].origin
        return {**choice, "attend": [explained(each.choice, origin, self._explanation) for each in tokens]}

    def _chunk(self, choice: dict[str, Any]) -> Chunk:
        return {**self._head, "object": self.chunk_object, "choices": [choice]}

    def _usage(self) -> dict[str, int]:
        read = sum(len(run.prompt.ids) for run in self.runs)
        generated = sum(len(trace.ids) for run in self.runs for trace in run.finished())
        return {"prompt_tokens": read, "completion_tokens": generated, "total_tokens": read + generated}


def check_time(end: float, done: int, prompts: int) -> None:
    """`RequestError` if the time for all prompts of a request is over, by the monotonic clock."""
    if done and time.monotonic() > end:
        sentence = f"Only {done} of {prompts} prompts were answered within the time limit: send fewer at once."
        raise RequestError(sentence, field="prompt")


def fingerprint(loaded: LoadedModel) -> str:
    """Names the weights and their precision, so that a program sees when another model answers under the same name."""
    identity = f"{loaded.name}\0{loaded.address}\0{loaded.dtype}\0{loaded.model.vocabulary_size}"
    return f"fp_{hashlib.sha256(identity.encode(errors='replace')).hexdigest()[:10]}"
