"""Every setting declared once: its default, what it is for, which strategies use it, its neutral value and its range.

What the values lead to stands in `settings.py` and `chain.py`.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from functools import cache
from typing import get_args

from decoding.bank import EarlyStopping
from decoding.compound import Biases, BlankTexts, Layers, Order, Texts
from decoding.parameter import DECLARATION, Parameter, setting
from decoding.processors import ORDER
from decoding.traits import STRATEGIES, TRAITS, StrategyName

# Who uses a setting.
BEAM = tuple(name for name in STRATEGIES if TRAITS[name].beams)
GROUPED = tuple(name for name in STRATEGIES if TRAITS[name].groups)
DRAWN = tuple(name for name in STRATEGIES if TRAITS[name].drawn)
FILTERED = tuple(name for name in STRATEGIES if TRAITS[name].filtered)
CONTRASTIVE = tuple(name for name in STRATEGIES if TRAITS[name].looks_ahead)
DOLA = tuple(name for name in STRATEGIES if TRAITS[name].layers)
MIROSTAT = tuple(name for name in STRATEGIES if TRAITS[name].drawn and TRAITS[name].token_by_token)

MOST_TOKENS = 4096  # of one run
SEEDS = 2**32  # how many there are


@dataclass(frozen=True, slots=True)
class DeclaredSettings:
    """The fields alone, in the order they are shown."""

    strategy: StrategyName = setting(
        "sample",
        "greedy takes the most probable token, sample draws one, beam looks for the most probable text; beam_sample "
        "draws what the beams go on with, diverse_beam keeps groups of beams apart; contrastive shuns what resembles "
        "the text so far, dola draws from what the upper layers add to a lower one. Translators begin with beam.",
        STRATEGIES,
        neutral=None,
        choices=STRATEGIES,
    )
    temperature: float = setting(
        1.0,
        "Below 1 sharpens the distribution, above 1 flattens it; at 0 nothing is drawn, the top is taken.",
        FILTERED,
        maximum=2,
        step=0.05,
    )
    top_k: int = setting(
        0,
        "Keeps only the k most probable tokens; 0 keeps all. Contrastive search weighs these k, at 0 the usual 4.",
        (*FILTERED, *CONTRASTIVE),
        integer=True,
        maximum=200,
    )
    top_p: float = setting(
        1.0,
        "Keeps the fewest most probable tokens whose probabilities reach this sum; 1 keeps all.",
        FILTERED,
        step=0.01,
    )
    num_beams: int = setting(
        4, "How many continuations the search follows at once.", BEAM, neutral=1, integer=True, minimum=1, maximum=8
    )
    length_penalty: float = setting(
        1.0,
        "A finished text's score is divided by its length to this power; higher favours long texts.",
        BEAM,
        minimum=-3,
        maximum=3,
        step=0.1,
    )
    early_stopping: EarlyStopping = setting(
        "false",
        "Once as many texts have finished as there are beams: true ends the search, false when the best living text is "
        "no better as it stands, never when it could not become better.",
        BEAM,
        neutral=None,
        choices=get_args(EarlyStopping),
    )
    num_beam_groups: int = setting(
        2,
        "Into how many groups the beams are divided.",
        GROUPED,
        neutral=1,
        integer=True,
        minimum=1,
        maximum=8,
    )
    diversity_penalty: float = setting(
        0.5,
        "What a token costs a group for every beam of the groups before it that takes the same token in this step.",
        GROUPED,
        neutral=0.0,
        maximum=5,
        step=0.05,
    )
    num_return_sequences: int = setting(
        1,
        "How many texts are made: independent ones, whose seeds count on from the first, or the best of the beams.",
        FILTERED,
        integer=True,
        minimum=1,
        maximum=8,
    )
    penalty_alpha: float = setting(
        0.6,
        "How much contrastive search minds that a token resembles the text so far; at 0 it is greedy.",
        CONTRASTIVE,
        neutral=None,
        step=0.05,
    )
    dola_layers: str | tuple[int, ...] = setting(
        "high",
        "Which layers dola contrasts the last with: every second one of the low or the high half, or numbers, 0 being "
        "the embeddings; one number is self-contrast.",
        DOLA,
        neutral=None,
        integer=True,
        maximum=1000,
        choices=("low", "high"),
        kind=Layers,
    )
    seed: int = setting(
        -1,
        "The same seed repeats the same draws; -1 picks one at random.",
        DRAWN,
        integer=True,
        minimum=-1,
        maximum=SEEDS - 1,
    )
    max_new_tokens: int = setting(
        128,
        "The most tokens to generate; the model's context may end the text earlier.",
        STRATEGIES,
        neutral=None,
        integer=True,
        minimum=1,
        maximum=MOST_TOKENS,
    )
    top_candidates: int = setting(
        10,
        "How many of the most probable tokens are kept for every step, to look at.",
        STRATEGIES,
        neutral=None,
        integer=True,
        maximum=50,
    )

    # --- more filters ---

    min_p: float = setting(
        0.0,
        "Keeps what is at least this fraction as probable as the most probable token; 0 keeps all.",
        FILTERED,
        step=0.01,
    )
    typical_p: float = setting(
        1.0,
        "Keeps the tokens about as surprising as expected, up to this sum of probabilities; 1 keeps all.",
        FILTERED,
        step=0.01,
    )
    top_h: float = setting(
        0.0,
        "Keeps the most probable tokens that make up this fraction of the entropy; 0 keeps all.",
        FILTERED,
        step=0.01,
    )
    top_n_sigma: float = setting(
        0.0,
        "Keeps the logits within this many standard deviations of the highest; 0 keeps all.",
        FILTERED,
        maximum=5,
        step=0.05,
    )
    top_a: float = setting(
        0.0,
        "Removes what is less probable than this times the highest probability squared; 0 keeps all.",
        FILTERED,
        step=0.01,
    )
    epsilon_cutoff: float = setting(
        0.0, "Removes what is less probable than this; 0 keeps all.", FILTERED, maximum=0.01, step=0.0001
    )
    eta_cutoff: float = setting(
        0.0,
        "Like the epsilon cutoff, but lower where the model is unsure; 0 keeps all.",
        FILTERED,
        maximum=0.01,
        step=0.0001,
    )
    xtc_probability: float = setting(
        0.0,
        "How often XTC removes all tokens above its threshold except the least probable one; 0 is never.",
        DRAWN,
        step=0.01,
    )
    xtc_threshold: float = setting(
        0.1,
        "From which probability on XTC counts a token as a top choice.",
        DRAWN,
        neutral=None,
        maximum=0.5,
        step=0.01,
    )
    dynatemp_range: float = setting(
        0.0,
        "Lets the temperature move by this much to either side, higher where the model is unsure; 0 fixes it.",
        FILTERED,
        maximum=2,
        step=0.05,
    )
    dynatemp_exponent: float = setting(
        1.0,
        "How the dynamic temperature follows the entropy: above 1 it stays low for longer.",
        FILTERED,
        neutral=None,
        minimum=0.1,
        maximum=5,
        step=0.1,
    )
    mirostat_mode: int = setting(
        0,
        "2 holds the text's surprise at a target by a limit that moves with every token (Mirostat 2); 0 is off.",
        MIROSTAT,
        integer=True,
        maximum=2,
        step=2,
    )
    mirostat_tau: float = setting(
        5.0, "Mirostat's target: the surprise in bits a token.", MIROSTAT, neutral=None, maximum=10, step=0.1
    )
    mirostat_eta: float = setting(0.1, "How fast Mirostat's limit moves.", MIROSTAT, neutral=None, step=0.01)

    # --- repetition ---

    repetition_penalty: float = setting(
        1.0,
        "Makes the tokens of the whole text less likely, prompt included; 1 changes nothing.",
        STRATEGIES,
        minimum=1,
        maximum=2,
        step=0.01,
    )
    frequency_penalty: float = setting(
        0.0,
        "Makes a token less likely every time the answer, without the prompt, has used it; below 0 more likely.",
        STRATEGIES,
        minimum=-2,
        maximum=2,
        step=0.05,
    )
    presence_penalty: float = setting(
        0.0,
        "Makes a token less likely once the answer, without the prompt, has used it; below 0 more likely.",
        STRATEGIES,
        minimum=-2,
        maximum=2,
        step=0.05,
    )
    no_repeat_ngram_size: int = setting(
        0,
        "Forbids this many tokens in a row that the text has already, prompt included; 0 forbids nothing.",
        STRATEGIES,
        integer=True,
        maximum=20,
    )
    dry_multiplier: float = setting(
        0.0,
        "Makes tokens that continue a repetition less likely, more so the longer it is (DRY); 0 is off. A line end, a "
        "colon, a quote or an asterisk ends every repetition.",
        STRATEGIES,
        maximum=5,
        step=0.05,
    )
    dry_base: float = setting(
        1.75,
        "How fast DRY's penalty grows with the length of the repetition.",
        STRATEGIES,
        neutral=None,
        minimum=1,
        maximum=4,
        step=0.05,
    )
    dry_allowed_length: int = setting(
        2, "From how many repeated tokens on DRY acts.", STRATEGIES, neutral=None, integer=True, minimum=1, maximum=20
    )

    # --- what must and must not be said ---

    min_new_tokens: int = setting(
        0,
        "No end before this many tokens; 0 lets the model end when it likes.",
        STRATEGIES,
        integer=True,
        maximum=MOST_TOKENS,
    )
    banned_words: tuple[str, ...] = setting(
        (),
        "Texts that must not be generated, spelled so, alone and behind a space; longer words that hold one stay, "
        "unless they begin with its very tokens.",
        STRATEGIES,
        kind=Texts,
    )
    stop_texts: tuple[str, ...] = setting(
        (),
        'Texts that end the answer, which stops before them; a line end is ["\\n"].',
        STRATEGIES,
        kind=BlankTexts,
    )
    logit_bias: tuple[tuple[int, float], ...] = setting(
        (),
        "Makes single tokens, by their ids, more or less likely; -100 all but forbids one.",
        STRATEGIES,
        minimum=-100,
        maximum=100,
        kind=Biases,
    )
    order: tuple[str, ...] = setting(
        ORDER,
        "In which order the stages run; those that change nothing are left out.",
        STRATEGIES,
        choices=ORDER,
        kind=Order,
    )


@cache
def parameters() -> tuple[Parameter, ...]:
    """Every setting, in the order it is shown."""
    return tuple(
        dataclasses.replace(declared.metadata[DECLARATION], name=declared.name, default=declared.default)
        for declared in dataclasses.fields(DeclaredSettings)
    )
