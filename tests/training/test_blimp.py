"""BLiMP: the sum of log-probabilities decides, paradigm by paradigm."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from model.errors import AttendError
from model.loaded import LoadedModel
from training.blimp import accuracy, log_probability, measure, read_blimp

PAIRS = [("The dog sleeps.", "The dog sleep."), ("I feel tired.", "I feels tired."), ("Do you?", "Does you?")]


def test_a_sentence_costs_what_its_tokens_cost_one_by_one(tiny: LoadedModel) -> None:
    tokens = tiny.tokenizer.encode(PAIRS[0][0])
    expected, read = 0.0, list(tiny.prefix_tokens)
    for token in tokens:
        expected += float(tiny.model.prefill(read).logits[0].log_softmax(dim=-1)[token])
        read.append(token)
    assert log_probability(tiny, PAIRS[0][0]) == pytest.approx(expected, rel=1e-4)


def test_a_pair_counts_where_its_good_sentence_is_likelier(tiny: LoadedModel, tmp_path: Path) -> None:
    likelier = [log_probability(tiny, good) > log_probability(tiny, bad) for good, bad in PAIRS]
    assert accuracy(tiny, PAIRS) == sum(likelier) / 3
    assert accuracy(tiny, [(bad, good) for good, bad in PAIRS]) == 1 - sum(likelier) / 3

    records = [{"UID": f"p{n % 2}", "sentence_good": good, "sentence_bad": bad} for n, (good, bad) in enumerate(PAIRS)]
    path = tmp_path / "blimp.jsonl.gz"
    path.write_bytes(gzip.compress("\n".join(map(json.dumps, records)).encode()))
    assert read_blimp(path) == {"p0": [PAIRS[0], PAIRS[2]], "p1": [PAIRS[1]]}
    assert measure(tiny, path, limit=1) == {"p0": float(likelier[0]), "p1": float(likelier[1])}


def test_a_file_that_is_not_blimps_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "blimp.jsonl.gz"
    for content in (b'{"UID": "a"}\n', b"[]\n", b""):
        path.write_bytes(gzip.compress(content))
        with pytest.raises(AttendError, match="BLiMP"):
            read_blimp(path)
