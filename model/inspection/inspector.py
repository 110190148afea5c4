"""Looks into a model: one text in full, or the next token after many texts under many interventions.

All that explains a choice (`lens`, `attribution`, `words`, `heads`, `ablation`, `patching`) uses this class and
nothing else of a model.

Shapes: R rows, T tokens of the longest row, W model width, V vocabulary, L layers, S sub-layers of a layer
(attention, feed-forward; in a decoder that reads an encoder, cross-attention between them), H heads, D head width.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, runtime_checkable

import torch
from torch import Tensor

from model.errors import AttendError
from model.inspection.anatomy import Anatomy
from model.inspection.intervention import HEADS, Intervention, Part
from model.inspection.matching import Matching, noting
from model.inspection.probe import Probe
from model.interface import Attention, Inspection, LanguageModel

Texts = Sequence[Sequence[int]]
BATCH = 1024  # tokens of one pass over several rows: more at once leave the fast memory of a processor

_EMBEDDINGS = 4096  # looked up at once
_ROWS = 64  # in one pass: more would only multiply the logits of short texts
_LARGEST = 2**27  # numbers in one tensor: half a GB
_TOLERANCE = 1e-3  # of the largest value: how well parts must give what the model computed


@dataclass(frozen=True, slots=True)
class Inside(Inspection):
    """An inspection with what each part of the decoder computed."""

    embedded: Tensor  # the residual stream before the first layer, (T, W)
    streams: Tensor  # the residual stream after each sub-layer, (L, S, T, W)
    writes: Tensor  # what each sub-layer adds to it, (L, S, T, W)
    head_outputs: Tensor  # before the output projection, (L, H, T, D)
    cross_head_outputs: Tensor | None = None  # those of cross-attention, in the same shape

    def part(self, layer: int, part: Part, head: int | None = None) -> Tensor:
        """What an `Intervention` on that part replaces, (T, W or D)."""
        if part in HEADS:
            outputs = self.head_outputs if part == "head" else self.cross_head_outputs
            assert outputs is not None and head is not None
            return outputs[layer, head]
        if part == "layer":
            return self.streams[layer, -1]
        return self.writes[layer, {"attention": 0, "cross_attention": 1, "feed_forward": -1}[part]]


class Pass(NamedTuple):
    """What a model's own pass returns."""

    logits: Tensor  # (R, T, V), or (R, 1, V) of each row's last token
    attention: Attention | None = None


class Passes(Protocol):
    """A model's pass over whole texts, through its modules alone: no compiled twin, no cache."""

    def __call__(self, rows: Texts, sources: Texts, *, attention: bool, last: bool) -> Pass:
        """Read rows, of which shorter ones are padded on the right where nothing attends to it.

        Args:
            sources: what the encoder reads for each row, or for all if there is one; empty without an encoder.
            attention: whether to return it, for one row.
            last: only compute the logits of each row's last token.
        """
        ...


@runtime_checkable
class Inspectable(Protocol):
    """A model that can be opened, which ours are and those of transformers whose modules are known."""

    def inspector(self) -> Inspector:
        """The model, opened; `AttendError` where its modules are not known."""
        ...

    def with_interventions(self, interventions: Sequence[Intervention]) -> LanguageModel[Any]:
        """The model with every pass changed, to generate with; `AttendError` for parts that it lacks."""
        ...


def opened(model: LanguageModel[Any]) -> Inspectable:
    """The model as one that can be opened; `AttendError` for one that can't, such as a GRU."""
    if not isinstance(model, Inspectable):
        raise AttendError("This model can't be opened: choose a transformer that runs in this process.")
    return model


def under(model: LanguageModel[Any], interventions: Sequence[Intervention]) -> LanguageModel[Any]:
    """The model with every pass changed, to generate with; itself where nothing is changed."""
    return opened(model).with_interventions(interventions) if interventions else model


