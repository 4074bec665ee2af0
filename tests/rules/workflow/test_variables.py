"""Variables of every kind, where they exist and where they do not (vectors C5 and C10)."""

from __future__ import annotations

import pytest

from loop_ls.testing.fixture import read_fixture
from tests.rules.checking import check_findings, findings_of

DRAFT = """
        #- draft.yaml
        steps:
          - {name: write, run: "Improve {{input}}, write READY below it"}
"""


def test_C5_what_stays_as_it_is_written() -> None:
    check_findings("""
        env: {A: "{{input}}"}
               # ^^^^^^^^^^^ information: WF116
        steps:
          - {name: a, run: "{{input}} {{ input }} {{env.A}}"}
          - name: b
            needs: [a]
            run: |
              {{Input}} {{a}}
              ^^^^^^^^^ warning: WF501 did you mean `input`?
              {{input.x}}
              ^^^^^^^^^^^ warning: WF503
              {{input|up}} {{a[0]}} {{a ? b : c}}
              ^^^^^^^^^^^^ warning: WF504
                           ^^^^^^^^ warning: WF504
                                    ^^^^^^^^^^^^^ warning: WF504
              {"a": {"b": 1}} {{}}
    """)


def test_in_a_strict_field_an_unknown_variable_is_an_error() -> None:
    check_findings("""
        env: {TONE: warm}
        steps:
          - {name: theme, run: "A theme for {{input}}, {{env.TONE}}"}
          - name: find
            needs: [theme]
            rag: {server: pg, query: "{{themes}} {{theme.x}} {{env.TONES}}"}
                                    # ^^^^^^^^^^ error: WF501
                                               # ^^^^^^^^^^^ error: WF503
                                                           # ^^^^^^^^^^^^^ error: WF511 did you mean `env.TONE`?
    """)


def test_loop_variables_by_place() -> None:
    check_findings(
        """
        loops:
          - name: polish
            workflow: draft
            with:
              input: "{{loop.iteration}} {{loop.last.output}} {{loop.history}} {{loop.output}}"
                                                                             # ^^^^^^^^^^^^^^^ information: WF507
              more: "{{loop.index}} {{loop.current}} {{loop.count}} {{loop.itration}}"
                   # ^^^^^^^^^^^^^^ error: WF507 `loop.iteration`
                                  # ^^^^^^^^^^^^^^^^ error: WF507 `loop.last.output`
                                                   # ^^^^^^^^^^^^^^ error: WF507
                                                                  # ^^^^^^^^^^^^^^^^^ error: WF503 `loop.iteration`?
            max_iterations: 3
            until: "The reply contains READY"
        steps:
          - name: print
            needs: [polish]
            run: |
              {{polish}} {{loop.iteration}} {{loop.output}}
              {{loop.last.output}} {{loop.history}}
              ^^^^^^^^^^^^^^^^^^^^ warning: WF506 not available after its loop
                                   ^^^^^^^^^^^^^^^^ warning: WF506 `accumulate`
              {{loop.iterations}}
              ^^^^^^^^^^^^^^^^^^^ warning: WF507 `loop.iteration`
    """
        + DRAFT.replace("{{input}}", "{{input}} {{more}}")
    )


def test_loop_variables_of_an_iterate_loop() -> None:
    check_findings("""
        steps:
          - name: each
            loop:
              workflow: card
              mode: iterate
              items: "{{input}}"
              with:
                a: "{{loop.current}} {{loop.index}} {{loop.stats.failed}}"
                b: "{{loop.total}} {{loop.iteration}}"
                  # ^^^^^^^^^^^^^^ warning: WF507 `loop.count`
                                 # ^^^^^^^^^^^^^^^^^^ error: WF507
              max_iterations: 50
          - {name: sum, needs: [each], run: "{{each}} {{loop.succeeded}} {{loop.failed}} {{loop.output}}"}
        #- card.yaml
        steps:
          - {name: print, run: "{{item}} {{loop.current}} {{a}} {{b}} {{loop.item}}"}
                                                                    # ^^^^^^^^^^^^^ warning: WF507 `loop.current`
    """)


def test_the_third_rule_of_4_2_gives_a_missing_need() -> None:
    check_findings(
        """
        loops:
          - {name: polish, workflow: draft, max_iterations: 3, until: "The reply contains READY"}
        steps:
          - {name: print, run: "After {{loop.iteration}} rounds"}
                                    # ^^^^^^^^^^^^^^^^^^ warning: WF304 `polish`
    """
        + DRAFT
    )


def test_reserved_words_and_other_dialects() -> None:
    check_findings("""
        steps:
          - name: a
            run: "{{loop}} {{env}} {{workflow.name}} {{inputs.x}} {{input}}"
                # ^^^^^^^^ warning: WF503 `{{loop.iteration}}`
                         # ^^^^^^^ warning: WF503
                                 # ^^^^^^^^^^^^^^^^^ warning: WF503
                                                   # ^^^^^^^^^^^^ warning: WF503
    """)


