"""Which parts wrote a choice: its logit as a sum of what each part added to the stream, or of gradients of the input.

Neither proves a cause. A part's direct share leaves out what later parts do because of it, and would do without it. A
gradient describes small changes of embeddings, which no word makes.

Shapes: R rows, T tokens, W model width, V vocabulary, L layers, S sub-layers of a layer, H heads, D head width.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from model.errors import AttendError
from model.inspection.anatomy import WHOLE, Anatomy, SubLayer
from model.inspection.choice import Choice
from model.inspection.inspector import BATCH, Inspector

_ROUGH = 1e-2  # of the largest value: how well a norm's form must fit, in any precision
_GRADIENT_TOKENS = BATCH // 4  # in one pass: gradients keep what every layer computed


@dataclass(frozen=True, slots=True)
class DirectAttribution:
    """A logit, or the difference of two, as a sum of what the parts wrote, with every norm on the way frozen.

    `embedding + sublayers.sum() + constant` is `total`. Where a head's share can't be told, because what the heads
    write is normed before it is added, `heads` and `head_rest` are None.
    """

    embedding: float
    sublayers: Tensor  # (L, S)
    heads: Tensor | None  # those of attention, (L, H)
    head_rest: Tensor | None  # what the output projection adds of its own, (L,)
    cross_heads: Tensor | None  # those of cross-attention, (L, H)
    cross_rest: Tensor | None  # (L,)
    constant: float  # the biases of norms and unembedding
    total: float  # the chosen token's logit, minus the rival's; before the cap in a model that caps its logits
    gap: float  # how far the sum is from the total


@dataclass(frozen=True, slots=True)
class InputAttribution:
    """A logit, or the difference of two, as a sum of what the tokens' embeddings added to it."""

    scores: Tensor  # (T,), or for each token of the source if there is one
    total: float  # how far the choice's logit (minus the rival's) is from that of the text where the way begins
    gap: float  # how far the sum of the scores is from the total


@torch.inference_mode()
def attribute_directly(
    inspector: Inspector, tokens: Sequence[int], chosen: int, rival: int | None = None, *, source: Sequence[int] = ()
) -> DirectAttribution:
    """What each part added to the logit of the token after a text (minus the rival's).

    A norm divides by the length of the whole stream, so no part has a logit of its own; with that length frozen, norms
    are linear, and each part has a share. Raises `AttendError` for a norm that is not known.
    """
    anatomy, choice = inspector.anatomy, Choice(chosen, rival)
    inside = inspector.inspect(tokens, source=source, last=True)
    before = torch.cat([inside.embedded[None, -1], inside.streams[:, -1, -1]])  # the stream between layers, (L + 1, W)
    direction, constant, total = _read_out(anatomy, before[-1], choice)
    layers, names = len(anatomy.layers), anatomy.names
    sublayers = torch.zeros(layers, len(names), dtype=torch.float64)
    parts = {name: torch.full((layers, anatomy.heads + 1), torch.nan, dtype=torch.float64) for name in names[:-1]}
    for layer in reversed(range(layers)):
        for number in reversed(range(len(names))):
            sub, write = anatomy.layers[layer].sublayers[number], inside.writes[layer, number, -1]  # (W,)
            stream = before[layer] if number == 0 else inside.streams[layer, number - 1, -1]  # (W,)
            if sub.norm_after is not None:
                frozen = _Frozen.of(sub.norm_after, stream + write)
                constant += float(direction @ frozen.bias)
                direction = frozen.back(direction)
            sublayers[layer, number] = direction @ _exact(write)
            if sub.name in parts:
                outputs = inside.head_outputs if sub.name == "attention" else inside.cross_head_outputs
                assert outputs is not None
                written = _head_writes(sub, outputs[layer, :, -1]) * anatomy.write_scale  # (H + 1, W)
                if _near(written.sum(dim=0), write):
                    parts[sub.name][layer] = _exact(written) @ direction
    heads = {name: None if bool(values.isnan().any()) else values.float() for name, values in parts.items()}
    embedding = float(direction @ _exact(before[0]))
    of_text, of_source = heads["attention"], heads.get("cross_attention")
    return DirectAttribution(
        embedding,
        sublayers.float(),
        heads=None if of_text is None else of_text[:, :-1],
        head_rest=None if of_text is None else of_text[:, -1],
        cross_heads=None if of_source is None else of_source[:, :-1],
        cross_rest=None if of_source is None else of_source[:, -1],
        constant=constant,
        total=total,
        gap=abs(embedding + float(sublayers.sum()) + constant - total),
    )


def _read_out(anatomy: Anatomy, stream: Tensor, choice: Choice) -> tuple[Tensor, float, float]:
    """A direction (W,), a constant and the choice's logit, which is the last stream (W,) times the direction plus the
    constant."""
    norm = _Frozen.of(anatomy.final_norm, stream)
    normed = anatomy.final_norm(stream[None])  # (1, W)
    nothing = torch.zeros_like(normed)
    rows = torch.cat([normed, nothing])
    logits, plain = anatomy.unembed(rows, WHOLE).float(), anatomy.unembedding(rows).float()  # (2, V) each
    choice.check(logits.shape[-1])
    scaled, linear = logits[0] - logits[1], plain[0] - plain[1]  # (V,) each
    factor = float((scaled @ linear) / (linear @ linear))  # some models scale their logits
    if not _near(factor * linear, scaled):  # and some bend them
        factor, logits = 1.0, plain
    weight = _direction(anatomy.unembedding, choice, like=normed)  # (W,)
    constant = float(choice.of(_exact(logits[1]))) + factor * float(weight @ norm.bias)
    return norm.back(factor * weight), constant, float(choice.of(_exact(logits[0])))


