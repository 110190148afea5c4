"""The models of a page in front of a cluster. Replicas generate all texts.

The embedded models are small, and the course reads their weights, so the page's process loads them as well and computes
with them everything that takes a single pass: opening a token, What if?, restored attention, Write's alternatives, the
course. For all other models, whose weights it doesn't have, replicas compute these passes, too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from decoding.observer import Observer
from model import catalog, names
from model.encoder import Encoder
from model.loaded import LoadedModel
from model.progress import Progress
from serve.remote import Handle, ReplicaDecoder
from serve.remote_model import remote_model
from serve.settings import ClusterSettings
from ui.limits import Limits
from ui.runs.models import Models


def models_of(
    settings: ClusterSettings,
    handles: Mapping[str, Handle],
    *,
    limits: Limits = Limits(),
    observer: Observer = Observer(),
) -> Models:
    """The models of the page; see `ui.runs.models.Models`."""
    deployed = {model.display_name: model for model in settings.models}

    def load(name: str, progress: Progress) -> LoadedModel | Encoder:
        model = deployed[names.without_precision(name)[0]]
        if model.name in names.embedded():
            return catalog.load_another(replace(model.arguments, device="cpu"), name, progress)
        return remote_model(handles[model.display_name], name)

    return Models(tuple(deployed), load, limits=limits, observer=observer, decoder=ReplicaDecoder(handles))
