"""A run's trace as plain values, from which exactly the same `Trace` can be read.

Unlike "attend.trace/1", the format for other programs, it refers to each hypothesis by its step and index.

Only the choices of the best text are kept (`ui/runs/documents/runs.py`). Those of a search's other texts come back
without candidates, which are never shown. The tokens that a step would have fed next are left out as well.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast, get_args

from decoding.request import Request
from decoding.settings import DecodingSettings
from decoding.step import Choice, Dropped, DropReason, FinishReason, Hypothesis, Step
from decoding.trace import Trace
from model.errors import AttendError
from model.loaded import LoadedModel
from ui.kit.validation import MAX_CHARACTERS
from ui.runs.documents.reader import InvalidDocument, as_count, as_mapping, as_number, as_text, list_in, wrong
from ui.runs.documents.steps import MAX_STEPS

MAX_SEARCH = 2_000_000  # tokens of all texts of all steps: one text of 2,000 tokens, four of 1,000
MAX_BEAMS = 64  # of one step: those that live on, those that ended and those that were left
MAX_SCORE = 1e9  # nats
MAX_MESSAGES = 1000

Place = tuple[int, int]  # of a hypothesis: its step and its index there


def trace_document(trace: Trace) -> dict[str, Any]:
    """A trace without its prompt's ids, the choices of its best text, and what its model knows."""
    places = {
        (hypothesis.group, hypothesis.tokens): (number, index)
        for number, step in enumerate(trace.steps)
        for index, hypothesis in enumerate(step.hypotheses)
    }

    def place(text: Hypothesis | Dropped) -> Place:
        return places[text.group, text.tokens]

    return {
        "prompt": trace.prompt,
        "messages": [dict(message) for message in trace.messages],
        "settings": trace.settings.to_dict(),
        "drawn": trace.request.draws_used,
        "given": len(trace.request.attended),
        "steps": [
            {
                "hypotheses": [
                    [
                        *(hypothesis.tokens[-1], hypothesis.score, hypothesis.step_score, hypothesis.log_probability),
                        *(hypothesis.parent, hypothesis.finish_reason, hypothesis.final_score, hypothesis.group),
                    ]
                    for hypothesis in step.hypotheses
                ],
                "best": step.best and place(step.best),
                "returned": [place(hypothesis) for hypothesis in step.returned],
                "dropped": [
                    [place(record), record.reason, record.row, record.score, record.to_beat] for record in step.dropped
                ],
            }
            for step in trace.steps
        ],
    }


def read_trace(
    value: object, loaded: LoadedModel, source: Sequence[int], ids: Sequence[int], choices: Mapping[int, Choice]
) -> Trace:
    """Read the trace of a run of this model; `InvalidDocument` if it is not valid.

    Args:
        source: the tokens that the encoder read; none without one.
        ids: all tokens of the run, those of the source included.
        choices: what its tokens were chosen from, by their number.
    """
    document = as_mapping("the run's record", value)
    given = as_count("the length of the prompt", document.get("given"), len(source) + 1, len(ids))
    drawn = as_count("the number of draws", document.get("drawn"), 0, MAX_STEPS)
    prompt, generated = tuple(ids[len(source) : given]), tuple(ids[given:])
    try:
        request = Request.of(loaded, tuple(source) or prompt, draws_used=drawn)
    except AttendError as error:
        raise InvalidDocument(f"its prompt has {len(prompt):,} tokens, too many for the model") from error
    if request.prompt != prompt:
        raise InvalidDocument("its prompt belongs to another model")
    try:
        settings = DecodingSettings.from_dict(as_mapping("the settings", document.get("settings")))
    except AttendError as error:
        raise InvalidDocument(str(error)) from error
    if settings.seeded() is not settings:
        raise wrong("the seed", settings.seed)
    steps = [
        as_mapping(f"step {number}", step)
        for number, step in enumerate(list_in("the steps", document, "steps", MAX_STEPS), start=1)
    ]
    if len(generated) > len(steps):
        raise InvalidDocument("its tokens are not those of its steps")
    if sum(number * _text_count(number, step) for number, step in enumerate(steps, start=1)) > MAX_SEARCH:
        raise InvalidDocument("its search is too large")

    def led(tokens: tuple[int, ...]) -> Choice | None:
        """The choice of the last of these tokens, if the best text begins with them."""
        return choices.get(given + len(tokens) - 1) if generated[: len(tokens)] == tokens else None

    trace = Trace(
        loaded.name,
        as_text("the prompt", document.get("prompt"), MAX_CHARACTERS),
        request,
        settings,
        loaded.tokenizer.label,
        read_messages(document),
        _read_steps(steps, led, loaded.model.vocabulary_size),
    )
    if trace.ids != generated:
        raise InvalidDocument("its tokens are not those of its steps")
    return trace


