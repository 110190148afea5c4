"""Multilingual translators: sources and translations equal those of transformers, and typed names are understood."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer
from transformers.models.mbart50 import tokenization_mbart50
from transformers.models.nllb import tokenization_nllb

import generate
from model import catalog
from model.command_line import BAD_INPUT
from model.errors import AttendError
from model.text.languages import _THREE_LETTERS, Languages, marked, matching_code, unmarked
from tests.helpers.folders import change_json, t5
from tests.helpers.translators import marian_of_several, mbart, mbart50, nllb

FAMILIES: dict[str, Callable[[Path], Path]] = {
    "nllb": nllb,
    "nllb-legacy": lambda folder: nllb(folder, legacy_behaviour=True),  # the language behind the source
    "mbart": mbart,
    "mbart50": mbart50,
}
CODES = {name: ("fra_Latn", "zho_Hant") if "nllb" in name else ("fr_XX", "zh_CN") for name in FAMILIES}
SOURCE = "the cat sat on the mat"
NLLB, MBART = tokenization_nllb.FAIRSEQ_LANGUAGE_CODES, tokenization_mbart50.FAIRSEQ_LANGUAGE_CODES


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    paths = {name: make(tmp_path_factory.mktemp("languages") / name) for name, make in FAMILIES.items()}
    return paths | {"marian": marian_of_several(tmp_path_factory.mktemp("languages") / "marian")}


def reference(folder: Path, source: str, **options: Any) -> tuple[list[int], list[int]]:
    """The source and translation of transformers, without padding."""
    tokenizer: Any = AutoTokenizer.from_pretrained(
        str(folder), local_files_only=True, **options.pop("tokenizer_options", {})
    )
    model: Any = AutoModelForSeq2SeqLM.from_pretrained(str(folder), local_files_only=True).eval()
    inputs = tokenizer([source], return_tensors="pt")
    with torch.no_grad():
        output = model.generate(input_ids=inputs["input_ids"], do_sample=False, max_new_tokens=12, **options)
    return inputs["input_ids"][0].tolist(), [piece for piece in output[0].tolist() if piece != tokenizer.pad_token_id]


def ours(folder: Path, *flags: str, capsys: pytest.CaptureFixture[str]) -> tuple[list[int], list[int]]:
    """Our source, and all tokens of the decoder."""
    assert generate.main([SOURCE, "--model", str(folder), "--max-new-tokens", "12", *flags, "--json", "-"]) == 0
    document = json.loads(capsys.readouterr().out)
    return document["source"], [*document["prompt"]["ids"], *document["ids"]]


@pytest.mark.parametrize("name", FAMILIES)
def test_translations_are_those_of_transformers(
    folders: dict[str, Path], name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for beams, (source, target) in ((1, CODES[name]), (3, CODES[name]), (3, CODES[name][::-1])):
        forced = AutoTokenizer.from_pretrained(str(folders[name])).convert_tokens_to_ids(target)
        read, output = reference(
            folders[name], SOURCE, tokenizer_options={"src_lang": source}, forced_bos_token_id=forced, num_beams=beams
        )
        options = ["--strategy", "greedy"] if beams == 1 else ["--strategy", "beam", "--num-beams", str(beams)]
        languages = ["--from-language", source, "--to-language", target]
        # transformers counts the forced token as the first of the twelve
        assert ours(folders[name], *options, *languages, "--max-new-tokens", "11", capsys=capsys) == (read, output)
        assert forced in output


def test_a_decoder_that_starts_with_a_language_starts_with_the_chosen_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = mbart(tmp_path / "model", start="ro_RO")  # as facebook/mbart-large-en-ro
    french = AutoTokenizer.from_pretrained(str(folder)).convert_tokens_to_ids("fr_XX")
    read, output = reference(folder, SOURCE, tokenizer_options={"src_lang": "de_DE"}, decoder_start_token_id=french)
    assert ours(folder, "--strategy", "greedy", "--from-language", "de", "--to-language", "fr", capsys=capsys) == (
        read,
        output,
    )
    assert catalog.load(str(folder)).languages.target == "ro_RO"  # type: ignore[union-attr]


def test_a_multilingual_marian_gets_its_language_before_the_source(
    folders: dict[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    folder = folders["marian"]
    loaded = catalog.load(str(folder))
    for language, code in (("pt", "pt_BR"), ("fr", "fra")):
        read, output = reference(folder, f">>{code}<< {SOURCE}", num_beams=1)
        start, *answer = ours(folder, "--strategy", "greedy", "--to-language", language, capsys=capsys)[1]
        assert (start, answer) == (loaded.model.decoder_start[0], output)
        assert list(loaded.with_languages("", language).prompt(SOURCE)) == read
    twice = loaded.with_languages("", "fr").with_languages("", "pt")
    assert twice.prompt(SOURCE) == loaded.with_languages("", "pt_BR").prompt(SOURCE)
    with pytest.raises(AttendError, match="takes no source language, so it can't be 'en': leave it out"):
        loaded.with_languages("en", "fr")


def test_languages_of_one_are_not_those_of_another(folders: dict[str, Path]) -> None:
    loaded = catalog.load(str(folders["nllb"]))
    french, chinese = loaded.with_languages("en", "fr"), loaded.with_languages("fr", "zho_Hans")
    for translator, start, source in ((french, "fra_Latn", "eng_Latn"), (chinese, "zho_Hans", "fra_Latn")):
        assert translator.model.decoder_start == (2, loaded.tokenizer.special_token_id(start))
        assert translator.prompt(SOURCE)[0] == loaded.tokenizer.special_token_id(source)
        assert translator.chat is not None and translator.chat.manner == f"each message on its own, {source}→{start}"
        assert translator.lock is loaded.lock and translator.base is loaded
    assert loaded.model.decoder_start == (2,)
    assert loaded.chat is not None and loaded.chat.manner == "each message on its own, from eng_Latn"  # as it comes
    assert french.with_languages("", "spa").prompt(SOURCE) == french.prompt(SOURCE)
    # rows of different languages share a batch
    caches = [translator.model.prefill(translator.prompt(SOURCE)).cache for translator in (french, chinese)]
    together = loaded.model.step([9, 9], caches[0].join(caches[1])).logits
    for row, cache in enumerate(caches):
        assert torch.allclose(together[row], loaded.model.step([9], cache).logits[0], atol=1e-5)


def test_a_model_of_several_tasks_says_how_a_text_names_its_own(tmp_path: Path) -> None:
    config = t5(tmp_path / "t5") / "config.json"
    tasks = {"summarization": {"prefix": "summarize: "}, "other": {"prefix": 7}, "none": 3}
    change_json(config, task_specific_params=tasks)
    assert catalog.load(str(config.parent)).notes[-1] == "Begin each text with its task, such as 'summarize: '."


def test_a_language_is_understood() -> None:
    of_nllb = {"fra_Latn": "fra_Latn", "FRA-latn": "fra_Latn", "fra": "fra_Latn", "fr": "fra_Latn"}
    of_nllb |= {"es": "spa_Latn", "ga": "gle_Latn"}  # not Estonian and Oromo, whose codes begin so
    assert {text: matching_code(text, NLLB) for text in of_nllb} == of_nllb
    of_mbart = {"fr": "fr_XX", "fra": "fr_XX", "est": "et_EE", "spa": "es_XX"}
    assert {text: matching_code(text, MBART) for text in of_mbart} == of_mbart
    assert (
        matching_code("zho_Han", ["zho_Hans", "eng_Latn"]) == "zho_Hans"
        and matching_code("pt", ["pt", "pt_BR"]) == "pt"
    )


def test_a_language_that_is_not_clear_is_refused() -> None:
    for text, codes, words in (
        ("zh", NLLB, "'zh' could be zho_Hans, zho_Hant: choose one"),
        ("e", MBART, "'e' could be en_XX, es_XX, et_EE: choose one"),
        ("es", ["est_Latn", "fra_Latn"], "the language 'es': choose one of its 2, such as est_Latn"),
        ("frensh", MBART, "the language 'frensh': choose one of its 52, such as"),
        ("fra_Lann", NLLB, "such as fra_Latn"),
        (" ", MBART, "the language ' '"),
    ):
        with pytest.raises(AttendError, match=words):
            matching_code(text, codes)


def test_the_table_of_languages_is_that_of_the_makers() -> None:
    three = {code.partition("_")[0] for code in NLLB}
    assert set(_THREE_LETTERS.values()) <= three
    assert {code.partition("_")[0] for code in MBART} <= _THREE_LETTERS.keys()
    for code in MBART:  # every language of mBART is found in NLLB, or is written in two ways there
        language = code.partition("_")[0]
        if language != "zh":
            assert matching_code(language, NLLB).startswith(_THREE_LETTERS[language])
    assert not three & _THREE_LETTERS.keys()


def test_languages_are_shown_as_far_as_they_are_chosen_and_a_name_keeps_its_own(folders: dict[str, Path]) -> None:
    assert catalog.load(str(folders["mbart"])).end_tokens == {2}  # a language is no end of an answer
    marian = catalog.load(str(folders["marian"]))
    assert marian.languages is not None and str(marian.languages) == ""
    assert str(marian.languages.with_languages("", "fr")) == "into fra"
    half = Languages({"en_XX": 1}, {"fr_XX": 2}, "en_XX")
    assert (str(half), unmarked(marked("a", half))) == ("from en_XX", ("a", ("en_XX", "")))
    languages = catalog.load(str(folders["mbart50"])).languages
    assert languages is not None and (languages.source, languages.target) == ("en_XX", "fr_XX")  # as it comes
    assert unmarked(marked("a [b]", languages)) == ("a [b]", ("en_XX", "fr_XX"))
    assert unmarked("a [b]") == ("a [b]", None)


def test_a_model_of_no_languages_refuses_them(capsys: pytest.CaptureFixture[str]) -> None:
    assert generate.main(["Hi", "--to-language", "fr"]) == BAD_INPUT
    sentence = "attend-chat takes no languages: leave them out.\n"
    assert capsys.readouterr().err == sentence
