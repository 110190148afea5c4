"""Renders chat templates exactly as transformers does, without its seconds of imports; tests compare the two."""

from __future__ import annotations

import json
from contextlib import suppress
from datetime import datetime
from functools import lru_cache
from typing import Any

import jinja2
from jinja2 import Environment
from jinja2.ext import Extension, loopcontrols
from jinja2.nodes import Node
from jinja2.parser import Parser
from jinja2.sandbox import ImmutableSandboxedEnvironment

from model.sandbox.child import serve

_MAX_BYTES = 512_000_000
_MAX_CHARACTERS = 8_000_000  # in a conversation, unless the question allows fewer
# Uses everything that Jinja and Python import late, error messages included.
_LATE_IMPORTS = "{{ 'a' | pprint | wordwrap(1) | striptags }}{{ lipsum(1) }}{{ strftime_now('%c') }}{{ missing.name }}"


class _Generation(Extension):
    """`{% generation %}` marks the text of the model, which matters only in training."""

    def __init__(self, environment: Environment) -> None:
        super().__init__(environment)
        self.tags = {"generation"}

    def parse(self, parser: Parser) -> list[Node]:
        next(parser.stream)
        return parser.parse_statements(("name:endgeneration",), drop_needle=True)


class _Namespace(jinja2.utils.Namespace):
    """Jinja's namespace without names that lead into Python's internals."""

    def __init__(*args: Any, **kwargs: Any) -> None:
        self, *rest = args
        for name in dict(*rest, **kwargs):
            _check_name(name)
        jinja2.utils.Namespace.__init__(self, *rest, **kwargs)

    def __setitem__(self, name: str, value: Any) -> None:
        _check_name(name)
        super().__setitem__(name, value)


class _Dict:
    """`dict` without the other attributes of Python's type."""

    def __call__(self, *args: Any, **kwargs: Any) -> dict[Any, Any]:
        return dict(*args, **kwargs)

    def fromkeys(self, *args: Any) -> dict[Any, Any]:
        return dict.fromkeys(*args)


def _check_name(name: object) -> None:
    if isinstance(name, str) and name.startswith("_"):
        raise jinja2.exceptions.SecurityError(f"no name in a namespace may begin with an underscore, as {name!r} does")


def _raise_exception(message: str) -> None:
    raise jinja2.exceptions.TemplateError(message)


def _strftime_now(form: str) -> str:
    return datetime.now().strftime(form)


def _to_json(
    value: Any, ensure_ascii: bool = False, indent: Any = None, separators: Any = None, sort_keys: bool = False
) -> str:
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


@lru_cache(maxsize=1)
def _compiled(template: str) -> jinja2.Template:
    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[_Generation, loopcontrols]
    )
    environment.filters["tojson"] = _to_json
    environment.globals["raise_exception"] = _raise_exception
    environment.globals["strftime_now"] = _strftime_now
    environment.globals["namespace"] = _Namespace
    environment.globals["dict"] = _Dict()
    return environment.from_string(template)


def render(question: dict[str, Any]) -> str:
    """The text that a template renders, cut off after `most` + 1 characters; raises whatever Jinja raises."""
    most, written, length = question.get("most", _MAX_CHARACTERS), [], 0
    for part in _compiled(question["template"]).generate(question["variables"]):
        written.append(part)
        length += len(part)
        if length > most:
            break
    return "".join(written)[: most + 1]


if __name__ == "__main__":
    with suppress(jinja2.TemplateError):
        render({"template": _LATE_IMPORTS, "variables": {}})  # while modules can still be imported
    serve(render, _MAX_BYTES, closed=True)
