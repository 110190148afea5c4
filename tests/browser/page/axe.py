"""What axe-core (https://github.com/dequelabs/axe-core) finds on a page: injected here, and never sent to visitors."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page

SCRIPT = Path(sys.prefix) / "node_modules" / "axe-core" / "axe.min.js"  # where `make test` brings it
REQUIRED = pytest.mark.skipif(
    not SCRIPT.exists() and os.environ.get("CI") != "true", reason="axe-core is not installed: make .venv/scripts.stamp"
)
_TAGS = ["wcag2a", "wcag2aa", "wcag21aa", "best-practice"]

# Colours fade to their new ones, and it should see those.
_RUN = """async ([within, options]) => {
  const ends = document.getAnimations().filter((each) => each.effect.getTiming().iterations !== Infinity);
  await Promise.allSettled(ends.map((each) => each.finished)); // one that is cancelled has ended, too
  const { violations } = await axe.run(within, { resultTypes: ['violations'], preload: false, ...options });
  const why = (node) => node.failureSummary.split('\\n').slice(1).join(' ').trim();
  return violations.flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${node.target.join(' ')}: ${why(node)}`));
}"""


def violations(page: Page, *rules: str, within: str = "html") -> list[str]:
    """The violations in what the page shows now.

    Args:
        rules: the ids of those to check; all rules of WCAG 2.1 A and AA and of good practice if none is named.
        within: which element's; a run over the whole page takes a second.
    """
    if not page.evaluate("'axe' in window"):
        page.evaluate(SCRIPT.read_text(encoding="utf-8"))
    names, kind = (list(rules), "rule") if rules else (_TAGS, "tag")
    options: dict[str, Any] = {"runOnly": {"type": kind, "values": names}}
    if not rules:
        options["rules"] = {"label-content-name-mismatch": {"enabled": True}}  # off by itself, as an experiment
    return page.evaluate(_RUN, [within, options])
