"""Six small translators, each taught 3 million target tokens: how positions are told, and what came before attention.

`experiments.one_budget` is the command. All six have the same vocabulary, lessons and optimizer, and each kind the
better of two rates. They show an order, not a quality. A model that is there already is not taught again.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from accelerate import Accelerator
from safetensors.torch import load_model, save_model
from torch import nn
from tqdm import tqdm

from benchmarks.timing import machine, table
from decoding.settings import DecodingSettings
from experiments.alignment import draw
from experiments.recurrent import Recurrent, RecurrentConfig
from model.loaded import LoadedModel
from model.transformer.encoder_decoder import build
from training.pairs import SOURCE_FILE, by_source, read_pairs, split_pairs
from training.run.loop import learn
from training.run.optimizer import make_optimizers, rate
from training.settings import TRANSLATE
from training.translate import LONGEST_ANSWER, scored, translated
from training.translation import TranslationLessons

BUDGET = 3_000_000  # target tokens
TIMED_STEPS, ROUNDS = 10, 3
SETTINGS = replace(
    TRANSLATE,
    width=128,
    layers=2,
    encoder_layers=2,
    heads=4,
    key_value_heads=4,
    feed_forward_width=512,
    optimizer="adamw",
    learning_rate=2e-3,
    passes=3.0,
)
RECURRENT_RATE = 5e-3  # at the transformers' rate they learn less, and these less at theirs: see README.md
RECURRENT = RecurrentConfig(SETTINGS.vocabulary_size, 128, attention=True, dropout=SETTINGS.dropout)
WORDS = ((1, 4), (5, 8), (9, 12), (13, 999))  # of a source, for BLEU by length
EXAMPLE = "La petite fille a mangé une pomme rouge dans le jardin."

MODELS: Mapping[str, Any] = {
    **{f"transformer, {kind} positions": kind for kind in ("sinusoidal", "learned", "rotary", "none")},
    "GRU with attention": RECURRENT,
    "GRU without attention": replace(RECURRENT, attention=False),
}


def made(kind: Any) -> Any:
    """A network with its first random weights."""
    torch.manual_seed(SETTINGS.seed)
    if isinstance(kind, RecurrentConfig):
        return Recurrent(kind)
    return build(replace(SETTINGS, positions=kind).config())


def own_rate(kind: Any) -> float:
    """The better of two learning rates for this kind of network."""
    return RECURRENT_RATE if isinstance(kind, RecurrentConfig) else SETTINGS.learning_rate


def within_budget(lessons: TranslationLessons) -> Iterator[Sequence[Any]]:
    """The first batches, up to the budget of target tokens."""
    told = 0
    for batch in lessons.batches:
        if told >= BUDGET:
            return
        told += lessons.learned(batch)
        yield batch


def teach(
    model: nn.Module, name: str, lessons: TranslationLessons, batches: Sequence[Sequence[Any]], *, highest: float
) -> None:
    """Teach a model in place, at a rate that rises to the highest and falls again."""
    accelerator = Accelerator(mixed_precision=SETTINGS.precision, cpu=not torch.cuda.is_available())
    (plain,) = make_optimizers(model, SETTINGS.optimizer, learning_rate=highest, weight_decay=SETTINGS.weight_decay)
    prepared, optimizer = accelerator.prepare(model.train(), plain)
    with tqdm(batches, desc=name, unit="step", mininterval=5) as bar:
        for step, batch in enumerate(bar):
            share = rate(step, len(batches), warm_up=SETTINGS.warm_up, decay=SETTINGS.decay, schedule="inverse_sqrt")
            for group in optimizer.param_groups:
                group["lr"] = highest * share
            loss = learn(accelerator, lessons, prepared, [optimizer], batch, SETTINGS.clip)
            bar.set_postfix_str(f"loss {loss:.3f}", refresh=False)


def speeds(lessons: TranslationLessons) -> dict[str, int]:
    """Target tokens a second in training, of new models in turns, so that all meet the same machine; the best round."""
    batches = list(within_budget(lessons))
    timed, best = batches[:: max(1, len(batches) // TIMED_STEPS)], dict.fromkeys(MODELS, 0.0)
    tokens = sum(map(lessons.learned, timed))
    for _ in range(ROUNDS):
        for name, kind in MODELS.items():
            model, start = made(kind), time.perf_counter()
            teach(model, f"timing: {name}", lessons, timed, highest=own_rate(kind))
            best[name] = max(best[name], tokens / (time.perf_counter() - start))
    return {name: round(speed) for name, speed in best.items()}


def bleu_by_length(loaded: LoadedModel, references: Mapping[str, Sequence[str]]) -> dict[str, float]:
    """Greedy translations: BLEU over all, and over sources of so many words."""
    settings = DecodingSettings(strategy="greedy", max_new_tokens=LONGEST_ANSWER)
    said = dict(zip(references, translated(loaded, list(references), settings, progress=True), strict=True))
    parts = {"all": list(references)}
    for least, most in WORDS:
        parts[f"{least}-{most}" if most < 999 else f"{least}+"] = [
            one for one in references if least <= len(one.split()) <= most
        ]
    return {
        name: round(scored([said[one] for one in part], [references[one] for one in part]).bleu, 2)
        for name, part in parts.items()
        if part
    }


def run(folder: Path, output: Path, *, highest: float | None = None) -> None:
    """Teach what is not there yet, measure, print and draw.

    Args:
        highest: one learning rate for all, in the place of each kind's own.
    """
    lessons = TranslationLessons(SETTINGS, folder, output)
    references = by_source(split_pairs(read_pairs(folder / SOURCE_FILE))["test"])
    figures, models, told = {}, {}, speeds(lessons)
    rates = {name: own_rate(kind) if highest is None else highest for name, kind in MODELS.items()}
    for name, kind in MODELS.items():
        taught = name if highest is None else f"{name}, {highest:g}"
        weights, model = output / f"{taught}.safetensors", made(kind)
        if not weights.exists():
            teach(model, name, lessons, list(within_budget(lessons)), highest=rates[name])
            save_model(model, str(weights))
        load_model(model, weights)
        models[name] = LoadedModel.from_transformer(name, model.eval(), lessons.tokenizer)
        figures[name] = {
            "highest_rate": rates[name],
            "target_tokens_per_second": told[name],
            "parameters": sum(parameter.numel() for parameter in model.parameters()),
            "bleu": bleu_by_length(models[name], references),
        }
    lengths = list(next(iter(figures.values()))["bleu"])
    rows = [["", "parameters", "target tokens/s", *(f"BLEU {length}" for length in lengths)]]
    for name, found in figures.items():
        numbers = (f"{found['bleu'][length]:.1f}" for length in lengths)
        rows.append([name, f"{found['parameters']:,}", f"{found['target_tokens_per_second']:,}", *numbers])
    print(table(rows))
    draw(
        EXAMPLE,
        {name: models[name] for name in ("GRU with attention", "transformer, sinusoidal positions")},
        output / "alignment.png",
    )
    print(json.dumps({"experiment": "one_budget", "target_tokens": BUDGET, "models": figures, **machine()}))
