"""One's own files: what is read from each format, what is refused and how, and a model trained on them by command."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch

import generate
from model.errors import AttendError
from model.text.conversation import ChatFormat
from model.transformer import checkpoint
from model.transformer.config import TransformerConfig
from tests.helpers.trainings import CHAT, flags, losses, write_records
from tests.model.text.test_tokenizer import TOKENIZER
from training import own_files, train
from training.data import Document, encode
from training.evaluate import windows
from training.own_files import documents, passages, read
from training.own_task import own_task

SETTINGS = replace(CHAT, task="own", skills=0.0, passes=3.0, batch_tokens=256, dropout=0.0)


def write_own(folder: Path) -> Path:
    """A folder with all three formats, and something that isn't for learning."""
    folder.mkdir()
    lines = (f"On day {number} the fox went to the river and saw {number % 7} fish.\n\n" for number in range(120))
    (folder / "story.txt").write_text("".join(lines))
    talk = [{"role": "user", "content": "Hello!"}, {"role": "assistant", "content": "Hi, how are you?"}]
    (folder / "talk.jsonl").write_text(
        "".join(json.dumps({"messages": [{"role": "system", "content": "Be kind."}, *talk]}) + "\n" for _ in range(9))
    )
    write_records(folder / "more.jsonl.gz", [{"turns": ["Where is the fox?", "At the river."]}] * 30)
    (folder / "notes.md").write_text("Not this.")
    return folder


@pytest.fixture(scope="module")
def own_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_own(tmp_path_factory.mktemp("own") / "mine")


@pytest.fixture(scope="module")
def trained(own_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = tmp_path_factory.mktemp("runs") / "whole"
    assert train.main([str(own_folder), str(run), *flags(SETTINGS)]) == 0
    return run


def test_each_format_is_read(tmp_path: Path) -> None:
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "a.txt").write_bytes(b"\xef\xbb\xbfOne day,\r\na fox.\r\n")  # as Windows writes it
    (tmp_path / "b.jsonl").write_text(
        '{"text": "Two.", "title": "x"}\n\n'
        '{"turns": ["Hi!", "Hello!", "Bye!"]}\n'
        '{"messages": [{"role": "user", "content": "Who?"}, {"role": "assistant", "content": "Me."}]}\n'
        '{"messages": [{"role": "system", "content": "Be kind."}, {"role": "user", "content": "Who?"},'
        ' {"role": "assistant", "content": "Me."}]}'
    )
    write_records(tmp_path / "c.jsonl.gz", [{"text": "Three."}])
    (tmp_path / "._a.txt").write_bytes(b"\xff")  # macOS leaves such files on other disks
    assert list(read(tmp_path)) == [
        Document(("Two.",), story=True),
        Document(("Hi!", "Hello!", "Bye!")),
        Document(("Who?", "Me.")),
        Document(("Who?", "Me."), system=True),
        Document(("One day,\na fox.",), story=True),
        Document(("Three.",), story=True),
    ]


def test_a_long_text_is_cut_after_paragraphs_lines_or_words() -> None:
    text = "aaaa bbb\n\ncc dd\nee fff ggg hhhhhhhhhhhhhhhhhh"
    assert list(passages(text, 12)) == ["aaaa bbb\n\n", "cc dd\nee ", "fff ggg ", "hhhhhhhhhhhh", "hhhhhh"]
    assert list(passages("short", 12)) == ["short"]


def test_a_passage_that_goes_on_has_no_end(tmp_path: Path) -> None:
    chat = ChatFormat(TOKENIZER)
    (tmp_path / "a.txt").write_text("The fox went home. " * 300)
    *first, last = read(tmp_path)
    assert first and all(document.continued for document in first) and not last.continued
    assert "".join(document.turns[0] for document in (*first, last)) == ("The fox went home. " * 300).strip()
    for document in (*first, last):
        *_, learned = encode(document, TOKENIZER, chat, 65)
        *_, (_, measured) = windows(document, TOKENIZER, chat, 64)
        assert (learned.ids[-1] == chat.end) == (measured[-1] == chat.end) == (not document.continued)


