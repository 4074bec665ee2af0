"""Clauses of rules that their pages do not show: "or empty", "or zero", "in a step", "beside the list"."""

from __future__ import annotations

from pathlib import Path

from loop_ls.formats.settings.model import settings_of
from loop_ls.index.disk.roots import Roots
from loop_ls.index.document import Document
from loop_ls.index.workspace import Workspace
from loop_ls.rules.docs.phrases import shortened
from loop_ls.rules.engine.checker import Checker
from loop_ls.rules.engine.finding import Severity
from loop_ls.rules.fixes.apply import applied
from loop_ls.testing.fixture import HEAD, MODEL, read_fixture
from tests.rules.checking import check_findings, document_of, findings_of, workspace_of

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


def test_WF712_a_vote_is_a_verdict_too_and_is_not_told_to_repeat_the_work() -> None:
    text = """
        #- flow.yaml
        loops:
          - name: polish
            workflow: voted
            with: {previous: "{{loop.last.output}}"}
            max_iterations: 3
            on_failure: retry
            until: "The review says PASS"
        #- voted.yaml
        steps:
          - {name: write, run: "Improve {{previous}}"}
          - name: review
            needs: [write]
            consensus:
              prompt: "Answer PASS if this is clear, else FAIL and why: {{write}}"
              executions: [{provider: ollama, model: llama3.2}, {provider: openai, model: gpt-4o}]
    """
    [voted] = [
        one for one in findings_of(read_fixture(text, "flow.yaml"), ["WF712"])["voted.yaml"] if one.rule == "WF712"
    ]
    assert voted.message.endswith("passes it on as `previous`; let a step after the vote give the work")
    assert voted.fixes == ()


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
          ^ error: WF401 Empty loop
        steps:
          -
          ^ error: WF201 Empty step
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


def test_WF711_a_loop_that_reads_itself_has_another_fault() -> None:
    check_findings(
        """
        loops:
          - name: l
            workflow: draft
            with: {input: "{{l}} {{loop.last.output}}"}
                         # ^^^^^ error: WF510
            max_iterations: 3
            until: "It says READY"
            on_failure: continue
        steps:
          - {name: print_it, needs: [l], run: "Print {{l}} and {{l}}"}
                                                   # ^^^^^ information: WF711
    """
        + DRAFT,
        ["WF711"],
    )


def test_WF215_what_may_have_effects_needs_no_reader() -> None:
    check_findings("""
        steps:
          - {name: aa, run: "{{input}}", servers: 5}
                                                # ^ error: WF007
          - {name: bb, run: "{{input}}", servers: []}
                 # ^^ hint: WF215
          - {name: cc, run: "{{input}}", servers: [files]}
          - {name: dd, run: "{{input}}", skills: [files]}
                                                # ^^^^^ warning: WF218
          - {name: ee, embeddings: {input: a, output_file: vectors.json}}
          - {name: ff, embeddings: {input: a}}
                 # ^^ hint: WF215
          - {name: gg, run: "{{input}}"}
    """)


def test_WF517_somebody_else_may_use_what_a_step_waits_for() -> None:
    check_findings(
        """
        steps:
          - {name: outline, run: "Outline {{input}}"}
          - {name: title, run: "Give a title to {{input}}"}
          - {name: essay, needs: [outline, title], run: "Write an essay from the outline"}
          - {name: more, needs: [outline, nowhere], run: "Write more"}
                                        # ^^^^^^^ error: WF301
                 # ^^^^ hint: WF215
          - {name: notes, needs: [title, essay], run: "Write about {{title}} and {{essay}}"}
          - {name: last, needs: [notes], run: "Write the end"}
                                            # ^^^^^^^^^^^^^^^ warning: WF517 `notes`
    """,
        ["WF517"],
    )


def test_WF116_a_constant_is_told_once_and_an_expression_never() -> None:
    check_findings("""
        env: {A: "{{input}} and {{input}}", B: "{{x | y}}", C: "{{input}}"}
               # ^^^^^^^^^^^^^^^^^^^^^^^^^ information: WF116
                                                             # ^^^^^^^^^^^ information: WF116
        steps:
          - {name: greet, run: "Say {{env.A}}, {{env.B}}, {{env.C}}"}
    """)


def test_WF309_an_order_that_is_no_number_or_merged_contradicts_nothing() -> None:
    check_findings("""
        steps:
          - &one {name: first, execution_order: 1, needs: [b], run: "{{b}}"}
                             # ^^^^^^^^^^^^^^^ information: WF309
          - {<<: *one, name: second}
          - {name: third, execution_order: x, needs: [first, second, b], run: "{{first}}{{second}}{{b}}"}
                                         # ^ error: WF007
          - {name: last, execution_order: 2, needs: [third, b], run: "{{third}}{{b}}"}
                 # ^^^^ hint: WF215
          - {name: b, execution_order: 2, run: "{{input}}"}
    """)


def test_WF503_the_own_result_is_never_proposed() -> None:
    check_findings("""
        steps:
          - {name: greet, run: "Greet {{Step.greet}}"}
                                    # ^^^^^^^^^^^^^^ warning: WF503 `Step` is not a step
          - {name: other, needs: [greet], run: "Greet {{Step.greet}}"}
                                                    # ^^^^^^^^^^^^^^ warning: WF503 did you mean `step.greet`?
    """)


def test_WF512_braces_begin_with_a_name_or_with_nothing() -> None:
    check_findings("""
        steps:
          - {name: a, run: 'JSON {{"a": 1'}
          - {name: b, needs: [a], run: '{{a}} Not {{1 }'}
          - {name: c, needs: [b], run: '{{b}} Begun {{_x'}
                                                  # ^^ warning: WF512
          - {name: d, needs: [c], run: '{{c}} Begun {{x'}
                                                  # ^^ warning: WF512
          - {name: e, needs: [d], run: '{{d}} Begun {{'}
                                                  # ^^ warning: WF512
    """)


def test_WF507_a_counterpart_has_to_exist_at_the_place() -> None:
    check_findings(
        """
        loops:
          - name: each
            workflow: draft
            mode: iterate
            items: "{{input}}"
            max_iterations: 3
            with: {input: "{{loop.iterations}} {{loop.iteration}}"}
                         # ^^^^^^^^^^^^^^^^^^^ error: WF507 `loop.iterations` is not available in an iterate loop
                                             # ^^^^^^^^^^^^^^^^^^ error: WF507 `loop.index`
        steps:
          - {name: last, needs: [each], run: "{{each}}"}
    """
        + DRAFT
    )


def test_WF903_one_is_not_too_hot() -> None:
    check_findings("""
        execution: {provider: anthropic, model: claude-sonnet-4, temperature: 1.1}
                                                                            # ^^^ information: WF903
        steps:
          - {name: b, temperature: 1.0, run: "{{input}}"}
          - {name: c, provider: openai, model: gpt-4o, temperature: 1.2, needs: [b], run: "{{b}}"}
          - {name: d, temperature: 1.2, needs: [c], run: "{{c}}"}
                                 # ^^^ information: WF903
    """)


