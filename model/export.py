"""Our models in layouts of Hugging Face, for other engines: decoders as a Llama, encoders with decoders as a Marian.

python -m model.export attend-chat DIR
python -m model.export attend-translate DIR
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from model import catalog, checkpoint
from model.encoder_decoder import EncoderDecoder
from model.errors import AttendError
from model.export_llama import write_llama
from model.export_marian import write_marian
from model.tokenizer import Tokenizer
from model.transformer import Transformer


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m model.export", description="Write one of our models in a layout of Hugging Face."
    )
    parser.add_argument("model", help="the name of an embedded model, or the folder of a checkpoint")
    parser.add_argument("directory", type=Path, help="where to write; made if it is missing")
    options = parser.parse_args(arguments)
    try:
        loaded = catalog.load(options.model)
        model = loaded.model
        if not isinstance(model, Transformer) or not isinstance(loaded.tokenizer, Tokenizer):
            raise AttendError(f"{options.model} is not one of our own models, so it is in its own layout already.")
        folder = catalog.EMBEDDED / options.model if options.model in catalog.embedded() else Path(options.model)
        if isinstance(model, EncoderDecoder):
            layout = "Marian"
            write_marian(model, options.directory, folder / checkpoint.TOKENIZER)
        else:
            layout = "Llama"
            write_llama(model, options.directory, folder / checkpoint.TOKENIZER)
    except OSError as error:
        sys.exit(_refuse(f"{options.directory} cannot be written ({error.strerror}): name another folder."))
    except AttendError as error:
        sys.exit(_refuse(str(error)))
    print(f"Wrote {options.model} to {options.directory} in the {layout} layout.")


def _refuse(sentence: str) -> int:
    print(sentence, file=sys.stderr)
    return 2


if __name__ == "__main__":
    main()
