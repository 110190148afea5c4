"""Where translators look in a sentence while they translate it, side by side as pictures."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from decoding.generate import generate
from decoding.settings import DecodingSettings
from decoding.strategy import Request
from model.loaded import LoadedModel


def draw(sentence: str, models: Mapping[str, LoadedModel], path: Path) -> None:
    """For each model its cross-attention in the last layer, the mean of the heads, over its own greedy translation."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(5.5 * len(models), 5), layout="constrained")
    for axes, (name, loaded) in zip(figure.subplots(1, len(models), squeeze=False)[0], models.items(), strict=True):
        source = loaded.prompt(sentence)
        settings = DecodingSettings(strategy="greedy", max_new_tokens=60)
        known = {"end_tokens": loaded.end_tokens, "never": loaded.never, "text_of": loaded.tokenizer.decode}
        request = Request.of(loaded.model, source, **known)
        *_, last = generate(loaded.model, source, settings.strategy_for(request))
        said = last.returned[0].tokens
        # The query of a token is the one before it, whose pass chose it.
        cross = loaded.model.inspect((*request.prompt, *said[:-1]), source=source).attention.cross
        assert cross is not None
        axes.imshow(cross[0, -1].mean(dim=0).numpy(), cmap="Blues", vmin=0.0, vmax=1.0)  # (T, S)
        axes.set_xticks(range(len(source)), [loaded.tokenizer.label(token) for token in source], rotation=60)
        axes.set_yticks(range(len(said)), [loaded.tokenizer.label(token) for token in said])
        axes.set_title(name)
    figure.savefig(path, dpi=110)
