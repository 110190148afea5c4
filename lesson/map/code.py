"""The lines of our own transformer that compute the parts of the map, read from its source."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from model.text.sentencepiece_tokenizer import Tokenizer
from model.transformer import attention, positions
from model.transformer.attention import CrossAttention, SelfAttention
from model.transformer.decoder import Transformer
from model.transformer.encoder_decoder import EncoderDecoder
from model.transformer.layers import Block, FeedForward

_ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, slots=True)
class CodeLine:
    """A line in its function."""

    path: str  # from the root of the repository
    function: str
    number: int  # of the line in its file
    line: str
    source: tuple[str, ...]  # all lines of the function, the first not indented
    at: int  # which of them it is


_Where = tuple[Callable[..., Any], str]  # a function, and what its line contains
_QUERY_PATH: Mapping[str, _Where] = {
    "mixed": (attention._weighted_sum, "grouped @ values"),
    "weights": (attention.attention_weights, "scores.softmax"),
}
_WHERE: Mapping[str, _Where] = MappingProxyType(
    {
        "tokens": (Tokenizer.encode, "EncodeAsIds(part)"),
        "embedding": (Transformer.embed, "self.embedding(tokens)"),
        "rotary": (positions.rotate, "addcmul"),
        "sinusoidal": (positions.sinusoids, "angles.sin()"),
        "learned": (Transformer.embed, "self.position_embedding.weight"),
        "attention_norm": (Block.forward, "self.attention(self.normed"),
        "projections": (SelfAttention.project, "self.qkv_proj(hidden)"),
        **_QUERY_PATH,
        "output": (SelfAttention.forward, "self.o_proj(mixed)"),
        **{f"{name}_add": (Block._add, "return hidden + update") for name in ("attention", "cross", "feed_forward")},
        "cross_norm": (Block.forward, "self.cross(self.normed"),
        "cross_queries": (CrossAttention.forward, "self.q_proj(hidden)"),
        "cross_keys_values": (CrossAttention.project_keys_values, "self.kv_proj(encoded)"),
        "cross_projections": (CrossAttention.forward, "self.q_proj(hidden)"),
        **{f"cross_{name}": where for name, where in _QUERY_PATH.items()},
        "cross_output": (CrossAttention.forward, "self.o_proj(mixed)"),
        "feed_forward_norm": (Block.forward, "self.feed_forward(self.normed"),
        **dict.fromkeys(("up", "activation", "down"), (FeedForward.forward, "self.up_proj(hidden)")),
        "norms": (Block.normed, "norm(hidden)"),
        "final_norm": (Transformer._run_layers, "self.final_norm(newest)"),
        "encoder": (EncoderDecoder._encode, "run_block(block, hidden"),
        "logits": (Transformer.logits, "self.unembedding(hidden"),
    }
)


@cache
def code_of(kind: str) -> CodeLine | None:
    """The line that computes a kind of part; None for a kind that our network doesn't compute itself.

    Args:
        kind: for positions, how they are marked: rotary, sinusoidal or learned.
    """
    if kind not in _WHERE:
        return None
    decorated, snippet = _WHERE[kind]
    function = inspect.unwrap(decorated)
    lines, first = inspect.getsourcelines(function)
    at = next(index for index, line in enumerate(lines) if snippet in line)
    indent = len(lines[0]) - len(lines[0].lstrip())
    source = tuple(line[indent:].rstrip() if line.strip() else "" for line in lines)
    path = Path(inspect.getfile(function)).resolve().relative_to(_ROOT).as_posix()
    return CodeLine(path, function.__qualname__, first + at, source[at].strip(), source, at)
