"""A deeper model that computes the same: layers that change nothing yet, each a copy of the one before it.

Both projections of a copy into the residual stream are zero, so that training begins where the smaller model ended
("block expansion", Wu et al., 2024, "LLaMA Pro"). `training.train --only-layers` then trains the copies alone.

python -m training.run.grow FOLDER --after 3 4 5 6 --output FOLDER
"""

from __future__ import annotations

import copy
import shutil
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from model.command_line import Parser, command, writing
from model.errors import AttendError

if TYPE_CHECKING:
    from model.transformer.decoder import Transformer


def grown(model: Transformer, after: Sequence[int]) -> Transformer:
    """A model that computes the same function with more layers.

    Args:
        model: a decoder, whose blocks norm their input.
        after: the layers, from 1, that are followed by a copy.

    Raises `AttendError` if there is no such layer, or if the model is of another kind.
    """
    from torch import nn  # not at the top, since --help would wait for it

    from model.transformer.decoder import Transformer

    config = model.config
    if unknown := [layer for layer in after if not 1 <= layer <= config.layers]:
        raise AttendError(f"There is no layer {unknown[0]}: the model has layers 1 to {config.layers}.")
    if config.encoder_layers or config.norm_place == "after":
        raise AttendError("Only decoders that norm before each sub-layer can grow: a norm after it changes the sum.")
    deeper = Transformer(replace(config, layers=config.layers + len(set(after))))
    state = {name: tensor for name, tensor in model.state_dict().items() if not name.startswith("blocks.")}
    deeper.load_state_dict(state, strict=False)
    blocks: list[nn.Module] = []
    for layer, block in enumerate(model.blocks, start=1):
        blocks.append(block)
        if layer in after:
            new = copy.deepcopy(block)
            for name, parameter in new.named_parameters():
                if ".o_proj." in name or ".down_proj." in name:
                    nn.init.zeros_(parameter)
            blocks.append(new)
    deeper.blocks = nn.ModuleList(blocks)
    return deeper


@command
def main(arguments: Sequence[str] | None = None) -> None:
    parser = Parser(
        prog="python -m training.run.grow",
        description="Write a deeper model that computes the same: some of its layers are followed by copies that add "
        "nothing until they are trained.",
    )
    parser.add_argument("folder", metavar="FOLDER", type=Path, help="the checkpoint folder")
    parser.add_argument("--after", metavar="N", type=int, nargs="+", required=True, help="the layers, from 1, to copy")
    parser.add_argument(
        "--output", metavar="FOLDER", required=True, type=Path, help="the folder to write; created if it is missing"
    )
    options = parser.parse_args(arguments)
    from model.transformer import checkpoint  # imports torch, which takes seconds

    model = grown(checkpoint.load(options.folder), options.after)
    with writing(options.output):
        checkpoint.save(model, options.output)
        shutil.copyfile(options.folder / checkpoint.TOKENIZER, options.output / checkpoint.TOKENIZER)
    print(f"Wrote {options.output}, with {model.config.layers} layers.")


if __name__ == "__main__":
    sys.exit(main())
