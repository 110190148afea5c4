"""Choosing a model in a real browser, from a stand-in for the Hub that sends slowly."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from model import catalog
from model.arguments import ModelArguments
from model.loaded import LoadedModel
from model.progress import Progress
from tests.helpers.browsing import DESK, PHONE, Opener, page_of, reload
from tests.helpers.hub_server import StandIn
from tests.helpers.stage import BROWSER
from tests.helpers.visitor import name_by_hand, pick, rest, say, set_number
from tests.helpers.waiting import eventually
from ui.runs.models import Models
from ui.runs.models.model_cache import AnyModel

pytestmark = BROWSER
LISTED, REPOSITORY = "Qwen2.5-0.5B-Instruct", "Qwen/Qwen2.5-0.5B-Instruct"


@pytest.fixture
def offer(hub_server: StandIn, on_the_hub: Path) -> Callable[[LoadedModel], Models]:
    """The models of a private page that starts with one model and whose Hub has a listed and an unlisted one."""
    hub_server.repositories[REPOSITORY, "main"] = on_the_hub
    hub_server.flowing.clear()

    def offered(first: LoadedModel) -> Models:
        def load(name: str, progress: Progress) -> AnyModel:
            return first if name == first.name else catalog.load_another(ModelArguments(), name, progress)

        return Models((first.name, LISTED, "gpt2"), load, any_name=True)

    return offered


@pytest.fixture
def offered(offer: Callable[[LoadedModel], Models], tiny: LoadedModel) -> Models:
    return offer(tiny)


@pytest.fixture
def page_url(offered: Models) -> Iterator[str]:
    with page_of(offered) as address:
        yield address


@pytest.fixture
def writer_url(offer: Callable[[LoadedModel], Models], tiny_writer: LoadedModel) -> Iterator[str]:
    """The same page, starting with a model that cannot chat."""
    with page_of(offer(tiny_writer)) as address:
        yield address


def loaded(page: Page, title: str) -> None:
    """Wait until the model is there, which its button says."""
    expect(page.locator("#attend-model-cancel")).to_be_hidden()
    expect(page.locator("#attend-model-chosen b")).to_have_text(title)
    expect(page.locator(".attend-model-coming")).not_to_have_attribute("data-current", "")


def test_a_model_comes_while_others_chat_unseen_and_can_be_sent_away(
    page_url: str, visit: Opener, offered: Models, tiny: LoadedModel, hub_server: StandIn
) -> None:
    page, other = visit(at=page_url), visit(at=page_url)
    reaches(page, tiny)
    set_number(page, "max-new-tokens", tiny.model.context_length)
    page.locator("#attend-model-chosen").click()
    option = page.get_by_role("option", name=LISTED)
    expect(option).to_contain_text("988 MB download")
    expect(option).to_contain_text("Chat, a little code · 494M parameters · 29 languages")
    option.click()
    bar = page.locator(".attend-model-bar")
    expect(page.locator(".attend-model-coming")).to_have_text(f"Downloading {LISTED}")
    expect(page.locator(".attend-model-status")).to_contain_text(" kB of ")
    page.wait_for_function("""() => {
      const { value } = document.querySelector('.attend-model-bar');
      return 0 < value && value < 1;
    }""")
    say(other, "My secret is omega")
    page.locator("#attend-model-cancel").click()
    loaded(page, tiny.name)
    expect(bar).to_be_hidden()
    say(page, "Hello")
    pick(page, LISTED)
    expect(page.locator("#attend-model-chosen b")).to_have_text(LISTED)
    page.locator("#attend-model-chosen").click()
    box = page.locator("#attend-other-model")
    box.fill("half a na")
    expect(page.locator(".attend-model-coming")).to_have_text(f"Downloading {LISTED}")
    hub_server.flowing.set()
    loaded(page, LISTED)
    expect(box).to_have_value("half a na")  # what is typed stays while another model comes
    expect(box).to_be_focused()
    page.keyboard.press("Escape")
    reaches(page, offered.get(LISTED))
    say(page, "And now?")
    page.locator("#attend-code").click()
    expect(page.locator("#attend-code-dialog")).to_contain_text(f"--model {LISTED}")
    assert "omega" not in page.locator("body").inner_text()
    assert "And now?" not in other.locator("body").inner_text()


def reaches(page: Page, model: LoadedModel) -> None:
    """The maximum length goes up to the context length of the model."""
    for kind in ("range", "number"):
        entry = page.locator(f"#attend-max-new-tokens input[type={kind}]")
        expect(entry).to_have_attribute("max", str(model.model.context_length))
        assert int(entry.input_value()) <= model.model.context_length


def test_chat_appears_with_its_model_even_if_it_was_chosen_before(
    writer_url: str, visit: Opener, tiny_writer: LoadedModel, hub_server: StandIn
) -> None:
    page = visit(at=writer_url)
    pick(page, LISTED)
    expect(page.locator(".attend-model-coming")).to_have_text(f"Downloading {LISTED}")
    chat, current_tab = page.locator("#attend-tabs label", has_text="Chat"), page.locator("#attend-tabs label.selected")
    chat.click()
    page.locator("#attend-message textarea").fill("Hello")
    page.keyboard.press("Enter")
    expect(page.locator(".toast-body")).to_contain_text(f"{LISTED} is still loading: send again once it is ready.")
    expect(current_tab).to_have_text("Chat")
    page.locator("#attend-model-cancel").click()
    expect(current_tab).to_have_text("Write")  # the writer stays, which knows no conversations
    pick(page, LISTED)
    expect(page.locator(".attend-model-coming")).to_have_text(f"Downloading {LISTED}")
    chat.click()
    hub_server.flowing.set()
    loaded(page, LISTED)
    expect(current_tab).to_have_text("Chat")
    page.locator("#attend-message textarea").press("Enter")  # what could not be sent is still there
    expect(page.locator(".at-assistant")).to_have_count(1)
    rest(page)
    pick(page, tiny_writer.name)
    expect(page.locator("#attend-text textarea")).to_be_visible()
    pick(page, LISTED)
    expect(page.locator(".at-turn")).to_have_count(2)


def test_a_model_is_named_by_hand_and_a_bad_name_changes_nothing(
    page_url: str, visit: Opener, tiny: LoadedModel, hub_server: StandIn, tiny_checkpoint: Path, tmp_path: Path
) -> None:
    hub_server.flowing.set()
    page = visit(at=page_url)
    name_by_hand(page, "someone/nowhere")
    expect(page.locator(".toast-body")).to_be_visible()
    loaded(page, tiny.name)
    box = page.locator("#attend-other-model")
    expect(box).to_have_value("someone/nowhere")  # to be mended
    say(page, "Hello")
    name_by_hand(page, "someone/tiny-llama@main")
    loaded(page, "someone/tiny-llama@main")
    expect(box).to_have_value("")
    say(page, "And now?")
    folder = tmp_path / "fox" / "final"
    shutil.copytree(tiny_checkpoint, folder)
    name_by_hand(page, str(folder))
    loaded(page, "fox/final")  # its name first, and its whole path
    expect(page.locator("#attend-model-chosen .at-model-about")).to_have_text(str(folder.parent.parent))
    say(page, "And you?")
    pick(page, tiny.name)
    loaded(page, tiny.name)
    expect(page.locator(".attend-inspector .at-empty")).to_contain_text("fox/final")  # which is no longer loaded
    page.locator("#attend-clear").click()
    expect(page.locator(".attend-inspector .at-empty")).not_to_contain_text("fox/final")


def test_a_choice_by_keyboard_triggers_one_request_and_a_closed_tab_lets_its_model_go(
    page_url: str, visit: Opener, offered: Models, tiny: LoadedModel, hub_server: StandIn
) -> None:
    hub_server.flowing.set()
    page = visit(at=page_url)
    assert_list_can_be_read(page)
    page.keyboard.press("Escape")
    touch = page.context.new_cdp_session(page)
    touch.send("Emulation.setTouchEmulationEnabled", {"enabled": True})
    page.set_viewport_size(PHONE["viewport"])
    page.locator("#attend-open-settings").click()
    assert_list_can_be_read(page)
    page.keyboard.press("Escape")
    touch.send("Emulation.setTouchEmulationEnabled", {"enabled": False})
    page.set_viewport_size(DESK)
    requests: list[str] = []
    page.on("request", lambda sent: requests.append(sent.post_data or "") if "queue/join" in sent.url else None)
    pick(page, "gpt2")  # which this Hub does not have
    expect(page.locator(".toast-body")).to_have_count(1)
    loaded(page, tiny.name)
    assert sum('"gpt2"' in data for data in requests) == 1
    button = page.locator("#attend-model-chosen")
    button.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("option", name=tiny.name)).to_be_focused()
    page.keyboard.press("Escape")
    expect(button).to_be_focused()
    expect(page.get_by_role("listbox")).to_be_hidden()
    page.keyboard.press("Enter")
    expect(page.get_by_role("option", name=tiny.name)).to_be_focused()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    loaded(page, LISTED)
    assert sum(f'"{LISTED}"' in data for data in requests) == 1
    assert offered.cached(LISTED) is not None
    page.close()
    eventually(lambda: offered.cached(LISTED) is None)


def assert_list_can_be_read(page: Page) -> None:
    """Open the list: it is whole, and nothing in it is cut off."""
    page.locator("#attend-model-chosen").click()
    sheet = page.locator(".at-models")
    expect(sheet).to_be_visible()
    page.wait_for_function(
        """() => {
          const { left, top, right, bottom } = document.querySelector('.at-models').getBoundingClientRect();
          return left >= 0 && top >= 0 && right <= innerWidth && bottom <= innerHeight;
        }"""
    )
    widths = page.locator(".at-models, .at-models *").evaluate_all(
        "all => all.map((part) => [part.scrollWidth, part.clientWidth])"
    )
    assert [(inside, seen) for inside, seen in widths if seen and inside > seen] == []  # inline parts have no width
    assert "…" not in sheet.inner_text()


def test_a_precision_is_chosen_and_kept_by_a_reload_a_link_and_back(visit: Opener, tiny: LoadedModel) -> None:
    def load(name: str, progress: Progress) -> AnyModel:
        return tiny if name == tiny.name else catalog.load_another(ModelArguments(tiny.address), name, progress)

    eight = f"{tiny.name} [8 bits]"
    with page_of(Models((tiny.name,), load)) as address:
        page = visit(at=address)
        precision = page.get_by_label("Precision")
        expect(precision).to_have_value(tiny.name)
        precision.focus()
        precision.select_option(eight)
        loaded(page, eight)
        expect(precision).to_have_value(eight)
        expect(precision).to_be_focused()
        say(page, "Hello")
        expect(page.locator(".at-assistant")).to_contain_text(eight)
        reload(page)
        loaded(page, eight)
        expect(page.get_by_label("Precision")).to_have_value(eight)
        page.go_back()
        loaded(page, tiny.name)
        expect(precision).to_have_value(tiny.name)
        page.go_forward()
        loaded(page, eight)
        loaded(visit(page.url.removeprefix(address), at=address), eight)  # a link
