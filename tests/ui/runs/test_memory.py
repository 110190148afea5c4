"""The memory budget of a session: what counts, that it matches what Python allocates, and what is dropped first."""

from __future__ import annotations

import gc
import threading
import tracemalloc
import weakref
from dataclasses import replace

import pytest

from decoding.generate import generate
from decoding.request import Request, RequestOptions
from decoding.settings import DecodingSettings
from decoding.step import Step
from model.loaded import LoadedModel
from tests.ui.inspector.test_trace import BEAM, SAMPLE, answered
from ui.chat import chat_actions as chat
from ui.compare import compare_actions as compare
from ui.inspector.opening import open_token
from ui.inspector.toolbar.record import saved
from ui.inspector.toolbar.replay import opened, reopened
from ui.limits import Limits
from ui.runs.answers import LiveAnswer
from ui.runs.live_run import LiveRun, answer_text
from ui.runs.memory import Ledger, limit_memory
from ui.runs.models import Models
from ui.runs.run import RunRecord, TokenRecord
from ui.runs.runs_contract import AnswerUpdate
from ui.runs.session import Session
from ui.runs.traces import new_trace
from ui.write import write_actions as write

MANY_STAGES = DecodingSettings(
    seed=5, max_new_tokens=24, top_k=40, top_p=0.95, min_p=0.01, temperature=0.9, top_candidates=20
)


def new_run(models: Models, loaded: LoadedModel, settings: DecodingSettings) -> tuple[LiveRun, list[Step]]:
    """An empty live, and the steps of its run."""
    ids = loaded.prompt("The quick")
    trace = new_trace(loaded, ids, settings, text="The quick")
    run = RunRecord("write-1", "write", loaded.name, [TokenRecord(token, "given") for token in ids])
    request = Request.of(loaded, ids, RequestOptions(attention=True))
    return LiveRun(run, trace, answer_text(trace, loaded)), list(
        generate(loaded.model, ids, settings.strategy_for(request))
    )


@pytest.mark.parametrize(
    "settings",
    [SAMPLE, BEAM, MANY_STAGES, replace(MANY_STAGES, strategy="beam", num_beams=6)],
    ids=["sample", "beam", "stages", "beams with stages"],
)
def test_what_is_counted_is_what_python_allocates(
    models: Models, tiny: LoadedModel, settings: DecodingSettings
) -> None:
    """All objects of a run are made anew while the allocations are traced. What other threads make or free beside it
    changes single measurements, and not the middle one of five."""
    tracemalloc.start()
    try:
        new_run(models, tiny, settings)  # what is loaded with a first run, and what Python keeps for reuse, is no run's
        measured = [allocated_and_counted(models, tiny, settings) for _ in range(5)]
    finally:
        tracemalloc.stop()
    allocated, counted = sorted(measured)[2]
    assert 0.75 * allocated < counted < 1.35 * allocated


def allocated_and_counted(models: Models, loaded: LoadedModel, settings: DecodingSettings) -> tuple[int, int]:
    """The bytes of one run, by Python and by the ledger."""
    gc.collect()
    before = tracemalloc.get_traced_memory()[0]
    live, steps = new_run(models, loaded, settings)
    live.add(steps, "finished")
    del steps
    gc.collect()
    allocated = tracemalloc.get_traced_memory()[0] - before
    return allocated, Ledger.of(Session(runs={"write-1": live.run})).total


@pytest.mark.parametrize("settings", [SAMPLE, BEAM], ids=["sample", "beam"])
def test_no_step_keeps_its_attention_tensors(models: Models, tiny: LoadedModel, settings: DecodingSettings) -> None:
    """Neither during a run nor afterwards: the page keeps attention as packed text."""
    live, steps = new_run(models, tiny, settings)
    tensors = [
        weakref.ref(one.choice.attention)
        for step in steps
        for one in step.hypotheses
        if one.choice.attention is not None
    ]
    assert tensors
    while steps:
        live.add([steps.pop(0)])
    gc.collect()
    assert not any(tensor() is not None for tensor in tensors)
    assert live.run.tokens[-1].row


def test_what_two_share_counts_once(models: Models) -> None:
    """Undo's states have the same distributions as the text that goes on from them."""
    session = Session()
    for _ in range(4):
        text = session.draft.text or "The quick"
        list(write.write(session, models, models.default, text, replace(SAMPLE, max_new_tokens=1)))
    assert len(session.draft.undo) >= 4
    alone = Ledger.of(Session(runs=dict(session.runs))).total
    assert alone < Ledger.of(session).total < 1.5 * alone


