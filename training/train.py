"""Train a decoder on conversations and stories.

    python -m training.train DATA runs/chat                      one process, on whatever device there is
    accelerate launch --num_processes 2 -m training.train …      several processes or GPUs

The same command goes on where it was killed, with the same result: the order of the data follows from the seed, every
step seeds its own dropout, and all other state is saved. `runs/chat` then holds the checkpoint (config, weights,
tokenizer), `curve.csv` and `curve.png`.
"""

from __future__ import annotations

import argparse
import hashlib
import math
import os
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import get_args

import torch
from accelerate import Accelerator
from torch import Tensor, nn
from torch.nn import functional
from tqdm import tqdm

from model import checkpoint
from model.chat import ChatFormat
from model.config import TransformerConfig
from model.errors import AttendError
from model.tokenizer import Tokenizer
from model.transformer import Transformer
from training import curve
from training.data import IGNORED, Row, documents, encode, pack, schedule, visible
from training.evaluate import bits_per_byte
from training.optimizer import Optimizer, make_optimizers, rate
from training.recipe import CHAT_RECIPE, scaled
from training.vocabulary import train_vocabulary

QUICK_VALIDATION = 24  # dialogues measured during a run; the last measurement takes all


@dataclass(frozen=True, slots=True)
class TrainingSettings:
    """One training run; each field is a flag of the command. Raises `AttendError` for a value that no run could use."""

    vocabulary_size: int = 4096
    context_length: int = 512
    width: int = 256
    layers: int = 6
    heads: int = 8
    key_value_heads: int = 8
    feed_forward_width: int = 704
    dropout: float = 0.1
    passes: float = 1.0  # multiplies how often the recipe reads each source
    batch_tokens: int = 8192  # a step, over all processes
    short_part: float = 0.7  # of the documents: the first ones, in rows of half the context, whose attention costs half
    learning_rate: float = 3e-3  # the peak
    warm_up: float = 0.02  # part of the steps over which the rate rises to its peak
    decay: float = 0.6  # part of the steps, the last ones, over which it falls to nothing
    weight_decay: float = 0.1
    clip: float = 1.0  # the gradient's norm
    optimizer: Optimizer = "muon"
    precision: str = "bf16"  # of matrix products (accelerate's mixed_precision), or "no"
    save_minutes: float = 5.0
    validate_steps: int = 200
    seed: int = 1

    def __post_init__(self) -> None:
        for name, choices in (("optimizer", get_args(Optimizer)), ("precision", ("bf16", "no"))):
            if (value := getattr(self, name)) not in choices:
                raise AttendError(f"{name} is {value!r}, but must be one of {', '.join(choices)}.")
        for name in ("short_part", "warm_up", "decay"):
            if not 0.0 <= (value := getattr(self, name)) <= 1.0:
                raise AttendError(f"{name} is {value}, but is a part, so it must lie between 0 and 1.")
        for name in ("passes", "learning_rate", "clip", "validate_steps"):
            if not (value := getattr(self, name)) > 0.0:
                raise AttendError(f"{name} is {value}, but must be above 0.")
        if self.batch_tokens < self.context_length:
            raise AttendError(
                f"batch_tokens is {self.batch_tokens:,}, but one row alone has {self.context_length:,}: "
                "raise it, or lower context_length."
            )

    def config(self) -> TransformerConfig:
        shape = {field.name for field in fields(TransformerConfig)}
        return TransformerConfig(**{name: value for name, value in asdict(self).items() if name in shape})


def make_tokenizer(settings: TrainingSettings, folder: Path, output: Path) -> Tokenizer:
    """The run's tokenizer, trained on the training text the first time; the best dialogues weigh three times."""
    path = output / checkpoint.TOKENIZER
    if not path.exists():
        texts: list[str] = []
        for source in CHAT_RECIPE:
            found = [turn for document in documents(source, folder, "train") for turn in document.turns]
            texts += found * (3 if source == CHAT_RECIPE[0] else 1)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(train_vocabulary(texts, settings.vocabulary_size))
    return Tokenizer.load(path)


