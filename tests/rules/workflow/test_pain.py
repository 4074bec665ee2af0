"""Reports from users of other tools, asked of ours (UP-11 to UP-14, UP-18, UP-84 and more)."""

from __future__ import annotations

from loop_ls.index.document import Document
from loop_ls.rules.engine.checker import Checker
from loop_ls.rules.engine.finding import Tier
from loop_ls.testing.fixture import read_fixture
from tests.rules.checking import ROOT, check_findings, document_of, findings_of, workspace_of


def test_UP_11_a_circle_between_files_is_found_and_goes_when_one_of_them_is_repaired() -> None:
    fixture = read_fixture("""
        #- alpha.yaml
        loops:
          - {name: again, workflow: beta, max_iterations: 3, until: "The text has a title"}
        #- beta.yaml
        loops:
          - {name: back, workflow: alpha, max_iterations: 3, until: "The text has a title"}
    """)
    workspace = workspace_of(fixture)
    checker = Checker()
    for path in ("alpha.yaml", "beta.yaml"):
        assert [one.rule for one in checker.findings(workspace, document_of(workspace, path))] == ["WF604"]
    repaired = fixture.texts["beta.yaml"].replace("workflow: alpha", "workflow: gamma")
    workspace = workspace.with_document(Document.open(f"file://{ROOT}/beta.yaml", repaired, 1))
    assert checker.findings(workspace, document_of(workspace, "alpha.yaml")) != ()
    assert [one.rule for one in checker.findings(workspace, document_of(workspace, "alpha.yaml"))] == ["WF609"]
    assert [one.rule for one in checker.findings(workspace, document_of(workspace, "beta.yaml"))] == ["WF601"]


def test_UP_12_two_modes_are_both_named_with_a_way_out_for_each() -> None:
    found = findings_of(
        read_fixture("""
        steps:
          - name: both
            run: "Summarise {{input}}"
            template: {name: summary}
        #- summary.yaml
        steps:
          - {name: shorten, run: "Say something short"}
    """)
    )["flow.yaml"]
    (one,) = found
    assert one.rule == "WF204"
    assert "`run`" in one.message
    assert "`template`" in one.message
    assert len(one.related) == 1
    assert [fix.title for fix in one.fixes] == ["Remove `template`", "Remove `run`"]


def test_UP_13_a_message_has_both_names_and_the_fix_is_preferred() -> None:
    found = findings_of(
        read_fixture("""
        steps:
          - {name: research, run: "Find facts on {{input}}"}
          - {name: report, run: "Report on {{research}}", needs: [reserach]}
    """)
    )["flow.yaml"]
    one = next(finding for finding in found if finding.rule == "WF301")
    assert one.message == "Unknown step or loop `reserach` in `needs`; did you mean `research`?"
    assert one.fixes[0].preferred
    assert one.fixes[0].tier is Tier.SAFE


def test_UP_14_everything_is_told_at_once_in_order() -> None:
    check_findings(
        """
        $schema: workflow/v2.0
        name: many
        version: "1.0.0"
        description: x
        execution: {provider: ollama, model: llama3.2}
        steps:
          - {name: a, run: "{{loop.itration}}", on_failure: sometimes}
                 # ^ hint: WF215
                          # ^^^^^^^^^^^^^^^^^ warning: WF503 did you mean `loop.iteration`?
                                                          # ^^^^^^^^^ error: WF209
          - {name: a, rum: "x"}
                 # ^ error: WF202 line 7
                    # ^^^ error: WF006 did you mean `run`?
        loops:
          - {name: l, workflow: many, max_iterations: -1, until: ""}
                 # ^ hint: WF417
                 # ^ error: WF405
                              # ^^^^ error: WF604
                                                    # ^^ error: WF403
    """,
        path="many.yaml",
    )


def test_UP_18_both_spellings_of_the_ending_are_read_alike() -> None:
    source = """
        steps:
          - {name: a, rum: "x {{input}}"}
    """
    yaml = findings_of(read_fixture(source, path="flow.yaml"))["flow.yaml"]
    yml = findings_of(read_fixture(source, path="flow.yml"))["flow.yml"]
    assert [(one.rule, one.span) for one in yaml] == [(one.rule, one.span) for one in yml] != []
