"""References and highlight: every place where a name is written, over files."""

from __future__ import annotations

from typing import Any

import pytest

from loop_ls.features.highlight import highlight
from loop_ls.features.references import references

FLOW = """
#- flow.yaml
$schema: workflow/v2.0
name: flow
version: 1.0.0
env:
  TONE: friendly
steps:
  - name: "plan"
    run: "Plan {{input}}, {{env.TONE}}: a plan"
  - {name: hits, rag: {server: docs, query: "{{step.plan}}"}}
  - name: report
    needs: [refine, 'plan']
    if: "${{ plan.result == 'x' }}"
    run: "{{refine}} {{drafts}} {{hits.results}} {{audience}}"
loops:
  - name: refine
    workflow: polish
    with:
      text: "{{plan}} again"
      again: "{{loop.last.output}} {{loop.last.output}}"
    max_iterations: 5
    until: "The review says PASS"
    accumulate: drafts
#- other-name.yaml
$schema: workflow/v2.0
name: polish
version: 1.0.0
steps:
  - {name: write, run: "Improve {{text}} of {{text}}"}
"""


def shown(ask: Any, mark: str, declaration: bool = True, source: str = FLOW) -> list[str]:
    """`file:line text`"""
    plain = mark.replace("|", "")
    assert source.count(plain) == 1, plain
    asked = ask(source.replace(plain, mark.replace("|", "$0")))
    by_uri = {document.uri: (path, document) for path, document in asked.documents.items()}
    out = []
    for one in references(asked.workspace, asked.document, asked.at, declaration):
        path, document = by_uri[one.uri]
        out.append(f"{path}:{one.span.start.line + 1} {document.text.slice(one.span)}")
    return out


PLAN = [
    "flow.yaml:7 plan",
    "flow.yaml:11 plan",
    "flow.yaml:9 plan",
    "flow.yaml:12 plan",
    "flow.yaml:18 plan",
]


@pytest.mark.parametrize("mark", ['name: "pl|an"', "{{step.pl|an}}", "'pl|an'", "${{ pl|an.result", 'text: "{{pl|an}}'])
def test_a_step_from_any_of_its_places(ask: Any, mark: str) -> None:
    found = shown(ask, mark)
    assert found[0] == PLAN[0]
    assert sorted(found) == sorted(PLAN)


def test_without_the_declaration(ask: Any) -> None:
    assert PLAN[0] not in shown(ask, 'name: "pl|an"', declaration=False)
    assert len(shown(ask, 'name: "pl|an"', declaration=False)) == 4


@pytest.mark.parametrize(
    ("mark", "found"),
    [
        ("accumulate: dra|fts", ["flow.yaml:22 drafts", "flow.yaml:13 drafts"]),
        ("{{env.TO|NE}}", ["flow.yaml:5 TONE", "flow.yaml:8 TONE"]),
        ("{{hits.re|sults}}", ["flow.yaml:9 hits", "flow.yaml:13 hits"]),
        ("workflow: pol|ish", ["other-name.yaml:2 polish", "flow.yaml:16 polish"]),
        ("Improve {{te|xt}}", ["other-name.yaml:5 text", "other-name.yaml:5 text", "flow.yaml:18 text"]),
        ("te|xt: ", ["other-name.yaml:5 text", "other-name.yaml:5 text", "flow.yaml:18 text"]),
        ("{{aud|ience}}", ["flow.yaml:13 audience"]),
    ],
)
def test_other_kinds_of_names(ask: Any, mark: str, found: list[str]) -> None:
    assert shown(ask, mark) == found


def test_a_workflow_is_found_in_callers_that_name_its_folder(ask: Any) -> None:
    source = FLOW.replace("#- other-name.yaml", "#- sub/other-name.yaml").replace(
        "workflow: polish", "workflow: sub/polish"
    )
    assert shown(ask, "workflow: sub/pol|ish", source=source) == [
        "sub/other-name.yaml:2 polish",
        "flow.yaml:16 polish",
    ]


def test_UP_08_a_list_behind_an_alias_counts_once(ask: Any) -> None:
    source = """
    steps:
      - {name: draft, run: "Draft {{input}}"}
      - {name: check, needs: &up [draft], run: "Check"}
      - {name: merge, needs: *up, run: "Merge {{draft}}"}
    """
    assert shown(ask, "{{dra|ft}}", source=source) == [
        "flow.yaml:7 draft",
        "flow.yaml:8 draft",
        "flow.yaml:9 draft",
    ]


def test_nothing_is_named_in_prose(ask: Any) -> None:
    assert shown(ask, "a pl|an") == []


def test_highlight_tells_reading_from_writing(ask: Any) -> None:
    asked = ask(FLOW.replace("{{drafts}}", "{{dra$0fts}}"))
    found = highlight(asked.workspace, asked.document, asked.at)
    assert [(one.span.start.line + 1, one.writes) for one in found] == [(22, True), (13, False)]
    asked = ask(FLOW.replace("Improve {{text}}", "Improve {{te$0xt}}"))
    assert len(highlight(asked.workspace, asked.document, asked.at)) == 2, "only those of the same file"
    asked = ask(FLOW.replace("{{loop.last.output}} {{", "{{loop.la$0st.output}} {{"))
    assert len(highlight(asked.workspace, asked.document, asked.at)) == 2