def make_batches(settings: TrainingSettings, folder: Path, tokenizer: Tokenizer, chat: ChatFormat) -> list[list[Row]]:
    """Every step's rows, in order: rows of half the context first, then rows of the whole."""
    order = schedule(scaled(CHAT_RECIPE, settings.passes), folder, settings.seed)
    turn = round(settings.short_part * len(order))
    batches = []
    for part, length in ((order[:turn], settings.context_length // 2), (order[turn:], settings.context_length)):
        texts = (ids for document in part for ids in encode(document, tokenizer, chat, length + 1))
        rows = list(pack(texts, length))
        size = settings.batch_tokens // length
        batches += [rows[start : start + size] for start in range(0, len(rows) - size + 1, size)]
    return batches


def collate(rows: Sequence[Row]) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Tokens, targets and positions, each (R, T), and what may be attended to, (R, 1, T, T)."""
    tokens, targets, positions, segments = (
        torch.stack([getattr(row, name) for row in rows]) for name in ("tokens", "targets", "positions", "segments")
    )
    return tokens, targets, positions, visible(segments)


def fingerprint(batches: Sequence[Sequence[Row]]) -> str:
    """Tells a run's lessons from any others: another recipe, other data or another vocabulary give another one."""
    digest = hashlib.blake2b(digest_size=16)
    for batch in batches:
        for row in batch:
            digest.update(row.tokens.numpy().tobytes())
            digest.update(row.targets.numpy().tobytes())
    return digest.hexdigest()


def train(settings: TrainingSettings, folder: Path, output: Path) -> None:
    """Run, or go on with, one training; the module's text says what `output` holds then.

    Raises `AttendError` when the data is missing, when `output` holds another run, or when the loss is no number.
    """
    torch.manual_seed(settings.seed)
    accelerator = Accelerator(mixed_precision=settings.precision, cpu=not torch.cuda.is_available())
    with accelerator.main_process_first():
        tokenizer = make_tokenizer(settings, folder, output)
    chat = ChatFormat(tokenizer)
    bare = Transformer(settings.config())
    batches = make_batches(settings, folder, tokenizer, chat)
    validation = documents(CHAT_RECIPE[0], folder, "valid")
    if not batches or not validation:
        raise AttendError(f"{folder} holds too few dialogues to train and to validate on: add to them.")
    model = accelerator.prepare(bare)
    plain = make_optimizers(
        bare, settings.optimizer, learning_rate=settings.learning_rate, weight_decay=settings.weight_decay
    )
    optimizers = [accelerator.prepare(optimizer) for optimizer in plain]
    lessons = fingerprint(batches)
    start, history = _resume(output, settings, lessons, bare, optimizers, accelerator.device)
    accelerator.print(
        f"{sum(parameter.numel() for parameter in bare.parameters()):,} parameters, {len(batches):,} steps of "
        f"{settings.batch_tokens:,} tokens, from step {start:,}"
    )
    spent = history[-1].seconds if history else 0.0
    began = saved = time.monotonic()
    with tqdm(
        range(start, len(batches)),
        initial=start,
        total=len(batches),
        disable=not accelerator.is_main_process,
        unit="step",
        mininterval=5,
    ) as bar:
        for step in bar:
            share = rate(step, len(batches), warm_up=settings.warm_up, decay=settings.decay)
            for optimizer in optimizers:
                for group in optimizer.param_groups:
                    group["lr"] = settings.learning_rate * share
            torch.manual_seed(settings.seed * 1_000_003 + step * 1_009 + accelerator.process_index)
            loss = _learn(accelerator, model.train(), optimizers, batches[step], settings.clip)
            if not math.isfinite(loss):
                raise AttendError(f"The loss is {loss} at step {step}: lower --learning-rate and start again.")
            last = step + 1 == len(batches)
            bits = None
            if accelerator.is_main_process and ((step + 1) % settings.validate_steps == 0 or last):
                some = validation if last else validation[:QUICK_VALIDATION]
                bits = bits_per_byte(bare.eval(), tokenizer, chat, some)
                tqdm.write(f"step {step + 1:,}: loss {loss:.4f}, {bits:.4f} bits per byte on validation dialogues")
            tokens, seconds = (step + 1) * settings.batch_tokens, time.monotonic() - began
            history.append(curve.Point(step + 1, tokens, spent + seconds, loss, bits))
            speed = (step + 1 - start) * settings.batch_tokens / seconds
            bar.set_postfix_str(f"loss {loss:.3f}, {speed:,.0f} tokens/s", refresh=False)
            if accelerator.is_main_process and (last or time.monotonic() - saved > 60 * settings.save_minutes):
                _save(output, settings, step + 1, lessons, bare, optimizers, history)
                saved = time.monotonic()
    accelerator.end_training()


def _learn(
    accelerator: Accelerator,
    model: nn.Module,
    optimizers: Sequence[torch.optim.Optimizer],
    batch: Sequence[Row],
    clip: float,
) -> float:
    """One step on this process's share of a batch; the whole batch's loss in nats per learned token."""
    mine = batch[accelerator.process_index :: accelerator.num_processes]
    learned = sum(int((row.targets != IGNORED).sum()) for row in batch)
    tokens, targets, positions, mask = (part.to(accelerator.device) for part in collate(mine))
    with accelerator.autocast():
        logits = model(tokens, positions, mask)  # (R, T, V)
    loss = functional.cross_entropy(logits.float().flatten(0, 1), targets.flatten(), reduction="sum") / learned
    accelerator.backward(loss * accelerator.num_processes)  # the processes' gradients are averaged, not summed
    accelerator.clip_grad_norm_(model.parameters(), clip)
    for optimizer in optimizers:
        optimizer.step()
        optimizer.zero_grad()
    return accelerator.reduce(loss.detach(), reduction="sum").item()  # type: ignore[union-attr]


def _save(
    output: Path,
    settings: TrainingSettings,
    step: int,
    lessons: str,
    model: Transformer,
    optimizers: Sequence[torch.optim.Optimizer],
    history: Sequence[curve.Point],
) -> None:
    """The checkpoint people use, the curve, and the state to resume from; the last by renaming, so never by halves."""
    checkpoint.save(model, output)
    curve.write(history, output)
    state = {
        "settings": asdict(settings),
        "lessons": lessons,
        "step": step,
        "model": model.state_dict(),
        "optimizers": [optimizer.state_dict() for optimizer in optimizers],
    }
    torch.save(state, output / "resume.tmp")
    os.replace(output / "resume.tmp", output / "resume.pt")


def _resume(
    output: Path,
    settings: TrainingSettings,
    lessons: str,
    model: Transformer,
    optimizers: Sequence[torch.optim.Optimizer],
    device: torch.device,
) -> tuple[int, list[curve.Point]]:
    """Load what `_save` left, if anything: the step to go on with and the curve so far."""
    path = output / "resume.pt"
    if not path.exists():
        return 0, []
    state = torch.load(path, map_location=device, weights_only=True)
    free = ("save_minutes", "validate_steps")  # may change between two sittings of one run
    for name, value in asdict(settings).items():
        if name not in free and state["settings"][name] != value:
            raise AttendError(
                f"{output} holds a run with {name} {state['settings'][name]}, not {value}: resume it with that, "
                "or name a new folder."
            )
    if state["lessons"] != lessons:
        raise AttendError(
            f"{output} holds a run over other data or another recipe: resume it with those, or name a new folder."
        )
    model.load_state_dict(state["model"])
    for optimizer, saved in zip(optimizers, state["optimizers"], strict=True):
        optimizer.load_state_dict(saved)
    return state["step"], curve.read(output)[: state["step"]]


def main() -> None:
    parser = argparse.ArgumentParser(description="Train attend-chat, or go on where the run was stopped.")
    parser.add_argument("data", type=Path, help="the data folder")
    parser.add_argument("output", type=Path, help="the run's folder")
    for field in fields(TrainingSettings):
        kind = type(field.default)
        parser.add_argument("--" + field.name.replace("_", "-"), type=kind, default=field.default)
    arguments = vars(parser.parse_args())
    folder, output = arguments.pop("data"), arguments.pop("output")
    try:
        train(TrainingSettings(**arguments), folder, output)
    except AttendError as error:
        parser.exit(2, f"{error}\n")


if __name__ == "__main__":
    main()
