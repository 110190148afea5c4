"""The text of a growing answer, token by token: equal to the whole decode, and every token decoded once."""

from __future__ import annotations

import random

import pytest

from decoding.settings import DecodingSettings
from decoding.stop import before_stop, certain
from model.loaded import LoadedModel
from model.text.tokenizer import StreamingDetokenizer
from ui.chat import chat_actions as chat
from ui.runs.answer_text import AnswerText
from ui.runs.models import Models
from ui.runs.session import Session

STOP_TEXTS = ["fox", "🦊!", "Hi", "zzz"]


def answers(loaded: LoadedModel) -> list[list[int]]:
    """Texts with characters of several bytes, whole and torn, and tokens at random."""
    chance, encode = random.Random(3), loaded.tokenizer.encode
    texts = ["Hi! 🦊🦊! ïé", "the fo fox", "zz🦊 zzz", "plain text"]
    drawn = [[chance.randrange(loaded.tokenizer.vocabulary_size) for _ in range(40)] for _ in range(20)]
    torn = [chance.sample(encode("🦊ïé🦊"), 9) + encode("Hi fox") for _ in range(20)]
    return [*(encode(text) for text in texts), *drawn, *torn]


@pytest.mark.parametrize("stop_texts", [[], STOP_TEXTS])
def test_it_equals_the_whole_decode_at_every_token(tiny: LoadedModel, stop_texts: list[str]) -> None:
    for ids in answers(tiny):
        spoken = AnswerText(tiny.tokenizer, stop_texts)
        for count in range(len(ids) + 1):
            spoken.update(ids[:count])
            decoded = tiny.tokenizer.decode(ids[:count])
            assert "".join(spoken.texts(finished=False)) == certain(decoded, stop_texts)
            assert "".join(spoken.texts(finished=True)) == before_stop(decoded, stop_texts)
            assert len(spoken.texts(finished=True)) == count


def test_a_search_may_replace_tokens_by_others(tiny: LoadedModel) -> None:
    """Wherever the replaced tokens begin: inside a character, inside the text, or not at all."""
    chance, spoken = random.Random(5), AnswerText(tiny.tokenizer, STOP_TEXTS)
    ids: list[int] = []
    for other in answers(tiny) * 3:
        kept = chance.randrange(len(ids) + 1)
        ids = ids[:kept] + other[: chance.randrange(len(other) + 1)]
        spoken.update(ids)
        anew = AnswerText(tiny.tokenizer, STOP_TEXTS)
        anew.update(ids)
        assert spoken.texts(finished=True) == anew.texts(finished=True)
        assert "".join(spoken.texts(finished=True)) == before_stop(tiny.tokenizer.decode(ids), STOP_TEXTS)


def test_a_prompt_and_its_answer_are_one_text_in_which_only_the_answer_ends(tiny: LoadedModel) -> None:
    ids = tiny.tokenizer.encode("Hi fox 🦊🦊 fox?")
    for cut in range(len(ids)):  # also in the middle of a character
        spoken = AnswerText(tiny.tokenizer, ["fox"], prompt=ids[:cut], begins=True)
        spoken.update(ids[cut:])
        before = tiny.tokenizer.detokenizer()
        streamed = "".join(before.push(piece) for piece in ids[:cut])
        answer = "".join(before.push(piece) for piece in ids[cut:])
        assert spoken.text(finished=True) == streamed + before_stop(answer, ["fox"])


def test_every_token_of_an_answer_is_decoded_once(models: Models, monkeypatch: pytest.MonkeyPatch) -> None:
    pushed: list[int] = []
    push = StreamingDetokenizer.push

    def counted(self: StreamingDetokenizer, piece: int) -> str:
        pushed.append(piece)
        return push(self, piece)

    monkeypatch.setattr(StreamingDetokenizer, "push", counted)
    session = Session()
    settings = DecodingSettings(seed=4, max_new_tokens=60)
    updates = list(chat.send(session, models, models.default, "Hi", settings))
    run = session.newest_answer
    assert run is not None and len(updates) > 2
    assert pushed == [token.id for token in run.tokens[run.first :]]
