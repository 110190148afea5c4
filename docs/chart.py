"""Draws the speeds of Attend and of other engines, from the JSON lines of `benchmarks.engines` and `.decoding`.

    python -m benchmarks.engines > engines.txt
    python -m benchmarks.decoding > decoding.txt
    python -m docs.chart engines.txt decoding.txt --out docs/images/speed.svg

Each model has a panel of its own. The grey of the text can be read on a light page and on a dark one.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from model.command_line import Parser, command
from model.errors import AttendError

OURS, PEER, TRANSFORMERS = "Attend, traced", "CTranslate2", "transformers"
COLOURS = {OURS: "#3b82f6", PEER: "#d97706", TRANSFORMERS: "#8b93a1"}
GREY = "#7d8590"
# The label of each case, its name in `benchmarks.engines`, and the other engine for it in `benchmarks.decoding`.
CASES = (
    ("float32, one text", "float32 one row", "transformers, plain"),
    ("float32, four beams", "float32 4 beams", "transformers, four beams"),
    ("float32, 16 texts", "float32 16 rows", ""),
    ("int8, one text", "int8 one row", ""),
)

Speeds = dict[str, dict[str, dict[str, float]]]  # model → label of a case → engine → tokens a second


def speeds(lines: Iterable[str]) -> Speeds:
    """The speeds in the JSON lines; all other lines are ignored. `AttendError` if there is no JSON line."""
    speeds: Speeds = {}
    for figures in (json.loads(line) for line in lines if line.startswith("{")):
        of_model = speeds.setdefault(figures["model"], {label: {} for label, _, _ in CASES})
        for label, case, of_transformers in CASES:
            of_model[label] |= _of_case(figures, case, of_transformers)
    if not speeds:
        raise AttendError("There is no JSON line to draw: give files with the output of the benchmarks.")
    return speeds


def _of_case(figures: Mapping[str, Any], case: str, of_transformers: str) -> dict[str, float]:
    if figures["benchmark"] == "decoding":
        speed = figures["tokens_per_second"].get(of_transformers)
        return {} if speed is None else {TRANSFORMERS: speed}
    named = {OURS: f"Attend {case}", PEER: f"CTranslate2 {case}"}
    return {
        engine: figures["figures"][name]["tokens_per_second"]
        for engine, name in named.items()
        if name in figures["figures"]
    }


def draw(speeds_of_models: Speeds, out: Path) -> None:
    """Draw a panel for each model, with a group of bars for each case."""
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot
    from matplotlib.patches import Patch

    pyplot.rcParams.update({"svg.hashsalt": "attend", "svg.fonttype": "none", "font.family": "sans-serif"})
    pyplot.rcParams.update(dict.fromkeys(("text.color", "axes.labelcolor", "xtick.color", "ytick.color"), GREY))
    count = len(speeds_of_models)
    figure, panels = pyplot.subplots(1, count, figsize=(5 * count, 3.6), squeeze=False, layout="constrained")
    for panel, (model, cases) in zip(panels[0], speeds_of_models.items(), strict=True):
        for number, by_engine in enumerate(cases.values()):
            for place, engine in enumerate(by_engine):
                at = number + 0.27 * (place - (len(by_engine) - 1) / 2)
                panel.barh(at, by_engine[engine], 0.24, color=COLOURS[engine])
                panel.annotate(
                    f"{by_engine[engine]:,.0f}",
                    (by_engine[engine], at),
                    (4, 0),
                    textcoords="offset points",
                    va="center",
                )
        panel.set_yticks(range(len(cases)), list(cases))
        panel.invert_yaxis()
        panel.set_title(model, fontsize="medium", fontweight="bold")
        panel.set_xticks([])
        panel.spines[:].set_visible(False)
        panel.tick_params(length=0)
        panel.margins(x=0.15)
    bars = [Patch(color=colour, label=engine) for engine, colour in COLOURS.items()]
    figure.legend(handles=bars, loc="outside lower center", ncols=len(COLOURS), frameon=False)
    out.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(out, transparent=True, metadata={"Date": None})


@command
def main(arguments: Sequence[str] | None = None) -> None:
    parser = Parser(prog="python -m docs.chart", description="Draw tokens a second from what benchmarks printed.")
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="what a benchmark printed")
    parser.add_argument(
        "--out", type=Path, default=Path("docs/images/speed.svg"), help="the picture (default docs/images/speed.svg)"
    )
    options = parser.parse_args(arguments)
    try:
        lines = [line for file in options.files for line in file.read_text(encoding="utf-8").splitlines()]
    except OSError as error:
        raise AttendError(f"{error.filename} can't be read ({error.strerror}): check its path.") from error
    draw(speeds(lines), options.out)
    print(f"wrote {options.out}")


if __name__ == "__main__":
    sys.exit(main())
