"""Several outputs of one prompt: samples with consecutive seeds, or the best finished beams."""

from __future__ import annotations

import json

import pytest

from decoding.run.trace import Trace
from decoding.settings import DecodingSettings
from model.loaded import LoadedModel
from tests.helpers.tiny import NumberedTokens, TinyModel, make_request, random_model, trace_of
from ui.runs.answer_text import AnswerText
from ui.runs.live_run import LiveRun
from ui.runs.run import RunRecord, prompt_tokens

SAMPLED = DecodingSettings(temperature=1.2, top_k=8, seed=11, max_new_tokens=12, num_return_sequences=4)


def run(model: TinyModel, settings: DecodingSettings) -> Trace:
    return trace_of(model, settings, make_request((3, 1), [2, 5]))


def test_every_sampled_text_is_that_of_its_own_seed_alone() -> None:
    """The first uses the settings' seed, the others the seeds that follow."""
    ends = set()
    for seed in (11, 40, 2**32 - 2):  # the last is followed by 2 ** 32 - 1, 0 and 1
        model = random_model(12, seed=6)
        settings = DecodingSettings.from_dict({**SAMPLED.to_dict(), "seed": seed, "xtc_probability": 0.5})
        several = run(model, settings)
        for index, hypothesis in enumerate(several.sequences):
            single = {**settings.to_dict(), "seed": (seed + index) % 2**32, "num_return_sequences": 1}
            alone = run(model, DecodingSettings.from_dict(single))
            assert (hypothesis.tokens, hypothesis.finish_reason) == (alone.ids, alone.finish_reason)
            assert alone.best is not None
            assert (hypothesis.score, hypothesis.log_probability) == (alone.best.score, alone.best.log_probability)
            ends.add(len(hypothesis.tokens))
            if index == 0:
                assert several.choices() == alone.choices()
    assert len(ends) > 3  # they finish at different times, and leave the batch


def test_all_share_each_pass_and_the_finished_leave_and_the_last_step_alone_says_what_is_returned() -> None:
    model = random_model(12, seed=6)
    trace = run(model, SAMPLED)
    lengths = [len(hypothesis.tokens) for hypothesis in trace.sequences]
    assert len(set(lengths)) > 1
    assert model.passes == max(lengths)
    assert model.rows_fed == 1 + sum(length - 1 for length in lengths)  # the prompt, and all tokens but the last ones
    *earlier, last = trace.steps
    assert all(not step.returned and step.finish_reason is None for step in earlier) and len(last.returned) == 4


def test_greedy_makes_one_text_however_many_are_requested() -> None:
    for settings in ({"strategy": "greedy"}, {"temperature": 0}):
        trace = run(random_model(12, 1), DecodingSettings.from_dict({**settings, "num_return_sequences": 3}))
        assert len(trace.sequences) == 1 and "sequences" not in trace.document()


@pytest.mark.parametrize("strategy", ["sample", "beam", "beam_sample", "diverse_beam"])
def test_the_document_has_all_sequences_best_first(strategy: str) -> None:
    settings = DecodingSettings.from_dict({**SAMPLED.to_dict(), "strategy": strategy, "num_return_sequences": 3})
    trace = run(random_model(12, seed=6), settings)
    document = json.loads(json.dumps(trace.document(), allow_nan=False))
    first, *_ = sequences = document["sequences"]
    assert len(sequences) == 3
    assert all(document[name] == first[name] for name in ("text", "ids", "finish_reason"))
    for sequence in sequences:
        assert sequence["text"] == " ".join(map(str, sequence["ids"]))
        assert sequence["finish_reason"] == ("stop" if sequence["ids"][-1] in (2, 5) else "length")
        mean = pytest.approx(sequence["score"] / len(sequence["ids"]))  # length_penalty 1
        assert sequence["final_score"] == (None if strategy == "sample" else mean)
    if strategy != "sample":
        scores = [sequence["final_score"] for sequence in sequences]
        assert scores == sorted(scores, reverse=True)


@pytest.mark.parametrize("strategy", ["greedy", "sample", "beam", "beam_sample", "diverse_beam"])
def test_the_page_follows_the_first_text_at_every_step(tiny: LoadedModel, strategy: str) -> None:
    """Also when it finishes before the others, and when two texts are the same."""
    for seed in range(3):
        settings = DecodingSettings.from_dict(
            {**SAMPLED.to_dict(), "strategy": strategy, "temperature": 0.7, "top_k": 2, "seed": seed}
        )
        unstopped = run(random_model(12, seed=6, scale=2.0), settings)
        so_far = Trace("tiny", "3 1", unstopped.request, settings, NumberedTokens())
        live = LiveRun(
            RunRecord("write-1", "write", "tiny", prompt_tokens(unstopped.request)), so_far, AnswerText(tiny.tokenizer)
        )
        for number, step in enumerate(unstopped.steps, start=1):
            live.add([step])
            written = live.run.tokens[len(unstopped.request.prompt) :]
            assert so_far.steps == unstopped.steps[:number]
            assert [token.choice for token in written] == so_far.choices()
            assert [token.id for token in written] == list(so_far.ids)
