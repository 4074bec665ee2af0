"""Hover: what counts at the place, and where it comes from."""

from __future__ import annotations

from typing import Any

import pytest

from loop_ls.features.hover.hover import hover
from loop_ls.formats.workflow.keys import SHAPES
from tests.features.viewed import viewed

FLOW = """
#- flow.yaml
$schema: workflow/v2.0
name: flow
version: 1.0.0
execution:
  provider: ollama
  model: llama3.2
  temperature: 0.2
  on_error: continue
env:
  TONE: friendly
steps:
  - name: plan
    run: "Plan {{input}} in a {{env.TONE}} tone for {{audience}}"
    max_iterations: 4
    temperature: 0.9
    timeout: 1m30s
    on_failure: continue
  - name: report
    needs: [refine]
    if: "{{plan}}"
    run: "{{refine}} {{drafts}} {{loop.iteration}} {{env.TON}} {{loop.last.output}}"
loops:
  - name: refine
    workflow: polish
    with:
      text: "{{plan}}"
      previous: "{{loop.last.output}}"
      odd: x
    max_iterations: 5
    until: "{{loop.output}} The review says PASS"
    accumulate: drafts
#- polish_file.yaml
$schema: workflow/v2.0
name: polish
version: 1.0.0
description: Makes it shine
execution: {provider: ollama, model: llama3.2}
steps:
  - {name: write, run: "Improve {{text}} of {{previous}}"}
  - {name: review, run: "Start with PASS or FAIL: {{write}}"}
"""


def told(ask: Any, mark: str, source: str = FLOW) -> str:
    """Hover at the `|` of `mark`, which occurs once."""
    plain = mark.replace("|", "")
    assert source.count(plain) == 1, plain
    asked = ask(source.replace(plain, mark.replace("|", "$0")))
    return str(asked.told)


@pytest.mark.parametrize(
    ("mark", "parts"),
    [
        (
            "temper|ature: 0.9",
            ["a number", "from 0 to 2", "default `0.7`", "`execution`", "mcp-cli reads this but never sends it"],
        ),
        ("temperature: 0.|9", ["Used here: `0.9`, instead of `0.2` from `execution`."]),
        (
            "on_fail|ure: continue",
            ["`halt`, `continue` or `retry`", "Used here: `continue`, like `execution.on_error`."],
        ),
        (
            "max_iter|ations: 4",
            ["rounds of tool calls", "Not the iterations of a loop", "instead of `10` from the default"],
        ),
        ("max_iter|ations: 5", ["Maximum iterations", "required", "Worst case: 15 model calls"]),
        ("timeout: 1m|30s", ["1 minute 30 seconds"]),
        ("prov|ider: ollama\n", ["Provider for steps"]),
        ("provider: oll|ama\n", ["`ollama`", "on this machine", "Default model: `qwen2.5:32b`"]),
        ("workfl|ow: polish", ["never tries the folder of the caller", "15 model calls"]),
        ("st|eps:\n  - name: plan", ["The last one in the list gives the result"]),
        ("unt|il:", ["answers YES or NO", "first 2000 bytes"]),
    ],
)
def test_D_keys_and_values(ask: Any, mark: str, parts: list[str]) -> None:
    text = told(ask, mark)
    for part in parts:
        assert part in text, text


@pytest.mark.parametrize(
    ("mark", "parts"),
    [
        ("Plan {{inp|ut}}", ["input of the workflow", "input of this workflow", "Can be empty"]),
        ("{{env.TO|NE}}", ["constant", "friendly"]),
        ("{{aud|ience}}", ["parameter", "callers pass it in"]),
        ("{{refi|ne}}", ["final output of loop `refine`", "of `polish`, at most 5 iterations"]),
        ("{{dra|fts}}", ["outputs of all iterations of loop `refine`"]),
        ("{{loop.itera|tion}}", ["number of iterations (`refine`)"]),
        ('previous: "{{loop.last|.output}}', ["iteration 1: empty · iteration 2: output 1"]),
        ("{{loop.outp|ut}} The", ["The output that is judged", "iteration 1: output 1", "don't use it in a condition"]),
        ('text: "{{pl|an}}', ["the run step `plan`: “Plan {{input}}", "Empty when it fails (`on_failure: continue`)."]),
        ("{{env.TO|N}}", ["is not available here", "Did you mean `{{env.TONE}}`?"]),
    ],
)
def test_D_variables_tell_producer_value_and_emptiness(ask: Any, mark: str, parts: list[str]) -> None:
    # `sentence case` of the meaning: compare without case at the start of a sentence
    text = told(ask, mark)
    for part in parts:
        assert part.lower() in text.lower(), text


def test_D_one_iteration_is_no_plural(ask: Any) -> None:
    assert "at most 1 iteration." in told(ask, "{{refi|ne}}", FLOW.replace("max_iterations: 5", "max_iterations: 1"))


def test_D_a_variable_that_does_not_exist_after_the_loop(ask: Any) -> None:
    source = FLOW.replace('previous: "{{loop.last.output}}"\n', "")
    assert "is not available here" in told(ask, "{{loop.last.out|put}}", source)


def test_D_references_tell_key_file_description_parameters_and_last_step(ask: Any) -> None:
    text = told(ask, "workflow: pol|ish")
    for part in (
        "`polish`",
        "polish_file.yaml",
        "Makes it shine",
        "`text` and `previous`",
        "`review`",
        "Start with PASS",
    ):
        assert part in text, text
    assert "Unknown workflow `nope`" in told(ask, "workflow: no|pe", FLOW.replace("workflow: polish", "workflow: nope"))