def test_WF210_and_WF707_a_policy_that_is_misspelt_or_faulty_is_one_fault() -> None:
    check_findings(
        """
        loops:
          - {name: fetch, workflow: draft, max_iterations: 3, until: "It says READY", on_failur: retry}
                                                                                    # ^^^^^^^^^ error: WF006
          - {name: http, workflow: draft, max_iterations: 3, until: "It says READY", on_failur: retry, max_retries: 3}
                                                                                   # ^^^^^^^^^ error: WF006
          - {name: download, workflow: draft, max_iterations: 3, until: "It says READY", on_failure: retri}
                                                                                                   # ^^^^^ error: WF408
          - {name: api, workflow: draft, max_iterations: 3, until: "It says READY"}
                 # ^^^ hint: WF707
          - {name: https, workflow: draft, max_iterations: 3, until: "It says READY", on_failure: retry}
          - {name: deploy, workflow: draft, max_iterations: 3, until: "It says READY", on_failure: continue}
                                                                                     # ^^^^^^^^^^ hint: WF707
          - {name: release, workflow: draft, max_iterations: 3, until: "It says READY", on_failure: halt}
          - {name: payment, workflow: draft, max_iterations: 3, until: "It says READY"}
        steps:
          - {name: aa, on_failur: retry, max_retries: 2, needs: [fetch, http, download, api], run: "{{fetch}}"}
                     # ^^^^^^^^^ error: WF006
          - {name: bb, on_failure: [x], max_retries: 2, needs: [aa, https, deploy, release, payment], run: "{{aa}}"}
                                 # ^^^ error: WF007
          - {name: cc, on_failure: halt, max_retries: 2, needs: [bb], run: "{{bb}}"}
                                       # ^^^^^^^^^^^ information: WF210
          - {name: dd, max_retries: , needs: [cc], run: "{{cc}}"}
                     # ^^^^^^^^^^^ information: WF009
    """
        + DRAFT,
        ["WF707"],
    )


def test_WF409_one_retry_is_a_number() -> None:
    check_findings(
        """
        loops:
          - {name: a, workflow: draft, max_iterations: 3, until: READY, on_failure: retry, max_retries: 1}
          - {name: b, workflow: draft, max_iterations: 3, until: READY, on_failure: retry, max_retries: 0}
                                                                      # ^^^^^^^^^^ warning: WF409
          - {name: c, workflow: draft, max_iterations: 3, until: READY, on_failure: retry}
                                                                      # ^^^^^^^^^^ warning: WF409
          - {name: d, workflow: draft, max_iterations: 3, until: READY, on_failure: retry, max_retri: 3}
                                                                                         # ^^^^^^^^^ error: WF006
          - {name: e, workflow: draft, max_iterations: 3, until: READY, on_failure: retry, max_retries: x}
                                                                                                      # ^ error: WF007
        steps:
          - {name: last, needs: [a, b, c, d, e], run: "{{a}}"}
    """
        + DRAFT,
        ["WF409"],
    )


def test_WF503_parts_of_a_result_are_those_of_a_rag_step() -> None:
    check_findings(
        """
        loops:
          - {name: l, workflow: draft, max_iterations: 3, until: "It says READY", mode: rag}
                                                                                      # ^^^ error: WF404
        steps:
          - {name: r, rag: {query: "{{input}}", server: s}}
          - {name: a, needs: [l, r], run: "{{l.results}} {{r.results}} {{step.l.results}}"}
                                         # ^^^^^^^^^^^^^ warning: WF503
                                                                     # ^^^^^^^^^^^^^^^^^^ warning: WF503
    """
        + DRAFT
    )


def test_WF516_names_that_are_merged_in_are_judged_as_constants() -> None:
    check_findings(
        """
        env: &names {step: one, "a b": two}
                              # ^^^^^ hint: WF117
        steps:
          - {name: aa, template: {name: draft, with: {<<: *names, input: "{{input}} {{env.step}}"}}}
          - {name: bb, needs: [aa], template: {name: draft, with: {step: x, "a b": y, input: "{{aa}}"}}}
                                                                 # ^^^^ warning: WF516
                                                                          # ^^^^^ warning: WF516
                                                                          # ^^^^^ warning: WF602
    """
        + DRAFT
    )


def test_WF504_words_behind_a_known_name_are_an_attempt_and_others_are_text() -> None:
    check_findings("""
        env: {KEY: warm}
        steps:
          - {name: aa, run: "{{input more}} {{env.KEY y}} {{env.X y}} {{something else}} {{.results}}"}
                           # ^^^^^^^^^^^^^^ warning: WF504
                                          # ^^^^^^^^^^^^^ warning: WF504
          - {name: bb, needs: [aa], run: "{{aa b}} {{env.KEY}} {{loops.x}}"}
                                        # ^^^^^^^^ warning: WF504
                                                             # ^^^^^^^^^^^ warning: WF503
    """)


def test_WF415_a_file_is_looked_for_where_a_loop_goes_through_it() -> None:
    check_findings(
        """
        loops:
          - {name: k, workflow: draft, mode: iterate, max_iterations: 3, items: "file://nowhere.txt"}
                                                                              # ^^^^^^^^^^^^^^^^^^^^ warning: WF415
          - {name: l, workflow: draft, mode: refine, max_iterations: 3, until: says READY, items: "file://nowhere.txt"}
                                                                                         # ^^^^^ warning: WF407
          - {name: m, workflow: draft, mode: iterate, max_iterations: 3, items: "file://{{input}}"}
          - {name: n, workflow: draft, mode: iterate, max_iterations: 3, items: "file:///outputs/list.txt"}
        steps:
          - {name: aa, needs: [k, l, m, n], run: "{{k}}"}
    """
        + DRAFT
    )


def test_WF710_items_of_an_iterate_loop_are_no_nested_limit() -> None:
    check_findings(
        """
        loops:
          - {name: each, workflow: inner, mode: iterate, max_iterations: 20, items: "{{input}}"}
          - {name: again, workflow: inner, max_iterations: 20, until: says READY}
                                         # ^^^^^^^^^^^^^^ information: WF710 20 × 6 = 120
          - {name: few, workflow: inner, max_iterations: 8, until: says READY}
          - {name: flat, workflow: draft, max_iterations: 20, until: says READY}
        steps:
          - {name: aa, needs: [each, again, few, flat], run: "{{each}}"}
        #- inner.yaml
        loops:
          - {name: polish, workflow: draft, max_iterations: 6, until: "The reply contains READY"}
    """
        + DRAFT
    )


def test_WF106_a_fault_of_execution_is_told_alone() -> None:
    check_findings(
        """
        execution: [ollama]
                 # ^ error: WF007
        steps:
          - {name: greet, run: "Greet {{input}}"}
    """
    )
    check_findings(
        """
        execution: {provider: ollama}
        steps:
          - {name: greet, run: "Greet {{input}}"}
                 # ^^^^^ error: WF106 Missing `model` for `greet`
    """
    )
    check_findings(
        """
        execution: {provider: ollama}
        ^^^^^^^^^ error: WF106 Missing `model` for 2 steps
        steps:
          - {name: greet, run: "Greet {{input}}"}
          - {name: close, needs: [greet], run: "Close after {{greet}}"}
          - {name: whole, needs: [close], model: llama3.2, run: "Tell {{close}}"}
    """
    )


def test_WF210_and_WF109_mcp_cli_ignores_more() -> None:
    check_findings(
        """
        steps:
          - {name: aa, run: "{{input}}", on_failure: retry, max_retries: 2}
                                       # ^^^^^^^^^^ information: WF210
          - {name: bb, run: "{{aa}}", on_failure: halt, needs: [aa]}
          - {name: cc, run: "{{bb}}", provider: ollama, needs: [bb]}
                                    # ^^^^^^^^ information: WF109
    """,
        ["WF210", "WF109"],
    )
    check_findings(
        """
        execution: {providers: [{provider: ollama, model: llama3.2}, {provider: openai, model: gpt-4o}]}
        steps:
          - {name: cc, run: "{{input}}", provider: ollama}
                                       # ^^^^^^^^ warning: WF109
    """,
        ["WF109"],
    )


def test_WF001_two_slips_of_a_kind_are_two_and_tabs_are_one() -> None:
    check_findings("""
        steps:
          - name: "a" x
                   # ^^ error: WF001
            run: "b" y
                  # ^^ error: WF001
    """)
    check_findings("""
        steps:
          - name: a
        \t\trun: x
        ^^ error: WF001
        \t\tmodel: y
    """)


