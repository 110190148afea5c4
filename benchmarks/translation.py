"""Our translator against transformers' Marian on the same weights: sentences per second with four beams.

    python -m benchmarks.translation [--model attend-translate] [--sentences 64] [--beams 4] [--rounds 5] [--threads 1]

Marian runs the weights that `model.export` writes. Both translate the same sentences, one at a time and in batches of
32, without recording candidates, and their texts are compared.
"""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.flags import add_counts, add_model
from benchmarks.timing import interleave, machine, ratio, table
from decoding.settings import DecodingSettings
from model import catalog, names
from model.command_line import Parser, command
from model.errors import AttendError
from model.lazy import torch
from model.loaded import LoadedModel
from training.translation.translate import answer_all

AIM = 2.0  # times the sentences per second of transformers
BATCH = 32
LONGEST = 60  # tokens of an answer
SUBJECTS = (
    "Le chat",
    "Mon frère",
    "La petite fille",
    "Son voisin",
    "Notre professeur",
    "Une vieille dame",
    "Tom",
    "Marie",
)
VERBS = ("mange une pomme", "lit un livre", "est très fatigué", "ne comprend pas la question", "veut aller au cinéma")
PLACES = ("dans le jardin.", "à la maison.", "avec ses amis.", "ce soir.", "parce qu'il pleut.", "depuis hier.")


def sentences(count: int) -> list[str]:
    """Everyday sentences, all different."""
    combinations = [f"{subject} {verb} {place}" for subject in SUBJECTS for verb in VERBS for place in PLACES]
    return [combinations[(7 * index) % len(combinations)] for index in range(count)]


def with_attend(loaded: LoadedModel, sources: Sequence[Sequence[int]], beams: int, batch_size: int) -> list[list[int]]:
    """The tokens of every translation, without the end token."""
    settings = DecodingSettings(strategy="beam", num_beams=beams, max_new_tokens=LONGEST)
    translations = []
    for start in range(0, len(sources), batch_size):
        answers = answer_all(loaded, sources[start : start + batch_size], settings)
        translations += [[token for token in tokens if token not in loaded.end_tokens] for tokens in answers]
    return translations


def with_transformers(model: Any, sources: Sequence[Sequence[int]], beams: int, batch_size: int) -> list[list[int]]:
    """The tokens of every translation by transformers' `generate`, without the end token."""
    padding, end = model.config.pad_token_id, model.config.eos_token_id
    translations = []
    for start in range(0, len(sources), batch_size):
        batch = sources[start : start + batch_size]
        longest = max(map(len, batch))
        ids = torch.tensor([[*source, *[padding] * (longest - len(source))] for source in batch])
        with torch.inference_mode():
            output = model.generate(
                input_ids=ids,
                attention_mask=(ids != padding).long(),
                num_beams=beams,
                max_new_tokens=LONGEST,
                max_length=None,
            )
        translations += [[token for token in row if token not in (padding, end)] for row in output.tolist()]
    return translations


@command
def main(arguments: Sequence[str] | None = None) -> None:
    parser = Parser(
        prog="python -m benchmarks.translation", description="Time a translator against transformers' Marian."
    )
    add_model(parser, "attend-translate")
    add_counts(parser, sentences=64, beams=4, rounds=5, threads=1)
    options = parser.parse_args(arguments)
    loaded = catalog.load(options.model)
    import transformers

    from model.huggingface.export.marian import write_marian
    from model.threads import use_threads
    from model.transformer import checkpoint
    from model.transformer.encoder_decoder import EncoderDecoder

    use_threads(options.threads)
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    if not isinstance(loaded.model, EncoderDecoder):
        raise AttendError(f"{options.model} is not one of our own translators: choose another model.")
    folder = names.EMBEDDED / options.model if options.model in names.embedded() else Path(options.model)
    with tempfile.TemporaryDirectory() as name:
        write_marian(loaded.model, Path(name), folder / checkpoint.TOKENIZER)
        marian = transformers.MarianMTModel.from_pretrained(name).eval()
    sources = [loaded.prompt(sentence) for sentence in sentences(options.sentences)]
    same = with_attend(loaded, sources, options.beams, BATCH) == with_transformers(
        marian, sources, options.beams, BATCH
    )
    rows, figures = [["", "Marian, sentences/s", "ours", "times", "aim"]], {}
    for batch_size in (1, BATCH):
        seconds = interleave(
            {
                "transformers": lambda: with_transformers(marian, sources, options.beams, batch_size),  # noqa: B023
                "attend": lambda: with_attend(loaded, sources, options.beams, batch_size),  # noqa: B023
            },
            options.rounds,
        )
        times = ratio(seconds["transformers"], seconds["attend"])
        speeds = [len(sources) / statistics.median(seconds[name]) for name in ("transformers", "attend")]
        label = "one by one" if batch_size == 1 else f"{batch_size} together"
        rows.append([label, *(f"{speed:.1f}" for speed in speeds), f"{times:.2f}", f">= {AIM}"])
        figures[label] = {"marian": round(speeds[0], 2), "ours": round(speeds[1], 2), "times": round(times, 3)}
    print(f"{options.model}, {len(sources)} sentences, {options.beams} beams, {options.threads} threads")
    print(table(rows))
    print(f"same texts: {'yes' if same else 'no'}")
    summary = {"benchmark": "translation", "model": options.model, "same_text": same, "beams": options.beams, **figures}
    print(json.dumps({**summary, "transformers": transformers.__version__, **machine()}))


if __name__ == "__main__":
    sys.exit(main())
