"""`budgetCapUsd` of an enhance loop through the whole engine: no call is made under it that could pass it.

The provider's own account is the truth: each answer is as long as it may be, and is charged to the token.
"""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from loop_ls.app.engine import build
from loop_ls.client.consent import agreed
from loop_ls.engine.money.accounts import Accounts
from loop_ls.engine.money.caps import Caps
from loop_ls.engine.money.ledger import Ledger
from loop_ls.engine.money.loop_account import LoopLedger
from loop_ls.engine.providers import Providers
from loop_ls.engine.service import Engine
from loop_ls.testing.workflows import whole
from tests.engine.money.paid_server import Account, Answer, chunk, counted, events, paid_server, prompt_of

#: Tokens of an answer to which nobody sets a limit.
LONG = 9_000
CAP = 3.5
PRICE = "{price: {input: 1000, output: 1000}}"
EXECUTION = "execution: {provider: ollama, model: m, max_tokens: 1000}\n"
PARALLEL = EXECUTION.replace("}", ", parallel: true, max_workers: 8}")
STEPS = "".join(f'  - {{name: s{n}, run: "Write {{{{input}}}}"%s}}\n' for n in range(6))
ONE = 'steps:\n  - {name: s0, run: "Write {{input}}"}\n'
INNER = PARALLEL + "steps:\n" + STEPS.replace("%s", "")
Respond = Callable[[dict[str, Any], int], Answer]


def answered(request: dict[str, Any], text: str = "") -> Answer:
    """As long as it may be, and a usage that is true."""
    most = request.get("max_tokens") or request.get("max_completion_tokens") or LONG
    text = (text + "word" * most)[: 4 * most]
    usage = {"prompt_tokens": prompt_of(request), "completion_tokens": counted(text)}
    body = events(chunk(text), chunk(None, "stop"), {"choices": [], "usage": usage})
    return Answer(body, prompt_of(request), counted(text))


def dear(request: dict[str, Any], number: int) -> Answer:
    return answered(request)


def lost(request: dict[str, Any], number: int) -> Answer:
    """What was written is charged, and it breaks off."""
    most = request["max_tokens"]
    return Answer(events(chunk("word" * most), done=False), prompt_of(request), most)


def no(request: dict[str, Any], number: int) -> Answer:
    """A verdict with many reasons."""
    return answered({"max_tokens": 1500, **request}, "NO ")


def of_planner(request: dict[str, Any]) -> bool:
    return request["model"] == "wise"


def cheap_steps(request: dict[str, Any], number: int) -> Answer:
    """Steps say nothing, which is a failure; the planner says all that it may."""
    if of_planner(request):
        return answered(request)
    return Answer(events(chunk(""), chunk(None, "stop")), 0, 0)


class Looped:
    """A project with one enhance loop, over an engine that can go and come back."""

    def __init__(self, folder: Path, account: Account) -> None:
        self.data, self.root, self.account = folder / "data", folder / "project", account
        self.root.mkdir()
        self.house = Providers({"OLLAMA_HOST": account.url})
        self.engine: Engine | None = None

    async def open(self) -> Engine:
        self.engine = build(self.data, self.house, self.root)
        await self.engine.open()
        return self.engine

    async def close(self) -> None:
        assert self.engine is not None
        await self.engine.close()

    def write(self, cap: float = CAP, providers: str = "", settings: str = "", **files: str) -> None:
        knobs = f"{{budgetCapUsd: {cap}, plannerProvider: ollama, plannerModel: wise, {settings}}}"
        more = f"  {providers}\n" if providers else f"  ollama: {PRICE}\n"
        (self.root / ".loop-ls.yaml").write_text(f"enhance: {knobs}\nproviders:\n{more}")
        for name, text in files.items():
            (self.root / f"{name}.yaml").write_text(whole(name, text))

    async def start(self, **more: Any) -> str:
        assert self.engine is not None
        given = {"root": str(self.root), "path": str(self.root / "report.yaml"), "input": "tea", **more}
        given["enhance"] = {"start": True, "headless": True}
        answer = await self.engine.start(given)
        if answer.get("code") == "consent_required":
            answer = await self.engine.start({**given, "consent": agreed(self.engine.folder, answer)})
        assert answer["ok"], answer
        return str(answer["runId"])

    async def ended(self, run_id: str) -> list[dict[str, Any]]:
        assert self.engine is not None
        async with asyncio.timeout(60):
            async for _, event in self.engine.subscribe(after=0, run_id=run_id):
                if event["kind"] in ("completed", "failed", "cancelled"):
                    break
        return [dict(event) for event in (await self.engine.events(run_id, limit=1000))["events"]]


