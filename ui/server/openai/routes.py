"""The routes of OpenAI's protocol, on the page's own port and within its limits."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from functools import partial
from typing import Any, TypeVar

import anyio
import anyio.to_thread
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from model.encoder import Encoder
from model.errors import AttendError
from model.loaded import LoadedModel
from ui.limits import Limits
from ui.runs.models import Models
from ui.server.callers import ConcurrencyLimiter, address_of
from ui.server.openai.body import (
    ChatBody,
    CompletionBody,
    DetokenizeBody,
    EmbeddingBody,
    GenerationBody,
    TokenizeBody,
    checked,
    ignored,
    read_json,
)
from ui.server.openai.chat import Chat
from ui.server.openai.completions import Completion
from ui.server.openai.embeddings import embeddings
from ui.server.openai.errors import RequestError, error_response
from ui.server.openai.event_stream import EventStream
from ui.server.openai.generation import Generation
from ui.server.openai.tokens import detokenize, encode, tokenize, tokenizer_info
from ui.server.responses import TOKEN_PATHS

_METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
_IGNORED = "x-attend-ignored"  # the header that names the fields which had no effect
_MAX_NAMED = 20

T = TypeVar("T")
Handler = Callable[[Request], Awaitable[Response]]


class OpenAI:
    """Answers the requests of programs."""

    def __init__(
        self,
        models: Models | None,
        encoder: Encoder | None,
        limiter: ConcurrencyLimiter,
        limits: Limits,
        origins: frozenset[str],
    ) -> None:
        """
        Args:
            models: those that generate; None on the page of an encoder alone.
            encoder: that of such a page.
            limiter: of the calls of each address.
            origins: other web pages that may call this server.
        """
        self._models, self._encoder, self._limiter = models, encoder, limiter
        self._limits, self._origins = limits, origins
        self._last: LoadedModel | None = None  # stays in memory between the calls of a program
        self._running = anyio.Semaphore(limits.program_runs)
        self._threads = anyio.CapacityLimiter(limits.program_runs + 4)
        self._handlers: Mapping[tuple[str, str], Handler] = {
            ("GET", "/v1/models"): self._list_models,
            ("POST", "/v1/chat/completions"): partial(self._generate, ChatBody, Chat),
            ("POST", "/v1/completions"): partial(self._generate, CompletionBody, Completion),
            ("POST", "/v1/embeddings"): self._embed,
            ("POST", "/tokenize"): partial(self._of_tokens, TokenizeBody, tokenize),
            ("POST", "/v1/token/encode"): partial(self._of_tokens, TokenizeBody, encode),
            ("POST", "/detokenize"): partial(self._of_tokens, DetokenizeBody, detokenize),
            ("GET", "/tokenizer_info"): self._tokenizer_info,
        }

    def routes(self) -> list[Route]:
        return [Route(path, self._answer, methods=_METHODS) for path in ("/v1/{rest:path}", *TOKEN_PATHS)]

    async def _answer(self, request: Request) -> Response:
        origin = request.headers.get("origin")
        try:
            if origin is not None and origin not in self._origins and not _is_own(request, origin):
                raise RequestError(
                    f"A page of {origin[:80]} may not call this server: start it with --allow-origin and this origin.",
                    status=403,
                )
            return await self._respond(request)
        except ClientDisconnect:
            return Response(status_code=499)
        except Exception as error:
            return error_response(error)

    async def _respond(self, request: Request) -> Response:
        path = request.scope["path"].removeprefix(request.scope.get("root_path", "")).rstrip("/")
        if request.method == "OPTIONS":
            names = request.headers.get("access-control-request-headers", "*")  # which * alone doesn't always cover
            headers = {"access-control-allow-methods": "GET, POST", "access-control-allow-headers": names}
            return Response(status_code=204, headers=headers)
        if (handler := self._handlers.get((request.method, path))) is not None:
            return await handler(request)
        if request.method == "GET" and path.startswith("/v1/models/"):
            return self._one_model(path.removeprefix("/v1/models/"))
        known = ", ".join(f"{method} {each}" for method, each in self._handlers)
        raise RequestError(f"There is no {request.method} {path[:80]} here: call {known}.", status=404)

    async def _list_models(self, request: Request) -> Response:
        return JSONResponse({"object": "list", "data": [_model_entry(name) for name in self._names()]})

    def _one_model(self, name: str) -> Response:
        if name not in self._names():
            raise self._unknown(name)
        return JSONResponse(_model_entry(name))

    def _names(self) -> Sequence[str]:
        if self._models is None:
            return [self._encoder.name] if self._encoder is not None else []
        others = map(self._models.display_name, (*self._models.in_memory(), *self._models.encoders()))
        return list(dict.fromkeys((*self._models.names, *others)))

    def _unknown(self, name: str) -> RequestError:
        return RequestError(
            f"There is no model {name[:80]!r} here: choose one of {', '.join(self._names())}.",
            status=404,
            field="model",
            code="model_not_found",
        )

    def _loaded(self, name: str | None) -> LoadedModel:
        """The model, loaded if it isn't in memory."""
        if self._models is None:
            raise RequestError(
                f"{self._encoder and self._encoder.name} only embeds texts and can't generate any: call /v1/embeddings."
            )
        if name and not self._models.is_known(name):
            raise self._unknown(name)
        self._last = self._models.get(name or self._models.default)
        return self._last

    async def _generate(
        self,
        kind: type[GenerationBody],
        make: Callable[[LoadedModel, Any, Mapping[str, Any]], Generation],
        request: Request,
    ) -> Response:
        with ExitStack() as stack:
            address = await self._admit(request, stack)
            value, body = await self._read(kind, request)
            generation = await self._in_thread(lambda: make(self._loaded(body.model), body, value))
            assert self._models is not None
            unused = [name for name in generation.runs[0].settings.unused() if name in value]
            headers = {**_ignored([*ignored(kind, value), *unused]), **generation.notes}
            left = _watch(request, stack)
            if body.stream:
                chunks = self._updates(left, generation.chunks(self._models, address))
                return EventStream(
                    chunks, headers=headers, unread_seconds=self._limits.unread_seconds, ended=stack.pop_all().close
                )
            written = _read(generation.run(self._models, address), left)
            return await self._in_thread(lambda: JSONResponse(generation.whole([*written]), headers=headers))

    async def _embed(self, request: Request) -> Response:
        with ExitStack() as stack:
            await self._admit(request, stack)
            value, body = await self._read(EmbeddingBody, request)
            answer = await self._in_thread(lambda: embeddings(self._encoder_named(body.model), body))
        return JSONResponse(answer, headers=_ignored(ignored(EmbeddingBody, value)))

    def _encoder_named(self, name: str | None) -> Encoder:
        if self._encoder is not None:
            if name not in (None, "", self._encoder.name):
                raise self._unknown(str(name))
            return self._encoder
        if self._models is None or not (known := self._models.encoders()):
            raise RequestError(
                "No encoder is loaded here: choose one as the page's model first.", status=404, field="model"
            )
        meant = [each for each in known if not name or name in (each, self._models.display_name(each))]
        if not meant:
            raise self._unknown(str(name))
        return self._models.encoder(meant[-1])

    async def _of_tokens(
        self, kind: type[Any], function: Callable[[LoadedModel, Any], dict[str, Any]], request: Request
    ) -> Response:
        with ExitStack() as stack:
            await self._admit(request, stack)
            _, body = await self._read(kind, request)
            return await self._in_thread(lambda: JSONResponse(function(self._loaded(body.model), body)))

    async def _tokenizer_info(self, request: Request) -> Response:
        name = request.query_params.get("model")
        with ExitStack() as stack:
            await self._admit(request, stack)
            return await self._in_thread(lambda: JSONResponse(tokenizer_info(self._loaded(name))))

    async def _read(self, kind: type[T], request: Request) -> tuple[dict[str, Any], T]:
        """The body of a request, as it was sent and checked, in another thread, since it may be long."""
        sent = await request.body()

        def read() -> tuple[dict[str, Any], T]:
            value = read_json(sent)
            return value, checked(kind, value)

        return await self._in_thread(read)

    async def _admit(self, request: Request, stack: ExitStack) -> str:
        """Count the call among those of its address, and wait for its turn; returns the address."""
        address = address_of(request)
        try:
            stack.enter_context(self._limiter.acquire(address))
        except AttendError as error:
            raise RequestError(str(error), status=429) from error
        if self._running.statistics().tasks_waiting >= self._limits.waiting:
            raise RequestError("Too many calls are waiting: try again in a moment.", status=503)
        await self._running.acquire()
        stack.callback(self._running.release)
        return address

    async def _in_thread(self, function: Callable[[], T]) -> T:
        return await anyio.to_thread.run_sync(function, limiter=self._threads)

    async def _updates(self, left: Callable[[], bool], iterator: Generator[T, None, None]) -> AsyncGenerator[T]:
        """What a generator yields, which runs in other threads; it is closed at its end and when the client has left,
        which raises `ClientDisconnect`."""
        try:
            while (item := await self._in_thread(lambda: next(iterator, None))) is not None:
                yield item
                if left():
                    raise ClientDisconnect
        finally:
            iterator.close()


def _read(updates: Generator[Iterable[T], None, None], left: Callable[[], bool]) -> Iterator[T]:
    """What all updates hold; `ClientDisconnect` once the client has left."""
    with closing(updates):
        for update in updates:
            yield from update
            if left():
                raise ClientDisconnect


def _model_entry(name: str) -> dict[str, Any]:
    return {"id": name, "object": "model", "created": 0, "owned_by": "attend"}


def _watch(request: Request, stack: ExitStack) -> Callable[[], bool]:
    """Says whether the client has left, until the stack is closed.

    A task waits for it, since `Request.is_disconnected` misses it where a middleware's own `receive` gives way first.
    """

    async def disconnected() -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass

    watching = asyncio.create_task(disconnected())
    stack.callback(watching.cancel)
    return watching.done


def _is_own(request: Request, origin: str) -> bool:
    """Whether the page itself sent the request."""
    return origin.partition("//")[2] == request.headers.get("host", "")


def _ignored(fields: Sequence[str]) -> dict[str, str]:
    """The header that names these fields; none where there are none."""
    names = ", ".join(re.sub(r"[^\w.-]", "?", name, flags=re.ASCII)[:40] for name in fields[:_MAX_NAMED])
    return {_IGNORED: names} if names else {}
