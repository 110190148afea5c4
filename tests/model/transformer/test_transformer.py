"""The transformer's verbs against one plain pass over the whole text, in every combination of its options."""

from __future__ import annotations

import copy
import itertools
from typing import Any

import pytest
import torch

from model.compiled.prepare import prepare_for_decoding
from model.errors import AttendError
from model.interface import Want
from model.transformer.config import TransformerConfig
from model.transformer.decoder import Transformer
from model.transformer.encoder_decoder import build
from tests.helpers.tiny import check_same_pass

# Every two values of two different options stand together in one of the first twelve. The others are options that few
# families have, or that are a number; the window is shorter than the texts.
OPTIONS: list[dict[str, object]] = [
    *(
        {
            "positions": positions,
            "norm": norm,
            "norm_place": norm_place,
            "activation": ("swiglu", "relu", "gelu")[(first + second) % 3],
            "key_value_heads": (2, 4, 1)[(first + second) % 3],
            "biases": ("all", "none", "qkv")[(2 * first + second) % 3],
        }
        for first, positions in enumerate(("rotary", "sinusoidal", "learned"))
        for second, (norm, norm_place) in enumerate(itertools.product(("rms", "layer"), ("before", "after")))
    ),
    {"query_key_norm": True},
    {"sliding_window": 4},
    {"sliding_window": 1},
    {"query_key_norm": True, "sliding_window": 6, "biases": "all"},
    {"query_key_norm": True, "positions": "learned"},
    {"head_width": 12},
    {"tied_embeddings": False},
    {"norm_epsilon": 0.1, "rotary_base": 50.0},
]
every_option = pytest.mark.parametrize("options", OPTIONS, ids=lambda options: "-".join(map(str, options.values())))


def random_model(**changes: object) -> Transformer:
    sizes = {"vocabulary_size": 50, "context_length": 24, "width": 32, "layers": 2, "feed_forward_width": 40}
    heads = {"heads": 4, "key_value_heads": 2}
    torch.manual_seed(0)
    return build(TransformerConfig.from_dict({**sizes, **heads, **changes})).eval()


def text(length: int, seed: int = 0) -> list[int]:
    return torch.randint(50, (length,), generator=torch.Generator().manual_seed(seed)).tolist()


@every_option
def test_cached_logits_equal_uncached(options: dict[str, object]) -> None:
    """So no token sees what comes after it, either: a step knows nothing of that."""
    model = random_model(**options)
    ids = text(20)
    full = model(torch.tensor([ids]))[0].detach()  # (T, V)
    forward = model.prefill(ids[:7])
    assert torch.allclose(forward.logits[0], full[6], atol=1e-5)
    for position in range(7, 20):
        forward = model.step([ids[position]], forward.cache)
        assert torch.allclose(forward.logits[0], full[position], atol=1e-5)


@pytest.mark.parametrize("encoder_layers", [0, 2])
@pytest.mark.parametrize("fast", [False, True])
def test_asking_for_attention_changes_no_bit_of_the_logits(encoder_layers: int, fast: bool) -> None:
    model = random_model(encoder_layers=encoder_layers)
    model, ids = prepare_for_decoding(model) if fast else model, text(10)
    plain, looking = model.prefill(ids), model.prefill(ids, want=Want(attention=True))
    assert torch.equal(plain.logits, looking.logits)
    assert torch.equal(model.step([3], plain.cache).logits, model.step([3], looking.cache, want=Want(True)).logits)


def test_attention_of_a_token_is_that_of_the_token_before_it() -> None:
    """The pass that predicted ids[i] had ids[i - 1] as its query, so it equals row i - 1 of the whole map."""
    model, ids = random_model(), text(15)
    full = model.inspect(ids).attention.decoder  # (1, layers, heads, T, T)
    assert torch.allclose(full.sum(-1), torch.ones(()), atol=1e-5)
    assert torch.equal(full, full.tril())
    forward = model.prefill(ids[:6], want=Want(attention=True))
    for predicted in range(6, 15):
        assert forward.attention is not None
        seen = forward.attention.decoder  # (1, layers, heads, 1, keys)
        assert seen.shape == (1, 2, 4, 1, predicted)
        assert torch.allclose(seen[..., 0, :], full[..., predicted - 1, :predicted], atol=1e-5)
        forward = model.step([ids[predicted]], forward.cache, want=Want(attention=True))


