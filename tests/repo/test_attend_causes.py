"""`attend.Model` on causes: interventions in runs, and what layers, heads and words have to do with a choice."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import attend
import generate
from model.inspection.inspector import opened
from model.loaded import LoadedModel
from tests.helpers.tiny import random_model

TOLD = "My dog is called {}. My dog is called"
HEADS = ({"layer": 5, "part": "head", "head": 6}, {"layer": 4, "part": "head", "head": 3})


@pytest.mark.parametrize("strategy", ["sample", "beam"])
def test_a_run_with_heads_off_is_that_of_the_changed_model_and_of_the_terminal(
    chat: attend.Model,
    strategy: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    settings: dict[str, Any] = {"strategy": strategy, "max_new_tokens": 12, "seed": 3}
    run = chat.generate("Once upon a time", interventions=HEADS, **settings)
    assert run.document()["interventions"] == [{**head, "action": "zero"} for head in HEADS]
    assert [one.plain() for one in run.interventions] == run.document()["interventions"]
    ids = [*run.trace.request.prompt, *(token.id for token in run.tokens)]
    logits = opened(chat.loaded.model).with_interventions(run.interventions).logits(ids[:5], ids[5:])
    shares = logits.softmax(-1)[range(len(ids) - 5), ids[5:]]
    assert [token.probability for token in run.tokens][-len(shares) :] == pytest.approx(shares.tolist(), abs=1e-5)
    whole = chat.generate("Once upon a time", **settings)  # which may have the same words
    assert [token.probability for token in run.tokens] != [token.probability for token in whole.tokens]
    stream = chat.stream("Once upon a time", interventions=run.interventions, **settings)
    assert tuple(stream) == run.tokens

    monkeypatch.setattr("model.threads.fastest_threads", lambda model: 1)
    flags = ["--strategy", strategy, "--max-new-tokens", "12", "--seed", "3", "--json", str(tmp_path / "run.json")]
    assert generate.main(["Once upon a time", *flags, "--without", "6.7", "--without", "head 5.4"]) == 0
    assert json.loads((tmp_path / "run.json").read_text(encoding="utf-8")) == json.loads(json.dumps(run.document()))
    assert chat.chat("Hi!", interventions=HEADS, **settings).interventions == run.interventions


def test_what_cannot_be_switched_off_is_refused_in_a_sentence(
    chat: attend.Model, capsys: pytest.CaptureFixture[str]
) -> None:
    refused: list[tuple[Any, str]] = [
        ([{"layer": 6, "part": "layer"}], "There is no layer 7"),
        ([{"layer": 1, "part": "cross_attention"}], "This model has no cross_attention"),
        ([{"layer": 1, "part": "layer", "action": "mean"}], "A text can't be generated under mean"),
        ("6.7", "interventions must be a list"),
    ]
    for interventions, sentence in refused:
        with pytest.raises(attend.AttendError, match=sentence):
            chat.generate("Hi", seed=1, interventions=interventions)
    for parts, sentence in (("6.9", "There is no head 9"), ("six", "'six' names no part of a model")):
        assert generate.main(["Hi", "--seed", "1", "--without", parts]) == 2
        assert sentence in capsys.readouterr().err


def test_an_inspection_ends_with_the_models_own_guesses(chat: attend.Model) -> None:
    inspected = chat.inspect(TOLD.format("Tom"))
    ids = [token.id for token in inspected.tokens]
    logits = chat.loaded.model.inspect(ids).logits
    assert [guess.id for guess in inspected.guesses[-1]] == logits.argmax(-1).tolist()
    assert inspected.probabilities[-1] == pytest.approx(logits.softmax(-1).amax(-1).tolist(), abs=1e-6)
    assert inspected.columns == ("0", "1", "2", "3", "4", "5", "6")
    assert [len(row) for row in inspected.heads["induction"]] == [8] * 6
    decided: list[int | None] = []
    for position, following in enumerate(ids[1:]):
        right = [row[position].id == following for row in inspected.guesses]  # from the embeddings to the last layer
        decided.append(next((layer for layer in range(len(right)) if all(right[layer:])), None))
    assert list(inspected.decided) == [*decided, None] and set(decided) != {None}
    assert inspected == chat.inspect(ids)  # whether it is given as text or as ids
    changed = chat.inspect(ids, interventions=HEADS)
    assert changed.guesses[:5] == inspected.guesses[:5] and changed.probabilities[-1] != inspected.probabilities[-1]
    assert json.loads(json.dumps(inspected.document()))["tokens"][5] == {"id": ids[5], "text": " Tom"}


def test_parts_inputs_and_words_speak_for_what_was_told(chat: attend.Model) -> None:
    attribution = chat.attribute(TOLD.format("Tom"), " Tom", " Max")
    scores = chat.loaded.model.inspect([token.id for token in attribution.tokens]).logits[-1].log_softmax(-1)
    assert attribution.rival is not None
    assert attribution.log_probability == pytest.approx(
        float(scores[attribution.chosen.id] - scores[attribution.rival.id]), abs=1e-4
    )
    parts = attribution.parts
    written = sum(map(sum, parts.sublayers.values()))
    assert parts.embedding + written + parts.constant == pytest.approx(parts.total, abs=1e-4)
    assert parts.total == pytest.approx(attribution.log_probability, abs=1e-4) and parts.gap < 1e-4
    assert parts.heads is not None and parts.head_rest is not None
    for heads, rest, whole in zip(parts.heads, parts.head_rest, parts.sublayers["attention"], strict=True):
        assert sum(heads) + rest == pytest.approx(whole, abs=1e-4)
    assert attribution.inputs is not None and len(attribution.inputs.scores) == len(attribution.tokens)
    assert abs(sum(attribution.inputs.scores) - attribution.inputs.total) == pytest.approx(
        attribution.inputs.gap, abs=1e-4
    )
    name = next(word for word in attribution.words if word.text == " Tom")
    assert (name.start, name.end) == (5, 6) and name.effect < -2  # without it the model can't know
    assert "".join(word.text for word in attribution.words) == TOLD.format("Tom") and len(attribution.words) == 10
    alone = chat.attribute(TOLD.format("Tom"), steps=None)
    assert (alone.chosen.text, alone.rival, alone.inputs) == (" Tom", None, None)


def test_patching_finds_where_a_fact_is_kept(chat: attend.Model) -> None:
    clean, corrupted = TOLD.format("Tom"), TOLD.format("Max")
    patched = chat.patch(clean, corrupted)
    assert (patched.answer.text, patched.rival.text) == (" Tom", " Max")
    assert patched.clean_difference > 0 > patched.corrupted_difference
    assert len(patched.positions) == 6 and all(len(row) == len(patched.clean) for row in patched.positions)
    assert patched.positions[-1][-1] == pytest.approx(1, abs=1e-3)  # the last stream is the whole choice
    assert patched.positions[0][5] > 0.9 and abs(patched.positions[-1][5]) < 1e-3  # the name itself, and long after
    shares = sorted(abs(share) for row in patched.heads for share in row)
    assert len(shares) == 48 and shares[-1] > 0.1 > 4 * shares[24]  # few heads of 48 carry it
    with pytest.raises(attend.AttendError, match=r"The texts have 11 and 12 tokens, .*Tom.* and .*Re\|x"):
        chat.patch(clean, TOLD.format("Rex"))


def test_a_translation_is_explained_by_its_source(translator: attend.Model, tiny: LoadedModel) -> None:
    attribution = translator.attribute("The cat is", source="Le chat dort.", steps=0)
    assert attribution.chosen.text == " sleeping" and attribution.parts.gap < 1e-4
    assert min(attribution.words, key=lambda word: word.effect).text == " dort"
    assert attribution.inputs is not None and len(attribution.inputs.scores) == len(attribution.source)
    inspected = translator.inspect("The cat is", source="Le chat dort.")
    assert inspected.guesses[-1][-1].text == " sleeping"
    patched = translator.patch("The", "The", source="Le chat dort.", corrupted_source="Le chien dort.")
    assert (patched.answer.text, patched.rival.text) == (" cat", " dog")
    with pytest.raises(attend.AttendError, match="is a translator: give the source text as well"):
        translator.inspect("The cat")
    with pytest.raises(attend.AttendError, match="has no encoder: leave the source out"):
        attend.Model(tiny).inspect("The cat", source="Le chat")


def test_a_model_without_modules_to_open_says_so(tiny: LoadedModel) -> None:
    closed = replace(tiny, model=random_model(400, seed=1))
    with pytest.raises(attend.AttendError, match="This model can't be opened: choose a transformer"):
        attend.Model(closed).inspect("The")
