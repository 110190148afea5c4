"""What an agent may ask of the page's models: a few calls, whose answers are short and say things in words.

Agents read every docstring and every answer as part of their own prompt, so there are no run documents here: those are
for programs (docs/endpoints.md). All input is untrusted until it has been checked. Knows nothing of the protocol.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Any, Literal

from pydantic import Field
from typing_extensions import TypedDict  # pydantic reads no other TypedDict before Python 3.12

from model.errors import AttendError
from model.loaded import LoadedModel
from model.text.conversation import Message as ChatMessage
from ui.chat.chat_endpoint import chat_endpoint
from ui.inspector.endpoints import cause_endpoints
from ui.kit.validation import checked_message, checked_start, checked_text
from ui.runs.models import Models
from ui.server.agents.sentences import explained
from ui.write.score import score_endpoint
from ui.write.write_endpoint import generate_endpoint

MAX_LISTED = 200  # tokens in one answer
_SURPRISING = 5  # tokens that a score names

Model = Annotated[str, Field(description="Name of a model of this server; empty for its default.")]
Settings = Annotated[
    dict[str, Any] | None,
    Field(
        description="Decoding settings by name, such as strategy (sample, greedy, beam …), temperature, top_k, top_p, "
        "min_p, num_beams, seed, stop_texts. What is left out keeps its default."
    ),
]
MaxNewTokens = Annotated[int | None, Field(description="The longest text to write, in tokens.")]


class Message(TypedDict):
    role: Literal["user", "assistant"]
    content: str


class Written(TypedDict):
    """A text that a model has written."""

    text: str
    finish_reason: str  # stop, length or stop_text
    tokens: int
    seed: int | None  # gives the same text again; None where nothing was drawn
    least_expected: str  # the token that was least probable before every filter, and its probability


class Surprise(TypedDict):
    token: str
    after: str  # the end of the text before it
    bits: float


class Scored(TypedDict):
    """How probable a text is to a model."""

    tokens: int
    bits: float  # of the whole text
    bits_per_byte: float  # comparable between models
    perplexity: float  # per token, so only comparable between models with the same tokens
    most_surprising: list[Surprise]


class Tokenized(TypedDict):
    count: int
    ids: list[int]
    texts: list[str]


def agent_tools(models: Models) -> Sequence[Callable[..., Any]]:
    """The tools, as functions whose names, docstrings and types an agent is told."""
    run, talk, measure = generate_endpoint(models), chat_endpoint(models), score_endpoint(models)
    causes = cause_endpoints(models)

    def named(model: str) -> str:
        return model or models.default

    def generate(
        prompt: str, model: Model = "", max_new_tokens: MaxNewTokens = None, settings: Settings = None
    ) -> Written:
        """Continue a text with a language model. A chat model is better asked with `chat`."""
        return _written(run(prompt, named(model), _chosen(64, max_new_tokens, settings)))

    def chat(
        message: str,
        history: Annotated[list[Message] | None, Field(description="The conversation so far, oldest first.")] = None,
        system: Annotated[str, Field(description="System prompt, for models that take one.")] = "",
        model: Model = "",
        max_new_tokens: MaxNewTokens = None,
        settings: Settings = None,
    ) -> Written:
        """Let a small chat model answer a message."""
        chosen, last = _chosen(128, max_new_tokens, settings), {}
        for last in talk(message, [dict(each) for each in history or ()], named(model), chosen, system):  # noqa: B007
            pass
        return _written(last["trace"])

    def score(
        text: str,
        prompt: Annotated[str, Field(description="Text before it that is not scored.")] = "",
        model: Model = "",
    ) -> Scored:
        """Say how probable a text is to a language model, and which of its tokens are the most surprising."""
        return _scored(measure(text, named(model), prompt)["scores"][0])

    def tokenize(text: str, model: Model = "") -> Tokenized:
        """Split a text into the tokens of a model. Lists the first 200 of them, and counts all."""
        loaded = models.get(named(model))
        ids = loaded.tokenizer.encode(checked_start(text, "The text"), begins=True)
        listed = [int(token) for token in ids[:MAX_LISTED]]
        return {"count": len(ids), "ids": listed, "texts": [loaded.tokenizer.label(token) for token in listed]}

    def explain(
        text: Annotated[str, Field(description="The text before the token. In a chat, the answer so far.")],
        token: Annotated[str, Field(description="The token, with the space before it; empty for the likeliest.")] = "",
        instead_of: Annotated[str, Field(description="Another token, to compare with.")] = "",
        message: Annotated[str, Field(description="The message that the text begins to answer, in a chat.")] = "",
        model: Model = "",
    ) -> str:
        """Say in words why a model would choose a token after a text: how probable it is, which earlier words it rests
        on, from which layer on the model expects it, and which attention heads and layers speak for it."""
        loaded = models.get(named(model))
        if loaded.model.decoder_start:
            raise AttendError(f"{loaded.name} is a translator: explain takes models that continue a text or chat.")
        if token and token == instead_of:
            raise AttendError(f"token and instead_of are both {token[:80]!r}: name two different tokens.")
        ids = _ids(loaded, text, message)
        attributed = causes["attribute"](ids, named(model), token or None, instead_of or None, steps=None)
        layers = causes["inspect"](ids, named(model))
        return explained(loaded.name, attributed, layers)

    return generate, chat, score, tokenize, explain


def _chosen(length: int, max_new_tokens: int | None, settings: dict[str, Any] | None) -> dict[str, Any]:
    """The settings of a run, whose length is that of the argument, of the settings, or `length`."""
    argument = {} if max_new_tokens is None else {"max_new_tokens": max_new_tokens}
    return {"max_new_tokens": length, **(settings or {}), **argument}


def _written(trace: dict[str, Any]) -> Written:
    rare = min(trace["steps"], key=_probability, default=None)
    label = "" if rare is None else trace["labels"][str(rare["id"])]
    return {
        "text": trace["text"],
        "finish_reason": trace["finish_reason"],
        "tokens": len(trace["ids"]),
        "seed": trace["seed"],
        "least_expected": "" if rare is None else f"{label!r}, with a probability of {_probability(rare):.2g}",
    }


def _probability(step: dict[str, Any]) -> float:
    """The probability of the token that a step chose, before every filter."""
    return next(each["probabilities"][0] for each in step["candidates"] if each["id"] == step["id"])


def _scored(score: dict[str, Any]) -> Scored:
    tokens = score["tokens"]
    order = sorted(range(len(tokens)), key=lambda at: -tokens[at]["surprise"])[:_SURPRISING]
    surprises: list[Surprise] = [
        {
            "token": tokens[at]["text"],
            "after": "".join(each["text"] for each in tokens[max(0, at - 12) : at]),
            "bits": round(tokens[at]["surprise"], 2),
        }
        for at in order
    ]
    return {
        "tokens": len(tokens),
        "bits": round(sum(each["surprise"] for each in tokens), 2),
        "bits_per_byte": round(score["bits_per_byte"], 4),
        "perplexity": round(score["perplexity"], 3),
        "most_surprising": surprises,
    }


def _ids(loaded: LoadedModel, text: str, message: str) -> list[int]:
    """The tokens before the one to explain: of a text, or of the beginning of an answer."""
    if not message:
        return list(loaded.prompt(checked_start(text, "The text")))
    if loaded.chat is None:
        raise AttendError(f"{loaded.name} is not a chat model: leave out the message.")
    prompt = loaded.chat_prompt([ChatMessage("user", checked_message(message))], reserve=1).ids
    return [*prompt, *loaded.tokenizer.encode(checked_text(text, "The text"), begins=loaded.starts_new_text)]
