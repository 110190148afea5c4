"""What happens in Chat: send, retry, edit, undo, clear, and opening a token of an answer.

Each is a function of the session and what was asked for that returns the new screen, or yields one after another while
the model writes. Nothing is changed before everything has been checked, so an error leaves the conversation as it was.
The file knows nothing of gradio.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from decoding.settings import DecodingSettings
from model.chat import ChatPrompt, Message, as_dicts
from model.errors import AttendError
from model.loaded import LoadedModel
from ui.checks import checked_message, checked_system
from ui.contract import InspectorValue, MeterValue
from ui.follow import Progress, follow
from ui.lookback import restore_attention
from ui.models import Models
from ui.prompt_value import prompt_value, system_of
from ui.screen import Screen
from ui.session import MOST_TURNS, Run, Seen, Session, Turn
from ui.spoken import Spoken
from ui.values import OVERLAP, answer_tokens, conversation_value, empty_inspector, inspector_value, meter_value

_MOST_SAID = 24  # characters of a stop text, in a note


def instruct(session: Session, system: object) -> None:
    """This system prompt stands before every conversation from here on; what has been answered stays as it is."""
    session.system = checked_system(system)


def send(session: Session, models: Models, name: str, text: object, settings: DecodingSettings) -> Iterator[Screen]:
    """A new message and its answer."""
    message = Turn("user", checked_message(text))
    yield from _answer(session, models, name, [*session.turns, message], settings, message="")


def retry(session: Session, models: Models, name: str, turn: int, settings: DecodingSettings) -> Iterator[Screen]:
    """The answer at `turn` once more; what came after it goes, unless it is taken back."""
    place = _user_turn_before(session, turn)
    yield from _answer(session, models, name, session.turns[: place + 1], settings, replacing="Retried")


def edit(
    session: Session, models: Models, name: str, turn: int, text: object, settings: DecodingSettings
) -> Iterator[Screen]:
    """The user's message at `turn` in new words, and its answer; what came after it goes, unless it is taken back."""
    place = _user_turn_before(session, turn)
    message = Turn("user", checked_message(text))
    yield from _answer(session, models, name, [*session.turns[:place], message], settings, replacing="Edited")


def undo(session: Session, models: Models, name: str, turn: int) -> Screen:
    """Take back the exchange of `turn`; its words return to the message box."""
    session.refuse_while_busy()
    place = _user_turn_before(session, turn)
    words = session.turns[place].text
    session.turns = session.turns[:place]
    return replace(overview(session, models, name), message=words)


def clear(session: Session, models: Models, name: str) -> Screen:
    """Start anew; the conversation can be brought back until the next message."""
    session.cancel()
    session.former = session.turns or session.former
    session.turns = []
    return replace(overview(session, models, name), replaced="" if session.former is None else "Cleared")


def restore(session: Session, models: Models, name: str) -> Screen:
    """Bring back the conversation that was cleared, edited or answered anew, with its runs."""
    session.refuse_while_busy()
    if session.former is not None:
        session.turns, session.former = session.former, None
        session.drop_unused_runs()
    return replace(overview(session, models, name), replaced="")


def open_token(session: Session, models: Models, turn: int, index: int) -> Screen:
    """What lies behind one token of any answer."""
    if not 0 <= turn < len(session.turns):
        raise AttendError("This message is no longer here: reload the page to see the conversation as it is.")
    run = session.run(session.turns[turn].run)
    place = run.first + index
    if not run.first <= place < len(run.tokens):
        raise AttendError("This token is no longer here: retry the answer to see its numbers.")
    return Screen(inspector=opened(session, models, run, place))


def open_run(session: Session, models: Models, identifier: object) -> Screen:
    """The whole of a run, for a page that missed an update."""
    run = session.run(identifier if isinstance(identifier, str) else None)
    return Screen(inspector=opened(session, models, run))


