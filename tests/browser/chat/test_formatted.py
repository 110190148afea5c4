"""Answers as formatted text: the switch, which is remembered, what it draws, and hostile Markdown."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.helpers.stage import BROWSER, HOSTILE, Stage, conversation, turn, update

pytestmark = BROWSER

MARKDOWN = """Some **bold** and a [page](https://example.org).

- one
- two

| a | b |
|---|---|
| 1 | 2 |

```js
alert(1)
```

<img src=x onerror=alert(1)> ![x](http://example.org/x.png) [no](javascript:alert(1))"""


def test_answers_are_drawn_as_formatted_text_and_as_tokens_again(fresh: Stage) -> None:
    user = turn("user", "**Hi**")
    fresh.show(conversation=conversation(user, turn("assistant", MARKDOWN, [MARKDOWN])))
    tokens, answer = fresh.find(".at-assistant .at-tok"), fresh.find(".at-assistant .at-formatted")
    expect(tokens).to_be_visible()
    expect(answer).to_be_hidden()
    fresh.find("#attend-text-view label").nth(1).click()
    expect(answer.locator("strong")).to_have_text("bold")
    expect(tokens).to_be_hidden()
    expect(answer.locator("li")).to_have_text(["one", "two"])
    expect(answer.locator("td")).to_have_text(["1", "2"])
    expect(answer.locator("pre")).to_have_text("alert(1)")
    expect(answer.locator("a")).to_have_count(1)
    for name, value in {"href": "https://example.org", "target": "_blank", "rel": "noopener noreferrer"}.items():
        expect(answer.locator("a")).to_have_attribute(name, value)
    expect(answer.locator("img")).to_have_count(0)
    expect(answer).to_contain_text("<img src=x onerror=alert(1)> ![x](http://example.org/x.png) [no](javascript:")
    expect(fresh.find(".at-user .at-text")).to_have_text("**Hi**")
    answer.get_by_role("button", name="Copy code").click()
    expect(answer.get_by_role("status")).to_have_text("Copied")
    fresh.find("#attend-text-view label").first.click()
    expect(tokens).to_be_visible()
    expect(answer).to_be_hidden()
    fresh.find("#attend-text-view label").nth(1).click()
    answer.locator("strong").click()  # a word leads to its token
    expect(tokens).to_be_visible()
    expect(fresh.find("#attend-text-view input").first).to_be_checked()
    assert fresh.wait_for_events() == [("token", {"turn": 1, "index": 0})]


def test_hostile_text_stays_text_a_growing_answer_tokens_until_it_is_whole_and_the_switch_as_it_was(
    fresh: Stage,
) -> None:
    fresh.find("#attend-text-view label").nth(1).click()
    fresh.show(conversation=conversation(*(turn("assistant", f"a {text} b", [f"a {text} b"]) for text in HOSTILE)))
    expect(fresh.find(".at-assistant:has(.at-formatted p)")).to_have_count(len(HOSTILE))
    assert fresh.find(".at-formatted :is(img, script)").count() == 0

    fresh.show(
        conversation=conversation(turn("user", "Hi"), turn("assistant", "*", ["*"], state="streaming"), busy=True)
    )
    fresh.show(conversation=update(1, 0, ["*I", " am*"]))
    expect(fresh.find(".at-assistant .at-tok")).to_have_text(["*I", " am*"])
    expect(fresh.find(".at-formatted")).to_be_hidden()
    fresh.show(conversation=update(2, 2, ["!"], state="done", busy=False))
    expect(fresh.find(".at-formatted em")).to_have_text("I am")
    fresh.page.reload()
    expect(fresh.page.get_by_role("radio", name="formatted")).to_be_checked()
