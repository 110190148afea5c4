"""What the page can fetch from ui/: only scripts and styles, under a version derived from their contents."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.testclient import TestClient

from ui.kit import assets
from ui.kit.declarations import contracts, declarations
from ui.server.security import POLICY, Guard


@pytest.fixture(scope="module")
def client() -> TestClient:
    return TestClient(Starlette(routes=assets.routes(), middleware=[Middleware(Guard)]))


@pytest.mark.parametrize(
    ("name", "kind"), [("kit/js/dom.js", "text/javascript; charset=utf-8"), ("attend.css", "text/css; charset=utf-8")]
)
def test_a_file_comes_with_its_type_for_ever_and_under_the_policy(client: TestClient, name: str, kind: str) -> None:
    answer = client.get(f"/{assets.address(name)}")
    assert answer.status_code == 200
    assert answer.content == assets.files()[name]
    assert answer.headers["content-type"] == kind
    assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert answer.headers["content-security-policy"] == POLICY
    assert answer.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize(
    "path",
    [
        f"/attend/{assets.version()}/kit/component.py",
        f"/attend/{assets.version()}/kit/../../app.py",
        f"/attend/{assets.version()}/..%2f..%2fapp.py",
        f"/attend/{assets.version()}//etc/passwd",
        f"/attend/{assets.version()}/",
        "/attend/000000000000/kit/js/dom.js",
    ],
)
def test_nothing_else_can_be_fetched(client: TestClient, path: str) -> None:
    answer = client.get(path)
    assert answer.status_code == 404
    assert b"import" not in answer.content


def test_every_style_is_in_the_sheet_once_and_in_its_layer() -> None:
    sheet = assets.files()[assets.STYLESHEET].decode()
    assert sheet.startswith("@layer reset, primitives, parts, features;")
    starts = {name: sheet.index(f"@layer {name} {{") for name in assets.LAYERS}
    shared = {f"{part}.css": name for name, parts in assets.LAYERS.items() for part in parts}
    for path in assets.FOLDER.rglob("*.css"):
        text = path.read_text(encoding="utf-8")
        assert sheet.count(text) == 1, path
        before = sheet[: sheet.index(text)]
        in_a_layer = before.count("{") - before.count("}") == 1
        assert in_a_layer is (path.name != assets.UNLAYERED), path
        if in_a_layer:
            newest = max((name for name in starts if starts[name] < len(before)), key=starts.__getitem__)
            assert newest == (shared[path.name] if path.parent == assets.FOLDER / assets.KIT else "features"), path


def test_other_contents_have_another_version() -> None:
    files = {"a.js": b"1", "b.js": b"2"}
    others = [{"a.js": b"1", "b.js": b"3"}, {"a.js": b"1", "c.js": b"2"}, {"a.js": b"12", "b.js": b""}]
    assert assets.digest(files) == assets.digest(dict(files))
    assert assets.digest(files) not in [assets.digest(other) for other in others]


def test_a_module_needs_what_its_imports_need() -> None:
    assert "kit/js/signals.js" in assets.needed("chat/conversation.js")  # by kit/js/theme.js alone
    assert set(assets.needed("kit/js/storage.js")) == {"kit/js/storage.js"}


def test_a_chapter_of_the_lesson_is_fetched_when_it_is_opened() -> None:
    chapter = "learn/chapters/drawings/attention.js"
    assert chapter in assets.imported("learn/course.js")
    assert chapter not in assets.needed("learn/learn.js")


def test_an_unknown_file_is_refused_when_the_page_is_made() -> None:
    with pytest.raises(ValueError, match=r"no file kit/nothing\.js"):
        assets.address("kit/nothing.js")


def test_the_contract_becomes_typescript() -> None:
    source = '''
Kind = Literal["a", "b"]
Row = tuple[int, str | None, list[float]]
class Value(TypedDict):
    """A value."""
    kind: Kind
    rows: list[Row]
    by_name: dict[str, Any]
    several: list[str | None]
    since: NotRequired[int]
'''
    assert declarations(source).split("\n\n", 1)[1] == (
        "export type Kind = 'a' | 'b';\n\n"
        "export type Row = [number, string | null, number[]];\n\n"
        "export interface Value {\n"
        "  kind: Kind;\n"
        "  rows: Row[];\n"
        "  by_name: Record<string, any>;\n"
        "  several: (string | null)[];\n"
        "  since?: number;\n"
        "}\n"
    )


def test_a_type_without_a_typescript_form_is_refused() -> None:
    with pytest.raises(ValueError, match="set"):
        declarations("class Value(TypedDict):\n    names: set[str]\n")


def test_a_type_of_another_room_is_imported_from_there() -> None:
    source = "from ui.runs.runs_contract import TokenKind, TurnValue\nclass Value(TypedDict):\n    turn: TurnValue\n"
    text = declarations(source, assets.FOLDER / "inspector" / "toolbar")
    assert "\nimport type { TokenKind, TurnValue } from '../../runs/runs_contract';\n" in text


@pytest.mark.parametrize("contract", contracts(), ids=lambda path: path.parent.name)
def test_every_type_of_a_contract_has_a_counterpart(contract: Path) -> None:
    text = contract.read_text(encoding="utf-8")
    assert (
        declarations(text, contract.parent).count("export interface ")
        == len(re.findall(r"^class (?!InvalidDocument)", text, re.M))
        > 0
    )
