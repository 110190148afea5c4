"""Downloads by the real client from a fake Hub on 127.0.0.1: what is fetched, cached and reused."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from gradio_client import Client
from huggingface_hub import constants, snapshot_download

import generate
from model import catalog, names
from model.transformer.decoder import Transformer
from tests.helpers.folders import llama
from tests.helpers.hub_server import LARGE, StandIn, commit_of
from tests.helpers.hub_stage import HUB_MODEL, WEIGHTS, contents, fetch, parts, refusal, wanted
from tests.helpers.paths import ROOT
from tests.helpers.served import app_page


def test_whether_a_model_needs_a_download_is_known_without_asking(
    hub_server: StandIn, on_the_hub: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = names.Entry(HUB_MODEL, 1, 1, "MIT", "English", "tests")
    assert not names.is_installed(entry)
    hub_server.cut_after[WEIGHTS] = [100, 0, 0, 0]
    refusal()
    assert not names.is_installed(entry)  # a part is no model
    fetch()
    monkeypatch.setattr(hub_server, "statuses", {"": (500, "")})
    assert names.is_installed(entry)


def test_what_is_needed_comes_and_nothing_else(hub_server: StandIn, on_the_hub: Path) -> None:
    progress: list[tuple[int, int]] = []
    snapshot = fetch(progress=lambda done, total: progress.append((done, total)))
    assert contents(snapshot.path) == wanted(on_the_hub)
    assert snapshot.note == ""
    total = sum(map(len, wanted(on_the_hub).values()))
    assert {of for _, of in progress} == {total}
    assert [done for done, _ in progress] == sorted(done for done, _ in progress)
    assert progress[-1] == (total, total)
    assert sorted(hub_server.requested_files()) == sorted(wanted(on_the_hub))  # each once
    assert hub_server.requested_files()[0] == "config.json" and hub_server.requested_files()[-1] == WEIGHTS
    cached = snapshot_download(HUB_MODEL, local_files_only=True, cache_dir=constants.HF_HUB_CACHE)
    assert cached == str(snapshot.path)  # by the library's own client


def test_what_is_here_is_not_fetched_again(hub_server: StandIn, on_the_hub: Path) -> None:
    folder = fetch().path
    hub_server.requests.clear()
    progress: list[tuple[int, int]] = []
    assert fetch(progress=lambda done, total: progress.append((done, total))).path == folder
    assert (hub_server.requested_files(), progress) == ([], [])
    hub_server.requests.clear()
    assert fetch(commit_of(on_the_hub)).path == folder  # a commit never changes
    assert hub_server.requests == []


def test_a_revision_is_the_one_that_is_fetched(hub_server: StandIn, on_the_hub: Path, tmp_path: Path) -> None:
    older = Path(shutil.copytree(on_the_hub, tmp_path / "older"))
    (older / "generation_config.json").write_text('{"eos_token_id": 7}')
    hub_server.repositories[HUB_MODEL, "v1/first"] = older
    for revision, folder in (("main", on_the_hub), ("v1/first", older), (commit_of(older), older)):
        assert contents(fetch(revision).path) == wanted(folder)
    assert refusal(revision="v2") == f"{HUB_MODEL} has no revision 'v2': choose one of its branches, tags or commits."


def test_shards_come_one_by_one(hub_server: StandIn, tmp_path: Path) -> None:
    folder = llama(tmp_path / "shards", shard="20KB")
    hub_server.repositories = {(HUB_MODEL, "main"): folder}
    names = sorted(path.name for path in folder.glob("*.safetensors"))
    assert len(names) > 2
    fetched = fetch().path
    assert [name for name in hub_server.requested_files() if name in names] == names
    assert {name: (fetched / name).read_bytes() for name in names} == {
        name: (folder / name).read_bytes() for name in names
    }


@pytest.mark.parametrize("ranges", [True, False])
def test_a_short_break_is_mended_within_the_run(hub_server: StandIn, on_the_hub: Path, ranges: bool) -> None:
    """A server without ranges begins again."""
    hub_server.ranges = ranges
    hub_server.cut_after[WEIGHTS] = [10_000, 5_000] if ranges else [10_000]
    assert contents(fetch().path) == wanted(on_the_hub)
    range_headers = [request.range for request in hub_server.requests if request.path.endswith(WEIGHTS)]
    assert range_headers[:2] == [None, "bytes=10000-"] and (range_headers[2:] == ["bytes=15000-"] or not ranges)


def test_a_long_break_is_reported_and_the_next_run_resumes(hub_server: StandIn, on_the_hub: Path) -> None:
    hub_server.cut_after[WEIGHTS] = [10_000, 0, 0, 0]
    message = refusal()
    assert (
        "was interrupted in model.safetensors" in message and "10 kB of" in message and "resumes from there" in message
    )
    hub_server.requests.clear()
    progress: list[tuple[int, int]] = []
    assert contents(fetch(progress=lambda done, total: progress.append((done, total))).path) == wanted(on_the_hub)
    assert [
        (request.path.rpartition("/")[2], request.range)
        for request in hub_server.requests
        if "/resolve/" in request.path
    ] == [(WEIGHTS, "bytes=10000-")]
    small = sum(len(content) for name, content in wanted(on_the_hub).items() if name != WEIGHTS)
    assert min(done for done, _ in progress if done > small) > small + 10_000  # it begins where it stopped
    assert parts() == []


def test_a_watcher_may_stop_it_and_the_next_run_goes_on(hub_server: StandIn, on_the_hub: Path) -> None:
    class EnoughError(Exception):
        pass

    def stop(done: int, total: int) -> None:
        if done > total / 2:
            raise EnoughError

    with pytest.raises(EnoughError):
        fetch(progress=stop)
    assert contents(fetch().path) == wanted(on_the_hub)


@pytest.mark.parametrize(
    ("name", "longer"), [(WEIGHTS, False), (WEIGHTS, True), ("generation_config.json", False)]
)  # by SHA-256, by git's SHA-1
def test_a_wrong_checksum_or_length_is_found_and_nothing_of_it_is_kept(
    hub_server: StandIn, on_the_hub: Path, name: str, longer: bool
) -> None:
    good = (on_the_hub / name).read_bytes()
    assert (len(good) >= LARGE) == (name == WEIGHTS)
    hub_server.contents[name] = bytes([good[0] ^ 1]) + good[1:] + b"more" * longer
    message = refusal()
    assert f"{name} of {HUB_MODEL} was deleted because its checksum differs" in message
    assert parts() == []
    hub_server.contents[WEIGHTS] = (on_the_hub / WEIGHTS).read_bytes()[:-100]  # shorter than listed: never whole
    hub_server.contents.pop("generation_config.json", None)
    assert "was interrupted in model.safetensors" in refusal()
    hub_server.contents.clear()
    assert contents(fetch().path) == wanted(on_the_hub)


def test_the_token_goes_to_the_hub_alone(
    hub_server: StandIn, on_the_hub: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    hub_server.elsewhere = True
    assert contents(fetch().path) == wanted(on_the_hub)
    tokens = {(request.path.startswith("/cdn"), request.token) for request in hub_server.requests}
    assert tokens == {(True, None), (False, "Bearer hf_secret")}


def test_while_the_hub_is_down_the_copy_is_used_with_a_note(hub_server: StandIn, on_the_hub: Path) -> None:
    folder = fetch().path
    hub_server.statuses["/revision/main"] = 503, ""
    snapshot = fetch()
    assert snapshot.path == folder
    assert snapshot.note.endswith(
        f"so the copy of {HUB_MODEL} downloaded earlier ({commit_of(on_the_hub)[:7]}) is used."
    )
    hub_server.statuses["/revision/main"] = 401, "GatedRepo"
    assert "gated" in refusal()  # an answer is an answer


def test_without_a_network_and_offline_the_copy_is_used_and_nobody_is_asked(
    hub_server: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    assert refusal().startswith(f"Offline (HF_HUB_OFFLINE is set), and {HUB_MODEL} isn't downloaded: unset it")
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    folder = fetch().path
    hub_server.requests.clear()
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    assert fetch().path == folder and hub_server.requests == []
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(constants, "ENDPOINT", "http://127.0.0.1:1")  # where nobody listens
    snapshot = fetch()
    assert snapshot.path == folder
    assert snapshot.note.startswith("http://127.0.0.1:1 cannot be reached (")
    (folder / WEIGHTS).unlink()
    assert refusal().startswith(f"There is no folder {HUB_MODEL}, and http://127.0.0.1:1 cannot be reached (")
    assert "try again" not in refusal()


def test_a_model_of_the_hub_is_called_by_its_name_and_revision(hub_server: StandIn) -> None:
    loaded = catalog.load(f"{HUB_MODEL}@main")
    assert (loaded.name, loaded.address, loaded.notes) == (f"{HUB_MODEL}@main", f"{HUB_MODEL}@main", ())
    assert isinstance(loaded.model, Transformer)


def test_the_terminal_fetches_with_a_bar_and_then_does_without_the_hub(
    hub_server: StandIn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In another process first, where the client reads its settings from the environment."""
    cache = str(tmp_path / "home")
    environment = {name: value for name, value in os.environ.items() if name != "HF_HUB_OFFLINE"}
    environment |= {"HF_ENDPOINT": hub_server.address, "HF_HUB_CACHE": cache, "HF_TOKEN": ""}
    flags = ["Once", "--model", HUB_MODEL, "--strategy", "greedy", "--max-new-tokens", "5", "--min-new-tokens", "5"]
    command = [sys.executable, str(ROOT / "generate.py"), *flags]
    ran = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert "Downloading: 100%" in ran.stderr
    assert {request.path.split("/")[1] for request in hub_server.requests} == {
        "api",
        "someone",
    }  # nothing is told to anybody

    monkeypatch.setattr(constants, "HF_HUB_CACHE", cache)
    monkeypatch.setattr("model.threads.fastest_threads", lambda model: 1)
    hub_server.statuses["/revision/main"] = 503, ""
    assert generate.main(flags) == 0
    captured = capsys.readouterr()
    assert captured.out == ran.stdout
    assert captured.err.startswith(
        "Note: The Hub is having problems (status 503), so the copy of someone/tiny-llama downloaded earlier"
    )
    assert "Downloading" not in captured.err


def test_the_page_shows_a_model_of_the_hub_and_asks_for_nothing_else(hub_server: StandIn) -> None:
    with app_page("--model", HUB_MODEL) as address:
        settings = {"strategy": "greedy", "max_new_tokens": 5, "min_new_tokens": 5}
        trace = Client(address, verbose=False).predict("Once", HUB_MODEL, settings, api_name="/generate")
    assert trace["model"] == HUB_MODEL and len(trace["steps"]) == 5
    assert {request.path.split("/")[1] for request in hub_server.requests} == {"api", "someone"}