class Inspector:
    """One model, opened."""

    def __init__(self, anatomy: Anatomy, passes: Passes, *, pads: bool = True) -> None:
        """
        Args:
            pads: whether texts of different lengths may share a pass without changing each other.
        """
        self.anatomy, self._passes, self._pads = anatomy, passes, pads

    def longest(self) -> int:
        """The most tokens that a text and its source may have so that no tensor of an inspection that asks for the last
        logits alone has more than 2**27 numbers."""
        layers, width = len(self.anatomy.layers), self.embed([0]).shape[-1]
        in_attention = math.isqrt(_LARGEST // (layers * self.anatomy.heads))  # (L, H, T, T)
        return min(in_attention, _LARGEST // (layers * len(self.anatomy.names) * width))  # streams: (L, S, T, W)

    @torch.inference_mode()
    def inspect(
        self,
        tokens: Sequence[int],
        *,
        source: Sequence[int] = (),
        interventions: Sequence[Intervention] = (),
        last: bool = False,
    ) -> Inside:
        """Everything inside one text, as it is under the interventions; arguments as in `LanguageModel.inspect`.

        Args:
            last: only compute the logits of the last position, (1, V): those of a long text take time and memory.
        """
        probe = Probe(self.anatomy, rows=1, interventions=[interventions], record=True)
        with probe.attached():
            result = self._passes([tokens], [source] if source else [], attention=True, last=last)
        assert result.attention is not None
        names, layers = self.anatomy.names, range(len(self.anatomy.layers))
        writes = torch.stack([torch.stack([probe.writes[layer, name][0] for name in names]) for layer in layers])
        heads = {
            name: torch.stack([probe.heads[layer, name][0].transpose(0, 1) for layer in layers])  # (L, H, T, D)
            for name in names
            if (0, name) in probe.heads
        }
        return Inside(
            result.logits[0].float(),
            result.attention,
            embedded=probe.inputs[0][0],
            streams=self._streams(probe, writes),
            writes=writes,
            head_outputs=heads["attention"],
            cross_head_outputs=heads.get("cross_attention"),
        )

    def _streams(self, probe: Probe, writes: Tensor) -> Tensor:
        """The stream after every sub-layer, (L, S, T, W); the last one of a layer is exactly what left it.

        Raises `AttendError` where a layer does something else than to add up what its sub-layers write.
        """
        streams = []
        for layer in range(len(writes)):
            if self.anatomy.norm_after:
                after = [probe.normed[layer, name][0] for name in self.anatomy.names]
            else:
                after = [*(probe.inputs[layer][0] + writes[layer].cumsum(dim=0))]  # (T, W) each
            left = probe.outputs[layer][0]
            changed = any(one.part == "layer" and one.layer == layer for one in probe.interventions[0])
            if not changed and (after[-1] - left).abs().max() > _TOLERANCE * left.abs().max():
                raise AttendError(
                    "The parts of this model's layers don't add up exactly, so Attend can't take them apart: if its "
                    "weights are in 16 bits, load it with --dtype float32, else choose another model."
                )
            streams.append(torch.stack([*after[:-1], left]))
        return torch.stack(streams)

    @torch.inference_mode()
    def match(
        self,
        tokens: Sequence[int],
        layer: int,
        head: int,
        *,
        cross: bool = False,
        source: Sequence[int] = (),
        interventions: Sequence[Intervention] = (),
    ) -> Matching:
        """The queries and keys of one head over a text, or over its source in cross-attention.

        Raises `AttendError` for a head that the model lacks; for attention that is more than a softmax of their
        products, as with a bias for distances or with sinks; and for families of transformers that keep them to
        themselves.
        """
        self.anatomy.check(Intervention(layer, "cross_head" if cross else "head", head))
        probe, kinds = Probe(self.anatomy, rows=1, interventions=[interventions]), len(self.anatomy.names) - 1
        with noting() as noted, probe.attached():
            result = self._passes([tokens], [source] if source else [], attention=True, last=True)
        recorded = result.attention and (result.attention.cross if cross else result.attention.decoder)
        of_decoder = noted[-len(self.anatomy.layers) * kinds :]  # an encoder comes before
        if recorded is not None and len(of_decoder) == len(self.anatomy.layers) * kinds:
            queries, keys, scale = of_decoder[layer * kinds + cross]
            group = self.anatomy.heads // keys.shape[1]
            matching = Matching(queries[0, head], keys[0, head // group], scale, recorded[0, layer, head])
            if matching.gap() < _TOLERANCE:
                return matching
        raise AttendError(
            "The queries and keys of this model's heads can't be shown: its attention is more than a softmax of their "
            "products, or doesn't give access to them. Choose another model."
        )

    def batches(
        self, rows: Texts, *, sources: Texts = (), interventions: Sequence[Sequence[Intervention]] = ((),)
    ) -> Iterator[Tensor]:
        """The logits of the token after each row, (rows of this pass, V) at a time, so that a caller can tell how far
        it is or stop.

        Args:
            sources: as `Passes` takes them.
            interventions: those of each row, or of all rows if there is one entry.
        """
        size = min(_ROWS, max(1, BATCH // max(map(len, rows))))
        own_sources = len(sources) == len(rows)
        lengths = [(len(row), len(sources[index]) if own_sources else 0) for index, row in enumerate(rows)]
        first = 0
        while first < len(rows):
            end = min(first + size, len(rows))
            if not self._pads:
                end = next((index for index in range(first, end) if lengths[index] != lengths[first]), end)
            part = slice(first, end)
            yield self._next_logits(
                rows[part],
                sources[part] if own_sources else sources,
                interventions[part] if len(interventions) == len(rows) else interventions,
            )
            first = end

    def predictions(
        self, rows: Texts, *, sources: Texts = (), interventions: Sequence[Sequence[Intervention]] = ((),)
    ) -> Tensor:
        """`batches` in one tensor, (R, V)."""
        return torch.cat([*self.batches(rows, sources=sources, interventions=interventions)])

    @torch.inference_mode()
    def _next_logits(self, rows: Texts, sources: Texts, interventions: Sequence[Sequence[Intervention]]) -> Tensor:
        probe = Probe(self.anatomy, rows=len(rows), interventions=interventions)
        with probe.attached():
            return self._passes(rows, sources, attention=False, last=True).logits[:, -1].float()  # (R, V)

    def embed(self, tokens: Sequence[int]) -> Tensor:
        """The token embeddings of a text, before positions, (T, W), without gradients."""
        device = next((one.device for one in self.anatomy.embedding.parameters()), None)  # packed ones are on the CPU
        with torch.no_grad():
            return self.anatomy.embedding(torch.tensor([list(tokens)], device=device))[0].clone()

    def mean_embedding(self) -> Tensor:
        """The mean of all tokens' embeddings, (W,); raises `AttendError` as `from_embeddings` does."""
        self._refuse_packed()
        table = self.anatomy.embedding
        weight = next(table.parameters())  # (V, W), which some models scale
        ids = torch.arange(len(weight), device=weight.device)
        with torch.no_grad():
            sums = [table(some[None])[0].sum(dim=0) for some in ids.split(_EMBEDDINGS)]  # (W,) each
            return torch.stack(sums).sum(dim=0) / len(ids)

    def from_embeddings(self, tokens: Sequence[int], embeddings: Tensor, *, source: Sequence[int] = ()) -> Tensor:
        """The logits of the next token, (R, V), as a differentiable function of token embeddings (R, T, W), which are
        those of the source if there is one.

        Raises `AttendError` for weights in 16 or 8 bits, which have no gradients here.
        """
        self._refuse_packed()
        rows = [tokens] * len(embeddings)
        probe = Probe(self.anatomy, rows=len(rows), embeddings=embeddings)
        with torch.enable_grad(), probe.attached():
            logits = self._passes(rows, [source] * len(rows) if source else [], attention=False, last=True).logits
        return logits[:, -1].float()  # (R, V)

    def _refuse_packed(self) -> None:
        if not any(weights.dim() == 2 for weights in self.anatomy.layers[0].block.parameters()):
            raise AttendError("Gradients need weights in float32: load the model without a precision in its name.")
