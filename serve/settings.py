"""The models of a cluster and their replicas, read from a TOML file. Imports neither slow modules nor Ray."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Self

from model.arguments import ModelArguments
from model.errors import AttendError, did_you_mean
from model.names import display_name

DEFAULT_FILE = Path(__file__).with_name("cluster.toml")


@dataclass(frozen=True, slots=True)
class ModelDeployment:
    """How one model is loaded, what each replica needs from its node, and how many replicas there are."""

    name: str  # as for `--model`; every node must be able to load it
    engine: str = "auto"
    device: str = "auto"
    dtype: str = "auto"
    num_cpus: float = 1.0  # each replica reserves these on its node
    num_gpus: float = 0.0
    resources: Mapping[str, float] = field(default_factory=dict)  # custom ones, such as {"large": 1}
    min_replicas: int = 1
    max_replicas: int = 1
    target_rows: int = 16  # running and waiting rows of a replica, above which another one is started

    def __post_init__(self) -> None:
        if not self.name.strip():
            raise AttendError("A model of the cluster has no name: write [models.NAME].")
        for name in ("engine", "device", "dtype"):
            if not isinstance(getattr(self, name), str):
                raise self._error(name, "text")
        for name in ("num_cpus", "num_gpus"):
            if not _is_amount(getattr(self, name)) or getattr(self, name) > 1024:
                raise self._error(name, "a number from 0 to 1024")
        for name, maximum in (("min_replicas", 10_000), ("max_replicas", 10_000), ("target_rows", 1_000)):
            value = getattr(self, name)
            if type(value) is not int or not 1 <= value <= maximum:
                raise self._error(name, f"a whole number from 1 to {maximum:,}")
        if self.max_replicas < self.min_replicas:
            raise self._error("max_replicas", f"at least min_replicas, which is {self.min_replicas}")
        if not isinstance(self.resources, Mapping) or not all(map(_is_amount, self.resources.values())):
            raise self._error("resources", "a table of names and numbers from 0 up")

    def _error(self, name: str, expected: str) -> AttendError:
        value = repr(getattr(self, name))[:80]
        return AttendError(
            f"{name} of {self.name} is {value}, but must be {expected}: change it in the cluster's file."
        )

    @property
    def display_name(self) -> str:
        """The name on the page and of the deployment."""
        return display_name(self.name)

    @property
    def max_requests(self) -> int:
        """How many calls one replica takes at a time; others go to another replica, or wait in the page."""
        return 4 * self.target_rows

    @property
    def arguments(self) -> ModelArguments:
        """How a replica loads the model."""
        return ModelArguments(self.name, self.engine, self.device, self.dtype)


@dataclass(frozen=True, slots=True)
class ClusterSettings:
    """The models of a cluster; the first is the page's default."""

    models: tuple[ModelDeployment, ...]

    def __post_init__(self) -> None:
        if not self.models:
            raise AttendError("The cluster's file has no model: add [models.attend-chat].")
        names = [model.display_name for model in self.models]
        if duplicate := next((name for name in names if names.count(name) > 1), ""):
            raise AttendError(f"Two models of the cluster are called {duplicate}: rename the folder of one.")

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read a file such as `serve/cluster.toml`; `AttendError` if anything in it is invalid."""
        try:
            content = tomllib.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise AttendError(
                f"The cluster's file {path} can't be read ({error}): give another with --cluster."
            ) from error
        _check_names(content, ("models",), str(path))
        models = content.get("models", {})
        if not isinstance(models, dict) or not all(isinstance(model, dict) for model in models.values()):
            raise AttendError(f"models in {path} must be tables: write [models.attend-chat].")
        known = tuple(each.name for each in fields(ModelDeployment) if each.name != "name")
        for name, model in models.items():
            _check_names(model, known, f"[models.{name}]")
        return cls(tuple(ModelDeployment(name, **model) for name, model in models.items()))


def _check_names(table: Mapping[str, Any], known: tuple[str, ...], where: str) -> None:
    for name in table:
        if name not in known:
            near = did_you_mean(name, known) or f"choose from {', '.join(known)}."
            raise AttendError(f"There is no setting {name[:80]!r} in {where}: {near}")


def _is_amount(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < math.inf
