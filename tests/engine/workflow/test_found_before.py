"""What fails at run time is found by the checker before: both read one table of keys, and know the same names.

Each line is run by the real engine with scripted models, and checked. Where the engine says that which is not defined a
variable, there is a finding at it; where it fills the variable in, no rule calls it unknown.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from loop_ls.engine.core.ports import Failure
from loop_ls.formats.common.key_table import Key
from loop_ls.formats.workflow.keys import STEP
from loop_ls.formats.workflow.loop_keys import LOOP
from loop_ls.formats.workflow.mode_keys import CONSENSUS, RAG, TEMPLATE
from loop_ls.index.disk.roots import Roots
from loop_ls.index.document import Document
from loop_ls.index.workspace import Workspace
from loop_ls.rules.engine.checker import Checker
from loop_ls.rules.engine.finding import Finding, Severity
from loop_ls.testing.workflows import run, whole

#: What says that a variable does not exist.
UNKNOWN = {"WF501", "WF502", "WF503", "WF506", "WF507", "WF510", "WF511", "WF702"}
#: Of these, what is also said of variables that are filled in: other words for them, and the judged output.
ALSO_OF_KNOWN = {"WF507", "WF702"}

KNOWN_SOMEWHERE = """
    input plan step.plan before step.before env.TONE loop.iteration loop.output loop.last.output loop.history
    loop.index loop.count loop.current loop.item loop.total loop.stats.succeeded loop.stats.failed loop.succeeded
    loop.failed loop.iterations
"""
UNKNOWN_EVERYWHERE = """
    foo.bar last.output Loop.output Loop.iteration LOOP.history Step.plan steps.plan steps.plan.output ENV.TONE Env.TONE
    env.TON env.OTHER env.tone Input.x input.x plan.result plan.output Plan.text step.plna step.nothing step.plan.result
    loop.itration loop.item.id loop.outputs loop.Output loop.last loop.previous.output loop.stats loop.iteration.number
    workflow.name outputs.plan before.iteration before.output item.name result.text previous.output output result
    history previous current_item
"""
NAMES = (*KNOWN_SOMEWHERE.split(), *UNKNOWN_EVERYWHERE.split())

HEAD = """\
env: {TONE: warm}
loops:
  - {name: before, workflow: draft, max_iterations: 1, until: "It says READY"}
"""
STEPS = """\
steps:
  - {name: plan, run: "Plan in a {{env.TONE}} way"}
