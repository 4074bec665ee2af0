"""Values: choices with the default first, providers and models, workflows, elements, conditions."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
from genai_prices.data import providers

from loop_ls.features.complete.completion import describe
from loop_ls.features.complete.items.known_models import known_models
from loop_ls.formats.settings.model import read_settings

STEP = "steps:\n  - name: a\n    run: b\n"


@pytest.mark.parametrize(
    ("source", "labels"),
    [
        ("loops:\n  - name: l\n    mode: $0", ["refine", "iterate"]),
        ("loops:\n  - name: l\n    on_failure: $0", ["halt", "continue", "retry"]),
        ("execution:\n  on_error: $0", ["cancel_all", "complete_running", "continue", "halt"]),
        ("execution:\n  logging: $0", ["info", "error", "warn", "step", "steps", "debug", "verbose", "noisy"]),
        ("steps:\n  - name: a\n    consensus:\n      require: $0", ["majority", "2/3", "unanimous"]),
        ("steps:\n  - name: a\n    rag:\n      fusion: $0", ["rrf", "weighted", "max", "avg"]),
        ("steps:\n  - name: a\n    rag:\n      output_format: $0", ["json", "compact", "text"]),
        ("steps:\n  - name: a\n    embeddings:\n      chunk_strategy: $0", ["sentence", "paragraph", "fixed"]),
        ("steps:\n  - name: a\n    embeddings:\n      encoding_format: $0", ["float", "base64"]),
        ("steps:\n  - name: a\n    embeddings:\n      output_format: $0", ["json", "csv", "compact"]),
        ("steps:\n  - name: a\n    on_failure: $0", ["halt", "continue", "retry"]),
        ("steps:\n  - name: a\n    loop:\n      mode: $0", ["refine", "iterate"]),
        ("steps:\n  - name: a\n    loop:\n      parallel: $0", ["false", "true"]),
        ("steps:\n  - name: a\n    consensus:\n      allow_partial: $0", ["false", "true"]),
        ("steps:\n  - name: a\n    rag:\n      expand_query: $0", ["false", "true"]),
        ("execution:\n  parallel: $0", ["false", "true"]),
        ("steps:\n  - name: a\n    embeddings:\n      include_metadata: $0", ["true", "false"]),
        ("loops:\n  - name: l\n    max_iterations: $0", ["5", "3", "10"]),
        ("execution:\n  temperature: $0", ["0.7", "0", "0.2", "1"]),
    ],
)
def test_D_values_with_the_default_first(ask: Any, source: str, labels: list[str]) -> None:
    assert ask(source).labels == labels


def test_D_the_default_is_named_and_chosen(ask: Any) -> None:
    items = ask("loops:\n  - name: l\n    mode: $0").items
    assert items[0].detail == "default" and items[0].preselect
    assert not items[1].preselect


@pytest.mark.parametrize("value", ["ite$0", '"ite$0"', "'ite$0", "ite$0rate # why", '"$0"'])
def test_UP_07_only_the_word_is_replaced_in_any_quotes(ask: Any, value: str) -> None:
    after = ask(f"loops:\n  - name: l\n    mode: {value}").accepted_line("iterate")
    assert after == "    mode: " + value.replace("rate", "").replace("ite", "").replace("$0", "iterate")


def test_values_in_flow_collections(ask: Any) -> None:
    asked = ask("loops:\n  - {name: l, mode: $0, workflow: x}")
    assert asked.accepted_line("iterate") == "  - {name: l, mode: iterate, workflow: x}"
    assert ask("loops:\n  - {name: l, mode:$0}").accepted_line("refine") == "  - {name: l, mode: refine}"


def test_durations_are_told_in_words(ask: Any) -> None:
    assert ask("execution:\n  timeout: $0").item("2m").detail == "2 minutes"


def test_the_schema_and_the_name_of_the_file(ask: Any) -> None:
    assert ask("name: x\n$schema: workflow/v$0\nsteps: [{name: a, run: b}]", head=False).labels == ["workflow/v2.0"]
    assert ask("name: x\nexecution: {}\nsteps: [{name: a, run: b}]\n$schema: $0", head=False).labels == [
        "workflow/v2.0"
    ]
    asked = ask("$schema: workflow/v2.0\nname: $0\n", head=False, path="code-review.yaml")
    assert asked.labels == ["code_review"]


SETTINGS = read_settings(
    "providers:\n  house: {kind: openai, defaultModel: big-1, models: [big-1, small-1]}\n  openai: {kind: openai}\n"
    "servers:\n  files: {command: [x]}\n"
)[0]


DEEPSEEK = [model for model, _ in known_models("deepseek")]


def test_D_configured_providers_come_first(ask: Any) -> None:
    asked = ask("execution:\n  provider: $0", settings=SETTINGS)
    assert asked.labels[:2] == ["house", "openai"]
    assert "anthropic" in asked.labels and asked.items[0].detail == "configured"


def test_D_models_are_those_of_the_provider(ask: Any) -> None:
    assert ask("execution:\n  provider: deepseek\n  model: $0").labels == DEEPSEEK
    assert ask("execution:\n  model: $0\n  provider: deepseek").labels == DEEPSEEK
    labels = ask("execution:\n  provider: house\n  model: $0", settings=SETTINGS).labels
    assert labels[:2] == ["big-1", "small-1"] and "gpt-4o" in labels
    flow = ask("steps:\n  - {name: a, run: b, provider: deepseek, model: $0}")
    assert flow.labels == DEEPSEEK


def test_current_models_come_first_and_retired_ones_last_and_marked(ask: Any) -> None:
    items = ask("execution:\n  provider: anthropic\n  model: $0").items
    table = {model.id for one in providers if one.id == "anthropic" for model in one.models}
    assert items[0].label in table
    retired = ["retired" in item.detail for item in items]
    assert retired == sorted(retired)
    details = {item.label: item.detail for item in items}
    assert details["claude-3-5-sonnet-20241022"] == "default, retired"
    assert details["claude-sonnet-4"] == "retired", "documents name it; the service never answered to it"
    newest = [item.label for item in items if item.label.startswith("claude-opus-")]
    assert newest.index("claude-opus-4-6") < newest.index("claude-opus-4-5") < newest.index("claude-opus-4-1")


@pytest.mark.parametrize("provider", ["openai", "gemini", "vertex-ai", "deepseek", "kimik2"])
def test_only_models_that_answer_in_text_are_offered(ask: Any, provider: str) -> None:
    labels = ask(f"execution:\n  provider: {provider}\n  model: $0").labels
    assert len(labels) > 2
    assert not [one for one in labels if any(word in one for word in ("embed", "tts", "whisper", "image", "realtime"))]


def test_the_price_table_is_not_read_before_a_list_of_models_is_asked_for() -> None:
    script = "import sys, loop_ls.features.complete.completion as c; sys.exit('genai_prices' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], timeout=60).returncode == 0


def test_hover_says_that_a_model_is_retired(ask: Any) -> None:
    assert "Retired" in ask("execution: {provider: anthropic, model: claude-3-op$0us-20240229}").told
    assert "Retired" not in ask("execution: {provider: anthropic, model: claude-opus-4-$05}").told


def test_D_models_of_an_inherited_provider(ask: Any) -> None:
    source = "execution: {provider: deepseek, model: deepseek-chat}\nsteps:\n  - name: a\n    run: b\n    model: $0"
    assert ask(source).labels == DEEPSEEK
    source = source.replace("run: b\n    model: $0", "consensus:\n      executions:\n        - model: $0")
    assert "gpt-4o" in ask(source).labels, "an execution of a consensus inherits no provider"


def test_D_embedding_models_for_embeddings(ask: Any) -> None:
    source = "steps:\n  - name: a\n    embeddings:\n      provider: openai\n      model: $0"
    assert ask(source).labels[0] == "text-embedding-3-small"
    assert "gpt-4o" not in ask(source).labels


def test_models_of_all_providers_where_none_is_known(ask: Any) -> None:
    items = ask("steps:\n  - name: a\n    consensus:\n      executions:\n        - model: $0").items
    assert {"gpt-4o", "deepseek-chat"} <= {item.label for item in items}
    assert next(item for item in items if item.label == "deepseek-chat").detail == "deepseek, default"


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ("execution:\n  servers: [$0]", "  servers: [files]"),
        ("execution:\n  servers: $0", "  servers: [files]"),
        ("execution:\n  servers:\n    - $0", "    - files"),
        ("execution:\n  servers:\n    $0", "    - files"),
    ],
)
def test_servers_in_every_form_of_a_list(ask: Any, source: str, line: str) -> None:
    assert ask(source, settings=SETTINGS).accepted_line("files") == line


# -- needs ----------------------------------------------------------------------------------------

NEEDS = """
steps:
  - {name: a, run: "A {{input}}"}
  - {name: b, needs: [a], run: "B {{a}}"}
  - name: c
    needs: %s
    run: "C {{refined}}"
  - {name: d, needs: [c], run: "D"}