def test_WF706_a_slip_counts_as_the_variable_that_is_meant() -> None:
    loop = "{name: l, workflow: draft, max_iterations: 3, until: It says READY, with: {text: %s}}"
    for text, codes in (
        ('"{{loop.last.output}}"', []),
        ('"{{loop.last.ouput}}"', ["WF503"]),
        ('"{{l.output}}"', ["WF503"]),
        ('"{{loop.iteration}}"', ["WF706"]),
        ('"{{loop.itertion}}"', ["WF503", "WF706"]),
    ):
        source = f"loops:\n  - {loop % text}\nsteps:\n  - {{name: s, needs: [l], run: '{{{{l}}}}'}}\n"
        draft = "#- draft.yaml\nsteps:\n  - {name: write, run: 'Improve {{text}}, write READY below it'}\n"
        found = findings_of(read_fixture(source + draft))["flow.yaml"]
        assert sorted(one.rule for one in found) == codes, text


def test_WF005_a_repeated_key_that_is_merged_is_told_where_it_is_written() -> None:
    source = "steps:\n  - &one {name: a, temperature: 1, temperature: 0, run: '{{input}}'}\n  - {<<: *one, name: b}\n"
    found = findings_of(read_fixture(source))["flow.yaml"]
    assert [one.span.start.line for one in found if one.rule == "WF005"] == [6]


def test_WF415_a_file_is_looked_for_from_the_folder_and_from_the_workspace(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "near.txt").write_text("a")
    (tmp_path / "far.txt").write_text("a")
    for path, codes in (
        ("near.txt", []),
        ("far.txt", []),
        ("none.txt", ["WF415"]),
        ("/outputs/none.txt", []),
        ("/none.txt", ["WF415"]),
        ("{{input}}", []),
    ):
        loop = f'{{name: l, workflow: draft, mode: iterate, items: "file://{path}", max_iterations: 3}}'
        text = f"{HEAD.format(name='flow')}{MODEL}loops:\n  - {loop}\n"
        document = Document.open(f"file://{tmp_path}/sub/flow.yaml", text)
        found = Checker().findings(Workspace.of(Roots(str(tmp_path)), [document]), document)
        assert [one.rule for one in found if one.rule == "WF415"] == codes, path


def test_WF703_a_local_judge_changes_nothing_where_a_condition_names_no_text() -> None:
    check_findings(
        """
        loops:
          - {name: l, workflow: draft, max_iterations: 3, until: "It compiles AND lints AND has docs"}
                                                               # ^ error: WF701
                                                               # ^ warning: WF703
        steps:
          - {name: a, needs: [l], run: "{{l}}"}
        """
        + DRAFT,
        settings=settings_of({"judge": {"local": True}})[0],
    )


def test_WF415_a_path_is_needed_and_outputs_are_written_by_the_run() -> None:
    check_findings(
        """
        loops:
          - {name: nowhere, workflow: draft, mode: iterate, items: "file://", max_iterations: 5}
          - {name: written, workflow: draft, mode: iterate, items: "file:///outputs/a.txt", max_iterations: 5}
          - {name: known_later, workflow: draft, mode: iterate, items: "file://{{input}}", max_iterations: 5}
          - {name: missing, workflow: draft, mode: iterate, items: "file://a.txt", max_iterations: 5}
                                                                 # ^^^^^^^^^^^^^^ warning: WF415
        steps:
          - {name: a, needs: [nowhere, written, known_later, missing], run: "{{input}}"}
        """
        + DRAFT
    )


def test_WF406_blank_text_is_no_list() -> None:
    check_findings(
        """
        loops:
          - {name: blank, workflow: draft, mode: iterate, items: "  ", max_iterations: 5}
                 # ^^^^^ error: WF406 Empty `items` in loop `blank`
          - {name: lines, workflow: draft, mode: iterate, items: "{}\\n\\n[]", max_iterations: 5}
        steps:
          - {name: a, needs: [blank, lines], run: "{{input}}"}
        """
        + DRAFT
    )


def test_WF215_a_template_that_cannot_be_read_or_has_tools_needs_no_reader() -> None:
    check_findings("""
        steps:
          - {name: a, template: {name: nothing, with: {input: "{{input}}"}}}
                                     # ^^^^^^^ error: WF601
          - {name: b, template: {name: tools, with: {input: "{{input}}"}}}
          - {name: c, template: {name: plain, with: {input: "{{input}}"}}}
                 # ^ hint: WF215
          - {name: d, run: "{{input}}"}
        #- tools.yaml
        execution: {provider: ollama, model: llama3.2, servers: [files]}
        steps:
          - {name: x, run: "{{input}}"}
        #- plain.yaml
        steps:
          - {name: x, run: "{{input}}"}
    """)


def test_WF113_a_misspelt_parallel_beside_the_right_one_does_not_count() -> None:
    check_findings("""
        execution: {provider: ollama, model: llama3.2, paralel: true, parallel: false, max_workers: 4}
                                                     # ^^^^^^^ error: WF006
                                                                                     # ^^^^^^^^^^^ error: WF113
        steps:
          - {name: a, run: "{{input}}"}
    """)


def test_WF006_and_WF509_a_repeated_key_of_the_head_is_judged_once() -> None:
    check_findings("""
        $schema: workflow/v2.0
        name: flow
        version: 1.0.0
        description: "A {{input}}"
                      # ^^^^^^^^^ warning: WF509
        description: "B {{input}}"
        ^^^^^^^^^^^ error: WF005
        colour: "{{input}}"
        ^^^^^^ error: WF006
        colour: "{{input}}"
        ^^^^^^ error: WF005
        execution: {provider: ollama, model: llama3.2}
        steps:
          - {name: a, run: "{{input}}"}
    """)


def test_WF009_is_silent_where_another_rule_asks_for_the_value() -> None:
    check_findings("""
        steps:
          - {name: a, run: "{{input}}", template: }
                                      # ^^^^^^^^ information: WF009
          - {name: b, needs: [a], run: , rag: }
                 # ^ error: WF203
          - {name: c, needs: [b], rag: {server: , query: "{{input}}"}}
                                # ^^^ warning: WF812
    """)


def test_WF507_the_output_before_is_read_by_that_name_in_a_loop_alone() -> None:
    check_findings("""
        loops:
          - {name: l, workflow: draft, max_iterations: 3, until: "It says READY"}
        steps:
          - {name: a, needs: [l], run: "{{l}}"}
        #- draft.yaml
        steps:
          - {name: a, template: {name: last, with: {input: "{{loop.output}} {{input}}"}}}
          - name: b
            needs: [a]
            loop:
              workflow: last
              with: {input: "{{loop.output}}"}
                           # ^^^^^^^^^^^^^^^ information: WF507
              max_iterations: 3
              until: "It says READY"
        #- last.yaml
        steps:
          - {name: x, run: "{{input}} READY"}
    """)


def test_WF503_a_slip_of_input_with_a_part_is_told_that_there_are_none() -> None:
    check_findings("""
        steps:
          - {name: a, run: "{{inptu.name}} {{input}}"}
                          # ^^^^^^^^^^^^^^ warning: WF503 did you mean `input`? It is a string without fields
          - {name: b, needs: [a], run: "{{a}} {{nothing.name}}"}
                                            # ^^^^^^^^^^^^^^^^ warning: WF503 Unknown variable `nothing.name`: `nothing`
    """)


def test_WF202_the_first_of_the_same_name_is_shown() -> None:
    source = """
        steps:
          - {temperature: 0.5, name: a, run: "{{input}}"}
          - {name: a, needs: [a], run: "{{input}} {{a}}"}
          - {run: "{{input}} {{a}}", needs: [a], name: a}
    """
    found = [one for one in findings_of(read_fixture(source))["flow.yaml"] if one.rule == "WF202"]
    assert [one.span.start.line - one.related[0].span.start.line for one in found] == [1, 2]
    assert {one.related[0].span.start.column for one in found} == {29}


def test_WF903_every_link_of_a_chain_is_asked() -> None:
    for place in ("execution", "step"):
        hot = "temperature: 1.5, providers: [{provider: openai, model: gpt-4o}, {provider: anthropic, model: m}]"
        execution = hot if place == "execution" else "provider: ollama, model: llama3.2"
        step = hot if place == "step" else "timeout: 5s"
        source = f"execution: {{{execution}}}\nsteps:\n  - {{name: a, {step}, run: '{{{{input}}}}'}}\n"
        assert "WF903" in {one.rule for one in findings_of(read_fixture(source))["flow.yaml"]}, place
        cool = source.replace("anthropic", "ollama")
        assert "WF903" not in {one.rule for one in findings_of(read_fixture(cool))["flow.yaml"]}, place


