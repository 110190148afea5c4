"""Training: packing and masks, splits, the metric against a slow twin, and resuming to the very same weights."""

from __future__ import annotations

import gzip
import json
import math
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from decoding.generate import generate
from decoding.request import Request
from decoding.settings import DecodingSettings
from model.errors import AttendError
from model.loaded import LoadedModel
from model.text.conversation import ChatFormat, Message
from model.transformer import checkpoint
from model.transformer.config import TransformerConfig
from model.transformer.decoder import Transformer
from tests.model.text.test_tokenizer import TOKENIZER, WORDS
from training import mixture
from training.data import IGNORED, Document, encode, messages, pack, schedule, split_of, visible
from training.evaluate import bits_per_byte, read_documents, windows
from training.pairs import read_pairs
from training.run import curve
from training.run.loop import train
from training.run.muon import Muon, orthogonalized
from training.run.optimizer import Optimizer, lr_schedule, make_optimizers
from training.settings import TrainingSettings
from training.talk import answer

CHAT = ChatFormat(TOKENIZER)


def dialogue(turns: int, start: int = 0) -> Document:
    return Document(tuple(" ".join(WORDS[(start + i) % 12 : (start + i) % 12 + 3]) for i in range(turns)))


def ids_of(document: Document) -> list[int]:
    """A whole dialogue as one text, however long."""
    return [CHAT.begin, *(token for message in messages(document.turns) for token in CHAT.turn(message))]


def small_model(context_length: int = 20) -> Transformer:
    torch.manual_seed(0)
    return Transformer(
        TransformerConfig(
            TOKENIZER.vocabulary_size,
            context_length=context_length,
            width=16,
            layers=1,
            heads=2,
            key_value_heads=2,
            feed_forward_width=24,
        )
    ).eval()


def test_packing_keeps_every_token_once_and_documents_apart() -> None:
    texts = [text for start in range(9) for text in encode(dialogue(2 + start % 4, start), TOKENIZER, CHAT, 65)]
    rows = list(pack(texts, 64, open_rows=3))
    found = []
    for row in rows:
        for segment in range(int(row.segments.max()) + 1):
            at = row.segments == segment
            found.append([*row.tokens[at].tolist(), int(row.targets[at][-1])])
            assert row.targets[at].tolist() == found[-1][1:]  # all but <s> is learned, both speakers alike
            assert row.positions[at].tolist() == list(range(int(at.sum())))
        assert (row.targets[row.segments == -1] == IGNORED).all()
    assert sorted(found) == sorted(text.ids for text in texts)


def test_a_packed_token_sees_itself_and_what_came_before_in_its_document() -> None:
    mask = visible(torch.tensor([[0, 0, 1, 1, -1]]))[0, 0]
    expected = [[1, 0, 0, 0, 0], [1, 1, 0, 0, 0], [0, 0, 1, 0, 0], [0, 0, 1, 1, 0], [0, 0, 0, 0, 1]]
    assert mask.int().tolist() == expected


def test_a_long_dialogue_is_cut_at_turns_of_the_user() -> None:
    pieces = list(encode(dialogue(12), TOKENIZER, CHAT, 40))
    assert len(pieces) > 1
    assert all(len(piece.ids) <= 40 and piece.ids[0] == CHAT.begin for piece in pieces)
    assert all(TOKENIZER.label(piece.ids[1]) == "<user>" for piece in pieces)
    whole = ids_of(dialogue(12))
    assert [token for piece in pieces for token in piece.ids[1:]] == whole[1:]
    assert all(piece.loss_mask == [False] + [True] * (len(piece.ids) - 1) for piece in pieces)  # both speakers alike


def test_a_written_dialogue_is_never_cut() -> None:
    document = replace(dialogue(4), written=True)
    size = len(ids_of(document))
    assert [text.ids for text in encode(document, TOKENIZER, CHAT, size)] == [ids_of(document)]
    assert list(encode(document, TOKENIZER, CHAT, size - 1)) == []
    assert len(list(encode(replace(document, written=False), TOKENIZER, CHAT, size - 1))) == 2


def test_of_a_written_dialogue_only_the_answers_are_learned() -> None:
    document = replace(dialogue(4), written=True)
    (row,) = pack(encode(document, TOKENIZER, CHAT, 65), 64)
    learned = [int(target) for target in row.targets if target != IGNORED]
    user, *turns = (CHAT.turn(message) for message in messages(document.turns))
    assert learned == [*turns[0], *turns[2]]
    assert int(row.targets[len(user) - 1]) == IGNORED  # the user's last token stands behind `<s>` and all before it
    assert row.tokens[: len(user) + 1].tolist() == [CHAT.begin, *user]  # but it is read