loops:
  - {name: refined, workflow: w, max_iterations: 2, until: "says X"}
  - {name: later, workflow: w, with: {x: "{{d}}"}, max_iterations: 2, until: "says X"}
"""


def test_D_needs_offers_no_step_that_would_close_a_circle(ask: Any) -> None:
    asked = ask(NEEDS % "[$0]")
    assert asked.labels == ["refined", "b", "a"]
    assert asked.items[0].detail == "loop of w, result is used here"


@pytest.mark.parametrize(
    ("needs", "line"),
    [
        ("[a, $0]", "    needs: [a, b]"),
        ("[a, $0", "    needs: [a, b"),
        ("[$0, a]", "    needs: [b, a]"),
        ('["b$0"]', '    needs: ["b"]'),
        ("$0", "    needs: [b]"),
        ("\n      - a\n      - $0", "      - b"),
        ("\n      - a\n      $0", "      - b"),
        ("\n    - a\n    - $0", "    - b"),
    ],
)
def test_D_needs_in_every_form(ask: Any, needs: str, line: str) -> None:
    asked = ask(NEEDS % needs)
    assert asked.accepted_line("b") == line
    if "a" in needs.replace("[a,", "[a"):
        assert asked.labels.count("a") == 0


def test_UP_40_a_long_list_is_cut_and_asked_for_again(ask: Any) -> None:
    steps = "".join(f"  - {{name: s{number}, run: x}}\n" for number in range(300))
    asked = ask(f"steps:\n{steps}  - name: last\n    needs: [$0]\n")
    assert len(asked.items) == 100 and asked.completions.incomplete
    assert asked.labels[0] == "s299", "the nearest come first"
    narrowed = ask(f"steps:\n{steps}  - name: last\n    needs: [s17$0]\n")
    assert "s17" in narrowed.labels and not narrowed.completions.incomplete
    variables = ask(f'steps:\n{steps}  - name: last\n    run: "{{{{$0}}}}"\n')
    assert len(variables.items) == 100 and variables.completions.incomplete


def test_needs_of_a_step_that_cannot_be_read(ask: Any) -> None:
    asked = ask('steps:\n  - {name: a, run: x}\n  - name: b\n    run: "x\n    needs: [$0')
    assert asked.labels == ["a"]


def test_an_element_explains_itself(ask: Any) -> None:
    asked = ask(NEEDS % "[$0]")
    assert "repeats `w`" in (describe(asked.workspace, asked.document, asked.item("refined").about) or "")


# -- workflows and their parameters ---------------------------------------------------------------

FILES = """
#- config/main.yaml
$schema: workflow/v2.0
name: main
version: 1.0.0
steps:
  - {name: plan, run: "{{input}}"}
