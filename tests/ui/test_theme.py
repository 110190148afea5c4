"""The theme's colours: enough contrast between text and background, in light and dark."""

from __future__ import annotations

import re

import pytest

from ui.theme import theme

CSS = theme()._get_theme_css()
READABLE = 4.5  # WCAG 2.2, 1.4.3: the least contrast of small text
BEHIND = {
    "body-text-color": ("background-fill-primary", "background-fill-secondary"),
    "body-text-color-subdued": ("background-fill-primary", "background-fill-secondary"),
    "input-placeholder-color": ("input-background-fill",),
    "button-primary-text-color": ("button-primary-background-fill", "button-primary-background-fill-hover"),
    "button-primary-background-fill": ("background-fill-primary",),  # it is a colour of text as well
}


def luminance(colour: str) -> float:
    """Relative luminance (WCAG 2.2), 0 to 1, of `#rrggbb`."""
    channels = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def resolved(name: str, mode: int) -> str:
    """A variable as `#rrggbb`; `mode` is 0 for light and 1 for dark."""
    values = re.findall(rf"--{name}: ([^;]+);", CSS)
    value = values[min(mode, len(values) - 1)]
    if inner := re.fullmatch(r"var\(--([\w-]+)\)", value):
        return resolved(inner[1], mode)
    return "#ffffff" if value == "white" else value


def test_contrast_is_that_of_the_definition() -> None:
    assert contrast("#ffffff", "#000000") == pytest.approx(21)  # (1 + 0.05) / (0 + 0.05)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.005)  # the well-known grey that just fails


@pytest.mark.parametrize("mode", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize(("text", "behind"), [(text, one) for text, several in BEHIND.items() for one in several])
def test_text_can_be_read(text: str, behind: str, mode: int) -> None:
    assert contrast(resolved(text, mode), resolved(behind, mode)) >= READABLE
