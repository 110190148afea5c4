"""The page's scripts and styles as files that the browser fetches: their addresses, and how Gradio loads them.

Every `.js` file in ui/ is an ES module at its own path, so modules import each other by relative addresses, and each is
loaded once per page. The styles of the components are one stylesheet. All addresses contain a version computed from the
contents, so a browser may cache files for ever, and are relative to the page, so they work behind a proxy's path and on
a Space. No other file in ui/ can be fetched: these are read once and looked up by name.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterable, Mapping
from functools import cache
from pathlib import Path

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

FOLDER = Path(__file__).resolve().parent.parent  # ui/: every room keeps its scripts and styles beside its Python
STYLESHEET = "attend.css"
KIT = "kit/css"  # the styles that every room uses
LAYERS = {  # a rule of a later layer wins however specific it is, and a rule in no layer wins over all
    "reset": ("variables", "reset"),
    "primitives": ("primitives",),
    "parts": ("controls", "dialogs", "tokens", "examples", "change_bars"),
    "features": (),  # all other files
}
UNLAYERED = "gradio.css"  # files of this name style Gradio's own components, and are in no layer
_TYPES = {".js": "text/javascript", ".css": "text/css"}
IMPORT = re.compile(r"^(?:import|import .* from|\} from) '(\.[^']+)';$", re.MULTILINE)
DYNAMIC_IMPORT = re.compile(r"=> import\('(\.[^']+)'\)")  # of a module that is fetched when it is needed


@cache
def files() -> Mapping[str, bytes]:
    """Everything that may be fetched, by its path below the version."""
    scripts = {path.relative_to(FOLDER).as_posix(): path.read_bytes() for path in sorted(FOLDER.rglob("*.js"))}
    return {**scripts, STYLESHEET: stylesheet().encode()}


def stylesheet(rooms: Collection[str] | None = None) -> str:
    """The styles of ui/: each file in its layer, and last, in no layer, those that override Gradio's own styles.

    A new file needs no entry anywhere. Among the features, a folder's styles come before those of its subfolders.

    Args:
        rooms: the folders in ui/ whose styles are needed, besides those of the kit; None for all.
    """
    paths = sorted(FOLDER.rglob("*.css"), key=lambda path: (len(path.parts), path))
    if rooms is not None:
        paths = [
            path for path in paths if path.parent.relative_to(FOLDER).as_posix() in rooms and path.name != UNLAYERED
        ]
    shared = {name: [FOLDER / KIT / f"{part}.css" for part in parts] for name, parts in LAYERS.items()}
    shared["features"] = [path for path in paths if path.parent != FOLDER / KIT and path.name != UNLAYERED]
    layers = [f"@layer {name} {{\n{_read(files)}\n}}" for name, files in shared.items()]
    return "\n".join(
        [f"@layer {', '.join(LAYERS)};", *layers, _read([path for path in paths if path.name == UNLAYERED])]
    )


def _read(paths: Iterable[Path]) -> str:
    return "\n".join(path.read_text(encoding="utf-8") for path in paths)


def digest(files: Mapping[str, bytes]) -> str:
    """A digest of names and contents."""
    hashed = hashlib.sha256()
    for name, content in files.items():
        hashed.update(f"{name}\0{len(content)}\0".encode() + content)
    return hashed.hexdigest()[:12]


@cache
def version() -> str:
    """The version in all addresses, so that a browser never uses files of another version."""
    return digest(files())


def address(name: str) -> str:
    """The address of a file, relative to the page."""
    if name not in files():
        raise ValueError(f"ui/ has no file {name} for the page.")
    return f"attend/{version()}/{name}"


def imported(script: str) -> set[str]:
    """The modules that a module itself imports, statically or dynamically."""
    return _imported(script, IMPORT) | _imported(script, DYNAMIC_IMPORT)


@cache
def _imported(script: str, statement: re.Pattern[str]) -> set[str]:
    folder = (FOLDER / script).parent
    names = statement.findall(files()[script].decode())
    return {(folder / name).resolve().relative_to(FOLDER).as_posix() for name in names}


@cache
def needed(script: str) -> tuple[str, ...]:
    """A module and all modules that it imports statically, directly or indirectly."""
    modules, pending = set[str](), {script}
    while pending:
        modules |= pending
        pending = {name for module in pending for name in _imported(module, IMPORT)} - modules
    return tuple(sorted(modules))


def template(name: str) -> str:
    """The HTML of a component, from a file in ui/."""
    return (FOLDER / name).read_text(encoding="utf-8")


def head(script: str) -> str:
    """The links that a component adds to the document's head: the styles and its modules, to fetch them all at once.

    In the page's own HTML they would delay Gradio's scripts, for which the page waits longest.
    """
    links = [f'<link rel="stylesheet" href="{address(STYLESHEET)}">']
    return "".join(links + [f'<link rel="modulepreload" href="{address(name)}">' for name in needed(script)])


def loader(script: str, *events: str) -> str:
    """The `js_on_load` of a `gr.HTML` whose module has a function `start`.

    Values that were set before the module is loaded are in `props` when it starts.

    Args:
        events: the names of the component's events, which `gr.HTML` looks for in this text.
    """
    named = " ".join(f"'{event}'" for event in events)
    begin = "(module) => module.start({ element, props, trigger, watch })"
    return f"/* events: {named} */\n{_import(script)}.then({begin});"


def call(script: str, function: str) -> str:
    """The `js` of an event: a function of a module, with the event's arguments."""
    return f"async (...args) => (await {_import(script)}).{function}(...args)"


def _import(script: str) -> str:
    """The expression that imports a module; a plain import('./…') would look beside Gradio's own scripts."""
    return f"import(new URL('{address(script)}', document.baseURI).href)"


def routes() -> list[Route]:
    """The routes that any `gr.Blocks` with these components needs: `launch(app_kwargs={"routes": routes()})`."""
    return [Route("/attend/{version}/{name:path}", _serve)]


async def _serve(request: Request) -> Response:
    name = request.path_params["name"]
    if request.path_params["version"] != version() or name not in files():
        return PlainTextResponse("There is no such file on this page: reload it.", status_code=404)
    return Response(
        files()[name],
        media_type=_TYPES[Path(name).suffix],  # starlette adds the character set
        headers={"cache-control": "public, max-age=31536000, immutable"},
    )
