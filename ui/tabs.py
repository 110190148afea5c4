"""The tabs, in the order of the switch. A new one is a folder with a `tab.py` and a line here: docs/extending.md."""

from __future__ import annotations

from ui.chat.tab import ChatTab
from ui.compare.tab import CompareTab
from ui.frame import Tab
from ui.learn.tab import LearnTab
from ui.translate.tab import TranslateTab
from ui.write.tab import WriteTab

TABS: tuple[type[Tab], ...] = (ChatTab, WriteTab, TranslateTab, CompareTab, LearnTab)
