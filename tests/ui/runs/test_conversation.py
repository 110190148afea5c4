"""The tree of a conversation's versions: what is in view, what stays, and what goes over the limits."""

from __future__ import annotations

import weakref

import pytest

from model.errors import AttendError
from ui.runs.versions.conversation import MAX_MESSAGES, MAX_TURNS, MAX_VERSIONS, Conversation, Turn


def user(text: str) -> Turn:
    return Turn("user", text)


def answer(text: str) -> Turn:
    return Turn("assistant", text)


def texts(conversation: Conversation) -> list[str]:
    return [turn.text for turn in conversation.turns]


def all_texts(conversation: Conversation) -> list[str]:
    return sorted(turn.text for turn in conversation.all_turns())


def test_each_version_keeps_what_followed_it() -> None:
    conversation = Conversation([user("Hi"), answer("one"), user("On"), answer("two")])
    conversation.put([*conversation.turns[:1], answer("other")])
    assert texts(conversation) == ["Hi", "other"]
    assert conversation.versions == [(0, 1), (1, 2)]
    conversation.put([*conversation.turns, user("Else")])
    conversation.show(1, 0)
    assert texts(conversation) == ["Hi", "one", "On", "two"]
    assert conversation.versions == [(0, 1), (0, 2), (0, 1), (0, 1)]
    conversation.show(1, 1)
    assert texts(conversation) == ["Hi", "other", "Else"]


def test_within_a_version_the_one_that_was_in_view_stays_so() -> None:
    conversation = Conversation([user("Hi"), answer("one")])
    conversation.put([*conversation.turns[:1], answer("two")])
    conversation.show(1, 0)
    conversation.put([*conversation.turns[:0], user("Hello")])
    conversation.show(0, 0)
    assert texts(conversation) == ["Hi", "one"]


def test_a_view_that_ends_earlier_loses_nothing() -> None:
    conversation = Conversation([user("Hi"), answer("one")])
    conversation.end_before(0)
    assert conversation.turns == [] == conversation.versions
    conversation.put([*conversation.turns, user("Hello")])
    assert conversation.versions == [(1, 2)]
    conversation.show(0, 0)
    assert texts(conversation) == ["Hi", "one"]


def test_what_a_view_was_ended_before_comes_back_in_order() -> None:
    conversation = Conversation([user("Hi"), answer("one"), user("More"), answer("two")])
    conversation.put([*conversation.turns[:3], answer("three")])
    conversation.show(3, 0)
    for number in (2, 0):
        conversation.end_before(number)
    assert conversation.has_more
    conversation.go_on()
    assert texts(conversation) == ["Hi", "one"]
    conversation.go_on()
    assert texts(conversation) == ["Hi", "one", "More", "two"]  # the version that was in view
    assert not conversation.has_more
    conversation.go_on()
    assert texts(conversation) == ["Hi", "one", "More", "two"]


@pytest.mark.parametrize(("number", "version"), [(0, 1), (0, -1), (2, 0), (-1, 0), (1, 2)])
def test_a_version_that_is_not_there_is_refused_and_nothing_changes(number: int, version: int) -> None:
    conversation = Conversation([user("Hi"), answer("one")])
    conversation.put([*conversation.turns[:1], answer("two")])
    with pytest.raises(AttendError, match="no longer exists"):
        conversation.show(number, version)
    assert texts(conversation) == ["Hi", "two"]


def test_the_oldest_version_out_of_view_goes_first() -> None:
    conversation = Conversation([user("Hi"), answer("0")])
    for number in range(1, MAX_VERSIONS):
        conversation.put([*conversation.turns[:1], answer(str(number))])
    conversation.show(1, 0)
    conversation.put([*conversation.turns, user("On")])
    conversation.show(1, 2)
    conversation.put([*conversation.turns[:1], answer("new")])
    assert conversation.versions[1] == (MAX_VERSIONS - 1, MAX_VERSIONS)
    assert {"0", "On"} & set(all_texts(conversation)) == set()
    assert "1" in all_texts(conversation)


def test_a_long_conversation_forgets_its_beginning() -> None:
    conversation = Conversation([user("first")])
    conversation.put([*conversation.turns[:0], user("first again")])
    for number in range(MAX_TURNS):
        conversation.put([*conversation.turns, answer(str(number))])
    assert texts(conversation) == [str(number) for number in range(MAX_TURNS)]
    assert "first" not in all_texts(conversation)


def test_all_versions_together_are_limited_but_what_is_in_view_stays() -> None:
    conversation = Conversation([user("Hi")])
    for version in range(4):
        conversation.put([*conversation.turns[:1], answer(f"version {version}")])
        for number in range(MAX_TURNS - 2):
            conversation.put([*conversation.turns, user(f"{version}.{number}")])
    assert len(conversation.turns) == MAX_TURNS
    kept = all_texts(conversation)
    assert len(kept) <= MAX_MESSAGES
    assert "version 0" not in kept and "version 2" in kept and "version 3" in kept


def test_an_undone_message_that_went_over_the_limit_is_freed() -> None:
    class Watched(Turn):
        """Without slots, it can be referred to weakly."""

    turn = Watched("user", "first")
    conversation = Conversation([turn])
    kept = weakref.ref(turn)
    del turn
    conversation.end_before(0)
    for number in range(MAX_VERSIONS):
        conversation.put([user(str(number))])
    assert "first" not in all_texts(conversation) and kept() is None
    conversation.end_before(0)
    conversation.go_on()
    assert texts(conversation) == [str(MAX_VERSIONS - 1)]
