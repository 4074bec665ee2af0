"""What must stay silent (UP-02, UP-05, UP-06, UP-10): false alarms cost more than misses."""

from __future__ import annotations

import pytest

from tests.rules.checking import check_findings

DRAFT = """
        #- draft.yaml
        steps:
          - {name: write, run: "Improve {{input}}, write READY below it"}
"""


def test_a_loop_further_down_and_an_indirect_dependency() -> None:
    check_findings(
        """
        steps:
          - {name: outline, run: "Outline {{input}}"}
          - {name: report, needs: [polish], run: "Report on {{polish}} after {{loop.iteration}} rounds"}
          - {name: archive, needs: [report], run: "{{outline}}, {{polish}}, {{report}}"}
        loops:
          - name: polish
            workflow: draft
            with: {input: "{{outline}} {{loop.last.output}}"}
            max_iterations: 3
            until: "The reply contains READY"
    """
        + DRAFT
    )


def test_a_step_that_waits_without_using() -> None:
    check_findings("""
        steps:
          - {name: prepare, run: "Prepare for {{input}}"}
          - {name: answer, needs: [prepare], run: "Answer {{input}}"}
    """)


def test_tool_rounds_and_items_are_no_loop_limits() -> None:
    check_findings(
        """
        execution: {provider: ollama, model: llama3.2, max_iterations: 200, on_error: halt}
        steps:
          - {name: look, max_iterations: 150, servers: [bash], run: "Look at {{input}}"}
          - name: each
            needs: [look]
            loop: {workflow: draft, mode: iterate, items: "{{look}}", max_iterations: 500}
    """
        + DRAFT
    )


def test_json_and_code_in_prompts() -> None:
    check_findings("""
        steps:
          - name: answer
            run: |
              Answer as {"a": {"b": {{}}}} or {{ "c": 1 }} about {{input}}, cost $5, in `${HOME}`.
              ```
              echo ${PATH} {{ .Values.name }}
              ```
              f(x) = {x: {y}} and { { spaced } }
    """)


def test_text_in_comments() -> None:
    check_findings("""
        steps:
          # - {name: old, needs: [gone], run: "{{nobody}} {% if x %}"}
          - {name: answer, run: "Answer {{input}}"}  # {{comment}}
    """)


def test_UP_02_the_order_of_keys_never_matters() -> None:
    check_findings("""
        steps:
          - if: "{{input}}"
            needs: []
            run: "Say {{input}}"
            name: hello
    """)


def test_UP_05_what_a_caller_supplies() -> None:
    check_findings("""
        steps:
          - {name: write, run: "Write about {{topic}} in {{input}}"}
        #- parent.yaml
        steps:
          - {name: ask, template: {name: flow, with: {topic: cats, input: "{{input}}"}}}
    """)


def test_UP_05_alone_it_is_no_more_than_an_information() -> None:
    check_findings("""
        steps:
          - {name: write, run: "Write about {{topic}} in {{input}}"}
                                          # ^^^^^^^^^ information: WF502 no workflow calls this one
    """)


def test_UP_05_the_caller_that_forgets_gets_the_warning() -> None:
    check_findings("""
        steps:
          - {name: write, run: "Write about {{topic}} in {{input}}"}
                                          # ^^^^^^^^^ information: WF502 `forgetful.yaml` does not pass it
        #- forgetful.yaml
        steps:
          - {name: ask, template: {name: flow, with: {input: "{{input}}"}}}
                                       # ^^^^ warning: WF603 `topic`
        #- parent.yaml
        steps:
          - {name: ask, template: {name: flow, with: {topic: cats, input: "{{input}}"}}}
    """)


def test_UP_06_the_variables_that_a_search_sets() -> None:
    check_findings("""
        steps:
          - name: fetch
            rag: {server: docs, query: "{{input}}", top_k: 3}
          - name: answer
            needs: [fetch]
            run: |
              Use {{fetch.results}} ({{fetch.total_results}} hits), {{fetch.result}}
                                                                  # ^^^^^^^^^^^^^^^^ warning: WF503 `fetch.results`
              and {{step.fetch.results}}
                # ^^^^^^^^^^^^^^^^^^^^^^ warning: WF503 use `fetch.results`
    """)


def test_UP_10_unknown_models_are_fine_and_unknown_providers_an_information() -> None:
    check_findings("""
        execution: {provider: house-gateway, model: in-house-9b}
                            # ^^^^^^^^^^^^^ information: WF901
        steps:
          - {name: s, run: "{{input}}", provider: openai, model: some-model-of-next-year}
    """)


def test_arguments_of_a_callee_that_is_called_by_a_broken_file() -> None:
    check_findings("""
        steps:
          - {name: write, run: "Write about {{topic}}"}
        #- parent.yaml
        steps:
          - name: ask
            template: {name: flow, with: {topic: cats}}
            temperature: [
                       # ^ error: WF001
    """)


@pytest.mark.parametrize("name", ["code_review", "code-review", "Code_Review"])
def test_a_name_like_its_file(name: str) -> None:
    marks = "" if name == "code_review" else f"\n              {'^' * len(name)} hint: WF115 not in snake_case"
    check_findings(
        f"""
        $schema: workflow/v2.0
        name: {name}{marks}
        version: 1.0.0
        description: x
        execution: {{provider: ollama, model: llama3.2}}
        steps:
          - {{name: answer, run: "Answer {{{{input}}}}"}}
        """,
        path="code-review.yaml",
    )


def test_letters_of_any_script_are_letters() -> None:
    check_findings("""
        steps:
          - {name: überblick, run: "Überblick über {{input}}"}
          - {name: schluß, needs: [überblick], run: "Schluss aus {{überblick}}"}
    """)


def test_files_of_others_are_nobodys_business() -> None:
    check_findings("""
        name: nightly build
        on: [push]
        steps:
          - {name: compile, run: make all, uses: "acme/ship@v3"}
    """)


def test_a_loop_whose_callee_reads_the_last_output_itself_has_something_to_improve_on() -> None:
    check_findings("""
        loops:
          - name: polish
            workflow: draft
            with: {text: "{{input}}"}
            max_iterations: 3
            until: "The reply contains READY"
        #- draft.yaml
        steps:
          - {name: write, run: "Improve {{text}}, better than {{loop.last.output}}, write READY below it"}
    """)
