"""The languages of a translator: which ones it knows, and which one a user means.

Checkpoints spell them differently (fra_Latn, fr_XX, >>fra<<); users write `fr`, `fra` or the beginning of a code. Knows
tokens by their names only, and nothing of how a model is built.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from typing import Self

from model.errors import AttendError
from model.text.tokenizer import TextTokenizer

_CODE = re.compile(r"[a-z]{2,3}_[A-Z][A-Za-z]{1,3}")  # the special tokens of mBART and NLLB
_BEFORE_SOURCE = re.compile(r">>([\w-]{2,20})<<")  # those of Marian (OPUS-MT)
_MARKED = re.compile(r"(?s)(.+) \[([\w-]*)(?:→|->)([\w-]*)\]")


@dataclass(frozen=True, slots=True)
class Languages:
    """The languages of a model's source and answer: the choices, and the current ones."""

    sources: Mapping[str, int] = field(repr=False)  # code → its special token; empty if a source needs no language
    targets: Mapping[str, int] = field(repr=False)
    source: str = ""  # one of `sources`, unless there are none
    target: str = ""  # one of `targets`; empty leaves it to the model
    # Whether the target language's token comes before the source; otherwise it begins the answer.
    language_before_source: bool = False

    def __str__(self) -> str:
        """The languages in words; "" if neither is set."""
        if self.source and self.target:
            return f"{self.source}→{self.target}"
        return f"from {self.source}" if self.source else f"into {self.target}" if self.target else ""

    @classmethod
    def of(cls, tokenizer: TextTokenizer, frame: Sequence[int], begun_by: Sequence[int]) -> Self | None:
        """The languages of a tokenizer; None if there is nothing to choose.

        Args:
            frame: the special tokens around a source.
            begun_by: the special tokens that begin an answer.
        """
        codes = {name: piece for name, piece in tokenizer.special_tokens.items() if _CODE.fullmatch(name)}
        framed = [tokenizer.label(piece) for piece in frame if piece in codes.values()]
        if framed:
            target = tokenizer.label(begun_by[-1]) if begun_by[-1] in codes.values() else ""
            return cls(codes, codes, framed[0], target)
        named = ((_BEFORE_SOURCE.fullmatch(name), piece) for name, piece in tokenizer.special_tokens.items())
        targets = {match[1]: piece for match, piece in named if match}
        return cls({}, targets, language_before_source=True) if targets else None

    def with_languages(self, source: str = "", target: str = "") -> Self:
        """The same languages with others, as a user writes them, in their place; an empty one changes nothing.

        Raises `AttendError` for a language that is unknown or ambiguous.
        """
        if source and not self.sources:
            raise AttendError(f"This model takes no source language, so it can't be {source[:40]!r}: leave it out.")
        return replace(
            self,
            source=matching_code(source, self.sources) if source else self.source,
            target=matching_code(target, self.targets) if target else self.target,
        )


def matching_code(text: str, codes: Iterable[str]) -> str:
    """The code that a user means by the code itself, by its language in two or three letters, or by its beginning.

    Raises `AttendError` if none fits, or more than one.
    """
    codes, typed = sorted(codes), text.strip().replace("-", "_").casefold()
    languages = {typed, _OTHER_LENGTH.get(typed, typed)}
    exact = [code for code in codes if code.casefold() == typed]
    fits = exact or [code for code in codes if code.partition("_")[0].casefold() in languages]
    # Known codes are no beginnings: "es" would mean Estonian in a model without Spanish.
    if not fits and typed and typed not in _OTHER_LENGTH:
        fits = [code for code in codes if code.casefold().startswith(typed)]
    if len(fits) == 1:
        return fits[0]
    if fits:
        raise AttendError(f"The language {text[:40]!r} could be {_listed(fits)}: choose one of them.")
    near = _listed(get_close_matches(typed, codes, n=3, cutoff=0.5) or codes)
    raise AttendError(
        f"This model doesn't know the language {text[:40]!r}: choose one of its {len(codes):,}, such as {near}."
    )


def marked(name: str, languages: Languages) -> str:
    """A model's name with the languages between which it translates."""
    return f"{name} [{languages.source}→{languages.target}]"


def unmarked(name: str) -> tuple[str, tuple[str, str] | None]:
    """The name alone and, if it is marked, the languages of the source and the answer."""
    match = _MARKED.fullmatch(name)
    return (match[1], (match[2], match[3])) if match else (name, None)


def _listed(codes: Sequence[str], most: int = 5) -> str:
    return ", ".join(codes[:most])


# ISO 639-1 → ISO 639-3; for a group of languages, the one that NLLB translates (NLLB Team, 2022, table 1).
_THREE_LETTERS: dict[str, str] = dict(
    re.findall(
        r"(\w+):(\w+)",
        """
        af:afr ak:aka am:amh ar:arb as:asm ay:ayr az:azj ba:bak be:bel bg:bul bm:bam bn:ben bo:bod bs:bos ca:cat cs:ces
        cy:cym da:dan de:deu dz:dzo ee:ewe el:ell en:eng eo:epo es:spa et:est eu:eus fa:pes ff:fuv fi:fin fj:fij fo:fao
        fr:fra ga:gle gd:gla gl:glg gn:grn gu:guj ha:hau he:heb hi:hin hr:hrv ht:hat hu:hun hy:hye id:ind ig:ibo is:isl
        it:ita ja:jpn jv:jav ka:kat kg:kon ki:kik kk:kaz km:khm kn:kan ko:kor kr:knc ks:kas ku:kmr ky:kir lb:ltz lg:lug
        li:lim ln:lin lo:lao lt:lit lv:lvs mg:plt mi:mri mk:mkd ml:mal mn:khk mr:mar ms:zsm mt:mlt my:mya nb:nob ne:npi
        nl:nld nn:nno no:nob ny:nya oc:oci om:gaz or:ory pa:pan pl:pol ps:pbt pt:por qu:quy rn:run ro:ron ru:rus rw:kin
        sa:san sc:srd sd:snd sg:sag si:sin sk:slk sl:slv sm:smo sn:sna so:som sq:als sr:srp ss:ssw st:sot su:sun sv:swe
        sw:swh ta:tam te:tel tg:tgk th:tha ti:tir tk:tuk tl:tgl tn:tsn tr:tur ts:tso tt:tat tw:twi ug:uig uk:ukr ur:urd
        uz:uzn vi:vie wo:wol xh:xho yi:ydd yo:yor zh:zho zu:zul
        """,
    )
)
_OTHER_LENGTH = _THREE_LETTERS | {three: two for two, three in _THREE_LETTERS.items() if two != "no"}
