"""One iteration of an assistant loop, short and long, and one of a workflow, with each real agent, in a network
of its own.

Not part of the test run: the programs weigh a gigabyte. Install them once and run this file:

    npm install --prefix DIRECTORY @anthropic-ai/claude-code @openai/codex opencode-ai @copilotkit/aimock
    python tests/real_clis/one_iteration.py DIRECTORY

It starts itself again under `unshare` with nothing but a loopback device, so no real provider can be reached,
and with a home folder and keys that are made up. Prints one line for each agent; ends with 1 if one failed.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

PORT = 4010
URL = f"http://127.0.0.1:{PORT}"
WORD = "LOOP-DONE"
#: Characters added to message and persona: what is longer than an argument goes by a file or by standard input.
LENGTHS = (0, 200 * 1024)
INSIDE = "LOOP_LS_OWN_NETWORK"


@dataclass(frozen=True)
class Agent:
    """`cli` are the words of its program; `files` lie in its home folder."""

    name: str
    package: str
    cli: list[str]
    environ: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    model: str = ""


def agents(programs: Path) -> Iterator[Agent]:
    yield Agent(
        "Claude Code",
        "@anthropic-ai/claude-code",
        [str(programs / "claude")],
        {
            "ANTHROPIC_BASE_URL": URL,
            "ANTHROPIC_API_KEY": "made-up",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        },
    )
    provider = f'{{name="fake",base_url="{URL}/v1",env_key="CODEX_API_KEY",wire_api="responses"}}'
    yield Agent(
        "Codex",
        "@openai/codex",
        [str(programs / "codex"), "-c", "model_provider=fake", "-c", f"model_providers.fake={provider}"],
        {"CODEX_API_KEY": "made-up"},
        model="gpt-5",
    )
    models = {"m1": {"name": "m1"}}
    fake = {"npm": "@ai-sdk/openai-compatible", "options": {"baseURL": f"{URL}/v1", "apiKey": "made-up"}}
    yield Agent(
        "opencode",
        "opencode-ai",
        [str(programs / "opencode")],
        files={".config/opencode/opencode.json": json.dumps({"provider": {"fake": {**fake, "models": models}}})},
        model="fake/m1",
    )


async def one(agent: Agent, programs: Path, base: Path, length: int) -> tuple[bool, str]:
    """Run one iteration through the whole engine; whether it was done, and how."""
    from loop_ls.engine.assistants.program import AssistantProgram
    from loop_ls.engine.providers import Providers
    from loop_ls.engine.service import Engine
    from loop_ls.engine.starting.assistant import AssistantPreparer

    home, root, data = base / "home", base / "project", base / "data"
    for folder in (home, root):
        folder.mkdir(parents=True)
    for name, text in agent.files.items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(text)
    assistant: dict[str, Any] = {
        "name": agent.name,
        "persona": "You answer in one word." + " Really." * (length // 40),
        "loopEnabled": True,
        "maxIterations": 1,
        "loopCriteria": {"type": "regex", "value": f"^{WORD}$"},
    }
    if agent.model:
        assistant["model"] = agent.model
    speaks = agent.name.lower().replace(" ", "-")
    settings = {"providers": {"claude-code": {"kind": "agent-cli", "cli": agent.cli, "speaks": speaks}}}
    path = root / "a.assistant.json"
    path.write_text(json.dumps(assistant))
    (root / ".loop-ls.yaml").write_text(json.dumps(settings))
    environ = {"PATH": f"{programs}:/usr/bin:/bin", "HOME": str(home), **agent.environ}
    preparer = AssistantPreparer(data, lambda workspace, documents: [[] for _ in documents], environ)
    engine = Engine(data, {"assistant": AssistantProgram(environ)}, Providers({}).for_plan, preparer)
    await engine.open()
    try:
        message = "Say the word." + " Please." * (length // 8)
        request = {"root": str(root), "path": str(path), "target": {"kind": "assistant"}, "message": message}
        return await _watched(engine, request)
    finally:
        await engine.close()


HEAD = '$schema: "workflow/v2.0"\nname: %s\nversion: "1.0.0"\nexecution: {provider: agent, model: %s}\n'
LOOP = 'loops: [{name: ask, workflow: callee, max_iterations: 1, until: "The output contains %s"}]\n'


async def in_a_workflow(agent: Agent, programs: Path, base: Path) -> tuple[bool, str]:
    """The same as a step of a workflow's loop, whose condition is decided locally."""
    from loop_ls.engine.bodies.workflow import WorkflowProgram
    from loop_ls.engine.providers import Providers
    from loop_ls.engine.runners.model_adapter import with_agents
    from loop_ls.engine.service import Engine
    from loop_ls.engine.starting.workflow import WorkflowPreparer

    home, root, data = base / "home", base / "project", base / "data"
    for folder in (home, root):
        folder.mkdir(parents=True)
    for name, text in agent.files.items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(text)
    model = agent.model or "sonnet"
    (root / "main.yaml").write_text(HEAD % ("main", model) + LOOP % WORD)
    (root / "callee.yaml").write_text(HEAD % ("callee", model) + "steps: [{name: say, run: Say the word.}]\n")
    own = {"kind": "agent-cli", "cli": agent.cli, "speaks": agent.name.lower().replace(" ", "-")}
    (root / ".loop-ls.yaml").write_text(json.dumps({"providers": {"agent": own}, "judge": {"local": True}}))
    environ = {"PATH": f"{programs}:/usr/bin:/bin", "HOME": str(home), **agent.environ}
    preparer = WorkflowPreparer(data, lambda workspace, documents: [[] for _ in documents], environ)
    door = with_agents(Providers({}).for_plan, environ)
    engine = Engine(data, {"workflow": WorkflowProgram()}, door, preparer)
    await engine.open()
    try:
        return await _watched(engine, {"root": str(root), "path": str(root / "main.yaml")})
    finally:
        await engine.close()


