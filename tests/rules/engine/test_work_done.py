"""How much is done for an edit: rules of what did not change are not run, and nothing is asked or placed twice."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest

from loop_ls.formats.settings.model import settings_of
from loop_ls.index.disk.projects import Project
from loop_ls.index.disk.roots import Roots
from loop_ls.index.document import Document
from loop_ls.index.workspace import Workspace
from loop_ls.rules.engine import document_state
from loop_ls.rules.engine.checker import Checker
from loop_ls.rules.engine.document_state import Session
from loop_ls.rules.engine.finding import Finding
from loop_ls.rules.engine.finding_builder import FindingBuilder
from loop_ls.rules.engine.queries import QueryContext
from loop_ls.rules.engine.rule_selection import Plan
from loop_ls.rules.engine.tracked_view import Askers, Topic, View
from loop_ls.rules.engine.work_unit import Unit
from loop_ls.testing.fixture import HEAD, MODEL
from loop_ls.text.position import Position, Span

FLOW = (
    HEAD.format(name="flow")
    + MODEL
    + "env: {TONE: dry}\n"
    + "steps:\n"
    + "  - {name: a, run: 'About {{input}}', tools: 1}\n"
    + "  - {name: b, needs: [a], run: 'On {{a}} and {{ipnut}} for {{reader}}'}\n"
    + "  - {name: c, needs: [b], template: {name: draft, with: {input: '{{b}}'}}}\n"
)
DRAFT = HEAD.format(name="draft") + MODEL + "steps:\n  - {name: write, run: '{{inptu}}', colour: red}\n"
CALLER = HEAD.format(name="caller") + "steps:\n  - {name: ask, template: {name: flow, with: {input: x}}}\n"
FLAWED = "$schema: workflow/v2.0\nname: flow\nversion: 1.0.0\nsteps:\n  - {name: a, run: x, colour: red}\n"


PROFILES = ("compat", "pedantic")


class Counts:
    """What was done since the last look."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.done: list[tuple[str, object]] = []
        for kind, name in ((Unit, "run"), (View, "still_true"), (FindingBuilder, "_place"), (Session, "update")):
            self._watch(monkeypatch, kind, name)
        for name in ("local_of_piece", "local_of_element", "local_of_top"):
            self._watch(monkeypatch, document_state, name)

    def _watch(self, monkeypatch: pytest.MonkeyPatch, owner: object, name: str) -> None:
        own = getattr(owner, name)

        def counted(first: object, *more: object) -> object:
            self.done.append((name, more[0] if name.startswith(("local", "_place")) else first))
            return own(first, *more)

        monkeypatch.setattr(owner, name, counted)

    def of(self, name: str) -> list[object]:
        return [about for what, about in self.done if what == name]

    def clear(self) -> None:
        self.done.clear()


@pytest.fixture
def workspace() -> Workspace:
    documents = [Document.open(f"file:///ws/{name}.yaml", text) for name, text in (("flow", FLOW), ("draft", DRAFT))]
    return Workspace.of(Roots("/ws"), documents)


@pytest.fixture
def flow(workspace: Workspace) -> Document:
    return workspace.documents["file:///ws/flow.yaml"]


@pytest.fixture
def checker(workspace: Workspace) -> Iterator[Checker]:
    """One that has seen both files."""
    checker = Checker(PROFILES)
    for document in workspace.documents.values():
        checker.findings(workspace, document)
    yield checker


@pytest.fixture
def counts(checker: Checker, monkeypatch: pytest.MonkeyPatch) -> Counts:
    return Counts(monkeypatch)


def typed(document: Document, old: str, new: str) -> Document:
    """An edit within one line."""
    line = next(number for number, text in enumerate(document.text.lines) if old in text)
    column = document.text.lines[line].index(old)
    return document.edit(Span(Position(line, column), Position(line, column + len(old))), new)


def test_of_the_same_version_nothing_is_asked_twice(
    checker: Checker, workspace: Workspace, flow: Document, counts: Counts
) -> None:
    assert checker.findings(workspace, flow) == checker.findings(workspace, flow)
    assert counts.done == []


