"""The values of the views, and rules for their files; tests/browser/inspector tests the drawing."""

from __future__ import annotations

import base64
import json
import math
import re
import warnings
from dataclasses import replace

import pytest
import torch

from decoding.step import CandidateRecord, Choice, ContrastiveCandidate, LayerContrast
from model.loaded import LoadedModel
from tests.helpers.stage import conversation_view, inspector_view
from tests.ui.test_theme import contrast
from ui.inspector import inspector_value
from ui.kit import assets
from ui.kit.packing import packed
from ui.learn.wording import rounded
from ui.runs.answer_text import AnswerText
from ui.runs.attention_rows import attention_row
from ui.runs.run import RunRecord, TokenRecord
from ui.runs.run_values import answer_tokens

SCRIPTS = sorted(assets.FOLDER.rglob("*.js"))
FILES = sorted({*SCRIPTS, *assets.FOLDER.rglob("*.css")})


def make_choice() -> Choice:
    """Three candidates under temperature, top-k and top-p: one is chosen, one removed by top-k and one by top-p."""
    return Choice(
        token=7,
        rank=2,
        draw=0.61,
        stages=("model", "temperature", "top_k", "top_p"),
        kept=(50, 50, 3, 2),
        candidates=(
            CandidateRecord(5, (0.5, 0.6, 0.75, 0.8)),
            CandidateRecord(7, (0.25, 0.15, 0.1875, 0.2)),
            CandidateRecord(9, (0.1, 0.05, 0.0625, 0.0)),
            CandidateRecord(3, (0.05, 0.01, 0.0, 0.0)),
        ),
        rest=(0.1, 0.19, 0.0, 0.0),
        mass=(1.0, 1.0, 0.8, 0.9375),  # 0.6 + 0.15 + 0.05, then 0.75 + 0.1875
        stage_entropy=(1.5, 1.2, 1.01, 0.72),
    )


def test_a_step_has_the_chosen_token_and_what_removed_the_others() -> None:
    value = inspector_value.step_value(make_choice())
    assert value["stages"] == ["model", "temperature", "top_k", "top_p"]
    assert value["kept"] == [50, 50, 3, 2]
    assert value["mass"] == [1.0, 1.0, 0.8, 0.9375] and value["entropy"] == [1.5, 1.2, 1.01, 0.72]
    assert (value["rank"], value["draw"], value["origin"], value["rest"][0]) == (2, 0.61, "chosen", 0.1)
    assert value["id"] == 7
    assert value["candidates"] == [
        {"id": 5, "probabilities": [0.5, 0.6, 0.75, 0.8]},
        {"id": 7, "probabilities": [0.25, 0.15, 0.1875, 0.2]},
        {"id": 9, "probabilities": [0.1, 0.05, 0.0625, 0.0]},
        {"id": 3, "probabilities": [0.05, 0.01, 0.0, 0.0]},
    ]


def test_a_step_has_the_candidates_of_its_strategy() -> None:
    weighed = (ContrastiveCandidate(5, 0.8, 0.9, 0.12), ContrastiveCandidate(7, 0.2, 0.1, 0.08))
    value = inspector_value.step_value(replace(make_choice(), contrastive_candidates=weighed))
    assert value.get("contrastive") == [
        {"id": 5, "confidence": 0.8, "degeneration": 0.9, "score": 0.12},
        {"id": 7, "confidence": 0.2, "degeneration": 0.1, "score": 0.08},
    ]
    contrast = LayerContrast(2, ((0, 0.1), (2, 1 / 3)))
    value = inspector_value.step_value(replace(make_choice(), contrast=contrast))
    assert value.get("contrast") == {
        "layer": 2,
        "divergences": [{"layer": 0, "bits": 0.1}, {"layer": 2, "bits": 0.333333}],
    }
    assert not {"contrastive", "contrast"} & inspector_value.step_value(make_choice()).keys()


def test_a_probability_too_small_to_write_was_not_removed() -> None:
    """At a temperature of 0.01 softmax underflows to 0, yet temperature keeps every token."""
    choice = Choice(
        token=1,
        rank=1,
        draw=None,
        stages=("model", "temperature"),
        kept=(2, 2),
        candidates=(CandidateRecord(1, (0.9, 1.0)), CandidateRecord(2, (0.1, 0.0))),
        rest=(0.0, 0.0),
        mass=(1.0, 1.0),
        stage_entropy=(0.469, 0.0),
    )
    (_, first), (_, second) = (each["probabilities"] for each in inspector_value.step_value(choice)["candidates"])
    assert first < 1 and second > 0, "the page would write 100 % for less than all and 0 % for something"


