"""What the page calls the settings: the labels of their declarations, by their names."""

from __future__ import annotations

from collections.abc import Mapping

from decoding.settings import parameters

LABELS: Mapping[str, str] = {parameter.name: parameter.label for parameter in parameters()}
