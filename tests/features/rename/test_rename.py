"""Rename: all homes of a name in one change, refused where it would mean something else."""

from __future__ import annotations

from typing import Any

import pytest

from loop_ls.features.rename.answers import Refused, Renamable, Rename
from loop_ls.features.rename.rename import prepare, rename

FLOW = """
#- flow.yaml
$schema: workflow/v2.0
name: flow
version: 1.0.0
env: {TONE: friendly, LANG: en}
steps:
  - {name: draft, run: "Draft {{input}} {{env.TONE}}. A draft, no drafts."}
  - {name: check, needs: [draft], run: "Check the draft: {{draft}} and {{step.draft}} {{who}}", if: "{{draft}} != ''"}
loops:
  - {name: refine, workflow: polish, with: {text: "{{draft}}"}, max_iterations: 3, until: "Good", accumulate: all}
#- sub/polish.yaml
$schema: workflow/v2.0
name: polish
version: 1.0.0
steps:
  - {name: write, run: "Improve {{text}} of {{tone}}"}
"""
FLOW = FLOW.replace("#- sub/polish.yaml", "#- polish-file.yaml")


def marked(ask: Any, mark: str, source: str = FLOW) -> Any:
    plain = mark.replace("|", "")
    assert source.count(plain) == 1, plain
    return ask(source.replace(plain, mark.replace("|", "$0")))


def renamed(ask: Any, mark: str, new: str, source: str = FLOW) -> dict[str, str]:
    """The changed files."""
    asked = marked(ask, mark, source)
    found = rename(asked.workspace, asked.document, asked.at, new)
    assert isinstance(found, Rename), found
    return applied(asked, found.edits)


def applied(asked: Any, edits: Any) -> dict[str, str]:
    out = {}
    for path, document in asked.documents.items():
        if document.uri in edits:
            text = document.text
            for edit in reversed(edits[document.uri]):
                text = text.edit(edit.span, edit.text)
            out[path] = str(text)
    return out


def reason(ask: Any, mark: str, new: str, source: str = FLOW) -> str:
    asked = marked(ask, mark, source)
    found = rename(asked.workspace, asked.document, asked.at, new)
    assert isinstance(found, Refused), found
    return found.reason


@pytest.mark.parametrize(
    "mark",
    [
        "{name: dr|aft",
        "needs: [dr|aft]",
        "draft: {{dr|aft}}",
        "{{step.dr|aft}}",
        'if: "{{dr|aft}}',
        'text: "{{dr|aft}}',
    ],
)
def test_UP_22_a_step_is_renamed_in_all_its_homes_and_prose_is_left_alone(ask: Any, mark: str) -> None:
    text = renamed(ask, mark, "outline")["flow.yaml"]
    expected = (
        FLOW.split("#- polish")[0]
        .replace("name: draft", "name: outline")
        .replace("[draft]", "[outline]")
        .replace("{{draft}}", "{{outline}}")
        .replace("{{step.draft}}", "{{step.outline}}")
        .split("\n", 2)[2]
    )
    assert text.strip() == expected.strip()
    assert "Check the draft: {{outline}}" in text


def test_UP_22_prose_is_offered_apart(ask: Any) -> None:
    asked = marked(ask, "{name: dr|aft")
    found = rename(asked.workspace, asked.document, asked.at, "outline")
    assert isinstance(found, Rename)
    text = applied(asked, found.prose)["flow.yaml"]
    assert "A outline, no drafts." in text and "Check the outline: {{draft}}" in text


def test_collected_outputs_and_constants(ask: Any) -> None:
    assert "accumulate: versions" in renamed(ask, "accumulate: a|ll", "versions")["flow.yaml"]
    text = renamed(ask, "{{env.TO|NE}}", "STYLE")["flow.yaml"]
    assert "{STYLE: friendly, LANG: en}" in text and "{{env.STYLE}}" in text


def test_a_parameter_is_renamed_in_the_callee_and_in_all_callers(ask: Any) -> None:
    for mark in ("Improve {{te|xt}}", "{te|xt: "):
        texts = renamed(ask, mark, "body")
        assert "Improve {{body}} of {{tone}}" in texts["polish-file.yaml"]
        assert 'with: {body: "{{draft}}"}' in texts["flow.yaml"]