def test_WF611_tells_each_loop_variable_that_only_a_caller_can_supply_once() -> None:
    check_findings(
        """
        steps:
          - name: call
            template: {name: rounds, with: {input: "{{input}}"}}
                           # ^^^^^^ information: WF611 `rounds` uses `loop.output` and `loop.history`, which
        #- rounds.yaml
        steps:
          - {name: first, run: "Tell {{loop.output}} and {{input}} and {{loop.output}}"}
                                   # ^^^^^^^^^^^^^^^ warning: WF506
                                                                     # ^^^^^^^^^^^^^^^ warning: WF506
          - name: own
            needs: [first]
            loop:
              workflow: draft
              with: {input: "{{first}} {{loop.last.output}}"}
              max_iterations: 3
              until: It says READY
          - {name: last, needs: [own], run: "Tell {{loop.iteration}} and {{loop.history}} and {{own}}"}
                                                                       # ^^^^^^^^^^^^^^^^ warning: WF506
    """
        + DRAFT
    )


def messages(source: str, code: str, path: str = "flow.yaml", enable: tuple[str, ...] = ()) -> list[str]:
    return [one.message for one in findings_of(read_fixture(source), enable)[path] if one.rule == code]


def test_no_message_lists_more_than_a_few_names() -> None:
    callee = "#- draft.yaml\nsteps:\n  - {name: write, run: '{{n1}} {{n2}} {{n3}} {{n4}} {{n5}} {{n6}}'}\n"
    [said] = messages("steps:\n  - {name: call, template: {name: draft}}\n" + callee, "WF603")
    assert said == "Missing `n1`, `n2`, `n3`, `n4` and `n5`: `draft` needs it, but this call does not pass it"
    callee = "#- draft.yaml\nsteps:\n  - {name: write, run: '"
    callee += "{{loop.output}} {{loop.history}} {{loop.index}} {{loop.count}}'}\n"
    [said] = messages("steps:\n  - {name: call, template: {name: draft}}\n" + callee, "WF611")
    assert said == "`draft` uses `loop.output`, `loop.history` and `loop.index`, which is not available in a template"
    loops = "".join(
        f"  - {{name: l{number}, workflow: flow, max_iterations: 3, until: It says READY}}\n" for number in range(4)
    )
    last = "steps:\n  - {name: tell, needs: [l0, l1, l2, l3], run: '{{loop.iteration}}'}\n"
    [said] = messages(f"loops:\n{loops}{last}", "WF513")
    assert "(`l0` and `l1` and `l2`)" in said
    steps = "".join(f"  - {{name: s{number}, run: Say something}}\n" for number in range(4))
    last = "  - {name: tell, needs: [s0, s1, s2, s3], run: Tell it}\n"
    [said] = messages(f"steps:\n{steps}{last}", "WF517", enable=("pedantic",))
    assert said == "The prompt waits for `s0` and `s1` and `s2` but does not use it"


def test_WF601_three_fixes_at_most_are_offered() -> None:
    files = "".join(f"#- draft{sign}.yaml\nsteps:\n  - {{name: write, run: Say it}}\n" for sign in "abcd")
    source = "steps:\n  - {name: call, template: {name: draft}}\n" + files
    [found] = [one for one in findings_of(read_fixture(source))["flow.yaml"] if one.rule == "WF601"]
    assert len(found.fixes) == 3


def test_WF701_an_empty_condition_is_not_one_that_takes_judgement() -> None:
    source = "loops:\n  - {name: polish, workflow: draft, max_iterations: 3, until: ' '}\n"
    source += "#- draft.yaml\nsteps:\n  - {name: write, run: 'Improve {{input}}'}\n"
    settings = settings_of({"judge": {"local": True}})[0]
    assert [one.rule for one in findings_of(read_fixture(source), settings=settings)["flow.yaml"]] == ["WF405"]
    told = findings_of(read_fixture(source.replace("' '", "It reads well")), settings=settings)["flow.yaml"]
    assert [one.rule for one in told] == ["WF701"]


VERDICT = """
        steps:
          - {{name: write, run: "Improve {{{{previous}}}} by {{{{feedback}}}}"}}
          - {{name: review, needs: [write], run: "{prompt}: {{{{write}}}}"}}
                                             {note}
        #- flow.yaml
        loops:
          - name: polish
            workflow: cycle
            with: {{previous: "{{{{{previous}}}}}", feedback: "{{{{{feedback}}}}}"}}
            max_iterations: 3
            until: "The review says PASS"
        {steps}
"""
ASKS = "Answer PASS or FAIL"


def verdict(
    prompt: str = ASKS, previous: str = "input", feedback: str = "loop.last.output", steps: str = "", note: str = ""
) -> str:
    return VERDICT.format(prompt=prompt, previous=previous, feedback=feedback, steps=steps, note=note)


def test_WF712_a_verdict_that_is_wanted_as_one_or_comes_with_the_work_is_fine() -> None:
    marked = "#  ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ warning: WF712 passes it on as `{}`"
    check_findings(verdict(previous="loop.last.output", note=marked.format("previous")), ["WF712"], "cycle.yaml")
    report = "steps:\n          - {name: report, needs: [polish], run: 'Say {{polish}}'}"
    check_findings(verdict(steps=report, note=marked.format("report")), ["WF712"], "cycle.yaml")
    check_findings(verdict(), ["WF712"], "cycle.yaml")  # as `feedback` alone
    check_findings(verdict(f"{ASKS}, and repeat the text", previous="loop.last.output"), ["WF712"], "cycle.yaml")


def test_WF712_the_fix_asks_for_the_work_below_the_verdict() -> None:
    workspace = workspace_of(read_fixture(verdict(previous="loop.last.output"), "cycle.yaml"))
    document = document_of(workspace, "cycle.yaml")
    [finding] = Checker(["WF712"]).findings(workspace, document)
    [fix] = finding.fixes
    mended = applied(document, fix.edits(document)).element("review")
    assert mended is not None
    asked = "Repeat the work of `write` below your verdict, word for word. Answer PASS or FAIL: {{write}}"
    assert mended.block.text("run") == asked


def test_WF119_documents_disagree_whether_a_step_has_logging() -> None:
    source = "steps:\n  - {name: a, logging: debug, no_color: true, run: '{{input}}'}\n"
    assert messages(source, "WF119") == ["`no_color` has no effect on a step"]
    told = messages(source, "WF119", enable=("pedantic",))
    assert told == ["`logging` has no effect on a step", "`no_color` has no effect on a step"]


def test_WF215_a_loop_in_a_step_is_read_through_what_it_accumulates() -> None:
    loop = "loop: {workflow: draft, max_iterations: 3, until: It says READY, accumulate: all}"
    source = f"steps:\n  - {{name: polish, {loop}}}\n  - {{name: last, run: 'Tell NAME'}}\n"
    source += "#- draft.yaml\nsteps:\n  - {name: write, run: 'Improve {{input}}, write READY below it'}\n"
    assert messages(source.replace("NAME", "{{all}}"), "WF215") == []
    assert messages(source.replace("NAME", "{{input}}"), "WF215") == ["The result of step `polish` is never used"]


def test_WF106_counts_the_steps_that_lack_a_model() -> None:
    def told(steps: int) -> list[str]:
        head = "$schema: workflow/v2.0\nname: flow\nversion: 1.0.0\ndescription: It writes\nsteps:\n"
        text = "".join(f"  - {{name: s{number}, run: Say it}}\n" for number in range(steps))
        return messages(f"#- flow.yaml\n{head}{text}", "WF106")

    start, end = "Missing `provider` and `model` for `s0`", "; set it here or in `execution`"
    assert told(1) == [f"{start}{end}"]
    assert told(2) == [f"{start} (and 1 more step){end}"]
    assert told(3) == [f"{start} (and 2 more steps){end}"]


