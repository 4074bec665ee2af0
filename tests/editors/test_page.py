"""The engine's page in a real Chromium, with a real engine: signing in, lists, a run, answers, hostile texts.

What a page must keep to itself is looked for where it would be: address, history, storage, requests.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, needed
from playwright.sync_api import Browser, BrowserContext, Page, expect

from loop_ls.client.engine_location import read_handover

AXE = ROOT / "vscode-client" / "node_modules" / "axe-core" / "axe.min.js"
SECONDS = 60_000
expect.set_options(timeout=SECONDS)

CALLEE = """\
$schema: "workflow/v2.0"
name: draft
version: 1.0.0
execution: {provider: scripted, model: m}
steps:
  - {name: write, run: "Write about {{topic}}. Before: {{before}}"}
"""
DEVELOP = """\
$schema: "workflow/v2.0"
name: develop_it
version: 1.0.0
description: A loop that ends when the text is good.
execution: {provider: scripted, model: m}
loops:
  - name: develop
    workflow: draft
    with: {topic: "{{input}}", before: "{{loop.last.output}}"}
    max_iterations: 5
    until: "The text is good"
"""
#: Mark-up, addresses and schemes: each would leave a trace, were it more than text.
HOSTILE = (
    '<img src=x onerror="window.hit=1"><script>window.hit=1</script><svg onload="window.hit=1">'
    '<iframe srcdoc="<script>parent.hit=1</script>"></iframe><style>body{display:none}</style>'
    "<a href=javascript:window.hit=1>x</a> [x](javascript:window.hit=1) ![x](https://evil.example/x.png) \u202eabc"
)
ASSISTANT = """\
name: Writer
persona: You write.
provider: openai
loopEnabled: true
maxIterations: 5
loopCriteria: {type: manual, value: ''}
"""
KEPT = "(function(){ return JSON.stringify([Object.entries(localStorage), document.cookie]) })()"


class Project:
    """A workspace with an engine and the program that talks to it."""

    def __init__(self, root: Path, data: Path, program: str, environment: dict[str, str]) -> None:
        self.root, self.data, self._program, self._environment = root, data, program, environment

    def call(self, *words: str) -> str:
        environment = {**self._environment, "LOOP_LS_DATA_DIR": str(self.data)}
        argv = [self._program, *words]
        done = subprocess.run(
            argv, cwd=self.root, env=environment, capture_output=True, text=True, timeout=120, check=False
        )
        return done.stdout

    def run(self, file: str, *words: str) -> str:
        return str(json.loads(self.call("run", file, "--input", "tea", "--json", *words))["runId"])

    def address(self, *words: str) -> str:
        return str(json.loads(self.call("ui", "--json", *words))["url"])

    @property
    def token(self) -> str:
        found = read_handover(self.data)
        assert found is not None
        return found.token


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=needed("LOOP_LS_CHROMIUM"), args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory, server_program: str) -> Iterator[Project]:
    import os

    root, data = tmp_path_factory.mktemp("page"), tmp_path_factory.mktemp("data")
    (root / "draft.yaml").write_text(CALLEE)
    (root / "develop.yaml").write_text(DEVELOP)
    said = ["draft one", HOSTILE, "draft three"]
    answers = [
        {"when": {"step": "write"}, "say": said},
        {"when": {"purpose": "judge"}, "say": ["NO", "NO", "YES"]},
    ]
    (root / "develop.answers.yaml").write_text(json.dumps({"answers": answers}))
    (root / "writer.assistant.yaml").write_text(ASSISTANT)
    made = Project(root, data, server_program, {**os.environ, "HOME": str(root), "NO_COLOR": "1"})
    made.call("engine", "start")
    yield made
    made.call("engine", "stop", "--now")


@pytest.fixture
def context(chromium: Browser) -> Iterator[BrowserContext]:
    made = chromium.new_context(reduced_motion="reduce")
    made.set_default_timeout(SECONDS)
    yield made
    made.close()


Opens = Callable[..., Page]


@pytest.fixture
def opened(project: Project, context: BrowserContext) -> Opens:
    """A page that is signed in, at a place."""

    def opens(place: str = "", *words: str) -> Page:
        page = context.new_page()
        page.goto(project.address(*words))
        expect(page.locator(".brand")).to_be_visible()
        if place:
            page.goto(page.url.partition("#")[0] + place)
        return page

    return opens


def serious(page: Page) -> list[str]:
    """What keeps somebody from using the page, each with its place."""
    context = page.context.new_cdp_session(page)
    context.send("Page.setBypassCSP", {"enabled": True})
    page.evaluate(AXE.read_text("utf-8"))
    found: Any = page.evaluate("() => axe.run({resultTypes: ['violations']})")
    return [
        f"{one['id']}: {one['help']} {[node['html'] for node in one['nodes']]}"
        for one in found["violations"]
        if one["impact"] in ("serious", "critical")
    ]


# -- signing in --------------------------------------------------------------------------------------


def test_the_code_leaves_the_address_at_once_and_the_token_stays_in_the_tab(
    project: Project, context: BrowserContext
) -> None:
    page, seen = context.new_page(), list[str]()
    page.on("request", lambda request: seen.append(f"{request.url} {request.headers.get('referer', '')}"))
    address = project.address()
    code = address.partition("#code=")[2]
    page.goto(address)
    expect(page.locator(".who")).to_contain_text("owner")
    assert page.url.endswith("/ui/")
    token = json.loads(page.evaluate("sessionStorage.getItem('loop-ls.session')"))["token"]
    assert token != project.token
    assert page.evaluate("history.length") <= 2
    assert not [one for one in seen if code in one or token in one or project.token in one]
    assert page.evaluate(KEPT) == '[[],""]'
    assert context.cookies() == []
    page.reload()
    expect(page.locator(".who")).to_contain_text("owner")
    page.go_back()
    assert code not in page.url
    other = context.new_page()
    other.goto(address)
    expect(other.get_by_role("alert")).to_contain_text("already used")


def test_a_code_can_be_typed_and_signing_out_ends_the_token(project: Project, context: BrowserContext) -> None:
    page = context.new_page()
    page.goto(project.address().partition("#")[0])
    page.get_by_label("Code").fill(project.address("--role", "viewer").partition("#code=")[2])
    page.get_by_role("button", name="Sign in").click()
    expect(page.locator(".who")).to_contain_text("viewer")
    expect(page.get_by_text("Start a loop")).to_have_count(0)
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("alert")).to_contain_text("Signed out: run `loop-ls ui`")
    assert page.evaluate("sessionStorage.length") == 0


def test_a_token_that_was_revoked_is_told_and_not_waited_for(project: Project, opened: Opens) -> None:
    page = opened()
    project.call("engine", "token", "revoke", "owner")
    page.evaluate("location.hash = '#/start'")
    expect(page.get_by_role("alert")).to_contain_text("Signed out: run `loop-ls ui`")


# -- lists -------------------------------------------------------------------------------------------


def test_runs_come_and_end_in_the_list_while_it_is_looked_at(project: Project, opened: Opens) -> None:
    project.run("develop.yaml")
    page = opened()
    expect(page.locator("section:has(#ended) .line").first).to_be_visible()  # the list is there, and whole
    before = page.locator("section:has(#ended) .line").count()
    project.run("develop.yaml")
    expect(page.locator("section:has(#ended) .line")).to_have_count(before + 1)
    row = page.locator("section:has(#ended) .line").first
    expect(row).to_contain_text("develop_it")
    expect(row).to_contain_text("condition met")


def test_filters_stand_in_the_address_and_outlive_a_reload(project: Project, opened: Opens) -> None:
    project.run("develop.yaml")
    page = opened("#/?show=ended&find=develop")
    expect(page.locator("#waiting")).to_have_count(0)
    expect(page.locator(".line").first).to_be_visible()
    page.get_by_role("searchbox").fill("nothing-like-it")
    expect(page.get_by_text("No matching runs.")).to_be_visible()
    page.reload()
    expect(page.get_by_role("searchbox")).to_have_value("nothing-like-it")
    expect(page.get_by_text("No matching runs.")).to_be_visible()


def test_the_list_is_used_by_keys(project: Project, opened: Opens) -> None:
    project.run("develop.yaml")
    page = opened()
    expect(page.locator("section:has(#ended) .line").first).to_be_visible()
    page.keyboard.press("/")
    expect(page.get_by_role("searchbox")).to_be_focused()
    page.keyboard.press("Tab")
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("j")
    expect(page.locator("a:focus")).to_be_visible()
    page.keyboard.press("Enter")
    expect(page.locator("main .head, main .top ~ *").first).to_be_visible()
    page.go_back()
    expect(page.get_by_role("searchbox")).to_be_visible()


# -- a run -------------------------------------------------------------------------------------------


def test_a_run_is_the_panel_of_the_editor_and_its_texts_are_text(project: Project, opened: Opens) -> None:
    run_id = project.run("develop.yaml")
    page, elsewhere, faults = opened(f"#/runs/{run_id}"), list[str](), list[str]()
    page.on("request", lambda request: elsewhere.append(request.url))
    page.on("pageerror", lambda error: faults.append(str(error)))
    tree = page.get_by_role("treeitem")
    expect(tree.first).to_be_visible()
    expect(page.locator(".head")).to_contain_text("condition met")
    hostile = tree.filter(has_text="<img").first
    hostile.click()
    expect(page.locator("#pane")).to_contain_text("<script>window.hit=1</script>")
    for element in ("img", "iframe", "script:not([src='/ui/page.js'])", "a[href^='javascript']", "style"):
        assert page.locator(f"#app {element}").count() == 0, element
    page.goto(page.url.partition("#")[0] + f"#/runs/{run_id}/text?row=develop%2F2&what=output")
    expect(page.locator("pre.whole")).to_contain_text("javascript:window.hit=1")
    assert page.evaluate("window.hit") is None
    assert not [url for url in elsewhere if not url.startswith(page.url.partition("/ui")[0])]
    assert faults == []


def test_the_policy_makes_no_script_or_mark_up_of_a_text(opened: Opens) -> None:
    page = opened()
    for forbidden in (
        "document.body.innerHTML = '<b>x</b>'",
        "document.body.insertAdjacentHTML('beforeend', '<b>x</b>')",
        "document.createElement('script').text = 'window.hit = 1'",
        "trustedTypes.createPolicy('mine', {createHTML: (text) => text})",
    ):
        with pytest.raises(Exception, match=r"(?i)trusted|policy"):
            page.evaluate(f"() => {{ {forbidden} }}")
    assert page.evaluate("window.hit") is None
    blocked = "fetch('http://127.0.0.1:9/').then(() => 'sent', (error) => String(error))"
    assert "TypeError" in page.evaluate(blocked)


def test_a_question_is_answered_from_the_list_and_the_run_says_where(project: Project, opened: Opens) -> None:
    run_id = project.run("writer.assistant.yaml", "--mock", "--detach")
    page = opened("#/?show=waiting")
    asked = page.locator(".asked").filter(has_text="Writer")
    expect(asked).to_contain_text("waits for your decision")
    asked.get_by_role("button", name="Approve").click()
    expect(page.locator(".asked")).to_have_count(0)
    facts = project.call("runs", "events", run_id, "--json")
    [resolved] = [one for one in map(json.loads, facts.splitlines()) if one["kind"] == "approval_resolved"]
    assert resolved["via"] == "browser"


def test_a_run_is_stopped_from_its_page_and_not_by_a_viewer(project: Project, opened: Opens) -> None:
    run_id = project.run("writer.assistant.yaml", "--mock", "--detach")
    viewer = opened(f"#/runs/{run_id}", "--role", "viewer")
    viewer.get_by_role("button", name="Stop").click()
    expect(viewer.get_by_role("alert")).to_contain_text("This needs the role `editor`")
    page = opened(f"#/runs/{run_id}")
    page.get_by_role("button", name="Stop").click()
    expect(page.locator(".head [data-status]")).to_have_attribute("data-status", "cancelled")


def test_two_runs_are_compared_by_their_iterations(project: Project, opened: Opens) -> None:
    left, right = project.run("develop.yaml"), project.run("develop.yaml")
    page = opened(f"#/compare?left={left}&right={right}")
    rows = page.locator("table.compare tbody tr")
    expect(rows).to_have_count(3)
    page.get_by_label("Only what differs").check()
    expect(page.get_by_text("No iteration differs.")).to_be_visible()
    assert "only=different" in page.url


def test_a_loop_is_started_by_its_name_and_a_draft_outlives_a_reload(project: Project, opened: Opens) -> None:
    page = opened("#/start?definition=develop_it")
    page.get_by_label("Goal or input").fill("tea with milk")
    page.reload()
    expect(page.get_by_label("Goal or input")).to_have_value("tea with milk")
    page.get_by_role("button", name="Start", exact=True).click()
    expect(page.locator(".head")).to_contain_text("condition met")
    assert "#/runs/" in page.url


# -- everybody ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1200])
def test_nothing_keeps_anybody_from_using_it(project: Project, chromium: Browser, scheme: Any, width: int) -> None:
    run_id = project.run("develop.yaml")
    waits = project.run("writer.assistant.yaml", "--mock", "--detach")
    context = chromium.new_context(color_scheme=scheme, viewport={"width": width, "height": 800})
    page, wrong = context.new_page(), {}
    page.set_default_timeout(SECONDS)
    page.goto(project.address().partition("#")[0])
    expect(page.get_by_label("Code")).to_be_visible()
    wrong["sign in"] = serious(page)
    page.goto(project.address())  # in the same page: only what is behind the `#` changes
    expect(page.locator(".brand")).to_be_visible()
    for place, there in {
        "#/": ".line",
        f"#/runs/{run_id}": "[role=treeitem]",
        f"#/runs/{run_id}/text?row=develop%2F1&what=output": "pre.whole",
        f"#/compare?left={run_id}&right={waits}": "table.compare tbody tr",
        "#/start?definition=develop_it": "textarea",
    }.items():
        page.goto(page.url.partition("#")[0] + place)
        expect(page.locator(there).first).to_be_visible()
        wrong[place] = serious(page)
        if width < 400:
            wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
            assert wide <= 0, place
    context.close()
    project.call("runs", "stop", waits)
    assert {place: found for place, found in wrong.items() if found} == {}


# -- an engine that goes and comes -------------------------------------------------------------------


def test_an_engine_that_is_back_is_found_without_loss_and_one_that_is_gone_is_told(
    project: Project, opened: Opens
) -> None:
    project.run("develop.yaml")
    page = opened("#/?show=ended")
    expect(page.locator(".line").first).to_be_visible()
    before = page.locator(".line").count()
    port = int(page.url.split(":")[2].partition("/")[0])
    project.call("engine", "stop", "--now")
    expect(page.get_by_text("The engine is not responding")).to_be_visible()
    project.call("engine", "start", "--port", str(port))
    project.run("develop.yaml")
    expect(page.get_by_text("The engine is not responding")).to_have_count(0)
    expect(page.locator(".line")).to_have_count(before + 1)


def test_eight_tabs_share_one_stream_and_the_next_takes_over(project: Project, context: BrowserContext) -> None:
    """A browser has six connections to one address: the seventh tab would wait for ever."""
    streams, pages = list[Page](), list[Page]()

    def hear(page: Page) -> None:
        page.on("request", lambda request: streams.append(page) if "/api/v1/events" in request.url else None)

    project.run("develop.yaml")
    for _ in range(8):
        page = context.new_page()
        hear(page)
        page.goto(project.address())
        pages.append(page)
        expect(page.locator(".who")).to_contain_text("owner")
        expect(page.locator("section:has(#ended) .line").first).to_be_visible()
    assert streams == pages[:1]
    before = pages[7].locator("section:has(#ended) .line").count()
    project.run("develop.yaml")
    expect(pages[7].locator("section:has(#ended) .line")).to_have_count(before + 1)
    pages[0].close()
    project.run("develop.yaml")
    for page in pages[1:]:
        expect(page.locator("section:has(#ended) .line")).to_have_count(before + 2)
    assert len(streams) == 2
