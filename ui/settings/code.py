"""A run as code: the command for `generate.py` and the lines of Python that generate the same text.

These are pure functions that know nothing of gradio; a test executes what they return.
"""

from __future__ import annotations

import shlex
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from decoding.parameters.parameter import Parameter, Value
from decoding.settings import DecodingSettings, parameters
from model.arguments import DEFAULT
from model.command_line import run_as
from model.inspection.intervention import Intervention
from model.inspection.naming import names_of
from model.text.conversation import Message, as_dicts
from model.text.languages import Languages
from ui.runs.prompts import drawn_seed
from ui.runs.run import TokenRecord
from ui.runs.session import Session
from ui.runs.versions.conversation import Turn
from ui.settings.without import can_be_named


@dataclass(frozen=True, slots=True)
class Reproduction:
    """What is needed to repeat a run."""

    model: str  # a name or a folder
    settings: DecodingSettings
    panel: DecodingSettings  # the panel's current settings, which the link has
    prompt: str  # the text to continue, or the message to answer
    languages: Languages | None = None  # for a translator
    dtype: str = "auto"  # the requested precision
    turns: tuple[Turn, ...] = ()  # the conversation with the message; if empty, the prompt is a text to continue
    system: str = ""  # the system prompt of the conversation
    translates: bool = False  # whether the model is a translator, for which `generate.py` has another default strategy
    note: str = ""  # the part of the text on the page that the code does not repeat
    interventions: tuple[Intervention, ...] = ()  # what was changed inside the model


def with_last_seed(session: Session, settings: DecodingSettings) -> DecodingSettings:
    """These settings, with a random seed replaced by that of the last run, so that it can be repeated."""
    return settings if settings.seed >= 0 else replace(settings, seed=session.seed)


def note_of_taken(tokens: Iterable[TokenRecord]) -> str:
    """A note where the visitor chose one of the tokens; else ""."""
    taken = any(token.origin == "taken" for token in tokens)
    return "You chose a token by hand, which this doesn't repeat." if taken else ""


def dialog_value(run: Reproduction) -> dict[str, Any]:
    """The value of the dialog; `opened` makes every value new, since only a new one opens the dialog."""
    seed = drawn_seed(run.settings)
    return {"blocks": blocks(run), "prompt": run.prompt, "seed": seed, "opened": time.time()}


def blocks(run: Reproduction) -> list[dict[str, str]]:
    """The parts of the dialog, each with a title, code and a note."""
    is_chance = run.settings.seed < 0 <= drawn_seed(run.settings.seeded())
    chance = "This uses a random seed." if is_chance else ""
    note = " ".join(filter(None, (run.note, chance, _settings_note(run))))
    single = "This answers only the last message, without the earlier ones." if len(run.turns) > 1 else ""
    unnamed = "" if can_be_named(run.interventions) else "No flag repeats the changes inside the model."
    return [
        {"title": "In a terminal", "text": command(run), "note": " ".join(filter(None, (single, unnamed, note)))},
        {"title": "In Python", "text": lines(run), "note": note},
    ]


def _settings_note(run: Reproduction) -> str:
    """A note if the panel's settings, which the link has, differ from the run's. The link has the run's seed."""
    if _chosen(replace(run.panel, seed=run.settings.seed)) == _chosen(run.settings):
        return ""
    return "This uses the settings of the text on the page. The link uses the panel's current settings, which differ."


def command(run: Reproduction) -> str:
    """The shell command. It contains only the last message of a conversation, since `generate.py` answers just one."""
    flags: list[str] = ["--chat"] if run.turns and not run.translates else []
    if run.system:
        flags += _flag("system", run.system)
    if run.model != DEFAULT:
        flags += _flag("model", run.model)
    if run.dtype != "auto":
        flags += _flag("dtype", run.dtype)
    if (languages := run.languages) is not None:
        for name, code in (("from-language", languages.source), ("to-language", languages.target)):
            flags += _flag(name, code) if code else []
    if run.interventions and can_be_named(run.interventions):
        flags += _flag("without", names_of(run.interventions))
    chosen = _chosen(run.settings)
    if run.translates and not any(parameter.name == "strategy" for parameter in chosen):
        flags += _flag("strategy", run.settings.strategy)
    for parameter, value in chosen.items():
        flags += _flag(parameter.name.replace("_", "-"), str(parameter.typed(value)))
    program = run_as("generate").split()
    if run.prompt.startswith("-"):  # otherwise it would be read as a flag
        return shlex.join([*program, *flags, "--", run.prompt])
    return shlex.join([*program, run.prompt, *flags])


def lines(run: Reproduction) -> str:
    """The lines of Python, which run in the repository's folder."""
    chosen: dict[str, object] = {parameter.name: value for parameter, value in _chosen(run.settings).items()}
    if run.translates:  # `attend` has another default strategy for them
        chosen = {"strategy": run.settings.strategy, **chosen}
    if run.interventions:
        chosen["interventions"] = [intervention.plain() for intervention in run.interventions]
    settings = "".join(f", {name}={value!r}" for name, value in chosen.items())
    chats = bool(run.turns) and not run.translates
    call = f"chat(messages{settings})" if chats else f"generate({run.prompt!r}{settings})"
    return "\n".join(
        [
            "# Run this in Attend's folder.",
            "import attend",
            "",
            f"model = attend.load({run.model!r}{_precision(run.dtype)}{_languages(run.languages)})",
            *(_conversation(run.system, run.turns) if chats else []),
            f"run = model.{call}",
            "print(run.text)",
            "",
        ]
    )


def _flag(name: str, value: str) -> list[str]:
    return [f"--{name}={value}"] if value.startswith("-") else [f"--{name}", value]


def _chosen(settings: DecodingSettings) -> Mapping[Parameter, Value]:
    """The settings that the strategy uses and that differ from the defaults."""
    return {
        parameter: value
        for parameter in parameters()
        if (value := getattr(settings, parameter.name)) != parameter.default
        and settings.strategy in parameter.strategies
    }


def _conversation(system: str, turns: Sequence[Turn]) -> list[str]:
    messages = as_dicts([Message(turn.role, turn.text) for turn in turns], system)
    return ["messages = [", *(f"    {message!r}," for message in messages), "]"]


def _precision(dtype: str) -> str:
    return "" if dtype == "auto" else f", dtype={dtype!r}"


def _languages(languages: Languages | None) -> str:
    return "" if languages is None else f", from_language={languages.source!r}, to_language={languages.target!r}"