def test_less_than_all_is_never_sent_as_all_nor_something_as_nothing() -> None:
    """100 tokens, of which one has 0.99999997 at first and, after a filter, all."""
    choice = Choice(
        token=1,
        rank=1,
        draw=None,
        stages=("model", "temperature", "top_k"),
        kept=(100, 100, 1),
        candidates=(CandidateRecord(1, (0.99999997, 1.0, 1.0)),),
        rest=(3e-8, 0.0, 0.0),
        mass=(1.0, 1 - 1e-16, 1 - 1e-17),
        stage_entropy=(1e-6, 0.0, 0.0),
    )
    value = inspector_value.step_value(choice)
    assert [p < 1 for p in value["candidates"][0]["probabilities"]] == [True, True, False]
    assert [mass > 0 for mass in value["rest"]] == [True, True, False]
    assert [1 - mass > 0 for mass in value["mass"]] == [False, False, True]  # only top-k removed tokens
    assert [rounded(share) for share in (0.99996, 1.0)] == [0.999999, 1.0]


def test_numbers_are_sent_with_six_digits() -> None:
    choice = Choice(1, 1, None, ("model",), (9,), (CandidateRecord(1, (1 / 3,)),), (2 / 3,), (1.0,), (math.pi,))
    value = inspector_value.step_value(choice)
    assert (value["entropy"], value["candidates"][0]["probabilities"], value["rest"]) == (
        [3.14159],
        [0.333333],
        [0.666667],
    )


def test_a_token_has_the_probability_of_its_row(tiny: LoadedModel) -> None:
    """0.123449996 is 12.34 %, but with six digits 0.12345, which is 12.35 % or, as a binary fraction, less."""
    candidate = CandidateRecord(7, (0.123449996,))
    choice = Choice(7, 1, None, ("model",), (400,), (candidate,), (0.876550004,), (1.0,), (2.0,))
    run = RunRecord("r1", "write", tiny.name, [TokenRecord(7, "chosen", choice)])
    value = inspector_value.inspector_value(run, tiny.tokenizer, busy=False)
    assert value["probabilities"] == value["steps"][0]["candidates"][0]["probabilities"] == [0.12345]
    (token,) = answer_tokens(run.tokens, AnswerText(tiny.tokenizer), finished=True)
    assert token["probability"] == 0.12345


@pytest.mark.parametrize(("layers", "heads", "keys"), [(1, 1, 1), (2, 3, 5), (6, 8, 300)])
def test_attention_travels_as_square_roots_in_bytes(layers: int, heads: int, keys: int) -> None:
    torch.manual_seed(keys)
    attention = torch.softmax(3 * torch.randn(layers, heads, keys), -1).half()
    sent = base64.b64decode(attention_row(attention))
    slow = [
        round(255 * math.sqrt(float(attention[layer, head, key])))
        for layer in range(layers)
        for head in range(heads)
        for key in range(keys)
    ]
    assert len(sent) == layers * heads * keys
    # the root is taken in float32 there and in float64 here: at a half the rounding may differ by one
    assert max(abs(a - b) for a, b in zip(sent, slow, strict=True)) <= 1
    back = torch.tensor(list(sent)).div(255).square().view(layers, heads, keys)
    # half a byte of the root moves a weight by at most 2 · 0.5/255 + (0.5/255)² < 0.004; a whole byte by twice that
    assert (back - attention.float()).abs().max() < 0.008


def test_a_value_travels_as_one_string_in_which_gradio_finds_no_script() -> None:
    """Gradio logs a warning for `<script>` in the value of a `gr.HTML`."""
    value = {"tokens": [("Hi", 0.5), (" \u202e</script><script>", 0.01)], "note": None}
    sent, view = packed(value), conversation_view()
    with pytest.warns(UserWarning, match="`<script>` tag"):
        view.postprocess(json.dumps(value))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert view.postprocess(sent) == sent
    assert json.loads(sent) == {"tokens": [["Hi", 0.5], [" \u202e</script><script>", 0.01]], "note": None}


def test_templates_hold_no_syntax_that_would_run_data() -> None:
    """gr.HTML runs `${…}` and `{{…}}` of a template, and what the data puts there."""
    for component in (conversation_view(), inspector_view()):
        assert not re.search(r"[$`{}]", component.html_template)
        assert not component.css_template


