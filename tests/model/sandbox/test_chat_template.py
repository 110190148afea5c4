"""Chat templates are programs of strangers: they render as in transformers, and can take neither time nor memory."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from model import catalog
from model.errors import AttendError
from model.huggingface.generation import chat_template
from model.huggingface.generation.chat_template import TemplateChat
from model.huggingface.tokenizer import HuggingFaceTokenizer
from model.sandbox.chat_template import render
from model.sandbox.process import OutOfBounds, Refused, Sandbox
from model.text.conversation import Message
from tests.helpers.folders import CHATML, INST, byte_level, gpt2, sentence_piece
from tests.helpers.paths import ROOT
from tests.helpers.waiting import LONGEST

MESSAGES = [
    {"role": "user", "content": " Hi <|im_end|> <b>&</b> "},
    {"role": "assistant", "content": "Hello\u00e9 \ue0001\ue001"},
]
PECULIAR = """
{%- set ns = namespace(count=0, last='') %}
{%- for message in messages -%}
    {%- if message.role == 'tool' %}{% continue %}{% endif %}
    {%- set ns.count = ns.count + 1 %}
    {{- '[' ~ loop.index ~ '/' ~ messages|length ~ ' ' ~ message['role'] | upper ~ ']' }}
    {% generation %}{{ message.content | trim }}{% endgeneration %}
{% endfor %}
    {{ ns.count }} {{ messages | tojson }} {{ messages[0] | tojson(indent=2) }} {{ {'é': none} | tojson }}
{{ tools is none }} {{ documents is none }} {{ unknown is defined }} {{ eos_token }} {{ dict(a=1).a }}
{{ dict.fromkeys('ab') }} {{ range(3) | list }} {{ 'a,b'.split(',') | last }}
{{ cycler is defined }} {{ "%s" | format(1) }}
{% if add_generation_prompt %}go{% endif %}
"""
ENDLESS = (
    "{{ 9**(9**8) }}",
    "{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}",
    "{% macro again() %}{% for i in range(9) %}{{ again() }}{% endfor %}{% endmacro %}{% for i in range(99999) %}"
    "{% for j in range(99999) %}{% set x = messages | tojson %}{% endfor %}{% endfor %}",
)
TOO_LARGE = (
    "{{ 'a' * 4000000000 }}",
    "{% set n = namespace(x='a') %}{% for i in range(64) %}{% set n.x = n.x + n.x %}{% endfor %}{{ n.x }}",
    "{{ '%9999999999d' % 1 }}",
    "{{ 'a' | center(9999999999) }}",
    "{{ '{:>9999999999}'.format(1) }}",
    "{{ 'a'.ljust(9999999999) }}",
    "{{ [0] * 9999999999 }}",
    "{% set n = namespace(x=[1]) %}{% for i in range(64) %}{% set n.x = n.x + n.x %}{% endfor %}",
    "{{ ('a' * 99999).replace('a', 'a' * 99999) }}",
    "{{ lipsum(n=99999) }}",
)


@pytest.mark.parametrize("answered", [False, True])
@pytest.mark.parametrize(
    "tokenizer", [byte_level(CHATML), sentence_piece(INST), byte_level(PECULIAR)], ids=["chatml", "inst", "peculiar"]
)
def test_texts_are_those_of_transformers(tokenizer: Any, answered: bool) -> None:
    chat = TemplateChat(HuggingFaceTokenizer(tokenizer, len(tokenizer)))
    expected = tokenizer.apply_chat_template(MESSAGES, tokenize=False, add_generation_prompt=not answered)
    assert chat._written(MESSAGES, answered=answered) == expected


@pytest.fixture(scope="module")
def sandbox() -> Sandbox:
    return Sandbox("chat_template", seconds=LONGEST)


def rendered(sandbox: Sandbox, template: str) -> str:
    return sandbox.answer({"template": template, "variables": {"messages": MESSAGES}})


@pytest.mark.parametrize(("templates", "seconds"), [(ENDLESS, 0.3), (TOO_LARGE, 2.0)], ids=["endless", "too large"])
def test_what_never_ends_or_fills_the_memory_is_ended_and_the_next_one_renders(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch, templates: tuple[str, ...], seconds: float
) -> None:
    for template in templates:
        with monkeypatch.context() as impatient, pytest.raises((OutOfBounds, Refused)) as ended:
            impatient.setattr(sandbox, "_seconds", seconds)
            rendered(sandbox, template)
        assert templates is TOO_LARGE or ended.type is OutOfBounds, template
        assert rendered(sandbox, "{{ 1 + 1 }}") == "2"


def test_nothing_leads_out_of_the_sandbox(sandbox: Sandbox) -> None:
    for forbidden in ("''.__class__.__mro__", "namespace(__class__=1)", "range(9999999)"):
        with suppress(Refused):
            assert rendered(sandbox, f"{{{{ {forbidden} }}}}") == ""  # an attribute that is forbidden is undefined
    for call in ("messages.__class__.__subclasses__()", "cycler.__init__.__globals__.os.system('true')"):
        with pytest.raises(Refused):
            rendered(sandbox, f"{{{{ {call} }}}}")


def test_what_jinja_imports_late_works_and_errors_keep_their_words_and_lines_without_opening_a_file(
    sandbox: Sandbox,
) -> None:
    for template in (
        "{{ messages | pprint }}",
        "{{ ('a b ' * 60) | wordwrap(20) | title | indent }}",
        "{{ 'see https://example.org' | urlize | striptags | truncate(9) }}",
        "{{ {'a': 1} | xmlattr }} {{ 'a' | e }} {{ '%s' | format(1) }} {{ [3, 1] | sort }} {{ 9999 | filesizeformat }}",
        "{% for role, group in messages | groupby('role') %}{{ role }}{% endfor %}",
    ):
        assert rendered(sandbox, template) == render({"template": template, "variables": {"messages": MESSAGES}})
    with pytest.raises(Refused, match=r"^roles must alternate$"):
        rendered(sandbox, "{{ raise_exception('roles must alternate') }}")
    with pytest.raises(Refused, match="'missing' is undefined"):
        rendered(sandbox, "{{ missing.name }}")
    with pytest.raises(Refused) as refused:
        rendered(sandbox, "a\n{% for %}")
    assert refused.value.line == 2


def test_a_checkpoint_with_such_a_template_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number, (template, seconds) in enumerate(((ENDLESS[0], 1.0), (TOO_LARGE[0], 2.0))):
        monkeypatch.setattr(chat_template, "_SECONDS", seconds)
        with pytest.raises(AttendError, match=r"^The chat template of this model [^.]*(choose another model|MB\))\.$"):
            catalog.load(str(gpt2(tmp_path / f"evil-{number}", template)))


def test_all_that_is_tried_of_a_template_shares_one_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each text alone takes one to two seconds."""
    waits = (
        "{% set start = strftime_now('%s')|int %}{% for i in range(99999) %}"
        "{% if strftime_now('%s')|int > start + 1 %}{% break %}{% endif %}"
        "{% for j in range(2000) %}{% endfor %}{% endfor %}"
    )
    monkeypatch.setattr(chat_template, "_SECONDS", LONGEST)
    monkeypatch.setattr(chat_template, "_PROBE_SECONDS", 2.0)
    with pytest.raises(AttendError, match="was stopped: choose another model"):
        catalog.load(str(gpt2(tmp_path / "slow", CHATML + waits)))


