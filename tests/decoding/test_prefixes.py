"""What was read for a visitor is not read again, and changes nothing of what is chosen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor

from decoding import scheduler as scheduling
from decoding.prefixes import KeptPrefixes
from decoding.scheduler import Scheduler
from decoding.settings import DecodingSettings
from model.interface import Forward, Want
from model.loaded import FairLock
from model.transformer.cache import KeyValueCache
from tests.decoding.test_batch import check_same, transformer
from tests.decoding.test_scheduler import KINDS, Watched, alone, run
from tests.helpers.tiny import check_same_pass
from tests.helpers.waiting import eventually, steps_of

PROMPT = tuple(range(3, 24))


class Counted(Watched):
    """Notes how many tokens of prompts it reads at a time."""

    def __init__(self, model: Any) -> None:
        super().__init__(model)
        self.read: list[int] = []

    def prefill(self, prompt: Sequence[int], *, want: Want = Want()) -> Forward[Any]:
        self.read.append(len(prompt))
        return self._model.prefill(prompt, want=want)

    def extend_prefix(self, tokens: Sequence[int], cache: Any, *, want: Want = Want()) -> Forward[Any]:
        self.read.append(len(tokens))
        return self._model.extend_prefix(tokens, cache, want=want)

    def extend_logits(self, tokens: Sequence[int], cache: Any = None) -> tuple[Tensor, Any]:
        return self._model.extend_logits(tokens, cache)


def idle(scheduler: Scheduler) -> None:
    """Wait until what the last run has read is kept."""
    eventually(lambda: scheduler.rows == 0)


@pytest.mark.parametrize("settings", KINDS, ids=lambda settings: settings.strategy)
def test_the_next_prompt_reads_only_what_is_new(settings: DecodingSettings) -> None:
    model, scheduler, settings = (
        Counted(transformer()),
        Scheduler(FairLock().held_ahead),
        replace(settings, min_new_tokens=5),
    )
    first = steps_of(run(scheduler, model, PROMPT, settings, "visitor"))
    idle(scheduler)
    assert first[-1].best is not None
    longer = (*PROMPT, *first[-1].best.tokens[:3], 7, 8)
    check_same(steps_of(run(scheduler, model, longer, settings, "visitor")), alone(transformer(), longer, settings))
    idle(scheduler)
    whole = settings.strategy == "contrastive"  # which compares hidden states of the whole prompt
    kept = len(PROMPT) if settings.rows > 1 else len(PROMPT) + 3  # of a search the prompt alone
    assert model.read == [len(PROMPT), len(longer) - (0 if whole else kept)]


def test_once_more_another_end_and_another_text() -> None:
    settings = DecodingSettings(strategy="sample", seed=4, max_new_tokens=9, min_new_tokens=9)
    model, scheduler = Counted(transformer()), Scheduler(FairLock().held_ahead)
    others = [PROMPT, (*PROMPT[:15], 30, 31), (9, *PROMPT), PROMPT[:12]]
    for prompt in (PROMPT, *others):
        check_same(steps_of(run(scheduler, model, prompt, settings, "visitor")), alone(transformer(), prompt, settings))
        idle(scheduler)
    # once more: the last token alone; 15 tokens are the same; the first differs; so few that all are read again
    assert model.read == [21, 1, 2, 22, 12]


def test_nobody_begins_with_what_another_has_read() -> None:
    settings = DecodingSettings(strategy="greedy", max_new_tokens=4)
    model, scheduler = Counted(transformer()), Scheduler(FairLock().held_ahead)
    for visitor in ("one", "other", None, None):
        steps_of(run(scheduler, model, PROMPT, settings, visitor))
        idle(scheduler)
    assert model.read == [len(PROMPT)] * 4


def test_a_long_prompt_is_read_in_pieces_while_others_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pieces of four tokens; between two of them, the run that has begun gets its next token."""
    monkeypatch.setattr(scheduling, "_SHORTEST_PIECE", 4)
    monkeypatch.setattr(scheduling, "_PIECE_ALONE", 0.0)
    monkeypatch.setattr(scheduling, "_PIECE_BESIDE_OTHERS", 0.0)
    model, scheduler = Counted(transformer()), Scheduler(FairLock().held_ahead)
    long = DecodingSettings(strategy="greedy", max_new_tokens=30, min_new_tokens=30)
    writing = run(scheduler, model, (5, 6), long)
    begun = steps_of([next(writing)])
    model.rows.clear()
    model.read.clear()
    check_same(steps_of(run(scheduler, model, PROMPT, KINDS[0])), alone(transformer(), PROMPT, KINDS[0]))
    check_same([*begun, *steps_of(writing)], alone(transformer(), (5, 6), long))
    assert model.read == [4, 4, 4, 4, 4, 1]
    assert model.rows[:5] == [1] * 5  # passes of the other alone, while the prompt was read


def cache_of(tokens: int) -> KeyValueCache:
    forward = transformer().prefill(tuple(range(3, 3 + tokens)))
    return forward.cache


def test_the_oldest_go_when_all_together_are_too_large() -> None:
    size = cache_of(20).bytes
    kept = KeptPrefixes(max_bytes=int(2.5 * size))
    for visitor in ("a", "b", "c"):
        kept.keep(visitor, range(3, 23), cache_of(20))
    assert kept.bytes == 2 * size
    prompt = (*range(3, 23), 9)
    assert [kept.longest(visitor, prompt)[0] for visitor in ("a", "b", "c")] == [0, 20, 20]
    kept.keep("b", range(3, 23), cache_of(20))  # in the place of the one before
    assert kept.bytes == 2 * size
    kept.forget("b")  # who has left
    kept.forget("nobody")
    assert kept.bytes == size and kept.longest("b", prompt) == (0, None)
    KeptPrefixes(max_bytes=size - 1).keep("a", range(3, 23), cache_of(20))  # alone too large, so it is not kept


def test_what_is_written_behind_a_head_does_not_change_the_whole() -> None:
    model = transformer()
    whole = model.prefill(PROMPT)
    head = whole.cache.prefix(10)
    branch = model.extend_prefix((30, 31, 32), head)
    expected = model.prefill((*PROMPT[:10], 30, 31, 32))
    torch.testing.assert_close(branch.logits, expected.logits)
    torch.testing.assert_close(model.step([7], whole.cache).logits, model.prefill((*PROMPT, 7)).logits)
    with pytest.raises(ValueError, match="2 rows"):
        whole.cache.select([0, 0]).prefix(3)


@pytest.mark.parametrize("positions", ["rotary", "learned", "sinusoidal"])
def test_in_pieces_a_prompt_reads_as_at_once(positions: str) -> None:
    model, want = transformer(positions), Want(attention=True, layers=(0, 1))
    expected = model.prefill(PROMPT, want=want)
    for pieces in ((1, 20), (20, 1), (7, 7, 7), (1,) * 21):
        forward, read = model.prefill(PROMPT[: pieces[0]], want=want), pieces[0]
        for piece in pieces[1:]:
            forward = model.extend_prefix(PROMPT[read : read + piece], forward.cache, want=want)
            read += piece
        check_same_pass(forward, expected, atol=1e-9, attention=1e-9)