def test_scripts_write_text_only_and_say_what_they_do() -> None:
    writing = ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "Function(", "DOMParser")
    code = {script: script.read_text(encoding="utf-8") for script in SCRIPTS}
    assert [(script.name, name) for script, text in code.items() for name in writing if name in text] == []
    assert [script.name for script, text in code.items() if not text.startswith("/**\n * ")] == []


def test_nothing_comes_from_another_host() -> None:
    names = {"http://www.w3.org/2000/svg", "http://www.w3.org/1998/Math/MathML"}  # never fetched
    address = re.compile(r"https?://[^'\"\s)]+|url\((?!#)[^)]*\)|@import (?!\{)")
    foreign = {file.name: {*address.findall(file.read_text(encoding="utf-8"))} - names for file in FILES}
    assert {name: addresses for name, addresses in foreign.items() if addresses} == {}


def test_no_file_is_left_beside_the_source() -> None:
    """Gradio writes a .pyi file beside every module that defines a subclass of a component."""
    assert not list(assets.FOLDER.rglob("*.pyi"))


# ---- colours ----


# Gradio's own text and background in its default theme, and the quiet text's share of the text colour
THEMES = {"light": ("#27272a", "#ffffff"), "dark": ("#f4f4f5", "#0f0f11")}
STYLE = "".join(
    (assets.FOLDER / assets.KIT / name).read_text(encoding="utf-8") for name in ("variables.css", "tokens.css")
)


def _variables(theme: str) -> tuple[str, list[str]]:
    """The variables of a theme, and the shades among them in which a probability is drawn."""
    block = re.findall(r"\{([^}]*--at-p0:[^}]*)\}", STYLE)[theme == "dark"]
    return block, re.findall(r"--at-p\d+: (#[0-9a-f]{6});", block)


def _rgb(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


@pytest.mark.parametrize("theme", THEMES)
def test_tokens_can_be_read_on_every_colour(theme: str) -> None:
    (text, page), (block, shades) = THEMES[theme], _variables(theme)
    assert len(shades) == 11
    violet = re.search(r"--at-attention: (\d+), (\d+), (\d+);", block)
    assert violet
    for alpha in map(float, re.findall(r"var\(--at-attention\), ([\d.]+)\)", STYLE)):
        mixed = (alpha * int(one) + (1 - alpha) * other for one, other in zip(violet.groups(), _rgb(page), strict=True))
        shades.append("#" + "".join(f"{round(channel):02x}" for channel in mixed))
    assert min(contrast(text, shade) for shade in shades) >= 4.5


@pytest.mark.parametrize("theme", THEMES)
def test_unlikely_and_likely_differ_without_red_and_green(theme: str) -> None:
    """From orange to blue the blue channel, which every common colour blindness leaves, only rises against the red."""
    balance = [blue - red for red, _, blue in map(_rgb, _variables(theme)[1])]
    assert balance == sorted(balance) and balance[0] < -90 and balance[-1] > 90


def test_a_component_that_gradio_builds_anew_sends_the_same() -> None:
    """Once skipped in a session, a component is rebuilt from its class, so nothing may hang on the instance."""
    for view in (conversation_view(), inspector_view()):
        assert "postprocess" not in vars(view)


def test_sizes_corners_and_space_are_those_of_the_scales() -> None:
    free = {"9px", "0.86em", "0.9em", "1px", "50%", "999px", "inherit", "0"}  # bars, circles, and what follows its text
    lines = {"92px", "64px"}  # between a sentence and its translation, where the lines of the alignment are drawn
    space = re.compile(r"(?:^|\s)(?:(?:padding|margin)[a-z-]*|(?:row-|column-)?gap): ([^;(]+);")
    free_spaces = re.compile(r"-.*|0|1px|auto|normal|inherit|[\d.]+em")  # what is drawn together, or follows its text
    faults: list[tuple[str, set[str]]] = []
    for style in assets.FOLDER.rglob("*.css"):
        text = re.sub(r"[\d.]+pt\b", "0", style.read_text(encoding="utf-8"))  # on paper
        used = re.findall(r"(?:font-size|border-radius): ([^;]+);", text)
        sizes = {size for value in used for size in value.split() if not size.startswith("var(--at-")} - free
        spaces = space.findall(re.sub(r"var\(--at-[\w-]+\)", "0", text))
        sizes |= {size for value in spaces for size in value.split() if not free_spaces.fullmatch(size)} - lines
        faults += [(style.relative_to(assets.FOLDER).as_posix(), sizes)] if sizes else []
    assert faults == []
