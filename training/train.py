"""Train a decoder on conversations and stories, or an encoder with a decoder on sentence pairs.

    python -m training.train DATA runs/chat                                  one process, on whatever device there is
    python -m training.train DATA runs/translate --task translate
    accelerate launch --num_processes 2 -m training.train …      several processes or GPUs

The same command goes on where it was killed, with the same result: the order of the data follows from the seed, every
step seeds its own dropout, and all other state is saved. `runs/chat` then holds the checkpoint (config, weights,
tokenizer), `curve.csv` and `curve.png`.
"""

from __future__ import annotations

import argparse
import math
import os
import time
from collections.abc import Sequence
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Any

import torch
from accelerate import Accelerator
from torch import nn
from tqdm import tqdm

from model import checkpoint
from model.encoder_decoder import build
from model.errors import AttendError
from model.transformer import Transformer
from training import curve
from training.average import Average
from training.conversations import ChatLessons
from training.lessons import Lessons
from training.optimizer import make_optimizers, rate
from training.settings import CHAT, PRESETS, TrainingSettings
from training.translation import TranslationLessons


def make_lessons(settings: TrainingSettings, folder: Path, output: Path) -> Lessons[Any]:
    """Those of the run's task; `AttendError` when the data is missing or too little."""
    return (TranslationLessons if settings.task == "translate" else ChatLessons)(settings, folder, output)


def train(settings: TrainingSettings, folder: Path, output: Path) -> None:
    """Run, or go on with, one training; the module's text says what `output` holds then.

    Raises `AttendError` when the data is missing, when `output` holds another run, or when the loss is no number.
    """
    torch.manual_seed(settings.seed)
    accelerator = Accelerator(mixed_precision=settings.precision, cpu=not torch.cuda.is_available())
    with accelerator.main_process_first():
        lessons = make_lessons(settings, folder, output)
    bare, batches = build(settings.config()), lessons.batches
    model = accelerator.prepare(bare)
    plain = make_optimizers(
        bare, settings.optimizer, learning_rate=settings.learning_rate, weight_decay=settings.weight_decay
    )
    optimizers = [accelerator.prepare(optimizer) for optimizer in plain]
    averaged = Average(bare, settings.average)
    start, history = _resume(output, settings, lessons.fingerprint(), bare, averaged, optimizers, accelerator.device)
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
            share = rate(step, len(batches), warm_up=settings.warm_up, decay=settings.decay, schedule=settings.schedule)
            for optimizer in optimizers:
                for group in optimizer.param_groups:
                    group["lr"] = settings.learning_rate * share
            torch.manual_seed(settings.seed * 1_000_003 + step * 1_009 + accelerator.process_index)
            loss = learn(accelerator, lessons, model.train(), optimizers, batches[step], settings.clip)
            if not math.isfinite(loss):
                raise AttendError(f"The loss is {loss} at step {step}: lower --learning-rate and start again.")
            last = step + 1 == len(batches)
            if (step + 1) % settings.average_steps == 0 or last:
                averaged.take()
            figure = None
            if accelerator.is_main_process and ((step + 1) % settings.validate_steps == 0 or last):
                with averaged.weights():
                    figure = lessons.measure(bare.eval(), whole=last)
                tqdm.write(f"step {step + 1:,}: loss {loss:.4f}, {lessons.figure} {figure:.4f}")
            tokens, seconds = (step + 1) * settings.batch_tokens, time.monotonic() - began
            history.append(curve.Point(step + 1, tokens, spent + seconds, loss, figure))
            speed = (step + 1 - start) * settings.batch_tokens / seconds
            bar.set_postfix_str(f"loss {loss:.3f}, {speed:,.0f} tokens/s", refresh=False)
            if accelerator.is_main_process and (last or time.monotonic() - saved > 60 * settings.save_minutes):
                _save(output, settings, step + 1, lessons, bare, averaged, optimizers, history)
                saved = time.monotonic()
    accelerator.end_training()


def learn(
    accelerator: Accelerator,
    lessons: Lessons[Any],
    model: nn.Module,
    optimizers: Sequence[torch.optim.Optimizer],
    batch: Sequence[Any],
    clip: float,
) -> float:
    """One step on this process's share of a batch, forward, backward and optimizers; the whole batch's loss in nats per
    learned token.

    Of a batch with fewer rows than processes, one without a share feeds a row that counts nothing: all of them must
    meet where gradients are averaged.
    """
    mine = batch[accelerator.process_index :: accelerator.num_processes]
    with accelerator.autocast():
        loss = lessons.loss(model, mine or batch[:1], accelerator.device) * bool(mine) / lessons.learned(batch)
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
    lessons: Lessons[Any],
    model: Transformer,
    averaged: Average,
    optimizers: Sequence[torch.optim.Optimizer],
    history: Sequence[curve.Point],
) -> None:
    """The checkpoint people use, the curve, and the state to resume from; the last by renaming, so never by halves."""
    with averaged.weights():
        checkpoint.save(model, output)
    curve.write(history, output, measured=lessons.figure)
    state = {
        "settings": asdict(settings),
        "lessons": lessons.fingerprint(),
        "step": step,
        "model": model.state_dict(),
        "averaged": averaged.kept,
        "optimizers": [optimizer.state_dict() for optimizer in optimizers],
    }
    torch.save(state, output / "resume.tmp")
    os.replace(output / "resume.tmp", output / "resume.pt")


def _resume(
    output: Path,
    settings: TrainingSettings,
    lessons: str,
    model: Transformer,
    averaged: Average,
    optimizers: Sequence[torch.optim.Optimizer],
    device: torch.device,
) -> tuple[int, list[curve.Point]]:
    """Load what `_save` left, if anything: the step to go on with and the curve so far."""
    path = output / "resume.pt"
    if not path.exists():
        return 0, []
    state = torch.load(path, map_location=device, weights_only=True)
    free = ("save_minutes", "validate_steps", "passes")  # may change between two sittings of one run
    for name, value in asdict(settings).items():
        if name not in free and (held := state["settings"].get(name)) != value:
            raise AttendError(
                f"{output} holds a run with {name} {held}, not {value}: resume it with that, or name a new folder."
            )
    if state["lessons"] != lessons:
        raise AttendError(
            f"{output} holds a run over other data or another recipe: resume it with those, or name a new folder."
        )
    model.load_state_dict(state["model"])
    averaged.kept = state["averaged"]
    for optimizer, saved in zip(optimizers, state["optimizers"], strict=True):
        optimizer.load_state_dict(saved)
    return state["step"], curve.read(output)[: state["step"]]


def main() -> None:
    parser = argparse.ArgumentParser(description="Train an embedded model, or go on where the run was stopped.")
    parser.add_argument("data", type=Path, help="the data folder")
    parser.add_argument("output", type=Path, help="the run's folder")
    for field in fields(TrainingSettings):
        parser.add_argument("--" + field.name.replace("_", "-"), type=type(field.default))
    arguments = vars(parser.parse_args())
    folder, output = arguments.pop("data"), arguments.pop("output")
    preset = PRESETS.get(arguments["task"] or "chat", CHAT)
    try:
        train(
            replace(preset, **{name: value for name, value in arguments.items() if value is not None}), folder, output
        )
    except AttendError as error:
        parser.exit(2, f"{error}\n")


if __name__ == "__main__":
    main()