def test_splits_go_by_the_dialogue_alone_and_keep_their_share() -> None:
    records = [{"turns": [f"turn {number}", "answer"], "file": number % 7} for number in range(4000)]
    splits = [split_of(record) for record in records]
    assert splits == [split_of({"turns": record["turns"]}) for record in reversed(records)][::-1]
    # 3 % of 4,000 is 120, with a standard deviation of sqrt(4000 x .03 x .97) = 10.8; five of them is 54.
    assert abs(splits.count("valid") - 120) < 54
    assert abs(splits.count("test") - 120) < 54


def test_the_metric_equals_its_definition_token_by_token() -> None:
    model, document = small_model(), dialogue(9)
    turns = [CHAT.turn(message) for message in messages(document.turns)]
    assert sum(map(len, turns)) > 2 * model.context_length  # so most turns are scored behind dropped ones
    bits = 0.0
    for number, turn in enumerate(turns):
        earlier = turns[:number]
        while sum(map(len, earlier)) + len(turn) > model.context_length:  # the last token is never read, <s> is
            earlier = earlier[1:]
        ids = [CHAT.begin, *(token for each in earlier for token in each), *turn]
        probabilities = model(torch.tensor([ids[:-1]]))[0].detach().softmax(-1)  # (T, V)
        for place in range(len(ids) - len(turn), len(ids)):
            bits -= math.log2(float(probabilities[place - 1, ids[place]]))
    expected = bits / sum(len(turn.encode()) for turn in document.turns)
    assert bits_per_byte(model, TOKENIZER, CHAT, [document]) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize(
    "document",
    [dialogue(9), dialogue(1), Document(("the cat sat " * 40,)), Document(("the old house " * 60,), story=True)],
)
def test_every_token_is_scored_once_within_the_context(document: Document) -> None:
    scored = list(windows(document, TOKENIZER, CHAT, 48))
    story = [CHAT.begin, *TOKENIZER.encode(document.turns[0]), CHAT.end]
    whole = story if document.story else ids_of(document)
    assert [token for _, tokens in scored for token in tokens] == whole[1:]
    assert all(context[0] == CHAT.begin and len(context) + len(tokens) <= 49 for context, tokens in scored)


def test_a_turn_too_long_even_alone_is_scored_behind_the_half_context_before_it() -> None:
    document = Document(("the cat sat " * 40,))
    ids = ids_of(document)
    place = 1
    for context, scored in windows(document, TOKENIZER, CHAT, 48):
        assert context == [CHAT.begin, *ids[max(1, place - 23) : place]]  # with <s> 24, half of 48
        place += len(scored)
    assert place == len(ids) > 48


@pytest.mark.parametrize("kind", ["muon", "adamw"])
@pytest.mark.parametrize("tied", [True, False])
def test_every_weight_is_moved_by_one_optimiser_and_only_matrices_decay(kind: Optimizer, tied: bool) -> None:
    model = Transformer(TransformerConfig(40, width=16, heads=2, key_value_heads=2, biases="all", tied_embeddings=tied))
    optimizers = make_optimizers(model, kind, learning_rate=1e-3, weight_decay=0.1)
    groups = [group for optimizer in optimizers for group in optimizer.param_groups]
    moved = [id(parameter) for group in groups for parameter in group["params"]]
    assert sorted(moved) == sorted(id(parameter) for parameter in model.parameters())
    decays = {(parameter.dim(), group["weight_decay"]) for group in groups for parameter in group["params"]}
    assert decays == {(1, 0.0), (2, 0.1)}
    assert len(optimizers) == (2 if kind == "muon" else 1)


def test_muon_is_torchs_but_for_its_rounding() -> None:
    torch.manual_seed(0)
    for shape in ((12, 20), (20, 12), (16, 16)):
        ours = nn.Parameter(torch.randn(shape))
        theirs = nn.Parameter(ours.detach().clone())
        optimizers = (
            Muon([ours], lr=0.1, weight_decay=0.1),
            torch.optim.Muon([theirs], lr=0.1, weight_decay=0.1, adjust_lr_fn="match_rms_adamw"),
        )
        start = ours.detach().clone()
        for _ in range(3):
            ours.grad = torch.randn(shape)
            theirs.grad = ours.grad.clone()
            for optimizer in optimizers:
                optimizer.step()
        # Its bfloat16 has 8 bits, and every step multiplies 15 times.
        assert (ours - theirs).norm() < 0.03 * (theirs - start).norm()


def test_an_orthogonalized_matrix_keeps_its_singular_vectors() -> None:
    torch.manual_seed(0)
    matrix = torch.randn(24, 16)
    left, _, right = torch.linalg.svd(matrix, full_matrices=False)
    found = left.T @ orthogonalized(matrix) @ right.T  # diagonal, (16, 16)
    values = found.diagonal()
    assert (values > 0.6).all() and (values < 1.3).all()  # Jordan et al.: near 1, never at it
    assert (found - values.diag()).abs().max() < 1e-4


