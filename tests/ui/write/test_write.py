"""Write without a browser: continuing, single tokens, changes by hand."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from decoding.settings import DecodingSettings
from decoding.step import CandidateRecord
from model.errors import AttendError
from model.loaded import LoadedModel
from model.text.sentencepiece_tokenizer import USER
from ui.runs.models import Models
from ui.runs.run import RunRecord
from ui.runs.session import Session
from ui.write import write_actions as write
from ui.write.write_update import WriteUpdate

SAMPLE = DecodingSettings(strategy="sample", max_new_tokens=6, seed=11)
ONE = replace(SAMPLE, max_new_tokens=1)
START = "The quick brown fox"


def last(updates: Iterator[WriteUpdate]) -> WriteUpdate:
    return list(updates)[-1]


def run_of(session: Session) -> RunRecord:
    return session.run(session.draft.run)


def test_the_text_is_continued_in_the_box(models: Models, tiny: LoadedModel) -> None:
    session = Session()
    update = last(write.write(session, models, models.default, START, SAMPLE))
    ids = run_of(session).ids
    assert ids[: len(ids) - 6] == tiny.prompt(START)
    assert update.text == session.draft.text == tiny.tokenizer.decode(ids)
    assert session.draft.text.startswith(START)
    assert update.running is False


def test_the_prompts_own_tokens_have_numbers_and_attention_too(models: Models, tiny: LoadedModel) -> None:
    session = Session()
    update = last(write.write(session, models, models.default, START, SAMPLE))
    value = write.overview(session, models, models.default).inspector
    assert update.inspector is not None and value is not None
    assert value["first"] == 1
    assert len(value["steps"]) == len(value["rows"]) == len(value["ids"]) - 1
    assert value["rows_from"] == 0
    run = run_of(session)
    expected = tiny.model.logits(run.ids[:1], run.ids[1:]).double().softmax(-1)  # the slow twin
    for index, token in enumerate(run.tokens[1:]):
        assert token.choice is not None
        assert token.choice.probability == pytest.approx(float(expected[index, token.id]), rel=1e-4)
        assert token.choice.rank == int((expected[index] > expected[index, token.id]).sum()) + 1


def test_next_token_is_exactly_one_step(models: Models) -> None:
    session = Session()
    write.preview(session, models, models.default, START)
    count = len(run_of(session).tokens)
    for number in (1, 2, 3):
        last(write.write(session, models, models.default, session.draft.text or START, ONE))
        assert len(run_of(session).tokens) == count + number


def test_next_token_is_one_step_of_a_text_with_a_least_length(models: Models) -> None:
    session, long = Session(), replace(SAMPLE, min_new_tokens=5)
    for count in (1, 2):
        last(write.next_token(session, models, models.default, session.draft.text or START, long))
        assert sum(not token.given for token in run_of(session).tokens) == count


def test_the_end_that_next_token_draws_is_followed_and_that_of_a_longer_text_is_not(
    models: Models, tiny: LoadedModel
) -> None:
    session, ending = Session(), replace(SAMPLE, logit_bias=tuple((end, 100.0) for end in tiny.end_tokens))
    ended = last(write.next_token(session, models, models.default, START, ending)).inspector
    assert ended is not None and ended.get("newest") == len(run_of(session).tokens) - 1
    for updates in (
        write.next_token(Session(), models, models.default, START, ONE),
        write.write(Session(), models, models.default, START, ending),
    ):
        other = last(updates).inspector
        assert other is not None and "newest" not in other


def test_one_by_one_and_at_once_give_the_same_text(models: Models) -> None:
    """A seed is one stream of draws for the whole text, however it is cut into runs."""
    at_once, one_by_one = Session(), Session()
    last(write.write(at_once, models, models.default, START, SAMPLE))
    last(write.write(one_by_one, models, models.default, START, ONE))
    for _ in range(5):
        last(write.write(one_by_one, models, models.default, one_by_one.draft.text, ONE))
    assert run_of(one_by_one).ids == run_of(at_once).ids


def test_an_edited_text_is_cut_into_tokens_anew(models: Models, tiny: LoadedModel) -> None:
    session = Session()
    last(write.write(session, models, models.default, START, SAMPLE))
    last(write.write(session, models, models.default, "Something else", ONE))
    assert run_of(session).ids[:-1] == tiny.prompt("Something else")
    assert run_of(session).first == 1


def test_taking_another_token_cuts_what_followed(models: Models, tiny: LoadedModel) -> None:
    session = Session()
    last(write.write(session, models, models.default, START, SAMPLE))
    before = run_of(session)
    index = len(before.tokens) - 4
    choice = before.tokens[index].choice
    assert choice is not None
    other = next(candidate for candidate in choice.candidates if candidate.id != choice.token)
    update = write.take(session, models, index, other.id)
    after = run_of(session)
    assert after.ids == (*before.ids[:index], other.id)
    assert update.text == tiny.tokenizer.decode(after.ids)
    assert update.inspector is not None
    assert update.inspector["run"] != before.id  # the page forgets what was selected
    taken = after.tokens[-1].choice
    assert taken is not None
    assert (taken.token, taken.draw) == (other.id, None)
    assert taken.probability == other.probabilities[0]
    assert sum(candidate.probabilities[0] for candidate in taken.candidates) + taken.rest[0] == pytest.approx(1.0)
    expected = tiny.model.logits(before.ids[:index], (other.id,))[0]
    assert taken.rank == int((expected > expected[other.id]).sum()) + 1


def test_typing_behind_the_models_words_keeps_what_they_were_chosen_from(models: Models, tiny: LoadedModel) -> None:
    session = Session()
    last(write.write(session, models, models.default, START, SAMPLE))
    before = run_of(session)
    write.preview(session, models, models.default, f"{session.draft.text} and so on")
    after = run_of(session)
    assert after.ids == (*before.ids, *tiny.tokenizer.encode(" and so on"))
    assert [token.given for token in after.tokens].count(False) == 6
    assert [(token.given, token.choice) for token in after.tokens[: len(before.tokens)]] == [
        (token.given, token.choice) for token in before.tokens
    ]
    assert all(token.row is not None for token in after.tokens[1:])
    write.preview(session, models, models.default, START[:-1])  # before the model's first token: nothing is kept
    assert all(token.given for token in run_of(session).tokens)


def test_typed_words_grow_as_one(models: Models, tiny: LoadedModel) -> None:
    session = Session()
    for typed in ("wee", "week", "weekends"):
        write.preview(session, models, models.default, typed)
        assert run_of(session).ids == tiny.prompt(typed)


def test_a_text_that_the_model_has_ended_goes_on_only_when_somebody_types(models: Models, tiny: LoadedModel) -> None:
    (end,) = tiny.end_tokens
    session = Session()
    ended = last(write.write(session, models, models.default, START, replace(SAMPLE, logit_bias=((end, 100.0),))))
    assert run_of(session).ids[-1] == end and ended.ended
    assert session.draft.text == START
    with pytest.raises(AttendError, match="ended its text"):
        next(iter(write.write(session, models, models.default, START, ONE)))
    assert not session.busy
    assert write.preview(session, models, models.default, f"{START} jumps").ended is False
    deleted = write.preview(session, models, models.default, START)
    assert run_of(session).ids[-1] == end and deleted.ended and deleted.history == ended.history
    assert write.preview(session, models, models.default, f"{START} jumps").ended is False
    last(write.write(session, models, models.default, f"{START} jumps", ONE))
    assert run_of(session).ids[:-1] == tiny.prompt(f"{START} jumps")


def test_a_model_without_a_chat_format_writes(models: Models, tiny_writer: LoadedModel) -> None:
    session = Session()
    last(write.write(session, models, tiny_writer.name, START, SAMPLE))
    assert run_of(session).model == tiny_writer.name


def test_a_text_without_tokens_is_refused(models: Models, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some tokenizers drop invisible characters."""
    monkeypatch.setattr(LoadedModel, "prompt", lambda *_: ())
    with pytest.raises(AttendError, match=r"^The text '\\u200b' has no tokens in this model: enter another text"):
        write.preview(Session(), models, models.default, "\u200b")


