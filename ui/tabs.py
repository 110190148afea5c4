"""The tabs, in the order of the switch. A new one takes a file such as chat/chat_tab.py and a line here."""

from __future__ import annotations

from ui.chat.chat_tab import ChatTab
from ui.compare.compare_tab import CompareTab
from ui.frame import Tab
from ui.learn.learn_tab import LearnTab
from ui.translate.translate_tab import TranslateTab
from ui.write.write_tab import WriteTab

TABS: tuple[type[Tab], ...] = (ChatTab, WriteTab, TranslateTab, CompareTab, LearnTab)
