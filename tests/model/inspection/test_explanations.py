"""Explanations of a model whose heads are known, since they are set by hand, and identities on random ones.

The two-layer model has attention alone. A token's stream has four parts, one-hot each: the token, its position, the
token before it, and the output. Layer 0, head 0 copies the token before; layer 1, head 1 looks for the token that
followed the current one last time, and writes it to the output (an induction head, Olsson et al., 2022). The two others
do nothing.
"""

from __future__ import annotations

from typing import Any

import pytest
import torch

from model import catalog, names
from model.compiled.prepare import prepare_for_decoding, quantize
from model.errors import AttendError
from model.inspection.ablation import switch_off_each
from model.inspection.attribution import attribute_directly, attribute_inputs
from model.inspection.heads import PATTERNS, score_heads, score_induction
from model.inspection.inspector import Inspector, opened
from model.inspection.intervention import Intervention
from model.inspection.lens import read_layers, read_position
from model.inspection.patching import patch
from model.inspection.words import leave_out
from model.transformer.config import TransformerConfig
from model.transformer.encoder_decoder import build
from tests.model.inspection.test_probe import CONFIGS, IDS, difference, every_config, model_of, source_of

VOCABULARY, CONTEXT = 60, 64
TOKEN, POSITION = 0, VOCABULARY  # where each part of the stream begins
BEFORE, OUTPUT = VOCABULARY + CONTEXT, 2 * VOCABULARY + CONTEXT
WIDTH, HEAD = 3 * VOCABULARY + CONTEXT, 64
COPIER, INDUCTION = (0, 0), (1, 1)
TEXT, ANSWER = (3, 7, 1, 5, 9, 3, 7, 1, 5), 9  # 9 follows the earlier 5
OTHER, RIVAL = (3, 7, 1, 5, 8, 3, 7, 1, 5), 8
SHARP = 30.0  # how far a match stands above the rest, in logits of attention


@pytest.fixture(scope="module")
def by_hand() -> Inspector:
    model: Any = build(
        TransformerConfig(
            vocabulary_size=VOCABULARY, context_length=CONTEXT, width=WIDTH, layers=2, heads=2, head_width=HEAD,
            key_value_heads=2, feed_forward_width=1, positions="learned", tied_embeddings=False,
        )
    ).eval()  # fmt: skip
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() == 2:
                parameter.zero_()
        one = torch.eye(VOCABULARY)
        model.embedding.weight[:, TOKEN:POSITION] = one
        model.position_embedding.weight[:, POSITION:BEFORE] = torch.eye(CONTEXT)
        model.unembedding.weight[:, OUTPUT:] = 5 * one
        queries, keys, values, output = _head(model, *COPIER)
        queries[: CONTEXT - 1, POSITION + 1 : BEFORE] = _gain(ones=2) * torch.eye(
            CONTEXT - 1
        )  # position p asks for p - 1
        keys[:, POSITION:BEFORE] = torch.eye(CONTEXT)
        values[:VOCABULARY, TOKEN:POSITION] = one
        output[BEFORE:OUTPUT, :VOCABULARY] = one
        queries, keys, values, output = _head(model, *INDUCTION)
        queries[:VOCABULARY, TOKEN:POSITION] = _gain(ones=3) * one
        keys[:VOCABULARY, BEFORE:OUTPUT] = one
        values[:VOCABULARY, TOKEN:POSITION] = one
        output[OUTPUT:, :VOCABULARY] = one
    return model.inspector()


def _head(model: Any, layer: int, head: int) -> tuple[torch.Tensor, ...]:
    """A head's slices of the weights: queries, keys and values (D, W) each, and the output (W, D)."""
    attention, rows = model.blocks[layer].attention, slice(head * HEAD, (head + 1) * HEAD)
    queries, keys, values = attention.qkv_proj.weight.chunk(3)
    return queries[rows], keys[rows], values[rows], attention.o_proj.weight[:, rows]


def _gain(ones: int) -> float:
    """What makes a match worth `SHARP`: a stream of so many ones is divided by its root mean square."""
    return SHARP * HEAD**0.5 * ones / WIDTH


def test_heads_are_named_by_what_they_do(by_hand: Inspector) -> None:
    attention = by_hand.inspect(TEXT).attention.decoder[0]
    scores = score_heads(attention, TEXT, frozenset({1}))
    assert scores.previous[COPIER] > 0.99 and PATTERNS[int(scores.shares().argmax(dim=0)[COPIER])] == "previous"
    assert scores.previous[COPIER] == scores.previous.max() and scores.induction[INDUCTION] == scores.induction.max()
    # Only queries from the second 3 on have something to find: 4 of 8, of which the others look everywhere.
    assert 0.5 < scores.induction[INDUCTION] < 0.9
    drawn = score_induction(by_hand, seed=2, length=20)
    assert drawn[INDUCTION] > 0.6 and drawn[INDUCTION] > 3 * drawn[COPIER]
    assert all(drawn[head] < 0.1 for head in ((0, 1), (1, 0)))


