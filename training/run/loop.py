"""The training loop for a decoder of conversations and stories, or for an encoder-decoder of sentence pairs.

A run that was stopped continues from its last save with the same result: the order of the data follows from the seed,
every step seeds its own dropout, and all other state is saved. The run's folder then contains the checkpoint (config,
weights, tokenizer), `curve.csv` and `curve.png`.
"""

from __future__ import annotations

import math
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import torch
from accelerate import Accelerator
from torch import nn
from tqdm import tqdm

from model.command_line import INTERRUPTED
from model.errors import AttendError
from model.transformer import checkpoint
from model.transformer.decoder import Transformer
from model.transformer.encoder_decoder import build
from training.conversations import mixture_task
from training.own_task import own_task
from training.run import curve
from training.run.average import Average
from training.run.machine import fastest_precision, fuse, has_compiler
from training.run.optimizer import lr_schedule, make_optimizers
from training.settings import TrainingSettings
from training.task import TrainingTask
from training.translation_task import TranslationTask


def make_task(settings: TrainingSettings, folder: Path, output: Path) -> TrainingTask[Any]:
    """The run's task; `AttendError` if data is missing, or if there is too little."""
    make = {"chat": mixture_task, "own": own_task, "translate": TranslationTask}[settings.task]
    return make(settings, folder, output)


def train(settings: TrainingSettings, folder: Path, output: Path) -> int:
    """Begin or continue a training run; the module's docstring says what `output` then contains.

    Returns:
        The command's exit code: 0, or that of Ctrl-C. After Ctrl-C or SIGTERM, the run saves its state and ends.

    Raises `AttendError` if data is missing, if `output` contains another run, or if the loss is not a number.
    """
    torch.manual_seed(settings.seed)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    products, precision = _precision(settings.precision, device)
    if settings.fuse == "yes" and not has_compiler():
        raise AttendError("There is no C++ compiler (g++) for --fuse yes: install one, or leave the flag out.")
    accelerator = Accelerator(cpu=device.type == "cpu")
    with accelerator.main_process_first():
        task = make_task(settings, folder, output)
    for note in task.notes:
        accelerator.print(f"Note: {note}")
    bare, batches = _begin(settings), task.batches
    if settings.fuse == "yes":
        fuse(bare)
    model = accelerator.prepare(bare)
    plain = make_optimizers(
        bare,
        settings.optimizer,
        learning_rate=settings.learning_rate,
        weight_decay=settings.weight_decay,
        precision=products,
    )
    optimizers = [accelerator.prepare(optimizer) for optimizer in plain]
    averaged = Average(bare, settings.average)
    start, history = _resume(output, settings, task.fingerprint(), bare, averaged, optimizers, accelerator.device)
    accelerator.print(
        f"{sum(parameter.numel() for parameter in bare.parameters()):,} parameters, {len(batches):,} steps of "
        f"{settings.batch_tokens:,} tokens, from step {start:,}, in {precision}"
    )
    spent = history[-1].seconds if history else 0.0
    began = saved = time.monotonic()
    with (
        _stop_signals() as stopped,
        tqdm(
            range(start, len(batches)),
            initial=start,
            total=len(batches),
            disable=not accelerator.is_main_process,
            unit="step",
            mininterval=5,
        ) as bar,
    ):
        for step in bar:
            share = lr_schedule(
                step, len(batches), warm_up=settings.warm_up, decay=settings.decay, schedule=settings.schedule
            )
            for optimizer in optimizers:
                for group in optimizer.param_groups:
                    group["lr"] = settings.learning_rate * share
            torch.manual_seed(settings.seed * 1_000_003 + step * 1_009 + accelerator.process_index)
            loss = learn(accelerator, task, model.train(), optimizers, batches[step], settings.clip, products)
            if not math.isfinite(loss):
                raise AttendError(f"The loss is {loss} at step {step}: lower --learning-rate and start again.")
            last = step + 1 == len(batches)
            if (step + 1) % settings.average_steps == 0 or last:
                averaged.take()
            figure = None
            if accelerator.is_main_process and ((step + 1) % settings.validate_steps == 0 or last):
                with averaged.weights():
                    figure = task.measure(bare.eval(), whole=last)
                tqdm.write(f"step {step + 1:,}: loss {loss:.4f}, {task.metric} {figure:.4f}")
            tokens, seconds = (step + 1) * settings.batch_tokens, time.monotonic() - began
            history.append(curve.Point(step + 1, tokens, spent + seconds, loss, figure))
            speed = (step + 1 - start) * settings.batch_tokens / seconds
            bar.set_postfix_str(f"loss {loss:.3f}, {speed:,.0f} tokens/s", refresh=False)
            due = last or stopped() or time.monotonic() - saved > 60 * settings.save_minutes
            if accelerator.is_main_process and due:
                _save(output, settings, step + 1, task, bare, averaged, optimizers, history)
                saved = time.monotonic()
            if stopped() and not last:
                bar.close()
                accelerator.print(f"Stopped and saved at step {step + 1:,}: the same command resumes from there.")
                return INTERRUPTED
    # The wrapped model goes first, since it holds the processes' group. If it were the last to hold the group, torch
    # would wait for the group's threads while keeping the interpreter's lock: for ever, if one of them needs the lock.
    accelerator.free_memory()
    del model
    accelerator.end_training()
    return 0


