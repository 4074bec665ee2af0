"""A project whose work is done by a real agent program, through the whole engine."""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from loop_ls.app.engine import build
from loop_ls.client.consent import agreed
from loop_ls.engine.providers import Providers
from loop_ls.testing.workflows import whole
from tests.engine.providers.support.recording_provider import Answer, Asks, RecordingProvider, Request
from tests.real_clis.agents import RealAgent

Json = dict[str, Any]
#: What the model says last; a gate approves by it, a condition is met by it.
WORD = "APPROVED"
NOTE = "a note that only who reads the file knows"
ENDS = ("completed", "failed", "cancelled")
SECONDS = 150
SCRIPT = {"kind": "scripted", "script": [{"say": "a text"}]}
_FILE = re.compile(r"[^\s\"]*/loop-ls-\w+\.txt")
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


#: Whoever gives work to a program; the last four are accesses of a role.
CALLERS = ("assistant", "step", "judge", "full", "readonly-shell", "readonly", "minimal")


@asynccontextmanager
async def opened(
    folder: Path, agent: RealAgent, provider: RecordingProvider, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Workplace]:
    """One in which nothing of the environment of the tests is left but the path."""
    made = Workplace(folder, agent, provider)
    for name in list(os.environ):
        if name.startswith(("ANTHROPIC", "OPENAI", "CLAUDE", "CODEX", "OPENCODE", "XDG")):
            monkeypatch.delenv(name)
    for name, value in agent.environment(made.home).items():
        monkeypatch.setenv(name, value)
    await made.open()
    try:
        yield made
    finally:
        await made.close()


