"""The precisions that a visitor can choose for their model.

The precision is part of the model's name, so each counts as a model of its own: in memory, in the record of a run, in
the page's address and after a reload.
"""

from __future__ import annotations

from model import names
from model.loaded import LoadedModel
from model.transformer.decoder import Transformer
from ui.models.models_contract import PrecisionValue
from ui.runs.models import Models

_BITS = {"auto": 32, **{dtype: bits for bits, dtype in names.PRECISIONS.items()}}  # of models with a compiled step


def precisions(models: Models, name: str, loaded: LoadedModel) -> list[PrecisionValue]:
    """The choices for a model, including `name`; none for a model without a compiled step, which fewer bits slow down.

    In the precision of the command line, a model has its plain name.
    """
    network = loaded.model
    if not isinstance(network, Transformer) or network.compiled is None:
        return []
    plain, _ = names.without_precision(name)
    of_bits = {bits: names.with_precision(plain, bits) for bits in names.PRECISIONS}
    for dtype, known in ((models.first.dtype, plain), (loaded.dtype, name)):
        if dtype in _BITS:  # not in float16
            of_bits[_BITS[dtype]] = known
    return [{"name": one, "title": f"{bits} bits"} for bits, one in of_bits.items()]
