"""What the page without a server fetches of a model, and which models are refused."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from decoding.settings import DecodingSettings
from model import names
from model.text.sentencepiece_tokenizer import Tokenizer
from model.transformer import checkpoint
from web import export as exporting

CHAT = names.EMBEDDED / "attend-chat"


def test_the_manifest_describes_the_files_and_the_settings(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rounded = tmp_path / "rounded"
    assert not exporting.main(["attend-chat", str(tmp_path / "new" / "folder"), "--checkpoint", str(rounded)])
    manifest = json.loads((tmp_path / "new" / "folder" / "model.json").read_text(encoding="utf-8"))
    for file in manifest["files"]:
        content = (tmp_path / "new" / "folder" / file["name"]).read_bytes()
        assert (len(content), hashlib.sha256(content).hexdigest()) == (file["bytes"], file["sha256"])
    assert {setting["name"]: setting["default"] for setting in manifest["settings"]} == DecodingSettings().to_dict()
    assert checkpoint.load(rounded).config == checkpoint.load(CHAT).config
    assert "Wrote attend-chat" in capsys.readouterr().out


def test_the_rules_of_sentencepiece_are_read_from_its_trie(tmp_path: Path) -> None:
    exporting.export("attend-translate", tmp_path)
    rules = json.loads((tmp_path / "tokenizer.json").read_text(encoding="utf-8"))["rules"]
    tokenizer = Tokenizer.load(names.EMBEDDED / "attend-translate" / "tokenizer.model", padded=True)
    assert len(rules) > 100
    for original, written in rules.items():
        assert tokenizer.encode(f"a{original}b") == tokenizer.encode(f"a{written}b"), (original, written)


def test_a_model_with_other_parts_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = json.loads((CHAT / "config.json").read_text(encoding="utf-8"))
    for changed in ({"positions": "learned"}, {"key_value_heads": 4}, {"sliding_window": 8}, {"width": 252}):
        (tmp_path / "config.json").write_text(json.dumps({**config, **changed}), encoding="utf-8")
        assert exporting.main([str(tmp_path), str(tmp_path / "out")]) == 2
        assert f"can't run in a browser: its {next(iter(changed))} is" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
