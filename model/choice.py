"""Which model a person asks for on a command line, and how it is to run: the same flags for the page and the terminal.

Imports nothing slow before a model is loaded, so that `app.py` can refuse what it must at once.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from model.errors import AttendError, EncoderOnly

if TYPE_CHECKING:
    from model.encoder import Encoder
    from model.loaded import LoadedModel
    from model.placement import Placement
    from model.progress import Progress

DEFAULT = "attend-chat"
ENGINES = ("auto", "native", "adapter")


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """As typed; what it means is checked when it is loaded."""

    name: str = DEFAULT
    engine: str = "auto"
    device: str = "auto"
    dtype: str = "auto"
    max_size: float | None = None  # gigabytes of a download; None for what the machine has of memory
    from_language: str = ""  # of a translator's source and of its answer; empty leaves it as the checkpoint has it
    to_language: str = ""

    @staticmethod
    def add_flags(parser: ArgumentParser) -> None:
        parser.add_argument(
            "--model", default=DEFAULT, help=f"a name of the catalogue, a folder, or owner/name of the Hub ({DEFAULT})"
        )
        engines = ", ".join(ENGINES)
        parser.add_argument("--engine", default="auto", help=f"what runs a Hugging Face checkpoint: {engines} (auto)")
        parser.add_argument("--device", default="auto", help="where to compute: auto, cpu, cuda, cuda:N, mps (auto)")
        parser.add_argument(
            "--dtype", default="auto", help="the precision to compute in: auto, float32, bfloat16, float16, int8 (auto)"
        )
        parser.add_argument(
            "--max-size", type=float, metavar="GB", help="the largest download (as much as this machine has memory)"
        )
        for flag, what in (("--from-language", "a text"), ("--to-language", "its translation")):
            parser.add_argument(
                flag, default="", metavar="CODE", help=f"the language of {what} (fr, fra, fra_Latn; by the model)"
            )

    @classmethod
    def of(cls, read: Namespace) -> Self:
        return cls(
            read.model,
            read.engine,
            read.device,
            read.dtype,
            read.max_size,
            read.from_language,
            read.to_language,
        )

    def load(self) -> LoadedModel:
        """The model; a download is shown on the terminal."""
        from model.placement import Placement
        from model.progress import terminal_bar

        with terminal_bar() as progress:
            loaded = self._load(self.name, self.engine, Placement(self.device, self.dtype), progress)
        translates = self.from_language or self.to_language
        return loaded.between(self.from_language, self.to_language) if translates else loaded

    def load_another(self, name: str, progress: Progress) -> LoadedModel | Encoder:
        """Another one beside it under the same conditions, whole or not at all: what is in use keeps its memory."""
        from model.placement import Placement

        placement = Placement(self.device, self.dtype, spread=False)
        try:
            return self._load(name, "auto", placement, progress)
        except EncoderOnly:
            return self._load_encoder(name, placement, progress)

    def _load(self, name: str, engine: str, placement: Placement, progress: Progress) -> LoadedModel:
        from model import catalog

        return catalog.load(name, engine, placement, limit=self._limit(), progress=progress)

    def load_encoder(self) -> Encoder:
        """The model that `load` refused as `EncoderOnly`."""
        from model.placement import Placement
        from model.progress import terminal_bar

        if self.from_language or self.to_language:
            raise AttendError(f"{self.name} reads texts and translates none: leave the languages out.")
        with terminal_bar() as progress:
            return self._load_encoder(self.name, Placement(self.device, self.dtype), progress)

    def _load_encoder(self, name: str, placement: Placement, progress: Progress) -> Encoder:
        from model import catalog

        return catalog.load_encoder(name, placement, limit=self._limit(), progress=progress)

    def _limit(self) -> int | None:
        """The most bytes of a download; None where nothing was said."""
        if self.max_size is not None and not 0 < self.max_size < 1e6:
            raise AttendError(f"--max-size is {self.max_size:g}: give gigabytes, a number above 0.")
        return None if self.max_size is None else int(self.max_size * 1e9)
