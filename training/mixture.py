"""The training data of attend-chat: each source, what is kept of it, and how often and when it is read.

`training.data` reads the files and turns them into packed rows; nothing here touches the disk. The model card judges
the sources' style and names their licences.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

Record = dict[str, Any]  # one line of a source: {"turns": [...]} or {"text": ...}, with further fields of its makers
Turns = list[str]


def keep_turns(record: Record) -> Turns | None:
    """Keep all turns unchanged."""
    return record["turns"]


def tidy(record: Record) -> Turns | None:
    """Keep carefully written dialogues: every turn begins with a capital or digit and ends like a sentence."""
    turns = record["turns"]
    return turns if all(re.match(r"[A-Z0-9\"'“]", turn) and re.search(r"[.!?)\"'”]$", turn) for turn in turns) else None


def named(record: Record) -> Turns | None:
    """Fill in names for the placeholders that the source's makers left in a third of the dialogues.

    "[user 1's name]" becomes a first name, "[user 2's name]" (the assistant) the model's own; a dialogue with any other
    placeholder, such as "(hometown)", is left out.
    """
    name = _NAMES[zlib.crc32("\n".join(record["turns"]).encode()) % len(_NAMES)]
    turns = [_SPEAKER.sub(lambda match: name if match[1] == "1" else "Attend", turn) for turn in record["turns"]]
    return None if any(_PLACEHOLDER.search(turn) for turn in turns) else turns


_SPEAKER = re.compile(r"[\[(]user ?([12])(?:'s)?(?: name)?[\])]", flags=re.IGNORECASE)
_PLACEHOLDER = re.compile(
    r"\[|\((?:[^)]*\b)?(?:name|user|insert|hometown|location|country|city|state)\b", flags=re.IGNORECASE
)
_NAMES = (
    *("Anna", "Ben", "Carlos", "Chloe", "Daniel", "Emma", "Fatima", "Grace", "Hannah", "Ivan", "Jack", "James", "Jane"),
    *("John", "Julia", "Kate", "Laura", "Leo", "Lily", "Lucas", "Maria", "Mark", "Mary", "Mia", "Michael", "Nina"),
    *("Noah", "Olivia", "Omar", "Paul", "Peter", "Rosa", "Sam", "Sara", "Sofia", "Tom", "Victor", "Wei", "Yuki", "Zoe"),
)


def friendly(record: Record) -> Turns | None:
    """Keep Personality Chat in its friendly and caring voices, without a US crisis line and answers that deny having a
    name."""
    if record["style"] not in ("friendly", "the_friend", "caring"):
        return None
    answer = record["turns"][1]
    unfit = "1-800" in answer or "have a name" in answer or answer in _UNFIT
    return None if unfit else record["turns"]


_UNFIT = ("That's not me, but hello nonetheless!", "No way.", "Eh, I like how I look.", "Aw, I'm blushing.")


def honest(keep: Callable[[Record], Turns | None]) -> Callable[[Record], Turns | None]:
    """Keep what `keep` keeps, but only the longest stretch in which no answer claims a life that a program cannot have.

    The data is talk between people: both sides have families, pets and jobs.
    """

    def kept(record: Record) -> Turns | None:
        turns = keep(record) or []
        stretches: list[Turns] = [[]]
        for user, answer in zip(turns[::2], turns[1::2], strict=False):
            if _CLAIM.search(answer):
                stretches.append([])
            else:
                stretches[-1] += [user, answer]
        return max(stretches, key=len) or None

    return kept


_OWNED = (
    "dogs? cats? pets? wife husband kids? children son daughter mom dad mother father parents sister brother family "
    "job boss house car girlfriend boyfriend friends? hair eyes arms? legs? hands? back hometown room school work"
)
_DONE = (
    "own work live play grew studied study went going ate eat cook bake run hike swim drive drink sing dance travel "
    "visit bought met moved been watch saw read listen took teach taught graduated got"
)
_CLAIM = re.compile(
    r"\b(?:I|I've|I'd) (?:also |just |really |usually |often |always |mostly |sometimes )?"
    rf"(?:have (?:an? |one|two|three|four|some|kids)|was born|used to|go to|{'|'.join(_DONE.split())}"
    r"|(?:love|like|enjoy|want|hope|plan|try|need) (?:to\b|\w+ing\b))"
    r"|\b(?:I'm|I am) (?:an? (?!bot|language|program|model|AI)|from|married|single|in my|going|\d)"
    rf"|\b[Mm]y (?:own )?(?:{'|'.join(_OWNED.split())})\b"
)


def renamed(record: Record) -> Turns | None:
    """Put the model's own name in place of the one that the source was written for."""
    new = [_MAKER.sub("the Attend project", turn.replace("Vicuna", "Attend")) for turn in record["turns"]]
    return [turn[:1].upper() + turn[1:] for turn in new]