@pytest.mark.parametrize(("norm_place", "tied"), [("before", True), ("before", False), ("after", True)])
def test_a_layers_logits_are_those_of_the_model_cut_short_behind_it(norm_place: str, tied: bool) -> None:
    """The logit lens: the final norm and the unembedding, as if the layers above were not there."""
    model, ids = random_model(layers=4, norm_place=norm_place, tied_embeddings=tied), text(9)
    want, cut = Want(layers=(3, 0, 4)), []
    for layer in want.layers:
        shorter = copy.deepcopy(model)
        shorter.blocks = shorter.blocks[:layer]
        cut.append(shorter(torch.tensor([ids]))[0].detach())  # (T, V)
    assert model.layer_count == 4
    forward = model.prefill(ids[:6], want=want)
    for seen in range(6, 10):
        assert forward.layer_logits is not None and forward.layer_logits.shape == (1, 3, 50)
        for layer_logits, full in zip(forward.layer_logits[0], cut, strict=True):
            assert torch.allclose(layer_logits, full[seen - 1], atol=1e-5)
        assert torch.allclose(forward.layer_logits[0, 2], forward.logits[0], atol=1e-6)  # the last layer is the model
        forward = model.step([ids[seen]], forward.cache, want=want) if seen < 9 else forward
    assert model.prefill(ids).layer_logits is None


def test_hidden_states_are_what_the_logits_are_made_from() -> None:
    """After a prefill those of every token of the prompt, after a step that of the one fed."""
    model, ids = random_model(), text(9)
    full = model(torch.tensor([ids]))[0].detach()  # (T, V)
    matrix = model.unembedding.weight.detach()  # (V, W)
    forward = model.prefill(ids[:8], want=Want(hidden=True))
    assert forward.hidden is not None and forward.hidden.shape == (1, 8, 32)
    assert torch.allclose(forward.hidden[0] @ matrix.T, full[:8], atol=1e-5)
    forward = model.step([ids[8]] * 2, forward.cache.select([0, 0]), want=Want(hidden=True))
    assert forward.hidden is not None and forward.hidden.shape == (2, 1, 32)
    assert torch.allclose(forward.hidden[1] @ matrix.T, full[8:], atol=1e-5)
    assert model.prefill(ids).hidden is None


@pytest.mark.parametrize("positions", ["rotary", "sinusoidal", "learned"])
def test_joined_rows_answer_as_alone(positions: str) -> None:
    model = random_model(positions=positions)
    texts = [text(length, seed=length) for length in (3, 9, 6)]
    cache = model.prefill(texts[0]).cache
    for each in texts[1:]:
        cache = cache.join(model.prefill(each).cache)
    alone = [model.prefill(each) for each in texts]
    for token in (7, 8, 9):
        together = model.step([token] * 3, cache, want=Want(attention=True))
        cache = together.cache
        alone = [model.step([token], forward.cache, want=Want(attention=True)) for forward in alone]
        assert together.attention is not None
        for row, forward in enumerate(alone):
            assert torch.allclose(together.logits[row], forward.logits[0], atol=1e-5)
            assert forward.attention is not None
            keys = forward.attention.decoder.shape[-1]
            padded = together.attention.decoder[row]  # (layers, heads, 1, K)
            assert torch.allclose(padded[..., -keys:], forward.attention.decoder[0], atol=1e-5)
            assert not padded[..., :-keys].any()  # padding is never looked at


def test_padding_goes_with_the_row_that_needed_it_and_stays_where_the_weights_are() -> None:
    model = random_model()
    cache = model.prefill(text(5, 1)).cache.join(model.prefill(text(8, 2)).cache)
    assert cache.select([0, 1]) is cache
    short = cache.select([0])
    assert short.length == 5
    assert torch.allclose(model.step([4], short).logits[0], model.step([4, 5], cache).logits[0], atol=1e-5)
    model = random_model().to("meta")  # a device without numbers, and so one that every machine has
    cache = model.prefill(text(5)).cache.join(model.prefill(text(8)).cache)
    positions, visible = cache.positions(1), cache.attention_mask()
    assert positions is not None and positions.device.type == "meta"
    assert visible is not None and visible.device.type == "meta"
    assert model.step([1, 2], cache, want=Want(attention=True)).logits.device.type == "meta"


@pytest.mark.parametrize(
    "config", [{}, {"key_value_heads": 1}, {"query_key_norm": True}, {"positions": "learned"}], ids=str
)
def test_packed_texts_do_not_see_each_other(config: dict[str, Any]) -> None:
    model = random_model(**config)
    first, second, third = text(5, 1), text(5, 2), text(9, 3)
    positions = torch.tensor([[*range(5), *range(5), *range(9)]])
    packed = model(torch.tensor([first + second + third]), None, positions, [(2, 5), (1, 9)])[0].detach()
    alone = torch.cat([model(torch.tensor([one]))[0] for one in (first, second, third)]).detach()
    assert torch.allclose(packed, alone, atol=1e-5)


