"""The course for the page without a server: the answers of `ui/learn/course.py`, recorded with that page's weights.

Every chapter gets a file with its text, its own example, and the answers to all that a reader can choose from a list,
a switch, an example's button or a short slider. A recorded answer only says what differs from the example's. Which
inputs have no effect on each other is recorded, too, so that several of them can be changed at once.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from itertools import combinations, product
from pathlib import Path
from typing import Any

from model import catalog, names
from ui.kit import assets
from ui.learn import course
from ui.learn.chapter import Chapter
from ui.learn.chapters.views.loop import MODES
from ui.learn.exercises.exercise import (
    ChangeExercise,
    ChoiceExercise,
    Compute,
    Exercises,
    NumberExercise,
    Result,
    once,
)
from ui.learn.exercises.exercise import answer as answer_exercise
from ui.learn.inputs import Inputs
from ui.runs.models import Models
from web.forms import MODELS
from web.weights import save_rounded

Changes = dict[str, Any]  # inputs, by their names, that are not those of the chapter's own example

MAX_OFFERED = 24  # values of one slider, or clicks of one button, that are recorded
FILES = ("start", *course.CHAPTERS, "map")  # `start` is the frame's
ROOT = Path(__file__).resolve().parent.parent
_SOURCES = ("web", "lesson", "decoding", "model", "ui/learn", "checkpoints/attend-chat", "checkpoints/attend-translate")


@cache
def recorded_file(name: str) -> str:
    """One of `FILES`, as JSON. Some take a few seconds to compute."""
    if name == "start":
        content = course.frame()
    elif name == "map":
        content = {model: recorded_map(rounded_models(), model) for model in MODELS}
    else:
        content = recorded_chapter(rounded_models(), name, course.CHAPTERS[name])
    return json.dumps(content, ensure_ascii=False, separators=(",", ":"))


def form(files: Iterable[str]) -> dict[str, Any]:
    """What the page knows of the course before it is opened; the version is a digest of all that makes its files."""
    titles = {name: {"title": text.title} for name, text in course.texts().items()}
    return {"titles": titles, "files": tuple(files) or FILES, "version": _version()}


@cache
def _version() -> str:
    paths = (path for source in _SOURCES for path in sorted((ROOT / source).rglob("*")) if path.suffix != ".pyc")
    return assets.digest({path.relative_to(ROOT).as_posix(): path.read_bytes() for path in paths if path.is_file()})


@cache
def rounded_models() -> Models:
    """Our models in Python, with the weights that the browser has."""
    with tempfile.TemporaryDirectory() as folder:
        for name in MODELS:
            save_rounded(names.EMBEDDED / name, Path(folder) / name)
        loaded = {name: catalog.load(str(Path(folder) / name)) for name in MODELS}
    return Models(MODELS, lambda name, _: loaded[name])


def recorded_map(models: Models, name: str) -> dict[str, Any]:
    """The map of a model: each part in the first layer and head, and attention weights in all of them."""

    def ask(changes: Changes) -> dict[str, Any]:
        return _plain(course.answer(models, "map", {"model": name, **changes})["result"])

    own = ask({})
    places = product(range(1, own["layers"] + 1), range(1, own["heads"] + 1))
    choices = [{"layer": layer, "head": head} for layer, head in places] + [{"part": part} for part in own["parts"]]
    differences = [{one: value for one, value in choice.items() if value != own[one]} for choice in choices]
    answers = [_answer(own, changes, ask(changes)) for changes in differences if changes]
    return {"own": own, "answers": answers}


def recorded_chapter(models: Models, name: str, chapter: Chapter) -> dict[str, Any]:
    """A chapter's file."""
    compute = once(partial(chapter.answer, models))

    def ask(changes: Inputs) -> dict[str, Any]:
        return _plain(chapter.named(compute(changes)))

    page, own = _plain(chapter.page(course.texts()[name])), ask({})
    choices = [*_offered(chapter, page, own), *(_texts_of_loop(compute) if "loop" in own else ())]
    answers = [_answer(own, changes, ask(changes)) for changes in choices if changes]
    fixed = [one for one, slot in page["slots"].items() if _is_fixed(slot, own, one)]
    model_names = _values({"kind": "select", "options": "models"}, own, "model") or [""]
    return {
        "title": course.texts()[name].title,
        "page": page,
        "own": own,
        "answers": answers,
        "groups": groups(own, answers, ask),
        "fixed": fixed,
        "exercises": {
            one: {model: _judged(course.exercises(name), one, compute, model) for model in model_names}
            for one in chapter.exercises
        },
    }


