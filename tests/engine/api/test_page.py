"""The engine's page in a browser: its files hold no data, a code lets it in once and soon, and it can do no more than
whoever let it in."""

from __future__ import annotations

import asyncio
import json
import time
from pathlib import Path
from typing import Any

import pytest

from loop_ls.engine.api.page import codes as codes_module
from loop_ls.engine.api.page import files
from loop_ls.engine.api.page.codes import CODE_SECONDS, MOST, Codes
from loop_ls.engine.core import users
from loop_ls.engine.core.errors import Refused
from loop_ls.engine.core.users import Person, Tokens
from tests.engine.api.conftest import TOKEN, EngineProject

OWNER = Person(None, "editor")


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


async def code_of(project: EngineProject, token: str = TOKEN, **body: Any) -> Any:
    headers = {"Authorization": f"Bearer {token}"}
    return (await project.http.post("/api/v1/page/code", json=body, headers=headers)).json()


async def sign_in(project: EngineProject, code: str) -> Any:
    headers = {"Authorization": "", "Origin": f"http://127.0.0.1:{project.handover.port}"}
    return (await project.http.post("/api/v1/page/sign-in", json={"code": code}, headers=headers)).json()


async def page_of(project: EngineProject, **body: Any) -> dict[str, str]:
    """The headers of a page that is signed in."""
    signed = await sign_in(project, (await code_of(project, **body))["code"])
    return {"Authorization": f"Bearer {signed['token']}"}


async def codes(project: EngineProject, *tokens: str) -> list[str]:
    return [(await code_of(project, token))["code"] for token in tokens]


async def status_of(project: EngineProject, page: dict[str, str]) -> int:
    return (await project.http.get("/api/v1/loops", headers=page)).status_code


# -- codes -------------------------------------------------------------------------------------------


def test_a_code_lets_in_once() -> None:
    codes = Codes(Clock())
    code = codes.make(OWNER)
    assert len(code) >= 22  # 128 bits
    assert codes.take(code) == OWNER
    assert codes.take(code) is None


def test_a_code_that_is_late_lets_nobody_in_even_later() -> None:
    clock = Clock()
    codes = Codes(clock)
    code = codes.make(OWNER)
    clock.now += CODE_SECONDS
    assert codes.take(code) is None
    clock.now -= CODE_SECONDS
    assert codes.take(code) is None


@pytest.mark.parametrize("word", ["", "x", "é", "\ud800", "0" * 22])
def test_a_word_that_is_no_code_lets_nobody_in(word: str) -> None:
    codes = Codes(Clock())
    code = codes.make(OWNER)
    assert codes.take(word) is None
    assert codes.take(code) == OWNER


def test_codes_that_nobody_uses_do_not_gather() -> None:
    codes = Codes(Clock())
    first, *others = [codes.make(OWNER) for _ in range(MOST + 1)]
    assert codes.take(first) is None
    assert codes.take(others[0]) == OWNER


# -- files -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", sorted(files.FILES))
async def test_the_files_of_the_page_need_no_token_and_hold_nothing_of_this_engine(
    project: EngineProject, path: str
) -> None:
    project.http.headers.pop("Authorization")
    elsewhere = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}  # a link in a chat
    answer = await project.http.get(path, headers=elsewhere)
    assert answer.status_code == 200
    assert TOKEN not in answer.text and str(project.folder.path) not in answer.text
    policy = dict(each.split(" ", 1) for each in answer.headers["content-security-policy"].split("; "))
    assert policy["default-src"] == policy["frame-ancestors"] == policy["base-uri"] == policy["form-action"] == "'none'"
    assert policy["script-src"] == policy["style-src"] == policy["connect-src"] == "'self'"
    assert policy["require-trusted-types-for"] == "'script'"
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["cross-origin-opener-policy"] == "same-origin"
    assert answer.headers["cache-control"] == "no-store"
    assert "set-cookie" not in answer.headers


@pytest.mark.parametrize(
    "path", ["/ui/../tokens.json", "/ui/%2e%2e/files.py", "/ui/files.py", "/ui/page.js.map", "/uix"]
)
async def test_no_other_file_is_read(project: EngineProject, path: str) -> None:
    answer = await project.http.get(path)
    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")


async def test_the_page_has_no_script_or_style_in_its_text_and_loads_nothing_from_elsewhere(
    project: EngineProject,
) -> None:
    text = (await project.http.get("/ui/")).text
    assert "<style" not in text and "style=" not in text and "http" not in text.replace("http-equiv", "")
    assert text.count("<script") == 1 and '<script src="/ui/page.js"></script>' in text
    assert "https://" not in (await project.http.get("/ui/page.css")).text


