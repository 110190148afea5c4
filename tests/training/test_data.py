"""Data: packing and masks, what is cut and what is learned, splits, schedules, and files that are refused."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from model.errors import AttendError
from model.text.conversation import ChatFormat
from model.transformer.config import TransformerConfig
from model.transformer.decoder import Transformer
from tests.model.text.test_tokenizer import TOKENIZER, WORDS
from tests.training.conftest import ONE_SOURCE
from training.data import GRAIN, IGNORED, Document, Text, batches, encode, messages, pack, rows, schedule, split_of
from training.evaluate import read_documents
from training.translation.pairs import read_pairs

CHAT = ChatFormat(TOKENIZER)


def dialogue(turns: int, start: int = 0) -> Document:
    return Document(tuple(" ".join(WORDS[(start + i) % 12 : (start + i) % 12 + 3]) for i in range(turns)))


def ids_of(document: Document) -> list[int]:
    """A whole dialogue as one text, however long."""
    return [CHAT.begin, *(token for message in messages(document.turns) for token in CHAT.turn(message))]


def test_packing_keeps_every_token_once_and_pads_to_few_lengths() -> None:
    texts = [text for start in range(9) for text in encode(dialogue(2 + start % 4, start), TOKENIZER, CHAT, 65)]
    packed, pieces, start = pack(rows(texts)), [], 0
    for length in [length for count, length in packed.groups for _ in range(count)]:
        tokens, targets, positions = (part[0, start : start + length].tolist() for part in packed[:3])
        used = length - targets.count(IGNORED)  # all but <s> is learned, both speakers alike
        pieces.append([*tokens[:used], targets[used - 1]])
        assert targets == [*tokens[1:used], targets[used - 1], *[IGNORED] * (length - used)]
        assert positions == [*range(used), *[0] * (length - used)]
        assert length % GRAIN == 0 and length - used < GRAIN
        start += length
    assert start == packed.tokens.numel()
    assert sorted(pieces) == sorted(text.ids for text in texts)
    assert [length for _, length in packed.groups] == sorted({length for _, length in packed.groups})


def test_a_batch_has_as_many_rows_as_fit() -> None:
    learned = list(rows(text for start in range(9) for text in encode(dialogue(4, start), TOKENIZER, CHAT, 65)))
    chosen = list(batches(learned, 128))
    together = [row for batch in chosen for row in batch]
    assert all(pack(batch).tokens.numel() <= 128 for batch in chosen)
    assert all(one is other for one, other in zip(together, learned, strict=False)) and len(together) > 4
    following = [*(batch[0] for batch in chosen[1:]), learned[len(together)]]
    assert all(pack([*batch, row]).tokens.numel() > 128 for batch, row in zip(chosen, following, strict=True))


def test_a_text_that_fills_a_context_of_any_length_is_learned() -> None:
    config = TransformerConfig(50, width=16, layers=1, heads=2, key_value_heads=2, context_length=GRAIN + 4)
    whole = Text([*range(GRAIN + 5)], [True] * (GRAIN + 5))
    (batch,) = batches(rows([whole, whole]), config.context_length)  # padding included, it is longer than a step
    packed = pack(batch)
    logits = Transformer(config)(packed.tokens, packed.targets >= 0, packed.positions, packed.groups)
    assert logits.shape == (config.context_length, 50)


def test_a_token_of_a_large_vocabulary_keeps_its_number() -> None:
    packed = pack(rows([Text([1, 40_000, 2], [False, True, True])]))
    assert packed.tokens[0, :2].tolist() == [1, 40_000] and packed.targets[0, :2].tolist() == [40_000, 2]


def test_a_long_dialogue_is_cut_at_turns_of_the_user() -> None:
    pieces = list(encode(dialogue(12), TOKENIZER, CHAT, 40))
    assert len(pieces) > 1
    assert all(len(piece.ids) <= 40 and piece.ids[0] == CHAT.begin for piece in pieces)
    assert all(TOKENIZER.label(piece.ids[1]) == "<user>" for piece in pieces)
    whole = ids_of(dialogue(12))
    assert [token for piece in pieces for token in piece.ids[1:]] == whole[1:]
    assert all(piece.loss_mask == [False] + [True] * (len(piece.ids) - 1) for piece in pieces)  # both speakers alike


def test_a_written_dialogue_is_never_cut_and_only_its_answers_are_learned() -> None:
    document = replace(dialogue(4), written=True)
    size = len(ids_of(document))
    assert [text.ids for text in encode(document, TOKENIZER, CHAT, size)] == [ids_of(document)]
    assert list(encode(document, TOKENIZER, CHAT, size - 1)) == []
    assert len(list(encode(replace(document, written=False), TOKENIZER, CHAT, size - 1))) == 2
    (row,) = rows(encode(document, TOKENIZER, CHAT, 65))
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


def test_the_schedule_reads_each_document_as_often_as_the_recipe_says(talk_folder: Path) -> None:
    order = schedule(ONE_SOURCE, talk_folder, seed=1)
    counts = {document: order.count(document) for document in order}
    assert set(counts.values()) == {2, 3}
    assert len(order) == 2 * len(counts) + round(len(counts) / 2)
    assert order == schedule(ONE_SOURCE, talk_folder, seed=1)
    assert order != schedule(ONE_SOURCE, talk_folder, seed=2)


BROKEN = gzip.compress(b"", mtime=0)[:10] + b"\xff" * 20  # a header, then a block of no kind that there is


@pytest.mark.parametrize(
    ("read", "content", "words"),
    [
        (read_documents, gzip.compress(b'{"turns": ["a", 5]}\n', mtime=0), "Line 1"),
        (read_documents, gzip.compress(b'{"text": "a"}\n[]\n', mtime=0), "Line 2"),
        (read_documents, gzip.compress(b"", mtime=0), "no text"),
        (read_documents, gzip.compress(b"{", mtime=0), "not gzipped"),
        (read_documents, b'{"turns": ["a"]}', "not gzipped"),
        (read_documents, BROKEN, "not gzipped"),
        (read_documents, None, "no data file"),
        (read_pairs, BROKEN, "not gzipped"),
        *(
            (read_pairs, gzip.compress(b"Hi.\tSalut.\n" + line, mtime=0), "Line 2")
            for line in (b"one\n", b"a\tb\tc\n", b"a\t \n")
        ),
    ],
)
def test_a_data_file_of_another_form_damaged_or_missing_is_refused(
    read: Callable[[Path], object], content: bytes | None, words: str, tmp_path: Path
) -> None:
    path = tmp_path / "data.gz"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(AttendError, match=words):
        read(path)


def test_only_the_first_documents_are_read_where_a_limit_is_given(tmp_path: Path) -> None:
    path = tmp_path / "data.jsonl.gz"
    path.write_bytes(gzip.compress(b'{"turns": [""]}\n{"turns": ["a", "b"]}\n'))
    assert len(read_documents(path)) == 2
    with pytest.raises(AttendError, match="no text"):
        read_documents(path, limit=1)
