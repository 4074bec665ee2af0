"""Inlay hints and semantic tokens."""

from __future__ import annotations

from typing import Any

from loop_ls.contract.run_view.parts import Verdict
from loop_ls.features.answers import LoopView, ShownRun
from loop_ls.features.inlay_hints.inlay_hints import inlays
from loop_ls.features.semantic_tokens.token import MODIFIERS
from loop_ls.features.semantic_tokens.tokens import tokens
from loop_ls.text.position import Position, Span, span

FLOW = """
#- flow.yaml
$schema: workflow/v2.0
name: flow
version: 1.0.0
execution:
  provider: ollama
  model: llama3.2
  servers: [filesystem]
  timeout: 5400s
env: {TONE: calm}
steps:
  - name: draft
    run: "Draft {{input}} {{env.TONE}} {{who}}"
  - name: own
    provider: openai
    model: gpt-4o
    max_iterations: 3
    timeout: 30s
    run: "{{step.draft}}"
    no_color: true
loops:
  - name: refine
    workflow: "polish"
    with: {text: "{{loop.last.output}}"}
    max_iterations: 5
    until: "The review says PASS"
    on_failure: retry
    accumulate: drafts
"""
ALL = span(0, 0, 10_000, 0)


def hints(ask: Any, where: Span = ALL, *runs: ShownRun) -> list[str]:
    return [f"{one.at.line + 1}: {one.text}" for one in inlays(ask(FLOW).workspace, ask(FLOW).document, where, runs)]


def test_UP_49_what_counts_without_being_written(ask: Any) -> None:
    assert hints(ask) == [
        "8: 1 hour 30 minutes",
        "11: ollama llama3.2 · ≤ 10 tool rounds",
        "26: up to 3 retries, then halt",
    ]
    tips = [one.tooltip for one in inlays(ask(FLOW).workspace, ask(FLOW).document, ALL)]
    assert tips[1] == "from `execution`, `max_iterations` from the default"


def test_only_the_lines_that_are_asked_for(ask: Any) -> None:
    assert hints(ask, span(9, 0, 12, 0)) == ["11: ollama llama3.2 · ≤ 10 tool rounds"]


def test_hints_stand_behind_everything_on_their_line(ask: Any) -> None:
    asked = ask(FLOW.replace("on_failure: retry", "on_failure: retry  # why"))
    found = inlays(asked.workspace, asked.document, ALL)[-1]
    assert found.at == Position(25, len(asked.document.text.lines[25]))


def run(status: str, loop: LoopView) -> ShownRun:
    return ShownRun("r", "file:///w/flow.yaml", "loop", "refine", status, loops={"refine": loop})


def test_the_last_run_at_name_and_condition(ask: Any) -> None:
    verdicts = (Verdict(1, "no"), Verdict(2, "yes"))
    ended = run("completed", LoopView("refine", "completed", 2, 5, "condition_met", verdicts))
    assert "21: ✓ condition met in iteration 2" in hints(ask, ALL, ended)
    assert "25: ① NO  ② YES" in hints(ask, ALL, ended)
    going = run("running", LoopView("refine", "running", 3, 5, None, (Verdict(1, "no"), Verdict(2, "no"))))
    assert "21: ③ running…" in hints(ask, ALL, going)
    many = tuple(Verdict(n, "no") for n in range(1, 31))
    long = run("running", LoopView("refine", "running", 31, 50, None, many))
    assert [line for line in hints(ask, ALL, long) if line.startswith("25: … (21) NO")]


def coloured(ask: Any, source: str = FLOW, where: Span | None = None) -> list[str]:
    document = ask(source).document
    out = []
    for token in tokens(document, where):
        text = document.text.lines[token.line][token.column : token.column + token.length]
        marks = [name for index, name in enumerate(MODIFIERS) if token.modifiers >> index & 1]
        out.append(" ".join([f"{token.line + 1}:{text}", token.type.value, *marks]))
    return [line for line in out if "operator" not in line]


def test_variables_by_kind_references_and_keys_without_effect(ask: Any) -> None:
    assert coloured(ask) == [
        "2:flow function declaration",
        "9:TONE property declaration readonly",
        "11:draft variable declaration",
        "12:input parameter",
        "12:env.TONE property readonly",
        "12:who parameter",
        "13:own variable declaration",
        "18:step.draft variable",
        "19:no_color property deprecated",
        "21:refine variable declaration",
        "22:polish function",
        "23:text parameter declaration",
        "23:loop.last.output keyword readonly",
        "27:drafts variable declaration",
    ]


def test_a_range_of_lines(ask: Any) -> None:
    assert coloured(ask, where=span(10, 0, 11, 5)) == [
        "11:draft variable declaration",
        "12:input parameter",
        "12:env.TONE property readonly",
        "12:who parameter",
    ]


def test_tokens_are_in_order_and_never_overlap(ask: Any) -> None:
    source = FLOW + "    x: &a [1]\n  - {name: z, workflow: *a, until: '{{a}} {{a}}', needs: *a}\n"
    last = (-1, 0)
    for token in tokens(ask(source).document):
        assert (token.line, token.column) >= last
        last = (token.line, token.column + token.length)


def test_braces_are_operators(ask: Any) -> None:
    found = [token for token in tokens(ask(FLOW).document) if token.type.value == "operator"]
    assert len(found) == 2 * 5
    assert all(token.length == 2 for token in found)
