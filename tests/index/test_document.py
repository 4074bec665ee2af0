"""What a document knows of its file."""

import pytest

from loop_ls.index.document import Document
from loop_ls.text.position import Span, span
from tests.index.building import document, element, place

BODY = """
execution: {provider: p, model: m}
env: {MODE: fast, OLD: x}
steps:
  - name: draft
    run: |
      Write about {{ input }} and {{topic}}.
      In mode {{env.MODE}}.
loops:
  - name: polish
    workflow: improve
    with:
      text: "{{draft}}"
      parts: ["{{step.draft}}", {deep: "{{topic}}"}]
    max_iterations: 3
    until: says PASS
    accumulate: versions
steps:
  - name: report
    needs: [polish]
    if: ${{ polish.result == "x" }}
    template: {name: team/report, with: {all: "{{versions}}"}}
"""


def marked(found: Document, piece_element: str, span: Span) -> str:
    return found.text.slice(found.absolute(element(found, piece_element).piece, span))


def test_D15_steps_and_loops_stand_in_the_order_of_the_file() -> None:
    found = document(BODY)
    assert [(e.kind, e.name) for e in found.elements] == [("step", "draft"), ("loop", "polish"), ("step", "report")]
    assert [found.position(e) for e in found.elements] == [0, 1, 2]
    assert [e.name for e in found.steps] == ["draft", "report"]
    assert [e.name for e in found.loops] == ["polish"]


def test_names_are_those_of_elements_and_accumulated_outputs() -> None:
    found = document(BODY)
    kinds = {name: [d.kind for d in definitions] for name, definitions in found.names.items()}
    assert kinds == {"draft": ["step"], "polish": ["loop"], "versions": ["accumulate"], "report": ["step"]}
    assert marked(found, "polish", found.names["versions"][0].span) == "versions"
    assert found.element("versions") is None
    assert found.definition("versions") is not None


def test_uses_carry_path_place_and_field() -> None:
    found = document(BODY)
    uses = [(use.name, use.slot.kind, use.strict) for e in found.elements for use in e.uses]
    assert uses == [
        ("input", "run", False),
        ("topic", "run", False),
        ("env.MODE", "run", False),
        ("draft", "with", True),
        ("step.draft", "with", True),
        ("topic", "with", True),
        ("polish", "if", False),
        ("versions", "with", False),
    ]
    use = element(found, "draft").uses[0]
    assert marked(found, "draft", use.span) == "{{ input }}"
    assert marked(found, "draft", use.name_span) == "input"
    assert use.path == ("input",)


def test_parts_of_a_dotted_name_have_places() -> None:
    found = document(BODY)
    use = element(found, "polish").uses[1]
    assert marked(found, "polish", use.part(0)) == "step"
    assert marked(found, "polish", use.part(1)) == "draft"
    assert marked(found, "polish", use.part(0, 1)) == "step.draft"


def test_the_operand_of_an_expression_is_a_use_without_its_result_suffix() -> None:
    found = document(BODY)
    use = element(found, "report").uses[0]
    assert marked(found, "report", use.span) == "polish"
    assert found.absolute(element(found, "report").piece, use.span) == place(found, "polish", 2)


def test_arguments_know_their_key_and_depth() -> None:
    slots = [s for s in element(document(BODY), "polish").slots if s.kind == "with"]
    assert [slot.argument for slot in slots] == ["text", "parts", "parts"]
    assert all(slot.of_loop for slot in slots)


def test_references_of_both_kinds() -> None:
    found = document(BODY)
    loop, template = element(found, "polish").reference, element(found, "report").reference
    assert loop is not None and template is not None
    assert (loop.kind, loop.text, template.kind, template.text) == ("loop", "improve", "template", "team/report")
    assert marked(found, "report", template.span) == "team/report"
    assert [pair.name for pair in loop.arguments or ()] == ["text", "parts"]
    assert loop.supplies("text") and not loop.supplies("item")
    assert found.references == {"improve", "team/report"}


def test_WF502_parameters_are_what_nothing_defines_in_order_of_first_use() -> None:
    found = document(
        "steps:\n  - {name: a, run: '{{z}} {{y}} {{input}} {{a.b}} {{loop.index}} {{env.Q}}'}\n"
        "  - {name: b, run: '{{x}} {{z}} {{a}}'}\n"
    )
    assert found.parameters == ("z", "y", "x")
    first = found.first_use("z")
    assert first is not None
    assert first[0].name == "a"