def test_WF113_no_workers_need_nothing() -> None:
    source = "execution: {{provider: ollama, model: llama3.2, max_workers: {}}}\nsteps:\n  - {{name: a, run: Say it}}\n"
    assert [len(messages(source.format(number), "WF113")) for number in (-1, 0, 1)] == [0, 0, 1]


CALLED = "#- draft.yaml\nsteps:\n  - {name: write, run: 'Improve {{input}}, write READY below it'}\n"


def test_WF403_a_limit_that_is_misspelt_is_told_once() -> None:
    def told(limit: str) -> list[str]:
        source = f"loops:\n  - {{name: a, workflow: draft, {limit} until: It says READY}}\n{CALLED}"
        return [one.rule for one in findings_of(read_fixture(source))["flow.yaml"] if one.severity is Severity.ERROR]

    assert [told(limit) for limit in ("max_iteratons: 3,", "max_iterations: ,", "", "max_iterations: 3,")] == [
        *(["WF006"], ["WF403"], ["WF403"], [])
    ]


def test_WF005_a_repeated_value_of_the_head_is_not_joined() -> None:
    again = "steps: [{name: a, run: '{{input}}'}]\n"
    source = f"#- flow.yaml\n$schema: workflow/v2.0\nname: flow\nname: other\nversion: 1.0.0\n{again}"
    found = findings_of(read_fixture(source))["flow.yaml"]
    [finding] = [one for one in found if one.rule == "WF005"]
    assert (finding.message, finding.fixes) == ("Duplicate key `name`; first defined on line 2", ())


def test_WF601_says_that_references_are_names_where_a_path_was_written() -> None:
    def said(reference: str) -> bool:
        source = f"steps:\n  - {{name: call, template: {{name: {reference}, with: {{input: x}}}}}}\n"
        [message] = messages(source, "WF601")
        return "(use the name, not the file)" in message

    paths = ("./drafts", "../drafts", "drafts.yaml", "drafts.yml")
    assert [said(path) for path in paths] == [True] * 4
    assert not said("team/drafts")
    assert not said(".drafts")


def test_WF005_sections_are_joined_where_neither_stands_in_brackets() -> None:
    block, flow = "steps:\n  - {name: a, run: '{{input}}'}\n", "steps: [{name: b, run: '{{input}}'}]\n"

    def fixes(first: str, second: str) -> int:
        found = findings_of(read_fixture(first + second.replace("a,", "c,")))["flow.yaml"]
        [finding] = [one for one in found if one.rule == "WF005"]
        return len(finding.fixes)

    assert [fixes(*pair) for pair in ((block, block), (block, flow), (flow, block), (flow, flow))] == [1, 0, 0, 0]


def test_WF005_is_found_inside_of_lists_and_mappings() -> None:
    source = (
        "steps:\n  - name: a\n    consensus:\n      prompt: '{{input}}'\n      prompt: again\n      require: majority\n"
    )
    source += (
        "      executions:\n        - {provider: openai, model: x, model: y}\n        - {provider: ollama, model: z}\n"
    )
    assert messages(source, "WF005") == [
        "Duplicate key `prompt`; first defined on line 9",
        "Duplicate key `model`; first defined on line 13",
    ]


def test_WF104_a_section_that_cannot_be_read_is_not_empty() -> None:
    assert messages("steps: words\n", "WF104") == []
    assert len(messages("steps: []\nenv: words\n", "WF104")) == 1
    assert len(messages("steps: []\nloops: []\n", "WF104")) == 1


def test_WF117_a_slip_is_no_use_of_the_constant_beside_the_one_that_is_used() -> None:
    def unread(used: str) -> list[str]:
        return messages(
            f"env: {{TONE: dry, TONES: warm}}\nsteps:\n  - {{name: a, run: '{{{{env.{used}}}}}'}}\n", "WF117"
        )

    assert len(unread("TONE")) == 1
    assert len(unread("TON")) == 1  # it was meant to be TONE
    assert "TONES" in unread("TONE")[0]


def test_WF215_an_empty_list_of_servers_takes_away_those_of_all_steps() -> None:
    def unused(own: str) -> list[str]:
        head = "execution: {provider: ollama, model: llama3.2, servers: [files]}\n"
        steps = f"  - {{name: a, {own}run: 'Look at {{{{input}}}}'}}\n  - {{name: b, run: 'Say {{{{input}}}}'}}\n"
        return messages(f"{head}steps:\n{steps}", "WF215")

    assert unused("") == []
    assert unused("servers: [web], ") == []
    assert [one.split("`")[1] for one in unused("servers: [], ")] == ["a"]


def test_WF502_the_result_of_a_called_step_is_a_parameter_outside_of_conditions() -> None:
    loop = (
        "loops:\n  - {name: l, workflow: draft, max_iterations: 2, with: {input: '{{write}}'}, until: It says READY}\n"
    )
    assert len(messages(f"{loop}{CALLED}", "WF502")) == 1
    assert messages(loop.replace("{{write}}", "{{input}}").replace("It says", "{{write}} says") + CALLED, "WF502") == []


def test_WF503_a_step_whose_name_has_a_dot_is_there() -> None:
    steps = "steps:\n  - {name: a.b, run: '{{input}}'}\n  - {name: c, needs: [a.b], run: 'Say NAME'}\n"
    assert messages(steps.replace("NAME", "{{a.b}}"), "WF503") == []
    assert len(messages(steps.replace("NAME", "{{a.c}}"), "WF503")) == 1


def test_WF503_of_a_step_that_is_not_there_nothing_is_said_about_parts() -> None:
    steps = (
        "env: {TONE: warm}\nsteps:\n  - {name: plan, run: '{{input}}'}\n  - {name: c, needs: [plan], run: 'Say NAME'}\n"
    )

    def said(name: str) -> str:
        [message] = messages(steps.replace("NAME", f"{{{{{name}}}}}"), "WF503")
        return message

    assert said("step.plan.x") == "Unknown variable `step.plan.x`: a result is a string without `.x`"
    assert said("step.nothing.x") == "Unknown step or loop `nothing.x`"
    assert said("env.TONE.x") == "Unknown variable `env.TONE.x`: constants are strings without fields"
    assert said("evn.TONE") == "Unknown variable `evn.TONE`; did you mean `env.TONE`?"
    assert said("stepp.plan") == "Unknown variable `stepp.plan`; did you mean `step.plan`?"
    assert said("Step.plan") == "Unknown variable `Step.plan`; did you mean `step.plan`?"


def test_WF501_callers_that_disagree_have_not_named_the_parameter() -> None:
    def found(*arguments: str) -> list[str]:
        calls = "".join(
            f"#- c{number}.yaml\nsteps:\n  - {{name: a, template: {{name: flow, with: {{{one}}}}}}}\n"
            for number, one in enumerate(arguments)
        )
        return messages("steps:\n  - {name: a, run: '{{mesage}}'}\n" + calls, "WF501")

    assert len(found("message: x", "message: y")) == 1
    assert found("message: x") == []
    assert found("message: x", "other: y") == []
    assert found("message: x", "message: y, other: z", "third: y") == []


def test_WF213_and_WF214_look_at_conditions_alone() -> None:
    def told(condition: str) -> list[str]:
        source = (
            f"steps:\n  - {{name: a, run: '{{{{input}}}}'}}\n  - {{name: b, needs: [a], if: {condition}, run: Go}}\n"
        )
        return [one.rule for one in findings_of(read_fixture(source))["flow.yaml"] if one.rule in ("WF213", "WF214")]

    assert told("\"{{a}} == 'x'\"") == []
    assert told("\"${{ a == 'x' }}\"") == []
    assert told('"${{ a }}"') == []
    assert told("\"a == 'x'\"") == ["WF214"]
    assert told("\"{{a}} == 'x' && {{input}}\"") == ["WF213"]
    assert told("yes please") == ["WF214"]


