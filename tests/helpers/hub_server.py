"""A stand-in for the Hugging Face Hub on 127.0.0.1: what a repository holds, its files with ranges, and its faults.

It answers as the Hub's documentation and client describe: `/api/models/ID/revision/REVISION?blobs=True` with sizes and
checksums (SHA-256 of files in LFS, git's blob ids of the others), `/ID/resolve/COMMIT/FILE` with byte ranges, and
errors with an `X-Error-Code`. The client that asks it is the real one.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

LARGE = 10_000  # bytes from which on a file lies in LFS here


@dataclass(frozen=True)
class RecordedRequest:
    """One request, as it came."""

    path: str
    range: str | None
    token: str | None


def _flowing() -> threading.Event:
    event = threading.Event()
    event.set()
    return event


@dataclass
class StandIn:
    """What the server holds and how it misbehaves; the tests change it while it runs."""

    port: int = 0
    repositories: dict[tuple[str, str], Path] = field(default_factory=dict)  # name and revision → its files
    statuses: dict[str, tuple[int, str]] = field(default_factory=dict)  # end of a path → status and error code
    cut_after: dict[str, list[int]] = field(default_factory=dict)  # file → bytes sent before each break, in turn
    contents: dict[str, bytes] = field(default_factory=dict)  # file → what is sent instead
    overrides: dict[str, Any] = field(default_factory=dict)  # changes to the metadata of a repository
    flowing: threading.Event = field(default_factory=_flowing)  # cleared, a file in LFS stops after a twentieth
    ranges: bool = True
    elsewhere: bool = False  # whether files in LFS are fetched from another host, as from the Hub's
    requests: list[RecordedRequest] = field(default_factory=list)

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def requested_files(self) -> list[str]:
        """The names of the files that were sent or begun."""
        return [request.path.rpartition("/")[2] for request in self.requests if "/resolve/" in request.path]

    def describe(self, name: str, revision: str) -> dict[str, Any] | None:
        """The answer about a repository at a branch, a tag or a commit."""
        for (repository, known), folder in self.repositories.items():
            if repository == name and revision in (known, commit_of(folder)):
                siblings = [_sibling(path, folder) for path in sorted(folder.rglob("*")) if path.is_file()]
                return {"id": name, "modelId": name, "sha": commit_of(folder), "siblings": siblings, **self.overrides}
        return None

    def file(self, name: str, commit: str, path: str) -> bytes | None:
        for (repository, _), folder in self.repositories.items():
            if repository == name and commit_of(folder) == commit and (folder / path).is_file():
                return self.contents.get(path, (folder / path).read_bytes())
        return None


def commit_of(folder: Path) -> str:
    """A commit's name: 40 hexadecimal digits that depend on the folder's files."""
    digest = hashlib.sha1(usedforsecurity=False)
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()


def _sibling(path: Path, folder: Path) -> dict[str, Any]:
    content = path.read_bytes()
    blob = hashlib.sha1(f"blob {len(content)}\0".encode() + content, usedforsecurity=False).hexdigest()
    entry: dict[str, Any] = {"rfilename": path.relative_to(folder).as_posix(), "size": len(content), "blobId": blob}
    if len(content) >= LARGE:
        entry["lfs"] = {"sha256": hashlib.sha256(content).hexdigest(), "size": len(content), "pointerSize": 134}
    return entry


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    hub: StandIn

    def log_message(self, format: str, *args: Any) -> None:
        """The tests look at `requests` instead."""

    def do_GET(self) -> None:
        path = unquote(urlsplit(self.path).path)
        self.hub.requests.append(RecordedRequest(path, self.headers["Range"], self.headers["Authorization"]))
        for end, (status, code) in self.hub.statuses.items():
            if path.endswith(end):
                return self._say(status, b"", {"X-Error-Code": code} if code else {})
        if about := re.fullmatch(r"/api/models/([^/]+/[^/]+)/revision/(.+)", path):
            description = self.hub.describe(*about.groups())
            if description is not None:
                return self._say(200, json.dumps(description).encode(), {"Content-Type": "application/json"})
            known = any(name == about[1] for name, _ in self.hub.repositories)
            return self._say(404, b"", {"X-Error-Code": "RevisionNotFound" if known else "RepoNotFound"})
        if match := re.fullmatch(r"(?:/cdn)?/([^/]+/[^/]+)/resolve/([^/]+)/(.+)", path):
            content = self.hub.file(*match.groups())
            if content is None:
                return self._say(404, b"", {"X-Error-Code": "EntryNotFound"})
            if self.hub.elsewhere and len(content) >= LARGE and not path.startswith("/cdn"):
                return self._say(302, b"", {"Location": f"http://localhost:{self.hub.port}/cdn{path}"})
            return self._send(match[3], content)
        return self._say(404, b"", {})

    def _send(self, name: str, content: bytes) -> None:
        """A file or its end, perhaps broken off."""
        status, headers, wanted = 200, {}, self.headers["Range"]
        if wanted and self.hub.ranges:
            first = int(wanted.removeprefix("bytes=").removesuffix("-"))
            headers["Content-Range"] = f"bytes {first}-{len(content) - 1}/{len(content)}"
            status, content = 206, content[first:]
        cuts = self.hub.cut_after.get(name)
        self._say(status, content, headers, sent=cuts.pop(0) if cuts else None)

    def _say(self, status: int, body: bytes, headers: dict[str, str], *, sent: int | None = None) -> None:
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        if not self.hub.flowing.is_set() and len(body) >= LARGE:
            first = len(body) // 20
            self.wfile.write(body[:first])
            self.hub.flowing.wait()
            self.wfile.write(body[first:])
        else:
            self.wfile.write(body[:sent])
        if sent is not None:
            self.close_connection = True


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hangs up is no error; anything else is."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


@contextmanager
def serving() -> Iterator[StandIn]:
    """A stand-in that answers until the end."""
    hub = StandIn()
    handler = type("Handler", (_Handler,), {"hub": hub})
    with _Server(("127.0.0.1", 0), handler) as server:
        hub.port = server.server_address[1]
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield hub
        finally:
            server.shutdown()
            thread.join()