@pytest.mark.parametrize("strategy", ["greedy", "sample", "beam"])
def test_every_strategy_goes_on_and_takes_single_steps(models: Models, strategy: str) -> None:
    session = Session()
    settings = DecodingSettings.from_dict({"strategy": strategy, "max_new_tokens": 4, "seed": 2})
    last(write.write(session, models, models.default, START, settings))
    count = len(run_of(session).tokens)
    last(write.write(session, models, models.default, session.draft.text, replace(settings, max_new_tokens=1)))
    assert len(run_of(session).tokens) == count + 1


def test_a_full_context_says_so(models: Models, tiny: LoadedModel) -> None:
    session, endless = Session(), tuple((end, -100.0) for end in tiny.end_tokens)
    settings = replace(SAMPLE, max_new_tokens=1000, logit_bias=endless)
    update = last(write.write(session, models, models.default, START, settings))
    assert len(run_of(session).tokens) == 129  # the last is not read
    assert update.meter is not None and "context limit" in update.meter["note"]
    with pytest.raises(AttendError, match="filled the context of 128 tokens"):
        next(iter(write.write(session, models, models.default, session.draft.text, ONE)))
    assert not session.busy


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (None, "must be text"),
        ("", "The text is empty: enter at least one character."),
        (" \n", "The text is empty"),
        ("x" * 20_001, "20,001 characters"),
        ("\udc80", "half a character"),
        ("dog " * 400, "reads at most 128: shorten it, or press Score this text, which reads it in parts"),
    ],
)
def test_bad_texts_are_refused_and_the_draft_stays(models: Models, text: object, sentence: str) -> None:
    session = Session()
    last(write.write(session, models, models.default, START, SAMPLE))
    before = session.draft.text
    with pytest.raises(AttendError, match=sentence):
        next(iter(write.write(session, models, models.default, text, ONE)))
    assert session.draft.text == before
    assert not session.busy