"""
DRAFT = 'steps:\n  - {name: write, run: "Write {{input}}, and READY below it"}\n'


@dataclass(frozen=True)
class Field:
    """One place of a file. `text` is a step with its variable as `NAME`."""

    key: Key
    text: str


def loop(more: str) -> str:
    return f"loop: {{workflow: draft, max_iterations: 2, {more}}}"


FIELDS = {
    "run": Field(STEP.keys["run"], 'run: "Say {{NAME}}"'),
    "if": Field(STEP.keys["if"], 'if: "{{NAME}} == \'yes\'", run: "Go"'),
    "template": Field(TEMPLATE.keys["with"], 'template: {name: draft, with: {input: "{{NAME}}"}}'),
    "consensus": Field(
        CONSENSUS.keys["prompt"],
        'consensus: {prompt: "Is {{NAME}} right?", require: majority, executions: '
        "[{provider: acme, model: large}, {provider: acme, model: small}]}",
    ),
    "query": Field(RAG.keys["query"], 'rag: {server: pg, query: "{{NAME}}"}'),
    "items": Field(LOOP.keys["items"], loop('mode: iterate, items: "{{NAME}}"')),
    "with in refine": Field(LOOP.keys["with"], loop('with: {input: "{{NAME}}"}, until: "It says READY"')),
    "with in iterate": Field(LOOP.keys["with"], loop('mode: iterate, items: "a", with: {input: "{{NAME}}"}')),
    "until": Field(LOOP.keys["until"], loop('until: "It names {{NAME}} and says READY"')),
}


def source(field: Field, name: str) -> str:
    step = f"  - {{name: target, needs: [plan, before], {field.text.replace('NAME', name)}}}\n"
    return HEAD + STEPS + step


async def is_unknown(text: str, name: str) -> bool:
    """Whether the engine says so: as the failure of the run or as a warning."""
    try:
        done = await run({"main": text, "draft": DRAFT}, {"judge": "NO"})
    except Failure as failure:
        return f"{{{{{name}}}}}" in failure.message
    told = [
        *done.warnings,
        *(str(fact.get("error", fact)) for kind in ("step_failed", "iteration_failed") for fact in done.of(kind)),
    ]
    return any(f"{{{{{name}}}}}" in one and "which is not defined" in one for one in told)


def findings(text: str) -> list[Finding]:
    documents = [
        Document.open(f"file:///w/{key}.yaml", whole(key, body)) for key, body in (("main", text), ("draft", DRAFT))
    ]
    found = Checker().findings(Workspace.of(Roots("/w"), documents), documents[0])
    line = len(whole("main", text).splitlines()) - 1
    return [one for one in found if one.span.start.line == line and one.rule in UNKNOWN]


def expected(field: Field, name: str) -> set[Severity]:
    if "." not in name and field.key.name != "until":
        return {Severity.INFORMATION, Severity.WARNING, Severity.ERROR}  # it may be a parameter
    if field.key.unknown == "stays":
        return {Severity.WARNING}
    return {Severity.ERROR}


async def wrong(field: Field) -> Iterator[str]:
    found = []
    for name in NAMES:
        if field.key is RAG.keys["query"] and name in KNOWN_SOMEWHERE.split():
            continue  # a search needs a store
        text = source(field, name)
        unknown, told = await is_unknown(text, name), findings(text)
        if unknown and not any(one.severity in expected(field, name) for one in told):
            found.append(f"not found: {name}, told {[(one.rule, one.severity.name) for one in told]}")
        if not unknown and any(one.rule not in ALSO_OF_KNOWN for one in told):
            found.append(f"false alarm: {name}: {[one.rule for one in told]}")
    return iter(found)


@pytest.mark.parametrize("field", FIELDS.values(), ids=FIELDS)
async def test_what_the_engine_does_not_know_is_found_before_and_nothing_else(field: Field) -> None:
    assert list(await wrong(field)) == []


async def test_hundreds_of_lines_fail() -> None:
    names = UNKNOWN_EVERYWHERE.split()
    assert len(FIELDS) * len(names) >= 300
    for field in FIELDS.values():
        for name in (names[0], names[-1]):
            assert await is_unknown(source(field, name), name), (field.key.name, name)


#: Wrong types, wrong values and wrong places, each in a step that the engine refuses or fails.
WRONG = (
    'run: "x", max_iterations: "3"',
    'run: "x", max_iterations: 2.5',
    'run: "x", temperature: warm',
    'run: "x", temperature: "0.7"',
    'run: "x", max_tokens: many',
    'run: "x", timeout: 30',
    'run: "x", timeout: soon',
    'run: "x", servers: files',
    'run: "x", needs: plan',
    'run: "x", providers: {provider: acme}',
    'run: ["x"]',
    "run: {{plan}}",
    'run: ""',
    'rnu: "x"',
    'prompt: "x"',
    'run: "x", template: {name: draft}',
    "template: draft",
    "template: {name: [draft]}",
    "template: {name: nowhere}",
    "template: {workflow: draft}",
    "template: {name: draft, with: [a]}",
    "template: {name: draft, with: {input: [a]}}",
    "template: {name: draft, with: {input: {a: 1}}}",
    loop("until: [READY]"),
    loop("until: {READY: true}"),
    loop('until: "It says READY"').replace("max_iterations: 2", 'max_iterations: "2"'),
    loop('until: "It says READY"').replace("max_iterations: 2", "max_iterations: 0"),
    loop('until: "It says READY"').replace("max_iterations: 2", "max_iterations: -1"),
    loop('until: "It says READY"').replace("max_iterations: 2", "max_iterations: {{env.TONE}}"),
    loop('until: "It says READY"').replace("max_iterations: 2", 'max_iterations: "{{env.TONE}}"'),
    loop('until: "It says READY"').replace("workflow: draft", "workflow: nowhere"),
    loop('until: "It says READY", mode: repeat'),
    loop('until: "It says READY", on_failure: stop'),
    loop('until: "It says READY", retry_delay: 5'),
    loop('until: "It says READY", condition: "x"'),
    loop("mode: iterate, items: [a, b]"),
    loop("mode: iterate, items: {a: 1}"),
    loop('mode: iterate, items: "a", parallel: "true"'),
    loop('mode: iterate, items: "a", min_success_rate: 2'),
    loop('mode: iterate, items: "a", min_success_rate: half'),
    'consensus: {prompt: "x", require: most, executions: [{provider: a, model: b}, {provider: c, model: d}]}',
    'consensus: {prompt: "x", require: majority, executions: [{provider: a, model: b}]}',
    'consensus: {prompt: "x", require: majority, executions: [{provider: a}, {provider: c, model: d}]}',
    "consensus: {require: majority, executions: [{provider: a, model: b}, {provider: c, model: d}]}",
    "rag: {server: pg}",
    'rag: {server: pg, query: ["x"]}',
    'rag: {server: pg, query: "x", top_k: ten}',
    "embeddings: {model: m}",
    'embeddings: {input: "x", chunk_strategy: semantic}',
    'embeddings: {input: "x", dimensions: "3"}',
)


def test_wrong_types_values_and_places_are_errors() -> None:
    silent = []
    for text in WRONG:
        body = f"{HEAD}{STEPS}  - {{name: target, {text}}}\n"
        documents = [
            Document.open(f"file:///w/{key}.yaml", whole(key, each)) for key, each in (("main", body), ("draft", DRAFT))
        ]
        found = Checker().findings(Workspace.of(Roots("/w"), documents), documents[0])
        line = len(whole("main", body).splitlines()) - 1
        if not any(one.severity is Severity.ERROR and one.span.start.line == line for one in found):
            silent.append((text, [(one.rule, one.severity.name) for one in found]))
    assert silent == []
