"""Write what the page without a server fetches of one of our models: its weights, its vocabulary, its settings.

    python -m web.export attend-chat DIR [--checkpoint FOLDER]

DIR gets `weights.safetensors` in 8 bits, `tokenizer.json` (the pieces of SentencePiece and its rules as plain lists)
and `model.json`: the config, the settings with their defaults and limits, and the size and SHA-256 of the other files,
so that a browser can tell whether it has them. FOLDER gets a checkpoint of the same rounded weights, with which Python
computes what the browser does: `training.evaluate`, for example, says what rounding costs.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from decoding.settings import parameters
from decoding.strategies.registry import STRATEGY
from model import names
from model.command_line import Parser, command
from model.errors import AttendError
from web.available import STRATEGIES, strategies_of

WEIGHTS, VOCABULARY, MANIFEST = "weights.safetensors", "tokenizer.json", "model.json"


def export(name: str, directory: Path) -> None:
    """Write a model into a folder, which is created if it is missing; `AttendError` for one that is not our own."""
    from sentencepiece.sentencepiece_model_pb2 import ModelProto  # pyright: ignore[reportAttributeAccessIssue]

    from model.transformer import checkpoint
    from web.weights import packed

    folder = checkpoint_folder(name)
    config = checkpoint.read_config(folder)
    check(config, name)
    weights = checkpoint.read_weights(folder / checkpoint.WEIGHTS)
    checkpoint.rename_weights(weights)
    pieces = ModelProto()
    pieces.ParseFromString((folder / checkpoint.TOKENIZER).read_bytes())
    files = {
        WEIGHTS: packed(weights),
        VOCABULARY: json.dumps(vocabulary(pieces, padded=config["encoder_layers"] > 0), ensure_ascii=False).encode(),
    }
    manifest = {
        "name": names.display_name(name),
        "config": config,
        "settings": [declaration(parameter) for parameter in parameters()],
        "files": [
            {"name": file, "bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
            for file, content in files.items()
        ],
    }
    directory.mkdir(parents=True, exist_ok=True)
    for file, content in files.items():
        (directory / file).write_bytes(content)
    (directory / MANIFEST).write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")


def checkpoint_folder(name: str) -> Path:
    """The folder of an embedded model by its name, or the named folder."""
    return names.EMBEDDED / name if name in names.embedded() else Path(name)


def check(config: dict[str, Any], name: str) -> None:
    """`AttendError` for a model whose parts `web/model` does not have."""
    known = {
        "positions": ("rotary", "sinusoidal"),
        "activation": ("relu", "swiglu"),
        "tied_embeddings": (True,),
        "query_key_norm": (False,),
        "sliding_window": (0,),
        "rotary_scaling": (None,),
        "key_value_heads": (config.get("heads"),),
    }
    for field, values in known.items():
        if config.get(field) not in values:
            raise AttendError(f"{name} can't run in a browser: its {field} is {config.get(field)!r}.")
    for field in ("width", "head_width", "feed_forward_width", "context_length"):
        if config[field] % 8:
            raise AttendError(f"{name} can't run in a browser: its {field} is {config[field]}, not a multiple of 8.")
    if config["vocabulary_size"] % 4:
        raise AttendError(f"{name} can't run in a browser: its vocabulary_size is not a multiple of 4.")


def vocabulary(pieces: Any, *, padded: bool) -> dict[str, Any]:
    """What `web/text/tokenizer.js` needs of a SentencePiece model: BPE whose first pieces are merged first.

    Args:
        padded: whether the model has one token more than pieces, which is its padding.
    """
    from model.text.sentencepiece_tokenizer import PADDING, SPACE

    kind = type(pieces.pieces[0])
    texts = [(number, piece) for number, piece in enumerate(pieces.pieces) if piece.type == kind.NORMAL]
    scores = [piece.score for _, piece in texts]
    if pieces.trainer_spec.model_type != pieces.trainer_spec.BPE or scores != sorted(scores, reverse=True):
        raise AttendError("This vocabulary can't be used in a browser: it is not one of training/vocabulary.py.")
    if any(SPACE in piece.piece[1:] for _, piece in texts):
        raise AttendError(
            "This vocabulary can't be used in a browser: one of its pieces has a space after the beginning."
        )
    rules = pieces.normalizer_spec
    special = [n for n, piece in enumerate(pieces.pieces) if piece.type in (kind.CONTROL, kind.UNKNOWN)]
    return {
        "pieces": [piece.piece for piece in pieces.pieces] + [PADDING] * padded,
        "special": special + [len(pieces.pieces)] * padded,
        "bytes": [
            n for n, piece in enumerate(pieces.pieces) if piece.type == kind.BYTE
        ],  # in the order of their values
        "sentences": rules.add_dummy_prefix and rules.remove_extra_whitespaces,
        "rules": dict(normalisations(rules.precompiled_charsmap)),
    }


def normalisations(rules: bytes) -> Iterator[tuple[str, str]]:
    """The rules of a SentencePiece normaliser: what is replaced, and by what.

    They are stored as a double-array trie (Aoe, 1989) over the bytes of what is replaced, with the layout of
    darts-clone, followed by all replacements, each ended by a zero.
    """
    if not rules:
        return
    size = int.from_bytes(rules[:4], "little")
    units = memoryview(rules[4 : 4 + size]).cast("I")
    replacements = rules[4 + size :]

    def children(node: int) -> int:
        unit = units[node]
        return node ^ (unit >> 10 << (unit >> 6 & 8))

    pending = [(b"", children(0))]
    while pending:
        before, base = pending.pop()
        for byte in range(1, 256):
            node = base ^ byte
            if node >= len(units) or units[node] & 0x8000_00FF != byte:
                continue
            text = before + bytes([byte])
            if units[node] >> 8 & 1:  # it has a leaf: a rule ends here
                start = units[children(node)] & 0x7FFF_FFFF
                yield text.decode(), replacements[start : replacements.index(0, start)].decode()
            pending.append((text, children(node)))


def declaration(parameter: Any) -> dict[str, Any]:
    """A setting: its default, the strategies that use it in a browser, and what it accepts there."""
    choices = STRATEGIES if parameter.name == STRATEGY.name else parameter.choices
    accepted: dict[str, Any] = {"choices": list(choices)} if choices else {}
    if not accepted and isinstance(parameter.default, int | float):
        accepted = {"minimum": parameter.minimum, "maximum": parameter.maximum, "integer": parameter.integer}
    default, strategies = parameter.plain(parameter.default), list(strategies_of(parameter))
    return {"name": parameter.name, "default": default, "strategies": strategies, **accepted}


@command
def main(arguments: Sequence[str] | None = None) -> None:
    parser = Parser(prog="python -m web.export", description="Write one of our models for the page without a server.")
    parser.add_argument("model", metavar="MODEL", help="attend-chat, attend-translate, or the folder of a checkpoint")
    parser.add_argument("directory", metavar="DIR", type=Path, help="the folder to write; created if it is missing")
    parser.add_argument("--checkpoint", metavar="FOLDER", type=Path, help="also write the rounded weights for Python")
    options = parser.parse_args(arguments)
    try:
        export(options.model, options.directory)
        if options.checkpoint:
            from web.weights import save_rounded

            save_rounded(checkpoint_folder(options.model), options.checkpoint)
    except OSError as error:
        raise AttendError(f"{error.filename} can't be written ({error.strerror}): choose another.") from error
    print(f"Wrote {options.model} to {options.directory}.")


if __name__ == "__main__":
    sys.exit(main())
