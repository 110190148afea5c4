"""Decoding in replicas: the same Steps as here, rows that are freed, and what is lost with a process and what not."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from itertools import cycle
from pathlib import Path
from shutil import copytree
from typing import Any

import psutil
import pytest
import torch

from decoding.call import DecodeCall, Passes
from decoding.request import RequestOptions
from decoding.settings import DecodingSettings
from lesson.generation.recorded import write_greedily
from model import catalog
from model.errors import AttendError
from model.inspection.inspector import opened, under
from model.inspection.intervention import Intervention
from model.interface import Want
from model.loaded import LoadedModel
from model.text.conversation import Message
from serve.settings import ClusterSettings, ModelDeployment
from tests.decoding.test_batch import check_same
from tests.decoding.test_scheduler import KINDS
from tests.helpers.tiny import check_same_pass
from tests.helpers.waiting import eventually, steps_of
from tests.serve.conftest import LONG
from ui.runs.models import Models
from ui.runs.models.model_cache import Load

ENDLESS = DecodingSettings(strategy="sample", seed=1, min_new_tokens=LONG, max_new_tokens=LONG)


@pytest.fixture(scope="module")
def load(long_model: LoadedModel, tiny_translator: LoadedModel) -> Load:
    loaded = {each.name: each for each in (long_model, tiny_translator)}
    return lambda name, progress: loaded[name]


@pytest.fixture(scope="module")
def handles(cluster: str, long_checkpoint: Path, tiny_translator: LoadedModel) -> Iterator[Mapping[str, Any]]:
    """Two replicas of one model, one of another."""
    from serve.deploy import deployed

    long = ModelDeployment(str(long_checkpoint), min_replicas=2, max_replicas=2)
    with deployed(ClusterSettings((long, ModelDeployment(tiny_translator.address)))) as handles:
        yield handles


@pytest.fixture(scope="module")
def here(handles: Mapping[str, Any], load: Load) -> Models:
    """The models in this process."""
    return Models(tuple(handles), load)


@pytest.fixture(scope="module")
def there(handles: Mapping[str, Any], load: Load) -> Models:
    """The same models in replicas."""
    from serve.remote import ReplicaDecoder

    return Models(tuple(handles), load, decoder=ReplicaDecoder(handles))


def decode(models: Models, settings: DecodingSettings, *, model: str = "", visitor: str = "") -> Passes:
    loaded = models.get(model or models.default)
    return models.decode(DecodeCall(loaded.name, loaded.prompt("The quick brown fox"), (settings,), visitor=visitor))


def stat(name: str, handle: Any, visitor: str) -> float:
    """A number of the replica to which a visitor's calls go."""
    return handle.options(session_id=visitor).record_autoscaling_stats.remote().result()[name]


def rows(handle: Any, visitor: str) -> float:
    return stat("rows", handle, visitor)


@pytest.mark.parametrize("settings", KINDS, ids=lambda settings: f"{settings.strategy} {settings.rows}")
@pytest.mark.parametrize("translates", [False, True], ids=["decoder", "encoder-decoder"])
def test_the_steps_are_those_of_this_process(
    here: Models, there: Models, settings: DecodingSettings, translates: bool
) -> None:
    model = there.names[translates]
    check_same(steps_of(decode(there, settings, model=model)), steps_of(decode(here, settings, model=model)))


def test_a_text_goes_on_where_it_ended(here: Models, there: Models) -> None:
    loaded = there.first
    prompt, settings = loaded.prompt("The fox"), DecodingSettings(seed=6, max_new_tokens=6)
    call = DecodeCall(loaded.name, prompt, (settings,))
    begun = steps_of(there.decode(call))[-1].best
    resumed = replace(call, options=RequestOptions(attention=True, draws_used=6, resumed=begun))
    on = [steps_of(models.decode(resumed)) for models in (there, here)]
    check_same(*on)
    assert begun is not None and on[0][0].hypotheses[0].tokens[:6] == begun.tokens


def test_the_cards_of_a_comparison_share_a_call(here: Models, there: Models) -> None:
    call = DecodeCall(there.default, there.first.prompt("The fox"), tuple(KINDS[:3]))
    passes = [list(models.decode(call)) for models in (there, here)]
    for number in range(3):
        check_same(*(steps_of(each, number) for each in passes))


