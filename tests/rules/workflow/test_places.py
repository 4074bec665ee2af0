"""Where a finding points: marks, anchors, merges, line ends."""

from __future__ import annotations

from loop_ls.testing.fixture import read_fixture
from tests.rules.checking import check_findings, findings_of


def test_a_quoted_key_is_marked_at_its_quote() -> None:
    check_findings("""
        steps:
          - "name": greet
            "condition": "{{input}}"
          # ^^^^^^^^^^^ error: WF006
            run: "Greet {{input}}"
    """)


def test_an_anchor_does_not_belong_to_the_value_and_an_alias_is_marked_where_it_stands() -> None:
    check_findings("""
        steps:
          - name: greet
            temperature: &hot 3
                            # ^ warning: WF118
            run: "Greet {{input}}"
          - name: close
            needs: [greet]
            temperature: *hot
                       # ^^^^ warning: WF118
            run: "Close after {{greet}}"
    """)


def test_UP_01_a_merge_key_is_no_unknown_key_and_brings_its_keys() -> None:
    check_findings("""
        steps:
          - &base {name: draft, run: "Write about {{input}}", on_failure: retry, max_retries: 2}
          - <<: *base
            name: polish
            run: "Polish {{draft}}"
            needs: [draft]
    """)


def test_a_fault_in_a_merged_mapping_is_reported_once_where_it_is_written() -> None:
    check_findings("""
        steps:
          - &base
            name: draft
            temperature: 3
                       # ^ warning: WF118
            condition: "{{input}}"
          # ^^^^^^^^^ error: WF006
            run: "Write about {{inptu}}"
                            # ^^^^^^^^^ warning: WF501
          - <<: *base
            name: polish
            needs: [draft]
    """)


def test_UP_08_aliases_of_lists_are_read_and_reported_where_the_list_is_written() -> None:
    check_findings("""
        steps:
          - {name: draft, run: "Draft {{input}}"}
          - {name: check, needs: &up [draft], run: "Check {{draft}}"}
          - {name: merge, needs: *up, run: "Merge {{draft}}"}
          - {name: finish, needs: [check, merge], run: "Finish {{merge}}"}
    """)


def test_a_block_text_is_marked_at_its_sign_and_a_block_list_at_its_dash() -> None:
    check_findings("""
        loops:
          - name: polish
            workflow: draft
            max_iterations: 3
            until: >-
                 # ^ warning: WF701
              Everything looks
              good
          - name: again
            workflow: draft
            with:
              input:
                - "{{polish}}"
              # ^ error: WF608
            max_iterations: 3
            until: "The reply contains READY"
            on_failure: retry
        #- draft.yaml
        steps:
          - {name: write, run: "Improve {{input}}, write READY below it"}
    """)


def test_line_1_is_marked_when_there_is_nothing_else() -> None:
    found = findings_of(read_fixture("$schema: workflow/v2.0\nsteps: [{name: a, template: {name: flow}}]\n"))[
        "flow.yaml"
    ]
    places = {(one.rule, one.span.start.line, one.span.start.column, one.span.end.column) for one in found}
    assert {("WF101", 0, 0, 22), ("WF102", 0, 0, 22), ("WF103", 0, 0, 22)} <= places


def test_lines_end_with_CR_LF_or_CR_too_and_a_byte_order_mark_is_no_column() -> None:
    text = (
        "\ufeff$schema: workflow/v2.0\r\nname: flow\rversion: 1.0\ndescription: x\r\nsteps:\r\n"
        '  - {name: a, run: "🦊 {{inptu}}", model: m, provider: ollama}\r\n'
    )
    found = findings_of(read_fixture(text, head=False))["flow.yaml"]
    places = [(one.rule, one.span.start.line, one.span.start.column) for one in found]
    assert places == [("WF114", 2, 9), ("WF501", 5, 22)]


def test_UP_07_a_condition_in_quotes_is_read_as_it_is_meant() -> None:
    check_findings("""
        steps:
          - {name: check, run: "Check {{input}}"}
          - name: ship
            needs: [check]
            run: "Ship it"
            if: '{{chekc}} == ''it''''s fine: go'''
               # ^^^^^^^^^ warning: WF501 did you mean `check`?
          - name: hold
            needs: [check, ship]
            run: "Hold"
            if: "{{check}} \\u003d= \\"no\\" && {{chekc}}"
              # ^ warning: WF213 `&&`
                                           # ^^^^^^^^^ warning: WF501
    """)


def test_UP_07_the_operand_of_an_expression_is_marked_at_its_brace() -> None:
    check_findings("""
        steps:
          - {name: check, run: "Check {{input}}"}
          - name: ship
            needs: [check]
            run: "Ship it"
            if: '${{ chekc == "yes" }}'
                # ^^^^^^^^^^^^^^^^^^^^ warning: WF501
    """)


def test_UP_17_the_schema_line_may_stand_anywhere() -> None:
    check_findings("""
        # house header
        # line two
        name: flow
        steps: [{name: a, rnu: "x"}]
                        # ^^^ error: WF006 did you mean `run`?
        version: "1.0.0"
        description: x
        execution: {provider: ollama, model: llama3.2}
        $schema: workflow/v2.0
    """)
