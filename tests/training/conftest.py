"""A data folder of one source."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.helpers.trainings import write_records
from training.mixture import Source

ONE_SOURCE = (Source("chat/talk", passes=2.5),)


@pytest.fixture
def talk_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data folder in the real layout, and a mixture that names its only file."""
    records = ({"turns": [f"Hello {number}!", "How are you?", "Fine.", "That is good."]} for number in range(120))
    write_records(tmp_path / "chat" / "talk.jsonl.gz", records)
    for module in ("training.conversations", "training.skills.small_talk"):
        monkeypatch.setattr(f"{module}.CHAT_MIXTURE", ONE_SOURCE)
    return tmp_path
