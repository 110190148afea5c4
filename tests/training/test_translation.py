"""What the translator is taught and how it is measured: pairs, their split, their batches, the lessons, the scores."""

from __future__ import annotations

import json
import math
import random
import shutil
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.nn import functional

from decoding.settings import DecodingSettings
from model import catalog
from model.errors import AttendError
from model.loaded import LoadedModel
from model.names import embedded
from model.text.conversation import Message
from model.text.sentencepiece_tokenizer import Tokenizer
from model.transformer.encoder_decoder import build
from tests.helpers.trainings import TRANSLATOR, losses, sentences, write_lines, write_pairs
from training import evaluate
from training.run.average import Average
from training.run.loop import train
from training.run.optimizer import lr_schedule
from training.talk import answer
from training.translation import back_translate
from training.translation.pairs import (
    BACK_TRANSLATED_FILE,
    OTHER_FILES,
    SOURCE_FILE,
    Pair,
    by_length,
    by_source,
    other_pairs,
    read_pairs,
    split_pairs,
)
from training.translation.translate import score_translations
from training.translation_task import TranslationTask
from training.vocabulary import train_pairs_vocabulary


@pytest.fixture(scope="module")
def data_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_pairs(tmp_path_factory.mktemp("data"))


@pytest.fixture(scope="module")
def task(data_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> TranslationTask:
    return TranslationTask(TRANSLATOR, data_folder, tmp_path_factory.mktemp("task"))


@pytest.fixture(scope="module")
def trained(data_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of three passes."""
    run = tmp_path_factory.mktemp("runs") / "trained"
    train(TRANSLATOR, data_folder, run)
    return run


def test_no_sentence_of_one_part_is_in_another_in_any_form() -> None:
    chain = [Pair(f"Phrase {number} !", f"Sentence {number}.") for number in range(400)]
    linked = [Pair(f"PHRASE {number}", f"sentence {number + 1}?") for number in range(0, 400, 2)]  # other capitals
    parts = split_pairs([*chain, *linked])
    assert sum(map(len, parts.values())) == 600
    assert all(len(part) > 0 for part in parts.values())
    seen: dict[int, str] = {}
    for name, part in parts.items():
        for pair in part:
            group = int("".join(filter(str.isdigit, pair.source))) // 2  # 2n and 2n + 1 are linked
            assert seen.setdefault(group, name) == name


def test_the_split_does_not_depend_on_the_order_of_the_file() -> None:
    pairs = sentences()
    shuffled = random.Random(1).sample(pairs, len(pairs))
    first, second = split_pairs(pairs), split_pairs(shuffled)
    assert all({*first[name]} == {*second[name]} for name in first)


def test_another_file_is_learned_without_what_is_held_out(tmp_path: Path) -> None:
    data_folder, parts = write_pairs(tmp_path), split_pairs(sentences())
    held_out, new = parts["test"][0], Pair("Une phrase de plus", "One sentence more")
    name = next(iter(OTHER_FILES))
    pairs = (new, replace(new, source=held_out.source.upper()), replace(new, target=f"{held_out.target} !"))
    write_lines(data_folder / name, [f"{pair.target}\t{pair.source}" for pair in pairs])
    others, missing = other_pairs(data_folder, OTHER_FILES, [*parts["valid"], *parts["test"]])
    assert others == [(1.0, [new])]
    assert missing == list(OTHER_FILES)[1:]
    task = TranslationTask(replace(TRANSLATOR, passes=2.0), data_folder, tmp_path / "run")
    learned = [task.tokenizer.decode(target[:-1], begins=True) for batch in task.batches for _, target in batch]
    assert learned.count(new.target) == 2


@pytest.mark.skipif("attend-translate" not in embedded(), reason="the translator is not there")
def test_english_sentences_alone_become_pairs_by_a_model_that_translates_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data_folder = write_pairs(tmp_path)
    write_lines(data_folder / back_translate.ENGLISH_FILE, ["The CAT 0 is red\tDie Katze", *["Is 9 new?\tNeu"] * 2])
    assert back_translate.main([str(data_folder), "--model", "attend-translate"]) == 0  # any translator will do
    assert capsys.readouterr().out.endswith(f"1 pair in {data_folder / BACK_TRANSLATED_FILE}\n")
    (pair,) = read_pairs(data_folder / BACK_TRANSLATED_FILE)
    greedy = DecodingSettings(strategy="greedy", max_new_tokens=100)
    translated = answer(catalog.load("attend-translate"), [Message("user", "Is 9 new?")], greedy)
    assert pair == Pair(source=" ".join(translated.split()), target="Is 9 new?")
    for into, learned in (("English", True), ("French", False)):
        settings = replace(TRANSLATOR, passes=1.0, into=into, context_length=128)
        task = TranslationTask(settings, data_folder, tmp_path / into)
        texts = [[task.tokenizer.decode(side[:-1], begins=True) for side in row] for b in task.batches for row in b]
        assert any("Is 9 new?" in row for row in texts) is learned
        assert any(row[into == "English"].startswith("The cat") for row in texts)  # its side of the pairs
    assert back_translate.main([str(data_folder), "--model", "attend-chat"]) == 2
    assert "attend-chat is not a translator" in capsys.readouterr().err


def test_a_translator_goes_on_from_a_checkpoint_with_its_vocabulary(
    data_folder: Path, trained: Path, tmp_path: Path
) -> None:
    second = tmp_path / "second"
    train(replace(TRANSLATOR, init_from=str(trained), passes=0.5), data_folder, second)
    assert (second / "tokenizer.model").read_bytes() == (trained / "tokenizer.model").read_bytes()
    assert losses(second)[0] < losses(trained)[0] - 0.5
    with pytest.raises(AttendError, match="has a vocabulary of 340 tokens: leave out --vocabulary-size"):
        train(replace(TRANSLATOR, init_from=str(trained), vocabulary_size=350), data_folder, tmp_path / "third")


def test_batches_have_each_pair_once_and_at_most_the_given_tokens() -> None:
    rng = random.Random(3)
    pairs = [([number] * rng.randint(1, 20), [number] * rng.randint(1, 20)) for number in range(500)]
    batches = list(by_length(pairs, 200, random.Random(0)))
    assert sorted(source[0] for batch in batches for source, _ in batch) == list(range(500))
    padded = [len(batch) * (max(len(s) for s, _ in batch) + max(len(t) for _, t in batch)) for batch in batches]
    real = sum(len(source) + len(target) for source, target in pairs)
    assert max(len(batch) * max(len(s) + len(t) for s, t in batch) for batch in batches) <= 200
    assert sum(padded) < 1.25 * real  # so much less than in random order, where it is
    order = [pairs[start : start + 10] for start in range(0, 500, 10)]
    assert sum(len(b) * (max(len(s) for s, _ in b) + max(len(t) for _, t in b)) for b in order) > 1.5 * real
    assert batches != list(by_length(pairs, 200, random.Random(1)))


def test_the_vocabulary_writes_spaces_quotes_and_accents_in_one_way(tmp_path: Path) -> None:
    (tmp_path / "tokenizer.model").write_bytes(train_pairs_vocabulary([p.source for p in sentences()], 330))
    tokenizer = Tokenizer.load(tmp_path / "tokenizer.model", padded=True)
    plain = "L'été, où est-il ? ..."
    assert tokenizer.encode("L’e\u0301te\u0301,  ou\u0300 est\u2011il\u202f?\u00a0…") == tokenizer.encode(plain)
    assert tokenizer.decode(tokenizer.encode(plain), begins=True) == plain
    assert tokenizer.special_token_id("<pad>") == tokenizer.vocabulary_size - 1 == 330


def test_the_loss_is_that_of_each_pair_alone(task: TranslationTask) -> None:
    """Padding costs nothing, and label smoothing spreads its part over all tokens but padding: written out."""
    torch.manual_seed(0)
    model = build(TRANSLATOR.config()).eval()
    every = [pair for batch in task.batches for pair in batch]
    rows = [find(every, key=lambda pair: len(pair[side])) for side in (0, 1) for find in (min, max)]
    assert all(len({len(pair[side]) for pair in rows}) > 1 for side in (0, 1))  # so that there is padding
    expected = 0.0
    for source, target in rows:
        log_probabilities = functional.log_softmax(model.logits(source, target)[:, :-1], dim=-1)  # (T, V - 1)
        chosen = log_probabilities[range(len(target)), target]
        expected -= float(0.9 * chosen.sum() + 0.1 * log_probabilities.mean(dim=-1).sum())
    loss = task.loss(model, rows, torch.device("cpu"))
    assert loss.item() == pytest.approx(expected, rel=1e-4)
    assert task.target_tokens(rows) == sum(len(target) for _, target in rows)


def test_the_decoder_never_sees_what_it_is_to_say(task: TranslationTask) -> None:
    model = build(TRANSLATOR.config()).eval()
    source, target = task.batches[0][0]
    changed = [*target[:-2], 5, target[-1]]
    padding = TRANSLATOR.vocabulary_size - 1
    decoder_input = torch.tensor([[padding, *target[:-1]], [padding, *changed[:-1]]])
    logits = model(torch.tensor([source, source]), decoder_input)
    assert torch.equal(logits[0, :-1], logits[1, :-1])  # all but the last place, which has read what was changed


def test_a_run_learns_and_its_mean_can_be_evaluated(
    data_folder: Path, trained: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first, *_, final = losses(trained)
    assert first == pytest.approx(math.log(339), abs=0.8)  # an untrained model guesses nearly evenly
    assert final < first - 1.0
    loaded = catalog.load(str(trained))
    assert loaded.model.decoder_start == (339,) and loaded.rules.suppress_tokens == {339}
    data = str(data_folder / SOURCE_FILE)
    assert evaluate.main(["--model", str(trained), "--beams", "1", "3", "--data", data, "--limit", "10"]) == 0
    last = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert last["sentences"] == 10 and [row["num_beams"] for row in last["all"]] == [1, 3]
    assert 0 <= last["bleu"] <= 100 and last["chrf"] == last["all"][1]["chrf"]


@pytest.mark.parametrize("changes", [{"context_length": 4}, {"passes": 0.001}])
def test_a_run_with_nothing_to_learn_is_refused(data_folder: Path, tmp_path: Path, changes: dict[str, Any]) -> None:
    with pytest.raises(AttendError, match="no usable sentence pairs: raise --context-length"):
        train(replace(TRANSLATOR, **changes), data_folder, tmp_path / "run")


def test_an_answer_is_decoded_without_padding(task: TranslationTask) -> None:
    """Every logit is -16 (the width) but for one token's, -8, and padding's, 0."""
    model, word = build(TRANSLATOR.config()).eval(), task.tokenizer.encode("e")[-1]
    with torch.no_grad():
        model.embedding.weight[:-1] = -1.0
        model.embedding.weight[word] = -0.5
        last = model.blocks[-1].feed_forward_norm
        last.weight.zero_()  # type: ignore[union-attr]
        last.bias.fill_(1.0)  # type: ignore[union-attr]
    loaded = LoadedModel.from_transformer("translator", model, task.tokenizer)
    translated = answer(loaded, [Message("user", "Le chat.")], DecodingSettings(strategy="greedy", max_new_tokens=3))
    assert translated == task.tokenizer.decode([word] * 3)


def test_more_passes_may_follow_but_not_other_lessons(data_folder: Path, trained: Path, tmp_path: Path) -> None:
    run, steps = shutil.copytree(trained, tmp_path / "run"), len(losses(trained))
    train(replace(TRANSLATOR, passes=4.0), data_folder, run)
    assert len(losses(run)) == steps * 4 / 3
    with pytest.raises(AttendError, match="with batch_tokens 256, not 512"):
        train(replace(TRANSLATOR, batch_tokens=512), data_folder, run)


@pytest.mark.parametrize(("count", "mean"), [(2, 3.5), (1, 9.0)])  # of 2 and 5; of one, the model as it is by then
def test_the_mean_is_of_the_last_weights_and_is_only_lent(count: int, mean: float) -> None:
    model = torch.nn.Linear(1, 1, bias=False)
    average = Average(model, count)
    for value in (1.0, 2.0, 5.0):
        model.weight.data.fill_(value)
        average.take()
    model.weight.data.fill_(9.0)
    with average.weights():
        assert model.weight.item() == mean
    assert model.weight.item() == 9.0


def test_the_inverse_square_root_is_the_papers() -> None:
    """Vaswani et al., 2017, equation 3: in proportion to min(step^-1/2, step · warm-up^-3/2)."""
    paper = [min(step**-0.5, step * 100**-1.5) for step in range(1, 1001)]
    rates = [lr_schedule(step, 1000, warm_up=0.1, decay=0.0, schedule="inverse_sqrt") for step in range(1000)]
    assert rates == pytest.approx([share / max(paper) for share in paper])
    falling = [lr_schedule(step, 1000, warm_up=0.1, decay=0.4, schedule="inverse_sqrt") for step in range(1000)]
    assert falling[:600] == pytest.approx(rates[:600]) and falling[-1] < 0.001
    assert all(after < before for before, after in pairwise(falling[600:]))


def test_every_reference_counts_and_sentences_may_have_different_numbers() -> None:
    """BLEU of the first against its best reference alone: all n-grams are found, so 100."""
    translated = ["the cat sat on the mat", "he reads a book today"]
    references = [["a cat is there", "the cat sat on the mat"], ["he reads a book today"]]
    assert score_translations(translated, references).bleu == pytest.approx(100.0)
    assert score_translations(translated, [one[:1] for one in references]).bleu < 60.0
    assert score_translations(translated, references).chrf == pytest.approx(100.0)
    pairs = [Pair("Salut !", "Hi!"), Pair("Merci.", "Thanks."), Pair("Salut !", "Hello!")]
    assert by_source(pairs) == {"Salut !": ["Hi!", "Hello!"], "Merci.": ["Thanks."]}