class Workplace:
    def __init__(self, folder: Path, agent: RealAgent, provider: RecordingProvider) -> None:
        self.home, self.root, self.data = folder / "home", folder / "project", folder / "data"
        for each in (self.home, self.root, self.data):
            each.mkdir(parents=True)
        self.agent, self.provider, self.log = agent, provider, folder / "words.jsonl"
        agent.write_files(self.home)
        (self.root / "notes.txt").write_text(NOTE + "\n")
        self.settings()

    def settings(self, **more: Any) -> None:
        own = {"kind": "agent-cli", "cli": self.agent.recorded(self.log), "speaks": self.agent.speaks}
        (self.root / ".loop-ls.yaml").write_text(
            json.dumps({"providers": {"claude-code": own, "scripted": SCRIPT}, **more})
        )

    def write(self, name: str, text: str) -> None:
        (self.root / name).parent.mkdir(parents=True, exist_ok=True)
        (self.root / name).write_text(text)

    def model_says(self, *asked: Asks, last: str = WORD) -> None:
        """One after the other, as often as results come; then the last word."""

        def answer(request: Request) -> Answer:
            done = len(request.results)
            return asked[done] if done < len(asked) else last

        self.provider.answer = answer

    async def work(self, caller: str) -> Json:
        """What the caller does: an assistant, a step, a judge, or a stage whose role has that access."""
        worker = {"access": caller, "provider": "claude-code", "model": self.agent.model}
        match caller:
            case "assistant":
                return await self.assistant()
            case "step":
                return await self.step()
            case "judge":
                self.settings(judge={"provider": "claude-code", "model": self.agent.model})
                return await self.judge()
            case _:
                self.settings(roles={"worker": worker}, assist={"provider": "scripted", "model": "m"})
                return await self.role_loop()

    async def open(self) -> None:
        self.engine = build(self.data, Providers({}), self.root)
        await self.engine.open()

    async def close(self) -> None:
        await self.engine.close()

    async def assistant(self, message: str = "Do what has to be done.", persona: str = "You do one thing.") -> Json:
        path = self.root / "worker.assistant.json"
        told = {
            "name": "Worker",
            "persona": persona,
            "provider": "claude-code",
            "model": self.agent.model,
            "loopEnabled": True,
            "maxIterations": 1,
            "loopCriteria": {"type": "regex", "value": f"^{WORD}$"},
        }
        path.write_text(json.dumps(told))
        return await self.run({"path": str(path), "target": {"kind": "assistant"}, "message": message})

    async def step(self) -> Json:
        work = (
            f"execution: {{provider: claude-code, model: {self.agent.model}}}\nsteps: [{{name: work, run: Do it.}}]\n"
        )
        (self.root / "main.yaml").write_text(whole("main", work))
        return await self.run({"path": str(self.root / "main.yaml")})

    async def judge(self) -> Json:
        model = "execution: {provider: scripted, model: m}\n"
        main = model + "loops: [{name: again, workflow: draft, max_iterations: 2, until: The text is good}]\n"
        (self.root / "main.yaml").write_text(whole("main", main))
        (self.root / "draft.yaml").write_text(whole("draft", model + "steps: [{name: write, run: Write.}]\n"))
        return await self.run({"path": str(self.root / "main.yaml")})

    async def role_loop(self) -> Json:
        (self.root / "loops").mkdir(exist_ok=True)
        bound = {"type": "evaluation_bound", "value": {"criteria": "It is good.", "max_review_rounds": 1}}
        told = {"name": "look", "description": "One works.", "termination_condition": bound}
        told["roles"] = [{"name": "work", "role": "worker", "prompt": "Do what has to be done."}]
        (self.root / "loops/look.json").write_text(json.dumps(told))
        return await self.run({"definition": "look", "goal": "Do it."})

    async def review_loop(self, fact: str) -> Json:
        """One makes and one reviews, both with the program. Only the reviewer knows the fact, and approves nothing
        else; whoever makes knows it from what is said to him, or not at all."""

        def answer(request: Request) -> Answer:
            if "judge, Stage 2 of 2" in request.texts:
                known = f"The port is {fact}." in request.texts.partition("## Last output of iteration")[0]
                return (
                    "APPROVED"
                    if known
                    else f"I read it.\n\nNEEDS CHANGES\n1. **critical**: the port is {fact} (a.py:1)"
                )
            return f"The port is {fact}." if fact in request.texts else "The port is unknown."

        self.provider.answer = answer
        who = {"access": "readonly", "provider": "claude-code", "model": self.agent.model}
        self.settings(roles={"maker": who, "judge": who}, assist={"provider": "scripted", "model": "m"})
        bound = {"type": "evaluation_bound", "value": {"criteria": "It is right.", "max_review_rounds": 3}}
        told = {"name": "pair", "description": "Make, review.", "termination_condition": bound}
        told["approval"] = {"mode": "verdict_line"}
        told["roles"] = [{"name": each, "role": each, "prompt": "Do your part."} for each in ("maker", "judge")]
        self.write("loops/pair.json", json.dumps(told))
        return await self.run({"definition": "pair", "goal": "Name the port."}, 2 * SECONDS)

    async def run(self, request: Json, seconds: float = SECONDS, until: tuple[str, ...] = ENDS) -> Json:
        """To its end, or another of its events, which is given with all calls."""
        request = {"root": str(self.root), **request}
        answer = await self.engine.start(request)
        if answer.get("code") == "consent_required":
            answer = await self.engine.start({**request, "consent": agreed(self.data, answer)})
        assert answer["ok"], answer
        async with asyncio.timeout(seconds):
            async for _, event in self.engine.subscribe(after=0, run_id=answer["runId"]):
                if event["kind"] in until:
                    break
        facts = (await self.engine.events(answer["runId"], limit=1000))["events"]
        last = next(fact for fact in reversed(facts) if fact["kind"] in until)
        return {**last, "calls": [fact for fact in facts if fact["kind"] == "call"], "facts": facts}

    @property
    def words(self) -> list[str]:
        """Those of the first start, without what differs from run to run."""
        found: list[str] = json.loads(self.log.read_text().splitlines()[0])["words"]
        changing = {str(self.root): "ROOT", sys.executable: "PYTHON", self.provider.url: "PROVIDER"}
        for one, name in changing.items():
            found = [word.replace(one, name) for word in found]
        return [_FILE.sub("FILE", _UUID.sub("UUID", word)) for word in found]

    @property
    def tools(self) -> list[str]:
        """What the model was offered in all."""
        return sorted(set().union(*(request.tools for request in self.provider.requests)))

    @property
    def made(self) -> bool:
        """Whether the agent has written its file."""
        return (self.root / "made.txt").exists()

    @property
    def results(self) -> str:
        """What tools have answered, in the request that heard most of them."""
        return "\n".join(max((request.results for request in self.provider.requests), key=len, default=[]))