def test_the_answer_for_the_same_version_is_the_same_object(workspace: Workspace) -> None:
    """Also that of a file that is looked at as a whole."""
    assistant = Document.open("file:///ws/team.assistant.yaml", "name: Fixer\npersona: You repair.\ncolour: red\n")
    workspace, checker = workspace.with_document(assistant), Checker()
    for document in workspace.documents.values():
        found = checker.findings(workspace, document)
        assert [id(one) for one in checker.findings(workspace, document)] == [id(one) for one in found]
        assert found


def test_an_edit_runs_the_local_rules_of_its_own_piece_alone(
    checker: Checker, workspace: Workspace, flow: Document, counts: Counts
) -> None:
    edited = typed(flow, "About", "On")
    checker.findings(workspace.with_document(edited), edited)
    assert counts.of("local_of_element") == [edited.elements[0]]
    assert counts.of("local_of_piece") == [edited.elements[0].piece]
    assert counts.of("local_of_top") == []


def test_an_edit_of_words_runs_the_wide_rules_of_its_own_piece_alone(
    checker: Checker, workspace: Workspace, flow: Document, counts: Counts
) -> None:
    edited = typed(flow, "About", "On")
    checker.findings(workspace.with_document(edited), edited)
    assert counts.of("run") == [checker._sessions[flow.uri]._elements[edited.elements[0]][1]]


def test_an_edit_that_moves_nothing_leaves_the_findings_of_other_pieces_as_they_are(
    checker: Checker, workspace: Workspace, flow: Document, counts: Counts
) -> None:
    before = {id(one) for one in checker.findings(workspace, flow)}
    edited = typed(flow, "About", "On")
    found = checker.findings(workspace.with_document(edited), edited)
    other = [one for one in found if one.span.start.line != edited.tree.start_of(edited.elements[0].piece)]
    assert other
    assert {id(one) for one in other} <= before
    assert len(counts.of("_place")) == sum(unit.found != () for unit in _units(checker, edited))


def _units(checker: Checker, edited: Document) -> list[Unit]:
    session = checker._sessions[edited.uri]
    own = edited.elements[0]
    return [session._pieces[own.piece], *session._elements[own]]


def test_an_edit_of_one_file_asks_no_rule_about_other_files(
    checker: Checker, workspace: Workspace, flow: Document, counts: Counts
) -> None:
    edited = typed(flow, "About", "On")
    checker.findings(workspace.with_document(edited), edited)
    calling = checker._sessions[flow.uri]._elements[edited.elements[2]]
    assert not {unit.view for unit in calling} & set(counts.of("still_true"))


def test_an_edit_of_another_file_runs_only_the_rules_about_its_errors(
    checker: Checker, workspace: Workspace, flow: Document, counts: Counts
) -> None:
    draft = workspace.documents["file:///ws/draft.yaml"]
    edited = typed(draft, "A fixture", "A draft")
    checker.findings(workspace.with_document(edited), edited)
    counts.clear()
    checker.findings(workspace.with_document(edited), flow)
    calling = checker._sessions[flow.uri]._elements[flow.elements[2]]
    assert counts.of("run") == [calling[2]]
    assert counts.of("still_true") != []


