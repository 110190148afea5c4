"""Makes a transformer's single steps fast with compiled layers beside its modules; results change by rounding only.

`make bench` shows what a step costs.
"""

from __future__ import annotations

from typing import TypeVar

from torch import nn

from model.compiled.decode_block import DecodeBlock
from model.compiled.linear import exceeds_copy_limit, fast_linear, fast_norm, optimize_layout
from model.transformer.decoder import Transformer
from model.transformer.encoder_decoder import EncoderDecoder
from model.transformer.layers import Block, CompiledLayers

ModelT = TypeVar("ModelT", bound=Transformer)


def prepare_for_decoding(model: ModelT) -> ModelT:
    """Attach compiled layers to a model, in place, and return it.

    A model drops them when it is moved, cast or given other weights: prepare it again then.
    """
    for module in model.modules():
        # Tied to the embedding, a matrix stays in the embedding's order, a token's vector in one piece, unless it is so
        # large that reading all of it for each token costs more than gathering a prompt's vectors ever does.
        tied = module is model.unembedding and model.config.tied_embeddings
        if isinstance(module, nn.Linear) and (not tied or exceeds_copy_limit(module)):
            optimize_layout(module)
    encoder_blocks = model.encoder_blocks if isinstance(model, EncoderDecoder) else ()
    model.compiled = CompiledLayers(
        tuple(DecodeBlock.of(block, model.config) for block in model.blocks if isinstance(block, Block)),
        fast_norm(model.final_norm),
        fast_linear(model.unembedding),
        tuple(DecodeBlock.of(block, model.config) for block in encoder_blocks if isinstance(block, Block)),
    )
    return model
