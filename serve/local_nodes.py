"""Two nodes of a Ray cluster on this one machine, to try out and to test what runs on many.

Everything listens on 127.0.0.1 alone. On a real cluster `ray start` makes the nodes, see docs/scale.md.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager

# Ray looks at both as it is imported. The second would have it turn 127.0.0.1 into an address that others can reach.
os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
os.environ.setdefault("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0")

from ray.cluster_utils import Cluster  # type: ignore[import-not-found]

from model.errors import AttendError

_LOCALHOST = "127.0.0.1"
_ATTEMPTS = 4


@contextmanager
def local_nodes(count: int = 2, *, num_cpus: int = 4) -> Iterator[str]:
    """The address of a new cluster, whose processes are over at the end.

    Args:
        num_cpus: that each node says it has, whatever the machine has: they only count replicas.
    """
    logging.getLogger("ray").setLevel(logging.WARNING)
    cluster = Cluster()
    try:
        for _ in range(count):
            _add_node(cluster, num_cpus)
        yield cluster.address
    finally:
        cluster.shutdown()


def _add_node(cluster: Cluster, num_cpus: int) -> None:
    """Ray gives a node 30 seconds to start, which is too little on a very busy machine; then once more."""
    for attempt in range(_ATTEMPTS):
        try:
            cluster.add_node(num_cpus=num_cpus, node_ip_address=_LOCALHOST, include_dashboard=False)
            return
        except Exception as error:  # Ray raises nothing more special
            if attempt == _ATTEMPTS - 1:
                raise AttendError(f"A Ray node did not start ({error}): try again when less is going on.") from error
