"""What a checkpoint's generation config asks for: obeyed as `generate` of transformers obeys it, or said in a note."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import AutoModelForCausalLM, AutoModelForSeq2SeqLM, GenerationConfig

from decoding.generate import generate
from decoding.request import Request
from decoding.settings import DecodingSettings
from model import catalog
from model.errors import AttendError
from model.huggingface.generation.config import RULES, SUGGESTIONS, UNSUPPORTED, WITHOUT_EFFECT, GenerationFields
from model.loaded import LoadedModel
from tests.helpers import folders

LENGTH = 5  # of a text; its sixth token would end it
# Fields of a GPT-2 whose greedy text they change, each from the ids that it writes without them.
OBEYED: dict[str, dict[str, Any]] = {
    "suppress_tokens": {"suppress_tokens": [270, 289, 277, 259, 310]},
    "begin_suppress_tokens": {"begin_suppress_tokens": [*range(3, 320)]},
    "bad_words_ids": {"bad_words_ids": [[301], [277, 263], [263, 263, 0], [0]]},
    "sequence_bias": {"sequence_bias": [[[300], 2.5], [[300, 301], 30.0], [[301, 260], 40.0], [[301], -0.5]]},
    "encoder_repetition_penalty": {"encoder_repetition_penalty": 3.0},
    "encoder_no_repeat_ngram_size": {"encoder_no_repeat_ngram_size": 1},
    "min_length": {"min_length": 7, "eos_token_id": [0, 301]},
    "forced_bos_token_id": {"forced_bos_token_id": 299},
    "forced_eos_token_id": {"forced_eos_token_id": 0},
    "several forced_eos_token_ids": {"forced_eos_token_id": [5, 0]},
    "exponential_decay_length_penalty": {"exponential_decay_length_penalty": [2, 1.6]},
    "all": {
        "sequence_bias": [[[300], 2.5]],
        "min_length": 6,
        "forced_eos_token_id": 0,
        "exponential_decay_length_penalty": [1, 1.3],
        "begin_suppress_tokens": [270],
        "suppress_tokens": [289],
        "renormalize_logits": True,
    },
}


def configured(folder: Path, fields: dict[str, Any], *, legacy: bool = False) -> Path:
    """The folder with these fields added to its generation config or, as of old, to its config.json alone."""
    written = folder / "generation_config.json"
    generation = json.loads(written.read_text()) | fields
    if legacy:
        written.unlink()
        written = folder / "config.json"
        generation = json.loads(written.read_text()) | generation
    written.write_text(json.dumps(generation))
    return folder


def our_ids(loaded: LoadedModel, prompt: tuple[int, ...], **settings: Any) -> tuple[int, ...]:
    request = Request.of(loaded, prompt)
    strategy = DecodingSettings(**{"strategy": "greedy", "max_new_tokens": LENGTH, **settings}).strategy_for(request)
    *_, last = generate(loaded.model, prompt, strategy)
    return last.returned[0].tokens


def their_ids(kind: Any, folder: Path, prompt: tuple[int, ...], **options: Any) -> tuple[int, ...]:
    model = kind.from_pretrained(folder)
    ids = torch.tensor([prompt])
    ids_after = model.generate(ids, attention_mask=torch.ones_like(ids), max_new_tokens=LENGTH, **options)[0].tolist()
    return tuple(ids_after if kind is AutoModelForSeq2SeqLM else ids_after[len(prompt) :])


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return folders.gpt2(tmp_path_factory.mktemp("checkpoints") / "plain")


@pytest.mark.parametrize(("case", "legacy"), [*((case, False) for case in OBEYED), ("all", True)])
def test_a_decoder_obeys_its_generation_config_as_transformers_does(
    tmp_path: Path, plain: Path, case: str, legacy: bool
) -> None:
    prompt = (300,) if case == "forced_bos_token_id" else (300, 301, 270)
    folder = configured(Path(shutil.copytree(plain, tmp_path / "asks")), OBEYED[case], legacy=legacy)
    loaded = catalog.load(str(folder))
    assert loaded.notes == ()
    expected = their_ids(AutoModelForCausalLM, folder, prompt)
    assert our_ids(loaded, prompt) == expected
    assert expected != their_ids(AutoModelForCausalLM, plain, prompt)  # so the field has an effect
    of_beams = their_ids(AutoModelForCausalLM, folder, prompt, num_beams=3)
    assert our_ids(loaded, prompt, strategy="beam", num_beams=3) == of_beams


@pytest.mark.parametrize(
    "fields",
    [
        {"forced_eos_token_id": 1},
        {"encoder_repetition_penalty": 4.0},
        {"encoder_no_repeat_ngram_size": 2, "suppress_tokens": [1]},
        {"exponential_decay_length_penalty": [2, 1.5]},
        {"begin_suppress_tokens": [*range(4, 20)], "forced_bos_token_id": 7},
        {"min_length": 5, "forced_bos_token_id": 7, "exponential_decay_length_penalty": [1, 2.0]},
        {"min_length": 4, "forced_bos_token_id": [9, 7], "begin_suppress_tokens": [*range(4, 20)]},
        {"bad_words_ids": [[7], [1], [9, 9]]},  # transformers never bans an end token
    ],
    ids=str,
)
def test_an_encoder_decoder_obeys_it(tmp_path: Path, fields: dict[str, Any]) -> None:
    folder = configured(folders.t5(tmp_path / "t5"), fields)
    loaded = catalog.load(str(folder))
    source = loaded.prompt("Once upon a time there was a small fox.")
    forced = 1 if fields.get("forced_bos_token_id") == 7 else 0  # which we count as the prompt
    for beams, strategy in ((1, {"strategy": "greedy"}), (3, {"strategy": "beam", "num_beams": 3})):
        expected = their_ids(AutoModelForSeq2SeqLM, folder, source, num_beams=beams)
        ours = our_ids(loaded, source, **{**strategy, "max_new_tokens": LENGTH - forced})
        assert (*loaded.model.decoder_start, *ours) == expected


def test_every_field_of_transformers_has_its_place() -> None:
    groups = (RULES, SUGGESTIONS.keys(), UNSUPPORTED.keys(), WITHOUT_EFFECT)
    for field in vars(GenerationConfig()):
        assert field.startswith("_") or sum(field in group for group in groups) == 1, field


def test_suggestions_for_the_settings_are_said(tmp_path: Path) -> None:
    suggested = {"do_sample": True, "temperature": 0.7, "top_k": 20, "repetition_penalty": 1.1, "max_length": 50}
    folder = configured(folders.gpt2(tmp_path / "tiny"), suggested)
    assert catalog.load(str(folder)).notes == (
        "The generation config of tiny suggests do_sample True, temperature 0.7, top_k 20, repetition_penalty 1.1 and "
        "max_length 50: Attend leaves these to your settings.",
    )


def test_what_attend_does_not_do_is_said() -> None:
    fields: dict[str, Any] = dict.fromkeys(UNSUPPORTED, "a value")
    fields |= {"stop_words_ids": [[7]], "forced_decoder_ids": [[1, 7]]}
    for field, value in fields.items():
        (note,) = GenerationFields({field: value}, "tiny", 300).notes(128, translates=False)
        assert f"tiny asks for {field} {value}, which Attend ignores" in note


def test_a_malformed_field_is_refused_in_one_sentence() -> None:
    much = [[[7] * 60_000, 1.0], [[8] * 60_000, 1.0]]  # each token would take as long
    malformed: dict[str, list[Any]] = {
        "suppress_tokens": ["all", [1.5]],
        "bad_words_ids": [[7], [[]]],
        # no float is as large as 10**400, and none in single precision as 1e39
        "sequence_bias": [{"(7,)": 1.0}, [[[7], "much"]], [[[], 1.0]], [[[7], 10**400]], [[[7], -1e39]], much],
        "exponential_decay_length_penalty": [[2], [2, 0], [2, 10**400]],
        "encoder_repetition_penalty": [-1],
        "min_length": ["long"],
        "encoder_no_repeat_ngram_size": [float("nan")],
    }
    for field, values in malformed.items():
        for value in values:
            with pytest.raises(AttendError, match=f"tiny has {field} .*must be .*: copy the checkpoint"):
                GenerationFields({field: value}, "tiny", 300).rules(frozenset())
