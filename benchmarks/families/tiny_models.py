"""Tiny random models of every family in transformers: each config with the sizes below instead of its own.

Configs use few names for their sizes, so one table shrinks nearly all of them; `_EXCEPTIONS` has the rest. What a
config computes from its sizes, such as the kinds of its layers, is computed again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from transformers import CONFIG_MAPPING, AutoModelForCausalLM, AutoModelForSeq2SeqLM, PreTrainedConfig, PreTrainedModel

VOCABULARY = 64
_SEED = 3
WORDS = range(8, 56)  # ids that are words to every family, neither control tokens nor stand-ins for images
_PLACEHOLDER = 63  # a stand-in for images or sound
_SPECIAL = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, "decoder_start_token_id": 3}

# Size → the names that configs have for it.
_NAMES: dict[int, str] = {
    VOCABULARY: (  # and the longest text, in tokens
        "vocab_size decoder_vocab_size src_vocab_size tgt_vocab_size vocab_size_per_layer_input unpadded_vocab_size "
        "max_position_embeddings n_positions max_sequence_length max_seq_len seq_length n_ctx max_source_positions "
        "max_target_positions model_max_length context_length max_encoder_position_embeddings "
        "max_decoder_position_embeddings original_max_position_embeddings"
    ),
    48: (  # inside a feed-forward block
        "intermediate_size ffn_dim n_inner d_ff dff encoder_ffn_dim decoder_ffn_dim ffn_hidden_size d_inner dim_ff "
        "moe_intermediate_size shared_expert_intermediate_size shared_intermediate_size intermediate_size_mlp "
        "expert_ffn_hidden_size feed_forward_size moe_shared_expert_intermediate_size dense_intermediate_size"
    ),
    32: (  # the width of the model
        "hidden_size n_embd d_model word_embed_proj_dim embedding_size emb_dim embedding_dim lru_width "
        "attention_hidden_size input_embedding_size output_embedding_size out_hidden_size pronunciation_embed_dim "
        "shape_embed_dim projection_dim output_dim hidden_size_global mamba_d_ssm image_size"
    ),
    16: (
        "moe_latent_size kv_lora_rank q_lora_rank o_lora_rank d_state mamba_d_state state_size mamba_chunk_size "
        "chunk_size relative_attention_max_distance position_bias_max_distance router_hidden_size qk_head_dim"
    ),
    8: (
        "head_dim kv_channels d_kv dim_head qk_nope_head_dim qk_rope_head_dim v_head_dim index_head_dim swa_head_dim "
        "linear_key_head_dim linear_value_head_dim linear_head_dim mamba_d_head mamba_head_dim relative_max_distance "
        "relative_attention_num_buckets num_buckets position_bias_num_buckets hidden_size_per_layer_input laurel_rank "
        "d_head conf_num_hidden_layers attention_head_size swa_rope_head_dim adapter_rank gated_norm_rank"
    ),
    6: (  # a window that is shorter than the texts
        "sliding_window sliding_window_size attention_window_size attention_chunk_size local_attention window_size "
        "index_topk keep_window_size"
    ),
    4: (
        "num_hidden_layers num_layers n_layer n_layers encoder_layers decoder_layers num_decoder_layers "
        "num_encoder_layers num_attention_heads n_head n_heads num_heads encoder_attention_heads "
        "decoder_attention_heads num_encoder_attention_heads num_decoder_attention_heads attention_heads "
        "num_experts n_routed_experts num_local_experts moe_num_experts index_n_heads mamba_n_heads mamba_num_heads "
        "linear_num_value_heads linear_num_heads swa_num_attention_heads rotary_dim num_blocks depth "
        "num_key_value_heads_ talker_layers"
    ),
    2: (
        "num_key_value_heads num_kv_heads kv_n_heads num_experts_per_tok num_experts_per_token moe_topk moe_k "
        "moe_top_k linear_num_key_heads swa_num_key_value_heads topk_group n_group num_expert_group o_groups "
        "n_mamba_heads num_kv_shared_layers expert_layer_period layer_group_size attn_layer_period "
        "index_block_size index_topk_blocks"
    ),
    1: (
        "n_shared_experts num_shared_experts moe_num_shared_experts mamba_n_groups n_groups first_k_dense_replace "
        "attn_layer_offset"
    ),
}
_SIZES = {name: size for size, names in _NAMES.items() for name in names.split()}

_OFTEN_ABSENT = {"head_dim", "num_key_value_heads", "n_routed_experts", "num_experts_per_tok"}  # yet needed by some

_EXCEPTIONS: Mapping[str, Mapping[str, Any]] = {
    "bamba": {"mamba_d_head": 16, "attn_layer_indices": [1, 3]},  # the heads of its state share twice the width
    "cohere_compass_text": {
        "rope_parameters": {
            kind: {"rope_type": "default", "rope_theta": 10_000.0} for kind in ("full_attention", "sliding_attention")
        }
    },
    "dbrx": {"attn_config": {"kv_n_heads": 2, "clip_qkv": 8, "rope_theta": 10_000.0}},
    "dots1": {"n_shared_experts": 1},
    "gpt_neo": {"attention_types": [[["global", "local"], 2]]},
    "granitemoehybrid": {"mamba_d_head": 16, "layer_types": ["mamba", "attention"] * 2},
    "kimi_linear": {"layer_types": ["linear_attention", "full_attention"] * 2},
    "led": {"attention_window": [4] * 4},
    "lfm2_moe": {"layer_types": ["conv", "full_attention"] * 2},
    "mamba2": {"head_dim": 16},
    "qwen4_exp_text": {
        "indexer_n_heads": 2,
        "indexer_kv_heads": 1,
        "indexer_head_dim": 8,
        "indexer_budget": 8,
        "indexer_compress_ratio": 2,
    },
    "reformer": {
        "axial_pos_embds": False,
        "attn_layers": ["local", "lsh"] * 2,
        "local_attn_chunk_length": 4,
        "lsh_attn_chunk_length": 4,
    },
    "xmod": {"languages": ["en_XX"], "default_language": "en_XX"},
    "zamba": {"layers_block_type": ["mamba", "hybrid"] * 2, "attention_hidden_size": 64, "attention_head_dim": 16},
    "zamba2": {
        "layers_block_type": ["mamba", "hybrid"] * 2,
        "attention_hidden_size": 64,  # a layer reads its input beside the embeddings
        "attention_head_dim": 16,
        "num_key_value_heads": 4,
        "mamba_headdim": 32,
    },
    "zaya": {"num_experts_per_tok": 1},
}


def tiny_model(kind: str, *, seq2seq: bool = False) -> PreTrainedModel:
    """A random model of a family, by its `model_type`; raises whatever the family's own code raises."""
    auto = AutoModelForSeq2SeqLM if seq2seq else AutoModelForCausalLM
    torch.manual_seed(_SEED)
    model = auto.from_config(tiny_config(kind, seq2seq=seq2seq), dtype=torch.float32).eval()
    generator = torch.Generator().manual_seed(_SEED)
    with torch.no_grad():
        for parameter in model.parameters():  # initial ones are so small that all tokens are about equally likely
            if parameter.is_floating_point():
                parameter.add_(0.1 * torch.randn(parameter.shape, generator=generator))
    model.generation_config = type(model.generation_config).from_model_config(model.config)
    return model


