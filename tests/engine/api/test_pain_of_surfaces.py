"""What people report of tools like this one, tried at the interface over real workflows: numbers as in the list."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from loop_ls.app.engine import validate
from loop_ls.client import EngineClient
from loop_ls.client.engine_location import Handover
from loop_ls.engine.bodies.workflow import WorkflowProgram
from loop_ls.engine.core.ports import ModelFailure
from loop_ls.engine.service import Engine
from loop_ls.engine.starting.assistant import AssistantPreparer
from loop_ls.engine.starting.by_format import ByFormat
from loop_ls.engine.starting.workflow import WorkflowPreparer
from loop_ls.testing.models import SILENCE, ScriptedModels
from loop_ls.testing.workflows import whole
from tests.engine.api.conftest import EngineProject, opened_project

LONG = 60
CYCLE = """
    execution: {provider: ollama, model: m}
    steps:
      - {name: write, run: "Write about {{topic}}. Before: {{before}}. All: {{all}}"}
      - {name: review, needs: [write], run: "Review {{write}}"}
"""
MAIN = """
    execution: {provider: ollama, model: m}
    loops:
      - name: develop
        workflow: cycle
        with: {topic: "{{input}}", before: "{{loop.last.output}}", all: "{{loop.history}}"}
        max_iterations: 10
        until: The review says PASS
