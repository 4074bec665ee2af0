"""Findings after edits are those of a check from scratch, whatever was edited (see `rules.engine.checker`)."""

from __future__ import annotations

import random

import pytest

from loop_ls.index.disk.roots import Roots
from loop_ls.index.document import Document
from loop_ls.index.workspace import Workspace
from loop_ls.rules.engine.checker import Checker
from loop_ls.text.position import Position, Span

FLOW = """\
$schema: workflow/v2.0
name: flow
version: 1.0.0
description: A file to edit

execution:
  provider: ollama
  model: llama3.2
  temperature: 0.5

env:
  TONE: warm
  LENGTH: short

steps:
  - name: research
    run: "Find facts on {{input}} in a {{env.TONE}} way"
  - name: outline
    needs: [research]
    run: |
      Outline {{research}}.
      Keep it {{env.LENGTH}}, for {{reader}}.
  - name: report
    needs: [outline, polish]
    if: "{{outline}} != 'no'"
    run: "Report on {{polish}} after {{loop.iteration}} rounds"
    on_failure: retry

loops:
  - name: polish
    workflow: draft
    with:
      text: "{{outline}}"
      before: "{{loop.last.output}}"
    max_iterations: 3
    until: "The reply contains READY"
    accumulate: all_drafts
  - name: again
    workflow: draft
    with: {text: "{{all_drafts}}"}
    max_iterations: 2
    until: "It looks good"

steps:
  - name: finish
    needs: [report, again]
    template:
      name: draft
      with: {text: "{{report}} {{again}}", tone: "{{env.TONE}}"}
"""

DRAFT = """\
$schema: workflow/v2.0
name: draft
version: 1.0.0
description: The one that is called
execution: {provider: ollama, model: llama3.2}
steps:
  - name: write
    run: "Improve {{text}} in round {{loop.iteration}}"
  - name: check
    needs: [write]
    run: "Check {{write}}, answer READY or name what is missing"
"""

CALLER = """\
$schema: workflow/v2.0
name: caller
version: 1.0.0
description: The one that calls
steps:
  - name: ask
    template: {name: flow, with: {reader: children, input: "{{input}}"}}
"""

#: What a person may type or paste somewhere.
SNIPPETS = (
    *(
        "research",
        "outline",
        "polish",
        "again",
        "report",
        "all_drafts",
        "reader",
        "x",
        "loop",
        "input",
        "draft",
        "flow",
    ),
    *("{{", "}}", "{{outline}}", "{{loop.output}}", "{{loop.history}}", "{{env.TONE}}", "{{polish}}", "{{reader}}"),
    *("\n", "\n\n", " ", "  ", ":", "- ", '"', "'", "[", "]", ",", "#", "|", "{", "}", "\t", "---\n"),
    *("    needs: [research]\n", "    needs: [report]\n", '  - name: extra\n    run: "{{outline}}"\n', "steps:\n"),
    *(
        "    mode: iterate\n",
        "    max_iterations: 200\n",
        "    parallel: true\n",
        "  parallel: true\n",
        "name: other\n",
    ),
    *(
        "loops:\n",
        "    on_failure: continue\n",
        "  - name: polish\n    run: again\n",
        "env: {}\n",
        "    servers: [bash]\n",
    ),
)


def _place(rng: random.Random, document: Document) -> Position:
    lines = document.text.lines
    line = rng.randrange(len(lines))
    return Position(line, rng.randint(0, len(lines[line])))


def _edited(rng: random.Random, document: Document) -> Document:
    start = _place(rng, document)
    end = start
    if rng.random() < 0.5:
        length = rng.choice((1, 1, 1, 3, 8, 30))
        end = document.text.clamp(Position(start.line, start.column + length))
        if rng.random() < 0.15:
            end = document.text.clamp(Position(start.line + rng.randint(1, 4), rng.randint(0, 8)))
    new = "" if end != start and rng.random() < 0.5 else rng.choice(SNIPPETS)
    return document.edit(Span(min(start, end), max(start, end)), new)


def _uri(name: str) -> str:
    return f"file:///ws/{name}.yaml"


@pytest.mark.parametrize("seed", range(6))
def test_findings_after_edits_are_those_of_a_check_from_scratch(seed: int) -> None:
    rng = random.Random(seed)
    texts = {"flow": FLOW, "draft": DRAFT, "caller": CALLER}
    documents = [Document.open(_uri(name), text) for name, text in texts.items()]
    workspace = Workspace.of(Roots("/ws"), documents)
    profiles = ("compat", "pedantic")
    checker, afresh = Checker(profiles), Checker(profiles)
    for step in range(45):
        if step % 15 == 14:  # a fresh start: errors would pile up until nothing is left to compare
            documents = [Document.open(one.uri, texts[one.uri[11:-5]], one.version + 1) for one in documents]
            for one in documents:
                workspace = workspace.with_document(one)
        at = rng.randrange(3) if rng.random() < 0.4 else 0
        documents[at] = _edited(rng, documents[at])
        workspace = workspace.with_document(documents[at])
        asked = documents if rng.random() < 0.5 else [documents[rng.randrange(3)]]
        for document in asked:
            found = checker.findings(workspace, document)
            for one in documents:
                afresh.forget(one.uri)
            assert _shown(found) == _shown(afresh.findings(workspace, document)), f"step {step}\n{document.text}"


def _shown(findings: tuple[object, ...]) -> list[str]:
    return sorted(f"{f.span} {f.rule} {f.severity} {f.message} {f.related} {len(f.fixes)}" for f in findings)  # type: ignore[attr-defined]
