"""Draws the tokens a second of all visitors, and their seconds to the first token, by the number of visitors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

_WIDTH, _HEIGHT, _MARGIN = 340, 200, 44
_GREY, _COLOURS = "#7d8590", ("#3b82f6", "#d97706")  # grey that can be read on a light page and on a dark one
_PANELS = (
    ("tokens a second, all together", (("tokens_per_second", ""),)),
    ("seconds to the first token", (("first_median", "median"), ("first_p95", "95 of 100"))),
)


def draw(results: Sequence[Mapping[str, Any]], out: Path) -> None:
    """Write an SVG with a panel for each of the two."""
    panels = "".join(_panel(results, *panel, left=number * _WIDTH) for number, panel in enumerate(_PANELS))
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH * len(_PANELS)} {_HEIGHT}" '
        f'font-family="sans-serif" font-size="11" fill="{_GREY}">{panels}</svg>\n',
        encoding="utf-8",
    )


def _panel(results: Sequence[Mapping[str, Any]], title: str, lines: Sequence[tuple[str, str]], left: int) -> str:
    highest = max((each[name] or 0 for each in results for name, _ in lines), default=0) or 1
    step = (_WIDTH - 2 * _MARGIN) / max(1, len(results) - 1)
    xs = [left + _MARGIN + number * step for number in range(len(results))]

    def y(value: float) -> float:
        return _HEIGHT - _MARGIN - value / highest * (_HEIGHT - 2 * _MARGIN)

    parts = [f'<text x="{left + _MARGIN}" y="20" font-size="13">{title}</text>']
    parts += [
        f'<text x="{left + _MARGIN - 6}" y="{y(value) + 4:.1f}" text-anchor="end">{value:.3g}</text>'
        f'<path d="M{left + _MARGIN} {y(value):.1f}h{_WIDTH - 2 * _MARGIN}" stroke="{_GREY}" stroke-opacity=".3"/>'
        for value in (0.0, highest / 2, highest)
    ]
    parts += [
        f'<text x="{x:.1f}" y="{_HEIGHT - _MARGIN + 16}" text-anchor="middle">{each["visitors"]}</text>'
        for x, each in zip(xs, results, strict=True)
    ]
    parts.append(f'<text x="{left + _WIDTH / 2}" y="{_HEIGHT - 10}" text-anchor="middle">visitors</text>')
    for colour, (name, label) in zip(_COLOURS, lines, strict=False):
        points = [(x, y(each[name])) for x, each in zip(xs, results, strict=True) if each[name] is not None]
        path = " ".join(f"{x:.1f},{height:.1f}" for x, height in points)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts += [f'<circle cx="{x:.1f}" cy="{height:.1f}" r="3" fill="{colour}"/>' for x, height in points]
        for x, height in points[-1:]:
            parts.append(f'<text x="{x:.1f}" y="{height - 7:.1f}" text-anchor="end" fill="{colour}">{label}</text>')
    return "".join(parts)
