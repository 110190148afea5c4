"""How many replicas a deployment should have: as many as its rows need.

Serve counts requests, but a beam search of four beams takes four rows, and a comparison of six cards six. So each
replica reports its rows, running and waiting (`Replica.record_autoscaling_stats`), and Serve asks this function. It
smooths the answers over time and keeps them between the deployment's bounds.
"""

from __future__ import annotations

import math
from typing import Any

ROWS = "rows"  # see `Replica.record_autoscaling_stats`


def desired_replicas(context: Any) -> tuple[int, dict[str, Any]]:
    """The number of replicas, and no state.

    Args:
        context: ray.serve.config.AutoscalingContext; its config's target_ongoing_requests are rows here.
    """
    rows = sum(context.aggregated_metrics.get(ROWS, {}).values())
    return max(1, math.ceil(rows / context.config.target_ongoing_requests)), {}
