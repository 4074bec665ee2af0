"""What is said of constants follows the keys of `env` and what the file mentions, whichever of them changes."""

from __future__ import annotations

from itertools import pairwise

import pytest

from loop_ls.index.disk.roots import Roots
from loop_ls.index.document import Document
from loop_ls.index.workspace import Workspace
from loop_ls.rules.engine.checker import Checker
from loop_ls.testing.fixture import HEAD, MODEL
from loop_ls.text.position import span

PROFILES = ("compat", "pedantic")
STEPS = "steps:\n  - {{name: a, run: 'Write {{{{env.{}}}}} and {{{{env.LENGTH}}}}.'}}\n"


def told(checker: Checker, document: Document) -> list[tuple[str, int, int]]:
    workspace = Workspace.of(Roots("/ws"), [document])
    found = checker.findings(workspace, document)
    return sorted((one.rule, one.span.start.line, one.span.start.column) for one in found)


@pytest.mark.parametrize(
    ("mentioned", "values"),
    [
        (
            "TNOE",
            ("{OTHER: 1}", "{TONE: kind}", "{OTHER: 1}", "{TONE: kind, LENGTH: short}", "{TNOE: kind}", "{TONE: kind}"),
        ),
        ("TONE", ("text", "{}", "[TONE]", "{TONE: kind}", "text", "", "{LENGHT: 1}", "{}")),
    ],
    ids=["a misspelt constant", "no mapping"],
)
def test_constants_after_edits_of_env_are_those_of_a_fresh_check(mentioned: str, values: tuple[str, ...]) -> None:
    text = HEAD.format(name="flow") + MODEL + f"env: {values[0]}\n" + STEPS.format(mentioned)
    line = text.split("\n").index(f"env: {values[0]}")
    document, checker = Document.open("file:///ws/flow.yaml", text), Checker(PROFILES)
    told(checker, document)
    seen = set[str]()
    for before, after in pairwise(values):
        document = document.edit(span(line, 5, line, 5 + len(before)), after)
        found = told(checker, document)
        assert found == told(Checker(PROFILES), Document.open(document.uri, str(document.text))), after
        seen.update(rule for rule, *_ in found)
    assert "WF511" in seen