def test_what_is_quoted_is_cut_behind_forty_characters() -> None:
    assert shortened("x" * 40) == "x" * 40
    assert shortened("x" * 41) == "x" * 39 + "…"
    assert shortened("x" * 41, 41) == "x" * 41


def test_what_is_marked_of_several_lines_is_one_sign() -> None:
    block = check_marks("steps:\n  - name: a\n    if: |\n      yes\n      please\n    run: '{{input}}'\n", "WF214")
    assert block == ["|"]


def check_marks(source: str, code: str) -> list[str]:
    fixture = read_fixture(source)
    lines = fixture.main.text.split("\n")
    return [
        lines[one.span.start.line][one.span.start.column : one.span.end.column]
        for one in findings_of(fixture)["flow.yaml"]
        if one.rule == code
    ]


def test_WF705_going_through_a_list_once_is_no_single_iteration() -> None:
    loop = "loops:\n  - {name: l, workflow: draft, max_iterations: 1, MORE}\n" + CALLED
    assert len(messages(loop.replace("MORE", "until: It says READY"), "WF705")) == 1
    assert messages(loop.replace("MORE", "mode: iterate, items: '{{input}}'"), "WF705") == []


def test_WF702_says_why_a_result_is_not_there() -> None:
    loop = "loops:\n  - {name: polish, workflow: draft, max_iterations: 2, until: 'NAME says READY'}\n" + CALLED

    def said(name: str) -> str:
        [message] = messages(loop.replace("NAME", f"{{{{{name}}}}}"), "WF702")
        return message

    assert said("write").startswith("`{{write}}` is in `draft` and not available here, so this condition is never met")
    for name in ("polish", "step.polish"):
        assert said(name).startswith(f"`{{{{{name}}}}}` does not exist until the loop has ended")


def test_WF501_nobody_means_a_name_that_ends_in_a_blank() -> None:
    steps = "steps:\n  - {name: 'plann ', run: '{{input}}'}\n  - {name: b, needs: [a], run: 'Say {{plann}}'}\n"
    assert messages(steps, "WF501") == []
    assert len(messages(steps.replace("plann '", "plannn'"), "WF501")) == 1


def test_WF009_a_number_with_two_points_lacks_no_unit() -> None:
    def said(written: str) -> list[str]:
        source = f"steps:\n  - {{name: a, timeout: {written}, run: '{{{{input}}}}'}}\n"
        found = findings_of(read_fixture(source))["flow.yaml"]
        return [one.message.partition(":")[0] for one in found if "unit" in one.message]

    assert said("1.5") == ["Missing unit in `1.5`"]
    assert said("1.5.2") == ["Invalid duration `1.5.2`"]
    assert said("1.5s") == []


def test_WF813_an_average_is_told_by_its_own_rule() -> None:
    def told(fusion: str) -> list[str]:
        source = f"steps:\n  - {{name: a, rag: {{server: pg, query: '{{{{input}}}}', fusion: {fusion}}}}}\n"
        return [one.rule for one in findings_of(read_fixture(source))["flow.yaml"] if one.rule.startswith("WF8")]

    assert "WF813" in told("sum")
    assert "WF813" not in told("average")
    assert "WF813" not in told("weighted")


def test_WF303_a_circle_through_the_output_of_a_loop_is_marked_where_it_is_read() -> None:
    source = "loops:\n  - {name: l, workflow: draft, with: {input: '{{s}}'}, max_iterations: 2, until: It says READY}\n"
    source += "steps:\n  - {name: s, run: 'Say {{l}}'}\n" + CALLED
    assert check_marks(source, "WF303") == ["{{s}}"]


def test_a_temperature_is_judged_by_all_providers_it_is_for() -> None:
    steps = "steps:\n  - {name: a, temperature: 1.5, OWN run: '{{input}}'}\n"

    def told(execution: str, own: str = "") -> int:
        found = findings_of(read_fixture(f"execution: {{{execution}}}\n" + steps.replace("OWN", own)))["flow.yaml"]
        return sum("must be from 0 to 1 for `anthropic`" in one.message for one in found)

    chain = "providers: [{provider: openai, model: a}, {provider: anthropic, model: b}]"
    assert told(chain) == 1
    assert told("provider: anthropic, model: b") == 1
    assert told("provider: openai, model: a") == 0
    assert told(chain, "provider: openai, model: a,") == 0
    assert told("temperature: 1.5, " + chain, "provider: openai, model: a,") == 1
    assert told("temperature: 1.5, provider: openai, model: a", "provider: anthropic, model: b,") == 1
    assert told("temperature: 1.5, provider: openai, model: a") == 0


def test_WF502_a_loop_through_a_list_supplies_the_item_and_nothing_else() -> None:
    def told(name: str, mode: str) -> list[str]:
        caller = f"#- caller.yaml\nloops:\n  - {{name: l, workflow: flow, max_iterations: 2, {mode}}}\n"
        return messages(f"steps:\n  - {{name: a, run: 'Say {{{{{name}}}}}'}}\n{caller}", "WF502")

    through = "mode: iterate, items: '{{input}}'"
    assert told("item", through) == []
    assert len(told("thing", through)) == 1
    assert len(told("item", "until: It says READY")) == 1


def test_WF119_a_key_without_effect_is_told_where_it_is_written() -> None:
    source = "steps:\n  - &one {name: a, no_color: true, run: '{{input}}'}\n  - {<<: *one, name: b}\n"
    assert len(messages(source, "WF119")) == 1


def test_WF503_a_constant_may_have_a_name_with_a_dot() -> None:
    steps = "env: {TONE: dry, TONE.x: warm}\nsteps:\n  - {name: a, run: 'Say {{env.NAME}}'}\n"
    assert messages(steps.replace("NAME", "TONE.x"), "WF503") == []
    assert len(messages(steps.replace("NAME", "TONE.y"), "WF503")) == 1


def test_WF702_no_sentence_is_kept_of_a_step_that_the_judge_never_sees() -> None:
    def titles(name: str) -> list[str]:
        callee = "#- draft.yaml\nsteps:\n  - {name: first, run: 'Think of {{input}}'}\n"
        callee += "  - {name: write, needs: [first], run: 'Improve {{first}}, write READY below it'}\n"
        loop = f"loops:\n  - {{name: l, workflow: draft, max_iterations: 2, until: '{{{{{name}}}}} is short'}}\n"
        [finding] = [one for one in findings_of(read_fixture(loop + callee))["flow.yaml"] if one.rule == "WF702"]
        return [fix.title for fix in finding.fixes]

    assert len(titles("write")) == 2
    assert len(titles("draft")) == 2
    assert len(titles("first")) == 1


def test_of_a_mapping_of_several_lines_its_first_key_is_marked() -> None:
    source = "steps:\n  - name: a\n    run:\n      first: '{{input}}'\n      second: 5\n"
    assert check_marks(source, "WF007") == ["first"]


def test_WF001_to_WF009_say_how_a_template_is_written() -> None:
    found = findings_of(read_fixture("steps:\n  - {name: a, template: draft}\n" + CALLED))["flow.yaml"]
    [finding] = [one for one in found if one.rule == "WF007"]
    assert finding.message.endswith("; use `template: {name: draft}`")
    assert [fix.title for fix in finding.fixes] == ["Change to a mapping"]


def test_a_temperature_of_execution_is_judged_by_the_steps_that_take_it_over() -> None:
    def told(step: str) -> int:
        source = f"execution: {{provider: openai, model: a, temperature: 1.5}}\nsteps:\n  - {{name: a, {step}}}\n"
        found = findings_of(read_fixture(source))["flow.yaml"]
        return sum("must be from 0 to 1 for `anthropic`" in one.message for one in found)

    asked = "run: '{{input}}'"
    assert told(asked) == 0
    assert told(f"{asked}, provider: anthropic, model: b") == 1
    assert told(f"{asked}, provider: anthropic, model: b, temperature: 0.5") == 0
    assert told(f"{asked}, providers: [{{provider: openai, model: a}}, {{provider: anthropic, model: b}}]") == 1
    asked = "executions: [{provider: anthropic, model: a%s}, {provider: x, model: b}]"
    vote = f"consensus: {{prompt: '{{{{input}}}}', require: all, {asked}}}"
    assert told(vote % "") == 1
    assert told(vote % ", temperature: 0.5") == 0