def test_a_constant_that_is_renamed_asks_the_rules_about_constants_alone(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = FLOW.replace("'About {{input}}'", "'About {{input}} in {{env.TONE}}'").replace("{{a}}", "{{a}} {{env.TONE}}")
    flow = Document.open("file:///ws/flow.yaml", text)
    workspace, checker = workspace.with_document(flow), Checker(PROFILES)
    checker.findings(workspace, flow)
    asked: list[set[str]] = []
    run_some = Unit.run_some

    def counted(unit: Unit, world: QueryContext, topics: Sequence[Topic], plan: Plan, askers: Askers) -> None:
        if "env" in topics:
            asked.append({check.rule.code for checks in plan.wide.values() for check in checks})
        run_some(unit, world, topics, plan, askers)

    monkeypatch.setattr(Unit, "run_some", counted)
    for old, new, unknown in (("TONE: dry", "TONES: dry", 2), ("TONES: dry", "TONE: dry", 0)):
        asked.clear()
        flow = typed(flow, old, new)
        workspace = workspace.with_document(flow)
        found = checker.findings(workspace, flow)
        assert len(asked) == 2
        assert set.union(*asked) == {"WF503", "WF511"}
        assert [one.rule for one in found].count("WF511") == unknown
        assert shown(found) == shown(Checker(PROFILES).findings(workspace, flow))


def shown(found: tuple[Finding, ...]) -> list[tuple[object, ...]]:
    return [(one.rule, one.span, one.message, one.related) for one in found]


def test_an_edit_where_nothing_is_found_leaves_the_answer_as_it_is(workspace: Workspace) -> None:
    draft = Document.open("file:///ws/draft.yaml", DRAFT.replace("'{{inptu}}'", "'Of {{input}}'"))
    checker, workspace = Checker(), workspace.with_document(draft)
    found = checker.findings(workspace, draft)
    assert found
    edited = typed(draft, "llama3.2", "llama3.3")
    assert checker.findings(workspace.with_document(edited), edited) is found


def test_an_edit_of_the_head_leaves_other_keys_alone(
    checker: Checker, workspace: Workspace, flow: Document, counts: Counts
) -> None:
    edited = typed(flow, "dry", "wet")
    checker.findings(workspace.with_document(edited), edited)
    assert [top.name for top in counts.of("local_of_top")] == ["env"]  # type: ignore[attr-defined]
    assert counts.of("local_of_element") == []


def test_a_check_of_all_files_notes_nothing_for_a_next_time(workspace: Workspace, flow: Document) -> None:
    first = Document.open("file:///ws/a_flow.yaml", FLOW)  # asks for the errors of a file behind it
    workspace, checker = Workspace.of(Roots("/ws"), [first, workspace.documents["file:///ws/draft.yaml"]]), Checker()
    kept = [session for _ in checker.check_all(workspace) for session in checker._sessions.values()]
    assert kept
    assert [session._readers for session in kept if session._readers] == []
    checker.findings(workspace, first)
    assert checker._sessions[first.uri]._readers


@pytest.mark.parametrize("name", ["draft", "other"])
def test_a_workflow_that_is_renamed_is_another_one_for_the_rest(
    checker: Checker, workspace: Workspace, flow: Document, name: str
) -> None:
    """It may have the name of another file, and its callers mean another one."""
    caller = Document.open("file:///ws/caller.yaml", CALLER)
    workspace = workspace.with_document(caller)
    before = checker.findings(workspace, flow)
    edited = typed(flow, "name: flow", f"name: {name}")
    workspace = workspace.with_document(edited)
    found = checker.findings(workspace, edited)
    assert _told(found) == _told(Checker(PROFILES).findings(workspace, edited))
    assert _told(found) != _told(before)
    assert ("WF605" in {one.rule for one in found}) is (name == "draft")


def test_a_caller_that_comes_is_noticed_also_where_nobody_can_call_it(
    checker: Checker, workspace: Workspace, flow: Document
) -> None:
    before = _told(checker.findings(workspace, flow))
    nameless = CALLER.replace("name: caller\n", "")
    workspace = workspace.with_document(Document.open("file:///ws/a_caller.yaml", nameless))
    found = _told(checker.findings(workspace, flow))
    assert found == _told(Checker(PROFILES).findings(workspace, flow)) != before


def test_a_workspace_with_the_same_files_asks_nothing_again(
    checker: Checker, workspace: Workspace, flow: Document, counts: Counts
) -> None:
    checker.findings(workspace.with_document(flow), flow)
    assert counts.of("run") == counts.of("still_true") == counts.of("_place") == []


def test_a_document_that_is_asked_about_counts_also_before_its_workspace_has_it(
    checker: Checker, workspace: Workspace, flow: Document
) -> None:
    edited = typed(flow, ", tools: 1", "")
    assert len(checker.findings(workspace, edited)) == len(checker.findings(workspace, flow)) - 1


def test_an_edit_of_two_files_at_once_is_seen_in_both(checker: Checker, workspace: Workspace, flow: Document) -> None:
    draft = typed(workspace.documents["file:///ws/draft.yaml"], "{{inptu}}", "{{text}}")
    edited = typed(flow, "About", "On")
    both = workspace.with_document(draft).with_document(edited)
    assert _told(checker.findings(both, edited)) == _told(Checker(PROFILES).findings(both, edited))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("workflow/v2.0", "workflow/v2.0 # as it is"),
        ("On", "On\n      "),
        ("env: {TONE: dry}", "env: {TONE: dry}\n\n"),
        ("About", "Of\n     "),
        ("name: b", "name: bee"),
    ],
)
def test_what_is_found_lies_where_the_text_is_after_an_edit(old: str, new: str) -> None:
    """Also what is said of the first line, which is marked as a whole, and what was found in other pieces."""
    text = FLOW.replace("version: 1.0.0\n", "").replace("description: A fixture\n", "")
    flow, checker = Document.open("file:///ws/flow.yaml", text), Checker(PROFILES)
    workspace = Workspace.of(Roots("/ws"), [flow])
    before = checker.findings(workspace, flow)
    edited = typed(flow, old, new)
    workspace = workspace.with_document(edited)
    found = checker.findings(workspace, edited)
    assert _told(found) == _told(Checker(PROFILES).findings(workspace, edited)) != _told(before)


