"""The run document, "attend.trace/2": the one form in which a run is saved, kept, sent and drawn.

`generate.py --json`, the page's files and history, and the endpoints hold a `RunDocument`; while a text grows, the page
receives slices of it, which are made of the same entries. It is plain JSON whose fields have names, so that Python,
TypeScript and other programs share one declaration: `decoding.run.reader` checks hostile documents against it, and
`python -m ui.kit.declarations` writes it as TypeScript. Probabilities are plain, and scores are in nats.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict  # pydantic reads no other TypedDict before Python 3.12

from decoding.step import DropReason, FinishReason
from model.inspection.intervention import MAX_FACTOR, MAX_INTERVENTIONS, Part

SCHEMA = "attend.trace/2"
MAX_TOKENS = 2**17  # of the whole context
MAX_STEPS = 4096  # the longest possible run

# A token is chosen by its probability, given in a text that was typed, taken by hand, or found by a search.
TokenOrigin = Literal["chosen", "given", "taken", "search"]

TokenId = Annotated[int, Field(ge=0, lt=2**31)]
IdKey = Annotated[str, Field(pattern=r"^\d{1,10}$")]  # an id as a key of a JSON object
Count = Annotated[int, Field(ge=0, le=2**31)]
Rank = Annotated[int, Field(ge=1, le=2**31)]
Share = Annotated[float, Field(ge=0, le=1 + 1e-6)]  # sums of probabilities may pass 1 by rounding
Bits = Annotated[float, Field(ge=0, le=64)]
Score = Annotated[float, Field(ge=-1e9, le=1e9)]
Cosine = Annotated[float, Field(ge=-2, le=2)]  # rounding, and the mean with a probability, may take it past 1
Layer = Annotated[int, Field(ge=0, le=10_000)]
Label = Annotated[str, Field(max_length=200)]  # of a token or of a filter
Name = Annotated[str, Field(max_length=300)]
Text = Annotated[str, Field(max_length=2_000_000)]
TokenIds = Annotated[list[TokenId], Field(max_length=MAX_TOKENS)]
Shares = Annotated[list[Share], Field(max_length=64)]  # one per stage


class InvalidDocument(Exception):
    """Something in a document is impossible; the message says what, as in "steps.3.rank can't be 0"."""


class CandidateEntry(TypedDict):
    """A token that could have been chosen."""

    id: TokenId
    probabilities: Shares  # after each stage; 0 from the one that removed it


class ContrastiveEntry(TypedDict):
    """A candidate of contrastive search and the two terms of its score."""

    id: TokenId
    confidence: Share
    degeneration: Cosine
    score: Cosine


class DivergenceEntry(TypedDict):
    """How far a layer's prediction is from the last one's, as the Jensen-Shannon divergence."""

    layer: Layer  # 0 is the embeddings
    bits: Share  # at most one bit


class ContrastEntry(TypedDict):
    """The layers that DoLa compared, and the one whose prediction it subtracted."""

    layer: Layer
    divergences: Annotated[list[DivergenceEntry], Field(max_length=100)]


class StepEntry(TypedDict):
    """One token and the distribution it was chosen from; see `decoding.step.Choice`."""

    id: TokenId
    origin: TokenOrigin
    rank: Rank  # by the model's own probability, ties by id
    draw: Share | None  # in [0, 1); None where nothing was drawn
    stages: Annotated[list[Label], Field(min_length=1, max_length=64)]  # "model", then every filter in its order
    kept: Annotated[list[Count], Field(max_length=64)]  # tokens left after each stage
    mass: Shares  # the share of the previous stage's probability that each stage kept
    entropy: Annotated[list[Bits], Field(max_length=64)]  # after each stage
    candidates: Annotated[list[CandidateEntry], Field(max_length=51)]  # best first, and always the token itself
    rest: Shares  # probability of all other tokens together
    contrastive: NotRequired[Annotated[list[ContrastiveEntry], Field(max_length=64)]]  # under contrastive search
    contrast: NotRequired[ContrastEntry]  # under DoLa


class BeamIndex(TypedDict):
    """Which hypothesis of a search it is."""

    step: Count
    index: Count  # in that step's beams


class BeamEntry(TypedDict):
    """One hypothesis of a step; its tokens are those of its parents and its own."""

    id: TokenId
    parent: Count  # its index among the previous step's unfinished beams, which stand first
    score: Score  # the search's own sum
    step_score: Score  # what the newest token added to it
    log_probability: Score  # the model's own sum
    final_score: Score | None  # its rank once it has finished, length penalty included
    finish_reason: FinishReason | None
    group: Count


class DropEntry(TypedDict):
    """A hypothesis that the search dropped in this step, and why."""

    step: Count  # where the hypothesis stands
    index: Count
    reason: DropReason
    row: Count | None
    score: Score | None
    to_beat: Score | None


class SearchEntry(TypedDict):
    """One step of a search, or of several texts at once."""

    beams: Annotated[list[BeamEntry], Field(max_length=64)]
    best: BeamIndex | None  # the best text so far or, at the end, the one that is returned first
    returned: Annotated[list[BeamIndex], Field(max_length=64)]  # best first; none before the last step
    dropped: Annotated[list[DropEntry], Field(max_length=256)]


class PromptEntry(TypedDict):
    text: Text  # as it was typed: the text to continue, or the newest message
    ids: TokenIds  # the beginning of the decoder's text
    messages: NotRequired[Annotated[list[dict[Name, Text]], Field(max_length=1000)]]  # of a conversation


class InterventionEntry(TypedDict):
    """What was changed inside the model while it generated; see `model.inspection.intervention`. All count from 0."""

    layer: Layer
    part: Part
    head: NotRequired[Layer]  # of parts that are heads
    positions: NotRequired[TokenIds]  # of the decoder's text; absent: all
    action: Literal["zero", "scale"]  # what can be done while a text is generated
    factor: NotRequired[Annotated[float, Field(ge=-MAX_FACTOR, le=MAX_FACTOR)]]  # of "scale"


class SequenceEntry(TypedDict):
    """One of several texts that a run returned."""

    text: Text
    ids: TokenIds
    score: Score
    final_score: Score | None
    log_probability: Score
    finish_reason: FinishReason | None


class AttentionEntry(TypedDict):
    """Where the model looked when it chose each token that has a step.

    A row is base64 of bytes (layers, heads, keys). A byte is 255 times the square root of the weight; its keys are the
    source's tokens, then all tokens of the text before the one that was chosen.
    """

    layers: Count
    heads: Count
    rows: Annotated[list[Annotated[str, Field(max_length=8_000_000)]], Field(max_length=MAX_STEPS)]


class RunDocument(TypedDict):
    """A run. Its text is `prompt.ids`, then `ids`. The steps explain its last tokens: those that were generated and,
    where they are known, typed ones before them."""

    schema: Literal["attend.trace/2"]
    model: Name
    prompt: PromptEntry
    settings: dict[str, Any] | None  # None where a text was only typed, or its record is no longer stored
    seed: int | None  # None where nothing was drawn
    text: Text
    ids: TokenIds
    finish_reason: FinishReason
    steps: Annotated[list[StepEntry], Field(max_length=MAX_TOKENS)]
    labels: Annotated[dict[IdKey, Label], Field(max_length=2**20)]  # what each id is called on its own
    special: NotRequired[TokenIds]  # ids in the text that are control tokens
    source: NotRequired[TokenIds]  # what an encoder read
    draws_used: NotRequired[Count]  # random numbers taken before, where an earlier text is continued
    interventions: NotRequired[Annotated[list[InterventionEntry], Field(min_length=1, max_length=MAX_INTERVENTIONS)]]
    search: NotRequired[Annotated[list[SearchEntry], Field(max_length=MAX_STEPS)]]
    sequences: NotRequired[Annotated[list[SequenceEntry], Field(max_length=64)]]
    attention: NotRequired[AttentionEntry]