loops:
  - name: develop
%s
#- config/cycle_file.yaml
$schema: workflow/v2.0
name: cycle
version: 1.0.0
description: Writes and reviews
steps:
  - {name: write, run: "Write {{plan}} again: {{previous_code}} ({{round}})"}
  - {name: review, run: "Review {{write}} for {{input}}. Start with PASS or FAIL."}
#- config/sub/deep.yaml
$schema: workflow/v2.0
name: deep
version: 1.0.0
steps:
  - {name: only, run: "Do it"}
"""


def test_D_workflows_neighbours_first_by_bare_name(ask: Any) -> None:
    asked = ask(FILES % "    workflow: $0")
    assert asked.labels == ["cycle", "config/sub/deep"]
    assert asked.items[0].detail == "Writes and reviews"
    told = describe(asked.workspace, asked.document, asked.items[0].about) or ""
    for part in ("cycle_file.yaml", "Writes and reviews", "`plan`", "`previous_code`", "`input`", "`review`", "PASS"):
        assert part in told


@pytest.mark.parametrize(
    "call",
    [
        "  - name: t\n    template:\n      name: $0\n",
        "  - {name: t, template: {name: $0}}\n",
        "  - name: t\n    loop:\n      workflow: $0\n",
        "  - name: t\n    loop: {workflow: cy$0, max_iterations: 3}\n",
    ],
)
def test_D_workflows_wherever_one_is_called(ask: Any, call: str) -> None:
    source = (FILES % "    workflow: cycle").replace("loops:", f"{call}loops:", 1)
    assert ask(source).labels == ["cycle", "config/sub/deep"]


def test_D_the_own_workflow_is_not_offered(ask: Any) -> None:
    assert not [label for label in ask(FILES % "    workflow: $0").labels if label.endswith("main")]


def test_D_with_offers_the_parameters_of_the_callee(ask: Any) -> None:
    asked = ask(FILES % "    workflow: cycle\n    with:\n      $0")
    assert asked.labels == ["all 4 parameters", "plan", "previous_code", "round", "input"]
    assert asked.accepted_line("plan") == '      plan: "{{plan}}"'
    assert asked.accepted_line("previous_code") == '      previous_code: "{{loop.last.output}}"'
    assert asked.accepted_line("round") == '      round: "{{loop.iteration}}"'
    given = asked.parsed("all 4 parameters")["loops"][0]["with"]
    assert list(given) == ["plan", "previous_code", "round", "input"]


def test_D_parameters_that_are_supplied_are_left_out(ask: Any) -> None:
    asked = ask(FILES % '    with:\n      plan: "x"\n      $0\n      round: "1"\n    workflow: cycle')
    assert asked.labels == ["all 2 parameters", "previous_code", "input"]
    flow = ask(FILES % "    workflow: cycle\n    with: {plan: x, $0}")
    assert flow.labels == ["all 3 parameters", "previous_code", "round", "input"]
    assert flow.accepted_line("round") == '    with: {plan: x, round: "{{loop.iteration}}"}'


def test_D_parameters_of_a_template(ask: Any) -> None:
    source = FILES % "    workflow: cycle" + ""
    source = source.replace("loops:\n  - name: develop\n    workflow: cycle", "")
    source = source.replace(
        '"{{input}}"}\n', '"{{input}}"}\n  - name: t\n    template:\n      name: cycle\n      with:\n        $0\n', 1
    )
    assert ask(source).labels == ["all 4 parameters", "plan", "previous_code", "round", "input"]


def test_a_parameter_tells_where_it_is_used(ask: Any) -> None:
    asked = ask(FILES % "    workflow: cycle\n    with:\n      $0")
    assert "First used in `write`" in (describe(asked.workspace, asked.document, asked.item("round").about) or "")


# -- conditions -----------------------------------------------------------------------------------


def test_criteria_look_for_what_the_callees_last_step_says(ask: Any) -> None:
    asked = ask(FILES % "    workflow: cycle\n    until: $0")
    assert asked.labels[:2] == ["The review starts with PASS", "The review does not contain FAIL"]
    assert asked.items[0].preselect
    assert asked.accepted_line("The review starts with PASS") == '    until: "The review starts with PASS"'
    assert "Start with PASS or FAIL" in (asked.items[0].documentation or "")


@pytest.mark.parametrize(
    ("value", "line"),
    [
        ('"The rev$0"', '    until: "The review starts with PASS"'),
        ("'$0'", "    until: 'The review starts with PASS'"),
        ("The$0", '    until: "The review starts with PASS"'),
        ('"The rev$0', '    until: "The review starts with PASS'),
    ],
)
def test_criteria_replace_what_is_half_typed(ask: Any, value: str, line: str) -> None:
    asked = ask(FILES % f"    workflow: cycle\n    until: {value}")
    assert asked.accepted_line("The review starts with PASS") == line


def test_general_criteria_where_the_callee_is_unknown(ask: Any) -> None:
    asked = ask("loops:\n  - name: l\n    workflow: nowhere\n    until: $0")
    assert "The output says DONE" in asked.labels
    assert asked.item("The output says DONE").snippet == '"The output says ${1:DONE}"'


@pytest.mark.parametrize(
    "value",
    ['mode: "refine"$0', "mode: 'refine'$0", 'mode: "refine" $0', "with:$0\n      plan: x", "with: $0\n      plan: x"],
)
def test_nothing_is_offered_behind_a_value(ask: Any, value: str) -> None:
    assert ask(FILES % f"    workflow: cycle\n    {value}").labels == []
    if "mode" in value:
        assert ask("loops:\n  - {name: l, " + value + "}").labels == []


def test_arguments_that_stand_below_are_not_offered_again(ask: Any) -> None:
    asked = ask(FILES % '    workflow: cycle\n    with:\n    $0\n      plan: "x"\n      input: y')
    assert asked.labels == ["all 2 parameters", "previous_code", "round"]


def test_elements_that_stand_below_are_not_offered_again(ask: Any) -> None:
    assert ask(NEEDS % "\n      $0\n      - a").labels == ["refined", "b"]


def test_EB_134_files_that_plans_may_edit_are_the_workflows_of_the_workspace(ask: Any) -> None:
    asked = ask("""
        #- .loop-ls.yaml
        enhance:
          files: [parts/draft.yaml, $0]
        #- parts/draft.yaml
        steps: [{name: a, run: Say it}]
        #- parts/other.yaml
        steps: [{name: a, run: Say it}]
    """)
    assert asked.labels == ["parts/other.yaml"]


def test_patterns_of_protected_files_are_not_the_workflows_of_the_workspace(ask: Any) -> None:
    asked = ask("""
        #- .loop-ls.yaml
        protect:
          files: [$0]
        #- parts/draft.yaml
        steps: [{name: a, run: Say it}]
    """)
    assert asked.labels == []
