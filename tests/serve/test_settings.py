"""The cluster's file: what is in it is what is deployed, and what is wrong in it is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from model.errors import AttendError
from serve.__main__ import options
from serve.settings import DEFAULT_FILE, ClusterSettings, ModelDeployment


def written(folder: Path, text: str) -> Path:
    path = folder / "cluster.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_the_file_that_comes_with_attend_can_be_read() -> None:
    models = ClusterSettings.read(DEFAULT_FILE).models
    assert [model.name for model in models] == ["attend-chat", "attend-translate"]
    assert models[0].max_replicas > models[0].min_replicas


def test_every_setting_can_be_given(tmp_path: Path) -> None:
    text = """
        [models."owner/name"]
        device = "cuda"
        dtype = "bfloat16"
        num_cpus = 0.5
        num_gpus = 1
        min_replicas = 2
        max_replicas = 8
        target_rows = 32
        [models."owner/name".resources]
        large = 1
    """
    (model,) = ClusterSettings.read(written(tmp_path, text)).models
    assert model == ModelDeployment(
        "owner/name",
        device="cuda",
        dtype="bfloat16",
        num_cpus=0.5,
        num_gpus=1,
        resources={"large": 1},
        min_replicas=2,
        max_replicas=8,
        target_rows=32,
    )
    assert (model.arguments.name, model.arguments.device, model.arguments.dtype) == ("owner/name", "cuda", "bfloat16")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "has no model: add [models.attend-chat]"),
        ("[models", "can't be read"),
        ("[model.a]", "There is no setting 'model'"),
        ("models = 3", "must be tables"),
        ("[models]\na = 3", "must be tables"),
        ("[models.a]\nreplicas = 2", "There is no setting 'replicas' in [models.a]: did you mean"),
        ("[models.a]\nname = 'b'", "There is no setting 'name' in [models.a]"),
        ("[models.' ']", "has no name"),
        ("[models.a]\nmin_replicas = 0", "min_replicas of a is 0, but must be a whole number from 1 to 10,000"),
        ("[models.a]\nmin_replicas = true", "min_replicas of a is True"),
        ("[models.a]\nmin_replicas = 3", "max_replicas of a is 1, but must be at least min_replicas, which is 3"),
        ("[models.a]\nnum_gpus = -1", "num_gpus of a is -1, but must be a number from 0 to 1024"),
        ("[models.a]\nnum_cpus = nan", "num_cpus of a is nan"),
        ("[models.a]\ntarget_rows = 1.5", "target_rows of a is 1.5"),
        ("[models.a]\ndevice = 1", "device of a is 1, but must be text"),
        ("[models.a]\nresources = {x = 'y'}", "resources of a is {'x': 'y'}, but must be a table"),
        (
            "[models.a]\nresources = {x = -1}",
            "resources of a is {'x': -1}, but must be a table of names and numbers from 0 up",
        ),
        ("[models.a]\nresources = {x = inf}", "resources of a is {'x': inf}"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, text: str, sentence: str) -> None:
    with pytest.raises(AttendError) as refused:
        ClusterSettings.read(written(tmp_path, text))
    assert sentence in str(refused.value)
    assert str(refused.value).endswith((".", "?")) and "\n" not in str(refused.value)


def test_auth_works_as_for_the_page_without_a_cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert options([])[2].accounts is None
    monkeypatch.setenv("ATTEND_AUTH", "ada:secret")
    chosen = options([])[2].accounts
    assert chosen is not None and chosen.admits("ada", "secret")
    named = options(["--auth", str(written(tmp_path, "bob:other"))])[2].accounts
    assert named is not None and named.admits("bob", "other") and not named.admits("ada", "secret")


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(AttendError, match="give another with --cluster"):
        ClusterSettings.read(tmp_path / "none.toml")
