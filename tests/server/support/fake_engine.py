"""An engine that is none: runs are scripted by their input, facts come as a real engine sends them.

`loopLs.run` with `input='{"iterations": 3, "yes": 3}'` runs three iterations of the target loop and says
YES in the third. More words of the script: `hold` (stop before this iteration until resumed), `texts`
(streamed pieces per iteration), `lose` (numbers of facts that the stream never delivers), `double`
(every fact twice), `echo` (tell which texts came), `consent`, `refuse` (a code), `cut` (the stream
breaks before this fact), `asks` (wait for a person in this
iteration), `noise` (bytes printed to standard output), `fails` (so many attempts, then the run).
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

from loop_ls.client import EngineUnavailable
from loop_ls.contract.operations import OPERATIONS
from loop_ls.contract.run_view.fold import folded
from loop_ls.engine.events import Event, RunState, fold
from loop_ls.engine.projections.history import iterations

Json = dict[str, Any]


_OVERLOADED: Json = {"code": "server_error", "message": "The provider is overloaded.", "hint": "Try again later."}


class FakeRun:
    def __init__(self, run_id: str, args: Json) -> None:
        self.run_id, self.args = run_id, args
        self.script: Json = json.loads(args.get("input") or "{}")
        self.facts: list[Event] = []
        self.state = RunState(run_id)
        self.go = asyncio.Event()
        self.stopped = False
        self.decided: asyncio.Future[Json] | None = None
        self.task: asyncio.Task[None] | None = None


class FakeEngine:
    """One for each root. `older`: it has runs from before, and lists runs only after somebody follows the next one."""

    def __init__(self, older: bool = False) -> None:
        self.older, self.followed = older, asyncio.Event()
        self.runs: dict[str, FakeRun] = {}
        self.sent: list[tuple[FakeRun, Event]] = []
        self.news = asyncio.Condition()
        self.position = 0
        self.started = 0
        self.gone = False
        self.cuts: set[tuple[str, int]] = set()

    # -- the client's operations --------------------------------------------------------------

    async def start(self, args: Json) -> Json:
        run = FakeRun(f"run{len(self.runs) + 1}", args)
        if code := run.script.get("refuse"):
            return {"ok": False, "code": code, "message": "The engine refuses.", "hint": "Do something else."}
        if run.script.get("consent") and args.get("consent") != "proof of n1":
            listed = ["starts `rm -rf build`", "sends data to example.org, with the value of KEY"]
            asked = {"capabilities": listed, "nonce": "n1"}
            return {"ok": False, "code": "consent_required", "message": "Consent.", "hint": "", "digest": "d1", **asked}
        if size := run.script.get("noise"):
            print("hi")
            os.write(1, b"x" * size)
            subprocess.run([sys.executable, "-c", "print('child')"], check=True)
        self.runs[run.run_id] = run
        run.task = asyncio.create_task(self._run(run))
        return {"ok": True, "runId": run.run_id}

    def agree(self, answer: Json) -> str:
        return f"proof of {answer['nonce']}"

    async def stop(self, run_id: str) -> Json:
        return await self._control(run_id, "stopping")

    async def pause(self, run_id: str) -> Json:
        return await self._control(run_id, "paused")

    async def resume(self, run_id: str) -> Json:
        return await self._control(run_id, "resumed")

    async def approve(
        self, run_id: str, loop_id: str | None, approved: bool | None, decision: Any = None, feedback: Any = None
    ) -> Json:
        run = self.runs[run_id]
        if run.decided is None or run.decided.done():
            return {"ok": False, "code": "wrong_status", "message": "Nobody is asked.", "hint": ""}
        resolved = {"loopId": loop_id, "approved": approved} | ({} if decision is None else {"decision": decision})
        run.decided.set_result(resolved)
        return {"ok": True, "resolved": resolved}

    async def fork(self, run_id: str, iteration: int | None = None, **given: Any) -> Json:
        if run_id not in self.runs:
            return _unknown(run_id)
        return await self.start({**self.runs[run_id].args, "forked": [run_id, iteration]})

    async def replay(self, run_id: str, args: Json | None = None) -> Json:
        if run_id not in self.runs:
            return _unknown(run_id)
        return await self.start({**self.runs[run_id].args, **(args or {})})

    async def test_until(self, args: Json) -> Json:
        texts = args.get("texts") or {}
        return {"ok": True, "verdicts": [{"verdict": "yes"}], "asked": {**args, "texts": sorted(texts.values())}}

    async def delete(self, run_id: str) -> Json:
        return {"ok": True, "runId": run_id} if self.runs.pop(run_id, None) else _unknown(run_id)

    async def export(self, run_id: str) -> Json:
        run = self.runs.get(run_id)
        return _unknown(run_id) if run is None else {"ok": True, "run": {"facts": [one.wire() for one in run.facts]}}

    async def metrics(self, run_id: str) -> Json:
        run = self.runs.get(run_id)
        return _unknown(run_id) if run is None else {"ok": True, "loop_id": run_id, "status": run.state.status}

    async def status(self, run_id: str) -> Json:
        run = self.runs.get(run_id)
        self.followed.set()
        return _unknown(run_id) if run is None else {"ok": True, "state": run.state.wire(time.time())}

    async def listed(self, status: str | None, uri: str | None, limit: int | None) -> Json:
        if self.older:
            await self.followed.wait()
            newest = next(reversed(self.runs.values()))
            self.runs = {**{f"old{n}": _ended(f"old{n}", newest.args, n) for n in range(3)}, **self.runs}
        states = [run.state.wire() for run in reversed(self.runs.values())]
        found = [s for s in states if (not status or s["status"] == status) and (not uri or s.get("uri") == uri)]
        return {"ok": True, "runs": found[:limit]}

    async def events(self, run_id: str, after: int, limit: int | None) -> Json:
        run = self.runs.get(run_id)
        if run is None:
            return _unknown(run_id)
        found = [event.wire() for event in run.facts if event.seq > after][: limit or 100]
        return {"ok": True, "events": found, "next": found[-1]["seq"] if found else after}

    async def engine_status(self) -> Json:
        return {
            "ok": True,
            "engine": {"version": "0", "position": self.position, "running": True, "started": self.started},
        }

    async def follow(self, after: int | None, on_connection: Callable[[bool], None] | None) -> AsyncIterator[Json]:
        at = len(self.sent) if after is None else sum(1 for _, e in self.sent if e.position and e.position <= after)
        while True:
            async with self.news:
                while at >= len(self.sent):
                    await self.news.wait()
            run, event = self.sent[at]
            at += 1
            if event.seq in run.script.get("lose", ()):
                continue
            if event.seq == run.script.get("cut") and (run.run_id, event.seq) not in self.cuts:
                self.cuts.add((run.run_id, event.seq))
                if on_connection is not None:
                    on_connection(False)
                    await asyncio.sleep(0)
                    on_connection(True)
            yield event.wire()
            if run.script.get("double") and event.seq:
                yield event.wire()

    # -- runs ---------------------------------------------------------------------------------

    async def _control(self, run_id: str, kind: str) -> Json:
        runs = list(self.runs.values()) if run_id == "all" else [r for r in self.runs.values() if r.run_id == run_id]
        if not runs and run_id != "all":
            return _unknown(run_id)
        for run in runs:
            if run.state.ended:
                continue
            await self._say(run, kind, cause="user" if kind == "stopping" else None)
            run.stopped = run.stopped or kind == "stopping"
            if kind != "paused":
                run.go.set()
        return {"ok": True, "runs": [{"runId": run.run_id, "status": run.state.status} for run in runs]}

    async def _say(self, run: FakeRun, kind: str, **body: Any) -> None:
        body = {name: value for name, value in body.items() if value is not None}
        if kind == "text":
            event = Event(run.run_id, 0, time.time(), kind, body)
        else:
            self.position += 1
            event = Event(run.run_id, len(run.facts) + 1, time.time(), kind, body, self.position)
            run.facts.append(event)
            run.state = fold([event], run.state)
        async with self.news:
            self.sent.append((run, event))
            self.news.notify_all()

    async def _run(self, run: FakeRun) -> None:
        args, script = run.args, run.script
        target = args.get("target") or {"kind": "workflow"}
        loop = target.get("name") or script.get("loop", "refine")
        path = Path(args["path"]).relative_to(args["root"]).as_posix() if "path" in args else None
        await self._say(
            run, "run_started", format="workflow", name="flow", target=target, uri=args.get("uri"), path=path,
            origin="editor", texts=args["texts"] if script.get("echo") else None,
        )  # fmt: skip
        most = script.get("iterations", 3)
        await self._say(run, "step_started", step=loop, mode="loop", condition="Good", maxIterations=most)
        for iteration in range(1, most + 1):
            if script.get("hold") == iteration:
                await run.go.wait()
            if run.stopped:
                await self._say(run, "cancelled", cause="user", totalIterations=iteration - 1)
                return
            place = f"{loop}/{iteration}"
            await self._say(run, "iteration_started", loop=loop, iteration=iteration, maxIterations=most, place=place)
            for attempt in range(script.get("fails", 0)):
                await self._say(
                    run, "retrying", loop=loop, iteration=iteration, attempt=attempt + 1, because=_OVERLOADED
                )
            if script.get("fails"):
                await self._say(run, "step_failed", step=loop, mode="loop", error=_OVERLOADED, totalIterations=0)
                await self._say(run, "failed", error=_OVERLOADED, cause=loop, iteration=iteration, totalIterations=0)
                return
            for number in range(script.get("texts", 0)):
                await self._say(run, "text", loop=loop, iteration=iteration, text=f"{number} ")
                await asyncio.sleep(0.002)
            await self._say(
                run, "iteration", loop=loop, iteration=iteration, output=f"draft {iteration}", maxIterations=most,
                place=place,
            )  # fmt: skip
            if script.get("asks") == iteration:
                touched = script.get("touched")
                output = "The agent touched a protected file: a (changed).\n\n- a: changed" if touched else "a draft"
                more = {"protected": touched} if touched else {}
                await self._say(
                    run,
                    "manual_approval_required",
                    loopId=loop,
                    iteration=iteration,
                    output=output,
                    place=place,
                    **more,
                )
                run.decided = asyncio.get_running_loop().create_future()
                decided = await run.decided
                await self._say(run, "approval_resolved", **decided, place=place)
            yes = iteration == script.get("yes")
            await self._say(
                run, "judged", loop=loop, iteration=iteration, criterion="until", condition="Good",
                verdict="yes" if yes else "no", answer="YES" if yes else "NO", outputRef=place, place=place,
            )  # fmt: skip
            if yes:
                break
        reason = "condition_met" if yes else "max_iterations"
        await self._say(
            run, "step_completed", step=loop, mode="loop", output="x", reason=reason, totalIterations=iteration
        )
        await self._say(run, "completed", reason=reason, totalIterations=iteration, finalOutput=f"draft {iteration}")


def _ended(run_id: str, args: Json, moment: float) -> FakeRun:
    """A run of long ago."""
    run = FakeRun(run_id, {**args, "input": "{}"})
    target = args.get("target")
    said: list[tuple[str, Json]] = [
        ("run_started", {"format": "workflow", "name": "flow", "target": target, "uri": args.get("uri")}),
        ("step_started", {"step": "refine", "mode": "loop", "condition": "Good", "maxIterations": 3}),
        ("iteration_started", {"loop": "refine", "iteration": 1, "maxIterations": 3, "place": "refine/1"}),
        ("step_completed", {"step": "refine", "mode": "loop", "output": "x", "reason": "max_iterations"}),
        ("completed", {"reason": "max_iterations", "totalIterations": 3}),
    ]
    run.facts = [Event(run_id, seq, moment, kind, body) for seq, (kind, body) in enumerate(said, 1)]
    run.state = fold(run.facts)
    return run


def _unknown(run_id: str) -> Json:
    return {"ok": False, "code": "not_found", "message": f"Unknown run `{run_id}`.", "hint": ""}


class FakeClient:
    """What the server holds; several may share one engine."""

    name = "editor/fake"

    def __init__(self, engine: FakeEngine) -> None:
        self._engine = engine
        self.start, self.stop, self.pause, self.resume = engine.start, engine.stop, engine.pause, engine.resume
        self.status, self.engine_status = engine.status, engine.engine_status
        self.approve, self.fork, self.replay = engine.approve, engine.fork, engine.replay
        self.test_until, self.delete, self.agree = engine.test_until, engine.delete, engine.agree

    async def call(self, name: str, run_id: str) -> Json:
        """An operation about one run that nothing else has to be said to."""
        assert OPERATIONS[name].request is None, name
        operations = {"delete": self.delete, "export": self._engine.export, "metrics": self._engine.metrics}
        return await operations[name](run_id)

    async def runs(self, status: str | None = None, uri: str | None = None, limit: int | None = None) -> Json:
        return await self._engine.listed(status, uri, limit)

    async def events(self, run_id: str, after: int = 0, limit: int | None = None, cut: int | None = None) -> Json:
        return await self._engine.events(run_id, after, limit)

    async def history(self, run_id: str, **part: Any) -> Json:
        status, told = await self.status(run_id), await self._engine.events(run_id, 0, 1000)
        if not status["ok"]:
            return status
        rows = iterations(run_id, told["events"])
        place = part.get("place")
        kept = [row for row in rows if place in (None, row["id"])]
        return {"ok": True, "state": status["state"], "history": kept, "stages": [], "count": len(kept)}

    async def prompts(self, run_id: str, place: str | None = None) -> Json:
        if place is None or not place.startswith("pair/"):
            return {"ok": False, "code": "bad_argument", "message": "There are no prompts.", "hint": ""}
        row = {"place": f"{place}/write", "purpose": "stage", "provider": "ollama", "model": "small"}
        return {"ok": True, "prompts": [{**row, "prompt": "# pair", "system": "You are the coder."}], "count": 1}

    async def artifact(self, run_id: str, artifact: str) -> Json:
        if artifact != "plan":
            return {"ok": False, "code": "not_found", "message": f"There is no `{artifact}`.", "hint": ""}
        return {"ok": True, "runId": run_id, "artifact": {"id": "a1", "title": "plan"}, "content": "# Plan"}

    async def view(self, run_id: str, after: int = 0, limit: int | None = None) -> Json:
        status, told = await self.status(run_id), await self._engine.events(run_id, 0, 1000)
        return {**status, **folded(told["events"]).patch(after, limit)} if status["ok"] else status

    async def graph(self, run_id: str, place: str | None = None) -> Json:
        return {"ok": True, "nodes": [{"name": place or "refine", "kind": "loop", "mode": "refine", "needs": []}]}

    def follow(
        self,
        after: int | None = None,
        run_id: str | None = None,
        on_connection: Callable[[bool], None] | None = None,
    ) -> AsyncIterator[Json]:
        return self._engine.follow(after, on_connection)

    async def engine_stop(self) -> Json:
        self._engine.gone = True
        return {"ok": True}

    async def aclose(self) -> None:
        return None


class FakeEngineAccess:
    """Opens one fake engine per root. `down`: there is none and none can be started; `older` as `FakeEngine` has it."""

    def __init__(self, down: bool = False, older: bool = False) -> None:
        self.down, self.older = down, older
        self.engines: dict[str, FakeEngine] = {}

    async def connect(self, root: Path, data_dir: str | None) -> FakeClient:
        if self.down:
            raise EngineUnavailable("The engine cannot be started: no space left.", "Make room.")
        engine = self.engines.setdefault(str(root), FakeEngine(self.older))
        engine.started += 1
        engine.gone = False
        return FakeClient(engine)

    async def find(self, root: Path, data_dir: str | None) -> FakeClient | None:
        engine = self.engines.get(str(root))
        return None if engine is None or engine.gone else FakeClient(engine)

    async def handover(self, root: Path, data_dir: str | None) -> Path | None:
        return None

    async def recorded(self, root: Path, data_dir: str | None) -> bool:
        return True