def tiny_config(kind: str, *, seq2seq: bool = False) -> PreTrainedConfig:
    config = _shrunk(CONFIG_MAPPING[kind]())
    if seq2seq:
        config.decoder_start_token_id = _SPECIAL["decoder_start_token_id"]
    else:
        config.is_decoder, config.is_encoder_decoder = True, False
    return config


def _shrunk(config: PreTrainedConfig) -> PreTrainedConfig:
    """A config of the same kind with small sizes."""
    sizes: dict[str, Any] = {}
    values = config.to_dict()
    for name, value in values.items():
        part = getattr(config, name, None) if isinstance(value, dict) else None
        if isinstance(part, PreTrainedConfig):
            sizes[name] = _shrunk(part).to_dict()
        elif name in _SPECIAL:
            sizes[name] = _SPECIAL[name]
        elif name in ("forced_eos_token_id", "forced_bos_token_id"):
            sizes[name] = None
        elif name.endswith(("_token_id", "_token_index")) and isinstance(value, int):
            sizes[name] = _PLACEHOLDER
        elif name in _SIZES and ((type(value) is int and value > 0) or (value is None and name in _OFTEN_ABSENT)):
            sizes[name] = _SIZES[name]
    if "kv_lora_rank" in values:  # the heads share one compressed key, and none is a group's
        sizes["num_key_value_heads"] = sizes["num_attention_heads"]
    return type(config)(**{**sizes, **_EXCEPTIONS.get(config.model_type, {})})
