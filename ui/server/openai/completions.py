"""/v1/completions: continues texts, and scores them with `echo`."""

from __future__ import annotations

import math
import time
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from decoding.recorder import record_text
from decoding.run.scoring import batches, predictions_together
from decoding.run.trace import Trace
from decoding.step import Choice
from model.inspection.inspector import under
from model.interface import Forward
from model.loaded import LoadedModel
from ui.kit.validation import checked_start
from ui.runs.models import Models
from ui.runs.prompts import is_translator
from ui.server.openai.body import (
    MAX_PROMPTS,
    CompletionBody,
    check_format,
    check_ids,
    interventions_in,
    settings_of,
    token_limit,
)
from ui.server.openai.choices import Choices, Prompt, Written, written_tokens
from ui.server.openai.errors import RequestError
from ui.server.openai.generation import Generation, check_time
from ui.server.openai.log_probabilities import token_columns

if TYPE_CHECKING:
    from torch import Tensor

_LENGTH = 16  # tokens, where the request names no limit: OpenAI's own default


class Completion(Generation):
    identifier, whole_object, chunk_object = "cmpl", "text_completion", "text_completion"

    def __init__(self, loaded: LoadedModel, body: CompletionBody, value: Mapping[str, Any]) -> None:
        """
        Args:
            value: the body as it was sent, with Attend's own settings.
        """
        check_format(body)
        self._count, self._best_of = body.n or 1, body.best_of or body.n or 1
        self._echo, self._nothing_new = bool(body.echo), token_limit(body) == 0
        self._check(loaded, body)
        self._logprobs, self._top = body.logprobs is not None, body.logprobs or 0
        value = {**value, "strategy": "greedy"} if self._nothing_new else value  # which draws no seed
        settings = settings_of(body, value, loaded, length=_LENGTH, top=self._top)
        self._interventions = interventions_in(value)
        self._attention = bool(body.attend and body.attend.attention)
        prompts = read_prompts(loaded, body.prompt)
        if len(prompts) * self._best_of > (1 if self._attention else MAX_PROMPTS):
            limit = "1, since attention is asked for" if self._attention else f"{MAX_PROMPTS}"
            sentence = f"{len(prompts)} prompts of {self._best_of} texts are more than {limit}: send fewer."
            raise RequestError(sentence, field="prompt")
        runs = [
            Choices(
                loaded,
                prompt,
                settings,
                self._best_of,
                first=number * self._best_of,
                attention=self._attention,
                interventions=self._interventions,
            )
            for number, prompt in enumerate(prompts)
        ]
        super().__init__(loaded, body, runs)
        self._lengths: dict[int, int] = {}  # of the texts in a stream so far, by their indexes

    def _check(self, loaded: LoadedModel, body: CompletionBody) -> None:
        if self._best_of < self._count:
            raise RequestError(
                f"best_of is {self._best_of}, but n is {self._count}: raise the first or lower the second.",
                field="best_of",
            )
        if self._best_of > self._count and body.stream:
            raise RequestError("best_of can't be streamed: leave out stream, or best_of.", field="best_of")
        if self._nothing_new and not self._echo:
            raise RequestError(
                "max_tokens is 0, which leaves nothing to return: raise it or send echo.", field="max_tokens"
            )
        if self._echo and is_translator(loaded):
            raise RequestError(f"{loaded.name} answers its prompt with another text: leave out echo.", field="echo")

    def run(self, models: Models, visitor: str) -> Generator[list[Written], None, None]:
        """With `echo`, the prompts are scored first, all of them; a single new token comes from the same pass."""
        if not self._echo:
            yield from super().run(models, visitor)
            return
        settings, end = self.runs[0].settings, time.monotonic() + models.limits.run_seconds
        one_more = settings.max_new_tokens == self._best_of == 1 and settings.token_by_token
        one_more = one_more and not (self._nothing_new or self._attention)
        model, done = under(self.loaded.model, self._interventions), 0
        texts = [
            [*run.prompt.ids, 0] if one_more else run.prompt.ids for run in self.runs
        ]  # no pass reads the last one
        for batch in batches(model, texts):
            check_time(end, done, len(self.runs))
            start = self.loaded.prefix_tokens
            prefix = 1 if tuple(batch[0][: len(start)]) == start else 0
            lock, slot = self.loaded.lock, self.loaded.scoring
            read: list[Written] = []  # of the whole batch: a client that reads slowly must not keep its logits
            for passes in predictions_together(model, batch, prefix=prefix, lock=lock, slot=slot):
                run = self.runs[done]
                with closing(passes):
                    tokens = yield from self._read(run, passes, end, one_more=one_more)
                read += [replace(each, index=index) for index in run.indexes for each in tokens]
                done += 1
            yield read
        if not (one_more or self._nothing_new):
            yield from super().run(models, visitor)

    def _read(
        self, run: Choices, passes: Iterable[tuple[Sequence[int], Tensor]], end: float, *, one_more: bool
    ) -> Generator[list[Written], None, list[Written]]:
        """The tokens of a prompt and, with `one_more`, the token behind it that the settings choose; yields none
        between two passes, where a client that has left is noticed."""
        loaded, ids, trace = self.loaded, run.prompt.ids, run.traces[0]
        choices: list[Choice | None] = [None]  # nothing predicts the first token
        logits: Tensor | None = None  # of the last pass, (tokens, V)
        for tokens, logits in passes:
            known = min(len(tokens), len(ids) - len(choices))
            choices += record_text(tokens[:known], logits[:known], run.settings.top_candidates)
            if len(choices) < len(ids):
                if time.monotonic() > end:
                    raise RequestError("A prompt could not be read within the time limit: shorten it.", field="prompt")
                yield []
        detokenizer = loaded.tokenizer.detokenizer(begins=True)
        texts = [detokenizer.push(token) for token in ids]
        texts[-1] += detokenizer.finish()
        prompt = [Written(run.first, *each) for each in zip(texts, ids, choices, strict=True)]
        if not one_more or logits is None:
            return prompt
        trace.add(trace.settings.strategy_for(trace.request).advance(Forward(logits[-1:], cache=None)))
        return [*prompt, *written_tokens(loaded, trace, run.first)]

    def selected(self) -> list[tuple[int, Trace]]:
        if self._best_of == self._count:
            return super().selected()
        best = []
        for run in self.runs:
            finished = enumerate(run.finished(), start=run.first)
            best += sorted(finished, key=lambda each: -_mean_log_probability(each[1]))[: self._count]
        return best

    def token_choice(self, written: Written) -> dict[str, Any]:
        length = self._lengths.get(written.index, 0)
        self._lengths[written.index] = length + len(written.text)
        return self._choice(written.index, [written], None, length)

    def last_choice(self, index: int, finish_reason: str) -> dict[str, Any]:
        return {**self._choice(index, [], finish_reason), "logprobs": None}

    def whole_choice(self, index: int, tokens: Sequence[Written], finish_reason: str) -> dict[str, Any]:
        return self._choice(index, tokens, finish_reason)

    def _choice(
        self, index: int, tokens: Sequence[Written], finish_reason: str | None, length: int = 0
    ) -> dict[str, Any]:
        """A text, or those of its tokens that follow its first `length` characters."""
        logprobs = token_columns(self.loaded.tokenizer, tokens, self._top, length) if self._logprobs else None
        text = "".join(each.text for each in tokens)
        return {"index": index, "text": text, "logprobs": logprobs, "finish_reason": finish_reason}


def read_prompts(loaded: LoadedModel, prompt: str | list[str] | list[int] | list[list[int]]) -> list[Prompt]:
    """The prompts of a request: a text gets the tokens that begin every text, ids are taken exactly as they are."""
    if isinstance(prompt, str):
        texts: list[Any] = [prompt]
    else:
        texts = [prompt] if prompt and isinstance(prompt[0], int) else list(prompt)
    if not texts:
        raise RequestError("The prompt is an empty list: send at least one text.", field="prompt")
    if len(texts) > MAX_PROMPTS:
        raise RequestError(f"There are {len(texts):,} prompts: send at most {MAX_PROMPTS} at once.", field="prompt")
    return [_prompt(loaded, text) for text in texts]


def _prompt(loaded: LoadedModel, text: str | list[int]) -> Prompt:
    if isinstance(text, str):
        checked = checked_start(text, "The prompt")
        return Prompt(loaded.prompt(checked), checked)
    check_ids(text, loaded, "prompt")
    return Prompt(tuple(text), loaded.tokenizer.decode(text, begins=True))


def _mean_log_probability(trace: Trace) -> float:
    return -math.inf if trace.best is None else trace.best.log_probability / len(trace.ids)