async def test_the_short_address_leads_to_the_page_which_answers_reading_alone(project: EngineProject) -> None:
    short = await project.http.get("/ui")
    assert (short.status_code, short.headers["location"]) == (308, "/ui/")
    assert (await project.http.post("/ui/", json={})).status_code == 405


# -- signing in ----------------------------------------------------------------------------------------


async def test_a_code_is_exchanged_for_a_token_that_is_not_the_owners(project: EngineProject) -> None:
    made = await code_of(project)
    assert made["path"] == f"/ui/#code={made['code']}"
    signed = await sign_in(project, made["code"])
    assert (signed["ok"], signed["user"], signed["role"]) == (True, "owner", "editor")
    assert signed["token"] not in (TOKEN, made["code"])
    headers = {"Authorization": f"Bearer {signed['token']}"}
    assert (await project.http.get("/api/v1/loops", headers=headers)).status_code == 200
    kept = (project.folder.path / users.FILE_NAME).read_text("utf-8")
    assert signed["token"] not in kept and made["code"] not in kept
    again = await sign_in(project, made["code"])
    assert again["code"] == "forbidden" and "already used" in again["error"]


async def test_a_late_code_is_refused(project: EngineProject, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(codes_module, "CODE_SECONDS", 0)
    refused = await sign_in(project, (await code_of(project))["code"])
    assert refused["code"] == "forbidden" and "expired" in refused["error"] and "loop-ls ui" in refused["hint"]


async def test_nobody_gets_a_code_without_a_token_and_no_page_lets_another_in(project: EngineProject) -> None:
    assert (await code_of(project, "wrong"))["code"] == "unauthorized"
    page = await page_of(project)
    refused = await project.http.post("/api/v1/page/code", json={}, headers=page)
    assert (refused.status_code, refused.json()["code"]) == (403, "forbidden")


async def test_a_page_has_the_role_that_was_asked_for_and_never_a_higher_one(project: EngineProject) -> None:
    assert (await code_of(project, role="admin"))["code"] == "forbidden"
    viewer = await page_of(project, role="viewer")
    run_id = await project.run(1)
    await project.ended(run_id)
    assert (await project.http.get(f"/api/v1/loops/{run_id}/view", headers=viewer)).status_code == 200
    for method, path in (
        ("POST", f"/api/v1/loops/{run_id}/stop"),
        ("DELETE", f"/api/v1/loops/{run_id}"),
        ("POST", "/api/v1/loops"),
        ("POST", "/api/v1/engine/stop"),
    ):
        refused = await project.http.request(method, path, json={"path": "x"}, headers=viewer)
        assert (refused.status_code, refused.json()["code"]) == (403, "forbidden"), path
    assert not project.left.is_set()


async def test_the_page_of_another_user_is_theirs(project: EngineProject) -> None:
    _, ada = Tokens(project.folder.path).create("ada", "viewer")
    signed = await sign_in(project, (await code_of(project, ada))["code"])
    assert (signed["user"], signed["role"]) == ("ada", "viewer")


async def test_who_signs_out_is_out_and_nobody_else(project: EngineProject) -> None:
    one, other = await page_of(project), await page_of(project)
    assert (await project.http.post("/api/v1/page/sign-out", headers=one)).json() == {"ok": True}
    assert (await project.http.get("/api/v1/loops", headers=one)).status_code == 401
    assert (await project.http.get("/api/v1/loops", headers=other)).status_code == 200
    assert (await project.http.post("/api/v1/page/sign-out")).status_code == 403


async def test_the_token_of_a_page_ends_after_a_day_and_leaves_the_file(
    project: EngineProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = await page_of(project)
    now = time.time()
    monkeypatch.setattr(users.time, "time", lambda: now + users.PAGE_SECONDS + 1)
    assert (await project.http.get("/api/v1/loops", headers=page)).status_code == 401
    await page_of(project)
    assert len(json.loads((project.folder.path / users.FILE_NAME).read_text("utf-8"))) == 1


def test_pages_are_listed_and_all_of_the_owners_are_revoked_at_once(tmp_path: Path) -> None:
    tokens = Tokens(tmp_path)
    _, text = tokens.create_for_page(OWNER)
    _, ada = tokens.create("ada", "editor")
    person = tokens.who(text)
    assert person is not None and (person.user, person.role, person.page) == (None, "editor", True)
    [gone] = tokens.revoke("owner")
    assert gone.is_page and tokens.who(text) is None and tokens.who(ada) is not None


@pytest.mark.parametrize("by", ["id", "name"])
async def test_a_page_does_not_outlive_the_token_that_let_it_in(project: EngineProject, by: str) -> None:
    tokens = Tokens(project.folder.path)
    made, ada = tokens.create("ada", "editor")
    _, other = tokens.create("bob", "editor")
    pages = [
        {"Authorization": f"Bearer {(await sign_in(project, code))['token']}"}
        for code in await codes(project, ada, other)
    ]
    assert [await status_of(project, page) for page in pages] == [200, 200]
    tokens.revoke(made.id if by == "id" else "ada")
    assert [await status_of(project, page) for page in pages] == [401, 200]


async def test_the_code_of_a_token_that_was_taken_away_lets_nobody_in(project: EngineProject) -> None:
    tokens = Tokens(project.folder.path)
    made, ada = tokens.create("ada", "admin")
    [code] = await codes(project, ada)
    tokens.revoke(made.id)
    refused = await sign_in(project, code)
    assert (refused["code"], "token" in refused) == ("forbidden", False)
    assert tokens.all() == ()


async def test_two_tabs_with_one_code_are_one_page(project: EngineProject) -> None:
    [code] = await codes(project, TOKEN)
    signed = await asyncio.gather(*(sign_in(project, code) for _ in range(8)))
    assert sorted("token" in each for each in signed) == [False] * 7 + [True]


def test_pages_that_are_let_in_again_and_again_do_not_gather_and_take_no_other_token(tmp_path: Path) -> None:
    tokens = Tokens(tmp_path)
    _, bob = tokens.create("bob", "viewer")
    _, other = tokens.create_for_page(Person("bob", "viewer"))
    pages = [tokens.create_for_page(OWNER)[1] for _ in range(users.MOST_PAGES + 2)]
    assert [tokens.who(page) is not None for page in pages] == [False] * 2 + [True] * users.MOST_PAGES
    assert tokens.who(bob) is not None and tokens.who(other) is not None


# -- what a page starts ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "more",
    [
        {"root": "/"},
        {"path": "/etc/passwd"},
        {"uri": "file:///etc/passwd"},
        {"texts": {"a.yaml": ""}},
        {"settings": {"providers": {}}},
        {"agreeOnly": True, "origin": "cli"},
        {"consent": "a.b", "origin": "editor"},
        {"enhance": {"start": True, "headless": True}},
    ],
)
@pytest.mark.parametrize("path", ["/api/v1/loops", "/api/v1/loops/RUN/replay", "/api/v1/test-until"])
async def test_a_page_starts_what_the_workspace_has_as_it_is(
    project: EngineProject, more: dict[str, Any], path: str
) -> None:
    page = await page_of(project)
    body = {"definition": "x", "loop": "x", "output": "x", **more}
    refused = await project.http.post(path, json=body, headers=page)
    assert refused.status_code == 403 and "A page cannot set" in refused.json()["error"]


async def test_a_page_is_no_surface_where_its_owner_agrees(
    project: EngineProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = await page_of(project)
    seen: list[object] = []

    async def start(argument: dict[str, Any], user: str | None = None) -> Any:
        seen.append(argument["origin"])
        return Refused("forbidden", "no").answer()

    monkeypatch.setattr(project.engine, "start", start)
    for origin in ("cli", "editor", "mcp"):
        await project.http.post("/api/v1/loops", json={"definition": "x", "origin": origin}, headers=page)
    await project.http.post("/api/v1/loops", json={"definition": "x", "origin": "cli"})
    assert seen == ["api", "api", "api", "cli"]


# -- presence ----------------------------------------------------------------------------------------


async def test_a_page_that_listens_keeps_no_attended_run(project: EngineProject) -> None:
    page = await page_of(project)
    async with asyncio.timeout(60), project.http.stream("GET", "/api/v1/events", headers=page) as response:
        async for line in response.aiter_lines():
            if line.startswith("event: hello"):
                break
        assert project.presence.listeners == 0


async def test_a_page_that_listens_keeps_an_idle_engine() -> None:
    from loop_ls.engine.api.presence import Presence

    left = asyncio.Event()

    async def nothing() -> None: ...

    async def idle() -> bool:
        return False

    presence = Presence(teardown=nothing, busy=idle, leave=left.set, grace=None, idle=0.01)
    with presence.visiting():
        presence.start()
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.2):
                await left.wait()
    async with asyncio.timeout(30):
        await left.wait()
    await presence.aclose()
