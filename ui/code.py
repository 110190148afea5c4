"""A run as code: the command for `generate.py` and the lines of Python that give the same text with the same seed.

Pure functions from what was asked to text; a test executes both. Nothing of gradio.
"""

from __future__ import annotations

import itertools
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from decoding.parameter import Parameter, Value
from decoding.settings import DecodingSettings, parameters
from model import catalog
from model.languages import Languages
from model.loaded import LoadedModel
from ui.chat import chat_settings, drawn_seed
from ui.prompt_value import system_of
from ui.session import Session, Turn
from ui.translate import examples
from ui.values import EXAMPLES

_BEGINNING = "Once upon a time"  # where nothing has been written


@dataclass(frozen=True, slots=True)
class Asked:
    """What the model is asked."""

    model: str  # a name or a folder
    settings: DecodingSettings
    prompt: str  # the text to continue, or the message to answer
    languages: Languages | None = None  # that a translator is told
    turns: tuple[Turn, ...] = ()  # of a conversation, the message included; none: the prompt is continued as a text
    system: str = ""  # of a conversation
    translates: bool = False  # whether the model is a translator, for which `generate.py` has a strategy of its own


def asked_in_chat(session: Session, loaded: LoadedModel, message: str, settings: DecodingSettings) -> Asked:
    """The message in the box or, where it is blank, the last one that was sent."""
    turns = list(session.turns)
    if message.strip() or not turns:
        turns.append(Turn("user", message if message.strip() else EXAMPLES[0]))
    else:
        turns = turns[: 1 + max(place for place, turn in enumerate(turns) if turn.role == "user")]
    chosen = chat_settings(loaded, _with_seed(session, settings))
    return Asked(loaded.address, chosen, turns[-1].text, loaded.languages, tuple(turns), system_of(session, loaded))


def asked_in_write(session: Session, loaded: LoadedModel, text: str, settings: DecodingSettings) -> Asked:
    """The text in the box, or what of it was there before the model went on."""
    run = session.runs.get(session.draft.run or "")
    if run is not None and text == session.draft.text:
        given = itertools.takewhile(lambda one: one.given, run.tokens)
        text = loaded.tokenizer.decode((token.id for token in given), begins=True)
    return Asked(loaded.address, _with_seed(session, settings), text if text.strip() else _BEGINNING, loaded.languages)


def asked_in_translate(session: Session, loaded: LoadedModel, text: str, settings: DecodingSettings) -> Asked:
    """The text in the box, as the one message."""
    given = text if text.strip() else [*examples(loaded), *EXAMPLES][0]
    chosen = chat_settings(loaded, _with_seed(session, settings))
    return Asked(loaded.address, chosen, given, loaded.languages, (Turn("user", given),), translates=True)


def blocks(asked: Asked) -> list[dict[str, str]]:
    """What the dialog shows."""
    is_chance = asked.settings.seed < 0 <= drawn_seed(asked.settings.seeded())
    chance = "The seed is left to chance." if is_chance else ""
    single = "It answers the last message alone, without those before." if len(asked.turns) > 1 else ""
    return [
        {"title": "In a terminal", "text": command(asked), "note": f"{single} {chance}".strip()},
        {"title": "In Python", "text": lines(asked), "note": chance},
    ]


def command(asked: Asked) -> str:
    """The line for a shell. Of a conversation it has the last message alone: `generate.py` answers no more than one."""
    flags: list[str] = ["--chat"] if asked.turns else []
    if asked.system:
        flags += _flag("system", asked.system)
    if asked.model != catalog.DEFAULT:
        flags += _flag("model", asked.model)
    if (told := asked.languages) is not None:
        for name, code in (("from-language", told.source), ("to-language", told.target)):
            flags += _flag(name, code) if code else []
    chosen = _chosen(asked.settings)
    if asked.translates and not any(parameter.name == "strategy" for parameter in chosen):
        flags += _flag("strategy", asked.settings.strategy)
    for parameter, value in chosen.items():
        flags += _flag(parameter.name.replace("_", "-"), str(parameter.typed(value)))
    if asked.prompt.startswith("-"):  # which is no flag where it stands behind two dashes
        return shlex.join(["python", "generate.py", *flags, "--", asked.prompt])
    return shlex.join(["python", "generate.py", asked.prompt, *flags])


def lines(asked: Asked) -> str:
    """The same in Python, to be run in the repository's folder."""
    settings = ", ".join(f"{one.name}={value!r}" for one, value in _chosen(asked.settings).items())
    return "\n".join(
        [
            "# To be run in Attend's own folder.",
            "from decoding.generate import generate",
            "from decoding.settings import DecodingSettings",
            "from decoding.strategy import Request",
            "from decoding.trace import Trace",
            "from model import catalog",
            *(["from model.chat import Message"] if asked.turns else []),
            "",
            f"loaded = catalog.load({asked.model!r}){_between(asked.languages)}",
            f"settings = DecodingSettings({settings}).seeded()",
            "tokenizer = loaded.tokenizer",
            *(_conversation(asked.turns) if asked.turns else [f"prompt = {asked.prompt!r}"]),
            f"ids = {_ids(asked)}",
            "request = Request.of(",
            "    loaded.model, ids, end_tokens=loaded.end_tokens, never=loaded.never,",
            "    text_of=loaded.text_of, ids_of=tokenizer.encode,",
            ")",
            f"trace = Trace(loaded.name, {_prompt(asked)}, request, settings, tokenizer.label)",
            "print(trace.collect(generate(loaded.model, ids, settings.strategy_for(request))).text)",
            "",
        ]
    )


def _flag(name: str, value: str) -> list[str]:
    return [f"--{name}={value}"] if value.startswith("-") else [f"--{name}", value]


def _with_seed(session: Session, settings: DecodingSettings) -> DecodingSettings:
    """Where the panel leaves the seed to chance, that of the last run, so that it can be repeated."""
    return settings if settings.seed >= 0 else replace(settings, seed=session.seed)


def _chosen(settings: DecodingSettings) -> Mapping[Parameter, Value]:
    """What differs from the defaults and is used."""
    return {
        parameter: value
        for parameter in parameters()
        if (value := getattr(settings, parameter.name)) != parameter.default
        and settings.strategy in parameter.strategies
    }


def _conversation(turns: Sequence[Turn]) -> list[str]:
    return ["messages = [", *(f"    Message({turn.role!r}, {turn.text!r})," for turn in turns), "]"]


def _between(languages: Languages | None) -> str:
    return "" if languages is None else f".between({languages.source!r}, {languages.target!r})"


def _ids(asked: Asked) -> str:
    if asked.turns:
        system = f"system={asked.system!r}, " if asked.system else ""
        return f"loaded.chat_prompt(messages, {system}reserve=settings.max_new_tokens).ids"
    return "loaded.prompt(prompt)"


def _prompt(asked: Asked) -> str:
    return "messages[-1].text" if asked.turns else "prompt"
