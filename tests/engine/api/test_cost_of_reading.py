"""A question about one place of a long run reads what it answers, not what lies around it: counted in rows that are
read of the journal, in runs of two lengths."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from loop_ls.app.engine import validate
from loop_ls.engine.bodies.workflow import WorkflowProgram
from loop_ls.engine.core.ports import ModelFailure, ModelRequest
from loop_ls.engine.service import Engine
from loop_ls.engine.starting.workflow import WorkflowPreparer
from loop_ls.testing.models import ScriptedModels
from loop_ls.testing.workflows import whole
from tests.engine.api.conftest import EngineProject, opened_project

SHORT, LONG = 8, 64
EXECUTION = "execution: {provider: ollama, model: m, max_tokens: 100}\n"
WORK = """
steps:
  - {name: plan, run: "Plan {{input}}"}
  - {name: around, template: {name: review, with: {text: "{{plan}}"}}}
  - {name: final, run: "Sum up {{develop}} and {{each}} of {{loop.succeeded}}", needs: [develop, each]}
loops:
  - name: develop
    workflow: draft
    with: {before: "{{loop.last.output}}", task: "{{plan}}"}
    max_iterations: LENGTH
    on_failure: continue
    until: "It is perfect after {{loop.last.output}}"
  - name: each
    workflow: sort
    mode: iterate
    items: 'ITEMS'
    max_iterations: LENGTH
    on_failure: continue
    with: {done: "{{loop.succeeded}}", lost: "{{loop.failed}}", thing: "{{loop.current}}"}
  - name: again
    workflow: nested
    max_iterations: 2
    with: {before: "{{develop}}"}
    until: "It is perfect"
"""
FILES = {
    "draft": 'steps:\n  - {name: write, run: "Write {{task}} better than: {{before}}"}\n',
    "review": 'steps:\n  - {name: look, run: "Look at {{text}}"}\n',
    "sort": 'steps:\n  - {name: sorted, run: "Sort {{thing}} after {{done}} and {{lost}}"}\n',
    "nested": (
        "loops:\n  - name: inner\n    workflow: draft\n    max_iterations: 3\n    until: It is perfect\n"
        '    with: {before: "{{loop.history}}", task: "{{before}}"}\n'
    ),
}


LOST = {"develop/5/write", "develop/6/write", "each/2/sorted", "s/2/flaky", "l/2/flaky", "l/2.2/flaky"}


def said(request: ModelRequest) -> str | ModelFailure:
    """Some iterations and items fail, and each answer is another one."""
    if request.place in LOST or request.place.endswith("/broken"):
        return ModelFailure("refused", "no")
    if "judge" not in request.place:
        return f"<{request.place}>"
    return "YES" if "It is fine" in request.prompt and "l/3" in request.prompt else "NO"


class Reading:
    """An engine with one run of a length, and the rows of the journal that are read for a question."""

    def __init__(self, project: EngineProject, run_id: str) -> None:
        self.project, self.run_id, self.rows = project, run_id, 0
        storage: Any = project.engine.journal.storage
        for name in ("facts", "iterations", "value"):
            setattr(storage, name, self._counted(getattr(storage, name)))

    def _counted(self, read: Any) -> Any:
        def counted(*given: Any) -> Any:
            found = read(*given)
            self.rows += len(found) if isinstance(found, list) else 1
            return found

        return counted

    async def get(self, path: str) -> dict[str, Any]:
        self.rows = 0
        answer = await self.project.http.get(f"/api/v1/loops/{self.run_id}{path}")
        assert answer.status_code == 200, answer.text
        return dict(answer.json())

    async def cost(self, path: str) -> int:
        await self.get(path)
        return self.rows


@asynccontextmanager
async def run_of(
    folder: Path, length: int, work: str = EXECUTION + WORK, more: Mapping[str, str] = MappingProxyType({})
) -> AsyncIterator[Reading]:
    root, data = folder / "project", folder / "data"
    root.mkdir(parents=True)
    data.mkdir()
    work = work.replace("LENGTH", str(length)).replace("ITEMS", json.dumps([f"item {n}" for n in range(length)]))
    for name, text in {**FILES, **more}.items():
        (root / f"{name}.yaml").write_text(whole(name, EXECUTION + text))
    (root / "work.yaml").write_text(whole("work", work))
    models = ScriptedModels({}, default=said)
    preparer = WorkflowPreparer(data, validate, {})
    engine = Engine(data, {"workflow": WorkflowProgram()}, lambda plan: models, preparer, home=root)
    async with opened_project(data, engine=engine) as project:
        started = await engine.start({"root": str(root), "path": str(root / "work.yaml"), "input": "tea"})
        assert started["ok"], started
        ended = await project.ended(started["runId"])
        assert ended["status"] == ("failed" if "breaks" in work else "completed"), ended
        yield Reading(project, started["runId"])


@pytest.fixture
async def short(tmp_path: Path) -> AsyncIterator[Reading]:
    async with run_of(tmp_path / "short", SHORT) as found:
        yield found


@pytest.fixture
async def long(tmp_path: Path) -> AsyncIterator[Reading]:
    async with run_of(tmp_path / "long", LONG) as found:
        yield found


def inside(place: str, wanted: str) -> bool:
    return place == wanted or place.startswith((f"{wanted}/", f"{wanted}:"))


async def test_prompts_of_each_place_are_those_of_the_whole_that_lie_there(short: Reading) -> None:
    every = (await short.get("/prompts"))["prompts"]
    assert len(every) > 30
    places = {one["place"] for one in every}
    places |= {place.rpartition("/")[0] for place in places if "/" in place} | {"again", "each", "again/2/inner"}
    for place in sorted(places - {""}):
        found = (await short.get(f"/prompts?place={place}"))["prompts"]
        assert found == [one for one in every if inside(one["place"], place)], place
        assert found


#: Shapes of runs that have other ways through them: elements side by side, loops in steps that are tried again, loops
#: that end in the middle, with their condition, without a success or with their run, votes, and loops that hold others.
SHAPES = {
    "side by side": """
