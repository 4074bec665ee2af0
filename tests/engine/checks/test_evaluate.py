"""Each type of check on outputs that pass and fail it, and on those of which nobody can say."""

from __future__ import annotations

import itertools
import json

import pytest

from loop_ls.engine.checks import text_checks
from loop_ls.engine.checks.evaluate import evaluated
from loop_ls.engine.checks.outcome import Outcome, all_pass, failed, feedback, passed, total_score, undecided
from loop_ls.engine.checks.recorded_result import CheckedText, RecordedResult
from loop_ls.engine.checks.text_checks import judge_text
from loop_ls.formats.checks import json_schema
from loop_ls.formats.checks.model import Check, Checks
from loop_ls.formats.checks.read import read_checks


def check(written: str) -> Check:
    found = read_checks(f"assert: [{{{written}}}]")
    assert isinstance(found, Checks), found
    return found.checks[0]


class Answering:
    """A program and a judge that say what the test wants."""

    def __init__(self, verdict: str = "pass") -> None:
        self.verdict = verdict
        self.asked: list[tuple[str, str]] = []

    async def command(self, check: Check, looked: CheckedText) -> Outcome:
        self.asked.append((check.type, looked.text))
        told = {"pass": passed, "fail": failed, "error": undecided}[self.verdict]
        return told(check, "said so")

    rubric = command


@pytest.mark.parametrize(
    ("written", "output", "verdict"),
    [
        ("type: equals, value: a b", " a b\n", "pass"),
        ("type: equals, value: 42", "42", "pass"),
        ("type: equals, value: a", "A", "fail"),
        ("type: contains, value: Sea", "the Sea", "pass"),
        ("type: contains, value: Sea", "the sea", "fail"),
        ("type: icontains, value: SEA", "the sea", "pass"),
        ("type: starts-with, value: PASS", "  PASS: yes", "pass"),
        ("type: starts-with, value: PASS", "not PASS", "fail"),
        ("type: contains-all, value: [a, b]", "b a", "pass"),
        ("type: contains-all, value: [a, b]", "a", "fail"),
        ("type: contains-any, value: [x, b]", "b", "pass"),
        ("type: contains-any, value: [x, y]", "b", "fail"),
        ("type: regex, value: '^\\d+$'", "123", "pass"),
        ("type: regex, value: abc", "ABC", "fail"),
        ("type: regex, value: '(a+)+$'", "a" * 60 + "b", "fail"),
        ("type: is-json", '{"a": 1}', "pass"),
        ("type: is-json", '```json\n{"a": 1}\n```', "fail"),
        ("type: is-json", "NaN", "fail"),
        ("type: is-json, value: {required: [a]}", '{"b": 1}', "fail"),
        ("type: is-json, value: {required: [a]}", '{"a": 1}', "pass"),
        ("type: is-json, value: {pattern: ^A}", '"a"', "fail"),
        ("type: contains-json", '```json\n{"a": 1}\n```', "pass"),
        ("type: contains-json", "none { here", "fail"),
        ("type: contains-json, value: {required: [b]}", '{"a": 1} and {"b": 2}', "pass"),
        ("type: number, min: 1", "1", "pass"),
        ("type: number, min: 1", "0.5", "fail"),
        ("type: number, max: 1", "inf", "fail"),
        ("type: number, equals: 2", "two", "fail"),
        ("type: number, path: score.0, max: 5", 'It is {"score": [5]}.', "pass"),
        ("type: number, path: score, max: 5", '{"rate": 5}', "fail"),
        ("type: number, path: score, max: 5", '{"score": true}', "fail"),
        ("type: not-contains, value: TODO", "done", "pass"),
        ("type: not-contains, value: TODO", "TODO", "fail"),
    ],
)
def test_texts(written: str, output: str, verdict: str) -> None:
    found = judge_text(check(written), output)
    assert found.verdict == verdict, found
    assert found.reason


@pytest.mark.parametrize("written", ["type: regex, value: '(a|a)+$'", "type: not-regex, value: '(a|a)+$'"])
def test_a_pattern_that_takes_too_long_is_an_error_whichever_way_it_is_turned(written: str) -> None:
    found = judge_text(check(written), "a" * 5_000 + "b", limit=0.001)
    assert (found.verdict, found.void, found.fails) == ("error", True, True)
    assert "longer than" in found.reason


def test_nothing_is_fetched_for_a_schema() -> None:
    for kind, verdict in (("is-json", "fail"), ("not-is-json", "error"), ("not-contains-json", "error")):
        found = judge_text(check(f"type: {kind}, value: {{$ref: 'http://127.0.0.1:9/schema'}}"), "{}")
        assert found.verdict == verdict
        assert "cannot be resolved" in found.reason


@pytest.mark.parametrize("kind", ["is-json", "not-is-json"])
def test_a_pattern_in_a_schema_that_takes_too_long_is_an_error(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_schema, "PATTERN_LIMIT", 0.001)
    found = judge_text(check(f"type: {kind}, value: {{pattern: '(a|a)+$'}}"), json.dumps("a" * 5_000 + "b"))
    assert found.verdict == "error"


