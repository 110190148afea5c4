"""`python -m serve`: the page of `app.py`, with models that run in the replicas of a Ray cluster."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack
from importlib.util import find_spec
from pathlib import Path

import app
from model.arguments import ModelArguments
from model.command_line import Parser, command
from model.errors import AttendError
from serve.settings import DEFAULT_FILE, ClusterSettings


def options(arguments: Sequence[str] | None = None) -> tuple[ClusterSettings, str, app.Options]:
    """Read the command line: the models to deploy, the cluster's address ("" to start one here), and the page."""
    parser = Parser(
        prog="python -m serve",
        usage="python -m serve [flags]",
        description="Serve the page, with its models on a Ray cluster.",
    )
    parser.add_argument(
        "--cluster",
        type=Path,
        default=DEFAULT_FILE,
        metavar="FILE",
        help="the models and their replicas (default serve/cluster.toml)",
    )
    parser.add_argument(
        "--address",
        default="",
        metavar="HOST:PORT",
        help="the cluster's head node, or auto (default: two nodes on this machine, for as long as the page runs)",
    )
    app.add_page_flags(parser)
    flags = parser.parse_args(arguments)
    return ClusterSettings.read(flags.cluster), flags.address, app.page_options(flags, ModelArguments())


@command
def main(arguments: Sequence[str] | None = None) -> None:
    """Deploy the models and serve the page until it is interrupted."""
    started = time.monotonic()
    settings, address, page = options(arguments)
    app.check_port(page.host, page.port)
    if find_spec("ray") is None:
        raise AttendError("Ray is not installed: run pip install -r requirements-cluster.txt.")
    # Slow imports come after all checks that don't need them.
    from model.device import limit_heaps
    from ui.kit.light_import import import_gradio

    limit_heaps()
    import_gradio()
    with ExitStack() as cluster:
        if not address:
            from serve.local_nodes import local_nodes

            address = cluster.enter_context(local_nodes())
        from serve.deploy import connected, deployed
        from serve.page import models_of
        from ui.page.layout import build
        from ui.server.metrics import Metrics

        cluster.enter_context(connected(address))
        handles = cluster.enter_context(deployed(settings))
        metrics = Metrics()
        models = models_of(settings, handles, limits=page.limits, observer=metrics)
        description = f"{', '.join(handles)} on a cluster"
        app.launch(build(models), page, description, started, metrics)


if __name__ == "__main__":
    sys.exit(main())