def test_shares_leave_out_the_first_token_and_the_token_itself() -> None:
    """By hand: the third token gives .5 to itself, .2 to the first and .3 to the second, which is the one before it."""
    attention = torch.tensor([[[[1.0, 0, 0], [0.4, 0.6, 0], [0.2, 0.3, 0.5]]]])
    scores = score_heads(attention, (1, 2, 3), frozenset({2}))
    assert scores.previous.item() == pytest.approx(1.0)  # .3 of .3
    assert scores.rest.item() == pytest.approx(0.15)  # .3 over the two tokens that ask
    assert scores.first.item() == pytest.approx(0.3) and scores.separators.item() == pytest.approx(0.45)


def test_the_lens_sees_the_answer_where_it_is_written(by_hand: Inspector) -> None:
    lens = read_layers(by_hand, (*TEXT, ANSWER))
    assert lens.columns == ("0", "1", "2") and lens.decided[len(TEXT) - 1] == 2
    assert lens.top[2, len(TEXT) - 1] == ANSWER and lens.chosen[2, len(TEXT) - 1] > 0.9
    assert lens.chosen[1, len(TEXT) - 1] == pytest.approx(1 / VOCABULARY)  # nothing is written to the output yet
    assert read_layers(by_hand, TEXT, sublayers=True).columns == ("0", "1 attention", "1", "2 attention", "2")


def test_both_heads_are_needed_but_one_alone_writes_the_answer(by_hand: Inspector) -> None:
    """The reason why a direct effect is no cause: the copier writes nothing to the output."""
    *_, ablation = switch_off_each(by_hand, TEXT, ANSWER)
    idle = [head for head in ((0, 1), (1, 0)) if abs(ablation.effects[head]) < 1e-5]
    assert ablation.done == ablation.total == 4 and len(idle) == 2
    assert ablation.effects[COPIER] < -1 and ablation.effects[INDUCTION] < -1
    direct = attribute_directly(by_hand, TEXT, ANSWER, RIVAL)
    assert direct.heads is not None and direct.gap < 1e-5
    assert direct.heads[INDUCTION] == pytest.approx(direct.total, abs=1e-4) and abs(direct.heads[COPIER]) < 1e-5


def test_a_patch_finds_where_the_answer_is_kept(by_hand: Inspector) -> None:
    *_, patching = patch(by_hand, TEXT, OTHER, ANSWER, RIVAL)
    expected = torch.zeros(2, len(TEXT))
    expected[0, 4] = expected[1, -1] = 1.0  # at the word after the first layer, at the end after the second
    assert difference(patching.positions, expected) < 1e-3
    assert difference(patching.heads, torch.tensor([[0.0, 0.0], [0.0, 1.0]])) < 1e-3
    assert patching.clean > 0 > patching.corrupted
    for clean, corrupted, words in ((TEXT, TEXT[1:], "equal length"), (TEXT, TEXT, "change another word")):
        with pytest.raises(AttendError, match=words):
            next(patch(by_hand, clean, corrupted, ANSWER, RIVAL))


def test_the_words_that_matter_are_those_that_the_heads_need(by_hand: Inspector) -> None:
    spans = [(index, index + 1) for index in range(len(TEXT))]
    *_, omission = leave_out(by_hand, TEXT, spans, ANSWER)
    assert {index for index, change in enumerate(omission.changes.tolist()) if change < -1} == {
        3,
        4,
        8,
    }  # 5, 9, and the second 5
    for start, end in ((2, 2), (5, 20), (0, len(TEXT))):
        with pytest.raises(AttendError):
            next(leave_out(by_hand, TEXT, [(start, end)], ANSWER))


@every_config
def test_attributions_add_up_and_the_lens_ends_at_the_output(name: str) -> None:
    model = model_of(name)
    inspector, source = model.inspector(), source_of(model)
    logits = model.inspect(IDS, source=source).logits
    probabilities = logits.softmax(dim=-1)
    lens = read_layers(inspector, IDS, source=source)
    assert difference(lens.top_probability[-1], probabilities.max(dim=-1).values) < 1e-6
    assert torch.equal(lens.top[-1], probabilities.argmax(dim=-1))
    position = read_position(inspector, IDS, 3, source=source, ids=(5, 2), count=4)
    assert difference(position.curves[-1], probabilities[3, [5, 2]]) < 1e-6
    assert difference(position.probabilities[-1], probabilities[3].topk(4).values) < 1e-6
    for rival in (None, 7):
        direct = attribute_directly(inspector, IDS, 5, rival, source=source)
        total = logits[-1, 5] - (0.0 if rival is None else logits[-1, rival])
        assert direct.total == pytest.approx(float(total), abs=1e-4) and direct.gap < 1e-4
        assert direct.heads is not None and direct.head_rest is not None
        assert difference(direct.heads.sum(dim=1) + direct.head_rest, direct.sublayers[:, 0]) < 1e-4