def test_D_a_loop_and_the_results_of_a_search_are_renamed(ask: Any) -> None:
    source = (
        "steps:\n"
        '  - {name: hits, rag: {server: docs, query: "{{input}}"}}\n'
        "  - {name: tell, needs: [hits, refine], if: \"${{ refine == 'x' }}\", "
        'run: "{{hits}} {{hits.results}} {{hits.total_results}} {{step.refine}} {{refine}} {{drafts}}"}\n'
        "loops:\n"
        "  - {name: refine, workflow: polish, max_iterations: 3, until: Good, accumulate: drafts}\n"
    )
    text = renamed(ask, "{name: hi|ts", "found", source)["flow.yaml"]
    assert "{name: found," in text and "needs: [found, refine]" in text
    assert "{{found}} {{found.results}} {{found.total_results}}" in text
    text = renamed(ask, "{name: ref|ine", "better", source)["flow.yaml"]
    assert "{name: better," in text and "needs: [hits, better]" in text
    assert "${{ better == 'x' }}" in text and "{{step.better}} {{better}} {{drafts}}" in text


def test_a_workflow_is_renamed_with_its_references(ask: Any) -> None:
    for mark in ("name: pol|ish", "workflow: pol|ish"):
        texts = renamed(ask, mark, "shine")
        assert "name: shine" in texts["polish-file.yaml"] and "workflow: shine" in texts["flow.yaml"]


def test_references_keep_their_form_and_their_meaning(ask: Any) -> None:
    other = "#- here/shine.yaml\n$schema: workflow/v2.0\nname: shine\nversion: 1.0.0\nsteps: [{name: a, run: b}]\n"
    source = FLOW.replace("#- flow.yaml", "#- here/flow.yaml") + other
    assert "workflow: gloss" in renamed(ask, "workflow: pol|ish", "gloss", source)["here/flow.yaml"]
    assert "another `shine`" in reason(ask, "workflow: pol|ish", "shine", source)
    moved = FLOW.replace("#- polish-file.yaml", "#- sub/p.yaml").replace("workflow: polish", "workflow: sub/polish")
    assert "workflow: sub/shine" in renamed(ask, "workflow: sub/pol|ish", "shine", moved)["flow.yaml"]


@pytest.mark.parametrize(
    ("mark", "new", "part"),
    [
        ("{name: dr|aft", "check", "`check` is already a step of `flow` (line 7)"),
        ("{name: dr|aft", "all", "already a collected output"),
        ("{name: dr|aft", "who", "already uses `{{who}}` as a parameter"),
        ("{name: dr|aft", "loop", "reserved name"),
        ("{name: dr|aft", "two words", "Invalid name"),
        ("{name: dr|aft", "a.b", "Invalid name"),
        ("{name: dr|aft", "", "Invalid name"),
        ("{{env.TO|NE}}", "LANG", "Constant `LANG` already exists"),
        ("Improve {{te|xt}}", "tone", "already uses `{{tone}}`"),
        ("Improve {{te|xt}}", "write", "already a step"),
        ("workflow: pol|ish", "flow", "Workflow `flow` already exists"),
        ("Draft {{in|put}}", "x", "reserved name"),
    ],
)
def test_UP_22_a_clash_is_refused_with_the_reason(ask: Any, mark: str, new: str, part: str) -> None:
    assert part in reason(ask, mark, new)


def test_prepare_answers_the_word_or_the_reason(ask: Any) -> None:
    asked = marked(ask, "{{step.dr|aft}}")
    found = prepare(asked.workspace, asked.document, asked.at)
    assert isinstance(found, Renamable) and found.name == "draft"
    assert asked.document.text.slice(found.span) == "draft"
    asked = marked(ask, "Draft {{in|put}}")
    assert isinstance(prepare(asked.workspace, asked.document, asked.at), Refused)
    asked = marked(ask, "Check the dr|aft")
    assert prepare(asked.workspace, asked.document, asked.at) is None


def test_the_same_name_changes_nothing(ask: Any) -> None:
    assert renamed(ask, "{name: dr|aft", "draft") == {}


def test_a_neighbour_is_still_called_by_its_bare_name(ask: Any) -> None:
    flow = "$schema: workflow/v2.0\nname: {}\nversion: 1.0.0\nsteps:\n  - {}\n"
    call = "{{name: t, template: {{name: {}}}}}"
    source = "#- a/one.yaml\n" + flow.format("one", call.format("two").replace("{{", "{").replace("}}", "}"))
    source += "#- a/two.yaml\n" + flow.format("two", "{name: x, run: y}")
    assert (
        "template: {name: three}" in renamed(ask, "name: two\n".replace("two", "tw|o"), "three", source)["a/one.yaml"]
    )