def test_needs_alone_make_no_parameter() -> None:
    assert document("steps:\n  - {name: a, run: x, needs: [nowhere]}\n").parameters == ()


def test_mentioning_finds_users_in_document_order() -> None:
    found = document(BODY)
    assert [e.name for e in found.mentioning("draft")] == ["polish"]
    assert [e.name for e in found.mentioning("polish")] == ["report"]
    assert [e.name for e in found.mentioning("env.MODE")] == ["draft"]
    assert [e.name for e in found.mentioning("topic")] == ["draft", "polish"]


def test_a_part_of_a_rag_result_mentions_its_step() -> None:
    found = document("steps:\n  - {name: s, rag: {query: q}}\n  - {name: t, run: '{{s.results}}'}\n")
    assert [e.name for e in found.mentioning("s")] == ["t"]


def test_WF509_braces_in_other_fields_are_strays() -> None:
    found = document(
        "steps:\n  - name: a\n    model: '{{m}}'\n    needs: ['{{n}}']\n    run: '{{x}}'\n    input: '{{i}}'\n"
    )
    strays = element(found, "a").strays
    assert [(stray.key.name, stray.island.name) for stray in strays] == [("model", "m"), ("needs", "n")]


@pytest.mark.parametrize(
    ("body", "kind", "mode"),
    [
        ("{name: a, run: x}", "run", None),
        ("{name: a, loop: {mode: iterate}}", "loop", "iterate"),
        ("{name: a, loop: {mode: dance}}", "loop", None),
        ("{name: a, loop: {}}", "loop", "refine"),
        ("{name: a, rag: {}, run: x}", "rag", None),
        ("{name: a}", None, None),
    ],
)
def test_modes(body: str, kind: str | None, mode: str | None) -> None:
    found = element(document(f"steps:\n  - {body}\n"), "a")
    assert (found.mode, found.loop_mode) == (kind, mode)


def test_WF204_of_two_calls_the_first_counts() -> None:
    found = element(document("steps:\n  - {name: a, loop: {workflow: l}, template: {name: t}}\n"), "a")
    assert found.modes == ("loop", "template")
    assert found.reference is not None
    assert found.reference.text == "l"


def test_the_head_has_the_first_of_repeated_keys_and_all_sections() -> None:
    found = document(BODY + "name: second\nnonsense: 1\n")
    assert found.name == "w"
    assert [(r.later.name, r.first.name) for r in found.head.repeated] == [("steps", "steps"), ("name", "name")]
    assert len(found.head.all("steps")) == 2
    assert [top.name for top in found.head.unknown] == ["nonsense"]
    assert list(found.env) == ["MODE", "OLD"]
    assert found.execution is not None
    assert found.execution.text("model") == "m"


def test_sections_in_flow_style_or_behind_an_alias_have_elements_too() -> None:
    found = document("steps: [{name: a, run: '{{b}}'}, {name: b, run: x}]\nloops: []\n")
    assert [e.name for e in found.elements] == ["a", "b"]
    assert found.graph.order() == (1, 0)


def test_items_that_are_no_mapping_are_faults_of_their_piece() -> None:
    found = document("steps:\n  - plain\n  -\n  - {name: a, run: x}\n")
    faults = [fault.kind for _, facts in found.facts() for fault in facts.faults]
    assert faults == ["type"]
    assert [e.name for e in found.elements] == ["a"]
    assert found.has_entries()


def test_WF104_blank_items_count_as_entries_and_an_empty_list_does_not() -> None:
    assert document("steps:\n  -\n").has_entries()
    assert not document("steps: []\n").has_entries()
    assert not document("steps:\n").has_entries()


def test_elements_without_a_name_are_marked_at_their_first_key() -> None:
    found = document("steps:\n  - run: x\n")
    (only,) = found.elements
    assert only.name == "" and only.name_span is None
    assert found.text.slice(found.absolute(only.piece, only.label_span)) == "run"


def test_4_6_the_last_step_gives_the_result_else_the_last_loop() -> None:
    found = document(BODY)
    assert found.last_step() is element(found, "report")
    loops = document("loops:\n  - {name: a, workflow: x}\n  - {name: b, workflow: y}\n")
    assert loops.last_step() is element(loops, "b")
    assert document("").last_step() is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("$schema: workflow/v2.0\n", "workflow"),
        ("steps: [\n$schema: workflow/v2.0\n", "workflow"),
        ("- $schema: workflow/v2.0\n", "workflow"),
        ("name: a\nexecution: {}\nsteps:\n  - x: y\n", "lookalike"),
        ("a: b\n", None),
        ("a: [\n", None),
        ("", None),
    ],
)
def test_1_1_what_the_file_is(text: str, expected: str | None) -> None:
    assert Document.open("file:///w/a.yaml", text).format == expected


