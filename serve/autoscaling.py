"""The autoscaling policy: as many replicas as the rows need.

By default, Serve scales by requests, but a beam search with four beams takes four rows, and a comparison of six cards
takes six. So each replica reports its running and waiting rows (`Replica.record_autoscaling_stats`), and Serve calls
this function. It smooths the results over time and keeps them within the deployment's bounds.
"""

from __future__ import annotations

import math
from typing import Any

ROWS = "rows"  # see `Replica.record_autoscaling_stats`


def desired_replicas(context: Any) -> tuple[int, dict[str, Any]]:
    """The number of replicas, with an empty state.

    Args:
        context: a ray.serve.config.AutoscalingContext, in whose config target_ongoing_requests stands for rows.
    """
    rows = sum(context.aggregated_metrics.get(ROWS, {}).values())
    return max(1, math.ceil(rows / context.config.target_ongoing_requests)), {}
