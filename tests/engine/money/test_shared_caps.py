"""Caps for all runs of a project together, per day and in all: in force before each call, whoever makes it."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, cast

import pytest

from loop_ls.engine.journal import JournalRefused
from loop_ls.engine.money.accounts import DayLedger, today
from loop_ls.engine.money.caps import CapReached, Caps
from loop_ls.engine.money.ledger import Cost
from loop_ls.engine.recovery.journal_repair import examined, repaired
from loop_ls.engine.retention.run_retention import RetentionPolicy
from tests.engine.assistants.support.project import EngineProject
from tests.engine.control.support.project import Project
from tests.engine.money.conftest import PRICE
from tests.engine.runners.support.agents import option

ONE = 'execution: {provider: ollama, model: m, max_tokens: 60}\nsteps: [{name: write, run: "Write {{input}}"}]\n'


@pytest.fixture
async def capped(tmp_path: Path, request: Any) -> AsyncIterator[Project]:
    """Each run costs half a dollar, and may cost 60 cents."""
    made = Project(tmp_path)
    made.settings(f"limits: {{{request.param}: {{budgetUsd: 1.2}}}}\n{PRICE}")
    made.write(one=ONE)
    made.models.script["write"] = ["w" * 50]
    await made.open()
    yield made
    await made.close()


SPANS = pytest.mark.parametrize("capped", ["perDay", "perProject"], indirect=True)


@SPANS
async def test_a_run_ends_before_the_call_that_could_pass_what_all_runs_may_cost(
    capped: Project, request: pytest.FixtureRequest
) -> None:
    ends = [(await capped.run("one"))[-1] for _ in range(3)]
    assert [end["reason"] for end in ends] == ["completed", "completed", "budget"]
    span = request.node.callspec.params["capped"]
    assert f"`limits.{span}.budgetUsd`" in ends[-1]["because"]
    assert len(capped.models.requests) == 2


@SPANS
async def test_runs_side_by_side_do_not_pass_it_together(capped: Project) -> None:
    capped.models.wait = lambda request: 0.02
    runs = await asyncio.gather(*(capped.run("one") for _ in range(5)))
    assert sorted(facts[-1]["reason"] for facts in runs) == ["budget"] * 3 + ["completed"] * 2
    assert len(capped.models.requests) == 2


@SPANS
@pytest.mark.parametrize(
    "others", ["{}", "{maxIterations: 3}", "{perDay: {budgetUsd: 90}, perProject: {budgetUsd: 90}}"]
)
async def test_a_run_under_other_settings_loosens_no_cap_of_those_beside_it(capped: Project, others: str) -> None:
    steps = ", ".join(f'{{name: write{n}, run: "Write {n} {{{{input}}}}"}}' for n in range(3))
    capped.write(many=ONE[: ONE.index("steps")] + f"steps: [{steps}]\n")
    capped.models.script |= {f"write{n}": ["w" * 50] for n in range(3)}
    assert capped.engine is not None
    run_id = (await capped.start("many"))["runId"]
    await capped.engine.control("pause", run_id)
    capped.settings(f"limits: {others}\n{PRICE}")
    assert (await capped.run("one"))[-1]["reason"] == "completed"
    await capped.engine.control("resume", run_id)
    assert (await capped.ended(run_id))[-1]["reason"] == "budget"


@SPANS
async def test_what_was_spent_before_a_restart_is_spent(capped: Project) -> None:
    await capped.run("one")
    await capped.run("one")
    await capped.close()
    await capped.open()
    assert (await capped.run("one"))[-1]["reason"] == "budget"


async def one_by_one(project: Project, runs: list[str]) -> None:
    assert project.engine is not None
    for run_id in runs:
        assert (await project.engine.delete(run_id))["ok"]


async def all_at_once(project: Project, runs: list[str]) -> None:
    assert project.engine is not None
    assert sorted((await project.engine.delete("all"))["deleted"]) == sorted(runs)


async def by_the_rule(project: Project, runs: list[str]) -> None:
    """What `engine.keepRuns` lets go."""
    assert project.engine is not None
    project.engine._retention._keep = RetentionPolicy(runs=0)
    assert sorted(await project.engine._retention.tidy()) == sorted(runs)


@SPANS
@pytest.mark.parametrize("delete", [one_by_one, all_at_once, by_the_rule])
@pytest.mark.parametrize("known", [True, False], ids=["", "before anybody asked"])
async def test_what_deleted_runs_have_cost_stays_spent(capped: Project, delete: Any, known: bool) -> None:
    """Or whoever deletes a run could spend its money again."""
    runs = [(await capped.run("one"))[0]["runId"] for _ in range(2)]
    if not known:
        await capped.close()
        await capped.open()
    await delete(capped, runs)
    assert capped.engine is not None
    assert (await capped.engine.runs())["runs"] == []
    if known:
        assert (await capped.run("one"))[-1]["reason"] == "budget"
    await capped.close()
    await capped.open()
    assert (await capped.run("one"))[-1]["reason"] == "budget"
    assert len(capped.models.requests) == 2


@SPANS
async def test_a_run_that_could_not_be_deleted_counts_once(capped: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    run_id = (await capped.run("one"))[0]["runId"]
    assert capped.engine is not None

    def refused(*_: Any) -> Any:
        raise JournalRefused("disk_full", "There is no room.")

    with monkeypatch.context() as patched:
        patched.setattr(capped.engine.journal, "forget", refused)
        assert (await capped.engine.delete(run_id))["message"] == "There is no room."
    await capped.close()
    await capped.open()
    assert (await capped.run("one"))[-1]["reason"] == "completed"
    assert (await capped.run("one"))[-1]["reason"] == "budget"


@SPANS
async def test_a_run_is_not_deleted_where_its_cost_cannot_be_kept(
    capped: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_id = (await capped.run("one"))[0]["runId"]
    assert capped.engine is not None

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("loop_ls.engine.runs.unrecorded_spending.write_private", full)
    assert "cannot be saved" in (await capped.engine.delete(run_id))["message"]
    assert (await capped.engine.state(run_id))["ok"]


@pytest.mark.parametrize(
    "left", ["", "{", "[1]", '{"/p": {"2026-01-01": {"usd": "9"}}}', '{"/p": {"no day": {"usd": 9.0, "tokens": 1}}}']
)
@SPANS
async def test_damage_of_what_is_kept_beside_the_record_is_told_and_gives_nobody_money_back(
    capped: Project, left: str
) -> None:
    """Whoever damages the file could spend it again."""
    first, second = [(await capped.run("one"))[0]["runId"] for _ in range(2)]
    assert capped.engine is not None
    assert (await capped.engine.delete(first))["ok"]
    kept = capped.data / "unrecorded-spending.json"
    kept.write_text(left)
    await capped.close()
    await capped.open()
    asked = len(capped.models.requests)
    end = (await capped.run("one"))[-1]
    assert (end["kind"], end["error"]["code"]) == ("failed", "damaged")
    assert "unrecorded-spending.json" in end["error"]["message"]
    assert "loop-ls engine repair" in end["error"]["hint"]
    assert "unrecorded-spending.json" in (await capped.engine.delete(second))["message"]
    assert "unrecorded-spending.json" in (await _tried(capped))["message"]
    assert len(capped.models.requests) == asked
    assert kept.read_text() == left, "a copy may be restored"
    await capped.close()
    found = examined(capped.data / "journal.db")
    assert "unrecorded-spending.json" in found.spending and not found.whole
    done = await repaired(capped.data / "journal.db", found)
    assert (Path(done.copy) / kept.name).read_text() == left
    assert examined(capped.data / "journal.db").whole
    await capped.open()
    assert (await capped.run("one"))[-1]["reason"] == "completed", "one of two is in the record still"
    assert (await capped.run("one"))[-1]["reason"] == "budget"


async def deleted(project: Project, run_id: str) -> None:
    assert project.engine is not None
    assert (await project.engine.delete(run_id))["ok"]


async def kept(project: Project, run_id: str) -> None:
    """Nobody does anything to it."""


@SPANS
@pytest.mark.parametrize("then", [kept, deleted])
async def test_runs_of_one_project_share_its_account_whatever_folder_of_it_they_were_started_in(
    capped: Project, then: Any
) -> None:
    """`--root sub` would be the money of the project once more."""
    (capped.root / "sub" / "deep").mkdir(parents=True)
    for name in ("sub", "sub/deep"):
        capped.write(**{f"{name}/one": ONE})
    first = await capped.run("one")
    second = await capped.run("sub/one", root=str(capped.root / "sub"))
    assert [facts[-1]["reason"] for facts in (first, second)] == ["completed"] * 2
    await then(capped, second[0]["runId"])
    third = {"name": "sub/deep/one", "root": str(capped.root / "sub" / "deep")}
    assert (await capped.run(**third))[-1]["reason"] == "budget"
    await capped.close()
    await capped.open()
    assert (await capped.run(**third))[-1]["reason"] == "budget"
    assert not (await _tried(capped))["ok"]
    assert len(capped.models.requests) == 2


@SPANS
async def test_a_project_inside_of_another_one_has_its_own_account(
    capped: Project, request: pytest.FixtureRequest
) -> None:
    """Its runs are under its caps, whether they were started from above or in it."""
    span = request.node.callspec.params["capped"]
    (capped.root / "sub").mkdir()
    capped.write(**{"sub/one": ONE})
    (capped.root / "sub" / ".loop-ls.yaml").write_text(f"limits: {{{span}: {{budgetUsd: 1.2}}}}\n{PRICE}")
    within = {"name": "sub/one", "root": str(capped.root / "sub")}
    for started in ({"name": "one"}, {"name": "sub/one"}, within, {"name": "one"}):
        assert (await capped.run(**started))[-1]["reason"] == "completed"
    for started in ({"name": "one"}, {"name": "sub/one"}, within):
        assert (await capped.run(**started))[-1]["reason"] == "budget"


NOON = time.mktime((2026, 5, 5, 12, 0, 0, 0, 0, -1))
HOURS = 3600.0


@pytest.mark.parametrize("capped", ["perDay"], indirect=True)
@pytest.mark.parametrize("then", [kept, deleted])
@pytest.mark.parametrize("behind", [13 * HOURS, 40 * 24 * HOURS, 20_000 * 24 * HOURS], ids=["a day", "days", "1971"])
async def test_an_engine_that_starts_while_its_clock_is_behind_gives_no_money_back(
    capped: Project, behind: float, then: Any
) -> None:
    now = [NOON]
    await capped.close()
    await capped.open(clock=lambda: now[0])
    for _ in range(2):
        facts = await capped.run("one")
        assert facts[-1]["reason"] == "completed"
    await then(capped, facts[0]["runId"])
    await capped.close()
    now[0] = NOON - behind
    await capped.open(clock=lambda: now[0])
    assert (await capped.run("one"))[-1]["reason"] == "budget"
    now[0] = NOON - 12.5 * HOURS  # it is put right, in two steps
    assert (await capped.run("one"))[-1]["reason"] == "budget"
    now[0] = NOON + HOURS
    assert (await capped.run("one"))[-1]["reason"] == "budget"
    now[0] = NOON + 24 * HOURS
    assert (await capped.run("one"))[-1]["reason"] == "completed"


@pytest.mark.parametrize("capped", ["perDay"], indirect=True)
async def test_of_a_run_over_midnight_only_what_it_spent_since_then_counts(capped: Project) -> None:
    now = [NOON]
    await capped.close()
    await capped.open(clock=lambda: now[0])
    capped.write(two=ONE.replace("]", ", {name: again, run: 'Again {{write.output}}'}]"))
    capped.models.script["again"] = ["w" * 50]

    def midnight(request: Any) -> float:
        now[0] = NOON + (24 * HOURS if request.place.endswith("again") else 0.0)
        return 0.0

    capped.models.wait = midnight
    assert (await capped.run("two"))[-1]["reason"] == "completed"
    await capped.close()
    capped.models.wait = lambda request: 0.0
    await capped.open(clock=lambda: now[0])
    assert [(await capped.run("one"))[-1]["reason"] for _ in range(2)] == ["completed", "budget"]


@SPANS
async def test_mock_runs_are_in_no_account(capped: Project) -> None:
    for _ in range(3):
        assert (await capped.run("one", mock=True))[-1]["reason"] == "completed"
    assert (await capped.run("one"))[-1]["reason"] == "completed"


@SPANS
async def test_an_unknown_price_is_refused_at_the_start(capped: Project) -> None:
    written = (capped.root / ".loop-ls.yaml").read_text()
    capped.settings(written.replace("ollama:", "house: {baseUrl: 'https://x.example/v1'}, ollama:"))
    capped.write(other=ONE.replace("ollama", "house"))
    answer = await capped.start("other")
    assert not answer["ok"]
    assert "price" in answer["message"]


async def test_a_cap_on_tokens_is_as_good(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.settings("limits: {perDay: {maxTokens: 150}}\n")
    project.write(one=ONE)
    project.models.script["write"] = ["w" * 50]
    await project.open()
    reasons = [(await project.run("one"))[-1]["reason"] for _ in range(6)]
    assert reasons[0] == "completed"
    assert reasons[-1] == "budget"
    await project.close()


async def test_at_midnight_there_is_a_new_day() -> None:
    now = [time.mktime((2026, 5, 4, 23, 59, 0, 0, 0, -1))]
    ledger = DayLedger(Caps(usd=1.0), {today(now[0]): Cost(0.9)}, lambda: now[0], "perDay.")
    with pytest.raises(CapReached):
        await ledger.hold([Cost(0.5)])
    now[0] += 120
    await ledger.hold([Cost(0.5)])
    assert ledger.spent == Cost()


async def test_a_clock_that_is_put_back_gives_no_money_back() -> None:
    now = [time.mktime((2026, 5, 5, 0, 1, 0, 0, 0, -1))]
    ledger = DayLedger(Caps(usd=1.0), {today(now[0]): Cost(0.9)}, lambda: now[0], "perDay.")
    now[0] -= 120
    with pytest.raises(CapReached):
        await ledger.hold([Cost(0.5)])
    now[0] += 120  # the same day as before
    with pytest.raises(CapReached):
        await ledger.hold([Cost(0.5)])
    now[0] += 86_400
    await ledger.hold([Cost(0.5)])


@pytest.mark.parametrize("days", [-400, -1, 1, 3000])
async def test_a_clock_that_was_wrong_for_a_moment_gives_no_money_back(days: int) -> None:
    now = [time.mktime((2026, 5, 5, 12, 0, 0, 0, 0, -1))]
    ledger = DayLedger(Caps(usd=10.0), {today(now[0]): Cost(0.75)}, lambda: now[0], "perDay.")
    for _ in range(3):
        now[0] += days * 86_400
        ledger.count([("call", {"usd": 0.25})])
        now[0] -= days * 86_400
        ledger.begin()
    assert ledger.spent.usd == pytest.approx(1.5)
    now[0] += 86_400
    ledger.begin()
    assert ledger.spent.usd == pytest.approx(0.75 if days > 0 else 0.0)  # that day, or a later one, began before


@pytest.mark.parametrize("span", ["perDay", "perProject"])
async def test_agents_side_by_side_share_what_is_left(tmp_path: Path, span: str) -> None:
    """Nobody can bound what an agent costs, so the second one waits for what the first one leaves."""
    project = EngineProject(tmp_path)
    project.agent.say({"text": "ok", "cost": 0.6})
    project.settings["limits"] = {span: {"budgetUsd": 1.0}}
    project.write(maxIterations=1)
    try:
        runs = []
        for name in "abcd":
            path = project.root / f"{name}.assistant.json"
            path.write_text(json.dumps({**project.assistant, "name": name}))
            runs.append(await project.started(path=str(path)))
        ends = [(await project.ended(run)).end["reason"] for run in runs]
    finally:
        await project.close()
    assert sorted(option(call["words"], "--max-budget-usd") or "" for call in project.agent.calls) == ["0.4", "1"]
    assert sorted(ends) == ["budget", "budget", "max_iterations", "max_iterations"]


@pytest.mark.parametrize("said", [None, -1, "much"])
@pytest.mark.parametrize(
    "limits", [{"budgetUsd": 1.0}, {"perDay": {"budgetUsd": 1.0}}, {"perProject": {"budgetUsd": 1.0}}]
)
async def test_an_agent_that_does_not_say_its_cost_counts_for_all_that_it_was_allowed(
    tmp_path: Path, limits: dict[str, Any], said: Any
) -> None:
    """Otherwise a limit of dollars would hang on its kindness."""
    project = EngineProject(tmp_path)
    project.agent.say({"text": "ok", "cost": said})
    project.settings["limits"] = limits
    project.write(maxIterations=5)
    try:
        first = await project.run()
        await project.close()
        again = await project.run() if "budgetUsd" not in limits else first
    finally:
        await project.close()
    assert [facts.end["reason"] for facts in (first, again)] == ["budget", "budget"]
    assert len(project.agent.calls) == 1
    assert [fact["usd"] for fact in first.of("call")] == [1.0]


async def test_an_agent_that_does_not_say_its_cost_works_where_no_dollars_are_limited(tmp_path: Path) -> None:
    project = EngineProject(tmp_path)
    project.agent.say({"text": "ok", "cost": None})
    project.settings["limits"] = {"maxTokens": 1000}
    project.write(maxIterations=3)
    try:
        facts = await project.run()
    finally:
        await project.close()
    assert facts.end["reason"] == "max_iterations"
    assert [fact.get("usd") for fact in facts.of("call")] == [None] * 3


async def test_one_account_is_seen_under_the_caps_of_each_run() -> None:
    now = [time.mktime((2026, 1, 1, 12, 0, 0, 0, 0, -1))]
    account = DayLedger(Caps(), {today(now[0]): Cost(0.5)}, lambda: now[0], "perDay.")
    narrow, wide = account.under(Caps(usd=1.0)), account.under(Caps(usd=9.0))
    _, hold = await wide.hold([Cost(0.4)])
    wide.settle(hold, Cost(0.4))
    with pytest.raises(CapReached, match="may cost"):
        await narrow.hold([Cost(0.2)])
    account.count([("call", {"usd": 0.4})])
    assert narrow.left_usd == pytest.approx(0.1)
    now[0] += 86_400
    for each in (narrow, wide, account):  # the day begins once
        each.begin()
        each.lost(Cost(0.3))
    assert narrow.left_usd == pytest.approx(0.1)


@SPANS
async def test_trials_of_a_condition_count_for_what_all_runs_may_cost(capped: Project) -> None:
    """Each costs half a dollar, and may cost 64 cents. They are in no record, and a restart forgets none."""
    capped.models.script["judge"] = ["NO " + "n" * 47]
    await _tried(capped)
    await capped.close()
    await capped.open()
    assert (await capped.run("one"))[-1]["reason"] == "completed"
    assert (await _tried(capped))["code"] == "limit_reached"
    assert (await capped.run("one"))[-1]["reason"] == "budget"
    assert len(capped.models.requests) == 2


@SPANS
async def test_trials_side_by_side_do_not_pass_it_together(capped: Project) -> None:
    capped.models.script["judge"] = ["NO " + "n" * 47]
    capped.models.wait = lambda request: 0.02
    answers = await asyncio.gather(*(_tried(capped) for _ in range(4)))
    assert sorted(answer["ok"] for answer in answers) == [False, False, True, True]
    assert len(capped.models.requests) == 2


@SPANS
async def test_among_engines_that_share_a_database_each_trial_has_the_caps_of_one_run(
    capped: Project, request: pytest.FixtureRequest
) -> None:
    """A limit that the documentation names."""
    capped.models.script["judge"] = ["NO " + "n" * 47]
    assert capped.engine is not None
    capped.engine._spending.accounts = cast(Any, object())
    for _ in range(4):
        assert (await _tried(capped))["ok"]
    span = request.node.callspec.params["capped"]
    capped.settings(f"limits: {{budgetUsd: 0.1, {span}: {{budgetUsd: 1.2}}}}\n{PRICE}")
    assert not (await _tried(capped))["ok"]


async def _tried(project: Project) -> dict[str, Any]:
    assert project.engine is not None
    path = str(project.root / "polish.yaml")
    asked = {"root": str(project.root), "path": path, "loop": "polish", "output": "x"}
    return await project.engine.test_until(asked)