def test_an_argument_with_nearly_the_right_name_is_one_finding_on_its_key() -> None:
    check_findings("""
        steps:
          - {name: write, run: "Write {{message}} in {{colour}}, {{size}}"}
                                                               # ^^^^^^^^ information: WF502 does not pass it
        #- caller.yaml
        steps:
          - {name: ask, template: {name: flow, with: {mesage: hi, color: red}}}
                                       # ^^^^ warning: WF603 `size`
                                                    # ^^^^^^ warning: WF602 did you mean `message`?
                                                                # ^^^^^ warning: WF602 did you mean `colour`?
          - name: loop_it
            needs: [ask]
            loop:
              workflow: flow
              with: {Message: "{{loop.last.output}}", colour: "{{ask}}", size: 1}
                   # ^^^^^^^ warning: WF602 did you mean `message`?
              max_iterations: 2
              until: It fits on a page
    """)


def test_a_name_that_several_callers_spell_alike_is_a_slip_of_the_callee() -> None:
    check_findings("""
        steps:
          - {name: write, run: "Write about {{topci}}"}
                                          # ^^^^^^^^^ warning: WF501 did you mean `topic`?
        #- caller.yaml
        steps:
          - {name: ask, template: {name: flow, with: {topic: cats}}}
                                                    # ^^^^^ warning: WF602
          - {name: again, needs: [ask], template: {name: flow, with: {topic: "{{ask}}"}}}
                                                                    # ^^^^^ warning: WF602
    """)


def test_C10_references_from_a_folder() -> None:
    check_findings("""
        #- d/caller.yaml
        steps:
          - {name: one, template: {name: x, with: {input: "{{input}}"}}}
                                       # ^ information: WF606 This calls `d/x`
          - {name: two, needs: [one], template: {name: d/x, with: {input: "{{one}}"}}}
          - {name: three, needs: [two], template: {name: y, with: {input: "{{two}}"}}}
                                                       # ^ error: WF601 did you mean `d/e/y`?
          - {name: four, needs: [three], template: {name: e/y, with: {input: "{{three}}"}}}
                                                        # ^^^ error: WF601 did you mean `d/e/y`?
          - {name: five, needs: [four], template: {name: X, with: {input: "{{four}}"}}}
                                                       # ^ error: WF601 `x`
        #- x.yaml
        steps:
          - {name: write, run: "Improve {{input}}"}
        #- d/x.yaml
        steps:
          - {name: write, run: "Improve {{input}}"}
        #- d/e/y.yaml
        steps:
          - {name: write, run: "Improve {{input}}"}
    """)


def test_an_argument_that_only_a_condition_or_a_loop_of_the_callee_reads_is_used() -> None:
    check_findings(
        """
        steps:
          - {name: ask, template: {name: callee, with: {mode: fast, text: "{{input}}", lost: x}}}
                                                                                     # ^^^^ warning: WF602
        #- callee.yaml
        steps:
          - {name: look, run: "Say something"}
          - name: again
            needs: [look]
            if: "{{mode}} == 'fast'"
            loop:
              workflow: draft
              with: {input: "{{text}} {{loop.last.output}}"}
              max_iterations: 3
              until: "The reply contains READY"
    """
        + DRAFT
    )


def test_a_name_with_a_dot_that_nothing_defines_is_an_error_where_the_run_fails() -> None:
    check_findings(
        """
        env: {TONE: warm}
        loops:
          - name: each
            workflow: draft
            mode: iterate
            items: "{{foo.bar}}"
                  # ^^^^^^^^^^^ error: WF503 `foo` is not a step
            with: {input: "{{Loop.current}}"}
                         # ^^^^^^^^^^^^^^^^ error: WF503 did you mean `loop.current`?
            max_iterations: 3
          - name: polish
            workflow: draft
            max_iterations: 3
            until: "{{last.output}} says {{ENV.TONE}}"
                  # ^^^^^^^^^^^^^^^ error: WF503 did you mean `loop.last.output`? No variable is needed
                                       # ^^^^^^^^^^^^ error: WF503 did you mean `env.TONE`?
        steps:
          - name: use
            needs: [polish, each]
            if: "{{Step.polish}}"
               # ^^^^^^^^^^^^^^^ error: WF503 did you mean `step.polish`?
            run: |
              {{Loop.iteration}} {{steps.polish.output}} {{polsh.output}} {{Input.x}} {{foo.bar}}
              ^^^^^^^^^^^^^^^^^^ warning: WF503 did you mean `loop.iteration`?
                                 ^^^^^^^^^^^^^^^^^^^^^^^ warning: WF503 did you mean `step.polish`?
                                                         ^^^^^^^^^^^^^^^^ warning: WF503 did you mean `polish`?
                                                                          ^^^^^^^^^^^ warning: WF503 mean `input`?
                                                                                      ^^^^^^^^^^^ warning: WF503
    """
        + DRAFT
    )


