"""The page's colours, fonts and sizes, as a theme of Gradio; our own styles take them from its variables."""

from __future__ import annotations

import gradio as gr
from gradio.themes import Default
from gradio.themes.utils import colors, sizes

FONTS = ("ui-sans-serif", "system-ui", "-apple-system", "Segoe UI", "Roboto", "Helvetica Neue", "Arial", "sans-serif")
MONO_FONTS = ("ui-monospace", "SFMono-Regular", "Menlo", "Consolas", "Liberation Mono", "monospace")
ACCENT, ACCENT_DARK = "#2563c9", "#7db2ff"


def theme() -> gr.Theme:
    """Gradio's plainest theme, in fonts that every machine has, so that nothing is fetched from another host."""
    return Default(
        primary_hue=colors.blue,
        neutral_hue=colors.slate,
        radius_size=sizes.radius_md,
        spacing_size=sizes.spacing_sm,
        font=FONTS,
        font_mono=MONO_FONTS,
    ).set(
        # Gradio's contrasts are 2.6 and 3.7 : 1; WCAG 2.2 asks for 4.5 : 1 (1.4.3)
        body_text_color_subdued="*neutral_600",
        input_placeholder_color="*neutral_600",
        input_placeholder_color_dark="*neutral_400",
        # the page's accent color, for Gradio's components and ours (ui/kit/css/variables.css)
        color_accent=ACCENT,
        button_primary_background_fill=ACCENT,
        button_primary_background_fill_dark=ACCENT_DARK,
        button_primary_background_fill_hover="#1d4fa8",
        button_primary_background_fill_hover_dark="#a3c9ff",
        button_primary_text_color_dark="#0b1220",
        button_primary_text_color_hover_dark="#0b1220",
    )