steps:
  - {name: s, run: "S {{input}}"}
  - {name: t, run: "T {{s}} {{l}}", needs: [s, l]}
loops:
  - {name: l, workflow: draft, max_iterations: 4, until: No, with: {before: "{{loop.history}}", task: "{{s}}"}}
  - {name: m, workflow: sort, mode: iterate, parallel: true, items: '["a","b","c"]', max_iterations: 9,
     with: {done: "{{loop.succeeded}}", lost: x, thing: "{{loop.current}}"}}
""",
    "loops in steps": """
steps:
  - name: s
    on_failure: retry
    max_retries: 2
    loop: {mode: refine, workflow: flaky, max_iterations: 3, until: No, with: {before: "{{loop.last.output}}"}}
  - {name: t, run: "T {{s}}", needs: [s]}
  - {name: v, needs: [t], loop: {mode: iterate, workflow: sort, items: '["a","b"]', max_iterations: 5,
     with: {done: "{{loop.succeeded}}", lost: "{{s}}", thing: "{{loop.current}}"}}}
""",
    "it is met": """
loops:
  - {name: l, workflow: draft, max_iterations: 9, until: "It is fine", with: {before: "{{loop.last.output}}", task: x}}
steps:
  - {name: t, run: "T {{l}} {{loop.iteration}} {{loop.output}} {{all}}", needs: [l]}
""".replace("max_iterations: 9,", "max_iterations: 9, accumulate: all,"),
    "it fails": """
loops:
  - {name: l, workflow: draft, max_iterations: 3, until: No, with: {before: "{{loop.last.output}}", task: x}}
  - {name: m, workflow: breaks, max_iterations: 3, until: No, with: {before: "{{l}}"}}
""",
    "tries of iterations": """
loops:
  - {name: l, workflow: flaky, max_iterations: 3, on_failure: retry, max_retries: 3, until: "No {{loop.history}}",
     with: {before: "{{loop.last.output}}"}}
  - {name: m, workflow: draft, max_iterations: 2, until: No, with: {before: "{{l}}", task: "{{loop.iteration}}"}}