def test_WF106_embeddings_name_their_own_model() -> None:
    def lacks(own: str, execution: str = "env: {A: b}") -> list[str]:
        step = f"steps:\n  - {{name: a, embeddings: {{input: '{{{{input}}}}', {own}}}}}\n"
        head = "$schema: workflow/v2.0\nname: flow\nversion: 1.0.0\ndescription: It counts\n"
        found = findings_of(read_fixture(f"#- flow.yaml\n{head}{execution}\n{step}"))["flow.yaml"]
        return [one.message.partition(":")[0] for one in found if one.rule == "WF106"]

    assert lacks("provider: openai, model: x") == []
    assert lacks("provider: openai, model: ''") == ["Missing `model` for `a`; set it here or in `execution`"]
    assert lacks("dimensions: 3") == ["Missing `provider` and `model` for `a`; set it here or in `execution`"]
    assert lacks("model: x", "execution: {provider: openai}") == []


def test_WF104_sections_under_another_name_are_there() -> None:
    assert messages("stesp:\n  - {name: a, run: '{{input}}'}\n", "WF104") == []
    assert len(messages("env: {A: b}\n", "WF104")) == 1


def test_WF508_names_in_small_letters_are_no_variables_of_the_environment() -> None:
    def told(text: str) -> int:
        return len(messages(f"steps:\n  - {{name: a, run: 'Say {{{{input}}}} {text}'}}\n", "WF508"))

    assert [told(text) for text in ("$HOME_DIR", "${HOME_DIR}", "$home", "${home}", "`$HOME_DIR`")] == [1, 1, 0, 0, 0]


def test_WF215_a_called_workflow_with_tools_may_have_effects() -> None:
    def unused(head: str, step: str) -> list[str]:
        callee = f"#- draft.yaml\n{head}steps:\n  - {{name: write, {step}run: 'Improve {{{{input}}}}'}}\n"
        call = "steps:\n  - {name: a, template: {name: draft, with: {input: x}}}\n  - {name: b, run: '{{input}}'}\n"
        return messages(call + callee, "WF215")

    tools = "execution: {provider: ollama, model: llama3.2, servers: [files]}\n"
    assert len(unused("", "")) == 1
    assert unused("", "servers: [files], ") == []
    assert len(unused("", "servers: [], ")) == 1
    assert unused(tools, "") == []


def test_WF001_a_short_text_in_a_block_is_written_on_its_line() -> None:
    source = "steps:\n  - name: |\n      a\n    run: '{{input}}'\n"
    workspace = workspace_of(read_fixture(source))
    document = document_of(workspace, "flow.yaml")
    [fix] = [one.fixes[0] for one in Checker().findings(workspace, document) if one.rule == "WF217"]
    after = str(applied(document, fix.edits(document)).text)
    assert after.endswith("steps:\n  - name: a\n    run: '{{input}}'\n")


def test_WF503_outside_of_its_loop_a_step_has_no_output_before_it_has_run() -> None:
    step = "steps:\n  - {name: l, if: 'IF', loop: {workflow: draft, with: {input: 'WITH'}, max_iterations: 2, "
    step += "until: It says READY}}\n" + CALLED
    [said] = messages(step.replace("IF", "{{l.output}}").replace("WITH", "x"), "WF503")
    assert said == "Unknown variable `l.output`: `l` has no result before it has run"
    [said] = messages(step.replace("IF", "{{input}}").replace("WITH", "{{l.output}}"), "WF503")
    assert said == "Unknown variable `l.output`; did you mean `loop.last.output`?"


def test_WF805_executions_that_lack_a_half_are_not_equal() -> None:
    def told(*executions: str) -> int:
        listed = ", ".join(f"{{{one}}}" for one in executions)
        step = f"consensus: {{prompt: '{{{{input}}}}', require: all, executions: [{listed}]}}"
        return len(messages(f"steps:\n  - {{name: a, {step}}}\n", "WF805"))

    assert told("provider: openai, model: x", "provider: openai, model: x") == 1
    assert told("provider: openai, model: x", "provider: openai, model: y") == 0
    assert told("model: x", "model: x") == 0
    assert told("provider: openai", "provider: openai") == 0


def test_WF710_counts_the_iterations_of_refine_loops() -> None:
    inner = "#- inner.yaml\nloops:\n  - {name: i, workflow: draft, max_iterations: 20, until: It says READY}\n" + CALLED

    def told(mode: str, most: object = 20) -> int:
        outer = f"loops:\n  - {{name: o, workflow: inner, max_iterations: {most}, {mode}}}\n"
        found = findings_of(read_fixture(outer + inner))["flow.yaml"]
        return sum("the innermost workflow may run" in one.message for one in found)

    assert told("until: It says READY") == 1
    assert told("mode: iterate, items: '{{input}}'") == 0
    assert told("until: It says READY", "many") == 0
    assert told("until: It says READY", 1) == 0


def test_WF702_has_no_fix_where_nothing_is_left_and_nothing_is_known() -> None:
    def fixes(until: str, prompt: str) -> list[str]:
        callee = f"#- draft.yaml\nsteps:\n  - {{name: write, run: '{prompt} {{{{input}}}}'}}\n"
        loop = f"loops:\n  - {{name: l, workflow: draft, max_iterations: 2, until: '{until}'}}\n"
        [finding] = [one for one in findings_of(read_fixture(loop + callee))["flow.yaml"] if one.rule == "WF702"]
        return [("* " if fix.preferred else "") + fix.title for fix in finding.fixes]

    assert fixes("{{loop.output}}", "Improve") == []
    assert fixes("{{loop.output}}", "Write READY below it") == ["* Write “The output says READY”"]
    assert fixes("The output {{loop.output}} has a title", "Improve")[0].startswith("* ")


def test_calls_with_faulty_arguments_are_told_of_the_fault_alone() -> None:
    for given in ("5", "[a]", "text"):
        source = f"steps:\n  - {{name: a, template: {{name: draft, with: {given}}}}}\n" + CALLED
        found = findings_of(read_fixture(source))["flow.yaml"]
        assert not {"WF602", "WF607", "WF608"} & {one.rule for one in found}


def test_WF002_of_a_schema_that_is_empty_or_a_list() -> None:
    def told(line: str) -> list[str]:
        text = f"#- flow.yaml\n{line}\nname: flow\nversion: 1.0.0\nexecution: {{provider: a, model: b}}\nsteps: []\n"
        found = findings_of(read_fixture(text))["flow.yaml"]
        return [f"{one.message} {[fix.title for fix in one.fixes]}" for one in found if one.rule == "WF002"]

    missing = "Missing `$schema: workflow/v2.0`: this file looks like a workflow, but is skipped"
    add, write = "['Add `$schema: workflow/v2.0`']", "['Rename this key to `$schema`']"
    assert told("schema: workflow/v2.0") == [f"{missing} {write}"]
    assert told("schema: [workflow/v2.0]") == [f"{missing} {add}"]
    assert told("# nothing") == [f"{missing} {add}"]
    assert told("$schema:") == [f"{missing} {add}"]


def test_WF408_retries_under_another_name_are_some() -> None:
    def told(more: str) -> list[str]:
        loop = f"loops:\n  - {{name: l, workflow: draft, max_iterations: 2, until: It says READY, {more}}}\n"
        found = findings_of(read_fixture(loop + CALLED), ["compat"])["flow.yaml"]
        return [one.rule for one in found if "retr" in one.message]

    assert told("on_failure: retry, max_retries: 2") == []
    assert len(told("on_failure: retry")) == 1
    assert told("on_failure: retry, retries: 2") == ["WF006"]


