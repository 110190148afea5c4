"""The actions of Chat: send, retry, edit, go on, take another token, undo, clear, restore, and opening a token.

Each function takes the session and the request, and returns the new screen, or yields successive screens while the
model writes. Everything is checked before anything changes, so an error leaves the conversation as it was. Knows
nothing of gradio.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from decoding.settings import DecodingSettings
from model.errors import AttendError
from model.limits import check_room
from model.loaded import LoadedModel
from model.text.conversation import Message
from ui.chat.contract import ConversationValue, PromptValue
from ui.chat.prompt_value import prompt_value
from ui.chat.values import conversation_value
from ui.inspector.opening import open_token as inspect_token
from ui.inspector.opening import opened_if_loaded, streamed
from ui.inspector.values import inspector_value
from ui.kit.validation import checked_message, checked_system
from ui.runs.answers import GrowingAnswer
from ui.runs.contract import AnswerUpdate, MeterValue
from ui.runs.generation import RunProgress, answer_for_visitor
from ui.runs.models import Models
from ui.runs.prompts import chat_prompt, chat_settings, latest, supported_system_prompt
from ui.runs.run import RunRecord, prompt_tokens
from ui.runs.session import Session
from ui.runs.values import meter_value
from ui.runs.versions.conversation import Conversation, Turn
from ui.runs.versions.resume import exchanged, resumed_trace, trace_from_here
from ui.screen import Screen


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatScreen(Screen):
    """What changes in Chat."""

    conversation: ConversationValue | None = None
    answer: AnswerUpdate | None = None  # what is new of the newest answer, where the conversation is the same
    message: str | None = None  # the text in the message box
    prompt: PromptValue | None = None
    cleared: bool | None = None  # whether Clear can be undone


def set_system(session: Session, models: Models, name: str, system: object) -> ChatScreen:
    """Use this system prompt for all answers from now on."""
    session.system = checked_system(system)
    return ChatScreen(prompt=prompt_value(session, models.get(name)))


def send(
    session: Session, models: Models, name: str, text: object, settings: DecodingSettings, *, system: object = None
) -> Iterator[ChatScreen]:
    """A new message and its answer.

    Args:
        system: here and below, the system prompt in its box, which becomes the session's; None keeps the session's.
    """
    message = Turn("user", checked_message(text))
    yield from _answer(session, models, name, [*session.turns, message], settings, system=system, message="")


def retry(
    session: Session, models: Models, name: str, turn: int, settings: DecodingSettings, *, system: object = None
) -> Iterator[ChatScreen]:
    """The answer at `turn` once more; the one before stays a version, with what came after it."""
    number = _user_turn_before(session, turn)
    yield from _answer(session, models, name, session.turns[: number + 1], settings, system=system)


def edit(
    session: Session,
    models: Models,
    name: str,
    turn: int,
    text: object,
    settings: DecodingSettings,
    *,
    system: object = None,
) -> Iterator[ChatScreen]:
    """The user's message at `turn` in new words, and its answer; the one before stays a version, with what came after
    it."""
    number = _user_turn_before(session, turn)
    turns = [*session.turns[:number], Turn("user", checked_message(text))]
    yield from _answer(session, models, name, turns, settings, system=system)


def proceed(session: Session, models: Models, turn: int, settings: DecodingSettings) -> Iterator[ChatScreen]:
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
    trace = resumed_trace(run, chosen) or trace_from_here(run.tokens, loaded, chosen, text=text, messages=messages)
    # nothing is refused from here on
    growing = GrowingAnswer.of(run, trace, loaded, models.display_name(run.model), answer)
    yield from _write(session, models, loaded, growing)


def branch(
    session: Session, models: Models, identifier: str, index: int, token: int, settings: DecodingSettings
) -> Iterator[ChatScreen]:
    """Take another token in the place of token `index` of an answer's run, and let the model go on behind it with the
    settings and the random numbers of that answer, which stays a version."""
    session.refuse_while_busy()
    number = next((number for number, turn in enumerate(session.turns) if turn.run == identifier), None)
    if number is None:
        raise AttendError("This answer is no longer in view: click one of its tokens first.")
    before = session.run(identifier)
    loaded = models.require_loaded(before.model)
    taken = exchanged(before, index, token, loaded)
    tokens = [*before.tokens[:index], taken]
    check_room(len(tokens), loaded.model.context_length)
    chosen, text, messages = _same_settings(before, loaded, settings)
    trace = trace_from_here(tokens, loaded, chosen, text=text, messages=messages)
    # nothing is refused from here on
    run = session.add_run("chat", before.model, tokens)
    run.shape, run.dropped = before.shape, before.dropped
    answer = GrowingAnswer.of(run, trace, loaded, models.display_name(run.model))
    session.conversation.put([*session.turns[:number], answer.turn])
    yield from _write(session, models, loaded, answer)


def show_version(session: Session, models: Models, name: str, turn: int, version: int) -> ChatScreen:
    """Show another version of a message, with what followed it, and its answer in the inspector."""
    session.refuse_while_busy()
    session.conversation.show(turn, version)
    shown = next((each.run for each in session.turns[turn:] if each.run is not None), None)
    return overview(session, models, name, session.runs.get(shown or ""))


def undo(session: Session, models: Models, name: str, turn: int) -> ChatScreen:
    """Take the exchange of `turn` out of view; its words return to the message box."""
    session.refuse_while_busy()
    number = _user_turn_before(session, turn)
    words = session.turns[number].text
    session.conversation.end_before(number)
    return replace(overview(session, models, name), message=words)


def clear(session: Session, models: Models, name: str) -> ChatScreen:
    """Clear the conversation; it can be restored until the next message."""
    session.cancel()
    if session.turns:
        session.cleared = session.conversation
    session.conversation = Conversation()
    session.drop_unused_runs()
    return replace(overview(session, models, name), cleared=session.cleared is not None)


def restore(session: Session, models: Models, name: str) -> ChatScreen:
    """Restore the conversation as it was before Clear, with its runs."""
    session.refuse_while_busy()
    if session.cleared is not None:
        session.conversation, session.cleared = session.cleared, None
        session.drop_unused_runs()
    return replace(overview(session, models, name), cleared=False)


def open_token(session: Session, models: Models, turn: int, index: int) -> Screen:
    """Show one token of an answer in the inspector."""
    run = session.run(_turn(session, turn).run)
    return Screen(inspector=inspect_token(session, models, run, index, again="retry the answer"))


def resend(session: Session) -> ChatScreen:
    """The conversation, for a page that missed an update."""
    return ChatScreen(conversation=conversation_value(session))


def overview(session: Session, models: Models, name: str, shown: RunRecord | None = None) -> ChatScreen:
    """The current state of Chat: the conversation, an answer in the inspector, and the context usage.

    Args:
        shown: the answer's run; None for the newest.
    """
    loaded = models.get(name)
    session.shown = None
    run = session.newest_answer
    return ChatScreen(
        conversation=conversation_value(session),
        prompt=prompt_value(session, loaded),
        inspector=opened_if_loaded(session, models, shown or run, "chat"),
        meter=_context_usage(session, loaded, run),
    )


def _context_usage(session: Session, loaded: LoadedModel, run: RunRecord | None) -> MeterValue:
    """Context usage; for a model that wrote none of the conversation, counted in its own tokens."""
    limit = loaded.model.context_length
    if run is None or run.model == loaded.name:
        return meter_value(run.length if run else 0, limit, session.dropped)
    *turns, answer = session.turns
    messages = [Message(turn.role, turn.text) for turn in turns]
    try:
        prompt = loaded.chat_prompt(messages, system=supported_system_prompt(session.system, loaded), reserve=1)
        used = len(prompt.ids) + len(loaded.tokenizer.encode(answer.text))
    except AttendError:  # this model cannot take the conversation
        return meter_value(0, limit)
    return meter_value(min(used, limit), limit, prompt.dropped)


def _answer(
    session: Session,
    models: Models,
    name: str,
    turns: Sequence[Turn],
    settings: DecodingSettings,
    *,
    system: object,
    message: str | None = None,
) -> Iterator[ChatScreen]:
    """Let the model answer the last of `turns`, which come into view.

    Args:
        message: the new text of the message box.
    """
    session.refuse_while_busy()
    loaded = models.get(name)
    if loaded.chat is None and (coming := session.choosing) is not None:
        raise AttendError(f"{coming.name} is still loading: send again once it is ready.")
    instruction = session.system if system is None else checked_system(system)
    settings = chat_settings(loaded, settings)
    prompt, messages = chat_prompt(loaded, latest(turns), settings, supported_system_prompt(instruction, loaded))
    trace = models.prepare(loaded, prompt.ids, settings, text=turns[-1].text, messages=messages)
    request = trace.request
    # nothing is refused from here on
    session.system, session.cleared = instruction, None
    run = session.add_run("chat", name, prompt_tokens(request), source=request.source)
    run.dropped = prompt.dropped
    answer = GrowingAnswer.of(run, trace, loaded, models.display_name(run.model))
    session.conversation.put([*turns, answer.turn])
    yield from _write(session, models, loaded, answer, message)


def _write(
    session: Session, models: Models, loaded: LoadedModel, answer: GrowingAnswer, message: str | None = None
) -> Iterator[ChatScreen]:
    """Let an answer of the conversation grow.

    Args:
        message: the new text of the message box.
    """
    run, request, settings = answer.builder.run, answer.builder.request, answer.builder.settings
    session.shown = run.id
    session.drop_unused_runs()
    ids, resumed = request.input_ids, answer.builder.trace.best
    passes = models.decode(run.model, ids, settings, request.draws_used, resumed, session.visitor)
    yield from answer_for_visitor(session, models, answer, passes, _Answer(session, loaded, answer, message))


def _same_settings(
    run: RunRecord, loaded: LoadedModel, settings: DecodingSettings
) -> tuple[DecodingSettings, str, Sequence[Mapping[str, str]]]:
    """The settings that wrote a run, but for the length, its message and its conversation; the given settings where the
    run's are no longer stored."""
    if run.trace is None:
        return chat_settings(loaded, settings), "", ()
    before = run.trace.settings
    same = replace(before, max_new_tokens=max(settings.max_new_tokens, before.min_new_tokens))
    return same, run.trace.prompt, run.trace.messages


