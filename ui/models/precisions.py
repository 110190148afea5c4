"""The precisions that a visitor can choose for their model.

The precision is part of the model's name, so a model in each precision counts as a model of its own: in memory, in the
record of a run, in the page's address and after a reload.
"""

from __future__ import annotations

from model import names
from model.loaded import LoadedModel
from model.transformer.decoder import Transformer
from ui.models.models_contract import PrecisionValue
from ui.runs.models import Models

_BITS = {"auto": 32, **{dtype: bits for bits, dtype in names.PRECISIONS.items()}}  # of models with a compiled step


def precisions(models: Models, name: str, loaded: LoadedModel) -> list[PrecisionValue]:
    """The choices for a model, including `name`. Without a compiled step there is none, since fewer bits slow it down.

    A model in the precision of the command line has its plain name.
    """
    network = loaded.model
    if not isinstance(network, Transformer) or network.compiled is None:
        return []
    plain, _ = names.without_precision(name)
    of_bits = {bits: names.with_precision(plain, bits) for bits in names.PRECISIONS}
    for dtype, its_name in ((models.first.dtype, plain), (loaded.dtype, name)):
        if dtype in _BITS:  # float16 is not
            of_bits[_BITS[dtype]] = its_name
    return [{"name": each, "title": f"{bits} bits"} for bits, each in of_bits.items()]
