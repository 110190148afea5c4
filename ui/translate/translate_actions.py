"""The actions of Translate: an encoder-decoder translates a text, and its attention is shown.

Texts are independent, so there is no conversation: a new translation replaces the last. Each function returns an
update of the page, or yields successive ones while the model writes. Knows nothing of gradio.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from decoding.settings import DecodingSettings
from model.errors import AttendError
from model.loaded import LoadedModel
from ui.inspector.inspector_value import inspector_value
from ui.inspector.opening import open_token as inspect_token
from ui.inspector.opening import opened_if_loaded, streamed
from ui.kit.validation import checked_start
from ui.page_update import PageUpdate
from ui.runs.answers import LiveAnswer, with_others
from ui.runs.generation import RunProgress, run_for_visitor
from ui.runs.models import Models
from ui.runs.prompts import chat_prompt, chat_settings, check_translator
from ui.runs.run import RunRecord, prompt_tokens
from ui.runs.run_values import meter_value, turn_value
from ui.runs.runs_contract import AnswerUpdate
from ui.runs.session import Session, Translation
from ui.runs.traces import new_trace
from ui.runs.versions.conversation import Turn
from ui.translate.alignment import alignment_value, no_alignment
from ui.translate.language_hint import language_hint, language_read
from ui.translate.translate_contract import AlignmentValue, TranslationValue

EXAMPLES = {
    "French": (
        "Je suis étudiant.",
        "Où est la gare ?",
        "Mon frère a une voiture rouge.",
        "Elle aime lire des livres.",
        "Nous avons acheté une petite maison.",
    ),
}  # by the language that a model of the catalogue reads


@dataclass(frozen=True, slots=True, kw_only=True)
class TranslateUpdate(PageUpdate):
    """What changes in Translate."""

    source: str | None = None  # the text in the box
    translation: TranslationValue | None = None
    answer: AnswerUpdate | None = None  # what is new of the translation, where it is the same
    alignment: AlignmentValue | None = None


def examples(address: str) -> tuple[str, ...]:
    """Short texts in the language that a model reads, which only the catalogue knows."""
    return EXAMPLES.get(language_read(address), ())


def translate(
    session: Session, models: Models, name: str, text: object, settings: DecodingSettings, *, example: bool = False
) -> Iterator[TranslateUpdate]:
    """Translate a text; replaces the last translation, whose place in the visitor's browser the same text keeps.

    Args:
        example: whether the text is an example, which also goes into the box.
    """
    source_text = checked_start(text, "The text to translate")
    session.refuse_while_busy()
    loaded = models.get(name)
    check_translator(loaded)
    settings = chat_settings(loaded, settings)
    prompt, messages = chat_prompt(loaded, [Turn("user", source_text)], settings)
    trace = new_trace(loaded, prompt.ids, settings, text=source_text, messages=messages)
    source = trace.request.source
    run = session.add_run("translate", name, prompt_tokens(trace.request), source=source)
    answer = LiveAnswer(run, trace, loaded, models.display_name(run.model))
    before = session.translation
    key = before.key if before is not None and before.text == source_text else ""
    session.translation, session.cleared_translation = Translation(source_text, answer.turn, key), None
    session.inspected_run = run.id
    session.drop_unused_runs()
    passes = models.decode(trace.call(session.visitor))
    view = _Translation(session, loaded, answer, source_text if example else None)
    yield from run_for_visitor(session, models, [answer], passes, view)


@dataclass(slots=True)
class _Translation:
    """What Translate shows of a translation while it is written."""

    session: Session
    loaded: LoadedModel
    answer: LiveAnswer
    source: str | None

    def started(self) -> TranslateUpdate:
        live = self.answer
        return TranslateUpdate(
            source=self.source,
            translation=translation_value(self.session, self.loaded),
            alignment=no_alignment(),
            inspector=inspector_value(live.run, self.loaded.tokenizer, busy=True),
            meter=meter_value(len(live.request.source), self.loaded.prompt_length),
        )

    def updated(self, progress: RunProgress) -> TranslateUpdate:
        session, run, turn = self.session, self.answer.run, self.answer.turn
        if progress.ending == "finished":
            turn.note = with_others(turn.note or language_hint(run, self.loaded), run)
        if session.translation is None or session.translation.answer is not turn:  # it was cleared
            return TranslateUpdate()
        inspector = streamed(session, run, progress.since[0], self.loaded, busy=not progress.ended)
        update = TranslateUpdate(answer=self.answer.value(busy=session.busy), inspector=inspector)
        if not progress.ended:
            return update
        alignment = None if progress.ending == "failed" else alignment_value(run, self.loaded)
        return replace(update, alignment=alignment, seed=session.seed)


def translate_box(
    session: Session, models: Models, name: str, text: str, settings: DecodingSettings
) -> Iterator[TranslateUpdate]:
    """Translate the text that is in the box; if it is refused, what is shown of another text goes."""
    try:
        yield from translate(session, models, name, text, settings)
    except AttendError:
        yield withdraw(session, models, name, text)
        raise


def withdraw(session: Session, models: Models, name: str, text: str) -> TranslateUpdate:
    """Take away a translation of another text than this one, which was refused."""
    if session.busy or session.translation is None or session.translation.text.strip() == text.strip():
        return TranslateUpdate()
    return replace(clear(session, models, name), source=None)


def clear(session: Session, models: Models, name: str) -> TranslateUpdate:
    """An empty box and nothing translated."""
    session.cancel()
    session.translation, session.cleared_translation = None, session.translation or session.cleared_translation
    session.drop_unused_runs()
    return replace(overview(session, models, name), source="")


def open_token(session: Session, models: Models, index: int) -> PageUpdate:
    """Show one token of the translation in the inspector."""
    run = session.run(session.translation and session.translation.answer.run)
    return PageUpdate(inspector=inspect_token(session, models, run, index, again="translate the text again"))


def resend(session: Session, models: Models, name: str) -> TranslateUpdate:
    """The translation, for a page that missed an update."""
    return TranslateUpdate(translation=translation_value(session, models.get(name)))


def overview(session: Session, models: Models, name: str) -> TranslateUpdate:
    """The current state of Translate; the translation may be another model's."""
    loaded = models.get(name)
    run = session.runs.get(session.translation.answer.run or "") if session.translation else None
    source = () if run is None else run.source
    # First, since it completes a run whose model has been loaded meanwhile.
    inspector = opened_if_loaded(session, models, run, "translate")
    return TranslateUpdate(
        translation=translation_value(session, loaded),
        alignment=_alignment(session, models, run),
        inspector=inspector,
        meter=meter_value(len(source), loaded.prompt_length),
    )


def _alignment(session: Session, models: Models, run: RunRecord | None) -> AlignmentValue:
    """Where the run's model looked; no maps while it is being written."""
    if run is None or run.id in session.growing:
        return no_alignment()
    if run.stored is not None or not models.is_loaded(run.model):
        model = models.display_name(run.model)
        return no_alignment(run, f"{model} wrote this but isn’t loaded: choose it as the model to see the alignment.")
    return alignment_value(run, models.get(run.model))


def awaiting_model(address: str) -> TranslationValue:
    """Before the tab's model is there: nothing can be translated yet.

    Args:
        address: of the model that the tab brings.
    """
    return {"turns": [], "examples": list(examples(address)), "busy": True}


def translation_value(session: Session, loaded: LoadedModel) -> TranslationValue:
    return {
        "turns": [] if session.translation is None else [turn_value(session.translation.answer)],
        "examples": list(examples(loaded.address)),
        "busy": session.busy,
    }
