"""Deploys each model on Ray Serve, with each `Replica` in a process of its own."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import ray  # type: ignore[import-not-found]
from ray import serve as ray_serve  # type: ignore[import-not-found]

from model.errors import AttendError
from serve.remote import Handle
from serve.replica import Replica
from serve.settings import ClusterSettings, ModelDeployment

_ROUTER = "ray.serve.experimental.consistent_hash_router:ConsistentHashRouter"  # a visitor stays with one replica
_POLICY = "serve.autoscaling:desired_replicas"


class _ReplicaOfNode(Replica):
    """A replica that listens only on the address of its node."""

    def __init__(self, deployment: ModelDeployment) -> None:
        # In every replica, Ray 2.60 opens a gRPC port on all addresses, which is not used here.
        from ray.serve._private import replica  # type: ignore[import-not-found]

        add_port, node = replica.add_port_to_grpc_server, ray.util.get_node_ip_address()
        replica.add_port_to_grpc_server = lambda server, address: add_port(server, address.replace("[::]", node))
        super().__init__(deployment)


@contextmanager
def connected(address: str) -> Iterator[None]:
    """Make this process a client of a cluster; `AttendError` if no cluster answers.

    Args:
        address: HOST:PORT of its head node; "auto" for the cluster to which this machine belongs.
    """
    logging.getLogger("ray.serve").setLevel(logging.WARNING)
    try:
        ray.init(address=address, log_to_driver=False, logging_level=logging.WARNING)
    except (ConnectionError, ValueError) as error:
        raise AttendError(f"No Ray cluster answers at {address}: start one with ray start, or leave it out.") from error
    try:
        yield
    finally:
        ray.shutdown()


@contextmanager
def deployed(settings: ClusterSettings) -> Iterator[Mapping[str, Handle]]:
    """Start the deployments that the cluster lacks, wait for their replicas, and yield a handle for each model.

    Deployments outlive this process, and those that another page has started stay unchanged. Pages reach the replicas
    through handles, so Serve opens no HTTP port. Raises `AttendError` if a model can't be loaded.
    """
    ray_serve.start(proxy_location="Disabled")
    running = ray_serve.status().applications
    missing = [model for model in settings.models if model.display_name not in running]
    try:
        ray_serve.run_many(
            [ray_serve.RunTarget(_application(model), model.display_name, route_prefix=None) for model in missing]
        )
    except (RuntimeError, ValueError) as error:  # also for resources that Ray does not accept
        raise AttendError(f"The models can't be deployed: {error}") from error
    handles = {model.display_name: ray_serve.get_app_handle(model.display_name) for model in settings.models}
    try:
        yield handles
    finally:
        for handle in handles.values():
            handle.shutdown()  # only the handle: the replicas serve all pages


def _application(model: ModelDeployment) -> Any:
    deployment = ray_serve.deployment(
        _ReplicaOfNode,
        name="replica",
        ray_actor_options={
            "num_cpus": model.num_cpus,
            "num_gpus": model.num_gpus,
            "resources": dict(model.resources),
        },
        max_ongoing_requests=model.max_requests,
        autoscaling_config={
            "min_replicas": model.min_replicas,
            "max_replicas": model.max_replicas,
            "target_ongoing_requests": model.target_rows,  # rows, see `serve/autoscaling.py`
            "policy": {"policy_function": _POLICY},
            "metrics_interval_s": 1.0,
            "look_back_period_s": 5.0,
            "upscale_delay_s": 5.0,
            "downscale_delay_s": 300.0,
        },
        request_router_config={"request_router_class": _ROUTER},
        logging_config={"enable_access_log": False},
    )
    return deployment.bind(model)