def _precision(requested: str, device: torch.device) -> tuple[torch.dtype, str]:
    """The precision of matrix products, as it is and in words; "auto" means the faster one."""
    chosen = fastest_precision(device) if requested == "auto" else requested
    words = "float32" if chosen == "no" else "bfloat16 where it is safe"
    products = torch.float32 if chosen == "no" else torch.bfloat16
    return products, f"{words}, the faster here" if requested == "auto" else words


@contextmanager
def _stop_signals() -> Iterator[Callable[[], bool]]:
    """Yield a function that tells whether Ctrl-C or SIGTERM has arrived; a second one ends the program at once."""
    received: list[int] = []
    handlers = {}  # before this

    def note(number: int, _: object) -> None:
        received.append(number)
        signal.signal(number, handlers[number])

    if threading.current_thread() is threading.main_thread():  # no other thread may handle signals
        for number in (signal.SIGINT, signal.SIGTERM):
            handlers[number] = signal.getsignal(number)
            signal.signal(number, note)
    try:
        yield lambda: bool(received)
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)


def _begin(settings: TrainingSettings) -> Transformer:
    """The model before its first step; `AttendError` if `init_from` is a model of another shape."""
    model = build(settings.config())
    if settings.init_from:
        first = checkpoint.load(Path(settings.init_from))
        if replace(first.config, dropout=settings.dropout) != model.config:
            raise AttendError(
                f"{settings.init_from} is a model of another shape: use the same width, layers and so on."
            )
        model.load_state_dict(first.state_dict())
    if trained := settings.trained_layers():
        model.requires_grad_(False)
        for layer in trained:
            model.blocks[layer - 1].requires_grad_()
    return model


def learn(
    accelerator: Accelerator,
    task: TrainingTask[Any],
    model: nn.Module,
    optimizers: Sequence[torch.optim.Optimizer],
    batch: Sequence[Any],
    clip: float,
    products: torch.dtype = torch.float32,
) -> float:
    """Take one step on this process's share of a batch: forward, backward, optimizers.

    If a batch has fewer rows than there are processes, those without a row of their own feed one whose loss counts as
    0, since all processes must take part when gradients are averaged.

    Returns:
        The whole batch's loss, in nats per target token.
    """
    mine = batch[accelerator.process_index :: accelerator.num_processes]
    device = accelerator.device
    # Accelerate's own mixed precision would copy all logits to float32.
    with torch.autocast(device.type, torch.bfloat16, enabled=products is torch.bfloat16):
        loss = task.loss(model, mine or batch[:1], device) * bool(mine) / task.target_tokens(batch)
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
    task: TrainingTask[Any],
    model: Transformer,
    averaged: Average,
    optimizers: Sequence[torch.optim.Optimizer],
    history: Sequence[curve.Point],
) -> None:
    """Save the checkpoint, the curve, and the state to resume from; a rename replaces the old state as a whole."""
    with averaged.weights():
        checkpoint.save(model, output)
    curve.write(history, output, measured=task.metric)
    state = {
        "settings": asdict(settings),
        "lessons": task.fingerprint(),
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
    fingerprint: str,
    model: Transformer,
    averaged: Average,
    optimizers: Sequence[torch.optim.Optimizer],
    device: torch.device,
) -> tuple[int, list[curve.Point]]:
    """Load what `_save` wrote, if anything; returns the next step and the curve so far."""
    path = output / "resume.pt"
    if not path.exists():
        return 0, []
    state = torch.load(path, map_location=device, weights_only=True)
    changeable = ("precision", "fuse", "save_minutes", "validate_steps", "passes")  # when a run is resumed
    for name, value in asdict(settings).items():
        if name not in changeable and (saved := state["settings"].get(name)) != value:
            raise AttendError(
                f"{output} has a run with {name} {saved}, not {value}: resume it with that value, or choose a new "
                "folder."
            )
    if state["lessons"] != fingerprint:
        raise AttendError(
            f"{output} has a run with other data or another recipe: resume it with those, or choose a new folder."
        )
    model.load_state_dict(state["model"])
    averaged.kept = state["averaged"]
    for optimizer, saved in zip(optimizers, state["optimizers"], strict=True):
        optimizer.load_state_dict(saved)
    return state["step"], curve.read(output)[: state["step"]]
