"""Clauses of rules that their pages do not show: "or empty", "or zero", "in a step", "beside the list"."""

from __future__ import annotations

from tests.rules.checking import check_findings

DRAFT = """
        #- draft.yaml
        steps:
          - {name: write, run: "Improve {{input}}, write READY below it"}
"""


def test_WF118_a_duration_of_zero_is_out_of_range() -> None:
    check_findings("""
        steps:
          - {name: a, timeout: 0s, run: "{{input}}"}
                             # ^^ warning: WF118
          - {name: b, needs: [a], timeout: 1ms, temperature: 2, run: "{{a}}"}
          - {name: c, needs: [b], temperature: 2.1, run: "{{b}}"}
                                             # ^^^ warning: WF118
          - {name: d, needs: [c], temperature: -0.1, run: "{{c}}"}
                                             # ^^^^ warning: WF118
          - {name: e, needs: [d], max_tokens: 0, run: "{{d}}"}
                                            # ^ warning: WF118
    """)


def test_WF120_a_provider_beside_the_list_is_not_alone() -> None:
    check_findings(
        """
        execution:
          provider: ollama
          ^^^^^^^^ warning: WF107
          model: llama3.2
          providers: [{provider: ollama, model: llama3.2}, {provider: openai, model: gpt-4o}]
        steps:
          - {name: greeting, run: "Greet {{input}}"}
    """,
        ["pedantic"],
    )


def test_WF207_an_input_with_nothing_behind_it_is_none() -> None:
    check_findings("""
        steps:
          - {name: vectors, embeddings: {input: , dimensions: 3}}
                          # ^^^^^^^^^^ error: WF207
                                       # ^^^^^ information: WF009
          - {name: fine, needs: [vectors], embeddings: {input_file: notes.txt}}
    """)


def test_WF408_is_asked_in_a_loop_of_a_step_too() -> None:
    check_findings(
        """
        loops:
          - {name: l, workflow: draft, max_iterations: 3, until: "It says READY", on_failure: stop}
                                                                                            # ^^^^ error: WF408
        steps:
          - name: s
            needs: [l]
            loop: {workflow: draft, max_iterations: 3, until: "It says READY", on_failure: stop}
                                                                                         # ^^^^ error: WF408
    """
        + DRAFT
    )


def test_WF416_the_condition_of_the_loop_itself_is_no_reader() -> None:
    check_findings(
        """
        loops:
          - {name: l, workflow: draft, max_iterations: 3, until: "READY is in {{all}}", accumulate: all}
                                                                            # ^^^^^^^ warning: WF702
                                                                                                  # ^^^ hint: WF416
        steps:
          - {name: s, needs: [l], run: "{{l}}"}
    """
        + DRAFT
    )


def test_AL003_a_stray_key_beside_the_list_is_told() -> None:
    check_findings(
        """
        assistants:
          - {id: writer, name: Writer, persona: You write.}
        colour: red
        ^^^^^^ warning: AL003
    """,
        path="team.assistant.yaml",
    )


def test_an_entry_with_nothing_behind_its_dash_has_no_name() -> None:
    check_findings(
        """
        loops:
          -
          ^ error: WF401 nothing stands behind the dash
        steps:
          -
          ^ error: WF201 nothing stands behind the dash
          - {name: a, run: "{{input}}"}
    """
    )


def test_what_an_entry_in_flow_style_lacks_is_marked_at_its_bracket() -> None:
    check_findings("""
        loops:
          - {mode: refine}
            ^^^^^^^^^^^^^^ error: WF401
            ^^^^^^^^^^^^^^ error: WF402
            ^^^^^^^^^^^^^^ error: WF403
            ^^^^^^^^^^^^^^ error: WF405
        steps:
          - {name: a, run: "{{input}}"}
    """)


def test_a_short_text_in_a_block_ends_with_a_line_break() -> None:
    check_findings("""
        loops:
          - name: |
                  ^ warning: WF217 `l⏎` cannot be used as `{{…}}`: it ends with a line break
              l
            workflow: |
                      ^ error: WF601 `draft⏎`: it ends with a line break, so write it on one line
              draft
            max_iterations: |
                            ^ error: WF007 not `3⏎`: it ends with a line break
              3
            until: It says READY
        #- draft.yaml
        steps:
          - {name: write, run: "Improve {{input}}, write READY below it"}
    """)


def test_WF417_waits_until_a_loop_is_written() -> None:
    """Half typed, it has findings enough of its own."""
    check_findings(
        """
        loops:
          - name: polish
                  ^^^^^^ error: WF403
                  ^^^^^^ error: WF405
            workflow: draft
          - {name: whole, workflow: draft, max_iterations: 3, until: "It says READY"}
                 # ^^^^^ hint: WF417
        steps:
          - {name: a, run: "{{input}}"}
    """
        + DRAFT
    )
