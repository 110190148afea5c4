"""Attend for programs: load a model, let it write, and look at every choice that it made.

    import attend

    model = attend.load("attend-chat")
    run = model.generate("Once upon a time", temperature=0.8, top_p=0.95, seed=7, attention=True)
    print(run.text)
    for token in run.tokens:
        print(token.text, token.probability, token.candidates[:3], token.attention)

    model.chat("Hi! How are you today?").text
    for token in model.stream("Once upon a time", max_new_tokens=50):
        print(token.text, end="", flush=True)
    model.score("The cat sat on the mat.").perplexity
    model.generate("Once upon a time", interventions=[{"layer": 5, "part": "head", "head": 4}])  # that head is off
    model.attribute("My dog is called Tom. My dog is called", " Tom", " Max").words

Settings are given by keyword: the fields of `decoding.settings.DecodingSettings`, as for every flag of `generate.py`.
Errors that the user can fix raise `AttendError` with one plain sentence. Several threads may share a model.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from model.arguments import DEFAULT, ModelArguments
from model.causes.causes import Causes
from model.errors import AttendError
from model.inspection.intervention import Intervention, Interventions, interventions_of

if TYPE_CHECKING:  # imported when a model is loaded: torch takes seconds
    from torch import Tensor

    from decoding.run.score import TextScore
    from decoding.run.token_texts import TokenTexts
    from decoding.run.trace import Trace
    from decoding.settings import DecodingSettings
    from decoding.step import Choice, FinishReason
    from model.loaded import LoadedModel
    from model.text.tokenizer import TextTokenizer

__all__ = ["AttendError", "Candidate", "Intervention", "Model", "Run", "Score", "Stream", "Token", "load"]
__version__ = "1.0.0"

Messages = Sequence[Mapping[str, str]]  # [{"role": "user", "content": "Hi!"}, …], optionally after a system prompt


def load(
    name: str = DEFAULT,
    *,
    engine: str = "auto",
    device: str = "auto",
    dtype: str = "auto",
    max_size: float | None = None,
    from_language: str = "",
    to_language: str = "",
) -> Model:
    """Load a model, downloading it first if it is not on this machine yet.

    Args:
        name: from `python generate.py --list-models`, a folder, a GGUF file, or "owner/name" on the Hugging Face Hub.
        engine: what runs a Hugging Face checkpoint: "native" (Attend's own transformer), "adapter" or "auto".
        device: "cpu", "cuda", "cuda:1", "mps" or "auto".
        dtype: "float32", "bfloat16", "float16", "int8" or "auto".
        max_size: the largest download in gigabytes; None allows as much as this machine has memory.
        from_language, to_language: codes such as "fr", for translators that know several languages.
    """
    from model import catalog

    arguments = ModelArguments(name, engine, device, dtype, max_size, from_language, to_language)
    return Model(catalog.load_arguments(arguments))


@dataclass(frozen=True, slots=True)
class Candidate:
    """A token that could have been chosen."""

    id: int
    text: str  # on its own, so a special token or a lone byte has a name: <end>, <0xF0>
    probability: float  # the model's own
    final_probability: float  # after all filters; 0 if one of them removed it


@dataclass(frozen=True, slots=True)
class Token:
    """One token of a run or of a scored text."""

    id: int
    text: str  # what it adds to the text; empty for special tokens, and for bytes until their character is complete
    probability: float  # the model's own
    final_probability: float  # after all filters
    rank: int  # from 1, by the model's own probability
    candidates: tuple[Candidate, ...]  # the most probable by the model, best first, and always this token
    choice: Choice  # everything else that was recorded: filters, entropy, the random draw

    @property
    def log_probability(self) -> float:
        """The model's own, in nats."""
        return math.log(self.probability) if self.probability > 0 else -math.inf

    @property
    def attention(self) -> Tensor | None:
        """Where the model looked when it chose this token: (layers, heads, keys), with `attention=True`.

        The keys are the tokens of `Run.context`, then those generated before this one. Every row sums to 1. In a
        translator the source's keys come first, and the weights over source and own text each sum to 1.
        """
        return None if self.choice.attention is None else self.choice.attention.float()


@dataclass(frozen=True, slots=True)
class Run:
    """A generated text."""

    text: str
    tokens: tuple[Token, ...]  # their texts joined are `text`
    context: tuple[str, ...]  # the tokens of the prompt, each on its own
    trace: Trace  # the full record: every step, beams included

    @property
    def texts(self) -> tuple[str, ...]:
        """All texts, best first; just one unless `num_return_sequences` is above 1."""
        return self.trace.texts or (self.text,)

    @property
    def finish_reason(self) -> FinishReason:
        """Why it ended: "stop" (the model ended it), "length", "stop_text" or "cancelled"."""
        return self.trace.finish_reason

    @property
    def settings(self) -> DecodingSettings:
        """All settings, including the seed that was used."""
        return self.trace.settings

    @property
    def interventions(self) -> tuple[Intervention, ...]:
        """What was changed inside the model."""
        return self.trace.request.options.interventions

    def document(self) -> dict[str, Any]:
        """The run as JSON values ("attend.trace/2"): what `generate.py --json` writes and the page opens."""
        return dict(self.trace.document())


@dataclass(frozen=True, slots=True)
class Score:
    """How probable a text is to a model."""

    tokens: tuple[Token, ...]
    scored: TextScore

    @property
    def log_probability(self) -> float:
        """The log-probability of the whole text, in nats."""
        return self.scored.log_probability

    @property
    def perplexity(self) -> float:
        return self.scored.perplexity

    @property
    def bits_per_byte(self) -> float:
        """The mean surprise of a byte, by which models with different tokens can be compared."""
        return self.scored.bits_per_byte

    def document(self) -> dict[str, Any]:
        """The same as JSON values: what `generate.py --score --json` writes and `/score` returns."""
        return dict(self.scored.document())


class Stream(Iterator[Token]):
    """A run in progress: yields its tokens; `close` stops the model, and `run` is the run so far.

    A token comes as soon as its text is certain, which may take a few steps if it could be part of a stop text. Beam
    search can change its mind until the end, so its tokens come last, as do those of several texts at once.
    """

    def __init__(self, loaded: LoadedModel, trace: Trace) -> None:
        self.settings = trace.settings
        self._loaded, self._trace = loaded, trace
        self._tokens = self._decode()

    def __next__(self) -> Token:
        return next(self._tokens)

    def close(self) -> None:
        self._tokens.close()

    @property
    def run(self) -> Run:
        """The run so far; its finish reason is "cancelled" until the end."""
        trace, tokenizer = self._trace, self._loaded.tokenizer
        written = self._texts().whole([(choice.token, choice) for choice in trace.choices()])
        tokens = [_token(choice, text, tokenizer) for text, choice in written]
        return Run(trace.text, tuple(tokens), tuple(map(tokenizer.label, trace.request.attended)), trace)

    def _texts(self) -> TokenTexts[Choice]:
        from decoding.run.token_texts import TokenTexts

        detokenizer = self._loaded.tokenizer.detokenizer(begins=self._loaded.starts_new_text)
        return TokenTexts(detokenizer, self.settings.stop_texts)

    def _decode(self) -> Generator[Token, None, None]:
        from decoding.generate import generate
        from model.inspection.inspector import under

        loaded, trace, settings = self._loaded, self._trace, self.settings
        model = under(loaded.model, trace.request.options.interventions)
        steps = generate(model, trace.request.input_ids, settings.strategy_for(trace.request))
        texts, yielded = self._texts(), 0
        while trace.finish_reason == "cancelled":
            with loaded.lock:
                step = next(steps)
            trace.add(step)
            if step.finished or step.best is None or settings.beams or settings.sequences > 1:
                continue
            for text, choice in texts.push(step.best.tokens[-1], step.best.choice):
                yielded += 1
                yield _token(choice, text, loaded.tokenizer)
        yield from islice(self.run.tokens, yielded, None)


class Model(Causes):
    """A loaded model; `loaded` is the network with its tokenizer, for those who want to go deeper."""

    def __init__(self, loaded: LoadedModel) -> None:
        super().__init__(loaded)

    @property
    def can_chat(self) -> bool:
        """Whether it can follow a conversation; a translator reads each text on its own."""
        return self.loaded.chat is not None and not self.loaded.model.decoder_start

    def generate(
        self, prompt: str, *, attention: bool = False, interventions: Interventions = (), **settings: Any
    ) -> Run:
        """Continue a text, or translate it if the model is a translator.

        Args:
            attention: record where the model looked, as `Token.attention`.
            interventions: what to change inside the model, such as `{"layer": 5, "part": "head", "head": 4}`, which
                switches off the fifth head of the sixth layer: see `Intervention`.
            settings: fields of `DecodingSettings`.
        """
        return _finish(self.stream(prompt, attention=attention, interventions=interventions, **settings))

    def chat(
        self, messages: str | Messages, *, attention: bool = False, interventions: Interventions = (), **settings: Any
    ) -> Run:
        """Answer a message, or a conversation that ends with one; otherwise like `generate`."""
        conversation = [{"role": "user", "content": messages}] if isinstance(messages, str) else messages
        return _finish(self.stream(conversation, attention=attention, interventions=interventions, **settings))

    def stream(
        self, prompt: str | Messages, *, attention: bool = False, interventions: Interventions = (), **settings: Any
    ) -> Stream:
        """Like `generate` for a text and `chat` for messages, but token by token."""
        from decoding.request import Request, RequestOptions
        from decoding.run.trace import Trace
        from decoding.settings import DecodingSettings, for_translator
        from model.inspection.inspector import under
        from model.text.conversation import as_dicts, from_dicts

        loaded, conversation = self.loaded, []
        named = for_translator(settings) if loaded.model.decoder_start else settings
        chosen = DecodingSettings.from_dict(named).seeded()
        if isinstance(prompt, str):
            if not prompt.strip():
                raise AttendError("The prompt is empty: enter at least one character.")
            ids = loaded.prompt(prompt)
        elif not (self.can_chat and loaded.chat):
            raise AttendError(f"{loaded.name} can't chat: give it a text.")
        else:
            system, messages = from_dicts(prompt)
            ids = loaded.chat_prompt(messages, system=system, reserve=chosen.max_new_tokens).ids
            chosen, conversation = chosen.ending_at(loaded.chat.stop_texts), as_dicts(messages, system)
            prompt = messages[-1].text
        changes = interventions_of(interventions)
        request = Request.of(loaded, ids, RequestOptions(attention=attention, interventions=changes))
        under(loaded.model, changes)  # refuses parts that it lacks
        return Stream(loaded, Trace(loaded.name, prompt, request, chosen, loaded.tokenizer, conversation))

    def score(self, text: str, *, prompt: str = "", top_candidates: int = 10, stride: int = 0) -> Score:
        """Score every token of a text; the very first is left out if the model predicts none without a token before it.

        Args:
            prompt: text before it that is not scored. For a translator: the source, of which the text is a translation.
            top_candidates: how many candidates to record for each token.
            stride: of the windows in which a text longer than the context is read, in tokens; 0 is half of the context.
        """
        from decoding.run.score import score_text

        scored = score_text(self.loaded, text, prompt=prompt, top_candidates=top_candidates, stride=stride)
        pairs = zip(scored.choices, scored.texts, strict=True)
        return Score(tuple(_token(choice, text, self.loaded.tokenizer) for choice, text in pairs), scored)


def _finish(stream: Stream) -> Run:
    deque(stream, maxlen=0)
    return stream.run


def _token(choice: Choice, text: str, tokenizer: TextTokenizer) -> Token:
    candidates = tuple(
        Candidate(candidate.id, tokenizer.label(candidate.id), candidate.probabilities[0], candidate.probabilities[-1])
        for candidate in choice.candidates
    )
    return Token(choice.token, text, choice.probability, choice.final_probability, choice.rank, candidates, choice)
