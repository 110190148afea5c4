"""`generate` of transformers: on small random models, under our settings, and with our draws."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import pytest
import torch
from torch import Tensor
from transformers import GPT2Config, GPT2LMHeadModel, LlamaConfig, LlamaForCausalLM

from decoding.uniform import UniformStream
from tests.helpers.tiny import Text, TinyModel

# A range wide enough for peaked and flat distributions to come up.
_COMMON: dict[str, Any] = {
    "initializer_range": 0.6,
    "bos_token_id": None,
    "eos_token_id": None,
    "pad_token_id": 0,
}


@cache
def random_llama(seed: int, vocabulary: int) -> Any:  # its own annotations do not type-check
    torch.manual_seed(seed)
    sizes = {"hidden_size": 16, "intermediate_size": 24, "num_hidden_layers": 1, "num_attention_heads": 2}
    return LlamaForCausalLM(LlamaConfig(vocab_size=vocabulary, max_position_embeddings=64, **sizes, **_COMMON)).eval()


@cache
def random_gpt2(seed: int, vocabulary: int) -> Any:
    torch.manual_seed(seed)
    sizes = {"n_positions": 64, "n_embd": 16, "n_layer": 1, "n_head": 2}
    return GPT2LMHeadModel(GPT2Config(vocab_size=vocabulary, **sizes, **_COMMON)).eval()


@cache
def through_the_interface(model: Any) -> TinyModel:
    """The model behind our interface, with a cache of all texts: searches of one model meet most of them again."""

    @cache
    @torch.inference_mode()
    def logits_of(text: Text) -> list[float]:
        return model(input_ids=torch.tensor([text])).logits[0, -1].tolist()

    return TinyModel(logits_of)


def transformers_generate(model: Any, prompt: Sequence[int], ends: list[int], settings: Mapping[str, Any]) -> Any:
    """Generate with transformers under our settings, leaving out those without effect, which it would reject."""
    options = {name: value for name, value in settings.items() if value or name == "length_penalty"}
    sampled = options.pop("strategy", "greedy") in ("sample", "beam_sample")
    banned, biases = options.pop("banned_words", ()), options.pop("logit_bias", ())
    if options.get("typical_p") == 1.0:
        del options["typical_p"]
    if banned:
        options["bad_words_ids"] = [list(map(int, text.split())) for text in banned]
    if biases:
        options["sequence_bias"] = {(token,): bias for token, bias in biases}
    ids = torch.tensor([list(prompt)])
    return model.generate(
        ids,
        attention_mask=torch.ones_like(ids),
        eos_token_id=ends or None,
        pad_token_id=0,
        return_dict_in_generate=True,
        output_scores=True,
        do_sample=sampled,
        **{"top_k": 0, **options},
    )


def draw_as_we_do(monkeypatch: pytest.MonkeyPatch, seed: int, ends: Sequence[int] = (), vocabulary: int = 1) -> None:
    """From now on transformers draws from the stream of a request with this seed, and without replacement as we do.

    That is: it takes the first token, in the order of the probabilities, whose cumulative sum exceeds the draw, then
    makes those of the others sum to one and draws again. Where a filter left fewer continuations than are wanted, torch
    takes impossible ones; those that end a text would count as finished there, so here it is given others.
    """
    stream = UniformStream(seed)

    def multinomial(probabilities: Tensor, num_samples: int) -> Tensor:
        left = dict(enumerate(probabilities[0].double().tolist()))
        taken: list[int] = []
        for _ in range(num_samples):
            draw, total, sum_of_all = stream.next(), 0.0, sum(left.values())
            if sum_of_all == 0:
                taken.append(next(index for index in left if index % vocabulary not in ends))
            else:
                for index, probability in sorted(left.items(), key=lambda pair: (-pair[1], pair[0])):
                    total += probability / sum_of_all
                    if total > draw:
                        taken.append(index)
                        break
            del left[taken[-1]]
        return torch.tensor([taken])

    monkeypatch.setattr(torch, "multinomial", multinomial)