@asynccontextmanager
async def looped(folder: Path, respond: Respond) -> AsyncIterator[Looped]:
    async with paid_server(respond) as account:
        project = Looped(folder, account)
        await project.open()
        yield project
        await project.close()
        await project.house.aclose()


def holds(facts: list[dict[str, Any]], account: Account, cap: float = CAP) -> None:
    """The loop gave up for the money, and what the provider charged is booked and within the cap."""
    end = facts[-1]
    assert (end["kind"], end["reason"]) == ("completed", "budget"), end
    assert "bestRound" in end, "the loop says what became of it"
    booked = sum(fact.get("usd") or 0.0 for fact in facts if fact["kind"] == "call")
    assert account.requests
    assert booked >= account.total - 1e-9, (booked, account.total)
    assert account.total <= cap + 1e-9, (account.total, cap)


@pytest.mark.parametrize(
    ("files", "respond"),
    [
        pytest.param({"report": PARALLEL + "steps:\n" + STEPS.replace("%s", "")}, dear, id="parallel"),
        pytest.param(
            {
                "report": EXECUTION + 'steps:\n  - {name: call, template: {name: inner, with: {input: "y"}}}\n',
                "inner": INNER,
            },
            dear,
            id="nested",
        ),
        pytest.param(
            {"report": PARALLEL + "steps:\n" + STEPS.replace("%s", ", on_failure: retry, max_retries: 9")},
            lost,
            id="retries",
        ),
        pytest.param(
            {
                "report": EXECUTION + "loops:\n  - {name: polish, workflow: inner, max_iterations: 12, "
                'until: It is good, with: {input: "{{loop.last.output}}"}}\n',
                "inner": EXECUTION.replace("1000", "10") + ONE,
            },
            no,
            id="judge",
        ),
    ],
)
async def test_EB_069_no_call_of_a_round_passes_the_cap(
    tmp_path: Path, files: dict[str, str], respond: Respond
) -> None:
    async with looped(tmp_path, respond) as project:
        project.write(**files)
        facts = await project.ended(await project.start())
        holds(facts, project.account)
        assert project.account.total > CAP / 2, "what was left could be spent"
        [warning] = [fact for fact in facts if fact["kind"] == "budget_warning"]
        assert warning["capUsd"] == CAP


async def test_EB_069_a_fallback_may_be_the_dearer_one(tmp_path: Path) -> None:
    """The cheap provider is out of order, and the one that is asked in its place costs a thousand times as much."""

    def respond(request: dict[str, Any], number: int) -> Answer:
        if request["model"] == "m":
            return Answer(b"{}", status=500, kind="application/json")
        return answered(request)

    async with looped(tmp_path, respond) as project:
        cheap = "ollama: {price: {input: 1, output: 1}, fallback: [spare/dear], retry: {attempts: 1}}"
        spare = f"spare: {{kind: openai, baseUrl: '{project.account.url}/v1', price: {{input: 1000, output: 1000}}}}"
        project.write(providers=f"{cheap}\n  {spare}", report=PARALLEL + "steps:\n" + STEPS.replace("%s", ""))
        facts = await project.ended(await project.start())
        holds(facts, project.account)
        assert any(request["model"] == "dear" for request in project.account.requests)


async def test_EB_071_an_answer_of_the_planner_is_bounded_by_what_is_left(tmp_path: Path) -> None:
    """Its estimate fits; what it would say without a limit does not."""
    cap = 9.0
    async with looped(tmp_path, cheap_steps) as project:
        project.write(cap=cap, report=EXECUTION + ONE)
        facts = await project.ended(await project.start())
        holds(facts, project.account, cap)
        asked = [request for request in project.account.requests if of_planner(request)]
        assert asked and all(request.get("max_tokens") for request in asked)


async def test_EB_124_the_trials_of_a_loop_share_its_cap(tmp_path: Path) -> None:
    cases = "tests:\n" + "".join(f"  - {{name: c{n}, vars: {{input: tea {n}}}}}\n" for n in range(4))
    async with looped(tmp_path, dear) as project:
        project.write(report=PARALLEL + "steps:\n" + STEPS.replace("%s", ""))
        (project.root / "report.cases.yaml").write_text(cases)
        facts = await project.ended(await project.start(input=None))
        assert facts[-1]["reason"] == "budget"
        assert [fact["outcome"] for fact in facts if fact["kind"] == "trial_finished"] == ["void"]
        assert 0 < project.account.total <= CAP


