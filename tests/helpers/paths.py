"""Where the repository is, and what may lie beside it."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SHARED = ROOT.parent / "shared"  # data and checkpoints that some tests use where they are there, and else are skipped