def _plain(value: Any) -> Any:
    """A value as the browser reads it."""
    return json.loads(json.dumps(value))


# ---- what a reader can choose ----


def _offered(chapter: Chapter, page: Mapping[str, Any], own: Mapping[str, Any]) -> list[Changes]:
    """Everything that is offered, each as the changes that it makes, and what solves the exercises."""
    choices: list[Changes] = []
    lists: dict[str, dict[int, list[Any]]] = {}  # of inputs that are lists: what is offered at each place
    for name, slot in page["slots"].items():
        root, _, place = name.partition(".")
        values = _values(slot, own, name)
        if place and values:
            lists.setdefault(root, {})[int(place)] = values
        else:
            also = slot.get("also") or {}
            choices += [{**also, root: value} for value in values]
        choices += _clicks(slot, own, name)
    for root, by_place in lists.items():
        choices += [{root: list(values)} for values in product(*(by_place[place] for place in sorted(by_place)))]
    choices += [
        _plain(dict(exercise.example))
        for exercise in chapter.exercises.values()
        if isinstance(exercise, ChangeExercise)
    ]
    changed = ({name: value for name, value in one.items() if _is_change(own, name, value)} for one in choices)
    by_key = {json.dumps(one, sort_keys=True): one for one in changed if one}
    return list(by_key.values())


def _is_change(own: Mapping[str, Any], name: str, value: Any) -> bool:
    return value is not None and value != own["inputs"].get(name)


def _texts_of_loop(compute: Compute) -> Iterator[Changes]:
    """The most probable text of each mode of the chapter on generation, token by token, or at once to its end; and the
    first token of several draws."""
    yield from ({"sample": True, "seed": seed} for seed in range(2, 2 + MAX_OFFERED))
    for mode in MODES:
        is_first = mode == compute({})["mode"]
        changes: Changes = {} if is_first else {"mode": mode}
        for _ in range(MAX_OFFERED):
            loop = compute(changes)["loop"]
            yield changes
            if loop["next"] is None:
                break
            if is_first or not loop["tokens"]:
                yield {**changes, "to_end": True}
            changes = {**changes, "tokens": [*loop["tokens"], loop["next"]["token"]]}


def _values(slot: Mapping[str, Any], own: Mapping[str, Any], name: str) -> list[Any]:
    """The values that a slot offers; none for one with too many."""
    match slot["kind"]:
        case "select":
            offered = _value(own, slot["options"])
            if isinstance(offered, int):
                return list(range(1, offered + 1))
            return [one[0] if isinstance(one, list) else one for one in offered or ()]
        case "switch":
            return list(slot["values"])
        case "check":
            return [False, True]
        case "slider":
            least, most = own.get("limits", {}).get(name, (slot["min"], slot["max"]))
            steps = round((most - least) / slot["step"])
            if steps > MAX_OFFERED:
                return []
            return [round(least + index * slot["step"], 9) for index in range(steps + 1)]
    return []


def _is_fixed(slot: Mapping[str, Any], own: Mapping[str, Any], name: str) -> bool:
    """Whether a slot is for values of a reader's own, which can't be recorded."""
    match slot["kind"]:
        case "area" | "line" | "numbers" | "words":
            return True
        case "slider":
            return not _values(slot, own, name)
        case "button":
            return bool(slot["once"])
    return False


def _clicks(slot: Mapping[str, Any], own: Mapping[str, Any], name: str) -> Iterator[Changes]:
    """The changes that buttons make."""
    if slot["kind"] == "examples":
        for _, changes in slot.get("examples") or _value(own, name) or ():
            yield changes
    if slot["kind"] == "button" and not slot["once"]:
        for clicks in range(1, MAX_OFFERED + 1):
            added = {one: own["inputs"][one] + clicks * by for one, by in slot["adds"].items()}
            if all(value <= own.get("limits", {}).get(one, (0, value))[1] for one, value in added.items()):
                yield {**slot["changes"], **added}


