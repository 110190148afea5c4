"""Write one of our models in a Hugging Face layout, for other engines: a decoder as a Llama, a translator as a Marian.

    python -m model.export attend-chat DIR

The folder also gets a model card (README.md): what the model is, how to load it, and the sections of its own card on
licence, data and limits.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from model import names
from model.command_line import Parser, command, run_as
from model.errors import AttendError

CARD = "README.md"
ExportFormat = Literal["Llama", "Marian"]

_FRONT_MATTER = re.compile(r"---\n(.*?)---\n", re.DOTALL)
_RELATIVE_LINK = re.compile(r"(?<!!)\[([^]]+)\]\((?!https?://)[^)]+\)")  # would lead nowhere from the new folder
_KEPT = ("Data", "What it cannot do")  # sections of the model's own card
_LOADING = {
    "Llama": """\
from transformers import AutoModelForCausalLM, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained(FOLDER)
model = AutoModelForCausalLM.from_pretrained(FOLDER)
messages = [{"role": "user", "content": "Hi! How are you today?"}]
inputs = tokenizer.apply_chat_template(messages, add_generation_prompt=True, return_tensors="pt", return_dict=True)
answer = model.generate(**inputs, max_new_tokens=64)[0, inputs["input_ids"].shape[1]:]
print(tokenizer.decode(answer, skip_special_tokens=True))
""",
    "Marian": """\
from transformers import MarianMTModel, MarianTokenizer

tokenizer = MarianTokenizer.from_pretrained(FOLDER)
model = MarianMTModel.from_pretrained(FOLDER)
answer = model.generate(**tokenizer("Le chat dort.", return_tensors="pt"))[0]
print(tokenizer.decode(answer, skip_special_tokens=True))
""",
}


def model_card(name: str, export_format: ExportFormat, original: str) -> str:
    """The card of an export.

    Args:
        name: what the model is called.
        original: the model's own card; "" if it has none.
    """
    task = {"Llama": "text-generation", "Marian": "translation"}[export_format]
    front_matter = _FRONT_MATTER.match(original)
    front, text = (front_matter[1], original[front_matter.end() :]) if front_matter else ("", original)
    _, *sections = re.split(r"^## ", text, flags=re.MULTILINE)
    about = re.search(r"^# .*?\n+((?:(?![|#]).*\n)*)", text)
    parts = [
        f"---\n{front}library_name: transformers\npipeline_tag: {task}\n---\n\n# {name}\n",
        about[1].strip() + "\n" if about else "",
        f"Exported from Attend's `{name}` in the {export_format} layout, with float32 weights, so its logits are the "
        "same.\n",
        f"## How to load it\n\nFOLDER is the folder of this file.\n\n```python\n{_LOADING[export_format]}```\n",
        *(f"## {section.strip()}\n" for section in sections if section.partition("\n")[0] in _KEPT),
    ]
    if not original:
        parts.append("## Licence and data\n\nThe model came without a card, so neither is known.\n")
    return _RELATIVE_LINK.sub(r"\1", "\n".join(part for part in parts if part))


def export(name: str, directory: Path) -> ExportFormat:
    """Write a model and its card into a folder, which is created if it is missing; returns the name of the layout.

    Raises `AttendError` if there is no such model, or if it can't be written in a Hugging Face layout.
    """
    from model import catalog

    loaded = catalog.load(name)  # before the slow import of torch, so that a mistyped name is refused at once
    from model.huggingface.export.llama import write_llama
    from model.huggingface.export.marian import write_marian
    from model.text.sentencepiece_tokenizer import Tokenizer
    from model.transformer import checkpoint
    from model.transformer.decoder import Transformer
    from model.transformer.encoder_decoder import EncoderDecoder

    model = loaded.model
    if not isinstance(model, Transformer) or not isinstance(loaded.tokenizer, Tokenizer):
        raise AttendError(f"{name} is not one of our own models, so it is in its own layout already.")
    folder = names.EMBEDDED / name if name in names.embedded() else Path(name)
    card = folder / CARD
    original = card.read_text(encoding="utf-8") if card.is_file() else ""
    export_format: ExportFormat = "Marian" if isinstance(model, EncoderDecoder) else "Llama"
    if isinstance(model, EncoderDecoder):
        languages = re.search(r"^language: *\[(\w+), *(\w+)\]$", original, flags=re.MULTILINE)
        write_marian(model, directory, folder / checkpoint.TOKENIZER, languages=languages and languages.groups())
    else:
        write_llama(model, directory, folder / checkpoint.TOKENIZER)
    (directory / CARD).write_text(model_card(loaded.name, export_format, original), encoding="utf-8")
    return export_format


def command_parser() -> Parser:
    parser = Parser(
        prog=run_as("model.export"),
        description="Write one of Attend's own models in a Hugging Face layout, with a model card.",
    )
    parser.add_argument("model", metavar="MODEL", help="attend-chat, attend-translate, or the folder of a checkpoint")
    parser.add_argument("directory", metavar="DIR", type=Path, help="the folder to write; created if it is missing")
    parser.add_argument("--force", action="store_true", help="write into a folder that is not empty")
    return parser


@command
def main(arguments: Sequence[str] | None = None) -> None:
    options = command_parser().parse_args(arguments)
    directory: Path = options.directory
    try:
        if not options.force and directory.is_dir() and any(directory.iterdir()):
            raise AttendError(f"{directory} is not empty: choose a new folder, or add --force to overwrite its files.")
        export_format = export(options.model, directory)
    except OSError as error:
        raise AttendError(f"{directory} can't be written ({error.strerror}): choose another folder.") from error
    print(f"Wrote {options.model} to {directory} in the {export_format} layout.")


if __name__ == "__main__":
    sys.exit(main())