def test_a_part_of_the_model_can_be_switched_off(handles: Mapping[str, Any], here: Models, there: Models) -> None:
    from serve.remote_model import remote_model

    local, off = here.first, (Intervention(1, "head", 2), Intervention(0, "attention"))
    prompt, settings = local.prompt("The fox"), DecodingSettings(seed=6, max_new_tokens=6)
    call = DecodeCall(local.name, prompt, (settings,), RequestOptions(interventions=off))
    check_same(*(steps_of(models.decode(call)) for models in (there, here)))
    remote = remote_model(handles[local.name], local.name).model
    torch.testing.assert_close(
        under(remote, off).inspect(prompt).logits, under(local.model, off).inspect(prompt).logits
    )
    with pytest.raises(AttendError, match="There is no layer 10"):
        under(remote, [Intervention(9, "layer")]).inspect(prompt)
    with pytest.raises(AttendError, match="runs in another process, where it can't be opened"):
        opened(remote).inspector()


def test_many_at_once_each_get_their_own(here: Models, there: Models) -> None:
    settings = [replace(KINDS[number % len(KINDS)], seed=number) for number in range(12)]
    with ThreadPoolExecutor(len(settings)) as threads:
        together = list(
            threads.map(lambda each: steps_of(decode(there, each, visitor=f"visitor {each.seed}")), settings)
        )
    for mine, each in zip(together, settings, strict=True):
        check_same(mine, steps_of(decode(here, each)))


def test_what_cannot_be_done_is_refused_in_the_same_words(here: Models, there: Models) -> None:
    sentences = []
    for models in (here, there):
        with pytest.raises(AttendError) as refused:
            list(models.decode(DecodeCall(models.default, (5,) * (LONG + 96), (KINDS[0],))))
        sentences.append(str(refused.value))
    assert sentences[0] == sentences[1] and "shorten it" in sentences[0]


def test_whoever_stops_frees_the_rows(handles: Mapping[str, Any], there: Models) -> None:
    handle = handles[there.default]

    def stopped_in_time() -> bool:
        """Whether the text was still being generated when it was stopped; on a busy machine it may have ended."""
        with closing(decode(there, replace(ENDLESS, num_return_sequences=3), visitor="leaves")) as passes:
            next(each for each in passes if each is not None)
            return rows(handle, "leaves") == 3

    eventually(stopped_in_time)
    eventually(lambda: rows(handle, "leaves") == 0)


def test_what_was_read_for_a_visitor_who_has_left_is_dropped(handles: Mapping[str, Any], there: Models) -> None:
    handle = handles[there.default]
    before = stat("prefix_bytes", handle, "reader")
    for _ in decode(there, KINDS[0], visitor="reader"):
        pass
    eventually(lambda: stat("prefix_bytes", handle, "reader") > before)

    async def leave() -> None:
        there.forget("reader")  # as on a page, which must not wait in its event loop

    with ThreadPoolExecutor(1) as thread:
        thread.submit(asyncio.run, leave()).result()
    eventually(lambda: stat("prefix_bytes", handle, "reader") == before)
    for each in handles.values():
        stat("prefix_bytes", each, "reader")  # all have been told before the cluster ends


def test_with_a_replica_only_its_own_answers_end(handles: Mapping[str, Any], here: Models, there: Models) -> None:
    import ray  # type: ignore[import-not-found]

    handle = handles[there.default]
    with closing(decode(there, ENDLESS, visitor="first")) as first:
        begun = {"first": steps_of([next(each for each in first if each is not None)])}
        other = next(f"other {n}" for n in range(64) if rows(handle, f"other {n}") == 0)  # in the other replica
        with closing(decode(there, ENDLESS, visitor=other)) as second:
            begun[other] = steps_of([next(each for each in second if each is not None)])
            assert rows(handle, "first") == rows(handle, other) == 1
            ray.kill(replica_actors(there.default)[0])
            seen, sentences = {}, {}
            for visitor, passes in (("first", first), (other, second)):
                seen[visitor] = begun[visitor]
                try:
                    for each in passes:
                        seen[visitor] += steps_of([each])
                except AttendError as error:
                    sentences[visitor] = str(error)
    expected = steps_of(decode(here, ENDLESS))
    ((lost, sentence),) = sentences.items()
    (kept,) = seen.keys() - sentences.keys()
    check_same(seen[kept], expected)
    assert "try again" in sentence and len(seen[lost]) < len(expected)
    check_same(seen[lost], expected[: len(seen[lost])])
    check_same(steps_of(decode(there, KINDS[1], visitor=lost)), steps_of(decode(here, KINDS[1])))  # Retry