def _value(result: Mapping[str, Any], name: str) -> Any:
    """What a name with dots leads to."""
    value: Any = result
    for part in name.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return value


# ---- what differs, and what does so independently ----


def _answer(own: Mapping[str, Any], changes: Changes, result: Mapping[str, Any]) -> dict[str, Any]:
    """A recorded answer: the values of a result that are not the example's, by their paths, and those that it lacks."""
    before, after = _leaves(own), _leaves(result)
    differs = {path: value for path, value in after.items() if path not in before or before[path] != value}
    return {"changes": changes, "result": differs, "without": sorted(before.keys() - after.keys())}


def _leaves(result: Mapping[str, Any]) -> dict[str, Any]:
    leaves: dict[str, Any] = {}
    for name, value in result.items():
        if isinstance(value, dict) and value:
            leaves |= {f"{name}/{inner}": content for inner, content in value.items()}
        else:
            leaves[name] = value
    return leaves


def groups(own: Mapping[str, Any], answers: Sequence[Mapping[str, Any]], compute: Compute) -> list[list[str]]:
    """Inputs that belong together: changed in one answer, or with an effect on the same part of the result.

    An input may also decide whether another one has an effect at all, as a switch does between greedy decoding and
    draws. So pairs of answers of different groups are computed together; where that isn't what both of them say, the
    groups are joined.

    Args:
        compute: the chapter's result, as `own` is.
    """
    sets: list[set[str]] = [{name} for name in own["inputs"]]
    effects: dict[str, set[str]] = {}
    for answer in answers:
        for name in answer["changes"]:
            effects.setdefault(name, set()).update(answer["result"], answer["without"])
        _join(sets, set(answer["changes"]))
    for one, other in combinations(effects, 2):
        if effects[one] & effects[other]:
            _join(sets, {one, other})
    ends = {name: [answer for answer in answers if [*answer["changes"]] == [name]] for name in effects}
    for one, other in combinations(ends, 2):
        for first, second in product(ends[one][:: len(ends[one]) - 1 or 1], ends[other][:: len(ends[other]) - 1 or 1]):
            if any({one, other} <= group for group in sets):
                break
            together = _leaves(compute({**first["changes"], **second["changes"]}))
            expected = _leaves(own) | first["result"] | second["result"]
            if {path: expected[path] for path in expected.keys() - {*first["without"], *second["without"]}} != together:
                _join(sets, {one, other})
    return [sorted(group) for group in sets]


def _join(sets: list[set[str]], names: set[str]) -> None:
    members = [group for group in sets if group & names]
    for group in members:
        sets.remove(group)
    sets.append(set().union(names, *members))


# ---- exercises ----


def _judged(exercises: Exercises, name: str, compute: Compute, model: str) -> dict[str, Any]:
    """How attempts at an exercise are judged while a model is chosen in the chapter, "" where none can be."""
    exercise, text = exercises[name]
    state = {"model": model} if model else {}

    def reply(**attempt: Any) -> dict[str, Any]:
        return _plain(answer_exercise(exercises, compute, {"exercise": name, "state": state, **attempt}))

    def with_model(inputs: Inputs) -> Result:
        return compute({**state, **inputs})

    shared = {"predicted": exercise.predicted, "reveal": reply(reveal=True), "explanation": text.explanation}
    match exercise:
        case ChoiceExercise():
            return {**shared, "replies": [reply(answer=option) for option in range(len(text.options))]}
        case NumberExercise():
            mistakes = [[mistake(with_model), text.mistakes[one]] for one, mistake in exercise.mistakes.items()]
            solutions = [exercise.solve(with_model), *exercise.from_shown(with_model)]
            return {**shared, "digits": exercise.digits, "solutions": solutions, "mistakes": mistakes}
        case ChangeExercise():
            mistakes = [[checks, text.mistakes[one]] for one, checks in exercise.mistakes.items()]
            return {**shared, "holds": exercise.holds, "mistakes": mistakes}