async def test_EB_118_the_cap_holds_after_a_kill(tmp_path: Path) -> None:
    """What was answered before is spent; the call that was in flight is asked again, within the rest."""
    held = asyncio.Event()

    def respond(request: dict[str, Any], number: int) -> Answer:
        if number == 3:
            held.set()
            return Answer(b"", hold=True)
        return answered(request)

    async with looped(tmp_path, respond) as project:
        project.write(report=EXECUTION + "steps:\n" + STEPS.replace("%s", ""))
        run_id = await project.start()
        async with asyncio.timeout(60):
            await held.wait()
        left = tmp_path / "left"  # the files as a killed process leaves them
        shutil.copytree(project.data, left, ignore=shutil.ignore_patterns("*.lock", "*.sock"))
        await project.close()
        project.data = left
        engine = await project.open()
        assert (await engine.control("resume", run_id))["ok"]
        facts = await project.ended(run_id)
        holds(facts, project.account)
        assert len([fact for fact in facts if fact["kind"] == "call"]) == 3


async def test_EB_069_a_fork_has_what_the_loop_has_left(tmp_path: Path) -> None:
    """The rounds that it takes over are rounds of the same loop: their calls are not given back."""

    def respond(request: dict[str, Any], number: int) -> Answer:
        op = {"op": "set_instructions", "target": "s0", "run": f"Say {{{{input}}}}, {number}"}
        plan = {"rationale": "x", "ops": [op]}
        text = json.dumps(plan) if of_planner(request) else "word" * 1000
        if any("Check" in str(message["content"]) for message in request["messages"]) and not of_planner(request):
            text = ""
        return Answer(events(chunk(text), chunk(None, "stop"), _usage(text)), 0, counted(text))

    cap, text = 3.2, whole("report", EXECUTION + ONE + '  - {name: s1, needs: [s0], run: "Check {{s0}}"}\n')
    async with looped(tmp_path, respond) as project:
        project.write(cap, "ollama: {price: {input: 0, output: 1000}}", "maxRounds: 3, onFixation: warn")
        (project.root / "report.yaml").write_text(text)
        run_id = await project.start()
        holds(await project.ended(run_id), project.account, cap)
        (project.root / "report.yaml").write_text(text)
        assert project.engine is not None
        forked = await project.engine.fork(run_id, 2)
        assert forked["ok"], forked
        facts = await project.ended(forked["runId"])
        assert any(fact.get("copied") for fact in facts)
        assert facts[-1]["reason"] == "budget"
        assert sum(fact.get("usd") or 0.0 for fact in facts if fact["kind"] == "call") <= cap


def _usage(text: str) -> dict[str, Any]:
    return {"choices": [], "usage": {"prompt_tokens": 0, "completion_tokens": counted(text)}}


@pytest.mark.parametrize(("said", "booked"), [(1.25, 1.25), (None, 0.05)])
async def test_EB_069_an_agent_is_told_what_the_loop_has_left_and_works_alone(
    said: float | None, booked: float
) -> None:
    """One that does not say its cost counts what a call without a price does."""
    loop = LoopLedger(2.0, 0.05)
    accounts = Accounts(Ledger(), loop=loop)

    async def work() -> float | None:
        async with accounts.unbounded(None) as allowed:
            await asyncio.sleep(0)
            usd = allowed.told(said, 100)
            left.append(allowed.usd)
        call = {"provider": "a", "usd": usd, "tokens": {"input": 50, "output": 50}}
        accounts.count([("call", call)])
        return usd

    left: list[float | None] = []
    assert await asyncio.gather(work(), work()) == [said, said]
    assert left == [2.0, pytest.approx(2.0 - booked)]
    assert loop.spent.usd == pytest.approx(2 * booked)


async def test_EB_069_a_cap_of_the_run_beside_it_counts_a_silent_agent_in_full() -> None:
    accounts = Accounts(Ledger(Caps(usd=1.0)), loop=LoopLedger(2.0, 0.05))
    async with accounts.unbounded(None) as allowed:
        assert (allowed.usd, allowed.told(None, 100)) == (1.0, 1.0)