def test_one_document_of_twenty_is_held_out_and_two_are_enough(tmp_path: Path) -> None:
    write_records(tmp_path / "a.jsonl.gz", [{"text": str(number)} for number in range(42)])
    held_out, learned = (list(documents(tmp_path, split)) for split in ("valid", "train"))
    assert [document.turns for document in held_out] == [("1",), ("21",), ("41",)]
    assert len(learned) == 39 and not set(learned) & set(held_out)


TURNS = '{"turns": ["a", "b"]}\n'


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("a.txt", b"", "{path} contains no text: write some"),
        ("a.txt", b" \n", "{path} contains no text: write some"),
        ("a.txt", b"one\ntwo\nna\xefve\n", "Line 3 of {path} is not UTF-8: save the file as UTF-8"),
        ("a.jsonl", b"\n", "{path} contains no records: write some"),
        ("a.jsonl", TURNS.encode() + b'{"text": "\xff"}', "Line 2 of {path} is not UTF-8"),
        ("a.jsonl", b"Once upon a time", "Line 1 of {path} is not JSON (Expecting value"),
        ("a.jsonl", b"[" * 100_000, "Line 1 of {path} is not JSON"),
        ("a.jsonl", b'["a", "b"]', 'Line 1 of {path} must be {{"text": a text}}'),
        ("a.jsonl", b'{"content": "a"}', 'Line 1 of {path} must be {{"text": a text}}'),
        ("a.jsonl", b'{"turns": ["a"]}', 'Line 1 of {path} must be {{"text": a text}}'),
        ("a.jsonl", b'{"turns": ["a", 5]}', "Line 1 of {path} has 5 in place of a text"),
        ("a.jsonl", b'{"text": ["a"]}', "Line 1 of {path} has ['a'] in place of a text"),
        ("a.jsonl", b'{"text": " "}', "Line 1 of {path} has ' ' in place of a text"),
        ("a.jsonl", b'{"text": "\\ud800"}', "Line 1 of {path} contains half a character"),
        ("a.jsonl", b'{"messages": [{"role": "tool"}]}', "Line 1 of {path}: each message must be"),
        (
            "a.jsonl",
            b'{"messages": [{"role": "assistant", "content": "a"}, {"role": "user", "content": "b"}]}',
            "Line 1 of {path}: user and assistant must take turns",
        ),
        ("a.jsonl", b'{"messages": []}', "Line 1 of {path}: user and assistant must take turns"),
        ("a.jsonl.gz", b"not gzipped", "{path} can't be read (Not a gzipped file"),
        ("a.jsonl.gz", gzip.compress(TURNS.encode(), mtime=0)[:-9], "{path} can't be read (Compressed file ended"),
        ("a.md", b"text", "{folder} has no files to learn: put text in it"),
    ],
)
def test_what_cannot_be_learned_is_one_sentence_with_its_place(
    name: str, content: bytes, sentence: str, tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(AttendError) as refused:
        list(read(tmp_path))
    assert str(refused.value).startswith(sentence.format(path=path, folder=tmp_path))
    assert "\n" not in str(refused.value)


def test_too_much_is_refused_before_it_fills_the_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(own_files, "LARGEST", 50)
    monkeypatch.setattr(own_files, "LONGEST_LINE", 60)
    (tmp_path / "a.jsonl").write_text(TURNS + json.dumps({"text": "a" * 60}))
    with pytest.raises(AttendError, match=r"^Line 2 of .*a\.jsonl has more than 60 bytes: cut"):
        list(read(tmp_path))
    (tmp_path / "a.jsonl").write_text(TURNS * 26)
    with pytest.raises(AttendError, match=r"more than 50 characters of text, reached in .*a\.jsonl: train on a folder"):
        list(read(tmp_path))
    (tmp_path / "a.jsonl").unlink()
    (tmp_path / "a.txt").write_text("a" * 51)
    with pytest.raises(AttendError, match=r"a\.txt has 51 bytes, but at most 50 can be learned: train on a part"):
        list(read(tmp_path))


def test_too_little_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("The quick brown fox jumps over the lazy dog. " * 40)
    with pytest.raises(AttendError, match="has one document only"):
        own_task(SETTINGS, tmp_path, tmp_path / "run")
    (tmp_path / "b.txt").write_text("A fox.")
    with pytest.raises(AttendError, match=r"0\.1 passes have \d+ tokens, and one step takes 4,096"):
        own_task(replace(SETTINGS, passes=0.1, batch_tokens=4096), tmp_path, tmp_path / "run")
    with pytest.raises(AttendError, match=r"has a vocabulary of 320 tokens, but the model needs one of 330"):
        own_task(replace(SETTINGS, vocabulary_size=330), tmp_path, tmp_path / "run")


def test_every_pass_reads_each_row_once_and_more_passes_go_on_where_fewer_end(own_folder: Path, tmp_path: Path) -> None:
    few, more = (own_task(replace(SETTINGS, passes=passes), own_folder, tmp_path) for passes in (2.0, 3.0))
    read = [[row.tokens.tolist() for batch in task.batches for row in batch] for task in (few, more)]
    count = len(few.rows)
    assert sorted(read[1][:count]) == sorted(row.tokens.tolist() for row in few.rows)
    assert read[1][:count] != read[1][count : 2 * count]
    assert read[0] == read[1][: len(read[0])]
    assert few.fingerprint() == more.fingerprint()
    (note,) = few.notes
    assert note.startswith("9 conversations have a system prompt")


def test_a_model_of_own_files_learns_talks_and_can_go_on(
    own_folder: Path, trained: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    curve = losses(trained)
    assert sum(curve[-5:]) / 5 < sum(curve[:5]) / 5
    for prompt in (["On day"], ["Hello!", "--chat"]):
        assert generate.main([*prompt, "--model", str(trained), "--strategy=greedy", "--max-new-tokens=4"]) == 0
        assert capsys.readouterr().out.removesuffix("\n")  # so small a model may write spaces only
    run = tmp_path / "resumed"
    assert train.main([str(own_folder), str(run), *flags(replace(SETTINGS, passes=1.0, decay=0.0))]) == 0
    steps = len(losses(run))
    assert train.main([str(own_folder), str(run), *flags(replace(SETTINGS, passes=2.0, decay=0.0))]) == 0
    assert len(losses(run)) > steps


def test_a_run_that_begins_with_a_checkpoint_takes_its_shape(
    own_folder: Path, trained: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert (
        train.main([str(own_folder), "--init-from", str(trained), "--batch-tokens", "4096", "--precision", "no"]) == 0
    )
    out = capsys.readouterr().out
    assert out.endswith("The model is in runs/mine: to use it, type python app.py --model runs/mine\n")
    first, second = (TransformerConfig.from_dict(checkpoint.read_config(run)) for run in (trained, Path("runs/mine")))
    assert replace(first, dropout=0.1) == second
    tokenizers = [(run / checkpoint.TOKENIZER).read_bytes() for run in (trained, Path("runs/mine"))]
    assert tokenizers[0] == tokenizers[1]
    assert not torch.equal(
        checkpoint.load(trained).embedding.weight, checkpoint.load(Path("runs/mine")).embedding.weight
    )


def test_a_folder_with_files_of_the_mixture_is_the_mixture(own_folder: Path, tmp_path: Path) -> None:
    assert train._preset(None, own_folder, "").task == "own"
    write_records(tmp_path / "chat" / "casino.jsonl.gz", [])
    assert train._preset(None, tmp_path, "").task == "chat"
    assert train._preset("own", tmp_path, "").task == "own"


@pytest.mark.parametrize(("size", "passes"), [(0, 20.0), (10_000, 20.0), (1_000_000, 10.0), (100_000_000, 1.0)])
def test_little_text_is_read_more_often(size: int, passes: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(own_files, "size", lambda _: size)
    assert train._preset("own", Path("anywhere"), "").passes == passes