@every_config
def test_leaving_a_word_out_is_reading_the_text_without_it(name: str) -> None:
    model = model_of(name)
    source = source_of(model)
    text = source or IDS
    spans = [(1, 2), (0, 2)]
    *_, omission = leave_out(model.inspector(), IDS, spans, 5, 7, source=source)

    def odds(words: tuple[int, ...]) -> float:
        logits = model.inspect(IDS if source else words, source=words if source else ()).logits[-1]
        return float(logits[5] - logits[7])

    slow = [odds((*text[:start], *text[end:])) - odds(tuple(text)) for start, end in spans]
    assert omission.changes.tolist() == pytest.approx(slow, abs=1e-4)


@every_config
def test_switching_heads_off_in_batches_is_switching_each_off(name: str) -> None:
    model = model_of(name)
    inspector, source = model.inspector(), source_of(model)
    *_, ablation = switch_off_each(inspector, IDS, 5, source=source, positions=(2, 6))
    whole = inspector.inspect(IDS, source=source).logits[-1].log_softmax(dim=-1)[5]
    for layer, head in ((0, 0), (1, 3), (2, 2)):
        off = Intervention(layer, "head", head, positions=(2, 6))
        one = inspector.inspect(IDS, source=source, interventions=[off]).logits[-1].log_softmax(dim=-1)[5]
        assert ablation.effects[layer, head] == pytest.approx(float(one - whole), abs=1e-5)


@every_config
def test_integrated_gradients_lead_from_mean_embeddings_to_the_text(name: str) -> None:
    """The slow twin: one gradient at a time. All tokens change but the first, or all of the source."""
    model = model_of(name)
    inspector, source = model.inspector(), source_of(model)
    embedded = inspector.embed(source or IDS)
    beginning = inspector.embed(range(CONFIGS[name]["vocabulary_size"])).mean(dim=0).repeat(len(embedded), 1)
    if not source:
        beginning[0] = embedded[0]
    expected = torch.zeros(len(embedded))
    for point in (1 / 6, 3 / 6, 5 / 6):
        there = (beginning + point * (embedded - beginning))[None].requires_grad_()
        logits = inspector.from_embeddings(IDS, there, source=source)[0]
        gradient = torch.autograd.grad(logits[5] - logits[7], there)[0][0]
        expected += (gradient * (embedded - beginning)).sum(dim=-1) / 3
    attribution = attribute_inputs(inspector, IDS, 5, 7, source=source, steps=3)
    assert difference(attribution.scores, expected) < 1e-5
    first, last = inspector.from_embeddings(IDS, torch.stack([beginning, embedded]), source=source).tolist()
    assert attribution.total == pytest.approx(last[5] - last[7] - first[5] + first[7], abs=1e-4)
    there = embedded[None].clone().requires_grad_()
    logits = inspector.from_embeddings(IDS, there, source=source)[0]
    slow = (torch.autograd.grad(logits[5] - logits[7], there)[0][0] * embedded).sum(dim=-1)
    assert difference(attribute_inputs(inspector, IDS, 5, 7, source=source, steps=0).scores, slow) < 1e-5


@pytest.mark.skipif("attend-chat" not in names.embedded(), reason="attend-chat is not there")
@pytest.mark.parametrize("text", ["My dog is called Tom. What is my dog called?", "I feel a bit tired this evening."])
def test_integrated_gradients_of_a_trained_model_add_up(text: str) -> None:
    """From embeddings of zero, 20 steps left gaps of 6.9 and 3.5 here, more than the differences themselves."""
    loaded = catalog.load("attend-chat")
    inspector, ids = opened(loaded.model).inspector(), loaded.prompt(text)
    chosen, rival = inspector.predictions([ids])[0].topk(2).indices.tolist()
    attribution = attribute_inputs(inspector, ids, chosen, rival, steps=20)
    assert attribution.gap < 0.02 < 0.5 < abs(attribution.total)


@pytest.mark.parametrize("compact", ["bfloat16", "int8"])
def test_packed_weights_are_taken_apart_but_have_no_gradients(compact: str) -> None:
    """Their layers have no rows to look up and no parameters, yet the sums are exact."""
    model = model_of("as attend-chat")
    inspector = (quantize(model) if compact == "int8" else prepare_for_decoding(model.bfloat16())).inspector()
    direct = attribute_directly(inspector, IDS, 5, 7)
    assert direct.heads is not None and direct.gap < 1e-4 < abs(direct.total)
    for steps in (0, 30):
        with pytest.raises(AttendError, match="Gradients need weights in float32"):
            attribute_inputs(inspector, IDS, 5, steps=steps)