def replica_actors(model: str) -> list[Any]:
    """The processes of a deployment."""
    import ray  # type: ignore[import-not-found]

    known = ray.util.list_named_actors(all_namespaces=True)
    actors = [each for each in known if each["name"].startswith("SERVE_REPLICA::") and f"{model}#" in each["name"]]
    return [ray.get_actor(each["name"], namespace=each["namespace"]) for each in actors]


@pytest.mark.parametrize("translates", [False, True], ids=["decoder", "encoder-decoder"])
def test_a_page_without_the_weights_has_the_same_single_passes(
    handles: Mapping[str, Any], here: Models, translates: bool
) -> None:
    from serve.remote_model import RemoteNetwork, remote_model

    local = here.get(here.names[translates])
    remote = remote_model(handles[local.name], local.name)
    assert isinstance(remote.model, RemoteNetwork)
    assert (remote.name, remote.end_tokens, remote.no_system) == (local.name, local.end_tokens, local.no_system)
    prompt = local.prompt("The quick brown fox jumps")
    assert remote.prompt("The quick brown fox jumps") == prompt and remote.text_of(prompt) == local.text_of(prompt)
    message = [Message("user", "Hi! How are you?")]
    assert remote.chat_prompt(message, reserve=8) == local.chat_prompt(message, reserve=8)

    want, text, source = Want(attention=True, hidden=True), prompt[:4], prompt if translates else ()
    check_same_pass(*(each.model.prefill(prompt, want=want) for each in (remote, local)), attention=1e-6)
    if not translates:
        read = [each.model.prefill(prompt).cache.select([0]) for each in (remote, local)]
        steps = (each.model.step([5], cache, want=want) for each, cache in zip((remote, local), read, strict=True))
        check_same_pass(*steps, attention=1e-6)
        assert write_greedily(remote, "The quick", most=4).text == write_greedily(local, "The quick", most=4).text
    scores, expected_scores = (each.model.logits(prompt, text) for each in (remote, local))
    assert torch.allclose(scores, expected_scores, atol=1e-5)
    seen, expected_seen = (each.model.inspect(text, source=source) for each in (remote, local))
    assert torch.allclose(seen.logits, expected_seen.logits, atol=1e-5)
    assert torch.allclose(seen.attention.decoder, expected_seen.attention.decoder, atol=1e-6)
    with pytest.raises(AttendError, match="shorten it"):
        remote.model.inspect((5,) * (local.model.context_length + 1), source=source)


def test_nothing_listens_beyond_this_machine(handles: Mapping[str, Any]) -> None:
    processes = [psutil.Process(), *psutil.Process().children(recursive=True)]
    assert any("ServeReplica" in " ".join(process.cmdline()) for process in processes)
    listening = {
        connection.laddr.ip.removeprefix("::ffff:")
        for process in processes
        for connection in process.net_connections("tcp")
        if connection.status == psutil.CONN_LISTEN
    }
    assert listening == {"127.0.0.1"}


def test_rows_that_wait_start_another_replica(cluster: str, long_checkpoint: Path, load: Load) -> None:
    """Twelve rows are more than the two for which a replica is meant."""
    from ray import serve as ray_serve  # type: ignore[import-not-found]

    from serve.deploy import deployed
    from serve.remote import ReplicaDecoder

    copy = long_checkpoint.with_name("tiny-busy")
    copytree(long_checkpoint, copy)
    busy = ModelDeployment(str(copy), max_replicas=2, target_rows=2)

    def replicas() -> int:
        states = ray_serve.status().applications[copy.name].deployments["replica"].replica_states
        return states.get("RUNNING", 0)

    with deployed(ClusterSettings((busy,))) as handles:
        models = Models(tuple(handles), lambda name, progress: catalog.load(str(copy)), decoder=ReplicaDecoder(handles))
        assert replicas() == 1
        waiting = [replace(ENDLESS, num_return_sequences=3)] * 4
        passes = [decode(models, each, visitor=f"visitor {number}") for number, each in enumerate(waiting)]
        turns = cycle(range(len(waiting)))

        def grown() -> bool:
            turn, ended = next(turns), object()
            if next(passes[turn], ended) is ended:
                passes[turn] = decode(models, waiting[turn], visitor=f"visitor {turn}")
            return replicas() == 2

        eventually(grown)
        for each in passes:
            each.close()
    ray_serve.delete(copy.name)