def test_the_rate_rises_stays_and_falls_to_nothing() -> None:
    shares = [lr_schedule(step, 100, warm_up=0.1, decay=0.5) for step in range(100)]
    assert shares[0] == pytest.approx(0.1)  # (0 + 1) / (0.1 x 100)
    assert shares[9:51] == [1.0] * 42
    assert shares[75] == pytest.approx(0.5)  # 25 steps left of 50
    assert shares[99] == pytest.approx(0.02)


@pytest.fixture
def data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data folder in the real layout, and a recipe that names it."""
    (tmp_path / "chat").mkdir()
    with gzip.open(tmp_path / "chat" / "talk.jsonl.gz", "wt") as lines:
        for number in range(120):
            lines.write(json.dumps({"turns": [f"{turn} {number}." for turn in dialogue(6, number).turns]}) + "\n")
    sources = (mixture.Source("chat/talk", passes=2.5),)
    for module in ("training.conversations", "training.skills.small_talk"):
        monkeypatch.setattr(f"{module}.CHAT_MIXTURE", sources)
    return tmp_path


def test_the_schedule_reads_each_document_as_often_as_the_recipe_says(data_folder: Path) -> None:
    order = schedule((mixture.Source("chat/talk", passes=2.5),), data_folder, seed=1)
    counts = {document: order.count(document) for document in order}
    assert set(counts.values()) == {2, 3}
    assert len(order) == 2 * len(counts) + round(len(counts) / 2)
    assert order == schedule((mixture.Source("chat/talk", passes=2.5),), data_folder, seed=1)
    assert order != schedule((mixture.Source("chat/talk", passes=2.5),), data_folder, seed=2)


TINY = TrainingSettings(
    vocabulary_size=320,
    context_length=64,
    width=16,
    layers=1,
    heads=2,
    key_value_heads=2,
    feed_forward_width=24,
    batch_tokens=512,
    validate_steps=1000,
    precision="no",
)


def test_a_run_that_was_killed_goes_on_to_the_same_weights(
    data_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from training.run import loop as module

    settings = replace(TINY, passes=0.25, save_minutes=0, validate_steps=5)  # 11 steps
    train(settings, data_folder, tmp_path / "whole")

    really_save = module._save

    def save_then_die(output: Path, running: TrainingSettings, step: int, *rest: object) -> None:
        really_save(output, running, step, *rest)  # type: ignore[arg-type]
        if step == 7:
            raise KeyboardInterrupt  # after the fifth step's validation and before the tenth's

    monkeypatch.setattr(module, "_save", save_then_die)
    with pytest.raises(KeyboardInterrupt):
        train(settings, data_folder, tmp_path / "killed")
    monkeypatch.setattr(module, "_save", really_save)
    train(settings, data_folder, tmp_path / "killed")
    first, second = (checkpoint.load(tmp_path / name).state_dict() for name in ("whole", "killed"))
    assert all(torch.equal(first[name], second[name]) for name in first)
    lines = [(tmp_path / name / "curve.csv").read_text().splitlines() for name in ("whole", "killed")]
    assert len(lines[0]) == len(lines[1])
    assert [line.split(",")[3] for line in lines[0]] == [line.split(",")[3] for line in lines[1]]  # the same losses
    assert (tmp_path / "whole" / "curve.png").stat().st_size > 1000


def test_training_learns(data_folder: Path, tmp_path: Path) -> None:
    train(TINY, data_folder, tmp_path / "run")
    losses = [float(line.split(",")[3]) for line in (tmp_path / "run" / "curve.csv").read_text().splitlines()[1:]]
    assert losses[0] == pytest.approx(math.log(320), abs=0.3)  # an untrained model guesses evenly
    assert losses[-1] < losses[0] - 1.0


def test_a_run_with_other_settings_is_not_resumed(data_folder: Path, tmp_path: Path) -> None:
    short = replace(TINY, passes=0.05)
    train(short, data_folder, tmp_path / "run")
    with pytest.raises(AttendError, match="with seed 1, not 2"):
        train(replace(short, seed=2), data_folder, tmp_path / "run")


def test_a_run_over_other_data_is_not_resumed(data_folder: Path, tmp_path: Path) -> None:
    short, other = replace(TINY, passes=0.05), tmp_path / "other"
    train(short, data_folder, tmp_path / "run")
    shutil.copytree(data_folder, other)
    for path in other.rglob("*.gz"):
        lines = gzip.decompress(path.read_bytes()).splitlines(keepends=True)
        path.write_bytes(gzip.compress(b"".join(reversed(lines))))
    with pytest.raises(AttendError, match="with other data or another recipe"):
        train(short, other, tmp_path / "run")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"optimizer": "mu0n"}, "'mu0n', but must be one of muon, adamw"),
        ({"precision": "fp8"}, "one of auto, bf16, no"),
        ({"batch_tokens": 60}, "batch_tokens is 60, but one row already has 64"),
        ({"decay": 1.5}, "decay is 1.5"),
        ({"passes": 0.0}, "passes is 0.0, but must be above 0"),
        ({"learning_rate": math.nan}, "learning_rate is nan"),
    ],
)
def test_settings_that_no_run_could_use_are_refused(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(AttendError, match=words):
        replace(TINY, **changes)


def test_a_curve_is_never_there_by_halves(tmp_path: Path) -> None:
    points = [curve.Point(step, step * 512, float(step), 5.0, None) for step in range(3000)]
    curve.write(points, tmp_path, measured="")
    with pytest.raises(TypeError):  # something goes wrong on the way, after more lines than a buffer holds
        curve.write([*points, replace(points[0], loss=[])], tmp_path, measured="")  # pyright: ignore[reportArgumentType]
    assert curve.read(tmp_path) == points


def test_the_picture_says_what_was_measured() -> None:
    points = [curve.Point(1, 512, 1.0, 5.0, None), curve.Point(2, 1024, 2.0, 4.0, 31.5)]
    loss, measured = curve.draw(points, "BLEU").axes
    assert loss.get_ylabel() == "nats per token" and measured.get_ylabel() == "BLEU"
    assert measured.lines[0].get_xydata().tolist() == [[1024 / 1e6, 31.5]]  # pyright: ignore[reportAttributeAccessIssue]


def test_a_run_of_before_a_setting_is_not_resumed(data_folder: Path, tmp_path: Path) -> None:
    train(replace(TINY, passes=0.05), data_folder, tmp_path / "run")
    state = torch.load(tmp_path / "run" / "resume.pt")
    del state["settings"]["task"]
    torch.save(state, tmp_path / "run" / "resume.pt")
    with pytest.raises(AttendError, match="with task None, not chat"):
        train(replace(TINY, passes=0.05), data_folder, tmp_path / "run")


def test_talk_says_what_a_beam_search_returns(tiny: LoadedModel) -> None:
    """Which need not be the first hypothesis of its last step."""
    assert tiny.chat is not None
    loaded = replace(tiny, end_tokens=frozenset(range(0, tiny.model.vocabulary_size, 5)))  # so that some end early
    settings = DecodingSettings(strategy="beam", length_penalty=0.0, max_new_tokens=8)
    elsewhere = 0
    for number in range(10):
        asked = [Message("user", f"Hi! How are you {number}?")]
        prompt = tiny.chat.prompt(asked, context_length=loaded.model.context_length, reserve=8).ids
        request = Request.of(loaded, prompt)
        *_, last = generate(loaded.model, prompt, settings.strategy_for(request))
        assert last.best is not None
        assert answer(loaded, asked, settings) == loaded.tokenizer.decode(last.best.tokens)
        elsewhere += last.best != last.hypotheses[0]
    assert elsewhere > 0


@pytest.mark.parametrize(
    ("content", "words"),
    [(b'{"turns": ["a", 5]}\n', "Line 1"), (b'{"text": "a"}\n[]\n', "Line 2"), (b"", "no text"), (b"{", "not gzipped")],
)
def test_a_data_file_of_another_form_is_refused(tmp_path: Path, content: bytes, words: str) -> None:
    path = tmp_path / "data.jsonl.gz"
    path.write_bytes(gzip.compress(content))
    with pytest.raises(AttendError, match=words):
        read_documents(path)


@pytest.mark.parametrize("read", [read_documents, read_pairs])
def test_a_data_file_that_was_damaged_on_its_way_is_refused(tmp_path: Path, read: Callable[[Path], Any]) -> None:
    path = tmp_path / "damaged.gz"
    path.write_bytes(gzip.compress(b"")[:10] + b"\xff" * 20)  # a header, then a block of no kind that there is
    with pytest.raises(AttendError, match="is not gzipped"):
        read(path)


def test_a_data_file_that_is_not_gzipped_or_missing_is_refused(tmp_path: Path) -> None:
    (tmp_path / "data.jsonl.gz").write_text('{"turns": ["a"]}')
    with pytest.raises(AttendError, match="not gzipped"):
        read_documents(tmp_path / "data.jsonl.gz")
    with pytest.raises(AttendError, match="no data file"):
        read_documents(tmp_path / "other.jsonl.gz")


def test_only_the_first_documents_are_read_where_a_limit_is_given(tmp_path: Path) -> None:
    path = tmp_path / "data.jsonl.gz"
    path.write_bytes(gzip.compress(b'{"turns": [""]}\n{"turns": ["a", "b"]}\n'))
    assert len(read_documents(path)) == 2
    with pytest.raises(AttendError, match="no text"):
        read_documents(path, limit=1)
