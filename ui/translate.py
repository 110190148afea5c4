"""What happens in Translate: a text goes in, an encoder with a decoder answers it, and where it looked is shown.

Every text stands for itself, so there is no conversation: what was translated stands in the box, and the next
translation takes the place of the last. Each function returns the new screen, or yields one after another while the
model writes. Knows nothing of gradio.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from decoding.settings import DecodingSettings
from model import catalog
from model.errors import AttendError
from model.loaded import LoadedModel
from ui.alignment import alignment_value
from ui.chat import bring_up_to_date, chat_prompt, chat_settings, drawn_seed, followed, opened, opened_if_there
from ui.checks import checked_start
from ui.contract import TranslationValue
from ui.follow import Progress, follow
from ui.models import Models
from ui.screen import Screen
from ui.session import Run, Seen, Session, Turn
from ui.spoken import Spoken
from ui.values import inspector_value, meter_value, turn_value

EXAMPLES = {
    "French": (
        "Je suis étudiant.",
        "Où est la gare ?",
        "Mon frère habite à Paris.",
        "Elle aime lire des livres.",
        "Nous avons acheté une petite maison.",
    ),
}  # by the language that a model of the catalogue reads


def is_translator(loaded: LoadedModel) -> bool:
    """Whether the model answers each text with another: an encoder with a decoder."""
    return bool(loaded.model.decoder_start)


def check_translator(loaded: LoadedModel) -> None:
    """`AttendError` for a model that goes on with texts instead."""
    if not is_translator(loaded):
        raise AttendError(f"{loaded.name} goes on with a text and translates none: choose an encoder with a decoder.")


def examples(loaded: LoadedModel) -> tuple[str, ...]:
    """Short texts in the language that the model reads, which only the catalogue knows."""
    reads = next((entry.languages.partition(",")[0] for entry in catalog.ENTRIES if entry.name == loaded.address), "")
    return EXAMPLES.get(reads, ())


def translate(
    session: Session, models: Models, name: str, text: object, settings: DecodingSettings, *, example: bool = False
) -> Iterator[Screen]:
    """The translation of a text, in the place of the one before.

    Args:
        example: whether the text is yet to be put into the box.
    """
    given = checked_start(text, "The text to translate")
    session.refuse_while_busy()
    loaded = models.get(name)
    check_translator(loaded)
    settings = chat_settings(loaded, settings)
    prompt, messages = chat_prompt(loaded, [Turn("user", given)], settings)
    request = models.request(loaded, prompt.ids)
    settings.strategy_for(request)  # refuses what cannot be done with this model
    trace = models.trace(loaded, given, request, settings, messages)
    spoken = Spoken(loaded.tokenizer, settings.stop_texts, begins=True)
    stop = session.begin()
    run = session.add_run("translate", name, [Seen(token, "given") for token in request.read])
    answer = session.translation = Turn("assistant", "", tokens=[], run=run.id, state="streaming")
    session.shown, session.growing = run.id, (run.id,)
    session.drop_unused_runs()
    try:
        yield Screen(
            given=given if example else None,
            translation=translation_value(session, loaded),
            alignment=False,
            inspector=inspector_value(run, loaded.tokenizer, busy=True),
            meter=meter_value(len(request.source), loaded.model.context_length),
            running=True,
        )
        steps = models.decode(name, request.source, settings, 0)
        for progress in follow(run, trace, steps, lock=loaded.lock, stop=stop, time_limit=models.time_limit):
            bring_up_to_date(answer, run, spoken, progress)
            if progress.ending is not None:
                session.end(stop)
                session.seed = drawn_seed(settings)
            yield _update(session, run, answer, progress, loaded)
        session.limit_attention(keep=run)
        session.limit_traces(keep=run)
    except Exception:
        answer.state = "stopped"
        session.end(stop)
        yield Screen(translation=translation_value(session, loaded), running=False)
        raise
    finally:
        session.end(stop)
        if answer.state == "streaming":
            answer.state = "stopped"  # the visitor has left


def clear(session: Session, models: Models, name: str) -> Screen:
    """An empty box and nothing translated."""
    session.cancel()
    session.translation = None
    session.drop_unused_runs()
    return replace(overview(session, models, name), given="", running=False)


def open_token(session: Session, models: Models, index: int) -> Screen:
    """What lies behind one token of the translation."""
    run = session.run(session.translation and session.translation.run)
    place = run.first + index
    if not run.first <= place < len(run.tokens):
        raise AttendError("This token is no longer here: translate the text again to see its numbers.")
    return Screen(inspector=opened(session, models, run, place))


def overview(session: Session, models: Models, name: str) -> Screen:
    """Translate as it stands; another model's translation is not shown, but one between other languages is."""
    loaded = models.get(name)
    run = session.runs.get(session.translation.run or "") if session.translation else None
    if run is not None and not (models.is_there(run.model) and models.get(run.model).address == loaded.address):
        run = session.translation = None
    finished = run if run is not None and run.id not in session.growing else None
    read = run.trace.request.source if run is not None and run.trace is not None else ()
    return Screen(
        translation=translation_value(session, loaded),
        alignment=finished is not None and (alignment_value(finished, loaded) or False),
        inspector=opened_if_there(session, models, run),
        meter=meter_value(len(read), loaded.model.context_length),
    )


def translation_value(session: Session, loaded: LoadedModel) -> TranslationValue:
    answer = session.translation
    return {
        "answer": None if answer is None else turn_value(answer),
        "examples": list(examples(loaded)),
        "busy": session.busy,
    }


def _update(session: Session, run: Run, answer: Turn, progress: Progress, loaded: LoadedModel) -> Screen:
    """What an update of the run changes on the page; nothing of a translation that was cleared meanwhile."""
    ended = progress.ending is not None
    if session.translation is not answer:
        return Screen(running=False if ended and not session.busy else None)
    return Screen(
        translation=translation_value(session, loaded),
        alignment=alignment_value(run, loaded) if ended else None,
        inspector=followed(session, run, progress, loaded),
        running=False if ended else None,
        seed=session.seed if ended else None,
    )
