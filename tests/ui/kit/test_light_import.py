"""Gradio is imported without the type stubs that it makes, and is the same otherwise."""

from __future__ import annotations

import inspect
import subprocess
import sys

from gradio import component_meta

from tests.helpers.paths import ROOT
from ui.kit.light_import import STUBS

PROGRAM = """
import sys
from ui.kit.light_import import import_gradio

opened = []
sys.addaudithook(lambda event, given: opened.append(str(given[0])) if event == "open" else None)
finders = list(sys.meta_path)
import_gradio()
import gradio as gr

assert sys.meta_path == finders
with gr.Blocks():
    gr.Button().click(lambda: None)
print(*(path for path in opened if path.endswith(".pyi")))
"""


def test_no_stub_is_read_or_written() -> None:
    ran = subprocess.run([sys.executable, "-c", PROGRAM], cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert (ran.returncode, ran.stdout.strip()) == (0, ""), ran.stderr


def test_what_is_left_out_is_what_makes_them() -> None:
    module, function = STUBS
    assert component_meta.__name__ == module
    assert ".pyi" in inspect.getsource(getattr(component_meta, function))
