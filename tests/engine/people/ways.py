"""The ways in which a run waits for a person: how one begins to, what is answered, and what that leads to."""

from __future__ import annotations

import asyncio
import json
import sys
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

from loop_ls.client import EngineClient, find
from tests.cli.conftest import CliProject

Json = dict[str, Any]
PORT = "the port is 5433"

_ASSISTANT = (
    "name: Writer\npersona: You write.\nprovider: openai\nloopEnabled: true\n"
    'loopCriteria: {type: manual, value: ""}\nmaxIterations: 5\n'
)
#: Its agent edits a protected file in each turn.
_TOUCHING = (
    "name: Toucher\npersona: You touch.\nprovider: claude-code\nloopEnabled: true\n"
    "loopCriteria: {type: max_iterations}\nmaxIterations: 1\n"
)
_AGENT = "open('Makefile', 'a').write('all:\\n')\nprint('touched it')\n"
_STUCK = {
    "name": "stuck",
    "description": "One asks before it goes on.",
    "roles": [{"name": "think", "role": "plan", "prompt": "Think."}],
    "termination_condition": {"type": "iteration_bound", "value": 1},
}
_ENDLESS = {**_STUCK, "name": "endless", "termination_condition": {"type": "manual"}}
_FLOW = '$schema: "workflow/v2.0"\nname: {name}\nversion: 1.0.0\nexecution: {{provider: {provider}, model: m}}\n'
_ENHANCE = {"start": True, "headless": True}
_PLAN = {"op": "set_instructions", "target": "draft", "run": "Write well about {{input}}", "reason": "say how"}


class Quota:
    """A provider over HTTP whose quota is used up until somebody opens it."""

    def __init__(self) -> None:
        quota = self
        self.used_up = True

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                self.rfile.read(int(self.headers["content-length"]))
                said = {"choices": [{"delta": {"content": "fine"}, "finish_reason": "stop"}]}
                body = f"data: {json.dumps(said)}\n\ndata: [DONE]\n\n".encode()
                if quota.used_up:
                    body = b'{"error": {"message": "used up", "type": "insufficient_quota"}}'
                self.send_response(429 if quota.used_up else 200)
                self.send_header("retry-after", "36000")
                self.send_header("content-type", "application/json" if quota.used_up else "text/event-stream")
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()


class Place:
    """A project with a file for each way, and the provider that one of them asks."""

    def __init__(self, project: CliProject) -> None:
        self.project, self.quota = project, Quota()
        house = f"{{kind: openai, baseUrl: 'http://127.0.0.1:{self.quota.server.server_port}/v1'}}"
        writer = "{kind: scripted, script: [{say: a draft}]}"
        agent = json.dumps([sys.executable, str(project.root.with_name("agent.py"))])
        project.root.with_name("agent.py").write_text(_AGENT)
        toucher = f"{{kind: agent-cli, cli: {agent}}}"
        providers = f"providers: {{house: {house}, openai: {writer}, claude-code: {toucher}}}\n"
        settings = f"assist: {{provider: scripted, model: m}}\n{providers}"
        project.write(".loop-ls.yaml", f"{settings}enhance: {{pauseBetweenRounds: true}}\n")
        project.write("writer.assistant.yaml", _ASSISTANT)
        project.write("toucher.assistant.yaml", _TOUCHING)
        project.write("Makefile", "")
        for name, loop in (("stuck", _STUCK), ("endless", _ENDLESS)):
            project.write(f"loops/{name}.json", json.dumps(loop))
        stuck = {"answers": [{"when": {"contains": PORT}, "say": "done"}, {"say": "STATUS: BLOCKED\nWhich port?"}]}
        project.write("loops/stuck.answers.yaml", json.dumps(stuck))
        project.write("loops/endless.answers.yaml", "delay: 0.1\nanswers:\n  - say: a thought\n")
        step = "steps:\n  - {name: draft, run: 'Write about {{input}}'}\n"
        project.write("flow.yaml", _FLOW.format(name="flow", provider="house") + step)
        project.write("report.yaml", _FLOW.format(name="report", provider="scripted") + step)
        project.write("slow.yaml", _FLOW.format(name="slow", provider="scripted") + step)
        project.write("slow.answers.yaml", "delay: 600\nanswers: [{say: late}]\n")
        plan = json.dumps({"rationale": "it will look better", "ops": [_PLAN]})
        answers = [
            {"when": {"purpose": "planner"}, "say": plan},
            {"when": {"step": "draft"}, "say": {"fail": "bad_answer"}},
        ]
        project.write("report.answers.yaml", json.dumps({"answers": answers}))

    def kill(self) -> None:
        """As a crash does, and somebody starts it again."""
        self.project.end()
        assert self.project.call("engine", "start").returncode == 0

    async def client(self) -> EngineClient:
        found = await find(self.project.root, self.project.data)
        assert found is not None
        return found

    async def begin(self, way: Way) -> str:
        """A run that waits in this way. The owner agrees to what it may do."""
        self.quota.used_up = True
        request = {"root": str(self.project.root), "origin": "cli", "detach": True, **way.start}
        async with await self.client() as client:
            answer: Any = await client.start(request)
            if answer.get("code") == "consent_required":
                answer = await client.start({**request, "consent": client.agree(answer)})
            assert answer["ok"], answer
            run_id = str(answer["runId"])
            if way.name == "pause":
                assert (await client.pause(run_id))["ok"]
        if way.name == "interrupted":
            await self.until(run_id, lambda state: state["status"] == "running")
            await asyncio.to_thread(self.kill)
        await self.until(run_id, lambda state: waits(state, way))
        self.quota.used_up = False
        return run_id

    async def until(self, run_id: str, wanted: Callable[[Json], bool]) -> Json:
        async with asyncio.timeout(60), await self.client() as client:
            while True:
                found: Any = await client.status(run_id)
                if wanted(found["state"]):
                    return dict(found["state"])
                await asyncio.sleep(0.02)


class Way(NamedTuple):
    """`ended`: what the state says at the end; empty where the run goes on and has to be stopped."""

    name: str
    start: Json
    answer: str
    text: str = ""
    ended: str = ""


def waits(state: Json, way: Way) -> bool:
    match way.name:
        case "approval" | "blocked" | "protected":
            return state["status"] == "waiting_approval"
        case "question":
            return (state.get("question") or {}).get("kind") == "loop_paused"
        case "interrupted":
            return bool(state["status"] == "interrupted")
        case "quota":
            return state["status"] == "paused" and "resumesAt" in state
        case _:
            return bool(state["status"] == "paused")


WAYS = (
    Way("approval", {"path": "writer.assistant.yaml", "message": "Write"}, "approve", "well done", "approved"),
    Way("blocked", {"definition": "stuck", "goal": "Do it"}, "retry", PORT, "completed"),
    Way("question", {"path": "report.yaml", "input": "tea", "enhance": _ENHANCE}, "skip", "", "fixation"),
    Way("quota", {"path": "flow.yaml", "input": "tea"}, "resume", "", "completed"),
    Way("pause", {"definition": "endless", "goal": "Go on"}, "resume", "mind the tide"),
    Way("protected", {"path": "toucher.assistant.yaml", "message": "Touch"}, "restore", "", "completed"),
    Way("interrupted", {"path": "slow.yaml", "input": "tea", "enhance": _ENHANCE}, "stop", "", "user"),
)