@pytest.mark.parametrize(("index", "token"), [(0, 5), (-1, 5), (10**9, 5), (2, -1), (2, 10**9)])
def test_only_tokens_of_the_table_can_be_taken(models: Models, index: int, token: int) -> None:
    session = Session()
    last(write.write(session, models, models.default, START, SAMPLE))
    with pytest.raises(AttendError, match=r"no longer exists|not in the table"):
        write.take(session, models, index, token)


def test_a_token_without_a_text_cannot_be_taken(models: Models, tiny: LoadedModel) -> None:
    session = Session()
    last(write.write(session, models, models.default, START, SAMPLE))
    run, control = run_of(session), tiny.tokenizer.special_token_id(USER)
    newest = run.tokens[-1]
    assert newest.choice is not None
    offered = CandidateRecord(control, (0.0,) * len(newest.choice.stages))
    run.tokens[-1] = replace(newest, choice=replace(newest.choice, candidates=(*newest.choice.candidates, offered)))
    before = session.draft.text
    with pytest.raises(
        AttendError, match="<user> has no text of its own, so it can't be used here: choose another row"
    ):
        write.take(session, models, len(run.tokens) - 1, control)
    assert session.draft.text == before


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        (replace(SAMPLE, logit_bias=((99_999, 3.0),)), "logit_bias names token 99999"),
        (replace(SAMPLE, strategy="dola", dola_layers=(99,)), "dola_layers lists layer 99"),
    ],
)
def test_settings_that_the_model_cannot_follow_leave_the_text_and_nothing_to_undo(
    models: Models, settings: DecodingSettings, sentence: str
) -> None:
    session = Session()
    last(write.write(session, models, models.default, START, SAMPLE))
    before = session.draft_version, list(session.draft.undo)
    with pytest.raises(AttendError, match=sentence):
        next(write.write(session, models, models.default, session.draft.text, settings))
    assert (session.draft_version, session.draft.undo) == before
    assert not session.busy


@pytest.mark.parametrize(
    ("count", "note"), [(1, None), (2, "1 more text: press Save run to see it"), (3, "2 more texts: ")]
)
def test_a_text_says_where_the_others_of_its_run_are(models: Models, count: int, note: str | None) -> None:
    settings = replace(SAMPLE, num_return_sequences=count)
    update = last(write.write(Session(), models, models.default, START, settings))
    assert update.meter is not None
    assert note in update.meter["note"] if note else "more" not in update.meter["note"]
