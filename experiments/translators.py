"""Six small translators, each trained on 3 million target tokens: four position encodings, and two recurrent models.

`experiments.one_budget` is the command. All six have the same vocabulary, data and optimizer, and each kind the better
of two learning rates. The results show a ranking, not final quality. A model that was trained before is reused.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from importlib.metadata import version
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
from model import catalog
from model.loaded import LoadedModel
from model.names import EMBEDDED
from model.recurrent import checkpoint as recurrent_checkpoint
from model.recurrent.network import Recurrent, RecurrentConfig
from model.transformer import checkpoint
from model.transformer.encoder_decoder import build
from training.run.loop import learn
from training.run.machine import fastest_precision
from training.run.optimizer import lr_schedule, make_optimizers
from training.settings import TRANSLATE
from training.translation.pairs import SOURCE_FILE, by_source, read_pairs, split_pairs
from training.translation.translate import LONGEST_ANSWER, score_translations, translate_all
from training.translation_task import TranslationTask

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
RECURRENT_RATE = 5e-3  # each kind learns less at the other's rate: see README.md
RECURRENT = RecurrentConfig(SETTINGS.vocabulary_size, 128, attention=True, dropout=SETTINGS.dropout)
WORDS = ((1, 4), (5, 8), (9, 12), (13, 999))  # least and most in a source, for BLEU by length
EXAMPLE = "La petite fille a mangé une pomme rouge dans le jardin."

MODELS: Mapping[str, Any] = {
    **{f"transformer, {kind} positions": kind for kind in ("sinusoidal", "learned", "rotary", "none")},
    "GRU with attention": RECURRENT,
    "GRU without attention": replace(RECURRENT, attention=False),
}
PUBLISHED = {"gru": "GRU without attention", "gru-attention": "GRU with attention"}  # folder → its model
REFERENCE = "attend-translate"  # whose vocabulary they share


def make_network(kind: Any) -> Any:
    """A network with random weights."""
    torch.manual_seed(SETTINGS.seed)
    if isinstance(kind, RecurrentConfig):
        return Recurrent(kind)
    return build(replace(SETTINGS, positions=kind).config())


def learning_rate_of(kind: Any) -> float:
    """The better of two learning rates for this kind of network."""
    return RECURRENT_RATE if isinstance(kind, RecurrentConfig) else SETTINGS.learning_rate


def within_budget(task: TranslationTask, budget: int) -> Iterator[Sequence[Any]]:
    """The first batches, up to a budget of target tokens."""
    learned = 0
    for batch in task.batches:
        if learned >= budget:
            return
        learned += task.target_tokens(batch)
        yield batch


@cache
def _measured_precision(device: torch.device) -> str:
    """The faster precision, measured once: where both are about as fast, a second measurement may choose the other one,
    but accelerate takes only one per process."""
    return fastest_precision(device)


def train(
    model: nn.Module, name: str, task: TranslationTask, batches: Sequence[Sequence[Any]], *, highest: float
) -> None:
    """Train a model in place, at a learning rate that rises to the highest and falls again."""
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    precision = _measured_precision(device) if SETTINGS.precision == "auto" else SETTINGS.precision
    accelerator = Accelerator(mixed_precision=precision, cpu=device.type == "cpu")
    (plain,) = make_optimizers(model, SETTINGS.optimizer, learning_rate=highest, weight_decay=SETTINGS.weight_decay)
    prepared, optimizer = accelerator.prepare(model.train(), plain)
    with tqdm(batches, desc=name, unit="step", mininterval=5) as bar:
        for step, batch in enumerate(bar):
            share = lr_schedule(
                step, len(batches), warm_up=SETTINGS.warm_up, decay=SETTINGS.decay, schedule="inverse_sqrt"
            )
            for group in optimizer.param_groups:
                group["lr"] = highest * share
            loss = learn(accelerator, task, prepared, [optimizer], batch, SETTINGS.clip)
            bar.set_postfix_str(f"loss {loss:.3f}", refresh=False)


def speeds(task: TranslationTask) -> dict[str, int]:
    """Target tokens per second of training, the best of several rounds in which all models take turns."""
    batches = list(within_budget(task, BUDGET))
    timed, best = batches[:: max(1, len(batches) // TIMED_STEPS)], dict.fromkeys(MODELS, 0.0)
    tokens = sum(map(task.target_tokens, timed))
    for _ in range(ROUNDS):
        for name, kind in MODELS.items():
            model, start = make_network(kind), time.perf_counter()
            train(model, f"timing: {name}", task, timed, highest=learning_rate_of(kind))
            best[name] = max(best[name], tokens / (time.perf_counter() - start))
    return {name: round(speed) for name, speed in best.items()}


def bleu_by_length(loaded: LoadedModel, references: Mapping[str, Sequence[str]]) -> dict[str, float]:
    """BLEU of greedy translations: of all, and by the number of words in the source."""
    settings = DecodingSettings(strategy="greedy", max_new_tokens=LONGEST_ANSWER)
    translations = dict(zip(references, translate_all(loaded, list(references), settings, progress=True), strict=True))
    return {
        name: round(
            score_translations([translations[source] for source in part], [references[source] for source in part]).bleu,
            2,
        )
        for name, part in by_words(references).items()
    }


def by_words(sources: Iterable[str]) -> dict[str, list[str]]:
    """All sources, and those of each length; words are what spaces separate, so " ?" counts as one."""
    parts = {"all": list(sources)}
    for least, most in WORDS:
        name = f"{least}-{most}" if most < 999 else f"{least}+"
        parts[name] = [source for source in parts["all"] if least <= len(source.split()) <= most]
    return {name: part for name, part in parts.items() if part}


def run(folder: Path, output: Path, *, highest: float | None = None) -> None:
    """Train the missing models, measure, print and draw.

    Args:
        highest: one learning rate for all, instead of one for each kind.
    """
    task = TranslationTask(SETTINGS, folder, output, other_files={})
    references = by_source(split_pairs(read_pairs(folder / SOURCE_FILE))["test"])
    figures, models, speed_of = {}, {}, speeds(task)
    rates = {name: learning_rate_of(kind) if highest is None else highest for name, kind in MODELS.items()}
    for name, kind in MODELS.items():
        run_name = name if highest is None else f"{name}, {highest:g}"
        weights, model = output / f"{run_name}.safetensors", make_network(kind)
        if not weights.exists():
            train(model, name, task, list(within_budget(task, BUDGET)), highest=rates[name])
            save_model(model, str(weights))
        load_model(model, weights)
        models[name] = LoadedModel.from_transformer(name, model.eval(), task.tokenizer)
        figures[name] = {
            "highest_rate": rates[name],
            "target_tokens_per_second": speed_of[name],
            "parameters": sum(parameter.numel() for parameter in model.parameters()),
            "bleu": bleu_by_length(models[name], references),
        }
    lengths = list(next(iter(figures.values()))["bleu"])
    rows = [["", "parameters", "target tokens/s", *(f"BLEU {length}" for length in lengths)]]
    for name, scores in figures.items():
        numbers = (f"{scores['bleu'][length]:.1f}" for length in lengths)
        rows.append([name, f"{scores['parameters']:,}", f"{scores['target_tokens_per_second']:,}", *numbers])
    print(table(rows))
    draw(
        EXAMPLE,
        {name: models[name] for name in ("GRU with attention", "transformer, sinusoidal positions")},
        output / "alignment.png",
    )
    print(json.dumps({"experiment": "one_budget", "target_tokens": BUDGET, "models": figures, **machine()}))


def publish(folder: Path, output: Path) -> None:
    """Write what Learn shows of the recurrent translators: both checkpoints, and BLEU by length as `bleu.json`.

    They share attend-translate's vocabulary, which was learned from the same pairs. A checkpoint in `output` is kept.
    """
    task = TranslationTask(SETTINGS, folder, EMBEDDED / REFERENCE, other_files={})
    references = by_source(split_pairs(read_pairs(folder / SOURCE_FILE))["test"])
    for key, name in PUBLISHED.items():
        if not (output / key / checkpoint.WEIGHTS).exists():
            model = make_network(MODELS[name])
            train(model, name, task, list(within_budget(task, BUDGET)), highest=learning_rate_of(MODELS[name]))
            recurrent_checkpoint.save(model, output / key)
    translators = {
        key: LoadedModel.from_transformer(key, recurrent_checkpoint.load(output / key), task.tokenizer)
        for key in PUBLISHED
    }
    measured = {**translators, REFERENCE: catalog.load(REFERENCE)}
    figures = {
        "metric": f"BLEU of greedy translations (sacreBLEU {version('sacrebleu')})",
        "command": "python -m experiments.gru_translate DATA checkpoints/gru-translate",
        "sentences": {name: len(part) for name, part in by_words(references).items()},
        "bleu": {key: bleu_by_length(loaded, references) for key, loaded in measured.items()},
    }
    (output / "bleu.json").write_text(json.dumps(figures, indent=2) + "\n")