def overview(session: Session, models: Models, name: str) -> Screen:
    """Chat as it stands: the conversation, the newest answer's numbers, and how full the context is."""
    loaded = models.get(name)
    session.shown = None
    run = session.newest_answer
    return Screen(
        conversation=conversation_value(session),
        prompt=prompt_value(session, loaded),
        inspector=opened_if_there(session, models, run),
        meter=_fullness(session, loaded, run),
    )


def _fullness(session: Session, loaded: LoadedModel, run: Run | None) -> MeterValue:
    """How full the context is; of a model that has not answered yet, by its own tokens of what has been said."""
    limit = loaded.model.context_length
    if run is None or run.model == loaded.name:
        return meter_value(run.length if run else 0, limit, session.dropped)
    *turns, answer = session.turns
    messages = [Message(turn.role, turn.text) for turn in turns]
    try:
        prompt = loaded.chat_prompt(messages, system=system_of(session, loaded), reserve=1)
        used = len(prompt.ids) + len(loaded.tokenizer.encode(answer.text))
    except AttendError:  # what cannot be said to this model
        return meter_value(0, limit)
    return meter_value(min(used, limit), limit, prompt.dropped)


def latest(turns: Sequence[Turn]) -> Sequence[Turn]:
    """Those that are kept of a conversation whose answer is still to come."""
    return turns[-(MOST_TURNS - 1) :]


def chat_prompt(
    loaded: LoadedModel, turns: Sequence[Turn], settings: DecodingSettings, system: str = ""
) -> tuple[ChatPrompt, list[dict[str, str]]]:
    """The prompt that asks for the next answer, with room for as long a one as the settings allow, and the conversation
    as the document of the run has it."""
    if loaded.chat is None:
        raise AttendError(f"{loaded.name} was not made for conversations: switch to Write.")
    messages = [Message(turn.role, turn.text) for turn in turns]
    prompt = loaded.chat_prompt(messages, system=system, reserve=settings.max_new_tokens)
    return prompt, as_dicts(messages, system)


def chat_settings(loaded: LoadedModel, settings: DecodingSettings) -> DecodingSettings:
    """The settings of an answer, which also ends where this model's conversations have the next turn."""
    return settings if loaded.chat is None else settings.ending_at(loaded.chat.stop_texts)


def ending_note(progress: Progress, run: Run) -> str | None:
    """Why a text ends where it ends, where that is not plain to see."""
    if progress.ending == "time":
        return "stopped at the time limit"
    if progress.ending != "finished" or run.trace is None:
        return None
    if progress.reason == "stop_text" and (stop := run.trace.stop_text) is not None:
        said = stop.replace("\n", "↵")  # the text itself ends before it, so nobody sees it there
        return f"ended at “{said[:_MOST_SAID]}{'…' if len(said) > _MOST_SAID else ''}”"
    if progress.reason == "length":
        full = run.length >= run.trace.request.context_length
        return "reached the end of the context" if full else "reached the length limit"
    return None


