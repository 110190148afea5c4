"""A larger model that computes the same: more layers or wider feed-forward networks, which change nothing until they
are trained.

A new layer is a copy of the one before it, except that both of its projections into the residual stream are zero
("block expansion", Wu et al., 2024, "LLaMA Pro"). A new hidden unit of a feed-forward network has random input weights
and zero output weights. So training begins where the smaller model ended; `training.train --only-layers` trains only
the new layers.

python -m training.run.grow FOLDER --after 3 4 5 6 --output FOLDER
python -m training.run.grow FOLDER --feed-forward-width 1408 --output FOLDER
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


def deepened(model: Transformer, after: Sequence[int]) -> Transformer:
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


def widened(model: Transformer, feed_forward_width: int) -> Transformer:
    """A model that computes the same function with wider feed-forward networks.

    The new input weights are normal, with the spread of the trained ones, and the same at every call.

    Args:
        model: a decoder whose feed-forward networks have no biases.
        feed_forward_width: the new number of hidden units, F' where the old one is F and the model's width W.

    Raises `AttendError` if that isn't larger, or if the model is of another kind.
    """
    import torch  # not at the top, since --help would wait for it

    from model.transformer.decoder import Transformer

    config, before = model.config, model.config.feed_forward_width
    if feed_forward_width <= before:
        raise AttendError(f"--feed-forward-width {feed_forward_width} is not wider: the model has {before} already.")
    if config.encoder_layers or config.biases == "all":
        raise AttendError("Only decoders whose feed-forward networks have no biases can be widened.")
    wider = Transformer(replace(config, feed_forward_width=feed_forward_width))
    state, generator = model.state_dict(), torch.Generator().manual_seed(0)
    for name, weight in wider.state_dict().items():
        if name.endswith(".up_proj.weight"):
            old = state[name].view(-1, before, config.width)  # (gates, F, W)
            new = torch.randn(len(old), feed_forward_width, config.width, generator=generator)  # (gates, F', W)
            new *= old.std()
            new[:, :before] = old
            state[name] = new.view_as(weight)  # (gates * F', W)
        elif name.endswith(".down_proj.weight"):
            state[name] = torch.nn.functional.pad(state[name], (0, feed_forward_width - before))  # (W, F')
    wider.load_state_dict(state)
    return wider


@command
def main(arguments: Sequence[str] | None = None) -> None:
    parser = Parser(
        prog="python -m training.run.grow",
        description="Write a larger model that computes the same: what is new changes nothing until it is trained.",
    )
    parser.add_argument("folder", metavar="FOLDER", type=Path, help="the checkpoint folder")
    parser.add_argument("--after", metavar="N", type=int, nargs="+", default=[], help="the layers, from 1, to copy")
    parser.add_argument("--feed-forward-width", metavar="N", type=int, help="hidden units of each feed-forward network")
    parser.add_argument(
        "--output", metavar="FOLDER", required=True, type=Path, help="the folder to write; created if it is missing"
    )
    options = parser.parse_args(arguments)
    if not options.after and options.feed_forward_width is None:
        raise AttendError("Nothing to grow: pass --after N for layers or --feed-forward-width N for hidden units.")
    from model.transformer import checkpoint  # imports torch, which takes seconds

    model = checkpoint.load(options.folder)
    if options.feed_forward_width is not None:
        model = widened(model, options.feed_forward_width)
    if options.after:
        model = deepened(model, options.after)
    with writing(options.output):
        checkpoint.save(model, options.output)
        shutil.copyfile(options.folder / checkpoint.TOKENIZER, options.output / checkpoint.TOKENIZER)
    config = model.config
    print(f"Wrote {options.output}: {config.layers} layers with a feed-forward width of {config.feed_forward_width}.")


if __name__ == "__main__":
    sys.exit(main())
