"""A person in VS Code: sees the fault, completes a variable, runs the loop, watches it end."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from conftest import PICTURES
from editors_vscode import CodeServer
from playwright.sync_api import Browser, Page, expect
from playwright.sync_api import TimeoutError as TimedOut

WORKFLOW = """\
$schema: "workflow/v2.0"
name: haiku
version: 1.0.0
description: Write a poem until the critic has nothing left to say.

execution:
  provider: scripted
  model: poet

loops:
  - name: compose
    workflow: one_draft
    with:
      subject: "{{input}}"
      before: ""
    max_iterations: 5
    until: "{{loop.output}} says ACCEPTED"
    on_failure: halt
"""

CALLEE = """\
$schema: "workflow/v2.0"
name: one_draft
version: 1.0.0
description: A draft and what the critic says of it.

execution:
  provider: scripted
  model: poet

steps:
  - name: draft
    run: "Write a haiku about {{subject}}. Before: {{before}}"

  - name: critic
    needs: [draft]
    run: "Say ACCEPTED, or what is wrong: {{draft}}"
"""

ANSWERS = """\
delay: 0.8
price: {input: 3, output: 15}
answers:
  - when: {step: critic}
    say: ["REFUSED: no season in it", "REFUSED: eight syllables in line two", "ACCEPTED: nothing to add"]
  - when: {purpose: judge}
    say: ["NO", "NO", "YES"]
  - say: "old pond\\na frog leaps in\\nwater's sound"
"""

SETTINGS = "providers:\n  scripted:\n    kind: scripted\n"


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "poems"
    folder.mkdir()
    for name, text in (
        ("haiku.yaml", WORKFLOW),
        ("one_draft.yaml", CALLEE),
        ("haiku.answers.yaml", ANSWERS),
        (".loop-ls.yaml", SETTINGS),
    ):
        (folder / name).write_text(text)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def page(code_server: CodeServer, browser: Browser, workspace: Path, request: pytest.FixtureRequest) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": 1360, "height": 860}, reduced_motion="reduce")
    page = context.new_page()
    page.set_default_timeout(60_000)
    expect.set_options(timeout=30_000)
    page.goto(code_server.address(workspace, workspace / "haiku.yaml"))
    page.locator(".editor-instance .monaco-editor").first.wait_for()
    yield page
    picture(page, f"{request.node.name}-end")
    context.close()


def picture(page: Page, name: str) -> None:
    PICTURES.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=PICTURES / f"{name}.png")


def click_line(page: Page, text: str) -> None:
    page.locator(".view-line", has_text=text).first.click()


def test_from_the_first_squiggle_to_the_last_iteration(page: Page, workspace: Path) -> None:
    # the condition contains what it judges: a squiggle on the placeholder, and its sentence
    expect(page.locator(".squiggly-warning").first).to_be_visible()
    page.keyboard.press("Control+Shift+M")
    expect(page.locator(".markers-panel .monaco-list-row", has_text="WF702")).to_be_visible()
    picture(page, "squiggle")
    page.keyboard.press("Control+Shift+M")

    # the quick fix writes the condition without it
    row = page.locator(".action-widget .monaco-list-row", has_text="from the condition").first
    for _ in range(6):  # the menu does not open while the editor still waits for somebody's actions
        page.locator(".view-line", has_text="says ACCEPTED").locator("span span", has_text="loop.output").first.click()
        page.keyboard.press("Control+.")
        with suppress(TimedOut):
            row.wait_for(timeout=10_000)
            break
        page.keyboard.press("Escape")
    row.click()
    expect(page.locator(".view-line", has_text="loop.output")).to_have_count(0)

    # a loop variable is completed inside the braces
    click_line(page, "before:")
    page.keyboard.press("End")
    page.keyboard.press("ArrowLeft")
    page.keyboard.type("{{loop.la")
    page.keyboard.press("Control+Space")
    rows = page.locator(".suggest-widget.visible .monaco-list-row")
    expect(rows.first).to_have_attribute("aria-label", re.compile(r"^loop\.last\.output"))
    picture(page, "completion")
    page.keyboard.press("Enter")
    expect(page.locator(".view-line", has_text="{{loop.last.output}}")).to_be_visible()
    page.keyboard.press("Control+s")
    expect(page.locator(".tab.dirty")).to_have_count(0)
    assert '      before: "{{loop.last.output}}"' in (workspace / "haiku.yaml").read_text().splitlines()

    # run: the input is asked for, iterations arrive, the ending is told
    page.locator(".codelens-decoration a", has_text="Run loop").first.click()
    box = page.locator(".quick-input-widget input")
    box.fill("a frog")
    page.keyboard.press("Enter")
    expect(page.locator(".codelens-decoration", has_text="iteration 1/5")).to_be_visible()
    expect(page.locator(".codelens-decoration", has_text=re.compile(r"iteration [23]/5"))).to_be_visible()
    picture(page, "running")
    expect(page.locator(".codelens-decoration", has_text="condition met in iteration 3")).to_be_visible()

    # a success is no problem: it draws nothing and is not counted
    page.keyboard.press("Control+Shift+M")
    expect(page.locator(".markers-panel")).to_be_visible()
    expect(page.locator(".markers-panel .monaco-list-row", has_text="condition met")).to_have_count(0)
    picture(page, "ended")
