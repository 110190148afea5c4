"""The labels of the settings, from their declarations, by name."""

from __future__ import annotations

from collections.abc import Mapping

from decoding.settings import parameters

LABELS: Mapping[str, str] = {parameter.name: parameter.label for parameter in parameters()}
