"""The page's scripts keep to the house: which room imports which, no circles, events declared, few files a folder."""

from __future__ import annotations

import ast
import re
from collections import Counter
from graphlib import CycleError, TopologicalSorter
from pathlib import PurePosixPath

import pytest

from ui.kit import assets

# A room's scripts may import those of its own and of the rooms before it; the features do not know each other.
FEATURE = 3
ROOMS = {
    "kit": 0,
    "examples": 1,
    "runs": 1,
    "glossary": 1,
    "inspector": 2,
    "settings": 2,
    "models": 2,
    "page": 4,
    "share": 4,
}
MAX_IN_A_FOLDER, LONGEST = 15, 350
SCRIPTS = sorted(name for name in assets.files() if name.endswith(".js"))


def room(script: str) -> str:
    return PurePosixPath(script).parts[0]


def level(script: str) -> int:
    return ROOMS.get(room(script), FEATURE)


def allowed(script: str, other: str) -> bool:
    return room(script) == room(other) or level(other) < level(script)


def test_scripts_import_only_what_their_rooms_may() -> None:
    imports = [(script, other) for script in SCRIPTS for other in sorted(assets.imported(script))]
    assert {other for _, other in imports} <= set(SCRIPTS), "an import leads nowhere"
    assert [f"{script} imports {other}" for script, other in imports if not allowed(script, other)] == []


def test_every_import_is_seen_by_this_test() -> None:
    """Imports and exports from elsewhere have one form, which the page's list of modules is made by."""
    other = re.compile(r"""\bfrom ['"][^'"]+['"];$|^import ['"][^'"]+['"];$|\bimport\((?!'[^']*'\)\.)""", re.MULTILINE)
    counts = {script: len(other.findall(assets.files()[script].decode())) for script in SCRIPTS}
    assert counts == {script: len(assets.imported(script)) for script in SCRIPTS}


def test_the_rule_would_see_a_feature_in_another_or_in_the_kit() -> None:
    assert not allowed("chat/conversation.js", "learn/drawings/matrix.js")
    assert not allowed("kit/js/dom.js", "runs/answer.js")
    assert not allowed("inspector/inspector.js", "settings/panel.js")
    assert allowed("encoder/reading.js", "inspector/token_strip.js")


def test_no_imports_go_in_circles() -> None:
    graph = {script: assets.imported(script) for script in SCRIPTS}
    assert list(TopologicalSorter(graph).static_order())
    with pytest.raises(CycleError):
        list(TopologicalSorter({"a": {"b"}, "b": {"a"}}).static_order())


def test_folders_and_files_stay_small() -> None:
    folders = Counter(str(PurePosixPath(script).parent) for script in SCRIPTS)
    assert {folder: count for folder, count in folders.items() if count > MAX_IN_A_FOLDER} == {}
    lengths = {script: assets.files()[script].count(b"\n") for script in SCRIPTS}
    assert {script: length for script, length in lengths.items() if length > LONGEST} == {}


def declared() -> dict[str, set[str]]:
    """The events that Python names with each script that it hands to the page, read from the calls themselves."""
    names_of: dict[str, set[str]] = {}
    for path in assets.FOLDER.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            match node:
                case ast.Call(func=ast.Name(id="component") | ast.Attribute(attr="loader"), args=args):
                    texts = [ast.literal_eval(argument) for argument in args if isinstance(argument, ast.Constant)]
                    if texts and texts[0].endswith(".js"):
                        names_of[texts[0]] = set(texts[1:])
    return names_of


def test_every_script_of_a_component_is_handed_to_the_page() -> None:
    components = {script for script in SCRIPTS if re.search(rb"export function start\((?!\))", assets.files()[script])}
    assert components == declared().keys()


def test_every_event_that_a_script_triggers_is_declared() -> None:
    """`gr.HTML` knows an event by its quoted name in the text of its loader alone."""
    triggered = {}
    for script in declared():
        modules = [assets.files()[name].decode() for name in {script, *assets.imported(script)}]
        triggered[script] = set(re.findall(r"\b(?:trigger|ask)\('(\w+)'", "\n".join(modules)))
    assert triggered == declared()
