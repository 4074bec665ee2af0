"""Enhance loops over HTTP: only the editor that holds the file says what became of an edit; who is late hears so."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from loop_ls.app.engine import build
from loop_ls.engine.core.users import Tokens
from loop_ls.engine.enhance import speaker
from loop_ls.text.json_value import as_object
from tests.engine.api.conftest import opened_project
from tests.engine.enhance.loops import THREE, applied
from tests.engine.enhance.test_real_engine import EngineProject, SameModels, ended, sent_by, until

Json = dict[str, Any]
HOLDER, OTHER = {"Loop-Ls-Client": "editor/held"}, {"Loop-Ls-Client": "editor/other"}
PAUSING = "assist: {provider: acme, model: wise}\nenhance: {pauseBetweenRounds: true}\n"
LOOPS = "/api/v1/loops"


class Served:
    def __init__(self, project: EngineProject, http: httpx.AsyncClient) -> None:
        self.project, self.http, self.engine = project, http, project.engines[-1]

    async def start(self, **headers: str) -> str:
        argument = {
            "root": str(self.project.root),
            "path": str(self.project.file),
            "input": "tea",
            "enhance": {"start": True, "editor": True},
        }
        answer = await self.http.post(LOOPS, json=argument, headers=headers)
        assert answer.status_code == 201, answer.text
        return str(answer.json()["runId"])

    async def tell(self, run_id: str, verb: str, given: Json, **headers: str) -> tuple[int, Json]:
        answer = await self.http.post(f"{LOOPS}/{run_id}/enhance/{verb}", json=given, headers=headers)
        return answer.status_code, answer.json()

    @asynccontextmanager
    async def listening(self, **headers: str) -> AsyncIterator[None]:
        async with self.http.stream("GET", "/api/v1/events", headers=headers) as stream:
            lines = stream.aiter_lines()
            assert await anext(lines)
            yield

    async def applied(self, run_id: str) -> Json:
        sent = await sent_by(self.engine, run_id)
        return {"planId": sent["planId"], "outcome": "applied", "text": applied(THREE, sent)}


@pytest.fixture
async def served(tmp_path: Path) -> AsyncIterator[Served]:
    project = EngineProject(tmp_path)
    engine = build(project.data, SameModels(project.models), project.root)  # type: ignore[arg-type]
    project.engines.append(engine)
    async with opened_project(project.data, engine=engine) as opened:
        yield Served(project, opened.http)


async def test_EB_137_nobody_but_the_editor_says_that_an_edit_is_there(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(speaker, "ARRIVES_IN", 0.05)
    run_id = await served.start(**HOLDER)
    told = await served.applied(run_id)
    for other in ({}, {"Loop-Ls-Client": "cli"}, OTHER, {"Loop-Ls-Client": "editor/"}):
        status, answer = await served.tell(run_id, "acknowledge", told, **other)
        assert (status, answer["code"]) == (403, "forbidden"), other
        assert "Only the editor that has the file" in answer["error"]
    await until(served.engine, run_id, lambda state: state["question"]["kind"] == "edit_sent")
    assert (await served.tell(run_id, "acknowledge", told, **HOLDER))[0] == 200
    assert (await until(served.engine, run_id, ended))["reason"] == "converged"
    [started, *_] = await served.engine.facts_of(run_id)
    assert "held" not in str(as_object(started.body["plan"])["holder"])


async def test_EB_137_an_editor_that_was_reloaded_speaks_for_the_file_while_it_listens(served: Served) -> None:
    run_id = await served.start(**HOLDER)
    told = await served.applied(run_id)
    async with served.listening(**OTHER):
        assert (await served.tell(run_id, "acknowledge", told, **OTHER))[0] == 200
    assert (await until(served.engine, run_id, ended))["reason"] == "converged"


async def test_EB_137_an_editor_that_was_reloaded_may_speak_before_it_listens(served: Served) -> None:
    run_id = await served.start(**HOLDER)
    told = await served.applied(run_id)
    speaking = asyncio.ensure_future(served.tell(run_id, "acknowledge", told, **OTHER))
    async with served.listening(**OTHER):
        assert (await speaking)[0] == 200


async def test_EB_137_no_admin_speaks_for_the_editor_of_another_user(served: Served) -> None:
    _, token = Tokens(served.project.data).create("ann", "admin")
    run_id = await served.start(**HOLDER)
    told = await served.applied(run_id)
    ann = {"Authorization": f"Bearer {token}"}
    async with served.listening(**HOLDER, **ann):
        status, answer = await served.tell(run_id, "acknowledge", told, **HOLDER, **ann)
    assert (status, "belongs to another user" in answer["error"]) == (403, True)


async def test_EB_137_a_pause_is_answered_from_everywhere_but_its_text_by_the_editor(served: Served) -> None:
    (served.project.root / ".loop-ls.yaml").write_text(PAUSING)
    run_id = await served.start(**HOLDER)
    await until(served.engine, run_id, lambda state: state["status"] == "paused")
    status, answer = await served.tell(run_id, "choose", {"choice": "skip", "text": "steps: []"})
    assert (status, "report the text of the document" in answer["error"]) == (403, True)
    assert (await served.tell(run_id, "choose", {"choice": "continue"}, **{"Loop-Ls-Client": "cli"}))[0] == 200
    told = await served.applied(run_id)
    assert (await served.tell(run_id, "acknowledge", told, **HOLDER))[0] == 200
    assert (await until(served.engine, run_id, ended))["reason"] == "converged"


async def test_EB_137_of_two_answers_at_once_the_second_hears_who_was_first(served: Served) -> None:
    (served.project.root / ".loop-ls.yaml").write_text(PAUSING)
    run_id = await served.start(**HOLDER)
    await until(served.engine, run_id, lambda state: state["status"] == "paused")
    answers = await asyncio.gather(
        served.tell(run_id, "choose", {"choice": "skip"}, **{"Loop-Ls-Client": "cli"}),
        served.tell(run_id, "choose", {"choice": "skip"}, **{"Loop-Ls-Client": "cli"}),
    )
    assert sorted(status for status, _ in answers) == [200, 409]
    [late] = [answer for status, answer in answers if status == 409]
    assert "The first answer was `skip`, given on the command line" in late["error"], late
    status, late = await served.tell(run_id, "choose", {"choice": "continue"})
    assert (status, "The first answer was `skip`, given on the command line" in late["error"]) == (409, True), late


async def test_a_loop_whose_starter_said_no_name_is_answered_by_its_user(served: Served) -> None:
    run_id = await served.start()
    assert (await served.tell(run_id, "acknowledge", await served.applied(run_id)))[0] == 200
