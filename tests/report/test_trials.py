"""Trials as lines and as JUnit XML: a check that nobody could decide is an error there, not a failure."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

from loop_ls.report.trials import Trial, summary_line, trial_id, trial_lines, trials_as_junit

TRIALS = (
    Trial("a.cases.yaml::sea", "passed", seconds=1.26, usd=0.02, score=0.75),
    Trial("a.cases.yaml::<x>", "failed", ("heading: missing & gone\nmore of it",), seconds=0.5),
    Trial("a.cases.yaml::judged", "error", ("no verdict: fine",)),
    Trial("a.cases.yaml::late", "skipped", ("not ready",)),
)


def test_lines() -> None:
    assert list(trial_lines(TRIALS[0])) == ["a.cases.yaml::sea  passed  score 0.75  1.3 s  $0.02"]
    assert list(trial_lines(TRIALS[1]))[1:] == ["  heading: missing & gone", "    more of it"]
    assert summary_line(TRIALS) == "1 passed, 1 failed, 1 without a verdict, 1 skipped"
    assert summary_line(()) == "no test cases were run"


def test_ids_count_only_what_is_repeated() -> None:
    assert trial_id("a.cases.yaml", "sea", 1, 1) == "a.cases.yaml::sea"
    assert trial_id("a.cases.yaml", "sea", 2, 3) == "a.cases.yaml::sea[2/3]"


def test_junit() -> None:
    (suite,) = ElementTree.fromstring(trials_as_junit("a.cases.yaml", TRIALS))
    found = {one.get("name"): [(inner.tag, inner.get("message")) for inner in one] for one in suite}
    assert found == {
        "a.cases.yaml::sea": [],
        "a.cases.yaml::<x>": [("failure", "heading: missing & gone")],
        "a.cases.yaml::judged": [("error", "no verdict: fine")],
        "a.cases.yaml::late": [("skipped", "not ready")],
    }
    assert [suite.get(name) for name in ("tests", "failures", "errors", "skipped")] == ["4", "1", "1", "1"]
