"""Definition: from every use to what it names, over files."""

from __future__ import annotations

from typing import Any

import pytest

FLOW = """
#- flow.yaml
$schema: workflow/v2.0
name: flow
version: 1.0.0
env:
  TONE: friendly
steps:
  - name: plan
    run: "Plan {{input}}, {{env.TONE}}"
  - name: hits
    rag: {server: docs, query: "{{plan}}"}
  - name: report
    needs: [refine, hits]
    if: "${{ plan == 'x' }}"
    run: "{{step.refine}} {{drafts}} {{loop.iteration}} {{hits.results}} {{nobody}}"
loops:
  - name: refine
    workflow: polish
    with:
      text: "{{plan}} again"
    max_iterations: 5
    until: "The review says PASS"
    accumulate: drafts
#- other-name.yaml
$schema: workflow/v2.0
name: polish
version: 1.0.0
steps:
  - {name: write, run: "Improve {{text}} of {{loop.last.output}} {{input}}"}
"""


def targets(ask: Any, mark: str, source: str = FLOW) -> list[str]:
    plain = mark.replace("|", "")
    assert source.count(plain) == 1, plain
    found: list[str] = ask(source.replace(plain, mark.replace("|", "$0"))).targets
    return found


@pytest.mark.parametrize(
    ("mark", "target"),
    [
        ('text: "{{pl|an}}', "flow.yaml:7 plan"),
        ("${{ pl|an ==", "flow.yaml:7 plan"),
        ("{{step.ref|ine}}", "flow.yaml:16 refine"),
        ("needs: [ref|ine", "flow.yaml:16 refine"),
        ("{{dra|fts}}", "flow.yaml:22 drafts"),
        ("{{env.TO|NE}}", "flow.yaml:5 TONE"),
        ("{{loop.it|eration}}", "flow.yaml:16 refine"),
        ("{{hits.re|sults}}", "flow.yaml:9 hits"),
        ("workflow: po|lish", "other-name.yaml:2 polish"),
        ("Improve {{te|xt}}", "flow.yaml:19 text"),
        ("{{loop.last|.output}}", "flow.yaml:16 refine"),
        ("te|xt: ", "other-name.yaml:5 text"),
        ("- name: pl|an", "flow.yaml:7 plan"),
    ],
)
def test_D_definition(ask: Any, mark: str, target: str) -> None:
    assert targets(ask, mark) == [target]


@pytest.mark.parametrize(
    "mark", ["{{nob|ody}}", "Plan {{inp|ut}}", "The rev|iew", "max_iter|ations: 5", "ver|sion: 1.0.0\nenv"]
)
def test_nothing_where_nothing_is_named(ask: Any, mark: str) -> None:
    assert targets(ask, mark) == []


def test_the_input_of_a_callee_leads_to_its_callers(ask: Any) -> None:
    assert targets(ask, "{{loop.last.output}} {{inp|ut}}") == ["flow.yaml:17 polish"]


def test_UP_24_the_file_is_found_by_the_name_in_it_and_two_candidates_are_both_offered(ask: Any) -> None:
    source = FLOW.replace("#- flow.yaml", "#- sub/flow.yaml").replace("#- other-name.yaml", "#- sub/other-name.yaml")
    source += "#- root.yaml\n$schema: workflow/v2.0\nname: polish\nversion: 1.0.0\nsteps: [{name: a, run: b}]\n"
    assert targets(ask, "workflow: po|lish", source) == ["sub/other-name.yaml:2 polish", "root.yaml:2 polish"]


def test_UP_08_an_alias_leads_to_its_anchor(ask: Any) -> None:
    asked = ask(
        """
        steps:
          - {name: draft, run: "Draft {{input}}"}
          - {name: check, needs: &up [draft], run: "Check {{draft}}"}
          - {name: merge, needs: *u$0p, run: "Merge {{draft}}"}
        """
    )
    assert asked.targets == ["flow.yaml:8 &up"]


def test_UP_01_a_merge_key_leads_to_its_anchor(ask: Any) -> None:
    asked = ask(
        """
        steps:
          - &base
            name: draft
            run: "Write about {{input}}"
          - <<: *ba$0se
            name: polish
        """
    )
    assert asked.targets == ["flow.yaml:7 &base"]


def test_all_callers_that_supply_an_argument(ask: Any) -> None:
    source = FLOW + (
        "#- third.yaml\n$schema: workflow/v2.0\nname: third\nversion: 1.0.0\n"
        'steps:\n  - name: t\n    template:\n      name: polish\n      with: {text: "x"}\n'
    )
    assert targets(ask, "Improve {{te|xt}}", source) == ["flow.yaml:19 text", "third.yaml:8 text"]


def test_in_escaped_and_folded_text_the_origin_is_the_name(ask: Any) -> None:
    asked = ask(
        """
        steps:
          - {name: draft, run: "Draft {{input}}"}
          - name: check
            run: "Say \\"it\\" \\u0041 {{dra$0ft}}"
        """
    )
    assert asked.targets == ["flow.yaml:7 draft"]