def test_what_no_caller_can_supply_is_not_taken_for_a_parameter_in_until() -> None:
    check_findings(
        """
        loops:
          - {name: polish, workflow: draft, max_iterations: 3, until: "{{output}} says READY"}
                                                                     # ^^^^^^^^^^ error: WF502 No variable is needed
          - {name: shorten, workflow: draft, max_iterations: 3, until: "READY follows {{language}}"}
                                                                                    # ^^^^^^^^^^^^ information: WF502
        steps:
          - {name: print, needs: [polish], run: "{{polish}} {{shorten}} in {{language}}"}
                                                          # ^^^^^^^^^^^ warning: WF304
    """
        + DRAFT
    )


def test_items_are_read_before_their_loop_has_begun() -> None:
    check_findings("""
        steps:
          - name: each
            loop:
              workflow: card
              mode: iterate
              items: "{{loop.current}}"
                    # ^^^^^^^^^^^^^^^^ error: WF506
              max_iterations: 5
        #- card.yaml
        steps:
          - {name: print, run: "{{item}}"}
    """)


def test_one_brace_around_a_variable_with_a_dot_stays_as_text() -> None:
    check_findings(
        """
        env: {TONE: warm}
        loops:
          - {name: polish, workflow: draft, max_iterations: 3, until: "${loop.output} says READY"}
                                                                     # ^^^^^^^^^^^^^^ warning: WF512 remove it
        steps:
          - name: print
            needs: [polish]
            run: |
              {loop.iteration} {env.TONE} ${step.polish} {{env.TONE}}
              ^^^^^^^^^^^^^^^^ warning: WF512 `{{loop.iteration}}`
                               ^^^^^^^^^^ warning: WF512 `{{env.TONE}}`
                                          ^^^^^^^^^^^^^^ warning: WF512 `{{step.polish}}`
              {polish} {loop} {env.OTHER} {loop.x} `{loop.output}` {{polish}} {"loop": {}}
    """
        + DRAFT
    )


CALLER = """
#- {name}.yaml
steps:
  - {{name: call, template: {{name: flow, with: {{{argument}: "{{{{input}}}}"}}}}}}
"""


def callers(argument: str, count: int) -> list[str]:
    """What is said of `{{guest}}` in a file that so many others call with this argument."""
    files = "".join(CALLER.format(name=name, argument=argument) for name in "abcdef"[:count])
    text = "steps:\n  - {name: greet, run: 'Greet {{guest}}'}\n"
    return [f"{one.rule} {one.message}" for one in findings_of(read_fixture(text + files))["flow.yaml"]]


def test_WF501_one_caller_may_have_misspelt_a_name_and_several_have_not() -> None:
    assert callers("guestt", 1) == []
    [said] = callers("guestt", 2)
    assert said == "WF501 Unknown variable `guest`; did you mean `guestt`?"
    assert callers("guest", 2) == []


def test_WF502_names_three_callers_at_most() -> None:
    assert callers("other", 1)[0].endswith("; `a.yaml` does not pass it")
    assert callers("other", 3)[0].endswith("; `a.yaml`, `b.yaml` and `c.yaml` do not pass it")
    assert callers("other", 4)[0].endswith("; `a.yaml`, `b.yaml` and `c.yaml` and 1 other do not pass it")
    assert callers("other", 5)[0].endswith("and 2 others do not pass it")


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("loop_last_output", "loop.last.output"),
        ("loopOutput", "loop.output"),
        ("Loop-Iteration", "loop.iteration"),
        ("loops", None),
        ("env_TONE", "env.TONE"),
        ("env_tone", None),
        ("Env-TONE", "env.TONE"),
        ("step_first", "step.first"),
        ("steps_first", "step.first"),
        ("step_other", None),
        ("first_TONE", None),
    ],
)
def test_WF502_names_the_variable_whose_dots_are_left_out(name: str, meant: str | None) -> None:
    source = f"""
        env: {{TONE: warm}}
        steps:
          - {{name: first, run: "{{{{input}}}} {{{{env.TONE}}}}"}}
          - {{name: last, needs: [first], run: "{{{{step.first}}}} {{{{{name}}}}}"}}
    """
    [found] = findings_of(read_fixture(source))["flow.yaml"]
    assert found.rule == "WF502"
    assert ("did you mean" in found.message) is (meant is not None)
    assert meant is None or found.message.endswith(f"it becomes a parameter; did you mean `{meant}`?")


def test_WF503_the_input_is_no_result_of_a_step() -> None:
    check_findings("""
        steps:
          - {name: plan, run: "{{step.inputt}} {{input}}"}
                             # ^^^^^^^^^^^^^^^ warning: WF503 did you mean `input`?
          - {name: use, needs: [plan], run: "{{step.plna}}"}
                                           # ^^^^^^^^^^^^^ warning: WF503 did you mean `step.plan`?
    """)


def test_WF511_leaves_a_word_alone_to_WF503() -> None:
    check_findings("""
        env: {TONE: warm}
        steps:
          - {name: plan, run: "{{env}} {{env.TONE}} {{input}}"}
                             # ^^^^^^^ warning: WF503
    """)