def test_the_logits_of_wanted_positions_and_of_a_known_continuation_are_those_of_all() -> None:
    model, ids = random_model(), torch.tensor([text(9, seed=1), text(9, seed=2)])
    wanted = torch.tensor([[0, 1, 1, 0, 0, 0, 0, 0, 1], [1, 0, 0, 0, 0, 0, 0, 0, 0]], dtype=torch.bool)
    every, some = model(ids).detach(), model(ids, wanted=wanted).detach()
    expected = torch.stack([every[0, 1], every[0, 2], every[0, 8], every[1, 0]])
    assert torch.allclose(some, expected, atol=1e-5)
    first = ids[0].tolist()
    assert torch.allclose(model.logits(first[:4], first[4:]), every[0, 3:8], atol=1e-6)
    assert model.logits(first, []).shape == (0, 50)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"heads": 5}, "shared out evenly"),
        ({"key_value_heads": 3}, "cannot share"),
        ({"width": 36, "heads": 4}, "must be even"),
        ({"positions": "alibi"}, "rotary, sinusoidal, learned"),
        ({"dropout": 1.5}, "between 0 and 1"),
        ({"layers": 0}, "at least 1"),
        ({"dropout": "0.1"}, "'0.1', but must be a number"),
        ({"rotary_base": float("inf")}, "must be a number"),
        ({"biases": "yes"}, "one of none, qkv, all"),
        ({"query_key_norm": "yes"}, "true or false"),
        ({"encoder_layers": 1, "sliding_window": 4}, "sliding_window is for a decoder alone"),
    ],
)
def test_a_config_that_makes_no_sense_is_refused(changes: dict, words: str) -> None:
    with pytest.raises(AttendError, match=words):
        random_model(**changes)


def test_a_full_context_and_a_layer_that_is_not_there_are_refused() -> None:
    model, fast = random_model(), prepare_for_decoding(random_model())
    with pytest.raises(AttendError, match="25 tokens, but the model reads at most 24"):
        model.prefill(text(25))
    full = model.step([1], model.prefill(text(23)).cache)
    with pytest.raises(AttendError, match="filled the context of 24"):
        model.step([1], full.cache)
    for layer in (-1, 3):
        want = Want(layers=(0, layer))
        for refused in (
            lambda want=want: model.prefill(text(3), want=want),
            lambda want=want: model.step([1], model.prefill(text(3)).cache, want=want),
            lambda want=want: fast.step([1], fast.prefill(text(3)).cache, want=want),
        ):
            with pytest.raises(ValueError, match=rf"no layers \[{layer}\]: the model has 0 \(the embeddings\) to 2"):
                refused()


@every_option
def test_compiled_steps_equal_the_modules(options: dict[str, object]) -> None:
    """Their logits, attention, hidden states and layers."""
    model = random_model(**options)
    with torch.no_grad():
        for parameter in model.parameters():  # no gain of 1 and no bias of 0 can hide a slip
            parameter.add_(0.3 * torch.randn(parameter.shape, generator=torch.Generator().manual_seed(1)))
    joined = model.prefill(text(9)).cache.join(model.prefill(text(4, seed=1)).cache)
    slow, want = model, Want(attention=True, hidden=True, layers=(0, 2, 1))
    fast = prepare_for_decoding(copy.deepcopy(model))
    for rows in ([1], [0, 1], [1, 0, 1, 1, 0]):  # four rows at once, and what is left one by one
        slow_cache = fast_cache = joined.select(rows)
        for tokens in ([3, 1, 4, 1, 5], [1, 5, 9, 2, 6], [2, 6, 5, 3, 5]):
            by_modules = slow.step(tokens[: len(rows)], slow_cache, want=want)
            by_tensors = fast.step(tokens[: len(rows)], fast_cache, want=want)
            # Against the same weights in double precision either is up to 1.3e-5 off: it is rounding.
            check_same_pass(by_tensors, by_modules, atol=3e-5)
            slow_cache, fast_cache = by_modules.cache, by_tensors.cache


@pytest.mark.parametrize("rows", [1, 4])
def test_compiled_steps_follow_other_weights_another_precision_and_a_copy(rows: int) -> None:
    def stepped(transformer: Transformer) -> torch.Tensor:
        return transformer.step([7] * rows, transformer.prefill(text(5)).cache.select([0] * rows)).logits

    model, other = prepare_for_decoding(random_model()), random_model()
    first = stepped(model)
    copied = copy.deepcopy(model)
    with torch.no_grad():
        for changed in (*other.parameters(), *copied.parameters()):
            changed.add_(0.1)
    assert torch.allclose(stepped(copied), stepped(other), atol=1e-5)
    assert torch.equal(stepped(model), first)
    model.load_state_dict(other.state_dict())
    assert torch.allclose(stepped(model), stepped(other), atol=1e-5)
    assert torch.allclose(stepped(model.double()), stepped(other), atol=1e-5)