""",
}
MORE = {
    "flaky": 'steps:\n  - {name: flaky, run: "Try {{before}}"}\n',
    "breaks": 'steps:\n  - {name: broken, run: "Break {{before}}"}\n',
}


@pytest.mark.parametrize("shape", SHAPES)
async def test_prompts_of_each_place_are_those_of_the_whole_in_runs_of_every_shape(tmp_path: Path, shape: str) -> None:
    parallel = "execution: {provider: ollama, model: m, max_tokens: 100, parallel: true}\n"
    begin = parallel if shape == "side by side" else EXECUTION
    async with run_of(tmp_path, 3, begin + SHAPES[shape], MORE) as run:
        every = (await run.get("/prompts"))["prompts"]
        assert len(every) > 4
        places = {one["place"] for one in every}
        for place in list(places):
            parts = place.split("/")
            places |= {"/".join(parts[:length]) for length in range(1, len(parts))}
        for place in sorted(places):
            found = (await run.get(f"/prompts?place={place}"))["prompts"]
            assert found == [one for one in every if inside(one["place"], place)], place
        for row in (await run.get("/history?limit=1000"))["history"]:
            assert (await run.get(f"/history?place={row['id']}"))["history"] == [row], row["id"]


#: Places, each of them the same distance from the end of the longer run and of the shorter one, or from the beginning.
PLACES = ["plan", "around", "final", "develop/3", "develop/LAST", "develop/LAST:judge", "develop/LAST/write", "each/3"]
PLACES += ["each/LAST", "again/1", "again/2", "again/2/inner/3"]


async def test_prompts_of_a_place_cost_the_same_in_a_long_run(short: Reading, long: Reading) -> None:
    halvings = 4 * (LONG // SHORT).bit_length()  # the last iteration of a loop that is passed over is searched for
    for place in PLACES:
        costs = []
        for run, length in ((short, SHORT), (long, LONG)):
            wanted = place.replace("LAST", str(length))
            found = (await run.get(f"/prompts?place={wanted}"))["prompts"]
            costs.append(run.rows)
            assert found and all(inside(one["place"], wanted) for one in found)
        # How many items have succeeded is counted where a prompt says it, as that of `final` does.
        counted = 2 * (LONG - SHORT) if place in ("final", "each/LAST") or place.startswith("again") else 0
        assert costs[1] <= costs[0] + halvings + counted, (place, costs)


async def test_what_lies_at_a_place_is_what_the_whole_history_says_of_it(short: Reading) -> None:
    whole_of_it = await short.get("/history?limit=1000")
    assert len(whole_of_it["history"]) > 2 * SHORT
    for row in whole_of_it["history"]:
        found = await short.get(f"/history?place={row['id']}")
        assert (found["history"], found["stages"], found["count"]) == ([row], [], 1), row["id"]
        assert (await short.get(f"/iterations/{row['id']}"))["iteration"].get("output") == row.get("output")
    assert {stage["place"] for stage in whole_of_it["stages"]} >= {"plan", "develop", "final"}
    for stage in whole_of_it["stages"]:
        found = await short.get(f"/history?place={stage['place']}")
        known = {**stage, "stage_index": found["stages"][0]["stage_index"]}
        assert (found["history"], found["stages"]) == ([], [known]), stage["place"]
    part = await short.get("/history?place=develop/3&until=4")
    assert (part["history"], part["stages"]) == ([], [])
    first = await short.get("/history?until=60&limit=2")
    assert [row["place"] for row in first["history"]] == ["develop/1", "develop/2"]
    assert first["next"] is not None


async def test_what_lies_at_a_place_costs_the_same_in_a_long_run(short: Reading, long: Reading) -> None:
    """A step is looked for in the view that is kept of its run: what was read once is not read again."""
    for place in ("develop/3", "develop/LAST", "each/LAST", "again/2", "plan", "final", "develop"):
        for path in (f"/history?place={place}", f"/iterations/{place}"):
            costs = []
            for run, length in ((short, SHORT), (long, LONG)):
                wanted = path.replace("LAST", str(length))
                if "/" not in place:
                    if path.startswith("/iterations"):
                        continue
                    await run.get(wanted)
                costs.append(await run.cost(wanted))
            assert not costs or costs[1] <= costs[0] + 200, (path, costs)


async def test_a_fork_reads_what_is_new_of_the_run_that_it_goes_on_from(long: Reading) -> None:
    await long.get("/view?limit=1")
    long.rows = 0
    answer = await long.project.http.post(f"/api/v1/loops/{long.run_id}/fork", json={"iteration": LONG + 9})
    assert answer.status_code == 400
    assert f"has finished {LONG} iterations of `develop`" in answer.text
    assert long.rows < 20
