"""A Ray cluster of two nodes on this machine, for trying things out and for tests.

Everything listens on 127.0.0.1 only. On a real cluster, `ray start` starts the nodes; see docs/scale.md.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager

# Ray reads both when it is imported. If the second were 1, it would replace 127.0.0.1 by an address on the network.
os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
os.environ.setdefault("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0")

from ray.cluster_utils import Cluster  # type: ignore[import-not-found]

from model.errors import AttendError

_LOCALHOST = "127.0.0.1"
_NODES = 2
_CPUS = 4  # that each node claims to have; only the number of replicas depends on it
_ATTEMPTS = 4


@contextmanager
def local_nodes() -> Iterator[str]:
    """Start a cluster, yield its address, and shut it down at the end."""
    logging.getLogger("ray").setLevel(logging.WARNING)
    cluster = Cluster()
    try:
        for _ in range(_NODES):
            _add_node(cluster)
        yield cluster.address
    finally:
        cluster.shutdown()


def _add_node(cluster: Cluster) -> None:
    """Add a node, trying again if it fails: Ray allows 30 seconds, which are too few on a very busy machine."""
    for attempt in range(_ATTEMPTS):
        try:
            cluster.add_node(num_cpus=_CPUS, node_ip_address=_LOCALHOST, include_dashboard=False)
            return
        except Exception as error:  # Ray raises nothing more specific
            if attempt == _ATTEMPTS - 1:
                raise AttendError(
                    f"A Ray node did not start ({error}): try again when the machine is less busy."
                ) from error