def test_D_loops_tell_their_worst_case(ask: Any) -> None:
    text = told(ask, "- name: ref|ine")
    for part in (
        "repeats `polish`",
        "at most 5 iterations",
        "Worst case: 15 model calls (3 calls per iteration",
        "`{{drafts}}`",
    ):
        assert part in text, text


def test_needs_arguments_and_constants(ask: Any) -> None:
    assert "repeats `polish`" in told(ask, "needs: [ref|ine]")
    assert "First used in `write`" in told(ask, "te|xt: ")
    assert "has no variable of this name" in told(ask, "od|d: x")
    assert "Used in `plan`" in told(ask, "TO|NE: friendly")
    assert "Called in 1 place, by `flow`" in str(ask(FLOW.replace("name: polish\n", "name: pol$0ish\n")).told)


@pytest.mark.parametrize("mark", ["a |{{env.TONE}} tone", "Pl|an {{input}}", "Makes it |shine"])
def test_prose_is_left_alone(ask: Any, mark: str) -> None:
    expected = "constant" if mark.startswith("a |") else ""
    text = told(ask, mark)
    assert (expected in text) if expected else text == ""


def test_the_marked_range_is_the_thing_itself(ask: Any) -> None:
    asked = ask(FLOW.replace("{{refine}}", "{{ref$0ine}}"))
    assert asked.document.text.slice(asked.hover.span) == "refine"
    asked = ask(FLOW.replace("needs: [refine]", "needs: [ref$0ine]"))
    assert asked.document.text.slice(asked.hover.span) == "refine"


def test_UP_01_what_was_merged_in_is_told(ask: Any) -> None:
    asked = ask(
        """
        steps:
          - &base {name: draft, run: "Write about {{input}}", on_failure: retry, max_retries: 2}
          - <<: *base
            name: pol$0ish
            run: "Polish {{draft}}"
            needs: [draft]
        """
    )
    assert "Merged in from an anchor: `on_failure` and `max_retries`." in asked.told


def test_UP_05_a_parameter_names_its_callers(ask: Any) -> None:
    assert "from `flow`" in str(ask(FLOW.replace("of {{previous}}", "of {{prev$0ious}}")).told)


def test_UP_15_hover_works_beside_faults(ask: Any) -> None:
    broken = FLOW.replace("temperature: 0.9", "temperature: [0.9").replace(
        "  TONE: friendly", "  TONE: friendly\n  X: {"
    )
    assert "repeats `polish`" in told(ask, "- name: ref|ine", broken)


def test_UP_19_every_key_of_every_shape_has_a_hover(ask: Any) -> None:
    samples = {
        "execution": "execution:\n  {}: 1\n",
        "step": "steps:\n  - {}: 1\n",
        "loop": "loops:\n  - {}: 1\n",
        "workflow": "{}: 1\n",
        "template": "steps:\n  - name: a\n    template:\n      {}: 1\n",
        "step loop": "steps:\n  - name: a\n    loop:\n      {}: 1\n",
        "consensus": "steps:\n  - name: a\n    consensus:\n      {}: 1\n",
        "rag": "steps:\n  - name: a\n    rag:\n      {}: 1\n",
        "embeddings": "steps:\n  - name: a\n    embeddings:\n      {}: 1\n",
        "provider": "execution:\n  providers:\n    - {}: 1\n",
        "consensus execution": "steps:\n  - name: a\n    consensus:\n      executions:\n        - {}: 1\n",
    }
    assert samples.keys() == SHAPES.keys()
    for shape, sample in samples.items():
        for key in SHAPES[shape].keys.values():
            head = "" if shape == "workflow" and key.name == "$schema" else "$schema: workflow/v2.0\n"
            body = sample.format("$0" + key.name).replace("$0$schema: 1", "$0$schema: workflow/v2.0")
            assert key.text in ask(head + body, head=False).told, (shape, key.name)


RUN = (
    {"kind": "step_completed", "step": "draft", "output": "An old draft"},
    {"kind": "step_completed", "step": "draft", "output": "  A pond.\n\nA frog jumps in."},
    {"kind": "step_completed", "step": "inner", "output": "of a called workflow", "depth": 1},
    {"kind": "iteration", "loop": "refine", "iteration": 1, "output": "first"},
    {"kind": "iteration", "loop": "refine", "iteration": 2, "output": "second"},
)


@pytest.mark.parametrize(
    ("place", "told"),
    [
        ("{{$0draft}}", "In the last run: “A pond. A frog jumps in.”"),
        ("{{$0loop.last.output}}", "In the last run: “second”"),
        ("{{$0loop.iteration}}", None),
        ("{{$0input}}", None),
    ],
)
def test_a_variable_tells_what_it_was_in_the_last_run(ask: Any, place: str, told: str | None) -> None:
    asked = ask(
        "steps:\n  - {name: draft, run: Draft}\nloops:\n"
        f'  - {{name: refine, workflow: flow, max_iterations: 3, until: Good, with: {{a: "{place}"}}}}\n'
    )
    run = viewed({"runId": "r", "status": "completed"}, RUN)
    older = viewed({"runId": "o", "status": "completed"}, RUN[:1])
    found = hover(asked.workspace, asked.document, asked.at, None, (older, run))
    assert found is not None
    assert found.text.endswith(told) if told else "In the last run" not in found.text
