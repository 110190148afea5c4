"""Carries interventions out and records what was asked for, by hooks on a model's modules during one pass.

Hooks act on the thread that set them alone, so that a pass of another thread through the same modules is untouched. A
head is changed in the input of the output projection, where its output still stands alone: after the projection, all
heads are added up.

Shapes: R rows, T tokens fed in this pass, W model width, H heads, D head width.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils.hooks import RemovableHandle

from model.inspection.anatomy import Anatomy, SubLayer, SubLayerName
from model.inspection.intervention import Intervention

Change = Callable[[Tensor], Tensor]  # (R, T, W) to the same
_HEAD_OF: Mapping[SubLayerName, str] = {"attention": "head", "cross_attention": "cross_head"}


class Probe:
    """What one pass over R rows of T tokens computes inside, and what is changed there.

    All tensors are those after the interventions.
    """

    def __init__(
        self,
        anatomy: Anatomy,
        *,
        rows: int,
        interventions: Sequence[Sequence[Intervention]] = ((),),
        starts: Sequence[int] | None = None,
        record: bool = False,
        embeddings: Tensor | None = None,
    ) -> None:
        """
        Args:
            interventions: those of each row, or of all rows if there is one entry.
            starts: the position of the first token that each row is fed; None: 0.
            record: whether to keep streams, writes and heads.
            embeddings: token embeddings (R, T, W) to compute with instead of those of the tokens or, if there is one,
                of the source.
        """
        self.anatomy, self.rows, self.record, self.embeddings = anatomy, rows, record, embeddings
        self.interventions = interventions if len(interventions) == rows else [*interventions] * rows
        if len(self.interventions) != rows:
            raise ValueError(f"{len(interventions)} lists of interventions for {rows} rows")
        self.starts = [0] * rows if starts is None else starts
        self.inputs: dict[int, Tensor] = {}  # the stream before each layer, (R, T, W)
        self.outputs: dict[int, Tensor] = {}  # the stream after each layer, (R, T, W)
        self.writes: dict[tuple[int, SubLayerName], Tensor] = {}  # what each sub-layer adds, (R, T, W)
        self.normed: dict[tuple[int, SubLayerName], Tensor] = {}  # the stream after it, where it is normed then
        self.heads: dict[tuple[int, SubLayerName], Tensor] = {}  # the heads' outputs, (R, T, H, D)
        for row in self.interventions:
            for one in row:
                anatomy.check(one)

    @contextmanager
    def attached(self) -> Iterator[Probe]:
        """The hooks are in place while the context is open."""
        handles: list[RemovableHandle] = []
        try:
            handles += self._hooks()
            yield self
        finally:
            for handle in handles:
                handle.remove()

    def _hooks(self) -> Iterator[RemovableHandle]:
        owner = threading.get_ident()

        def into(module: nn.Module, change: Change) -> RemovableHandle:
            """Pass the module's first input through a change."""

            def hook(_: nn.Module, inputs: tuple[Any, ...], named: dict[str, Any]) -> Any:
                if threading.get_ident() != owner:
                    return None
                if inputs:
                    return (self._through(change, inputs[0]), *inputs[1:]), named
                return inputs, {**named, "hidden_states": self._through(change, named["hidden_states"])}

            return module.register_forward_pre_hook(hook, with_kwargs=True)

        def out_of(module: nn.Module, change: Change) -> RemovableHandle:
            """Pass the module's first output through a change."""

            def hook(_: nn.Module, __: Any, output: Any) -> Any:
                if threading.get_ident() != owner:
                    return None
                if isinstance(output, Tensor):
                    return self._through(change, output)
                return type(output)((self._through(change, output[0]), *output[1:]))

            return module.register_forward_hook(hook)

        if self.embeddings is not None:
            texts = iter([self.embeddings])  # the first text that is embedded: the source, if there is one
            # A copy, since some models change it in place.
            yield out_of(self.anatomy.embedding, lambda embedded: next(texts, embedded).clone())
        for number, layer in enumerate(self.anatomy.layers):
            whole = self._changes(number, "layer")
            if self.record or whole:
                yield into(layer.block, lambda stream, number=number: self.inputs.setdefault(number, stream))
            for sub in layer.sublayers:
                yield from self._sublayer_hooks(number, sub, into, out_of)
            if self.record or whole:
                yield out_of(layer.block, lambda stream, number=number, whole=whole: self._after(number, stream, whole))

    def _sublayer_hooks(self, number: int, sub: SubLayer, into: Any, out_of: Any) -> Iterator[RemovableHandle]:
        key = number, sub.name
        changes, heads = self._changes(number, sub.name), self._changes(number, _HEAD_OF.get(sub.name, ""))
        if sub.projection is not None and (self.record or heads):

            def change_heads(outputs: Tensor) -> Tensor:
                apart = outputs.unflatten(-1, (self.anatomy.heads, -1))  # (R, T, H, D)
                for row, one in heads:
                    apart = _with(apart, row, one, self.starts[row], head=one.head)
                if self.record:
                    self.heads[key] = apart
                return apart.flatten(-2)  # (R, T, H * D)

            yield into(sub.projection, change_heads)
        if self.record or changes:

            def change_write(written: Tensor) -> Tensor:
                added = written * self.anatomy.write_scale  # (R, T, W)
                for row, one in changes:
                    added = _with(added, row, one, self.starts[row])
                if self.record:
                    self.writes[key] = added
                return added / self.anatomy.write_scale if changes else written

            yield out_of(sub.write, change_write)
        if self.record and sub.norm_after is not None:
            yield out_of(sub.norm_after, lambda stream: self.normed.setdefault(key, stream))

    def _after(self, number: int, stream: Tensor, whole: Sequence[tuple[int, Intervention]]) -> Tensor:
        """The stream after a layer (R, T, W), with the interventions on all of the layer."""
        before = self.inputs[number]
        for row, one in whole:
            if one.action == "replace":
                stream = _with(stream, row, one, self.starts[row])
            else:
                stream = before + _with(stream - before, row, one, self.starts[row])
        self.outputs[number] = stream
        return stream

    def _changes(self, layer: int, part: str) -> list[tuple[int, Intervention]]:
        """The interventions on a part, with their rows."""
        numbered = ((row, one) for row, ones in enumerate(self.interventions) for one in ones)
        return [(row, one) for row, one in numbered if one.layer == layer and one.part == part]

    def _through(self, change: Change, value: Tensor) -> Tensor:
        """A change of hidden states that a module takes as (R, T, W) or flat, as (R * T, W)."""
        return change(value.reshape(self.rows, -1, value.shape[-1])).reshape(value.shape)


def _with(values: Tensor, row: int, one: Intervention, start: int, head: int | None = None) -> Tensor:
    """A copy of values (R, T, W) or (R, T, H, D) with one intervention on one row."""
    values = values.clone()
    part = values[row] if head is None else values[row, :, head]  # (T, W or D), which shares the copy's memory
    columns = torch.arange(len(part), device=part.device)
    if one.positions is not None:
        columns = columns[torch.isin(columns + start, torch.tensor(one.positions, device=part.device))]
    if one.replacement is not None:
        columns = columns[columns + start < len(one.replacement)]
        part[columns] = one.replacement.to(part)[columns + start]
    elif one.action == "mean":
        part[columns] = part.mean(dim=0)
    else:
        part[columns] = part[columns] * (one.factor if one.action == "scale" else 0.0)
    return values
