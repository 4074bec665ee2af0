"""One fault, one finding: what follows from a fault is not told beside it."""

from __future__ import annotations

import pytest

from loop_ls.testing.fixture import read_fixture
from tests.rules.checking import findings_of

HEAD = "steps:\n  - name: research\n    run: 'Find {{input}}'\n"


def rules(text: str) -> list[tuple[str, str]]:
    return [(one.rule, one.message) for one in findings_of(read_fixture(text))["flow.yaml"]]


@pytest.mark.parametrize(
    "written",
    ["    modle: [", "    mod el: 'x", "    tem:{", "      x", "    x: y: z", "    run2: {"],
)
def test_a_line_that_cannot_be_read_is_told_once(written: str) -> None:
    assert [rule for rule, _ in rules(f"{HEAD}{written}\n")] == ["WF001"]


def test_other_lines_of_a_broken_file_keep_their_findings() -> None:
    found = rules(f"{HEAD}    modle: x\n    timeout: 'x\n")
    assert [rule for rule, _ in found] == ["WF006", "WF001"]


def test_a_misspelt_need_is_not_missed_as_well() -> None:
    last = "  - name: report\n    needs: [{}]\n    run: 'Report on {{{{research}}}}'\n"
    assert [rule for rule, _ in rules(HEAD + last.format("reserach"))] == ["WF301"]
    assert [rule for rule, _ in rules(HEAD + last.format("other"))] == ["WF301", "WF304"]


@pytest.mark.parametrize(("written", "meant"), [("templ", "template"), ("conse", "consensus"), ("retr", None)])
def test_WF006_a_key_that_was_begun_is_the_one_that_goes_on_like_it(written: str, meant: str | None) -> None:
    told = [message for rule, message in rules(f"{HEAD}    {written}: x\n") if rule == "WF006"]
    assert (f"did you mean `{meant}`?" if meant else "its keys are") in told[0]


def test_of_two_reasons_at_one_place_it_is_always_the_same() -> None:
    text = "execution: {provider: ollac: *x\n  *x : [ama, model: llama3.2}\n"
    assert len({tuple(rules(HEAD + text)) for _ in range(20)}) == 1
