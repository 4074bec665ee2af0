"""Every key of `enhance`, for all workflows and for one, from the settings to what an enhance loop does with it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.engine.enhance.loops import THREE, VERIFY, failing, instructions, plan_of
from tests.wired.project import Ended, WiredProject, wrong
from tests.wired.row import PLACE, Row

BAD = [failing("bad_answer", f"fault {word}") for word in ("red", "green", "blue", "grey")]
SAME = failing("bad_answer", "fault")
BETTER = [plan_of(instructions("review", f"Review {{{{draft}}}} {word}")) for word in ("well", "better", "best")]
BOTH = plan_of(instructions("review", "Review {{draft}} well"), instructions("publish", "Publish {{review}} well"))
LONG = "y" * 1_500
#: Nobody knows what a call of it costs.
WITHOUT_PRICE = "providers: {acme: {kind: openai, baseUrl: 'https://acme.example/v1'}}"


def rounds(run: Ended) -> object:
    return len(run.of("round_started"))


def planner(run: Ended) -> Any:
    return next(one for one in run.models.requests if one.purpose == "planner")


def reason(run: Ended) -> object:
    return run.end.get("reason") or run.end["kind"]


def refused_ops(run: Ended) -> object:
    return any(one["reasonCode"] != "too_many" for one in run.of("op_rejected"))


def too_many(run: Ended) -> object:
    return any(one["reasonCode"] == "too_many" for one in run.of("op_rejected"))


def excerpt(run: Ended) -> str:
    return str(run.of("report_ready")[0]["report"]["failures"][0]["output_excerpt"])


def planned(text: str) -> Callable[[Ended], object]:
    return lambda run: text in planner(run).prompt


def plan(*path: str) -> Callable[[Ended], object]:
    def sees(run: Ended) -> object:
        found: Any = run.first["plan"]
        for name in path:
            found = found.get(name)
        return found

    return sees


#: What steps and planner answer, where the row says nothing else.
USUAL: dict[str, Any] = {"review": BAD, "planner": BETTER}
#: A row and what is special about its run.
ROWS: tuple[tuple[Row, dict[str, Any]], ...] = (
    (Row("maxRounds", PLACE, "maxRounds: 2", rounds, 2, 3), USUAL),
    (Row("budgetCapUsd", PLACE, "budgetCapUsd: 0.25", reason, "budget", "max_rounds"), USUAL),
    (Row("onFixation", PLACE, "onFixation: warn", rounds, 3, 2), {**USUAL, "review": SAME}),
    (Row("convergenceMode", PLACE, "convergenceMode: lenient", plan("knobs", "convergenceMode"), "lenient", None),
     USUAL),
    (Row("plannerProvider", f"plannerModel: wise, {PLACE}", "plannerProvider: own",
         lambda run: planner(run).provider, "own", "acme"), USUAL),
    (Row("plannerModel", PLACE, "plannerModel: wise", lambda run: planner(run).model, "wise", "large"), USUAL),
    (Row("maxOpsPerRound", PLACE, "maxOpsPerRound: 1", too_many, True, False), {**USUAL, "planner": BOTH}),
    (Row("maxEditedStepsPerRound", PLACE, "maxEditedStepsPerRound: 1", too_many, True, False),
     {**USUAL, "planner": BOTH}),
    (Row("plannerTimeoutSeconds", PLACE, "plannerTimeoutSeconds: 33", lambda run: planner(run).timeout, 33.0, 120.0),
     USUAL),
    (Row("plannerAttempts", PLACE, "plannerAttempts: 1", lambda run: len(run.of("planner_failed")), 1, 2),
     {**USUAL, "planner": "prose"}),
    (Row("excerptChars", PLACE, "excerptChars: 300", lambda run: len(excerpt(run)) <= 300, True, False),
     {**USUAL, "draft": LONG, "publish": LONG, "review": "fine", "verify": "FAIL"}),
    (Row("fallbackPool", PLACE, "fallbackPool: [{provider: spare, model: tyre}]", planned("tyre"), True, False), USUAL),
    (Row("transientBackoffSeconds", PLACE, "transientBackoffSeconds: 0", plan("knobs", "transientBackoffSeconds"), 0,
         None), USUAL),
    (Row("applyWhenHeadless", PLACE, "applyWhenHeadless: true", lambda run: run.answer["ok"], True, False), USUAL),
    (Row("unknownPriceUsdPerCall", PLACE, "unknownPriceUsdPerCall: 3", reason, "budget", "max_rounds"), USUAL),
)  # fmt: skip
OWN_ROWS: tuple[tuple[Row, dict[str, Any]], ...] = (
    (Row("enabled", PLACE, "enabled: true", lambda run: run.first["format"], "enhance", "workflow"), USUAL),
    (Row("verifiers", PLACE, "verifiers: [review]", refused_ops, True, False), USUAL),
)
#: The entry of the pool.
FALLBACKS = (
    Row("fallback.provider", f"enhance: {{fallbackPool: [{{model: tyre, {PLACE}}}]}}", "provider: spare",
        planned("spare"), True, False, "provider: other"),
    Row("fallback.model", f"enhance: {{fallbackPool: [{{provider: spare, {PLACE}}}]}}", "model: tyre",
        planned("tyre"), True, False, "model: other"),
    Row("settings.enhance", PLACE, "enhance: {maxRounds: 2}", rounds, 2, 3),
    Row("enhance.workflows", f"enhance: {{{PLACE}}}", "workflows: {report: {maxRounds: 2}}", rounds, 2, 3),
)  # fmt: skip


def _placed() -> dict[str, tuple[Row, dict[str, Any]]]:
    """Each key for all workflows, and in the entry of one."""
    found = {}
    for row, script in ROWS:
        name = f"enhance.{row.key}"
        found[name] = (row._replace(key=name, text=f"enhance: {{{row.text}}}"), script)
    for row, script in (*ROWS, *OWN_ROWS):
        name = f"enhanced workflow.{row.key}"
        found[name] = (row._replace(key=name, text=f"enhance: {{workflows: {{report: {{{row.text}}}}}}}"), script)
    return found | {row.key: (row, USUAL) for row in FALLBACKS}


PLACED = _placed()


@pytest.mark.timeout(600)
def test_a_key_of_enhance_is_seen_in_its_loop(tmp_path: Path) -> None:
    with asyncio.Runner() as runner:
        told = runner.run(_wrong(tmp_path))
    assert told == "", told


async def _wrong(folder: Path) -> str:
    project = WiredProject(folder)
    await project.open()

    def alike(row: Row) -> tuple[int, str]:
        """Of the same script and started in the same way."""
        name = row.key.rpartition(".")[2]
        return id(PLACED[row.key][1]), name if name in ("excerptChars", "enabled", "applyWhenHeadless") else ""

    async def run(row: Row, text: str) -> Ended:
        _, special = alike(row)
        project.write("report.yaml", THREE + VERIFY if special == "excerptChars" else THREE)
        project.write(".loop-ls.yaml", f"{text}\n{WITHOUT_PRICE}\n")
        start: dict[str, Any] = {} if special == "enabled" else {"start": True}
        start |= {} if special == "applyWhenHeadless" else {"headless": True}
        return await project.run("report.yaml", dict(PLACED[row.key][1]), input="tea", enhance=start)

    try:
        return await wrong([row for row, _ in PLACED.values()], run, alike)
    finally:
        await project.close()
