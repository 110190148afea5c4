"""One training run as one frozen record, and the two that made the embedded checkpoints."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from types import MappingProxyType
from typing import Literal, get_args

from model.config import Activation, Biases, Norm, NormPlace, Positions, TransformerConfig
from model.errors import AttendError
from training.optimizer import Optimizer, Schedule

Task = Literal["chat", "translate"]


@dataclass(frozen=True, slots=True)
class TrainingSettings:
    """One training run; each field is a flag of the command. Raises `AttendError` for a value that no run could use."""

    task: Task = "chat"  # conversations and stories, or sentence pairs
    vocabulary_size: int = 4096
    context_length: int = 512
    width: int = 256
    layers: int = 6
    encoder_layers: int = 0
    heads: int = 8
    key_value_heads: int = 8
    feed_forward_width: int = 704
    positions: Positions = "rotary"
    norm: Norm = "rms"
    norm_place: NormPlace = "before"
    activation: Activation = "swiglu"
    biases: Biases = "none"
    dropout: float = 0.1
    label_smoothing: float = 0.0  # probability spread over all tokens (Szegedy et al., 2016)
    passes: float = 1.0  # of a chat: multiplies how often the recipe reads each source; of pairs: readings of all
    batch_tokens: int = 8192  # a step, over all processes
    short_part: float = 0.7  # of the documents: the first ones, in rows of half the context, whose attention costs half
    learning_rate: float = 3e-3  # the peak
    schedule: Schedule = "flat"  # between the rise to the peak and the last fall
    warm_up: float = 0.02  # part of the steps over which the rate rises to its peak
    decay: float = 0.6  # part of the steps, the last ones, over which it falls to nothing
    weight_decay: float = 0.1
    clip: float = 1.0  # the gradient's norm
    optimizer: Optimizer = "muon"
    average: int = 1  # how many of the last checkpoints the weights that people use are the mean of
    average_steps: int = 100  # how many steps lie between two of them
    precision: str = "bf16"  # of matrix products (accelerate's mixed_precision), or "no"
    save_minutes: float = 5.0
    validate_steps: int = 200
    seed: int = 1

    def __post_init__(self) -> None:
        choices = {"task": get_args(Task), "optimizer": get_args(Optimizer), "schedule": get_args(Schedule)}
        for name, known in {**choices, "precision": ("bf16", "no")}.items():
            if (value := getattr(self, name)) not in known:
                raise AttendError(f"{name} is {value!r}, but must be one of {', '.join(known)}.")
        for name in ("short_part", "warm_up", "decay", "label_smoothing"):
            if not 0.0 <= (value := getattr(self, name)) <= 1.0:
                raise AttendError(f"{name} is {value}, but is a part, so it must lie between 0 and 1.")
        for name in ("passes", "learning_rate", "clip", "validate_steps", "average", "average_steps"):
            if not (value := getattr(self, name)) > 0.0:
                raise AttendError(f"{name} is {value}, but must be above 0.")
        if self.batch_tokens < self.context_length:
            raise AttendError(
                f"batch_tokens is {self.batch_tokens:,}, but one row alone has {self.context_length:,}: "
                "raise it, or lower context_length."
            )
        if (self.task == "translate") != (self.encoder_layers > 0):
            raise AttendError(
                f"encoder_layers is {self.encoder_layers}, but a translator needs at least 1 and a chat none: "
                "set it, or choose the other task."
            )

    def config(self) -> TransformerConfig:
        shape = {field.name for field in fields(TransformerConfig)}
        return TransformerConfig(**{name: value for name, value in asdict(self).items() if name in shape})


CHAT = TrainingSettings()

# The paper's choices (Vaswani et al., 2017), but for the optimizer and the last fall of the rate.
TRANSLATE = TrainingSettings(
    task="translate",
    vocabulary_size=6000,
    context_length=128,
    layers=3,
    encoder_layers=5,
    feed_forward_width=1024,
    positions="sinusoidal",
    norm="layer",
    norm_place="after",
    activation="relu",
    biases="all",
    label_smoothing=0.1,
    passes=7.0,
    schedule="inverse_sqrt",
    warm_up=0.05,
    decay=0.4,
    average=5,
    average_steps=20,
)

PRESETS = MappingProxyType({"chat": CHAT, "translate": TRANSLATE})
