"""The settings of a training run, those of the runs that made the embedded checkpoints, and those for own files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, fields
from types import MappingProxyType
from typing import Any, Literal, get_args

from model.errors import AttendError
from model.transformer.config import Activation, Biases, Norm, NormPlace, Positions, TransformerConfig

TaskName = Literal["chat", "own", "translate"]
Optimizer = Literal["muon", "adamw"]
Schedule = Literal["flat", "inverse_sqrt"]
Language = Literal["English", "French"]


HELP = "help"  # the key of a field's explanation in its metadata


def flag(default: Any, help: str) -> Any:
    """A field with its help on the command line."""
    return field(default=default, metadata={HELP: help})


@dataclass(frozen=True, slots=True)
class TrainingSettings:
    """The settings of one run; each field is a flag of the command. Raises `AttendError` for an unusable value."""

    task: TaskName = flag("chat", "chat (the mixture of attend-chat), own (one's own files) or translate (pairs)")
    init_from: str = flag(
        "", "a checkpoint folder to begin with, its weights, vocabulary and shape, instead of random weights"
    )
    vocabulary_size: int = flag(4096, "tokens in the vocabulary")
    context_length: int = flag(512, "the longest text, in tokens")
    width: int = flag(256, "numbers in a token's vector")
    layers: int = flag(6, "decoder layers")
    only_layers: str = flag("", "the decoder layers to train, from 1, such as 4,6; the others keep their weights")
    encoder_layers: int = flag(0, "encoder layers; a chat model has none")
    heads: int = flag(8, "attention heads per layer")
    key_value_heads: int = flag(8, "heads of keys and values, shared by the attention heads")
    feed_forward_width: int = flag(704, "width of the feed-forward network in each layer")
    positions: Positions = flag("rotary", "how positions are encoded: rotary, sinusoidal, learned or none")
    norm: Norm = flag("rms", "rms (RMSNorm) or layer (LayerNorm)")
    norm_place: NormPlace = flag("before", "normalise before or after each sub-layer")
    activation: Activation = flag("swiglu", "of the feed-forward network: relu, gelu, gelu_tanh or swiglu")
    biases: Biases = flag("none", "which linear layers have biases: none, qkv or all")
    dropout: float = flag(0.1, "share of activations dropped while training, 0 to 1")
    label_smoothing: float = flag(0.0, "probability spread over all tokens, 0 to 1 (Szegedy et al., 2016)")
    into: Language = flag("English", "the language that a translator writes: English or French")
    passes: float = flag(1.0, "passes over all files or pairs; chat: multiplies how often each source is read")
    skills: float = flag(0.5, "chat: share of the text, in characters, written by training.skills; 0 to below 1")
    batch_tokens: int = flag(8192, "tokens per step, over all processes")
    learning_rate: float = flag(3e-3, "the peak learning rate")
    schedule: Schedule = flag("flat", "learning rate between its rise and its last fall: flat or inverse_sqrt")
    warm_up: float = flag(0.02, "share of the steps over which the learning rate rises to its peak")
    decay: float = flag(0.6, "share of the steps, the last ones, over which it falls to zero")
    weight_decay: float = flag(0.1, "weight decay of matrices")
    clip: float = flag(1.0, "the largest norm of the gradient; larger ones are scaled down")
    optimizer: Optimizer = flag("muon", "muon or adamw")
    average: int = flag(1, "how many of the last checkpoints are averaged into the published weights; 1 for none")
    average_steps: int = flag(100, "steps between two of those checkpoints")
    precision: str = flag(
        "auto", "of matrix products: bf16, no (float32), or auto, which times both and takes the faster"
    )
    fuse: str = flag(
        "no",
        "yes fuses small passes by torch.compile, which needs a C++ compiler and takes a minute at first",
    )
    save_minutes: float = flag(5.0, "minutes between two saves of the run")
    validate_steps: int = flag(200, "steps between two measurements on unseen text")
    seed: int = flag(1, "seed of all randomness")

    def __post_init__(self) -> None:
        choices = {
            "task": get_args(TaskName),
            "into": get_args(Language),
            "optimizer": get_args(Optimizer),
            "schedule": get_args(Schedule),
        }
        for name, known in {**choices, "precision": ("auto", "bf16", "no"), "fuse": ("no", "yes")}.items():
            if (value := getattr(self, name)) not in known:
                raise AttendError(f"{name} is {value!r}, but must be one of {', '.join(known)}.")
        for name in ("warm_up", "decay", "label_smoothing"):
            if not 0.0 <= (value := getattr(self, name)) <= 1.0:
                raise AttendError(f"{name} is {value}, but must be between 0 and 1.")
        for name in ("passes", "learning_rate", "clip", "validate_steps", "average", "average_steps"):
            if not (value := getattr(self, name)) > 0.0:
                raise AttendError(f"{name} is {value}, but must be above 0.")
        if not 0.0 <= self.skills < 1.0:
            raise AttendError(
                f"skills is {self.skills}, but must be at least 0 and below 1, so that real text is left."
            )
        if self.batch_tokens < self.context_length:
            raise AttendError(
                f"batch_tokens is {self.batch_tokens:,}, but one text may have {self.context_length:,}: "
                "raise it, or lower context_length."
            )
        if (self.task == "translate") != (self.encoder_layers > 0):
            raise AttendError(
                f"encoder_layers is {self.encoder_layers}, but a translator needs at least 1 and a chat model 0: "
                "set it, or choose the other task."
            )

        if self.only_layers and not self.init_from:
            raise AttendError("only_layers needs init_from: the other layers would keep random weights.")
        if unknown := [layer for layer in self.trained_layers() if not 1 <= layer <= self.layers]:
            raise AttendError(f"only_layers names layer {unknown[0]}, but the model has layers 1 to {self.layers}.")

    def trained_layers(self) -> Sequence[int]:
        """The layers that `only_layers` names; none if all of the model is trained."""
        names = self.only_layers.replace(",", " ").split()
        if not all(name.isdecimal() for name in names):
            raise AttendError(f"only_layers is {self.only_layers!r}, but must name layers, such as 4,6.")
        return [int(name) for name in names]

    def config(self) -> TransformerConfig:
        shape = {field.name for field in fields(TransformerConfig)}
        return TransformerConfig(**{name: value for name, value in asdict(self).items() if name in shape})


CHAT = TrainingSettings()

# The choices of the paper (Vaswani et al., 2017), except for the optimizer and the final decay of the rate.
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

# A model that a megabyte of text can teach in minutes on two processor cores.
OWN = TrainingSettings(
    task="own",
    vocabulary_size=2048,
    context_length=256,
    width=128,
    layers=4,
    heads=4,
    key_value_heads=4,
    feed_forward_width=384,
    skills=0.0,
    batch_tokens=4096,
    save_minutes=1.0,
    validate_steps=50,
)

PRESETS = MappingProxyType({"chat": CHAT, "own": OWN, "translate": TRANSLATE})
