"""The text of a workflow as values that run, or as reasons why it cannot."""

import pytest

from loop_ls.formats.workflow.model import Consensus, Embeddings, Loop, Rag, Step, Target, Template, Workflow
from loop_ls.formats.workflow.read import read_workflow
from loop_ls.formats.workflow.refusals import Refusal

HEAD = "$schema: workflow/v2.0\nname: w\nversion: 1.0\n"
STEPS = HEAD + "steps:\n"


def workflow(text: str) -> Workflow:
    found = read_workflow(text)
    assert isinstance(found, Workflow), found
    return found


def refusals(text: str) -> list[Refusal]:
    found = read_workflow(text)
    assert isinstance(found, list), found
    return found


def step(lines: str) -> Step:
    own = "".join(f"    {line}\n" for line in lines.splitlines())
    found, _ = workflow(STEPS + "  - name: a\n" + own + "  - {name: b, run: x}\n").steps
    return found


def test_the_head() -> None:
    found = workflow(
        HEAD
        + "description: d\n"
        + "execution:\n  provider: p\n  model: m\n  temperature: 0\n  servers: []\n  timeout: 2m\n"
        + "env: {A: 1.50, B: '{{input}}'}\nsteps:\n  - {name: a, run: x}\n"
    )
    assert (found.name, found.version, found.description) == ("w", "1.0", "d")
    assert found.env == {"A": "1.50", "B": "{{input}}"}
    execution = found.execution
    assert (execution.provider, execution.model, execution.temperature, execution.timeout) == ("p", "m", 0.0, 120.0)
    assert execution.servers == ()
    assert execution.skills is None, "absent can be told from empty"


def test_a_run_step() -> None:
    found = step(
        "run: |\n  hi {{input}}\nneeds: [b]\nif: '{{b}}'\nexecution_order: 2\nproviders: [{provider: p, model: m}]"
    )
    assert found.mode == "hi {{input}}\n"
    assert found.needs == ("b",)
    assert found.condition == "{{b}}"
    assert found.execution_order == 2
    assert found.providers == (Target("p", "m"),)
    assert found.on_failure is None


def test_C11_arguments_keep_written_forms_at_the_top_and_are_typed_below() -> None:
    found = step(
        'template:\n  name: t\n  with: {a: "1", b: [1, 2], c: true, d: 1.50, e: {f: [null, "x", 1.5]}, g: }'
    ).mode
    assert found == Template(
        "t", {"a": "1", "b": [1, 2], "c": "true", "d": "1.50", "e": {"f": [None, "x", 1.5]}, "g": ""}
    )
    assert isinstance(found, Template)
    assert list(found.arguments or {}) == ["a", "b", "c", "d", "e", "g"], "document order"


def test_without_with_there_are_no_arguments_at_all() -> None:
    assert step("template: {name: t}").mode == Template("t", None)
    assert step("template: {name: t, with: {}}").mode == Template("t", {})


def test_a_loop_inside_a_step_takes_its_name() -> None:
    found = step("loop: {workflow: w2, max_iterations: 3, until: done, accumulate: h, retry_delay: 2s}").mode
    assert found == Loop("a", "w2", 3, until="done", accumulate="h", retry_delay=2.0)


def test_an_iterate_loop_at_top_level() -> None:
    text = "loops:\n  - {name: l, workflow: w2, mode: iterate, items: '[1]', max_iterations: 9, on_failure: retry}\n"
    (found,) = workflow(HEAD + text).elements
    assert found == Loop("l", "w2", 9, mode="iterate", items="[1]", on_failure="retry")


def test_other_modes() -> None:
    consensus = step(
        "consensus:\n  prompt: p\n  require: 2/3\n"
        "  executions: [{provider: a, model: b}, {provider: c, model: d, temperature: 0}]"
    ).mode
    assert isinstance(consensus, Consensus)
    assert [e.temperature for e in consensus.executions] == [None, 0.0]
    assert step("rag: {query: q, top_k: 3}").mode == Rag("q", top_k=3)
    assert step("embeddings: {input: [x, y]}").mode == Embeddings(input=("x", "y"))
    assert step("embeddings: {input: x, overlap: 2}").mode == Embeddings(input=("x",), overlap=2)


def test_D15_repeated_blocks_are_joined_in_the_order_of_the_file() -> None:
    text = (
        HEAD
        + "steps:\n  - {name: a, run: x}\nloops:\n  - {name: b, workflow: w2, max_iterations: 1, until: u}\n"
        + "steps:\n  - {name: c, run: x}\nloops: [{name: d, workflow: w2, max_iterations: 1, until: u}]\n"
    )
    found = workflow(text)
    assert [element.name for element in found.elements] == ["a", "b", "c", "d"]
    assert [type(element).__name__ for element in found.elements] == ["Step", "Loop", "Step", "Loop"]


def test_D36_loops_alone_are_a_workflow() -> None:
    found = workflow(HEAD + "loops:\n  - {name: b, workflow: w2, max_iterations: 1, until: u}\n")
    assert found.steps == ()
    assert len(found.loops) == 1