"""


class StreamingModels(ScriptedModels):
    """Streams its answers line by line."""

    streamed = 0

    async def ask(self, request: Any, on_text: Any = None, on_wait: Any = None) -> Any:
        def lines(text: str) -> None:
            for line in text.splitlines(keepends=True):
                self.streamed += 1
                on_text(line)

        return await super().ask(request, lines if on_text else None, on_wait)

    def problem(self, name: str) -> ModelFailure | None:
        return None


@dataclass
class SurfaceProject:
    """A house in which real workflows run, with models that say what they are told to."""

    project: EngineProject
    client: EngineClient
    models: StreamingModels
    root: Path

    def write(self, **files: str) -> None:
        for name, text in files.items():
            (self.root / f"{name}.yaml").write_text(whole(name, text), "utf-8")

    async def start(self, path: str = "main.yaml", **more: Any) -> dict[str, Any]:
        request = {"root": str(self.root), "path": str(self.root / path), "input": "ships", "origin": "cli", **more}
        return await self.client.start(request)

    async def asked(self, name: str, count: int) -> None:
        async with asyncio.timeout(LONG):
            while len(self.models.asked(name)) < count:
                await asyncio.sleep(0.005)

    async def get(self, path: str) -> Any:
        return (await self.project.http.get(f"/api/v1/loops{path}")).json()


@pytest.fixture
async def surfaces(tmp_path: Path) -> AsyncIterator[SurfaceProject]:
    async with opened(tmp_path) as made:
        yield made


class opened:
    """A real house over a folder, as a context."""

    def __init__(self, folder: Path, models: StreamingModels | None = None) -> None:
        self.root, self.data = folder / "project", folder / "data"
        self.root.mkdir(parents=True, exist_ok=True)
        self.data.mkdir(exist_ok=True)
        self.models = models or StreamingModels({"judge": "NO", "review": "FAIL"})

    async def __aenter__(self) -> SurfaceProject:
        preparer = ByFormat(
            {
                "workflow": WorkflowPreparer(self.data, validate, {}),
                "assistant": AssistantPreparer(self.data, validate, {}),
            }
        )
        engine = Engine(self.data, {"workflow": WorkflowProgram()}, lambda plan: self.models, preparer, home=self.root)
        self._house = opened_project(self.data, engine=engine)
        project = await self._house.__aenter__()
        self._client = EngineClient(self.data, project.handover)
        surfaces = SurfaceProject(project, self._client, self.models, self.root)
        surfaces.write(main=MAIN, cycle=CYCLE)
        return surfaces

    async def __aexit__(self, *error: Any) -> None:
        await self._client.aclose()
        await self._house.__aexit__(*error)


async def test_UP_55_each_reason_not_to_start_has_its_code_its_sentence_and_what_to_do(
    surfaces: SurfaceProject,
) -> None:
    surfaces.write(broken=MAIN.replace("max_iterations", "max_iteration"))
    (surfaces.root / "off.assistant.yaml").write_text("name: Off\npersona: You write.\nloopEnabled: false\n", "utf-8")
    nobody = EngineClient(surfaces.root, Handover(9, "t", 1, "0", 1))
    answers = {
        "engine_not_ready": await nobody.start({"path": "x"}),
        "file_has_errors": await surfaces.start("broken.yaml"),
        "input_required": await surfaces.start(input=None),
        "bad_argument": await surfaces.start("off.assistant.yaml", message="x"),
    }
    for code, answer in answers.items():
        assert (answer["ok"], answer["code"]) == (False, code)
        assert answer["message"]
        assert answer["hint"], code
    assert answers["file_has_errors"]["findings"][0]["code"] == "WF006"
    assert answers["input_required"]["names"] == ["input"]
    assert "loopEnabled: true" in answers["bad_argument"]["hint"]
    assert surfaces.models.requests == []
    await nobody.aclose()


async def test_UP_62_a_new_run_knows_nothing_of_the_one_that_was_stopped(surfaces: SurfaceProject) -> None:
    surfaces.models.script["write"] = ["old one", "old two", SILENCE, "new one", "new two", SILENCE]
    first = (await surfaces.start())["runId"]
    await surfaces.asked("write", 3)
    assert (await surfaces.client.stop(first))["ok"]
    second = (await surfaces.start(input="boats"))["runId"]
    await surfaces.asked("write", 4)
    assert second != first
    state = (await surfaces.client.status(second))["state"]
    assert state["progressLog"] == []
    assert surfaces.models.prompts("write")[3] == "Write about boats. Before: . All: "
    await surfaces.asked("write", 5)
    assert "old" not in surfaces.models.prompts("write")[4]
    assert (await surfaces.get(f"/{second}/history"))["history"][0]["iteration_number"] == 1
    assert (await surfaces.client.status(first))["state"]["status"] == "cancelled"
    await surfaces.client.stop(second)


async def test_UP_63_two_folders_do_not_hear_or_stop_each_other(tmp_path: Path) -> None:
    silent = {"write": SILENCE, "judge": "NO"}
    async with (
        opened(tmp_path / "a", StreamingModels(silent)) as one,
        opened(tmp_path / "b", StreamingModels(silent)) as two,
    ):
        heard: dict[str, list[dict[str, Any]]] = {"a": [], "b": []}

        async def listen(name: str, surfaces: SurfaceProject) -> None:
            async for event in surfaces.client.follow(0):
                heard[name].append(event)
                if event["kind"] == "cancelled":
                    break

        listening = [asyncio.create_task(listen("a", one)), asyncio.create_task(listen("b", two))]
        ours, theirs = (await one.start())["runId"], (await two.start())["runId"]
        await one.asked("write", 1)
        await two.asked("write", 1)
        stopped = await one.client.stop("all")
        assert [row["runId"] for row in stopped["runs"]] == [ours]
        await asyncio.wait_for(listening[0], LONG)
        assert (await two.client.status(theirs))["state"]["status"] == "running"
        assert (await one.client.status(theirs))["code"] == "not_found"
        await two.client.stop(theirs)
        await asyncio.wait_for(listening[1], LONG)
    assert {event["runId"] for event in heard["a"]} == {ours}
    assert {event["runId"] for event in heard["b"]} == {theirs}
    for name, events in heard.items():
        assert events[0]["kind"] == "run_started"
        assert Path(events[0]["root"]) == tmp_path / name / "project"


async def test_UP_66_a_stopped_run_has_its_totals(surfaces: SurfaceProject) -> None:
    surfaces.models.script["write"] = ["one", "two", "three", SILENCE]
    run_id = (await surfaces.start())["runId"]
    await surfaces.asked("write", 4)
    await surfaces.client.stop(run_id)
    state = (await surfaces.client.status(run_id))["state"]
    assert (state["status"], state["reason"], state["iteration"]) == ("cancelled", "user", 4)
    assert state["calls"] == 9, "three rounds of two steps and a question"
    assert state["tokens"]["input"] > 0
    assert state["verdict"]["verdict"] == "no"
    assert state["lastOutput"] == "FAIL"
    history = await surfaces.get(f"/{run_id}/history")
    assert [row["status"] for row in history["history"]] == ["needs_rework"] * 3 + ["cancelled"]
    assert all(row["duration_seconds"] >= 0 for row in history["history"])
    assert [row["completed_stage_count"] for row in history["history"]] == [2, 2, 2, 0]
    metrics = await surfaces.get(f"/{run_id}/metrics")
    assert metrics["iterations"] == {"total": 4, "by_status": {"needs_rework": 3, "cancelled": 1}}
    assert metrics["calls"] == 9


async def test_UP_75_all_views_show_the_same_number_and_none_is_ahead_of_the_record(surfaces: SurfaceProject) -> None:
    surfaces.models.script["judge"] = ["NO", "YES"]
    kept: list[dict[str, Any]] = []

    async def listen() -> None:
        async for event in surfaces.client.follow(0):
            kept.append(event)
            if sum(event["kind"] == "completed" for event in kept) == 2:
                break

    listening = asyncio.create_task(listen())
    runs = [(await surfaces.start())["runId"] for _ in range(2)]
    while not listening.done():
        for run_id in runs:
            shown = (await surfaces.client.status(run_id))["state"]["lastSeq"]
            events = (await surfaces.client.events(run_id, 0, 1000))["events"]
            assert shown <= events[-1]["seq"], "what is shown is in the record"
        await asyncio.sleep(0)
    for run_id in runs:
        numbers = {
            "list": next(s["lastSeq"] for s in (await surfaces.client.runs())["runs"] if s["runId"] == run_id),
            "status": (await surfaces.client.status(run_id))["state"]["lastSeq"],
            "row": (await surfaces.get(f"/{run_id}"))["loop"]["state"]["lastSeq"],
            "history": (await surfaces.get(f"/{run_id}/history"))["state"]["lastSeq"],
            "record": (await surfaces.client.events(run_id, 0, 1000))["events"][-1]["seq"],
            "stream": max(event.get("seq", 0) for event in kept if event["runId"] == run_id),
        }
        assert len(set(numbers.values())) == 1, numbers


async def test_UP_77_thousands_of_lines_come_gathered_and_in_pages(surfaces: SurfaceProject) -> None:
    """Streamed text is gathered; facts come in pages, whole and in order, and a question is still answered."""

    def chatty(request: Any) -> str:
        return "line of the log\n" * 40

    surfaces.models.script |= {"write": [chatty], "review": [chatty]}
    surfaces.write(main=MAIN.replace("max_iterations: 10", "max_iterations: 100"))
    texts, facts = 0, []
    run_id = (await surfaces.start())["runId"]
    slowest = 0.0
    async for event in surfaces.client.follow(0, run_id):
        if event["kind"] == "text":
            texts += 1
            continue
        facts.append(event["seq"])
        if event["kind"] == "iteration" and event["iteration"] % 25 == 0:
            began = asyncio.get_running_loop().time()
            assert (await surfaces.client.status(run_id))["ok"]
            slowest = max(slowest, asyncio.get_running_loop().time() - began)
        if event["kind"] in ("completed", "failed"):
            break
    assert facts == list(range(1, len(facts) + 1))
    assert surfaces.models.streamed >= 100 * 2 * 40
    assert texts <= len(surfaces.models.requests), "one message holds all that came meanwhile"
    assert slowest < 20
    paged: list[int] = []
    after: int | None = 0
    while after is not None:
        page = await surfaces.client.events(run_id, after, 100)
        assert len(page["events"]) <= 100
        paged += [event["seq"] for event in page["events"]]
        after = page["next"]
    assert paged == facts


async def test_UP_78_the_prompt_of_every_step_and_question_can_be_read_from_the_record(
    surfaces: SurfaceProject,
) -> None:
    """Nothing is asked again for it; while the run goes on, its last prompt is there already."""
    surfaces.models.script |= {"write": ["one", "two", SILENCE], "judge": ["NO", "NO"]}
    run_id = (await surfaces.start())["runId"]
    await surfaces.asked("write", 3)
    asked = [(request.place, request.prompt) for request in surfaces.models.requests]
    answer = await surfaces.client.prompts(run_id)
    assert answer["ok"], answer
    assert [(row["place"], row["prompt"]) for row in answer["prompts"]] == asked
    assert [row["purpose"] for row in answer["prompts"]][:3] == ["step", "step", "judge"]
    second = await surfaces.client.prompts(run_id, "develop/2")
    assert [row["place"] for row in second["prompts"]] == ["develop/2/write", "develop/2/review", "develop/2:judge"]
    assert "Before: FAIL" in second["prompts"][0]["prompt"]
    before = (await surfaces.client.status(run_id))["state"]["lastSeq"]
    assert len(surfaces.models.requests) == 7, "nobody was asked for it"
    await surfaces.client.stop(run_id)
    facts = (await surfaces.client.events(run_id, before, 100))["events"]
    assert [event["kind"] for event in facts] == ["stopping", "cancelled"], "and nothing was written for it"
    assert len((await surfaces.client.prompts(run_id))["prompts"]) == 7
    assert (await surfaces.client.prompts("nowhere"))["code"] == "not_found"


async def test_UP_80_whoever_listens_hears_that_the_engine_is_gone_and_sees_the_truth_when_it_is_back(
    tmp_path: Path,
) -> None:
    silent = StreamingModels({"write": ["one", SILENCE], "review": "FAIL", "judge": "NO"})
    connection: list[bool] = []
    lost, back = asyncio.Event(), asyncio.Event()
    seen: list[dict[str, Any]] = []

    def told(up: bool) -> None:
        connection.append(up)
        (back if up and lost.is_set() else lost if not up else asyncio.Event()).set()

    async with opened(tmp_path, silent) as first:
        run_id = (await first.start())["runId"]
        client = EngineClient(first.project.folder.path, first.project.handover)

        async def listen() -> None:
            async for event in client.follow(0, run_id, told):
                if event["kind"] != "text":
                    seen.append(event)
                if event["kind"] == "completed":
                    break

        listening = asyncio.create_task(listen())
        await first.asked("write", 2)
    await asyncio.wait_for(lost.wait(), LONG)
    done = StreamingModels({"write": "two", "review": "PASS", "judge": "YES"})
    async with opened(tmp_path, done) as second:
        await asyncio.wait_for(listening, LONG)
        state = (await second.client.status(run_id))["state"]
    assert connection[:3] == [True, False, True]
    assert [event["seq"] for event in seen] == list(range(1, len(seen) + 1)), "no gap and nothing twice"
    assert any(event["kind"] == "recovered" for event in seen)
    assert (state["status"], state["reason"], state["lastSeq"]) == ("completed", "condition_met", seen[-1]["seq"])
    await client.aclose()


async def test_UP_84_a_long_output_is_cut_in_lists_and_whole_where_it_is_asked_for(surfaces: SurfaceProject) -> None:
    long = "0123456789abcdef" * 327_680  # 5 MiB
    surfaces.models.script |= {"review": [long, "PASS"], "judge": ["NO", "YES"]}
    surfaces.write(cycle=CYCLE.replace("Before: {{before}}. All: {{all}}", "Again"))
    run_id = (await surfaces.start())["runId"]
    outputs = {}
    async for event in surfaces.client.follow(0, run_id):
        if event["kind"] == "iteration":
            outputs[event["iteration"]] = event["output"]
            listed = await surfaces.project.http.get("/api/v1/loops")
            assert len(listed.content) < 50_000
        if event["kind"] == "completed":
            break
    assert outputs == {1: long, 2: "PASS"}, "later rounds are shown after a long one"
    history = (await surfaces.get(f"/{run_id}/history"))["history"]
    assert [row["output"] for row in history] == [long, "PASS"]
    [row] = (await surfaces.get(""))["loops"]
    assert row["state"]["lastOutput"] == "PASS"


async def test_a_stream_reads_on_where_a_browser_left_it(surfaces: SurfaceProject) -> None:
    """`Last-Event-ID` over a real run: the second half is exactly what the first did not have."""
    surfaces.models.script["judge"] = ["NO", "YES"]
    run_id = (await surfaces.start())["runId"]
    await surfaces.project.ended(run_id)

    async def ids(headers: dict[str, str]) -> list[str]:
        found: list[str] = []
        query = f"/api/v1/events?after=0&run={run_id}"
        try:
            async with surfaces.project.http.stream("GET", query, headers=headers, timeout=LONG) as response:
                async for line in response.aiter_lines():
                    if line.startswith("id: "):
                        found.append(line[4:])
                    if line.startswith("data:") and json.loads(line[5:]).get("kind") == "completed":
                        return found
        except httpx.ReadTimeout:
            raise AssertionError(f"no end after {found}") from None
        return found

    everything = await ids({})
    rest = await ids({"Last-Event-ID": everything[3]})
    assert rest[-len(everything[4:]) :] == everything[4:]
    assert everything[3] not in rest[1:]
