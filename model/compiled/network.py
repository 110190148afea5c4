"""A transformer as one argument of compiled code.

numba unpacks an argument's arrays in every call. For the forty arrays of a transformer that takes 11 microseconds, as
long as reading a tenth of its weights in 8 bits. A `Network` is passed as a single pointer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from model.compiled.arrays import Architecture
from model.compiled.weights import Weights
from model.jit import AVAILABLE, compiled

if TYPE_CHECKING or not AVAILABLE:

    class Network(NamedTuple):
        weights: Weights
        architecture: Architecture

else:
    from numba.core import types
    from numba.experimental import structref

    @structref.register
    class _NetworkType(types.StructRef):
        pass

    class Network(structref.StructRefProxy):
        pass

    structref.define_proxy(Network, _NetworkType, ["weights", "architecture"])


@compiled
def make_network(weights: Weights, architecture: Architecture) -> Network:
    """Build a `Network` in compiled code, which is kept on the disk: `Network(…)` would be compiled at every start."""
    return Network(weights, architecture)
