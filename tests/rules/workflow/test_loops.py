"""Loops: keys by mode, limits, conditions, policies."""

from __future__ import annotations

import pytest

from loop_ls.testing.fixture import read_fixture
from tests.rules.checking import check_findings, findings_of

DRAFT = """
        #- draft.yaml
        steps:
          - {name: write, run: "Improve {{input}}, write READY below it"}
"""


def rules_of(loop: str, callee: str = "Improve {{input}}, write READY below it") -> list[str]:
    source = f"""
loops:
  - {{name: polish, workflow: draft, {loop}}}
#- draft.yaml
steps:
  - {{name: write, run: "{callee}"}}
"""
    return [one.rule for one in findings_of(read_fixture(source))["flow.yaml"]]


def test_the_keys_of_the_other_mode_have_no_effect() -> None:
    check_findings(
        """
        loops:
          - name: polish
            workflow: draft
            items: "a, b"
          # ^^^^^ warning: WF407 mode `refine`
            min_success_rate: 0.5
          # ^^^^^^^^^^^^^^^^ warning: WF407
            parallel: true
          # ^^^^^^^^ warning: WF412
            max_workers: 200
          # ^^^^^^^^^^^ warning: WF414 must be from 1 to 100
            max_iterations: 3
            until: "The reply contains READY"
        """
        + DRAFT
    )


def test_nothing_more_is_said_about_a_loop_of_unknown_mode() -> None:
    assert rules_of("mode: repaet, max_iterations: 500") == ["WF404"]
    assert rules_of("mode: [refine], max_iterations: 500") == ["WF007"]


@pytest.mark.parametrize(
    ("limit", "rules"),
    [
        (1, ["WF705"]),
        (2, []),
        (20, []),
        (21, ["WF704"]),
        (99, ["WF704"]),
        (100, ["WF704"]),
        (0, ["WF403"]),
        (-3, ["WF403"]),
    ],
)
def test_limits_of_a_refine_loop(limit: int, rules: list[str]) -> None:
    assert rules_of(f'max_iterations: {limit}, until: "The reply contains READY"') == rules


def test_an_empty_condition_is_a_missing_one() -> None:
    assert rules_of('max_iterations: 3, until: ""') == ["WF405"]


def test_WF708_a_marker_that_must_be_absent_or_is_an_abbreviation_is_none() -> None:
    assert rules_of('max_iterations: 3, until: "The reply has no TODO and is JSON"') == []
    assert rules_of('max_iterations: 3, until: "The reply says APPROVED"') == ["WF708"]
    assert rules_of('max_iterations: 3, until: "The reply says APPROVED"', "Say approved or not: {{input}}") == []


def test_WF702_the_result_of_the_loop_and_of_its_callee() -> None:
    check_findings(
        """
        env: {MIN: "90"}
        loops:
          - name: polish
            workflow: draft
            max_iterations: 3
            accumulate: all_drafts
            until: "{{polish}} or {{write}} or {{all_drafts}} has {{env.MIN}} words"
                  # ^^^^^^^^^^ warning: WF702
                                # ^^^^^^^^^ warning: WF702
                                             # ^^^^^^^^^^^^^^ warning: WF702
                  # ^ warning: WF703
        steps:
          - {name: print, needs: [polish], run: "{{all_drafts}}"}
        """.replace("                  # ^ warning: WF703", "                 # ^ warning: WF703")
        + DRAFT
    )


@pytest.mark.parametrize(
    ("name", "policy", "found"),
    [
        ("fetch_pages", "on_failure: halt", True),
        ("fetch_pages", "on_failure: retry", False),
        ("prefetched", "on_failure: halt", False),
        ("deploy-all", "on_failure: continue", True),
        ("deploy-all", "on_failure: halt", False),
        ("deployment", "on_failure: continue", False),
        ("my.api.call", "on_failure: halt", True),
    ],
)
def test_WF707_goes_word_by_word(name: str, policy: str, found: bool) -> None:
    source = f"""
loops:
  - {{name: "{name}", workflow: draft, max_iterations: 3, until: "The reply contains READY", {policy}}}
{DRAFT.replace("        ", "")}"""
    rules = [one.rule for one in findings_of(read_fixture(source))["flow.yaml"] if one.rule != "WF217"]
    assert rules == (["WF707"] if found else [])


def test_WF710_counts_through_templates_and_step_loops() -> None:
    check_findings(
        """
        #- outer.yaml
        loops:
          - name: outer
            workflow: middle
            max_iterations: 9
          # ^^^^^^^^^^^^^^ information: WF710 9 × 6 = 54 times
            until: "The reply contains READY"
        #- middle.yaml
        steps:
          - {name: call, template: {name: inner, with: {input: "{{input}}"}}}
        #- inner.yaml
        steps:
          - name: repeat
            loop: {workflow: draft, max_iterations: 6, until: "The reply contains READY"}
          - {name: write, needs: [repeat], run: "Write READY below {{repeat}} and {{input}}"}
    """
        + DRAFT
    )


def test_a_loop_inside_a_step_is_marked_at_its_key() -> None:
    check_findings(
        """
        steps:
          - name: polish
            loop: {mode: iterate}
          # ^^^^ error: WF402
          # ^^^^ error: WF403
          # ^^^^ error: WF406
        """
    )


def test_WF417_and_WF416_speak_of_what_nobody_reads() -> None:
    check_findings(
        """
        loops:
          - {name: first, accumulate: all, workflow: draft, max_iterations: 3, until: "The reply contains READY"}
                                    # ^^^ hint: WF416
          - {name: second, workflow: draft, max_iterations: 3, until: "The reply contains READY"}
                 # ^^^^^^ hint: WF417
        steps:
          - {name: print, needs: [first], run: "After {{loop.iteration}} rounds"}
        """
        + DRAFT
    )
