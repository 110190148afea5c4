"""A request's JSON body: the fields that this server knows, each checked, and the settings among them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache
from typing import Annotated, Any, TypeVar, cast

from pydantic import Field, TypeAdapter, ValidationError
from pydantic.config import ConfigDict

from decoding.parameters.parameter import quoted
from decoding.settings import DecodingSettings, for_translator, parameters
from decoding.stop import STOP_TEXTS, TOKEN_LIMIT
from decoding.strategies.base import NUM_RETURN_SEQUENCES
from decoding.uniform import SEEDS
from model.errors import AttendError
from model.inspection.intervention import Intervention
from model.loaded import LoadedModel
from ui.runs.prompts import is_translator
from ui.server.openai.errors import RequestError
from ui.settings.without import without_of

MAX_CHOICES = 8  # texts that one prompt may get
MAX_PROMPTS = 512  # of one request

_STRICT = ConfigDict(strict=True)  # "5" is no number, and true is none
_OWN = frozenset(parameter.name for parameter in parameters())
_EXPLAINED = 10  # candidates of a token with its stages
_WITHOUT = "without"  # parts of the model that are switched off, see docs/settings.md

Choices = Annotated[int, Field(ge=1, le=MAX_CHOICES)]
Length = Annotated[int, Field(ge=0, le=2**31)]
# `fail_fast`: of a million wrong entries only the first becomes an error
Ids = Annotated[list[Annotated[int, Field(ge=0, le=2**31)]], Field(fail_fast=True)]
Texts = Annotated[list[str], Field(fail_fast=True)]


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamOptions:
    __pydantic_config__ = _STRICT
    include_usage: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponseFormat:
    __pydantic_config__ = _STRICT
    type: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """What Attend adds to each token."""

    __pydantic_config__ = _STRICT
    stages: bool | None = None
    attention: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Body:
    """What all requests share. None stands for a field's default, as in OpenAI's protocol."""

    __pydantic_config__ = _STRICT
    model: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerationBody(Body):
    """What chat and completions share."""

    stream: bool | None = None
    stream_options: StreamOptions | None = None
    max_tokens: Length | None = None
    max_completion_tokens: Length | None = None
    n: Choices | None = None
    stop: str | Texts | None = None
    seed: int | None = None
    logit_bias: dict[str, float] | list[Any] | None = None
    response_format: ResponseFormat | None = None
    attend: Explanation | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatBody(GenerationBody):
    """The body of /v1/chat/completions."""

    messages: list[Any]
    logprobs: bool | None = None
    top_logprobs: Annotated[int, Field(ge=0, le=20)] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CompletionBody(GenerationBody):
    """The body of /v1/completions."""

    prompt: str | Texts | Ids | Annotated[list[Ids], Field(fail_fast=True)]
    echo: bool | None = None
    logprobs: Annotated[int, Field(ge=0, le=20)] | None = None
    best_of: Choices | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingBody(Body):
    """The body of /v1/embeddings."""

    input: str | Texts
    encoding_format: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenizeBody(Body):
    """The body of /tokenize."""

    prompt: str
    add_special_tokens: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DetokenizeBody(Body):
    """The body of /detokenize."""

    tokens: Ids


_FORMS = {  # what a wrong field must be, in words
    "model": "the name of a model, as /v1/models lists them",
    "messages": 'a list of {"role": …, "content": …}',
    "prompt": "a text, a list of texts, a list of token ids or a list of such lists",
    "input": "a text or a list of texts",
    "tokens": "a list of token ids",
    "stop": "a text or a list of texts",
    "seed": "a whole number",
    "n": f"a whole number from 1 to {MAX_CHOICES}",
    "best_of": f"a whole number from 1 to {MAX_CHOICES}",
    "logprobs": "true or false in a chat, a whole number from 0 to 20 in a completion",
    "top_logprobs": "a whole number from 0 to 20",
    "max_tokens": "a whole number, 0 or more",
    "max_completion_tokens": "a whole number, 0 or more",
    "logit_bias": "an object of token ids and numbers",
    "response_format": 'an object with a "type"',
    "stream_options": 'an object such as {"include_usage": true}',
    "attend": 'an object such as {"stages": true, "attention": true}',
    "encoding_format": '"float" or "base64"',
}

BodyT = TypeVar("BodyT")
_adapter = cache(TypeAdapter[Any])


def read_json(body: bytes) -> dict[str, Any]:
    """The object that a request sends; `RequestError` for anything else."""
    try:
        value = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise RequestError("The body of this request is not JSON: send an object of fields.") from error
    if not isinstance(value, dict):
        raise RequestError(f"The body of this request is {quoted(value)}, but must be a JSON object.")
    return {name: each for name, each in value.items() if each is not None}


def checked(kind: type[BodyT], value: Mapping[str, Any]) -> BodyT:
    """The fields that this server knows, the others left out; `RequestError` that names the first that is wrong."""
    try:
        return _adapter(kind).validate_json(json.dumps(value))  # strict types take an object only from JSON
    except (ValidationError, RecursionError) as error:
        where = error.errors(include_url=False)[0]["loc"] if isinstance(error, ValidationError) else ()
    if not where:
        raise RequestError(
            "The body of this request holds text that is not Unicode, or is nested too deeply: change it."
        )
    name = str(where[0])
    form = _FORMS.get(name, "true or false")
    if name not in value:
        raise RequestError(f"{name} is missing: send {form}.", field=name)
    raise RequestError(f"{name} is {quoted(value[name])}, but must be {form}.", field=name)


def ignored(kind: type, value: Mapping[str, Any]) -> list[str]:
    """The fields that have no effect here."""
    known = {each.name for each in fields(kind)}
    own = {*_OWN, _WITHOUT} - {NUM_RETURN_SEQUENCES.name} if issubclass(kind, GenerationBody) else set()
    return [name for name in value if name not in known | own]


def check_ids(ids: Iterable[int], loaded: LoadedModel, field: str) -> None:
    """`RequestError` for a token that the model doesn't have."""
    highest = loaded.model.vocabulary_size - 1
    if (wrong := max(ids, default=0)) > highest:
        raise RequestError(f"There is no token {wrong:,}: this model's highest id is {highest:,}.", field=field)