def test_a_template_that_turns_on_a_later_message_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    template = CHATML + "{% if messages|length > 4 %}" + ENDLESS[1] + "{% endif %}"
    loaded = catalog.load(str(gpt2(tmp_path / "evil", template)))
    assert isinstance(loaded.chat, TemplateChat)
    monkeypatch.setattr(loaded.chat._sandbox, "_seconds", 1.0)
    conversation = [*[Message("user", "Hi"), Message("assistant", "Hi")] * 2, Message("user", "Hi")]
    with pytest.raises(AttendError, match="was stopped: choose another model"):
        loaded.chat_prompt(conversation, reserve=1)
    assert loaded.chat_prompt(conversation[:1], reserve=1).ids


@pytest.mark.skipif(not hasattr(signal, "alarm"), reason="needs a system that can end a process by an alarm")
def test_an_endless_template_ends_even_if_nobody_is_there_to_end_it() -> None:
    """As when the page was killed."""
    command = [sys.executable, "-m", "model.sandbox.chat_template", "1"]  # seconds
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdin is not None
        child.stdin.write(json.dumps({"template": ENDLESS[1], "variables": {}}).encode() + b"\n")
        child.stdin.flush()
        assert child.wait(LONGEST) == -signal.SIGALRM


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="needs a system that shows a process's environment")
def test_a_template_s_process_gets_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ATTEND_AUTH", "teacher:secret")
    sandbox = Sandbox("chat_template", seconds=LONGEST)
    assert sandbox.answer({"template": "{{ x }}", "variables": {"x": 1}}) == "1"
    environment = Path(f"/proc/{sandbox.answer(None)}/environ").read_bytes()
    assert b"PATH=" in environment and b"secret" not in environment