def test_a_document_without_a_file_is_judged_by_its_content() -> None:
    assert Document.open("untitled:Untitled-1", "$schema: workflow/v2.0\n").format == "workflow"


def test_C5_placeholders_of_a_file() -> None:
    body = """
    steps:
      - name: a
        run: |
          {{input}} {{ input }} {{Input}} {{input.x}} {{input|up}} {{env.A}} {{}} {"a": {"b": 1}}
    """
    found = element(document(body), "a")
    assert [use.name for use in found.uses] == ["input", "input", "Input", "input.x", "env.A"]
    assert [island.kind for island in found.slots[0].islands if island.name is None] == ["expression", "other"]


def test_C11_arguments_as_they_are_written() -> None:
    body = 'loops:\n  - {name: l, workflow: w2, max_iterations: 1, until: u, with: {a: "1", b: [1, 2], c: true}}\n'
    reference = element(document(body), "l").reference
    assert reference is not None
    assert [(pair.name, pair.text) for pair in reference.arguments or ()] == [("a", "1"), ("b", None), ("c", "true")]


FOREIGN = "".join(f"key{number}: {{name: a, execution: b, steps: []}}\n" for number in range(300))


@pytest.mark.parametrize(
    ("path", "text"), [("/w/a.yaml", FOREIGN), ("/w/a.json", "{}"), ("/w/a.jsonc", BODY), ("/w/deep/x.json", BODY)]
)
def test_a_file_that_cannot_be_ours_is_not_read(path: str, text: str) -> None:
    found = Document.open(f"file://{path}", text, path=path)
    assert (found.format, found.tree.is_read, str(found.text)) == (None, False, text)
    edited = found.edit(span(0, 0, 0, 0), "x")
    assert (edited.tree.is_read, str(edited.text)) == (False, "x" + text)
    assert edited.tree.pieces[0] is found.tree.pieces[0]


def test_a_file_is_read_once_it_says_what_it_is_and_no_longer_when_it_stops() -> None:
    found = Document.open("file:///w/a.yaml", FOREIGN, path="/w/a.yaml")
    ours = found.edit(span(0, 0, 0, 0), "$schema: workflow/v2.0\nsteps:\n  - name: x\n")
    assert (ours.format, [one.name for one in ours.elements]) == ("workflow", ["x"])
    broken = ours.edit(span(0, 0, 0, 12), "").edit(span(0, 0, 0, 1), "")
    assert (broken.format, broken.tree.is_read) == (None, False)


def test_a_look_alike_whose_head_is_cut_off_is_read_no_longer() -> None:
    entries = "".join(f"    name: a{number}\n    execution: {{}}\n" for number in range(60))
    text = f"name: long\nexecution: {{}}\nsteps:\n  - name: x\n{entries}"
    found = Document.open("file:///w/a.yaml", text, path="/w/a.yaml")
    assert found.format == "lookalike"
    cut = found.edit(span(0, 0, 2, 0), "    topic: x\n")
    afresh = Document.open("file:///w/a.yaml", str(cut.text), path="/w/a.yaml")
    assert (cut.format, cut.tree.is_read) == (afresh.format, afresh.tree.is_read) == (None, False)


def test_a_checks_file_that_says_that_it_is_a_workflow_is_one_while_it_says_so() -> None:
    path = "/w/a.checks.yaml"
    found = Document.open(f"file://{path}", "checks:\n  - contains: x\n", path=path)
    assert found.format == "checks"
    typed = found.edit(span(0, 0, 0, 0), "$schema: workflow/v2.0\nsteps:\n  - name: x\n")
    assert (typed.format, [one.name for one in typed.elements]) == ("workflow", ["x"])
    back = typed.edit(span(0, 0, 3, 0), "")
    assert (back.format, back.is_object, back.elements) == ("checks", True, ())


def test_a_short_file_is_read_whatever_it_says() -> None:
    assert Document.open("file:///w/a.yaml", "$sch", path="/w/a.yaml").tree.is_read