def _checked(text: str) -> tuple[Checker, Workspace, Document]:
    document = Document.open("file:///ws/flow.yaml", text)
    workspace, checker = Workspace.of(Roots("/ws"), [document]), Checker(PROFILES)
    checker.findings(workspace, document)
    return checker, workspace, document


def test_a_file_that_calls_itself_is_seen_as_it_is_now() -> None:
    step = "steps:\n  - {name: a, if: '{{topic}}', template: {name: flow, with: {topic: '{{input}}'}}}\n"
    checker, workspace, flow = _checked(HEAD.format(name="flow") + MODEL + step + "  - {name: b, run: 'x'}\n")
    for old, new, missed in (("'x'", "'{{more}}'", True), ("'{{more}}'", "'{{input}}'", False)):
        flow = typed(flow, old, new)
        workspace = workspace.with_document(flow)
        found = _told(checker.findings(workspace, flow))
        assert found == _told(Checker(PROFILES).findings(workspace, flow))
        assert any("Missing `more`: `flow` needs it" in one for one in found) is missed


def test_what_is_missing_is_told_again_once_the_file_can_be_read() -> None:
    text = HEAD.format(name="flow").replace("version: 1.0.0\n", "") + MODEL + "steps:\n  - {name: a, run: 'x}\n"
    checker, workspace, flow = _checked(text)
    mended = typed(flow, "'x}", "'x'}")
    workspace = workspace.with_document(mended)
    found = checker.findings(workspace, mended)
    assert _told(found) == _told(Checker(PROFILES).findings(workspace, mended))
    assert "WF102" in [one.rule for one in found]


def test_a_root_of_another_kind_is_judged_by_other_rules() -> None:
    checker, workspace, flow = _checked(FLOW)
    other = Document.open(flow.uri, "- $schema: workflow/v2.0\n  name: flow\n", flow.version + 1)
    for document in (other, flow):
        found = checker.findings(workspace.with_document(document), document)
        assert ("WF003" in [one.rule for one in found]) is (document is other)