@pytest.mark.parametrize(
    ("body", "codes"),
    [
        ("", ["WF104"]),
        ("steps:\n", ["WF104"]),
        ("steps: 5\n", ["WF007"]),
        ("steps:\n  - plain\n", ["WF007"]),
        ("steps:\n  - {name: a, run: x}\nname: again\n", ["WF005"]),
        ("steps:\n  - {name: a, run: x, run: y}\n", ["WF005"]),
        ("steps:\n  - {name: a, runn: x}\n", ["WF006"]),
        ("steps:\n  - {name: a, run: x, temperature: hot}\n", ["WF007"]),
        ("steps:\n  - {name: a, run: x, timeout: 30}\n", ["WF008"]),
        ("steps:\n  - {name: a, run: {{x}}}\n", ["WF007"]),
        ("steps:\n  - {run: x}\n", ["WF201"]),
        ("steps:\n  - {name: a}\n", ["WF203"]),
        ("steps:\n  - {name: a, run: ''}\n", ["WF203"]),
        ("steps:\n  - {name: a, run: x, rag: {query: q}}\n", ["WF204"]),
        ("steps:\n  - {name: a, template: {}}\n", ["WF205"]),
        ("steps:\n  - {name: a, template: foo}\n", ["WF007"]),
        ("steps:\n  - {name: a, embeddings: {model: m}}\n", ["WF207"]),
        ("steps:\n  - {name: a, run: x, on_failure: never}\n", ["WF209"]),
        ("steps:\n  - {name: a, run: x}\n  - {name: a, run: y}\n", ["WF202"]),
        ("steps:\n  - {name: a, run: x, needs: [b]}\n", ["WF301"]),
        ("steps:\n  - {name: a, run: x, needs: [a]}\n", ["WF302"]),
        ("loops:\n  - {workflow: w2, max_iterations: 1, until: u}\n", ["WF401"]),
        ("loops:\n  - {name: l, max_iterations: 1, until: u}\n", ["WF402"]),
        ("loops:\n  - {name: l, workflow: w2, until: u}\n", ["WF403"]),
        ("loops:\n  - {name: l, workflow: w2, max_iterations: 0, until: u}\n", ["WF403"]),
        ("loops:\n  - {name: l, workflow: w2, max_iterations: 1, until: u, mode: x}\n", ["WF404"]),
        ("loops:\n  - {name: l, workflow: w2, max_iterations: 1}\n", ["WF405"]),
        ("loops:\n  - {name: l, workflow: w2, max_iterations: 1, mode: iterate}\n", ["WF406"]),
        ("loops:\n  - {name: l, workflow: w2, max_iterations: 1, until: u, on_failure: x}\n", ["WF408"]),
        ("steps:\n  - {name: a, template: {name: t, with: {input: [1]}}}\n", ["WF608"]),
        ("execution: {logging: normal}\nsteps:\n  - {name: a, run: x}\n", ["WF110"]),
        ("execution: {max_workers: 101}\nsteps:\n  - {name: a, run: x}\n", ["WF112"]),
        ("execution: {providers: [{provider: p}]}\nsteps:\n  - {name: a, run: x}\n", ["WF108"]),
        (
            "steps:\n  - {name: a, consensus: {prompt: p, require: all, executions: [{provider: p}]}}\n",
            ["WF802", "WF804", "WF803"],
        ),
        ("steps:\n  - {name: a, rag: {server: s}}\n", ["WF811"]),
    ],
)
def test_refusals_carry_the_number_of_their_rule(body: str, codes: list[str]) -> None:
    assert [refusal.code for refusal in refusals(HEAD + body)] == codes


def test_WB_044_a_broken_text_is_refused_with_its_place() -> None:
    (first, *_) = refusals(HEAD + "steps:\n  - name: a\n    run: 'never closed\n")
    assert first.code == "WF001"
    assert first.span.start.line >= 4


def test_WB_035_the_sentence_says_what_is_wrong_and_where() -> None:
    (found,) = refusals(HEAD + "steps:\n  - name: a\n    template:\n      name: t\n      with:\n        input: [1]\n")
    assert found.code == "WF608"
    assert found.span.start == (8, 15)
    assert found.message.startswith("`input`")


def test_WB_047_a_key_repeated_inside_a_step_is_refused() -> None:
    assert [r.code for r in refusals(STEPS + "  - name: a\n    run: x\n    name: b\n")] == ["WF005"]


def test_a_file_of_another_format_is_refused() -> None:
    assert "WF002" in [refusal.code for refusal in refusals("name: a\nsteps: []\n")]
    assert [refusal.code for refusal in refusals("- a\n- b\n")] == ["WF003"]


@pytest.mark.parametrize("text", ["", "\0", "{{{{", "a: [", "- - -", "\t", "%", "&a *a", "? x", "<<: *x", "steps: *x"])
def test_no_text_raises(text: str) -> None:
    assert isinstance(read_workflow(text), list)


def test_an_alias_bomb_is_bounded() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]
    body = "steps:\n  - name: a\n    template:\n      name: t\n      with: {big: *a8}\n"
    assert isinstance(read_workflow(HEAD + "\n".join(lines) + "\n" + body), list)


def test_no_import_of_this_room_is_heavy() -> None:
    import subprocess
    import sys

    code = "import sys, loop_ls.formats.workflow.read, loop_ls.formats.settings.model; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert not {"pydantic", "httpx", "pygls", "lsprotocol", "jsonschema"} & set(done.stdout.split())
