"""Prompts of the first iteration, as far as they are known before a run."""

from __future__ import annotations

from loop_ls.features.preview import Preview, PreviewInputs, previews
from loop_ls.index.disk.roots import Roots
from loop_ls.index.document import Document
from loop_ls.index.workspace import Workspace
from loop_ls.testing.fixture import read_fixture

FLOW = """
#- flow.yaml
env: {TONE: calm}
steps:
  - {name: report, needs: [polish], run: "Report {{polish}} after {{loop.iteration}}"}
  - {name: outline, run: "Outline {{input}}, {{env.TONE}}, {{nowhere}}"}
loops:
  - name: polish
    workflow: draft
    with: {plan: "{{outline}}", before: "[{{loop.last.output}}]", fixed: 3}
    max_iterations: 3
    until: "It says READY"
#- draft.yaml
steps:
  - {name: write, run: "{{plan}} {{before}} {{fixed}} round {{loop.iteration}} {{topic}}"}
"""


def shown(source: str, element: str = "", given: PreviewInputs | None = None) -> dict[str, Preview]:
    fixture = read_fixture(source)
    documents = [Document.open(f"file:///ws/{path}", text) for path, text in fixture.texts.items()]
    first = documents[0]
    found = previews(Workspace.of(Roots("/ws"), documents), first, first.element(element) if element else None, given)
    return {f"{'/'.join(one.path)}.{one.what}": one for one in found}


def test_input_and_constants_are_filled_in_and_unknown_names_are_told() -> None:
    found = shown(FLOW, given=PreviewInputs("a talk"))["outline.run"]
    assert found.text == "Outline a talk, calm, {{nowhere}}"
    assert found.unresolved == ("nowhere",)
    assert shown(FLOW)["outline.run"].text.startswith("Outline ‹input›,")


def test_elements_come_in_the_order_of_a_run() -> None:
    paths = list(dict.fromkeys(name.split("/")[0].split(".")[0] for name in shown(FLOW)))
    assert paths == ["outline", "polish", "report"]


def test_a_loop_hands_the_values_of_its_first_iteration_to_its_workflow() -> None:
    found = shown(FLOW, "polish")
    assert found["polish.with.before"].text == "[]"
    assert found["polish.until"].text == "It says READY"
    write = found["polish/write.run"]
    assert write.text == "‹the result of step `outline`› [] 3 round 1 {{topic}}"
    assert write.unresolved == ("topic",)


def test_results_of_a_run_are_named_and_not_made_up() -> None:
    text = shown(FLOW)["report.run"].text
    assert text == "Report ‹the final output of loop `polish`› after ‹number of iterations (`polish`)›"


def test_an_argument_of_the_start_stands_in_for_a_caller() -> None:
    alone = shown(FLOW.split("#- draft.yaml\n")[1], given=PreviewInputs(arguments={"topic": "bees {{x}}"}))
    assert alone["write.run"].text.endswith("bees {{x}}")
    assert "topic" not in alone["write.run"].unresolved


def test_workflows_that_call_one_another_come_to_an_end() -> None:
    circle = FLOW.replace("workflow: draft", "workflow: flow")
    assert "polish.until" in shown(circle)


def test_an_iterate_loop_shows_its_item_as_unknown() -> None:
    source = FLOW.replace('until: "It says READY"', 'mode: iterate\n    items: "[1, 2]"').replace(
        "[{{loop.last.output}}]", "{{loop.current}} at {{loop.index}}"
    )
    found = shown(source, "polish")
    assert found["polish.items"].text == "[1, 2]"
    assert found["polish.with.before"].text.endswith(" at 0")
    assert found["polish.with.before"].text.startswith("‹")