def test_who_reads_what_is_known_after_every_edit() -> None:
    checker, workspace, flow = _checked(FLOW)
    edits = [
        ("name: a", "name: z"),
        ("{{a}}", "{{z}}"),
        ("TONE", "TUNE"),
        (", template: {name: draft, ", ", x: {"),
        ("name: b", "name: a"),
    ]
    for old, new in edits:
        flow = typed(flow, old, new)
        workspace = workspace.with_document(flow)
        checker.findings(workspace, flow)
        session = checker._sessions[flow.uri]
        units = [*session._whole, *(unit for row in session._elements.values() for unit in row)]
        units += [unit for row in session._tops.values() for unit in row]
        read = {(topic, unit) for unit in units for topic in unit.topics}
        assert read == {(topic, unit) for topic, readers in session._readers.items() for unit in readers}
        assert all(session._readers.values())


def test_that_errors_were_counted_hides_nothing_that_is_said_of_called_files() -> None:
    call = "steps:\n  - {name: a, template: {name: NAME}}\n"
    texts = {
        one: HEAD.format(name=one) + call.replace("NAME", other) for one, other in (("one", "two"), ("two", "three"))
    }
    texts["three"] = HEAD.format(name="three") + MODEL + "steps:\n  - {name: a, run: x, colour: red}\n"
    workspace = Workspace.of(Roots("/ws"), [Document.open(f"file:///ws/{name}.yaml", texts[name]) for name in texts])
    checker = Checker()
    told = {name: checker.findings(workspace, workspace.documents[f"file:///ws/{name}.yaml"]) for name in texts}
    assert {name: [one.rule for one in found] for name, found in told.items()} == {
        "one": [],
        "two": ["WF609"],
        "three": ["WF006"],
    }


def _told(findings: tuple[Finding, ...]) -> list[str]:
    return [f"{one.span} {one.rule} {one.message}" for one in findings]


def test_what_is_no_workflow_any_more_is_not_remembered(checker: Checker, workspace: Workspace, flow: Document) -> None:
    other = Document.open(flow.uri, "a: 1\n", flow.version + 1)
    assert flow.uri in checker._sessions
    assert checker.findings(workspace.with_document(other), other) == ()
    assert flow.uri not in checker._sessions


def test_of_several_files_those_are_checked_that_are_named_and_no_others(workspace: Workspace, flow: Document) -> None:
    checker = Checker()
    checked = list(checker.check_all(workspace, {flow.uri}))
    assert [document for document, _ in checked] == [flow]
    assert [one.rule for one in checked[0][1]] != []
    assert checker._sessions == {}, "nor is that of a called one kept, whose errors were counted"


def test_a_check_of_all_files_reads_each_of_them_once(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also those that are called, whose errors are counted."""
    counts = Counts(monkeypatch)
    files = list(Checker().check_all(workspace))
    assert any(one.rule == "WF609" for _, found in files for one in found)
    pieces = [piece for document, _ in files for piece in document.tree.pieces]
    assert len(counts.of("local_of_piece")) == len(pieces)


@pytest.fixture
def nested() -> Workspace:
    documents = [Document.open(f"file:///ws/{path}", FLAWED) for path in ("flow.yaml", "below/flow.yaml")]
    settings = [settings_of({"rules": {"WF006": level}})[0] for level in ("hint", "warning")]
    return Workspace.of(Roots("/ws"), documents, settings[0], {"/ws/below": Project(Roots("/ws/below"), settings[1])})


def test_each_project_has_a_checker_of_its_own(nested: Workspace) -> None:
    checker = Checker()
    levels = [one.severity.name for _, found in checker.check_all(nested) for one in found if one.rule == "WF006"]
    assert levels == ["WARNING", "HINT"]
    assert [*checker._nested] == ["/ws/below"]
    for document in nested.documents.values():
        checker.findings(nested, document)
    assert [*checker._sessions] == ["file:///ws/flow.yaml"]
    assert [*checker._nested["/ws/below"]._sessions] == ["file:///ws/below/flow.yaml"]


def test_of_a_project_that_nobody_has_looked_at_nothing_is_taken_over(nested: Workspace) -> None:
    checker, other = Checker(), Checker()
    document = nested.documents["file:///ws/below/flow.yaml"]
    other.findings(nested, document)
    checker.take_over(other, document.uri)
    assert checker._nested == {}
