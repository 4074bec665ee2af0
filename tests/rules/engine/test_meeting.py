"""Rules that meet at one place: one fault gives one finding."""

from __future__ import annotations

from tests.rules.checking import check_findings


def test_a_broken_file_is_not_told_what_is_missing() -> None:
    check_findings("""
        $schema: workflow/v2.0
        name: flow
        steps:
          - name: poem
            run: "Write about {{input}}
               # ^ error: WF001
          - name: heading
            needs: [poem]
    """)


def test_a_slip_in_the_indentation_is_told_once_and_nothing_follows_from_it() -> None:
    check_findings("""
        execution:
          provider: ollama
          model: llama3.2

         steps:
        ^ error: WF001
          - name: a
            run: "Greet {{input}}"
    """)
    check_findings("""
        steps:
        \t- name: a
        ^ error: WF001
        \t  run: "Greet {{input}}"
        \t- name: b
        \t  run: "Greet {{a}}"
    """)


def test_of_a_repeated_key_the_first_counts() -> None:
    check_findings("""
        steps:
          - name: greet
            temperature: 0.5
            temperature: 9
          # ^^^^^^^^^^^ error: WF005 first defined on line 8
            run: "Greet {{input}}"
    """)


def test_repeated_blocks_are_joined_in_the_order_of_the_file() -> None:
    check_findings("""
        steps:
          - {name: theme, run: "A theme for {{input}}"}
        loops:
          - {name: polish, workflow: draft, max_iterations: 3, until: "The reply contains READY"}
        steps:
        ^^^^^ error: WF005 first defined on line 6; both are merged
          - {name: publish, needs: [polish, theme], run: "{{polish}} under {{theme}}"}
        #- draft.yaml
        steps:
          - {name: write, run: "Improve {{input}}, write READY below it"}
    """)


def test_an_unknown_key_stands_for_the_one_that_was_meant() -> None:
    check_findings("""
        loops:
          - name: polish
            workfow: draft
          # ^^^^^^^ error: WF006 did you mean `workflow`?
            max_iteration: 5
          # ^^^^^^^^^^^^^ error: WF006 did you mean `max_iterations`?
            untl: "The reply contains READY"
          # ^^^^ error: WF006 did you mean `until`?
    """)


def test_a_value_of_the_wrong_type_is_not_judged_further() -> None:
    check_findings("""
        loops:
          - name: polish
            workflow: draft
            max_iterations: "200"
                          # ^^^^^ error: WF007 without quotes
            until: [good]
                 # ^^^^^^ error: WF007 not a list
        #- draft.yaml
        steps:
          - {name: write, run: "Improve {{input}}"}
    """)


def test_a_number_without_unit_is_no_duration_and_nothing_else() -> None:
    check_findings("""
        steps:
          - name: greet
            timeout: 0
                   # ^ error: WF008 Missing unit
            run: "Greet {{input}}"
    """)


def test_braces_without_quotes_are_told_that_quotes_are_missing() -> None:
    check_findings("""
        steps:
          - name: first
            run: "Say something about {{input}}"
          - name: greet
            needs: [first]
            run: {{first}}
               # ^ error: WF007 Missing quotes
    """)


def test_braces_without_quotes_are_missed_nowhere_a_text_may_stand() -> None:
    check_findings("""
        env:
          TONE: {{input}}
              # ^ error: WF007 Missing quotes in `env`
        steps:
          - name: first
            run: "Say something about {{input}} in a {{env.TONE}} tone"
          - name: greet
            needs: [first]
            template: {name: other, with: {topic: {{input}}, shape: {width: 2}}}
                           # ^^^^^ error: WF601
                                                # ^ error: WF007 Missing quotes in `with`
    """)


def test_an_empty_text_is_empty_and_an_empty_list_is_absent() -> None:
    check_findings("""
        $schema: workflow/v2.0
        name:
        ^^^^ error: WF101
        version: 1.0.0
        description: x
        execution: {provider: ollama, model: llama3.2}
        steps:
          - name: greet
            needs:
          # ^^^^^ information: WF009
            run: "Greet {{input}}"
    """)


def test_a_step_that_needs_itself_is_no_cycle_as_well() -> None:
    check_findings("""
        steps:
          - name: essay
            needs: [essay]
                  # ^^^^^ error: WF302
            run: "Write about {{input}}"
    """)


def test_a_step_that_reads_itself_is_neither_cycle_nor_missing_need() -> None:
    check_findings("""
        steps:
          - name: essay
            run: "Write about {{input}}, better than {{essay}}"
                                                   # ^^^^^^^^^ error: WF510
    """)


def test_references_inside_a_cycle_are_not_missing_needs() -> None:
    check_findings("""
        steps:
          - name: one
            run: "{{two}} {{input}}"
                # ^^^^^^^ error: WF303 `one` → `two` → `one`
          - name: two
            run: "{{one}}"
    """)


def test_a_slip_is_reported_as_one_and_not_as_a_parameter() -> None:
    check_findings("""
        steps:
          - {name: requirements, run: "List them for {{input}}"}
          - {name: plan, needs: [requirements], run: "Plan {{requirments}} and {{requirments}}"}
                                                         # ^^^^^^^^^^^^^^^ warning: WF501
                                                                             # ^^^^^^^^^^^^^^^ warning: WF501
    """)


def test_an_unknown_workflow_ends_the_checks_of_its_call() -> None:
    check_findings("""
        steps:
          - name: ask
            template: {name: nobody, with: {a: b}}
                           # ^^^^^^ error: WF601
    """)


def test_a_callee_that_calls_its_caller_does_not_count_its_circle_as_error() -> None:
    check_findings("""
        #- ping.yaml
        steps:
          - {name: throw, template: {name: pong, with: {input: "{{input}}"}}}
                                         # ^^^^ error: WF604 `ping` → `pong` → `ping`
        #- pong.yaml
        steps:
          - {name: throw_back, template: {name: ping, with: {input: "{{input}}"}}}
                                              # ^^^^ error: WF604 `pong` → `ping` → `pong`
    """)


def test_an_if_on_the_way_makes_a_circle_an_information() -> None:
    check_findings("""
        steps:
          - {name: look, run: "Is {{input}} finished? Answer yes or nothing."}
          - name: again
            needs: [look]
            if: "{{look}}"
            template: {name: flow, with: {input: "{{input}}"}}
                           # ^^^^ information: WF604 an `if` may end the recursion
    """)
