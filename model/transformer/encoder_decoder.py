"""Our encoder with a decoder ("Attention is all you need", Vaswani et al., 2017): it reads one text and writes another.

The decoder is the decoder-only transformer with cross-attention in every block; the encoder consists of the same blocks
without a look-ahead mask. They share one embedding matrix. Padding is the last token of the vocabulary: it pads sources
in training and begins every answer, but is never a target, so its embedding stays zero.

Shapes: R rows, S source tokens, T tokens of the decoder fed in this pass, W model width, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional

from model.inspection.inspector import Pass, Texts
from model.interface import Forward, Want
from model.limits import check_length
from model.transformer.attention import AttentionWeights, ForwardContext, stack_attention
from model.transformer.cache import KeyValueCache
from model.transformer.config import TransformerConfig
from model.transformer.cross_attention_cache import CrossAttentionCache
from model.transformer.decoder import Transformer
from model.transformer.inspection import last_of
from model.transformer.layers import Block, make_norm


class EncoderDecoder(Transformer):
    """The model that a `TransformerConfig` with encoder layers describes, with random weights until a checkpoint fills
    them. Implements `model.interface.LanguageModel` and `PrefillsTogether`."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__(config)
        self.encoder_blocks = nn.ModuleList(Block(config) for _ in range(config.encoder_layers))
        self.encoder_norm = make_norm(config) if config.norm_place == "before" else nn.Identity()
        self._initialize()

    def _initialize(self) -> None:
        """Xavier's uniform weights (Glorot and Bengio, 2010), as in the paper's code; token embeddings of length 1."""
        for name, parameter in self.named_parameters():
            if "embedding" in name:
                nn.init.normal_(parameter, std=self.config.width**-0.5)
            elif parameter.dim() == 2:
                nn.init.xavier_uniform_(parameter)
            elif name.endswith("bias"):
                nn.init.zeros_(parameter)
        with torch.no_grad():
            self.embedding.weight[self.padding] = 0.0

    @property
    def padding(self) -> int:
        assert self.config.padding is not None
        return self.config.padding

    @property
    def decoder_start(self) -> tuple[int, ...]:
        return (self.padding,)

    def forward(self, source: Tensor, tokens: Tensor) -> Tensor:  # type: ignore[override]
        """Logits of every position of the decoder, without that of the padding token: (R, T, V - 1), for training.

        Args:
            source: ids, (R, S), padded on the right.
            tokens: the decoder's input ids, (R, T), padded on the right: no token attends to the padding after it.
        """
        encoded, _ = self._encode(source)
        hidden, _, _ = self._run_layers(tokens, source=encoded)
        return functional.linear(hidden, self.unembedding.weight[:-1])

    @torch.inference_mode()
    def prefill(self, prompt: Sequence[int], *, want: Want = Want()) -> Forward[KeyValueCache]:
        return self.prefill_together([prompt], want=want)

    @torch.inference_mode()
    def prefill_together(self, prompts: Sequence[Sequence[int]], *, want: Want = Want()) -> Forward[KeyValueCache]:
        for prompt in prompts:
            check_length(len(prompt), self.context_length)
        longest = max(map(len, prompts))
        padded = [[*prompt, *[self.padding] * (longest - len(prompt))] for prompt in prompts]
        source, _ = self._encode(torch.tensor(padded, device=self.reference.device))
        return self._start(self._as_row(self.decoder_start).expand(len(prompts), -1), source, want)

    @torch.inference_mode()
    def logits(self, prompt: Sequence[int], tokens: Sequence[int]) -> Tensor:
        source, _ = self._encode(self._as_row(prompt))
        fed = self._as_row((*self.decoder_start, *tokens[:-1]))  # (1, T); the last token's prediction is not needed
        hidden, _, _ = self._run_layers(fed, source=source)
        return self.unembedding(hidden[0, : len(tokens)]).float()  # (len(tokens), V)

    def _read(self, rows: Texts, sources: Texts, *, attention: bool, last: bool) -> Pass:
        longest, widest = max(map(len, rows)), max(map(len, sources))
        for length in (longest, widest):
            check_length(length, self.context_length)
        padded = torch.tensor([[*source, *[self.padding] * (widest - len(source))] for source in sources])  # (U, S)
        encoded, encoder = self._encode(padded.to(self.reference.device), capture=widest if attention else 0)
        if len(sources) < len(rows):
            encoded = encoded.select([0] * len(rows))
        fed = torch.tensor([[*row, *[self.padding] * (longest - len(row))] for row in rows])  # (R, T)
        hidden, weights, _ = self._run_layers(
            fed.to(self.reference.device), source=encoded, capture=longest if attention else 0
        )  # (R, T, W)
        return Pass(
            self.unembedding(last_of(hidden, rows) if last else hidden).float(),  # (R, 1 or T, V)
            stack_attention(weights, encoder) if attention else None,
        )

    def _encode(self, source: Tensor, *, capture: int = 0) -> tuple[CrossAttentionCache, list[AttentionWeights]]:
        """The cross-attention's keys and values of sources (R, S), and each layer's attention weights if captured."""
        real = source != self.padding  # (R, S)
        mask = None if bool(real.all()) else real[:, None, None]  # (R, 1, 1, S)
        hidden, rotary = self.embed(source)  # (R, S, W)
        rows, length, _ = hidden.shape
        context, captured = ForwardContext(rows, rotary, mask, causal=False, capture=capture), []
        hidden = hidden.flatten(0, 1)  # (R * S, W)
        padded_at_end = bool((real[:, 1:] <= real[:, :-1]).all())  # and nowhere else, as in `prefill_together`
        run_block = self.block_runner() if padded_at_end else Block.__call__
        for layer, block in enumerate(self.encoder_blocks):
            hidden, weights = run_block(block, hidden, layer, context)
            captured.append(weights)
        encoded = self.encoder_norm(hidden).view(rows, length, -1)  # (R, S, W)
        crosses = (block.cross for block in self.blocks if isinstance(block, Block))
        layers = [cross.project_keys_values(encoded) for cross in crosses if cross is not None]  # (2, G, R, S, D) each
        return CrossAttentionCache(torch.stack(layers), real.sum(dim=1).tolist(), range(rows)), captured


def build(config: TransformerConfig) -> Transformer:
    """The network of a config, with or without an encoder."""
    return EncoderDecoder(config) if config.encoder_layers else Transformer(config)
