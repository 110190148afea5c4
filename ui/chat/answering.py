"""A new answer of Chat, from its prompt to its last token. Knows nothing of gradio."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from decoding.settings import DecodingSettings
from model.errors import AttendError
from model.inspection.intervention import Intervention
from model.loaded import LoadedModel
from ui.chat.chat_update import ChatUpdate
from ui.chat.conversation_value import conversation_value
from ui.chat.prompt_value import prompt_value
from ui.inspector.inspector_value import inspector_value
from ui.inspector.opening import streamed
from ui.kit.validation import checked_system
from ui.runs.answers import LiveAnswer
from ui.runs.generation import RunProgress, run_for_visitor
from ui.runs.live_run import explained_tokens
from ui.runs.models import Models
from ui.runs.prompts import chat_prompt, chat_settings, latest, supported_system_prompt
from ui.runs.run import prompt_tokens
from ui.runs.run_values import meter_value
from ui.runs.session import Session
from ui.runs.traces import new_trace
from ui.runs.versions.conversation import Turn


def answer_last(
    session: Session,
    models: Models,
    name: str,
    turns: Sequence[Turn],
    settings: DecodingSettings,
    *,
    system: object,
    interventions: tuple[Intervention, ...] = (),
    from_box: bool = False,
) -> Iterator[ChatUpdate]:
    """Let the model answer the last of `turns`, which come into view.

    Args:
        interventions: what is changed inside the model.
        from_box: whether that message stood in the message box.
    """
    session.refuse_while_busy()
    loaded = models.get(name)
    if loaded.chat is None and (coming := session.model.coming) is not None:
        raise AttendError(f"{coming.name} is still loading: send again once it is ready.")
    instruction = session.system if system is None else checked_system(system)
    settings = chat_settings(loaded, settings)
    prompt, messages = chat_prompt(loaded, latest(turns), settings, supported_system_prompt(instruction, loaded))
    text = turns[-1].text
    trace = new_trace(loaded, prompt.ids, settings, text=text, messages=messages, interventions=interventions)
    request = trace.request
    # nothing is refused from here on
    session.system, session.cleared = instruction, None
    session.sent += from_box
    run = session.add_run("chat", name, prompt_tokens(request), source=request.source)
    run.dropped = prompt.dropped
    answer = LiveAnswer(run, trace, loaded, models.display_name(run.model))
    session.conversation.put([*turns, answer.turn])
    yield from write_answer(session, models, loaded, answer)


def write_answer(
    session: Session,
    models: Models,
    loaded: LoadedModel,
    answer: LiveAnswer,
    *,
    selected: int | None = None,
) -> Iterator[ChatUpdate]:
    """Let an answer of the conversation grow.

    Args:
        selected: number of the token that the inspector shows; None follows the newest.
    """
    session.inspected_run = answer.run.id
    session.drop_unused_runs()
    passes = models.decode(answer.trace.call(session.visitor))
    view = _AnswerView(session, loaded, answer, selected)
    yield from run_for_visitor(session, models, [answer], passes, view)


@dataclass(slots=True)
class _AnswerView:
    """What Chat shows of an answer while it is written."""

    session: Session
    loaded: LoadedModel
    answer: LiveAnswer
    selected: int | None

    def started(self) -> ChatUpdate:
        live, limit = self.answer, self.loaded.model.context_length
        return ChatUpdate(
            conversation=conversation_value(self.session),
            prompt=prompt_value(self.session, self.loaded),
            inspector=inspector_value(live.run, self.loaded.tokenizer, busy=True, selected=self.selected),
            meter=meter_value(len(live.request.prompt), limit, live.run.dropped),
            cleared=False,
            undone=False,
        )

    def updated(self, progress: RunProgress) -> ChatUpdate:
        session, run = self.session, self.answer.run
        if all(turn is not self.answer.turn for turn in session.turns):  # the conversation was cleared
            return ChatUpdate()
        answered = 0 if progress.ended else run.length - run.first
        update = ChatUpdate(
            answer=self.answer.value(busy=session.busy),
            inspector=streamed(session, run, progress.since[0], self.loaded, busy=not progress.ended),
            meter=meter_value(run.length, self.loaded.model.context_length, session.dropped, answered=answered),
        )
        if not progress.ended:
            return update
        conversation = conversation_value(session) if self._add_others() else None
        return replace(update, conversation=conversation, seed=session.seed)

    def _add_others(self) -> bool:
        """Make the other texts that the run returned versions of the answer, each with a run of its own; says whether
        there are any."""
        run, session, others = self.answer.run, self.session, []
        for trace in self.answer.trace.other_sequences():  # under the session's lock, as all of a run's last update
            tokens = [*run.tokens[: len(trace.request.attended)], *explained_tokens(trace)]
            other = session.add_run(run.mode, run.model, tokens, source=run.source)
            other.shape, other.dropped = run.shape, run.dropped
            answer = LiveAnswer(other, trace, self.loaded, self.answer.turn.model)
            answer.add((), "finished")
            others.append(answer.turn)
        session.conversation.add_versions(self.answer.turn, others)
        return bool(others)
