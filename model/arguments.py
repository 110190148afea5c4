"""The flags that choose a model and how it runs, the same for the page and the terminal.

Imports nothing slow, so that a wrong command line is refused at once; `model.catalog.load_arguments` loads the model.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from model.errors import AttendError

if TYPE_CHECKING:
    from argparse import _ArgumentGroup  # what ArgumentParser.add_argument_group returns

DEFAULT = "attend-chat"
ENGINES = ("auto", "native", "adapter")


@dataclass(frozen=True, slots=True)
class ModelArguments:
    """The flags as typed; they are checked when the model is loaded."""

    name: str = DEFAULT
    engine: str = "auto"
    device: str = "auto"
    dtype: str = "auto"
    max_size: float | None = None  # largest download, in gigabytes; None for the size of this machine's memory
    from_language: str = ""  # languages of a translator's source and answer; "" keeps those of the checkpoint
    to_language: str = ""

    @staticmethod
    def add_flags(parser: ArgumentParser | _ArgumentGroup) -> None:
        parser.add_argument(
            "--model",
            metavar="MODEL",
            default=DEFAULT,
            help=f"a model's name, a folder, a GGUF file, or owner/name on the Hugging Face Hub (default {DEFAULT})",
        )
        parser.add_argument(
            "--engine",
            metavar="|".join(ENGINES),
            default="auto",
            help="what runs a Hugging Face checkpoint: native is Attend's own transformer, adapter the transformers "
            "library (default auto: native where it can)",
        )
        parser.add_argument(
            "--device",
            metavar="auto|cpu|cuda|cuda:N|mps",
            default="auto",
            help="where to compute (default auto: a GPU if there is one)",
        )
        parser.add_argument(
            "--dtype",
            metavar="auto|float32|bfloat16|float16|int8",
            default="auto",
            help="the precision (default auto: float32 on a CPU, else as stored)",
        )
        parser.add_argument(
            "--max-size",
            type=float,
            metavar="GB",
            help="the largest download, in gigabytes (default: as much as this machine has memory)",
        )
        for flag, side in (("--from-language", "source"), ("--to-language", "target")):
            parser.add_argument(
                flag,
                default="",
                metavar="CODE",
                help=f"a translator's {side} language, such as fr, fra or fra_Latn (default: the model's own)",
            )

    @classmethod
    def from_namespace(cls, read: Namespace) -> Self:
        return cls(
            read.model,
            read.engine,
            read.device,
            read.dtype,
            read.max_size,
            read.from_language,
            read.to_language,
        )

    @property
    def download_limit(self) -> int | None:
        """The largest download in bytes; None for the default. `AttendError` if `max_size` is out of range."""
        if self.max_size is not None and not 0 < self.max_size < 1e6:
            raise AttendError(f"--max-size is {self.max_size:g}, but must be above 0 (gigabytes).")
        return None if self.max_size is None else int(self.max_size * 1e9)
