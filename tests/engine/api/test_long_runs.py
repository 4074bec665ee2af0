"""Reading a long run costs what is shown of it, not what it has gone through: counted in facts that are read."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from loop_ls.client.session import EngineClient
from loop_ls.engine.projections.kept_views import FACTS as SLICE
from tests.engine.api.conftest import EngineProject, opened_project

ITERATIONS = 300


class Long:
    def __init__(self, project: EngineProject, run_id: str) -> None:
        self.project, self.run_id, self.read = project, run_id, 0
        facts = project.engine.journal.storage.facts

        def counted(*given: Any) -> Any:
            rows = facts(*given)
            self.read += len(rows)
            return rows

        project.engine.journal.storage.facts = counted  # type: ignore[method-assign]

    async def get(self, path: str) -> dict[str, Any]:
        self.read = 0
        answer = await self.project.http.get(f"/api/v1/loops/{self.run_id}{path}")
        assert answer.status_code == 200, answer.text
        return dict(answer.json())


@pytest.fixture
async def long(tmp_path: Path) -> AsyncIterator[Long]:
    async with opened_project(tmp_path) as project:
        run_id = await project.run(ITERATIONS)
        await project.ended(run_id)
        yield Long(project, run_id)


async def test_a_loop_and_one_iteration_of_it_are_read_without_the_others(long: Long) -> None:
    shown = await long.get("")
    assert shown["iteration"]["place"] == f"develop/{ITERATIONS}"
    assert long.read < 30
    for name, number in (("develop/7", 7), ("150", 150), (f"develop/{ITERATIONS}", ITERATIONS)):
        found = await long.get(f"/iterations/{name}")
        assert (found["iteration"]["iteration_number"], found["iteration"]["status"]) in (
            (number, "needs_rework"),
            (number, "completed"),
        )
        assert found["iteration"]["output"] == f"output {number}"
        assert long.read < 250


async def test_pages_of_a_history_are_its_whole_once(long: Long) -> None:
    first = await long.get("/history")
    assert (first["count"], long.read < 1000) == (50, True)
    found, after = list(first["history"]), first["next"]
    while after is not None:
        page = await long.get(f"/history?limit=70&after={after}")
        assert long.read < 1000
        found += page["history"]
        after = page["next"]
    assert [row["iteration_number"] for row in found] == list(range(1, ITERATIONS + 1))
    assert all(row["verdict"] in ("yes", "no") and row["status"] != "running" for row in found)
    listed = await long.get("/iterations?limit=1000")
    assert (listed["count"], listed["next"]) == (ITERATIONS, None)


async def test_a_client_that_wants_all_of_a_history_gets_it(long: Long) -> None:
    client = EngineClient(Path(long.project.folder.path), long.project.handover)  # type: ignore[arg-type]
    whole = await client.history(long.run_id)
    assert (whole["count"], whole["next"]) == (ITERATIONS, None)
    assert len({row["id"] for row in whole["history"]}) == ITERATIONS
    await client.aclose()


async def test_metrics_that_are_asked_for_again_read_only_what_is_new(long: Long) -> None:
    first = await long.get("/metrics")
    assert first["iterations"]["total"] == ITERATIONS
    assert long.read >= ITERATIONS
    again = await long.get("/metrics")
    assert long.read < SLICE
    assert again == first


async def test_a_view_is_told_in_pages_and_then_only_what_is_new_is_read(long: Long) -> None:
    rows: dict[str, dict[str, Any]] = {}
    page = await long.get("/view?limit=100")
    while True:
        rows |= {row["id"]: row for row in page["rows"]}
        if not page.get("more"):
            break
        page = await long.get(f"/view?limit=100&after={page['seq']}")
        assert long.read < SLICE
    assert [row["number"] for row in sorted(rows.values(), key=lambda row: row["first"])] == [*range(1, ITERATIONS + 1)]
    assert all(row["verdict"] in ("yes", "no") and row["excerpt"] for row in rows.values())
    assert page["seq"] == page["state"]["lastSeq"]
    again = await long.get(f"/view?after={page['seq']}")
    assert (again["rows"], long.read < SLICE) == ([], True)