def interventions_in(value: Mapping[str, Any]) -> tuple[Intervention, ...]:
    """The parts of the model that a request switches off."""
    return without_of({_WITHOUT: value[_WITHOUT]}) if _WITHOUT in value else ()


def settings_of(
    body: GenerationBody, value: Mapping[str, Any], loaded: LoadedModel, *, length: int, top: int
) -> DecodingSettings:
    """The settings of a request: OpenAI's fields, and all others of Attend under their own names.

    Args:
        value: the body as it was sent.
        length: the most tokens, if the request doesn't say.
        top: how many candidates' log-probabilities it asks for.
    """
    named = {name: each for name, each in value.items() if name in _OWN}
    if not (body.attend and body.attend.stages):
        named["top_candidates"] = max(1, top)
    elif "top_candidates" not in named:
        named["top_candidates"] = max(_EXPLAINED, top)
    if body.seed is not None:
        named["seed"] = body.seed % SEEDS  # OpenAI's may be of any size
    if body.stop is not None:
        stops = [body.stop] if isinstance(body.stop, str) else body.stop
        named["stop_texts"] = [*_stop_texts(named), *(stop for stop in stops if stop)]
    if isinstance(body.logit_bias, dict):
        named["logit_bias"] = _biases(body.logit_bias)
    limit = token_limit(body)
    if limit is not None or "max_new_tokens" not in named:
        named["max_new_tokens"] = max(1, min(length if limit is None else limit, TOKEN_LIMIT))
    named[NUM_RETURN_SEQUENCES.name] = 1  # `n` says how many
    return DecodingSettings.from_dict(for_translator(named) if is_translator(loaded) else named).seeded()


def token_limit(body: GenerationBody) -> int | None:
    """How many tokens the request allows; None if it doesn't say."""
    return body.max_tokens if body.max_completion_tokens is None else body.max_completion_tokens


def _stop_texts(named: Mapping[str, Any]) -> Sequence[str]:
    """The stop texts under Attend's own name; OpenAI's `stop` may be sent beside them."""
    try:
        return cast(Sequence[str], STOP_TEXTS.checked(named.get(STOP_TEXTS.name, ())))
    except AttendError as error:
        raise RequestError(str(error), field=STOP_TEXTS.name) from error


def check_format(body: GenerationBody) -> None:
    """`RequestError` for a format of answers that no constraint can ensure here."""
    if body.response_format is not None and body.response_format.type != "text":
        raise RequestError(
            f"response_format is {quoted(body.response_format.type)}, but this server can't constrain a text: "
            'leave it out, or send {"type": "text"}.',
            field="response_format",
        )


def _biases(biases: Mapping[str, float]) -> list[list[float]]:
    try:
        return [[int(token), bias] for token, bias in biases.items()]
    except ValueError as error:
        raise RequestError(f"logit_bias must be {_FORMS['logit_bias']}.", field="logit_bias") from error
