"""A language model of a few lines for the tests of decoding: any function from a text to logits.

Its cache holds each row's whole text and its logits depend on all of it, so a strategy or a loop that does not obey
`parents` gets other numbers at once. Its attention names the text it belongs to: key i weighs as much as token i + 1.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import torch
from torch import Tensor

from decoding.generate import generate
from decoding.processors import Context
from decoding.request import Request, RequestOptions
from decoding.run.trace import Trace
from decoding.settings import DecodingSettings
from decoding.step import Hypothesis, Step
from model.interface import Attention, Forward, Inspection, LanguageModel, Want
from model.transformer.config import TransformerConfig
from model.transformer.decoder import Transformer
from model.transformer.encoder_decoder import build

Text = tuple[int, ...]
NO_CONTEXT = Context(prompt=(0,), tokens=((),))


@dataclass(frozen=True)
class TinyCache:
    """The texts themselves."""

    texts: tuple[Text, ...]

    @property
    def rows(self) -> int:
        return len(self.texts)

    def select(self, rows: Sequence[int]) -> Self:
        return type(self)(tuple(self.texts[row] for row in rows))

    def join(self, other: Self) -> Self:
        return type(self)(self.texts + other.texts)


class TinyModel:
    """`LanguageModel` over a function from a whole text to the logits of its next token."""

    joinable = True
    decoder_start: Text = ()

    def __init__(
        self,
        logits_of: Callable[[Text], Sequence[float]],
        context_length: int = 1000,
        *,
        hidden_of: Callable[[Text], Sequence[float]] | None = None,
        layers_of: Sequence[Callable[[Text], Sequence[float]]] = (),
    ) -> None:
        """`hidden_of` gives the hidden state of a text's last token, `layers_of` the logits of the layers from 0 on."""
        self._logits_of = logits_of
        self._hidden_of = hidden_of
        self._layers_of = tuple(layers_of)
        self.layer_count = len(self._layers_of)
        self.context_length = context_length
        self.vocabulary_size = len(logits_of((0,)))
        self.passes = 0
        self.rows_fed = 0

    def prefill(self, prompt: Sequence[int], *, want: Want = Want()) -> Forward[TinyCache]:
        return self._forward(TinyCache((tuple(prompt),)), want, len(prompt))

    def step(self, tokens: Sequence[int], cache: TinyCache, *, want: Want = Want()) -> Forward[TinyCache]:
        assert len(tokens) == cache.rows, "one token a row"
        grown = tuple((*text, token) for text, token in zip(cache.texts, tokens, strict=True))
        return self._forward(TinyCache(grown), want, 1)

    def logits(self, prompt: Sequence[int], tokens: Sequence[int]) -> Tensor:
        return torch.tensor([self._logits_of((*prompt, *tokens[:i])) for i in range(len(tokens))])

    def inspect(self, tokens: Sequence[int], *, source: Sequence[int] = ()) -> Inspection:
        raise NotImplementedError("decoding never asks for it")

    def _forward(self, cache: TinyCache, want: Want, fed: int) -> Forward[TinyCache]:
        assert all(len(text) <= self.context_length for text in cache.texts), "longer than the context"
        self.passes += 1
        self.rows_fed += cache.rows
        logits = torch.tensor([self._logits_of(text) for text in cache.texts], dtype=torch.float32)
        attention = None
        if want.attention:
            weights = torch.tensor(cache.texts, dtype=torch.float32) + 1  # (rows, keys)
            attention = Attention((weights / weights.sum(-1, keepdim=True))[:, None, None, None, :])
        hidden = layer_logits = None
        if want.hidden and self._hidden_of is not None:
            ends = range(-fed + 1, 1)
            states = [[self._hidden_of(text[: len(text) + end]) for end in ends] for text in cache.texts]
            hidden = torch.tensor(states, dtype=torch.float32)  # (rows, fed, width)
        if want.layers:
            early = [[self._layers_of[layer](text) for layer in want.layers] for text in cache.texts]
            layer_logits = torch.tensor(early, dtype=torch.float32)  # (rows, layers asked, vocabulary)
        return Forward(logits, cache, attention, hidden, layer_logits)