@pytest.mark.parametrize("type_", ["contains", "icontains", "starts-with", "regex", "contains-any", "contains-all"])
async def test_a_check_that_an_input_leaves_nothing_to_look_for_is_an_error(type_: str) -> None:
    value = "['{{input}}']" if type_.startswith("contains-") else "'{{input}}'"
    for negated in ("", "not-"):
        asked = check(f"type: {negated}{type_}, value: {value}")
        [found] = await evaluated([asked], RecordedResult(result="anything"), Answering(), {"input": " "})
        assert (found.verdict, "`without`" in found.reason) == ("error", True)


async def test_places() -> None:
    recorded = RecordedResult(
        "the result", {"draft": "a draft", "deploy": None}, {"develop": ("one TODO", "two")}, usd=0.02, milliseconds=90
    )
    written = [
        ("type: contains, value: result", ["pass"]),
        ("type: contains, value: draft, on: step.draft", ["pass"]),
        ("type: contains, value: x, on: step.deploy", ["fail"]),
        ("type: contains, value: x, on: step.deploy, optional: true", ["pass"]),
        ("type: contains, value: x, on: step.never", ["fail"]),
        ("type: not-contains, value: TODO, on: loop.develop", ["pass"]),
        ("type: not-contains, value: TODO, on: loop.develop, every: true", ["fail", "pass"]),
        ("type: cost, threshold: 0.02", ["pass"]),
        ("type: cost, threshold: 0.01", ["fail"]),
        ("type: latency, threshold: 50", ["fail"]),
        ("type: not-latency, threshold: 50", ["pass"]),
    ]
    for text, verdicts in written:
        found = await evaluated([check(text)], recorded, Answering())
        assert [one.verdict for one in found] == verdicts, text
    both = await evaluated([check(written[6][0])], recorded, Answering())
    assert [one.iteration for one in both] == [1, 2]
    unpriced = await evaluated([check("type: cost, threshold: 1")], RecordedResult("x"), Answering())
    assert [one.verdict for one in unpriced] == ["error"]


@pytest.mark.parametrize(
    ("verdict", "plain", "negated"), [("pass", "pass", "fail"), ("fail", "fail", "pass"), ("error", "error", "error")]
)
async def test_programs_and_judges_are_asked_with_the_output(verdict: str, plain: str, negated: str) -> None:
    means = Answering(verdict)
    listed = [
        check("type: command, value: [test, '{{input}}']"),
        check("type: not-command, value: [test]"),
        check("type: llm-rubric, value: 'About {{input}}, {{other}}'"),
    ]
    found = await evaluated(listed, RecordedResult("out"), means, {"input": "the sea"})
    assert [one.verdict for one in found] == [plain, negated, plain]
    assert means.asked == [("command", "out"), ("command", "out"), ("llm-rubric", "out")]
    assert found[0].check.words == ("test", "{{input}}")
    assert found[2].check.text == "About the sea, {{other}}"


def test_a_score_is_the_mean_by_weight_and_a_warning_fails_nothing() -> None:
    warned = failed(check("type: is-json, severity: warn"), "no JSON")
    heavy = passed(check("type: contains, value: a, weight: 3"))
    nobody = undecided(check("type: contains, value: a"), "nobody knows")
    assert total_score([warned, heavy]) == 0.75
    assert total_score([nobody]) is None
    assert all_pass([warned, heavy])
    assert not all_pass([nobody])
    assert feedback([warned, heavy, nobody]) == ("is-json: no JSON", "contains: nobody knows")


def doubling(combined: str, size: int = 40) -> str:
    """A schema of so many lines that is a trillion: each one names the next one twice."""
    names = [f"d{number}" for number in range(size)]
    after = dict(itertools.pairwise(names))
    one = {name: {combined: [{"$ref": f"#/$defs/{after[name]}"}] * 2} for name in after}
    return json.dumps({"$defs": {**one, names[-1]: {"type": "object"}}, "$ref": "#/$defs/d0"})


@pytest.mark.parametrize("combined", ["allOf", "oneOf"])
@pytest.mark.parametrize("kind", ["is-json", "not-is-json", "contains-json"])
def test_a_schema_that_takes_for_ever_is_given_up(kind: str, combined: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A thread that nobody can stop would keep the engine busy. Whether the output fits is not known then."""
    monkeypatch.setattr(text_checks, "SCHEMA_LIMIT", 0.2)
    found = judge_text(check(f"type: {kind}, value: {doubling(combined)}"), "{}")
    assert (found.verdict, found.reason) == ("error", "the JSON Schema took longer than 0.2 s")


def test_a_schema_with_references_is_followed() -> None:
    assert judge_text(check(f"type: is-json, value: {doubling('allOf', 4)}"), "{}").verdict == "pass"
    assert judge_text(check(f"type: is-json, value: {doubling('allOf', 4)}"), "[]").verdict == "fail"