@dataclass(frozen=True, slots=True)
class _Frozen:
    """A norm with the statistics of one vector: x to gain * (x - mean of x, if it centres) + bias, (W,) each."""

    centres: bool
    gain: Tensor
    bias: Tensor

    @classmethod
    def of(cls, norm: nn.Module, vector: Tensor) -> _Frozen:
        """The form that computes what the module does to a vector (W,); `AttendError` if none does."""
        vectors = torch.stack([vector, vector + 1.0 + vector.abs().mean()])  # (2, W): only a centring norm ignores this
        weight, bias = getattr(norm, "weight", None), getattr(norm, "bias", None)
        bias = torch.zeros(len(vector), dtype=torch.float64) if bias is None else _exact(bias)
        wanted, inputs = _exact(norm(vectors)) - bias, _exact(vectors)  # (2, W) each
        best, least = None, _ROUGH * float(wanted.abs().max())
        for centres in (False, True):
            for gain in [torch.ones_like(bias)] if weight is None else [_exact(weight), 1.0 + _exact(weight)]:
                shaped = (inputs - centres * inputs.mean(dim=-1, keepdim=True)) * gain
                scale = (shaped * wanted).sum(dim=-1) / (shaped * shaped).sum(dim=-1)  # (2,)
                error = float((scale[:, None] * shaped - wanted).abs().max())
                if error < least:
                    best, least = cls(centres, scale[0] * gain, bias), error
        if best is None:
            raise AttendError(f"Attend can't take the norm {type(norm).__name__} apart: choose another model.")
        return best

    def back(self, direction: Tensor) -> Tensor:
        """The direction whose product with the input is that of this direction (W,) with the output, without bias."""
        scaled = direction * self.gain
        return scaled - self.centres * scaled.mean()


def _direction(unembedding: nn.Module, choice: Choice, like: Tensor) -> Tensor:
    """The row of the unembedding for the choice, (W,), in float64; packed layers have no rows to look up."""
    weight = getattr(unembedding, "weight", None)
    if not isinstance(weight, Tensor):
        rows = torch.cat([torch.zeros_like(like), torch.eye(like.shape[-1]).to(like)])  # (1 + W, W)
        weight = (unembedding(rows)[1:] - unembedding(rows)[:1]).T  # (V, W)
    return _exact(choice.of(weight.T))


def _head_writes(sub: SubLayer, outputs: Tensor) -> Tensor:
    """What each head's output (H, D) becomes through the output projection, and what that adds alone, (H + 1, W)."""
    assert sub.projection is not None
    heads, width = outputs.shape
    alone = torch.zeros(heads + 1, heads, width).to(outputs)
    alone[range(heads), range(heads)] = outputs
    written = sub.projection(alone.flatten(1))  # (H + 1, W)
    return torch.cat([written[:-1] - written[-1:], written[-1:]])


def _exact(values: Tensor) -> Tensor:
    """The values in float64 on the CPU, since some accelerators lack float64."""
    return values.detach().cpu().double()


def _near(one: Tensor, other: Tensor, tolerance: float = 1e-4) -> bool:
    return float((one - other).abs().max()) <= tolerance * float(other.abs().max())


def attribute_inputs(
    inspector: Inspector,
    tokens: Sequence[int],
    chosen: int,
    rival: int | None = None,
    *,
    source: Sequence[int] = (),
    steps: int = 30,
) -> InputAttribution:
    """Integrated gradients (Sundararajan et al., 2017) from a text of mean embeddings to the text itself.

    The first token stays as it is, so its score is 0: heads that look for nothing rest on it, and without it all of
    them change at once. The usual beginning, embeddings of zero, has no direction, which is all that a norm sees: on
    40 tokens of attend-chat's answers, 30 points from there leave a mean gap of 4.8, and from here 0.13. Points that
    lie closer together at the beginning leave more. With a source, all of its embeddings change, and the decoder's
    text stays as it is.

    Args:
        steps: points on the way at which the gradient is taken; 0: only at the text itself (gradient times input, where
            all embeddings begin at zero).
    """
    if steps < 0:
        raise AttendError(f"The number of steps is {steps}, but must be 0 or more.")
    choice, embedded = Choice(chosen, rival), inspector.embed(source or tokens)  # (T, W)
    beginning = torch.zeros_like(embedded)
    if steps:
        beginning += inspector.mean_embedding()
    if steps and not source:
        beginning[0] = embedded[0]
    way, gradient = embedded - beginning, torch.zeros_like(embedded)
    points = (torch.arange(steps) + 0.5) / steps if steps else torch.ones(1)
    for some in points.split(max(1, _GRADIENT_TOKENS // len(embedded))):
        rows = (beginning + some.to(embedded)[:, None, None] * way).requires_grad_()  # (R, T, W)
        values = choice.of(inspector.from_embeddings(tokens, rows, source=source))  # (R,)
        gradient += torch.autograd.grad(values.sum(), rows)[0].sum(dim=0)
    scores = (gradient / len(points) * way).sum(dim=-1).float().cpu()  # (T,)
    with torch.no_grad():
        ends = torch.stack([embedded, beginning])  # (2, T, W)
        at_text, at_beginning = choice.of(inspector.from_embeddings(tokens, ends, source=source)).tolist()
    return InputAttribution(scores, at_text - at_beginning, abs(float(scores.sum()) - (at_text - at_beginning)))