def random_model(vocabulary: int, seed: int, *, scale: float = 1.0, context_length: int = 1000) -> TinyModel:
    """Normal logits that are another row for every text, and the same for the same text.

    Its hidden states (4 wide) and the logits of its 5 layers are of the same kind.
    """

    def normal(width: int, *names: int) -> list[float]:
        generator = torch.Generator().manual_seed(hash(names) % 2**31)  # tuples of ints hash the same everywhere
        return (torch.randn(width, generator=generator) * scale).tolist()

    return TinyModel(
        lambda text: normal(vocabulary, seed, *text),
        context_length,
        hidden_of=lambda text: normal(4, -1, seed, *text),
        layers_of=[lambda text, layer=layer: normal(vocabulary, -2, layer, seed, *text) for layer in range(5)],
    )


def table_model(table: Mapping[Text, Mapping[int, float]], vocabulary: int) -> TinyModel:
    """Given probabilities after given texts (the rest of the vocabulary has almost none); elsewhere all are equal."""

    def logits_of(text: Text) -> list[float]:
        row = table.get(text)
        probabilities = [1.0] * vocabulary if row is None else [row.get(token, 1e-12) for token in range(vocabulary)]
        return torch.tensor(probabilities, dtype=torch.float64).log().tolist()

    return TinyModel(logits_of)


def make_request(
    prompt: Sequence[int] = (0,),
    end_tokens: Sequence[int] = (),
    *,
    context_length: int = 1000,
    vocabulary_size: int = 1000,
    attention: bool = False,
    draws_used: int = 0,
    layer_count: int = 0,
) -> Request:
    """A request whose text is its ids, written out."""
    return Request(
        prompt=tuple(prompt),
        end_tokens=frozenset(end_tokens),
        decode=lambda ids: " ".join(map(str, ids)),
        context_length=context_length,
        vocabulary_size=vocabulary_size,
        options=RequestOptions(attention=attention, draws_used=draws_used),
        layer_count=layer_count,
        encode=lambda text: [int(part) for part in text.split()],
    )


def decode(model: LanguageModel, settings: DecodingSettings, request: Request | None = None) -> list[Step]:
    """All steps of a run, without a request that of a prompt of one token."""
    request = request or make_request(context_length=model.context_length)
    return list(generate(model, request.input_ids, settings.strategy_for(request)))


def best(steps: Sequence[Step]) -> Hypothesis:
    """The text of a finished run, of several the best."""
    text = steps[-1].best
    assert text is not None
    return text


class NumberedTokens:
    """Labels each token by its number; token 1 is a control token."""

    def label(self, piece: int) -> str:
        return f"<{piece}>"

    def is_special(self, piece: int) -> bool:
        return piece == 1


def trace_of(model: LanguageModel, settings: DecodingSettings, request: Request) -> Trace:
    """The same run as a trace."""
    prompt = " ".join(map(str, request.prompt))
    trace = Trace("tiny", prompt, request, settings, NumberedTokens())
    return trace.collect(generate(model, request.input_ids, settings.strategy_for(request)))


def decided_transformer(times: float, **options: object) -> Transformer:
    """A random one, its matrices so many times as large: logits as decided as a trained model's, and every token before
    has its say."""
    torch.manual_seed(3)
    sizes = {
        "vocabulary_size": 40,
        "context_length": 48,
        "width": 32,
        "feed_forward_width": 48,
        "layers": 2,
        "heads": 4,
    }
    model = build(TransformerConfig.from_dict({**sizes, "key_value_heads": 2, **options})).eval()
    with torch.no_grad():
        for matrix in (parameter for parameter in model.parameters() if parameter.dim() == 2):
            matrix.mul_(times)
    return model


def check_same_pass(actual: Forward, expected: Forward, *, atol: float = 1e-5, attention: float = 1e-5) -> None:
    """Whatever the expected pass returns, the other one returns as nearly the same: numbers and attention weights."""
    for name in ("logits", "hidden", "layer_logits"):
        torch.testing.assert_close(getattr(actual, name), getattr(expected, name), atol=atol, rtol=0)
    for name in ("decoder", "cross"):
        ours, reference = (getattr(each.attention, name, None) for each in (actual, expected))
        torch.testing.assert_close(ours, reference, atol=attention, rtol=0)