_MAKER = re.compile(
    r"(?:researchers from )?Large Model Systems Organization \(LMSYS\)(?: researchers)?", flags=re.IGNORECASE
)


def small_talk(record: Record) -> Turns | None:
    """Keep the canned pairs that are conversation."""
    return record["turns"] if record["topic"] in ("greetings", "conversations") else None


@dataclass(frozen=True, slots=True)
class Source:
    """One file of the data folder."""

    path: str  # below the data folder, without .jsonl.gz
    passes: float = 1.0  # how often it is read; 2.5 means twice and then half of it
    span: tuple[float, float] = (0.0, 1.0)  # the part of training in which it appears
    keep: Callable[[Record], Turns | None] = keep_turns  # the turns to learn, or None to leave the record out
    alike: int = 0  # the limit on records with the same last turn in one reading; 0: none
    together: int = 1  # the limit on short exchanges joined into one dialogue, so that a turn answers the newest one


# No source is read more than four times, and what the model should sound like comes last. Synthetic Persona Chat is
# measured with its placeholders, but learned without: a model that has read them says that its name is "[name]".
CHAT_MIXTURE = (
    Source("chat/synthetic_persona_chat", passes=2, keep=named),
    Source("chat/synthetic_persona_chat", passes=2, span=(0.2, 1.0), keep=honest(named)),
    Source("chat/ms_personality_chat", passes=4, span=(0.2, 1.0), keep=friendly, alike=6, together=6),
    Source("chat/ms_personality_chat_2", passes=2, span=(0.2, 1.0), keep=friendly, alike=6, together=6),
    Source("chat/fastchat_identity", passes=4, span=(0.2, 1.0), keep=renamed, alike=6, together=3),
    Source("chat/chatterbot_corpus", passes=4, span=(0.2, 1.0), keep=small_talk, alike=6, together=3),
    Source("chat/rasbt_instructions", passes=3, span=(0.2, 1.0), together=2),
    Source("chat/oasst_seed", passes=3),
    Source("chat/self_dialogue_corpus", passes=1, span=(0.0, 0.8), keep=tidy),
    Source("chat/self_dialogue_corpus", passes=1, span=(0.2, 1.0), keep=honest(tidy)),
    Source("chat/byu_chitchat", passes=1.5, span=(0.0, 0.9), keep=honest(tidy)),
    Source("chat/topical_chat", passes=1.5, span=(0.0, 0.7)),
    Source("chat/casino", passes=0.5, span=(0.0, 0.7)),
    Source("chat/accentor_sgd", passes=0.3, span=(0.0, 0.7)),
    Source("stories/tinystories_train", passes=4),
    Source("stories/children_books_world_pd", passes=4, span=(0.0, 0.8)),
    Source("stories/onestopenglish_elementary", passes=3, span=(0.0, 0.8)),
    Source("stories/pratham_books", passes=4, span=(0.0, 0.8)),
    Source("stories/african_storybook", passes=4, span=(0.0, 0.8)),
    Source("stories/aesop", passes=2, span=(0.0, 0.8)),
)


def scaled(mixture: Sequence[Source], factor: float) -> tuple[Source, ...]:
    """The same mixture, with each source read `factor` times as often."""
    return tuple(replace(source, passes=source.passes * factor) for source in mixture)
