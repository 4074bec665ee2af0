"""A person in VS Code lets a broken workflow be mended: the switch, two rounds, one undo, the timeline."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import PICTURES
from editors_rounds import BROKEN, MENDED, SETTINGS, write_rounds
from editors_vscode import CodeServer
from playwright.sync_api import Browser, Locator, Page, expect


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return write_rounds(tmp_path / "reports")


@pytest.fixture
def page(code_server: CodeServer, browser: Browser, file: Path) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": 1360, "height": 860}, reduced_motion="reduce")
    page = context.new_page()
    page.set_default_timeout(90_000)
    expect.set_options(timeout=90_000)
    page.goto(code_server.address(file.parent, file))
    page.locator(".editor-instance .monaco-editor").first.wait_for()
    yield page
    picture(page, "rounds-end")
    context.close()


def picture(page: Page, name: str) -> None:
    PICTURES.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=PICTURES / f"{name}.png")


def lens(page: Page, text: str | re.Pattern[str]) -> Locator:
    return page.locator(".codelens-decoration", has_text=text)


def saved(page: Page, file: Path) -> str:
    page.keyboard.press("Control+s")
    expect(page.locator(".tab.dirty")).to_have_count(0)
    return file.read_text()


def test_a_broken_workflow_converges_in_round_2(page: Page, file: Path) -> None:
    # the switch on the first line; it writes the settings of the project and nothing else
    page.locator(".codelens-decoration a", has_text="Enhance: off").click()
    expect(lens(page, "Enhance: on")).to_be_visible()
    assert (file.parent / ".loop-ls.yaml").read_text() == (
        f"{SETTINGS}enhance:\n  workflows:\n    report:\n      enabled: true\n"
    )
    assert file.read_text() == BROKEN

    # a run is a loop of rounds now
    page.locator(".codelens-decoration a", has_text="Run workflow").click()
    expect(lens(page, re.compile(r"Round 1 of 3 · \$0(\.\d+)? of \$5\.00"))).to_be_visible()
    expect(lens(page, "Round 2 of 3")).to_be_visible()
    picture(page, "rounds-running")
    expect(lens(page, "converged in round 2 of 3")).to_be_visible()
    expect(page.locator(".codelens-decoration", has_text="converged in round 2")).to_be_visible()

    # what failed, proposed, applied and why
    page.locator(".codelens-decoration a", has_text="Timeline").click()
    panel = page.frame_locator("iframe.webview.ready").frame_locator("iframe#active-frame")
    expect(panel.get_by_role("tab", name="Round")).to_have_attribute("aria-selected", "true")
    expect(panel.locator("#pane")).to_contain_text("Round 2 of 3")
    panel.get_by_role("treeitem", name="round 1 of 3").click()
    expect(panel.locator("#pane")).to_contain_text("The review is refused because nobody said")
    expect(page.locator(".tab", has_text="timeline")).to_have_count(0)  # no Markdown beside it
    picture(page, "rounds-timeline")
    page.locator(".tab", has_text="report.yaml").click()

    # every comment is where it was; one undo takes the whole batch back
    page.locator(".view-line", has_text="the first words").click()
    assert saved(page, file) == MENDED
    page.keyboard.press("Control+z")
    assert saved(page, file) == BROKEN
