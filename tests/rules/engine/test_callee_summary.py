"""What callers see of a workflow, and what it sees of them."""

from __future__ import annotations

import pytest

from loop_ls.index.disk.roots import Roots
from loop_ls.index.document import Document
from loop_ls.index.workspace import Workspace
from loop_ls.rules.engine.call_facts import Call, Callers, Summary
from loop_ls.rules.engine.callee_summary import summarise, taken_as
from loop_ls.rules.engine.workspace_queries import Neighbours, Summaries

LOOP = "workflow: draft, max_iterations: 3, until: 'It says {{until_it}}'"


def _summary(text: str) -> Summary:
    return summarise(Document.open("file:///ws/flow.yaml", f"$schema: workflow/v2.0\nname: flow\n{text}"))


def test_a_workflow_is_seen_by_its_names_and_by_what_it_reads() -> None:
    found = _summary(
        "steps:\n"
        "  - {name: a, run: '{{input}} {{topic}} {{inptu}} {{loop.iteration}} {{loop.history}} {{loop.history}}'}\n"
        f"  - {{name: b, loop: {{{LOOP}, with: {{text: '{{{{loop.last.output}}}}'}}, accumulate: all}}}}\n"
        "  - {name: c, needs: [b], run: 'x'}\n"
        "  - {name: d, needs: [c], run: '{{loop.output}} {{b}} {{env.X}}'}\n"
        f"loops:\n  - {{name: e, {LOOP}}}\n"
    )
    assert found == Summary(
        name="flow",
        parameters=("topic", "until_it"),
        reads=frozenset({"input", "topic", "inptu", "b", "c", "until_it"}),
        names=frozenset({"a", "b", "c", "d", "e"}),
        loop_variables=("loop.iteration", "loop.history"),
        last_step="d",
        last_prompt="{{loop.output}} {{b}} {{env.X}}",
    )
    assert found.reads_input


def test_a_workflow_without_name_and_steps_is_seen_as_nothing() -> None:
    assert summarise(Document.open("file:///ws/flow.yaml", "$schema: workflow/v2.0\n")) == Summary(name="")
    assert not Summary(name="").reads_input


@pytest.mark.parametrize(
    ("step", "prompt"),
    [
        ("run: 'Say {{input}}'", "Say {{input}}"),
        ("consensus: {prompt: 'YES or NO', executions: []}", "YES or NO"),
        ("consensus: x", None),
        ("template: {name: draft}", None),
    ],
)
def test_its_prompt_is_that_of_its_last_step(step: str, prompt: str | None) -> None:
    assert _summary(f"steps:\n  - {{name: z, run: x}}\n  - {{name: a, {step}}}\n").last_prompt == prompt


@pytest.mark.parametrize(
    ("text", "has"),
    [
        ("steps:\n  - {name: a, run: x}\n", False),
        ("steps:\n  - {name: a, run: x, servers: [files]}\n", True),
        ("steps:\n  - {name: a, run: x, skills: [files]}\n", True),
        ("steps:\n  - {name: a, run: x, servers: []}\n", False),
        ("steps:\n  - {name: a, run: x, servers: files}\n", True),
        ("execution: {servers: [files]}\nsteps:\n  - {name: a, run: x}\n", True),
        ("execution: {model: x}\nsteps:\n  - {name: a, run: x}\n", False),
    ],
)
def test_whether_it_may_use_tools(text: str, has: bool) -> None:
    assert _summary(text).has_tools is has


@pytest.mark.parametrize(
    ("given", "steps", "taken"),
    [
        ("{before: '{{loop.last.output}}', text: '{{loop.history}}', other: '{{input}}'}", "", ("before", "text")),
        ("{text: x}", "  - {name: a, run: '{{l}}'}\n  - {name: b, run: '{{step.l}} {{l}}'}\n", ("a", "b")),
        ("{text: '{{l}}'}", "  - {name: a, needs: [l], run: 'x'}\n", ()),
        ("{before: '{{loop.last.output}}'}", "  - {name: before, run: '{{l}}'}\n", ("before",)),
    ],
)
def test_what_a_caller_makes_of_its_result(given: str, steps: str, taken: tuple[str, ...]) -> None:
    loop = f"loops:\n  - {{name: l, workflow: draft, with: {given}, until: '{{{{loop.last.output}}}} is good'}}\n"
    text = f"$schema: workflow/v2.0\nname: flow\n{loop}" + (f"steps:\n{steps}" if steps else "")
    document = Document.open("file:///ws/flow.yaml", text)
    assert taken_as(document, document.calling[0]) == taken


def test_the_calls_of_a_file_say_from_where_and_with_what() -> None:
    """A caller without a name is called by its path."""
    texts = {
        "draft": "name: draft\nsteps:\n  - {name: a, run: '{{text}}'}\n",
        "one": "name: one\nloops:\n  - {name: l, workflow: draft, mode: iterate, with: {text: x}}\n",
        "two": "steps:\n  - {name: t, template: {name: draft, with: {a: '{{b}}', text: x}}}\n",
        "three": "name: three\nsteps:\n  - {name: a, template: {name: drft}}\n",
    }
    documents = [Document.open(f"file:///ws/{one}.yaml", f"$schema: workflow/v2.0\n{texts[one]}") for one in texts]
    near = Neighbours(Workspace.of(Roots("/ws/"), documents), Summaries())
    assert near.callers(documents[0]).calls == (
        Call("one.yaml", "one", "l", "loop", "iterate", frozenset({"text"})),
        Call("two.yaml", "two.yaml", "t", "template", None, frozenset({"a", "text"})),
    )
    assert near.callers(documents[1]) == Callers()
    missed = [near.callee(documents[3], name) for name in ("drft", "nobody_at_all", "")]
    assert [(one.key, one.suggestions, one.summary) for one in missed] == [
        (None, ("draft",), None),
        (None, (), None),
        (None, (), None),
    ]
    found = near.callee(documents[1], "draft")
    assert (found.key, found.is_caller, found.by_folder, found.shadowed) == ("draft", False, False, None)
    assert near.callee(documents[0], "draft").is_caller


def test_a_loop_over_items_gives_each_of_them_and_a_call_gives_what_it_names() -> None:
    call = Call("flow.yaml", "flow", "a", "template", None, frozenset({"text"}))
    each = call._replace(kind="loop", loop_mode="iterate")
    refine = call._replace(kind="loop", loop_mode="refine")
    callers = Callers((call, each, refine))
    assert callers.without("item") == (call, refine)
    assert callers.without("text") == ()
    assert callers.without("other") == callers.calls
    assert callers.loops == (each, refine)
