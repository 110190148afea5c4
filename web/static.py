"""Write the page without a server into a folder, which any static host can serve.

    python -m web.static [--out DIR] [--serve]

The folder holds the page's scripts as they are, in the same folders as here, so that their imports need no change, the
models as `web/export.py` writes them, and a front matter by which a Hugging Face Space serves it. `offline.js` keeps
all of it in the browser, for visits without a network.
"""

from __future__ import annotations

import functools
import http.server
import json
import re
import shutil
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from tqdm import tqdm

from model.command_line import Parser, command
from model.errors import AttendError
from model.threads import use_threads
from ui.kit import assets
from ui.share import bundle
from web import gallery, recorded_course
from web.export import export
from web.forms import MODELS, forms

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "web" / "page"
# Of the model's worker and of the page, in the order in which they are fetched: the weights take longest.
BEGINNINGS = (ROOT / "web" / "worker.js", PAGE / "models.js", PAGE / "page.js")
FRONT_MATTER = """---
title: Attend in your browser
emoji: 👀
colorFrom: blue
colorTo: yellow
sdk: static
license: apache-2.0
---

A language model that runs in the visitor's browser, with the probabilities and the attention behind every token.
"""


def write(folder: Path, course: Sequence[str] = recorded_course.FILES) -> None:
    """Write the page; `AttendError` for a folder that holds something else.

    Args:
        course: its files of the course, which take almost a minute to record; () leaves all to `web/served.py`.
    """
    if folder.exists() and any(folder.iterdir()) and not (folder / "offline.js").is_file():
        raise AttendError(f"{folder} holds other files: choose an empty folder with --out.")
    shutil.rmtree(folder, ignore_errors=True)
    _put(folder / "offline.js", "")  # marks the folder as ours, even if writing is interrupted
    scripts = paths(needed(BEGINNINGS, assets.IMPORT, assets.DYNAMIC_IMPORT))
    for script in scripts:
        (folder / script).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / script, folder / script)
    for name in MODELS:
        export(name, folder / "models" / name)
    for mode, recorded in gallery.pages().items():
        _put(folder / "gallery" / f"{mode}.html", recorded)
    for kind in bundle.VIEWS:  # where `ui/inspector/toolbar/shared_file.js` looks for them
        _put(folder / "attend-shared-page" / kind, bundle.template(kind))
    for name in tqdm(course, desc="Recording the course", unit=" chapters", leave=False, file=sys.stderr):
        _put(folder / "course" / f"{name}.json", recorded_course.recorded_file(name))
    styles = bundle.styles(script.removeprefix("ui/") for script in scripts if script.startswith("ui/"))
    first = dict.fromkeys(path for script in BEGINNINGS for path in paths(needed([script], assets.IMPORT)))
    preloads = "\n".join(f'<link rel="modulepreload" href="{script}">' for script in first)
    page_styles = (PAGE / "page.css").read_text(encoding="utf-8")
    _put(folder / "attend.css", f"{styles}\n@layer features {{\n{page_styles}}}\n")
    _put(
        folder / "index.html",
        (PAGE / "index.html")
        .read_text(encoding="utf-8")
        .replace("{preloads}", preloads)
        .replace("{forms}", bundle.inside_script({**forms(), "course": recorded_course.form(course)})),
    )
    _put(folder / "README.md", FRONT_MATTER)
    shutil.copy(assets.FOLDER / "favicon.svg", folder / "favicon.svg")
    _put(folder / "offline.js", _offline(folder))


def paths(scripts: Iterable[Path]) -> list[str]:
    return sorted(script.relative_to(ROOT).as_posix() for script in scripts)


def needed(scripts: Sequence[Path], *statements: re.Pattern[str]) -> set[Path]:
    """These modules and all that they import by such statements, directly or indirectly."""
    modules, frontier = set[Path](), {script.resolve() for script in scripts}
    while frontier:
        modules |= frontier
        frontier = {module for script in frontier for module in _imported(script, statements)} - modules
    return modules


def _imported(script: Path, statements: Sequence[re.Pattern[str]]) -> Iterator[Path]:
    source = script.read_text(encoding="utf-8")
    for name in (name for statement in statements for name in statement.findall(source)):
        yield (script.parent / name).resolve()


def _offline(folder: Path) -> str:
    """The script that keeps the page; weights are kept where they are loaded (`web/download.js`)."""
    files = {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*.*")) if path.is_file()
    }
    del files["offline.js"]
    kept = ["./", *(name for name in files if name.endswith((".js", ".css", ".svg", "model.json")))]
    script = (PAGE / "offline.js").read_text(encoding="utf-8")
    version = f"VERSION = '{assets.digest(files)}'"
    return script.replace("VERSION = ''", version).replace("FILES = ['']", f"FILES = {json.dumps(kept)}")


def _put(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def serve(folder: Path, port: int) -> None:
    """Show the folder on this machine until interrupted, as a static host would."""
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=folder)
    try:
        server = http.server.ThreadingHTTPServer(("127.0.0.1", port), handler)
    except OSError as error:
        raise AttendError(f"Port {port} can't be used ({error.strerror}): choose another with --port.") from error
    print(f"The page is at http://127.0.0.1:{port}/ (Ctrl-C ends it)", flush=True)
    server.serve_forever()


@command
def main(arguments: Sequence[str] | None = None) -> None:
    parser = Parser(prog="python -m web.static", description="Write the page that needs no server into a folder.")
    parser.add_argument(
        "--out", metavar="DIR", type=Path, default=Path("build/static"), help="the folder (default build/static)"
    )
    parser.add_argument("--serve", action="store_true", help="then show it on this machine")
    parser.add_argument("--port", type=int, default=8000, metavar="N", help="port for --serve (default 8000)")
    options = parser.parse_args(arguments)
    use_threads(1)  # the course's models are so small that a second thread only waits
    try:
        write(options.out)
    except OSError as error:
        raise AttendError(f"{options.out} can't be written ({error.strerror}): choose another with --out.") from error
    size = sum(path.stat().st_size for path in options.out.rglob("*") if path.is_file())
    print(f"Wrote the page to {options.out} ({size / 1e6:.1f} MB).", flush=True)
    if options.serve:
        serve(options.out, options.port)


if __name__ == "__main__":
    sys.exit(main())
