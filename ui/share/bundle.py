"""The shared file: one HTML page with a run, a translation or a comparison in the page's own views, without a server.

Everything is inside the file. Its modules stand in an import map, each under its path in ui/ with its source as a
`data:` address, so there is nothing to bundle: a module is the same code here and on the page, without the comments
above its parts, which are half of it. A content security policy keeps the file from fetching anything, whatever the
document says.
"""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Iterable, Mapping
from functools import cache
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from decoding.parameters.parameter import Parameter
from decoding.settings import parameters
from decoding.strategies.registry import stage_labels
from ui.kit import assets
from ui.kit.setting import setting_field
from ui.theme import theme

VIEWS = {kind: f"share/{kind}.js" for kind in ("run", "translation", "explained", "comparison")}
PREFIX = "attend/"  # before a module's path in ui/, in the import map
SHOWN = ("name", "label", "kind", "choices", "default", "neutral", "strategies")  # of a setting, to put it in words

_COMMENT = re.compile(r"^ *(?:/\*(?:[^*]|\*(?!/))*\*/|//.*)\n", re.MULTILINE)  # in lines of its own
_VARIABLE = re.compile(r"var\(--([a-z0-9-]+)")
_IN_DATA = " !'()*,/:;=?@[]{}&+$|^`~<>"  # need no escape in a data address; all else does, such as %, # and "


@cache
def template(kind: str) -> str:
    """The whole file, but for the document.

    Args:
        kind: of the document, a key of `VIEWS`.
    """
    modules = {PREFIX + name: _address(_bare(name)) for name in assets.needed(VIEWS[kind])}
    parts = {
        "view": PREFIX + VIEWS[kind],
        "modules": inside_script({"imports": modules}),
        "styles": styles(modules),
        "labels": labels(),
        "settings": inside_script([_named(parameter) for parameter in parameters()]),
    }
    return re.sub(
        r"\{(view|modules|styles|labels|settings)\}",
        lambda match: parts[match[1]],
        assets.template("share/template.html"),
    )


def styles(modules: Iterable[str]) -> str:
    """What these modules of ui/ need outside Gradio's page: their styles, and the variables of Gradio in these."""
    rooms = {posixpath.dirname(name.removeprefix(PREFIX)) for name in modules}
    needed = assets.stylesheet(rooms)
    return f"{_variables(needed)}\n{needed}"


def labels() -> str:
    """What the filters are called, as JSON inside a script."""
    return inside_script(dict(stage_labels()))


def inside_script(value: object) -> str:
    """A value as JSON that no HTML parser can take for the end of its script."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")


def _named(parameter: Parameter) -> dict[str, object]:
    return {name: value for name, value in setting_field(parameter).items() if name in SHOWN}


def _bare(name: str) -> str:
    """A module's code, whose imports name other modules as the import map does."""

    def renamed(match: re.Match[str]) -> str:
        path = posixpath.normpath(posixpath.join(posixpath.dirname(name), match[1]))
        return match[0].replace(match[1], PREFIX + path)

    return assets.IMPORT.sub(renamed, _COMMENT.sub("", assets.files()[name].decode()))


def _address(source: str) -> str:
    return "data:text/javascript;charset=utf-8," + quote(source, safe=_IN_DATA)


def _variables(styles: str) -> str:
    """Gradio's variables that the styles use, and those that these use in turn, in light and dark."""
    light, dark = (dict(_declarations(block)) for block in theme()._get_theme_css().split(":root.dark"))
    wanted, pending = set[str](), set(_VARIABLE.findall(styles))
    while pending:
        wanted |= pending
        values = " ".join(block.get(name, "") for name in pending for block in (light, dark))
        pending = set(_VARIABLE.findall(values)) - wanted

    def rule(selector: str, block: Mapping[str, str]) -> str:
        return f"{selector} {{ {' '.join(f'--{name}: {block[name]};' for name in sorted(wanted & block.keys()))} }}"

    return f"{rule(':root', light)}\n@media screen {{ {rule('.dark', dark)} }}"


def _declarations(block: str) -> list[tuple[str, str]]:
    return re.findall(r"--([a-z0-9-]+): ([^;]+);", block)


def routes() -> list[Route]:
    """Where `shared_file.js` fetches templates. No browser keeps them, since their addresses never change."""
    return [Route("/attend-shared-page/{kind}", _serve)]


async def _serve(request: Request) -> Response:
    kind = request.path_params["kind"]
    if kind not in VIEWS:
        return PlainTextResponse(f"There is no such page: choose {', '.join(VIEWS)}.", status_code=404)
    return PlainTextResponse(template(kind))  # as text, so that no browser shows it as a page of this server
