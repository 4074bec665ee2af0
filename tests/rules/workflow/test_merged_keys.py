"""What a merge (`<<`) brings is judged where it is written: no rule speaks of it a second time, or trips over it."""

from __future__ import annotations

import pytest

from loop_ls.testing.fixture import read_fixture
from tests.rules.checking import findings_of

DRAFT = """
#- draft.yaml
steps:
  - {name: write, run: "Improve {{input}}, write READY below it"}
"""
STEPS = """
steps:
  - &one {{name: first, {keys}}}
  - {{<<: *one, name: second}}
  - {{name: last, needs: [first, second], run: "{{{{first}}}} {{{{second}}}}"}}
"""
LOOPS = """
loops:
  - &one {{name: first, workflow: draft, {keys}}}
  - {{<<: *one, name: second}}
steps:
  - {{name: last, needs: [first, second], run: "{{{{first}}}} {{{{second}}}}"}}
"""
EXECUTION = """
steps:
  - &one {{name: first, run: Say hello, {keys}}}
execution: {{<<: *one, provider: ollama, model: llama3.2}}
"""


def at_both(frame: str, keys: str) -> tuple[list[str], list[str]]:
    """The rules that speak where the keys are written, and where they are merged in."""
    fixture = read_fixture(frame.format(keys=keys) + DRAFT)
    lines = fixture.main.text.splitlines()
    found = findings_of(fixture, ["pedantic"])[fixture.main.path]
    ordinary = ("WF120", "WF205", "WF211", "WF212", "WF420", "WF902")
    written, merged = (
        [one.rule for one in found if mark in lines[one.span.start.line] and one.rule not in ordinary]
        for mark in ("&one", "*one")
    )
    return written, merged


CASES = {
    STEPS: [
        ("run: '{{input}}', timeout: 0s", "WF118"),
        ("run: '{{input}}', temperature: 3", "WF118"),
        ("run: '{{input}}', max_tokens: 0", "WF118"),
        ("run: '{{input}}', provider: anthropic, model: x, temperature: 1.5", "WF903"),
        ("run: '{{input}}', provider: antropic, model: x", "WF901"),
        ("run: '{{input}}', on_failure: stop", "WF209"),
        ("run: '{{input}}', max_retries: 4", "WF210"),
        ("run: '{{input}}', logging: normal", "WF110"),
        ("run: '{{input}}', needs: [zz, zz]", "WF301 WF301 WF307"),
        ("run: '{{input}}', needs: [first]", "WF302"),
        ("run: '{{input}}', condition: '{{input}}'", "WF006"),
        ("run: '{{input}}', if: '{{input}} > 3'", "WF213"),
        ("rag: {query: x, server: s, fusion: z}", "WF813"),
        ("rag: {query: '', server: ''}", "WF811 WF812"),
        ("embeddings: {input: a, dimensions: 0, input_file: x.txt}", "WF208 WF118"),
        ("embeddings: {input: a, chunk_strategy: words}", "WF821"),
        (
            "consensus: {prompt: 'Say {{input}}, explain why', require: most, executions: [{model: x}]}",
            "WF802 WF803 WF804 WF806",
        ),
        ("template: {name: draft, with: {input: y, env: x}}", "WF516"),
        ("template: {name: nowhere}", "WF601"),
        ("loop: {workflow: draft, max_iterations: 0, until: It says READY}", "WF403"),
        ("loop: {workflow: draft, max_iterations: 3, until: Looks good, parallel: true}", "WF412 WF701"),
    ],
    LOOPS: [
        ("max_iterations: 0, until: It says READY", "WF403"),
        ("max_iterations: 101, until: It says READY", "WF704"),
        ("max_iterations: 1, until: It says READY", "WF705"),
        ("max_iterations: 3, until: Looks good", "WF701"),
        ("max_iterations: 3, until: It says READY, mode: refined", "WF404"),
        ("max_iterations: 3, until: It says READY, items: '{{input}}'", "WF407"),
        ("max_iterations: 3, until: It says READY, max_retries: 3", "WF410"),
        ("max_iterations: 3, until: It says READY, on_failure: retry, max_retries: 0, retry_delay: 0s", "WF118"),
        ("max_iterations: 3, until: It says READY, on_failure: stop", "WF408"),
        ("max_iterations: 3, until: It says READY, accumulate: all", "WF202 WF416"),
        ("max_iterations: 3, until: It says READY, with: {x: '{{input}}'}", "WF706"),
        ("max_iterations: 3, until: It says READY, with: {env: '{{loop.last.output}}'}", "WF516"),
        ("mode: iterate, items: '{{input}}', max_iterations: 3, max_workers: 101, parallel: true", "WF414"),
        ("mode: iterate, items: '{{input}}', max_iterations: 3, max_workers: 4", "WF414"),
        ("mode: iterate, items: '{{input}}', max_iterations: 3, min_success_rate: 2", "WF411"),
        ("mode: iterate, items: a, max_iterations: 3", "WF419"),
        ("mode: iterate, items: '{{foo.bar}}', max_iterations: 3", "WF503"),
        (
            "mode: iterate, items: '{{input}}', max_iterations: 3, total_timeout: 0s, timeout_per_item: 0s",
            "WF118 WF118",
        ),
    ],
    EXECUTION: [
        ("provider: antropic, model: x", "WF901"),
        ("logging: normal", "WF110 WF216"),
        ("temperature: 3", "WF118 WF216"),
        ("max_tokens: 0", "WF118 WF216"),
        ("timeout: 0s", "WF118 WF216"),
        ("max_workers: 4", "WF006"),
        ("max_workers: 101", "WF006"),
        ("on_error: abort_all", "WF006"),
    ],
}


@pytest.mark.parametrize(
    ("frame", "keys", "expected"), [(frame, *case) for frame, cases in CASES.items() for case in cases]
)
def test_a_fault_that_a_merge_brings_is_told_where_it_is_written(frame: str, keys: str, expected: str) -> None:
    written, merged = at_both(frame, keys)
    assert sorted(written) == sorted(expected.split())
    assert merged == []


ALIASED = """
steps:
  - {{name: first, {mode}: &one {block}}}
  - {{name: second, {mode}: *one}}
  - {{name: last, needs: [first, second], run: "{{{{first}}}} {{{{second}}}}"}}
"""
BLOCKS = [(*keys.split(": ", 1), rules) for keys, rules in CASES[STEPS] if keys.endswith("}")]


@pytest.mark.parametrize(("mode", "block", "expected"), BLOCKS)
def test_a_fault_behind_an_alias_is_told_where_it_is_written(mode: str, block: str, expected: str) -> None:
    frame = ALIASED.format(mode=mode, block=block).replace("{", "{{").replace("}", "}}")
    written, aliased = at_both(frame, "")
    assert sorted(written) == sorted(expected.split())
    assert aliased == []


def test_too_few_models_are_told_where_they_are_written() -> None:
    source = "steps:\n  - {name: a, consensus: &one {prompt: '{{input}}', require: all, "
    source += "executions: [{provider: openai, model: x}]}}\n  - {name: b, consensus: {<<: *one, prompt: again}}\n"
    found = findings_of(read_fixture(source))["flow.yaml"]
    assert [one.rule for one in found if one.rule == "WF802"] == ["WF802"]