async def _watched(engine: Any, request: dict[str, Any]) -> tuple[bool, str]:
    from loop_ls.client.consent import agreed

    refused = await engine.start(request)
    answer = await engine.start({**request, "consent": agreed(engine.folder, refused)})
    began, heard = time.monotonic(), 0
    async with asyncio.timeout(120):
        async for _, event in engine.subscribe(after=0, run_id=answer["runId"]):
            heard += event["kind"] == "text"
            if event["kind"] in ("completed", "failed", "cancelled"):
                break
    facts = (await engine.events(answer["runId"], limit=1000))["events"]
    end, call = facts[-1], next((fact for fact in facts if fact["kind"] == "call"), {})
    if end["kind"] != "completed":
        return False, f"{end['kind']}: {(end.get('error') or {}).get('message', '')}"
    told = {name: call.get(name) for name in ("model", "tokens", "usd")}
    said = f"output {end['lastOutput']!r}, streamed {heard} pieces, {time.monotonic() - began:.1f} s, {told}"
    return end["reason"] == "condition_met", f"{end['reason']}: {said}"


@contextmanager
def fake_provider(programs: Path, folder: Path) -> Iterator[None]:
    fixtures = folder / "fixtures.json"
    fixtures.write_text(json.dumps({"fixtures": [{"match": {}, "response": {"content": WORD}}]}))
    with (folder / "provider.log").open("w") as log:
        process = subprocess.Popen([programs / "llmock", "-p", str(PORT), "-f", fixtures], stdout=log, stderr=log)
        try:
            _wait_for(f"{URL}/health")
            yield
        finally:
            process.terminate()
            process.wait(10)


def _wait_for(url: str) -> None:
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        try:
            urllib.request.urlopen(url, timeout=1)
            return
        except OSError as error:
            if getattr(error, "code", None):
                return
            time.sleep(0.1)
    raise SystemExit("the fake provider did not start")


def alone_in_the_network() -> bool:
    """Nothing but loopback; a real provider cannot be reached."""
    lines = Path("/proc/self/net/dev").read_text().splitlines()[2:]
    routes = Path("/proc/self/net/route").read_text().splitlines()[1:]
    return not routes and {line.partition(":")[0].strip() for line in lines} <= {"lo", "sit0", "tunl0"}


async def main(programs: Path) -> int:
    failed = 0
    with tempfile.TemporaryDirectory(prefix="loop-ls-real-") as base, fake_provider(programs, Path(base)):
        for agent in agents(programs):
            manifest = programs.parent / agent.package / "package.json"
            version = json.loads(manifest.read_text())["version"]
            for length in (*LENGTHS, None):
                folder = Path(base) / f"{agent.name.replace(' ', '-')}-{length}"
                try:
                    work = in_a_workflow(agent, programs, folder) if length is None else None
                    done, told = await (work or one(agent, programs, folder, length or 0))
                except Exception as error:
                    done, told = False, f"{type(error).__name__}: {error}"
                failed += not done
                more = ", a workflow" if length is None else f", {length // 1024} KiB of message" if length else ""
                what = f"{agent.name} {version}{more}"
                print(f"{'ok    ' if done else 'FAILED'} {what}: {told}", flush=True)
        if failed:
            print((Path(base) / "provider.log").read_text()[-2000:])
    return 1 if failed else 0


if __name__ == "__main__":
    if INSIDE not in os.environ:
        inner = f'ip link set lo up && exec "{sys.executable}" "$0" "$@"'
        words = ["unshare", "--map-root-user", "--net", "sh", "-c", inner, *sys.argv]
        os.execvpe("unshare", words, {**os.environ, INSIDE: "1"})
    print(f"alone in the network: {alone_in_the_network()}", flush=True)
    sys.exit(asyncio.run(main(Path(sys.argv[1]).resolve() / "node_modules" / ".bin")))