def test_WF503_an_argument_has_no_parts() -> None:
    steps = "steps:\n  - {name: a, run: 'Say {{topic}} USED'}\n"
    [said] = messages(steps.replace("USED", "{{topic.x}}"), "WF503")
    assert said == "Unknown variable `topic.x`: the argument `topic` is a string without fields"
    [said] = messages(steps.replace("USED", "{{other.x}}"), "WF503")
    assert said.startswith("Unknown variable `other.x`: `other` is not a step")


def test_WF502_a_dot_is_missing_behind_its_own_words_alone() -> None:
    def said(name: str) -> str:
        steps = "env: {TONE: dry}\nsteps:\n  - {name: plan, run: '{{input}} {{env.TONE}}'}\n"
        [message] = messages(f"{steps}  - {{name: b, needs: [plan], run: 'Say {{{{{name}}}}}'}}\n", "WF502")
        return message

    assert said("step_plan").endswith("did you mean `step.plan`?")
    assert said("steps_plan").endswith("did you mean `step.plan`?")
    assert said("env_TONE").endswith("did you mean `env.TONE`?")
    assert said("loop_iteration").endswith("did you mean `loop.iteration`?")
    for name in ("other_plan", "other_TONE", "step_other", "env_OTHER"):
        assert "did you mean" not in said(name)


def test_WF702_of_several_variables_the_one_that_is_meant_is_taken_out() -> None:
    loop = "loops:\n  - name: l\n    workflow: draft\n    max_iterations: 2\n"
    loop += (
        "    until: 'Round {{loop.iteration}} of the output {{loop.output}} has a title, {{loop.output}} has an end'\n"
    )
    workspace = workspace_of(read_fixture(loop + CALLED))
    document = document_of(workspace, "flow.yaml")
    found = [one for one in Checker().findings(workspace, document) if one.rule == "WF702"]
    fixes = [fix for one in found for fix in one.fixes if fix.title == "Remove `{{loop.output}}` from the condition"]
    after = [str(applied(document, fix.edits(document)).text).partition("until: ")[2] for fix in fixes]
    assert [one.partition("\n")[0] for one in after] == [
        "'Round {{loop.iteration}} of the output has a title, {{loop.output}} has an end'",
        "'Round {{loop.iteration}} of the output {{loop.output}} has a title, the output has an end'",
    ]


def test_of_a_list_of_several_lines_its_first_dash_is_marked() -> None:
    source = "steps:\n  - name: a\n    run:\n      - '{{input}}'\n      - 5\n"
    assert check_marks(source, "WF007") == ["-"]


def test_WF706_the_own_result_hands_nothing_over() -> None:
    loop = "loops:\n  - {name: l, workflow: draft, with: {input: 'WITH'}, max_iterations: 2, until: It says READY}\n"

    def told(given: str) -> int:
        found = findings_of(read_fixture(loop.replace("WITH", given) + CALLED))["flow.yaml"]
        return sum("cannot see earlier results" in one.message for one in found)

    assert told("{{input}}") == 1
    assert told("{{l}}") == 1
    assert told("{{loop.iteration}}") == 1
    assert told("{{loop.last.output}}") == 0
    assert told("{{loop.lst.output}}") == 0
    assert told("{{l.output}}") == 0


def test_WF501_a_loop_that_means_another_result_needs_no_needs() -> None:
    source = "steps:\n  - {name: plan, run: '{{input}}'}\nloops:\n"
    source += (
        "  - {name: l, workflow: draft, with: {input: '{{plna}}'}, max_iterations: 2, until: It says READY}\n" + CALLED
    )
    workspace = workspace_of(read_fixture(source))
    document = document_of(workspace, "flow.yaml")
    [fix] = [one.fixes[0] for one in Checker().findings(workspace, document) if one.rule == "WF501"]
    after = str(applied(document, fix.edits(document)).text)
    assert "with: {input: '{{plan}}'}" in after
    assert "needs" not in after


def test_WF303_a_circle_through_the_output_of_the_nearest_loop_is_marked_where_it_is_read() -> None:
    source = "loops:\n  - {name: l, workflow: draft, with: {input: '{{s}}'}, max_iterations: 2, until: It says READY}\n"
    source += "steps:\n  - {name: s, run: 'Say {{loop.output}} of {{input}}'}\n" + CALLED
    [found] = [one for one in findings_of(read_fixture(source))["flow.yaml"] if one.rule == "WF303"]
    assert [related.span.end.column - related.span.start.column for related in found.related] == [
        len("{{loop.output}}")
    ]


def test_nothing_is_missing_in_a_file_that_cannot_be_read() -> None:
    loop = "loops:\n  - {name: l, workflow: draft, until: It says READY}\n" + CALLED
    assert len(messages(loop, "WF403")) == 1
    assert messages(f"env: {{A: 'b\n{loop}", "WF403") == []


def test_WF413_a_number_of_workers_that_is_not_written_is_none() -> None:
    def told(workers: str) -> int:
        loop = "steps:\n  - {name: l, loop: {workflow: draft, max_iterations: 2, mode: iterate, items: '{{input}}', "
        found = findings_of(read_fixture(f"{loop}parallel: true{workers}}}}}\n{CALLED}"), ["compat"])["flow.yaml"]
        return sum("with `parallel: true`" in one.message for one in found)

    assert [told(workers) for workers in ("", ", max_workers: ", ", max_workers: 3")] == [1, 1, 0]


def test_WF105_loops_without_an_entry_do_nothing_at_all() -> None:
    loop = "loops:\n  - {name: l, workflow: draft, max_iterations: 2, until: It says READY}\n" + CALLED

    def told(source: str) -> list[str]:
        found = findings_of(read_fixture(source), ["compat"])["flow.yaml"]
        return [one.rule for one in found if one.rule in ("WF104", "WF105")]

    assert told(loop) == ["WF105"]
    assert told("loops: []\n") == ["WF104"]
    assert told(f"steps:\n  - {{name: a, run: '{{{{l}}}}'}}\n{loop}") == []


def test_WF304_the_input_is_nobodys_result() -> None:
    source = "steps:\n  - {name: input, run: Say it}\n  - {name: b, run: '{{input}} {{step.input}}'}\n"
    assert len(messages(source.replace("{{input}} ", ""), "WF304")) == 1
    assert messages(source.replace(" {{step.input}}", ""), "WF304") == []


def test_needs_that_an_alias_brings_are_judged_where_they_are_written() -> None:
    source = "steps:\n  - {name: a, needs: &some [nothing, nothing], run: '{{input}}'}\n"
    source += "  - {name: b, needs: *some, run: '{{input}}'}\n"
    assert len(messages(source, "WF301")) == 2
    lines = {one.span.start.line for one in findings_of(read_fixture(source))["flow.yaml"] if one.rule == "WF307"}
    assert len(lines) == 1


def test_WF505_tags_are_told_once_in_each_line() -> None:
    source = "steps:\n  - name: a\n    run: |\n      {% if x %} {{input}} {% end %}\n      {% for y %}\n"
    assert len(messages(source, "WF505")) == 2


def test_WF104_loops_under_another_name_are_there() -> None:
    loop = "[{name: l, workflow: draft, max_iterations: 2, until: It says READY}]\n"
    assert messages(f"lops: {loop}", "WF104") == []
    assert messages("stesp: [{name: a, run: '{{input}}'}]\n", "WF104") == []


def test_WF709_a_condition_is_long_from_the_first_character_that_is_too_many() -> None:
    def told(length: int) -> list[str]:
        text = "The reply says READY ".ljust(length, "x")
        loop = f"loops:\n  - {{name: l, workflow: draft, max_iterations: 2, until: {text}}}\n"
        found = findings_of(read_fixture(loop + CALLED))["flow.yaml"]
        return [one.message.partition(":")[0] for one in found if "characters" in one.message]

    assert told(150) == []
    assert told(151) == ["Long condition (151 characters)"]
