"""The metric against a slow twin, and talking."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
import torch

from decoding.generate import generate
from decoding.request import Request
from decoding.settings import DecodingSettings
from model.loaded import LoadedModel
from model.text.conversation import Message
from model.transformer.config import TransformerConfig
from model.transformer.decoder import Transformer
from tests.model.text.test_tokenizer import TOKENIZER
from tests.training.test_data import CHAT, dialogue, ids_of
from training.data import Document, messages
from training.evaluate import bits_per_byte, windows
from training.talk import answer


def small_model(context_length: int = 20) -> Transformer:
    torch.manual_seed(0)
    return Transformer(
        TransformerConfig(
            TOKENIZER.vocabulary_size,
            context_length=context_length,
            width=16,
            layers=1,
            heads=2,
            key_value_heads=2,
            feed_forward_width=24,
        )
    ).eval()


def test_the_metric_equals_its_definition_token_by_token() -> None:
    model, document = small_model(), dialogue(9)
    turns = [CHAT.turn(message) for message in messages(document.turns)]
    assert sum(map(len, turns)) > 2 * model.context_length  # so most turns are scored behind dropped ones
    bits = 0.0
    for number, turn in enumerate(turns):
        earlier = turns[:number]
        while sum(map(len, earlier)) + len(turn) > model.context_length:  # the last token is never read, <s> is
            earlier = earlier[1:]
        ids = [CHAT.begin, *(token for each in earlier for token in each), *turn]
        probabilities = model(torch.tensor([ids[:-1]]))[0].detach().softmax(-1)  # (T, V)
        for position in range(len(ids) - len(turn), len(ids)):
            bits -= math.log2(float(probabilities[position - 1, ids[position]]))
    expected = bits / sum(len(turn.encode()) for turn in document.turns)
    assert bits_per_byte(model, TOKENIZER, CHAT, [document]) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize(
    "document",
    [dialogue(9), dialogue(1), Document(("the cat sat " * 40,)), Document(("the old house " * 60,), story=True)],
)
def test_every_token_is_scored_once_within_the_context(document: Document) -> None:
    scored = list(windows(document, TOKENIZER, CHAT, 48))
    story = [CHAT.begin, *TOKENIZER.encode(document.turns[0]), CHAT.end]
    whole = story if document.story else ids_of(document)
    assert [token for _, tokens in scored for token in tokens] == whole[1:]
    assert all(context[0] == CHAT.begin and len(context) + len(tokens) <= 49 for context, tokens in scored)


def test_a_turn_too_long_even_alone_is_scored_behind_the_half_context_before_it() -> None:
    document = Document(("the cat sat " * 40,))
    ids = ids_of(document)
    position = 1
    for context, scored in windows(document, TOKENIZER, CHAT, 48):
        assert context == [CHAT.begin, *ids[max(1, position - 23) : position]]  # with <s> 24, half of 48
        position += len(scored)
    assert position == len(ids) > 48


def test_talk_says_what_a_beam_search_returns(tiny: LoadedModel) -> None:
    """Which need not be the first hypothesis of its last step."""
    assert tiny.chat is not None
    loaded = replace(tiny, end_tokens=frozenset(range(0, tiny.model.vocabulary_size, 5)))  # so that some end early
    settings = DecodingSettings(strategy="beam", length_penalty=0.0, max_new_tokens=8)
    elsewhere = 0
    for number in range(10):
        messages = [Message("user", f"Hi! How are you {number}?")]
        prompt = tiny.chat.prompt(messages, context_length=loaded.model.context_length, reserve=8).ids
        request = Request.of(loaded, prompt)
        *_, last = generate(loaded.model, prompt, settings.strategy_for(request))
        assert last.best is not None
        assert answer(loaded, messages, settings) == loaded.tokenizer.decode(last.best.tokens)
        elsewhere += last.best != last.hypotheses[0]
    assert elsewhere > 0
