"""The actions of Chat: send, retry, edit, go on, take another token, write without a head, undo, redo, clear, restore,
and opening a token.

Each function takes the session and the request, and returns an update of the page, or yields successive ones while the
model writes. Everything is checked before anything changes, so an error leaves the conversation as it was. Knows
nothing of gradio.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from decoding.run.trace import Trace
from decoding.settings import DecodingSettings
from model.errors import AttendError
from model.inspection.intervention import interventions_of
from model.limits import check_room
from model.loaded import LoadedModel
from ui.chat.answering import answer_last, write_answer
from ui.chat.chat_update import ChatUpdate, overview
from ui.chat.conversation_value import conversation_value
from ui.chat.prompt_value import prompt_value
from ui.inspector.opening import open_token as inspect_token
from ui.kit.validation import checked_message, checked_system
from ui.page_update import PageUpdate
from ui.runs.answers import LiveAnswer
from ui.runs.models import Models
from ui.runs.prompts import chat_settings
from ui.runs.run import RunRecord, TokenRecord
from ui.runs.session import Session
from ui.runs.traces import new_trace
from ui.runs.versions.conversation import Conversation, Turn
from ui.runs.versions.resume import exchanged, resumed_trace, trace_from_here


def set_system(session: Session, models: Models, name: str, system: object) -> ChatUpdate:
    """Use this system prompt for all answers from now on."""
    session.system = checked_system(system)
    return ChatUpdate(prompt=prompt_value(session, models.get(name)))


def send(
    session: Session,
    models: Models,
    name: str,
    text: object,
    settings: DecodingSettings,
    *,
    system: object = None,
    from_box: bool = True,
) -> Iterator[ChatUpdate]:
    """A new message and its answer.

    Args:
        system: here and below, the system prompt in its box, which becomes the session's; None keeps the session's.
        from_box: whether the message came from the message box; the page then removes it, and nothing that was
            typed after it.
    """
    turns = [*session.turns, Turn("user", checked_message(text))]
    yield from answer_last(session, models, name, turns, settings, system=system, from_box=from_box)


def retry(
    session: Session, models: Models, name: str, turn: int, settings: DecodingSettings, *, system: object = None
) -> Iterator[ChatUpdate]:
    """The answer at `turn` once more; the one before stays a version, with what came after it.

    What was switched off inside the model stays off, if the same model answers.
    """
    number = _user_turn_before(session, turn)
    before = next((session.runs.get(answer.run or "") for answer in session.turns[number + 1 : number + 2]), None)
    off = before.interventions if before is not None and before.model == name else ()
    turns = session.turns[: number + 1]
    yield from answer_last(session, models, name, turns, settings, system=system, interventions=off)


def edit(
    session: Session,
    models: Models,
    name: str,
    turn: int,
    text: object,
    settings: DecodingSettings,
    *,
    system: object = None,
) -> Iterator[ChatUpdate]:
    """The user's message at `turn` in new words, and its answer; the one before stays a version, with what came after
    it."""
    number = _user_turn_before(session, turn)
    turns = [*session.turns[:number], Turn("user", checked_message(text))]
    yield from answer_last(session, models, name, turns, settings, system=system)


def proceed(session: Session, models: Models, turn: int, settings: DecodingSettings) -> Iterator[ChatUpdate]:
    """Let the model go on where the last answer ends, with the settings that wrote it, for as many tokens more as
    `settings` allow; from the same stream of random numbers."""
    session.refuse_while_busy()
    answer = _turn(session, turn)
    if turn != len(session.turns) - 1 or not answer.unfinished:
        raise AttendError("Only an unfinished answer at the end of the conversation can be continued.")
    run = session.run(answer.run)
    if run.forgotten:
        raise AttendError("The details of this answer are no longer stored: retry it to continue.")
    loaded = models.require_loaded(run.model)
    chosen, text, messages = _same_settings(run, loaded, settings)
    trace = resumed_trace(run, chosen) or trace_from_here(
        run.tokens, loaded, chosen, text=text, messages=messages, interventions=run.interventions
    )
    # nothing is refused from here on
    growing = LiveAnswer(run, trace, loaded, models.display_name(run.model), answer)
    yield from write_answer(session, models, loaded, growing)


def branch(
    session: Session, models: Models, run: str, index: int, token: int, settings: DecodingSettings
) -> Iterator[ChatUpdate]:
    """Take another token in the place of token `index` of an answer's run, and let the model go on behind it with the
    settings and the random numbers of that answer, which stays a version."""
    session.refuse_while_busy()
    number, before = _answer_in_view(session, run)
    loaded = models.require_loaded(before.model)
    taken = exchanged(before, index, token, loaded)
    tokens = [*before.tokens[:index], taken]
    check_room(len(tokens) - 1, loaded.model.context_length)  # a full context predicts one more
    chosen, text, messages = _same_settings(before, loaded, settings)
    trace = trace_from_here(tokens, loaded, chosen, text=text, messages=messages, interventions=before.interventions)
    # nothing is refused from here on
    answer = _new_version(session, models, loaded, number, before, tokens, trace)
    yield from write_answer(session, models, loaded, answer, selected=index)


def write_without(session: Session, models: Models, run: str, changes: list[Any]) -> Iterator[ChatUpdate]:
    """Write an answer again with the settings and the random numbers of its run, and with parts of the model switched
    off as well; the one before stays a version.

    Args:
        changes: the parts, each as `Intervention.of` reads it.
    """
    session.refuse_while_busy()
    number, before = _answer_in_view(session, run)
    trace, loaded = before.require_trace(), models.require_loaded(before.model)
    request = trace.request
    again = new_trace(
        loaded,
        request.input_ids,
        trace.settings,
        text=trace.prompt,
        messages=trace.messages,
        draws_used=request.options.draws_used,
        interventions=(*request.options.interventions, *interventions_of(changes)),
    )
    # nothing is refused from here on
    tokens = before.tokens[: len(request.attended)]
    answer = _new_version(session, models, loaded, number, before, tokens, again)
    yield from write_answer(session, models, loaded, answer)


def show_version(session: Session, models: Models, name: str, turn: int, version: int) -> ChatUpdate:
    """Show another version of a message, with what followed it, and its answer in the inspector."""
    session.refuse_while_busy()
    session.conversation.show(turn, version)
    run_id = next((each.run for each in session.turns[turn:] if each.run is not None), None)
    return overview(session, models, name, session.runs.get(run_id or ""))


def undo(session: Session, models: Models, name: str, turn: int) -> ChatUpdate:
    """Take the exchange of `turn` out of view; its words return to the message box."""
    session.refuse_while_busy()
    number = _user_turn_before(session, turn)
    words = session.turns[number].text
    session.conversation.end_before(number)
    return replace(overview(session, models, name), message=words)


def redo(session: Session, models: Models, name: str, text: object) -> ChatUpdate:
    """Bring back the exchange that was undone last; `text`, what is in the message box, goes if it is its message."""
    session.refuse_while_busy()
    number = len(session.turns)
    session.conversation.go_on()
    back = session.turns[number:]
    return replace(overview(session, models, name), message="" if back and text == back[0].text else None)


def clear(session: Session, models: Models, name: str) -> ChatUpdate:
    """Clear the conversation; it can be restored until the next message."""
    session.cancel()
    if session.turns:
        session.cleared = session.conversation
    session.conversation = Conversation()
    session.drop_unused_runs()
    return replace(overview(session, models, name), cleared=session.cleared is not None)


def restore(session: Session, models: Models, name: str) -> ChatUpdate:
    """Restore the conversation as it was before Clear, with its runs."""
    session.refuse_while_busy()
    if session.cleared is not None:
        session.conversation, session.cleared = session.cleared, None
        session.drop_unused_runs()
    return replace(overview(session, models, name), cleared=False)


def open_token(session: Session, models: Models, turn: int, index: int) -> PageUpdate:
    """Show one token of an answer in the inspector."""
    run = session.run(_turn(session, turn).run)
    return PageUpdate(inspector=inspect_token(session, models, run, index, again="retry the answer"))


def resend(session: Session) -> ChatUpdate:
    """The conversation, for a page that missed an update."""
    return ChatUpdate(conversation=conversation_value(session))


def _same_settings(
    run: RunRecord, loaded: LoadedModel, settings: DecodingSettings
) -> tuple[DecodingSettings, str, Sequence[Mapping[str, str]]]:
    """The settings that wrote a run, with the given length, and its message and conversation; where these are no longer
    stored, the given settings alone."""
    if run.trace is None:
        return chat_settings(loaded, settings), "", ()
    before = run.trace.settings
    same = replace(before, max_new_tokens=max(settings.max_new_tokens, before.min_new_tokens))
    return same, run.trace.prompt, run.trace.messages


def _answer_in_view(session: Session, identifier: str) -> tuple[int, RunRecord]:
    """The number of the message with this run, and the run; `AttendError` if it is no longer in view."""
    number = next((number for number, turn in enumerate(session.turns) if turn.run == identifier), None)
    if number is None:
        raise AttendError("This answer is no longer in view: click one of its tokens first.")
    return number, session.run(identifier)


def _new_version(
    session: Session,
    models: Models,
    loaded: LoadedModel,
    number: int,
    before: RunRecord,
    tokens: Sequence[TokenRecord],
    trace: Trace,
) -> LiveAnswer:
    """A version of message `number` that begins with these tokens of its run and is about to be written."""
    run = session.add_run("chat", before.model, tokens)
    run.shape, run.dropped = before.shape, before.dropped
    answer = LiveAnswer(run, trace, loaded, models.display_name(before.model))
    session.conversation.put([*session.turns[:number], answer.turn])
    return answer


def _user_turn_before(session: Session, turn: int) -> int:
    """The user's message that `turn` is or answers."""
    _turn(session, turn)
    turns = session.turns
    return next(number for number in range(turn, -1, -1) if turns[number].role == "user")


def _turn(session: Session, number: int) -> Turn:
    """A message in view; `AttendError` if there is none."""
    turns = session.turns
    if not 0 <= number < len(turns):
        raise AttendError("This message no longer exists: reload the page to see the current conversation.")
    return turns[number]