def test_attention_goes_first_the_oldest_before_all_others(models: Models) -> None:
    session = Session()
    runs = [answered(models, "Hello", SAMPLE, session) for _ in range(4)]
    session.inspected_run = runs[0].id
    total = Ledger.of(session).total
    rows = sum(len(token.row or "") for token in runs[1].tokens)
    limit_memory(session, total - rows * 3 // 2)  # the attention of one is not enough
    assert [any(token.row for token in run.tokens) for run in runs] == [True, False, False, True]
    assert all(run.trace for run in runs) and runs[1].tokens[-1].choice is not None


def test_then_traces_then_what_is_known_of_a_run_and_what_is_shown_goes_last(models: Models) -> None:
    session = Session()
    runs = [answered(models, "Hello", BEAM, session) for _ in range(3)]
    session.inspected_run = runs[0].id
    for run in runs:
        run.forget_attention()
    of_first = Ledger.of(Session(runs={runs[0].id: runs[0]})).total
    limit_memory(session, Ledger.of(session).total - 1)
    assert [run.trace is not None for run in runs] == [True, False, True]
    assert runs[1].tokens[-1].choice is not None, "its numbers stay"
    limit_memory(session, of_first + 20_000)
    assert [run.forgotten for run in runs] == [False, True, True]
    assert runs[0].trace is not None
    assert session.turns[-1].text, "the texts stay"
    limit_memory(session, 0)
    assert runs[0].trace is None and runs[0].tokens[-1].choice is not None


def test_the_states_of_undo_go_the_oldest_first(models: Models) -> None:
    session = Session()
    for _ in range(6):
        text = session.draft.text or "The quick"
        list(write.write(session, models, models.default, text, replace(SAMPLE, max_new_tokens=1)))
    states = len(session.draft.undo)
    newest = session.draft.undo[-1]
    limit_memory(session, 1)
    assert len(session.draft.undo) < states
    assert newest.text.startswith("The quick")
    assert session.run(session.draft.run).tokens[-1].choice is not None, "the text that is shown stays explained"


def test_a_session_stays_within_its_budget_whatever_is_done(models: Models) -> None:
    """Only what is on the screen may exceed it; everything else is dropped."""
    session = Session(limits=Limits(session_mb=0.06))
    for number in range(5):
        list(chat.send(session, models, models.default, f"Hello {number}", BEAM))
        assert session.inspected_run is not None
        bare = replace_trace(session.run(session.inspected_run))
        assert Ledger.of(session).total <= max(60_000, bare + 20_000)


def replace_trace(run: RunRecord) -> int:
    """What a run keeps without its trace and its attention."""
    bare = RunRecord(run.id, run.mode, run.model, [replace(token, row=None) for token in run.tokens])
    return Ledger.of(Session(runs={run.id: bare})).total


def test_a_dropped_token_explains_how_to_restore_it(models: Models) -> None:
    session = Session()
    runs = [answered(models, "Hello", SAMPLE, session) for _ in range(2)]
    session.inspected_run = runs[1].id
    limit_memory(session, 0)
    with pytest.raises(Exception, match="retry the answer to inspect it"):
        open_token(session, models, runs[0], 0, again="retry the answer")


def test_compared_cards_count_and_their_table_stays(models: Models) -> None:
    session = Session()
    cards = [{"temperature": 0.5}, {"temperature": 1.5}]
    list(
        compare.compare(
            session,
            models,
            models.default,
            "The quick",
            cards,
            answer=False,
            history=False,
            common=True,
            shared=SAMPLE,
        )
    )
    assert session.comparison is not None and Ledger.of(session).total > 10_000
    name, table = compare.file(session, "csv")
    limit_memory(session, 0)
    assert compare.file(session, "csv") == (name, table)
    with pytest.raises(Exception, match="too large to store"):
        compare.file(session, "json")


def test_the_file_that_was_opened_counts_and_goes_first_once_it_is_out_of_view(models: Models) -> None:
    session = Session()
    run = answered(models, "Hello", SAMPLE, session)
    _, text = saved(session, models, run.id)
    before = Ledger.of(session).total
    opened(session, text, 1)
    assert session.bytes == Ledger.of(session).total >= before + len(text)
    limit_memory(session, session.bytes - 1)
    assert session.file is not None and not any(token.row for token in run.tokens)  # the attention has gone instead
    session.inspected_run = run.id
    limit_memory(session, session.bytes - 1)
    assert session.file is None and run.trace is not None
    with pytest.raises(Exception, match="open it again"):
        reopened(session, models, "replay-1")


def test_all_visitors_share_a_budget_and_the_oldest_texts_go_first(models: Models) -> None:
    visitors = [Session() for _ in range(3)]
    for session in visitors:
        answered(models, "Hi", SAMPLE, session)
        session.inspected_run = None
        limit_memory(session)
    each = visitors[0].bytes
    assert each == Ledger.of(visitors[0]).total > 0
    busy = visitors[0]
    with busy.lock:  # an event of this visitor is being handled in another thread
        other = threading.Thread(target=limit_memory, args=(visitors[2],), kwargs={"max_bytes_of_all": 2 * each})
        other.start()
        other.join()
    assert busy.bytes == each and visitors[1].bytes == visitors[2].bytes == each
    limit_memory(visitors[2], max_bytes_of_all=2 * each)
    assert visitors[0].bytes < each / 2 and visitors[1].bytes == visitors[2].bytes == each
    assert [turn.text for turn in visitors[0].turns] == [turn.text for turn in visitors[1].turns]


def test_a_run_keeps_its_steps_until_its_end_is_shown(models: Models, monkeypatch: pytest.MonkeyPatch) -> None:
    """The budget of all visitors is exceeded just then, and this visitor's texts are the oldest."""
    session, other = Session(), Session()
    answered(models, "Hi", SAMPLE, session)
    limit_memory(session)
    value = LiveAnswer.value

    def meanwhile(answer: LiveAnswer, *, busy: bool) -> AnswerUpdate:
        if not busy:
            sweep = threading.Thread(target=limit_memory, args=(other,), kwargs={"max_bytes_of_all": 0})
            sweep.start()
            sweep.join()
        return value(answer, busy=busy)

    monkeypatch.setattr(LiveAnswer, "value", meanwhile)
    *_, end = chat.send(session, models, models.default, "Hello", SAMPLE)
    assert end.answer is not None and end.answer["state"] == "done"
    assert session.run(session.turns[-1].run).trace is not None
