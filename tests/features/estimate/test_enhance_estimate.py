"""What an enhance loop may cost before it is started."""

from __future__ import annotations

import pytest

from loop_ls.features.estimate.answers import Dollars
from loop_ls.features.estimate.estimate import estimate
from loop_ls.formats.settings.model import read_settings
from loop_ls.index.disk.roots import Roots
from loop_ls.index.document import Document
from loop_ls.index.workspace import Workspace

FLOW = """\
$schema: workflow/v2.0
name: report
version: 1.0.0
execution: {provider: acme, model: m}
steps:
  - {name: draft, run: "Write about {{input}}"}
  - {name: review, run: "Review {{draft}}"}
"""
PRICED = "providers: {acme: {kind: openai, baseUrl: 'http://x', price: {input: 50, output: 100}}}\n"


def cost(settings: str) -> tuple[tuple[int, int | None], Dollars | None, str]:
    document = Document.open("file:///root/report.yaml", FLOW)
    found = estimate(Workspace.of(Roots("/root"), [document], read_settings(settings)[0]), document)
    return tuple(found.calls), found.usd, found.why


def test_a_plain_run_is_one_round() -> None:
    calls, usd, why = cost(PRICED + "enhance: {maxRounds: 3}\n")
    assert (calls, usd) == ((2, 2), Dollars(0.4, 0.4))
    assert "enhance" not in why


def test_an_enhance_loop_is_all_its_rounds_and_the_plans_between() -> None:
    calls, usd, why = cost(PRICED + "enhance: {workflows: {report: {enabled: true, maxRounds: 3}}}\n")
    assert calls == (2, 3 * 2 + 2 * 2)
    assert usd == Dollars(0.4, pytest.approx(3 * 0.4 + 4 * 0.2))
    assert why.startswith("An enhance loop: at most 3 rounds and 4 answers of the planner, $5.00 in total.")


def test_its_cap_bounds_what_it_may_cost() -> None:
    _, usd, why = cost(PRICED + "enhance: {budgetCapUsd: 1, workflows: {report: {enabled: true}}}\n")
    assert usd == Dollars(0.4, 1.0)
    assert "$1.00 in total" in why


def test_without_a_price_of_the_workflow_there_is_the_cap() -> None:
    calls, usd, why = cost("enhance: {workflows: {report: {enabled: true, maxRounds: 2, plannerAttempts: 1}}}\n")
    assert (calls, usd) == ((2, 5), None)
    assert "it ends at $5.00" in why


@pytest.mark.parametrize("price", ["{}", "{input: 3}", "{input: -3, output: -15}", "{input: 3, outptu: 15}", "free"])
def test_a_faulty_price_is_not_known_rather_than_nothing(price: str) -> None:
    _, usd, why = cost(f"providers: {{acme: {{kind: openai, baseUrl: 'http://x', price: {price}}}}}\n")
    assert usd is None
    assert "Unknown price for `acme` `m`" in why