def _text_count(number: int, step: Mapping[str, Any]) -> int:
    """How many texts there are after this step."""
    return len(list_in(f"a text of step {number}", step, "hypotheses", MAX_BEAMS))


def read_messages(document: Mapping[str, Any]) -> Sequence[Mapping[str, str]]:
    listed = list_in("the messages", document, "messages", MAX_MESSAGES)
    return [
        {str(name): as_text("a message", part, MAX_CHARACTERS) for name, part in as_mapping("a message", each).items()}
        for each in listed
    ]


def _read_steps(
    steps: Sequence[Mapping[str, Any]], led: Callable[[tuple[int, ...]], Choice | None], vocabulary: int
) -> list[Step]:
    """
    Args:
        led: the choice of the last of the given tokens; None if they are not the beginning of the best text.
    """
    made: list[list[Hypothesis]] = []
    for number, step in enumerate(steps, start=1):
        living = [one.tokens for one in made[-1] if not one.finished] if made else [()]
        subject = f"a text of step {number}"
        listed = list_in(subject, step, "hypotheses", MAX_BEAMS)
        made.append([_read_hypothesis(subject, each, living, led, vocabulary) for each in listed])

    def found(subject: str, value: object, last: int) -> Hypothesis:
        """The hypothesis of a place, which is no later than step `last`."""
        if not isinstance(value, list | tuple) or len(value) != 2:
            raise wrong(subject, value)
        step = as_count(subject, value[0], 0, last)
        return made[step][as_count(subject, value[1], 0, len(made[step]) - 1)]

    def dropped(subject: str, value: object, last: int) -> Dropped:
        place, reason, row, score, to_beat = _parts(subject, value, 5)
        text = found(subject, place, last)
        if reason not in get_args(DropReason):
            raise wrong(f"the reason of {subject}", reason)
        return Dropped(
            cast(DropReason, reason),
            text.tokens,
            None if row is None else as_count(subject, row, 0, MAX_BEAMS),
            _score(subject, score),
            _score(subject, to_beat),
            text.group,
        )

    read = []
    for number, step in enumerate(steps):
        subject = f"a text of step {number + 1}"
        returned = list_in(subject, step, "returned", MAX_BEAMS)
        gone = list_in(subject, step, "dropped", MAX_BEAMS)
        best = step.get("best")
        read.append(
            Step(
                tuple(made[number]),
                best=None if best is None else found(subject, best, number),
                returned=tuple(found(subject, each, number) for each in returned),
                dropped=tuple(dropped(subject, each, number) for each in gone),
            )
        )
    return read


def _read_hypothesis(
    subject: str,
    value: object,
    living: Sequence[tuple[int, ...]],
    led: Callable[[tuple[int, ...]], Choice | None],
    vocabulary: int,
) -> Hypothesis:
    """
    Args:
        living: the unfinished texts of the step before.
    """
    token, score, step_score, log_probability, parent, reason, final, group = _parts(subject, value, 8)
    before = living[as_count(f"the parent of {subject}", parent, 0, len(living) - 1)]
    tokens = (*before, as_count(subject, token, 0, vocabulary - 1))
    if reason is not None and reason not in get_args(FinishReason):
        raise wrong(f"the end of {subject}", reason)
    return Hypothesis(
        tokens,
        as_number(subject, score, -MAX_SCORE, MAX_SCORE),
        as_number(subject, step_score, -MAX_SCORE, MAX_SCORE),
        as_number(subject, log_probability, -MAX_SCORE, MAX_SCORE),
        parent,
        led(tokens) or _unexplained(tokens[-1]),
        cast(FinishReason | None, reason),
        _score(subject, final),
        as_count(f"the group of {subject}", group, 0, MAX_BEAMS),
    )


def _parts(subject: str, value: object, count: int) -> list[Any]:
    if not isinstance(value, list) or len(value) != count:
        raise wrong(subject, value)
    return value


def _score(subject: str, value: object) -> float | None:
    return None if value is None else as_number(subject, value, -MAX_SCORE, MAX_SCORE)


def _unexplained(token: int) -> Choice:
    """A choice without candidates: only its token is known."""
    return Choice(
        token,
        rank=1,
        draw=None,
        stages=("model",),
        kept=(0,),
        candidates=(),
        rest=(0.0,),
        mass=(1.0,),
        stage_entropy=(0.0,),
    )