@dataclass(slots=True)
class _Answer:
    """What Chat shows of an answer while it is written."""

    session: Session
    loaded: LoadedModel
    answer: GrowingAnswer
    message: str | None

    def started(self) -> ChatScreen:
        builder, limit = self.answer.builder, self.loaded.model.context_length
        return ChatScreen(
            conversation=conversation_value(self.session),
            prompt=prompt_value(self.session, self.loaded),
            inspector=inspector_value(builder.run, self.loaded.tokenizer, busy=True),
            meter=meter_value(len(builder.request.prompt), limit, builder.run.dropped),
            message=self.message,
            cleared=False,
        )

    def updated(self, progress: RunProgress) -> ChatScreen:
        session, run = self.session, self.answer.builder.run
        self.answer.update(progress.ending)
        if not self._shown:
            return ChatScreen()
        answered = 0 if progress.ended else run.length - run.first
        return ChatScreen(
            answer=self.answer.value(busy=session.busy),
            inspector=streamed(session, run, progress.since[0], self.loaded, busy=not progress.ended),
            meter=meter_value(run.length, self.loaded.model.context_length, session.dropped, answered=answered),
            seed=session.seed if progress.ended else None,
        )

    def failed(self) -> ChatScreen:
        self.answer.stop()
        answer = self.answer.value(busy=self.session.busy) if self._shown else None
        return ChatScreen(answer=answer)

    @property
    def _shown(self) -> bool:
        """Whether the answer is still in the conversation, which may have been cleared."""
        return any(turn is self.answer.turn for turn in self.session.turns)


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
