"""Benchmarks that no other test runs do run, and print their JSON line last."""

from __future__ import annotations

import json
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from benchmarks import page, parts, precision, start, together, updates
from benchmarks.load import evaluation
from benchmarks.web import __main__ as web
from docs import chart
from model import names
from model.errors import AttendError
from model.threads import use_threads
from tests.helpers.paths import ROOT


@pytest.fixture(autouse=True)
def same_threads() -> Iterator[None]:
    """Most of them take one thread, or as many as are fastest here."""
    threads = torch.get_num_threads()
    yield
    use_threads(threads)


def figures_of(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    """The JSON line that was printed last."""
    return json.loads(capsys.readouterr().out.splitlines()[-1])


def test_it_measures_comparing(tiny_checkpoint: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sizes = ["--cards", "3", "--prompt-tokens", "8", "--new-tokens", "6", "--rounds", "1"]
    together.main(["--model", str(tiny_checkpoint), *sizes])
    figures = figures_of(capsys)
    assert figures["benchmark"] == "together" and figures["cards"] == 3
    assert figures["same_text"] is True
    assert set(figures["seconds"]) == {together.ALONE, together.TOGETHER, together.IN_TURN}
    assert figures["times_one"] > 0


def test_it_measures_what_the_updates_of_an_answer_send(
    tiny_checkpoint: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    updates.main(["--model", str(tiny_checkpoint), "--tokens", "60"])
    figures = figures_of(capsys)
    assert figures["benchmark"] == "updates"
    assert 0 < figures["bytes"]["60"]["new"] < figures["bytes"]["60"]["whole"]


def test_it_measures_the_parts_of_a_token(capsys: pytest.CaptureFixture[str]) -> None:
    assert parts.main(["--dtype", "int8", "--prompt-tokens", "8", "--new-tokens", "6", "--rounds", "1"]) == 0
    figures = figures_of(capsys)
    assert parts.main(["--model", "attend-translate"]) == 2
    assert (figures["benchmark"], figures["dtype"], len(figures["us"])) == ("parts", "int8", 8)
    measured = ("unembedding", "filters and choice", "reading the prompt, shared out")  # the others are differences
    assert min(figures["us"][part] for part in measured) > 0


def test_it_measures_the_scripts_of_the_page_without_a_server(capsys: pytest.CaptureFixture[str]) -> None:
    web.main(["--new-tokens", "6", "--rounds", "1"])
    figures = figures_of(capsys)
    assert figures["benchmark"] == "web" and figures["tokens_per_second"] > 0
    assert set(figures["by_kind"]) == {"greedy", "sampling", "four beams"}


def test_it_measures_what_fewer_bits_cost(capsys: pytest.CaptureFixture[str]) -> None:
    precision.main(["--model", "attend-chat", "--new-tokens", "2", "--beside", str(names.EMBEDDED / "attend-chat")])
    figures = figures_of(capsys)
    assert figures["beside"] == {"same": 1, "nats": 0, "same_answers": len(precision.QUESTIONS)}  # the same weights
    assert 0 < figures["int8"]["nats"] < 0.1


def test_another_program_on_the_port_is_not_measured() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(AttendError, match="choose another with --port"):
            page.check_free(port)
    page.check_free(port)


def test_make_names_every_benchmark() -> None:
    printed = subprocess.run(["make", "--dry-run", "bench", "SUITE=parts"], cwd=ROOT, capture_output=True, text=True)
    assert printed.returncode == 0 and "-m benchmarks.parts" in printed.stdout
    (line,) = (line for line in printed.stdout.splitlines() if "the others:" in line)
    files = [path for path in (ROOT / "benchmarks").rglob("*.py") if "if __name__" in path.read_text(encoding="utf-8")]
    modules = {".".join(path.relative_to(ROOT / "benchmarks").with_suffix("").parts) for path in files}
    suites = {module.removesuffix(".__main__") for module in modules}
    assert suites - {"parts"} == set(line.partition("the others: ")[2].partition('"')[0].split())


def test_the_chart_shows_what_the_benchmarks_printed(tmp_path: Path) -> None:
    ours = {
        "Attend float32 one row": {"tokens_per_second": 1035.4},
        "CTranslate2 int8 one row": {"tokens_per_second": 3394.0},
    }
    lines = (
        "a table",
        json.dumps({"benchmark": "engines", "model": "a-model", "figures": ours}),
        json.dumps({"benchmark": "decoding", "model": "a-model", "tokens_per_second": {"transformers, plain": 410.0}}),
    )
    (tmp_path / "printed.txt").write_text("\n".join(lines))
    assert chart.main([str(tmp_path / "printed.txt"), "--out", str(tmp_path / "speed.svg")]) == 0
    drawn = (tmp_path / "speed.svg").read_text()
    assert all(
        f">{text}<" in drawn for text in ("a-model", "float32, one text", "1,035", "3,394", "410", "CTranslate2")
    )
    assert chart.main([str(tmp_path / "speed.svg")]) == 2  # no benchmark's figures


def test_the_imports_of_a_start_count_for_the_library_that_needs_them() -> None:
    report = """import time: self [us] | cumulative | imported package
import time:       100 |        100 |   numpy.core
import time:       200 |        300 | numpy
import time:      1000 |       1000 |     pandas
import time:      2000 |       3000 |   gradio.blocks
import time:      4000 |       7000 | gradio
Note: a line of the program
import time:     10000 |      10000 |   torch
import time:       500 |      10500 | ui.page
"""
    expected = {"torch": 0.010, "numba": 0.0, "gradio": 0.007, "other imports": 0.0008}
    assert start.import_seconds(report) == pytest.approx(expected)


def test_it_measures_scoring_over_http(capsys: pytest.CaptureFixture[str]) -> None:
    evaluation.main(["--sentences", "6", "--batch", "4", "--rounds", "1"])
    figures = figures_of(capsys)
    assert figures["benchmark"] == "evaluation" and figures["speed"] > 0 and figures["largest_gap"] < 1e-3