def _answer(
    session: Session,
    models: Models,
    name: str,
    turns: Sequence[Turn],
    settings: DecodingSettings,
    *,
    message: str | None = None,
    replacing: str = "",
) -> Iterator[Screen]:
    """Let the model answer the last of `turns`, which becomes the conversation.

    Args:
        message: what then stands in the message box.
        replacing: what was done to the conversation before, which is kept for Undo; nothing where it only goes on.
    """
    session.refuse_while_busy()
    loaded = models.get(name)
    if loaded.chat is None and (coming := session.choosing) is not None:
        raise AttendError(f"{coming.name} is not there yet: send again once it has loaded.")
    settings = chat_settings(loaded, settings)
    turns = latest(turns)
    prompt, messages = chat_prompt(loaded, turns, settings, system_of(session, loaded))
    request = models.request(loaded, prompt.ids)
    settings.strategy_for(request)  # refuses what cannot be done with this model
    trace = models.trace(loaded, turns[-1].text, request, settings, messages)
    spoken = Spoken(loaded.tokenizer, settings.stop_texts, begins=loaded.begins_anew)
    stop = session.begin()
    run = session.add_run("chat", name, [Seen(token, "given") for token in request.read])
    answer = Turn("assistant", "", tokens=[], run=run.id, state="streaming")
    run.dropped = prompt.dropped
    session.former = session.turns if replacing else None
    session.turns, session.shown = [*turns, answer], run.id
    session.growing = (run.id,)
    session.drop_unused_runs()
    try:
        yield Screen(
            conversation=conversation_value(session),
            prompt=prompt_value(session, loaded),
            inspector=inspector_value(run, loaded.tokenizer, busy=True),
            meter=meter_value(len(request.prompt), loaded.model.context_length, prompt.dropped),
            running=True,
            message=message,
            replaced="",
        )
        steps = models.decode(name, prompt.ids, settings, 0)
        for progress in follow(run, trace, steps, lock=loaded.lock, stop=stop, time_limit=models.time_limit):
            bring_up_to_date(answer, run, spoken, progress)
            if progress.ending is not None:
                session.end(stop)
                session.seed = drawn_seed(settings)
            screen = _update(session, run, answer, progress, loaded)
            yield replace(screen, replaced=replacing) if progress.ending is not None and screen.conversation else screen
        session.limit_attention(keep=run)
        session.limit_traces(keep=run)
    except Exception:
        answer.state = "stopped"
        session.end(stop)
        yield Screen(conversation=conversation_value(session), running=False, replaced=replacing)
        raise
    finally:
        session.end(stop)
        if answer.state == "streaming":
            answer.state = "stopped"  # the visitor has left


def bring_up_to_date(answer: Turn, run: Run, spoken: Spoken, progress: Progress) -> None:
    """Let an answer say what its run says."""
    ended = progress.ending is not None
    answer.tokens = answer_tokens(run.tokens[run.first :], spoken, finished=ended)
    answer.text = "".join(text for text, _ in answer.tokens)
    if ended:
        answer.state = "done" if progress.ending == "finished" else "stopped"
        answer.note = ending_note(progress, run)


def _update(session: Session, run: Run, answer: Turn, progress: Progress, loaded: LoadedModel) -> Screen:
    """What an update of the run changes on the page; nothing of a conversation that was cleared meanwhile."""
    ended = progress.ending is not None
    if not any(turn is answer for turn in session.turns):
        return Screen(running=False if ended and not session.busy else None)
    return Screen(
        conversation=conversation_value(session),
        inspector=followed(session, run, progress, loaded),
        meter=meter_value(run.length, loaded.model.context_length, session.dropped),
        running=False if ended else None,
        seed=session.seed if ended else None,
    )


def followed(session: Session, run: Run, progress: Progress, loaded: LoadedModel) -> InspectorValue | None:
    """What is new of a run, unless somebody is looking at another."""
    if session.shown != run.id:
        return None
    since = max(0, progress.since - OVERLAP)
    return inspector_value(run, loaded.tokenizer, busy=progress.ending is None, since=since)


def opened(session: Session, models: Models, run: Run, selected: int | None = None) -> InspectorValue:
    """All of a run, with its attention computed again if it was let go."""
    loaded = models.present(run.model)
    session.shown = run.id
    running = run.id in session.growing
    if not running:
        restore_attention(run, loaded.model, loaded.lock)
        session.limit_attention(keep=run)
    return inspector_value(run, loaded.tokenizer, busy=running, selected=selected)


def opened_if_there(session: Session, models: Models, run: Run | None) -> InspectorValue:
    """All of a run, or nothing where there is none, or nobody uses its model any more."""
    if run is not None and models.is_there(run.model):
        return opened(session, models, run)
    session.shown = None
    return empty_inspector("chat", gone="" if run is None else models.called(run.model))


def drawn_seed(settings: DecodingSettings) -> int:
    """The seed that decided; -1 where nothing was left to chance."""
    return settings.seed if settings.drawn else -1


def _user_turn_before(session: Session, turn: int) -> int:
    """The user's message that `turn` is or answers."""
    if not 0 <= turn < len(session.turns):
        raise AttendError("This message is no longer here: reload the page to see the conversation as it is.")
    return next(place for place in range(turn, -1, -1) if session.turns[place].role == "user")
