"""/v1/completions: continues texts, and scores them with `echo`."""

from __future__ import annotations

import math
import time
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from decoding.parameters.parameter import quoted
from decoding.recorder import record_text
from decoding.run.scoring import predictions
from decoding.run.trace import Trace
from decoding.step import Choice
from model.inspection.inspector import under
from model.interface import Forward
from model.loaded import LoadedModel
from ui.kit.validation import checked_start
from ui.runs.models import Models
from ui.runs.prompts import is_translator
from ui.server.openai.body import MAX_PROMPTS, CompletionBody, check_format, interventions_in, settings_of
from ui.server.openai.choices import Choices, Prompt, Written, written_tokens
from ui.server.openai.errors import RequestError
from ui.server.openai.generation import Generation, check_time
from ui.server.openai.log_probabilities import TokenColumns

_LENGTH = 16  # tokens, where the request names no limit: OpenAI's own default


@dataclass(frozen=True, slots=True)
class Echo:
    """A prompt's own tokens, the first without a choice, since nothing predicts it."""

    texts: tuple[str, ...]
    choices: tuple[Choice, ...]


class Completion(Generation):
    identifier, whole_object, chunk_object = "cmpl", "text_completion", "text_completion"

    def __init__(self, loaded: LoadedModel, body: CompletionBody, value: Mapping[str, Any]) -> None:
        """
        Args:
            value: the body as it was sent, with Attend's own settings.
        """
        check_format(body)
        self._count, self._best_of = body.n or 1, body.best_of or body.n or 1
        self._echo, self._nothing_new = bool(body.echo), body.max_tokens == 0
        self._check(loaded, body)
        self._logprobs, self._top = body.logprobs is not None, body.logprobs or 0
        value = {**value, "strategy": "greedy"} if self._nothing_new else value  # which draws no seed
        settings = settings_of(body, value, loaded, length=_LENGTH, top=self._top)
        self._interventions = interventions_in(value)
        self._prompts = read_prompts(loaded, body.prompt)
        if len(self._prompts) * self._best_of > MAX_PROMPTS:
            raise RequestError(
                f"{len(self._prompts)} prompts of {self._best_of} texts are over {MAX_PROMPTS}: send fewer.", field="n"
            )
        if body.attend and body.attend.attention and len(self._prompts) * self._best_of > 1:
            raise RequestError("attention is recorded for one text at a time: send one prompt.", field="attend")
        super().__init__(
            loaded,
            body,
            [
                Choices(
                    loaded,
                    prompt,
                    settings,
                    self._best_of,
                    first=number * self._count,
                    attention=bool(body.attend and body.attend.attention),
                    interventions=self._interventions,
                )
                for number, prompt in enumerate(self._prompts)
            ],
        )
        self._echoes: list[Echo] = []
        self._offsets: dict[int, int] = {}  # by the index of a text, how long it is so far

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

    @property
    def prompt_tokens(self) -> int:
        return sum(len(prompt.ids) for prompt in self._prompts)

    def run(self, models: Models, visitor: str) -> Generator[list[Written], None, None]:
        """The prompts are scored first, all of them, then continued; one token more comes from the same pass."""
        if not self._echo:
            yield from super().run(models, visitor)
            return
        settings = self.runs[0].settings
        one_more = (
            settings.max_new_tokens == 1 and settings.token_by_token and self._best_of == 1 and not self._nothing_new
        )
        end = time.monotonic() + models.limits.run_seconds
        for number, run in enumerate(self.runs):
            check_time(end, number, len(self.runs))
            self._echoes.append(echo := self._read(run, one_more=one_more))
            tokens = list(zip(echo.texts, run.prompt.ids, (None, *echo.choices), strict=True))
            yield [Written(index, *each) for index in run.indexes for each in tokens]
        if one_more:
            yield [each for run in self.runs for each in written_tokens(self.loaded, run.traces[0], run.first)]
        elif not self._nothing_new:
            yield from super().run(models, visitor)

    def _read(self, run: Choices, *, one_more: bool) -> Echo:
        """Score a prompt and, with `one_more`, choose the token behind it as the settings say."""
        loaded, ids, choices = self.loaded, run.prompt.ids, list[Choice]()
        top = max(1, run.settings.top_candidates)
        passes = predictions(
            under(loaded.model, self._interventions),
            [*ids, 0] if one_more else ids,
            scored=1,
            prefix=1 if ids[: len(loaded.prefix_tokens)] == loaded.prefix_tokens else 0,
            lock=loaded.lock,
        )
        logits = None
        for tokens, logits in passes:
            known = min(len(tokens), len(ids) - 1 - len(choices))
            choices += record_text(tokens[:known], logits[:known], top)
        if one_more and logits is not None:
            (trace,) = run.traces
            strategy = trace.settings.strategy_for(trace.request)
            trace.add(strategy.advance(Forward(logits[-1:], cache=None)))
        detokenizer = loaded.tokenizer.detokenizer(begins=True)
        texts = [detokenizer.push(token) for token in ids]
        texts[-1] += detokenizer.finish()
        return Echo(tuple(texts), tuple(choices))

    def selected(self) -> list[tuple[int, Trace]]:
        if self._best_of == self._count:
            return super().selected()
        chosen = []
        for run in self.runs:
            traces = sorted(run.finished(), key=_mean_log_probability, reverse=True)
            chosen += enumerate(traces[: self._count], start=run.first)
        return chosen

    def token_choice(self, written: Written) -> dict[str, Any]:
        columns = self._columns(self._offsets.get(written.index, 0))
        if columns is not None:
            columns.add(written)
        self._offsets[written.index] = self._offsets.get(written.index, 0) + len(written.text)
        return _completion(written.index, written.text, columns, None)

    def last_choice(self, index: int, finish_reason: str) -> dict[str, Any]:
        return _completion(index, "", None, finish_reason)

    def whole_choice(self, index: int, tokens: Sequence[Written], finish_reason: str) -> dict[str, Any]:
        if self._echoes:
            echo, ids = self._echoes[index // self._count], self._prompts[index // self._count].ids
            prompt = zip(echo.texts, ids, (None, *echo.choices), strict=True)
            tokens = [*(Written(index, *each) for each in prompt), *tokens]
        columns = self._columns(0)
        if columns is not None:
            for each in tokens:
                columns.add(each)
        return _completion(index, "".join(each.text for each in tokens), columns, finish_reason)

    def _columns(self, length: int) -> TokenColumns | None:
        if not self._logprobs:
            return None
        return TokenColumns(self.loaded.tokenizer, self._top, length=length)


def _completion(index: int, text: str, columns: TokenColumns | None, finish_reason: str | None) -> dict[str, Any]:
    logprobs = None if columns is None else columns.value()
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
    highest = loaded.model.vocabulary_size - 1
    if wrong := next((token for token in text if token > highest), None):
        raise RequestError(
            f"The prompt has the token {quoted(wrong)}, but this model's highest id is {highest:,}.", field="prompt"
        )
    return Prompt(tuple(text), loaded.tokenizer.decode(text, begins=True))


def _mean_log_probability(trace: Trace) -> float:
    return -math.inf if trace.best is None else trace.best.log_probability / len(trace.ids)
