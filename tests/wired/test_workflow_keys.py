"""Every key of a workflow that a run looks at, from the file to the request, the order, the fact or the file.

The runs are those of the engine, over a record in memory and on a clock that jumps.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from loop_ls.testing.clock import VirtualLoop
from loop_ls.testing.models import failure
from loop_ls.testing.workflows import Ran, lab
from tests.wired.project import Ended, WiredProject, wrong
from tests.wired.row import PLACE, Row, named

WORK = "steps: [{name: work, run: 'do {{item}} {{topic}} {{input}}'}]"
EXECUTION = f"execution: {{provider: acme, model: large, {PLACE}}}\n"
ONE_STEP = "steps: [{name: a, run: x}]\n"
STEP = f"steps: [{{name: a, run: x, {PLACE}}}, {{name: b, run: 'see {{{{a}}}}'}}]"
CHAIN = "providers: [{provider: first, model: one}, {provider: second, model: two}]"
#: Seconds that a model takes, by step.
SLOW = {"slow": 5.0, "s0": 1.0, "s1": 1.0, "s2": 1.0, "s3": 1.0}
SCRIPT = {
    "bad": [failure()],
    "judge": ["NO"],
    "vote": lambda request: {"m0": "yes", "m1": "yes"}.get(request.model, "no"),
}


def asked(field: str, step: str = "a") -> Callable[[Ran], object]:
    """A field of the first request for a step."""
    return lambda ran: getattr(ran.models.asked(step)[0], field)


def embedded(field: str) -> Callable[[Ran], object]:
    return lambda ran: getattr(ran.models.embedded[0], field)


def prompts(step: str) -> Callable[[Ran], object]:
    return lambda ran: ran.prompts(step)


def times(step: str) -> Callable[[Ran], object]:
    return lambda ran: len(ran.prompts(step))


def order(ran: Ran) -> object:
    return ran.order


def reason(ran: Ran) -> object:
    return ran.reason


def warned(*parts: str) -> Callable[[Ran], object]:
    return lambda ran: any(all(part in one for part in parts) for one in ran.warnings)


def at_once(ran: Ran) -> object:
    return ran.models.most_at_once


def result(*names: str) -> Callable[[Ran], object]:
    """What stands under these names in the JSON of the result."""

    def seen(ran: Ran) -> object:
        found = json.loads(ran.output)
        for name in names:
            found = found[int(name)] if isinstance(found, list) else found.get(name)
        return found

    return seen


def ok(run: Ended) -> object:
    return run.answer["ok"]


FOUR = "steps: [{name: s0, run: x}, {name: s1, run: x}, {name: s2, run: x}, {name: s3, run: x}]"
BROKEN = "steps: [{name: bad, run: x}, {name: slow, run: x}]"

EXECUTION_ROWS = (
    Row("execution.provider", f"execution: {{model: large, {PLACE}}}\n{ONE_STEP}", "provider: acme",
        asked("provider"), "acme", "other", "provider: other"),
    Row("execution.model", f"execution: {{provider: acme, {PLACE}}}\n{ONE_STEP}", "model: large",
        asked("model"), "large", "other", "model: other"),
    Row("execution.providers", EXECUTION + ONE_STEP, CHAIN, asked("provider"), "first", "acme"),
    Row("execution.temperature", EXECUTION + ONE_STEP, "temperature: 0.1", asked("temperature"), 0.1, 0.7),
    Row("execution.max_tokens", EXECUTION + ONE_STEP, "max_tokens: 9", asked("max_tokens"), 9, None),
    Row("execution.timeout", EXECUTION + ONE_STEP, "timeout: 7s", asked("timeout"), 7.0, None),
    Row("execution.parallel", EXECUTION + FOUR, "parallel: true", at_once, 3, 1),
    Row("execution.max_workers", EXECUTION + FOUR, "parallel: true, max_workers: 2", at_once, 2, 3, "parallel: true"),
    Row("execution.on_error", EXECUTION + BROKEN, "on_error: continue", order, ["bad", "slow"], ["bad"]),
    Row("execution.skills", EXECUTION + ONE_STEP, "skills: [write]", warned("skills"), True, False),
    Row("provider.provider", "steps: [{name: a, run: x, providers: [{model: one, <key>}]}]", "provider: first",
        asked("provider"), "first", "other", "provider: other"),
    Row("provider.model", "steps: [{name: a, run: x, providers: [{provider: first, <key>}]}]", "model: one",
        asked("model"), "one", "other", "model: other"),
)  # fmt: skip

STEP_ROWS = (
    Row("step.name", "steps: [{<key>, run: x}, {name: b, run: 'see {{a}}'}]", "name: a",
        prompts("b"), ["see ok"], ["see {{a}}"], "name: c"),
    Row("step.needs", "steps: [{name: a, run: x, <key>}, {name: b, run: y}]", "needs: [b]",
        order, ["b", "a"], ["a", "b"]),
    Row("step.if", STEP, "if: 'false'", order, ["b"], ["a", "b"]),
    Row("step.run", "steps: [{name: a, <key>}]", "run: 'say {{input}}'", prompts("a"), ["say tea"], ["hush"],
        "run: hush"),
    Row("step.template", "steps: [{name: a, <key>}]", "template: {name: work}", times("work"), 1, 0, "run: x"),
    Row("step.loop", "steps: [{name: a, <key>}]",
        "loop: {workflow: work, mode: iterate, items: '[1, 2]', max_iterations: 2}", times("work"), 2, 0, "run: x"),
    Row("step.consensus", "steps: [{name: vote, <key>}]",
        "consensus: {prompt: q, require: majority, executions: [{provider: p, model: m0}, {provider: p, model: m1}]}",
        times("vote"), 2, 1, "run: x"),
    Row("step.embeddings", "steps: [{name: a, <key>}]", "embeddings: {input: x}",
        lambda ran: len(ran.models.embedded), 1, 0, "run: x"),
    Row("step.provider", STEP, "provider: own", asked("provider"), "own", "acme"),
    Row("step.model", STEP, "model: own", asked("model"), "own", "large"),
    Row("step.providers", STEP, CHAIN, asked("provider"), "first", "acme"),
    Row("step.temperature", STEP, "temperature: 0.1", asked("temperature"), 0.1, 0.7),
    Row("step.max_tokens", STEP, "max_tokens: 9", asked("max_tokens"), 9, None),
    Row("step.timeout", STEP, "timeout: 7s", asked("timeout"), 7.0, None),
    Row("step.skills", STEP, "skills: [write]", warned("skills"), True, False),
    Row("step.on_failure", "steps: [{name: bad, run: x, <key>}, {name: b, run: x}]", "on_failure: continue",
        order, ["bad", "b"], ["bad"]),
    Row("step.max_retries", "steps: [{name: bad, run: x, on_failure: retry, <key>}]", "max_retries: 1",
        times("bad"), 2, 4),
    Row("step.execution_order", "steps: [{name: a, run: x}, {name: b, run: x, <key>}]", "execution_order: -1",
        order, ["b", "a"], ["a", "b"]),
    Row("template.name", "steps: [{name: a, template: {<key>}}]", "name: work", order, ["work"], ["two"],
        "name: other"),
    Row("template.with", "steps: [{name: a, template: {name: work, <key>}}]", "with: {topic: tea}",
        prompts("work"), ["do {{item}} tea topic: tea"], ["do {{item}} {{topic}} "]),
)  # fmt: skip

VOTE = "{prompt: q, require: majority, executions: [{provider: p, model: m0}, {provider: p, model: m1}]"
ONE_OF_TWO = (
    "steps: [{name: vote, consensus: {prompt: q, require: majority, "
    "executions: [{provider: p, model: m0}, {provider: p, model: m1}, {<key>}]}}]"
)
CONSENSUS_ROWS = (
    Row("consensus.prompt", "steps: [{name: vote, consensus: " + VOTE.replace("prompt: q", PLACE) + "}}]",
        "prompt: 'is {{input}} right'", prompts("vote"), ["is tea right"] * 2, ["q"] * 2, "prompt: q"),
    Row("consensus.executions", "steps: [{name: vote, consensus: {prompt: q, require: majority, <key>}}]",
        "executions: [{provider: p, model: m0}, {provider: p, model: m1}]",
        lambda ran: [one.model for one in ran.models.requests], ["m0", "m1"], ["m0", "m1", "m2"],
        "executions: [{provider: p, model: m0}, {provider: p, model: m1}, {provider: p, model: m2}]"),
    Row("consensus.require", ONE_OF_TWO.replace(PLACE, "provider: p, model: m2").replace("require: majority", PLACE),
        "require: unanimous", reason, "error", "completed", "require: majority"),
    Row("consensus.timeout", "steps: [{name: vote, consensus: " + VOTE + ", <key>}}]", "timeout: 7s",
        asked("timeout", "vote"), 7.0, None),
    Row("consensus execution.provider", ONE_OF_TWO, "model: m2, provider: q",
        lambda ran: ran.models.requests[2].provider, "q", "p", "model: m2, provider: p"),
    Row("consensus execution.model", ONE_OF_TWO, "provider: p, model: m7",
        lambda ran: ran.models.requests[2].model, "m7", "m2", "provider: p, model: m2"),
    Row("consensus execution.temperature", ONE_OF_TWO, "provider: p, model: m2, temperature: 0.1",
        lambda ran: ran.models.requests[2].temperature, 0.1, 0.7, "provider: p, model: m2"),
    Row("consensus execution.max_tokens", ONE_OF_TWO, "provider: p, model: m2, max_tokens: 9",
        lambda ran: ran.models.requests[2].max_tokens, 9, None, "provider: p, model: m2"),
    Row("consensus execution.timeout", ONE_OF_TWO, "provider: p, model: m2, timeout: 3s",
        lambda ran: ran.models.requests[2].timeout, 3.0, None, "provider: p, model: m2"),
)  # fmt: skip

LOOP = "name: l, workflow: work, max_iterations: 3, "
REFINE = f"{LOOP}until: It says DONE, {PLACE}"
BAD = f"name: l, workflow: bad_work, max_iterations: 3, until: It says DONE, {PLACE}"
ITEMS = f"{LOOP}mode: iterate, items: '[1, 2, 3, 4]', {PLACE}".replace("max_iterations: 3", "max_iterations: 9")
LOOP_ROWS = (
    Row("workflow", f"name: l, max_iterations: 2, until: It says DONE, {PLACE}", "workflow: work", times("work"), 2, 0,
        "workflow: other"),
    Row("mode", f"{LOOP}items: '[1, 2]', {PLACE}", "mode: iterate", times("work"), 2, 3,
        "mode: refine, until: It says DONE"),
    Row("items", f"{LOOP}mode: iterate, {PLACE}", "items: '[1, 2]'", times("work"), 2, 1, "items: '[1]'"),
    Row("with", REFINE, "with: {topic: tea}", lambda ran: ran.prompts("work")[0], "do {{item}} tea topic: tea",
        "do {{item}} {{topic}} "),
    Row("max_iterations", f"name: l, workflow: work, until: It says DONE, {PLACE}", "max_iterations: 4",
        times("work"), 4, 1, "max_iterations: 1"),
    Row("until", f"{LOOP}{PLACE}", "until: 'It tells of {{input}}'",
        lambda ran: "It tells of tea" in ran.prompts("judge")[0], True, False, "until: It says DONE"),
    Row("on_failure", BAD, "on_failure: continue", times("bad"), 3, 1),
    Row("max_retries", BAD, "on_failure: retry, max_retries: 1", times("bad"), 2, 4, "on_failure: retry"),
    Row("retry_delay", BAD, "on_failure: retry, max_retries: 2, retry_delay: 1m", lambda ran: ran.recorder.slept,
        [60.0, 60.0], [], "on_failure: retry, max_retries: 2"),
    Row("min_success_rate", f"name: l, workflow: bad_work, mode: iterate, items: '[1]', on_failure: continue, "
        f"max_iterations: 1, {PLACE}", "min_success_rate: 0.9", reason, "success_rate_not_met", "error"),
    Row("timeout_per_item", f"name: l, workflow: slow_work, until: It says DONE, max_iterations: 2, {PLACE}",
        "timeout_per_item: 2s", times("slow"), 1, 2),
    Row("total_timeout", f"name: l, workflow: slow_work, until: It says DONE, max_iterations: 2, {PLACE}",
        "total_timeout: 6s", reason, "timeout", "max_iterations"),
    Row("accumulate", REFINE, "accumulate: all", prompts("end"), ["see ok---ok---ok"], ["see {{all}}"]),
    Row("parallel", f"name: l, workflow: slow_work, mode: iterate, items: '[1, 2, 3, 4]', max_iterations: 9, {PLACE}",
        "parallel: true", at_once, 3, 1),
    Row("max_workers", "name: l, workflow: slow_work, mode: iterate, items: '[1, 2, 3, 4]', max_iterations: 9, "
        f"{PLACE}", "parallel: true, max_workers: 2", at_once, 2, 3, "parallel: true"),
)  # fmt: skip


def _everywhere(row: Row) -> tuple[Row, Row]:
    """A row of a loop, as an entry of `loops` and as the `loop` of a step."""
    end = "steps: [{name: end, needs: [l], run: 'see {{all}}'}]"
    top = f"loops: [{{{row.text}}}]\n{end}"
    inner = f"{end[:-1]}, {{name: l, loop: {{{row.text.replace('name: l, ', '', 1)}}}}}]"
    return row._replace(key=f"loop.{row.key}", text=top), row._replace(key=f"step loop.{row.key}", text=inner)


VECTORS = f"steps: [{{name: v, embeddings: {{input: 'One is. Two is.', {PLACE}}}}}]"
EMBEDDINGS_ROWS = (
    Row("embeddings.input", "steps: [{name: v, embeddings: {<key>}}]", "input: 'about {{input}}'",
        embedded("texts"), ("about tea",), ("x",), "input: x"),
    Row("embeddings.input_file", VECTORS, "input_file: notes.md", embedded("texts"), ("from the file",),
        ("One is. Two is.",)),
    Row("embeddings.provider", VECTORS, "provider: own", embedded("provider"), "own", "acme"),
    Row("embeddings.model", VECTORS, "model: own", embedded("model"), "own", ""),
    Row("embeddings.chunk_strategy", f"steps: [{{name: v, embeddings: {{input: Aa bb. Cc dd., max_chunk_size: 2, "
        f"{PLACE}}}}}]", "chunk_strategy: fixed", embedded("texts"), ("Aa bb. C", "c dd."), ("Aa bb.", "Cc dd.")),
    Row("embeddings.max_chunk_size", VECTORS, "max_chunk_size: 2", embedded("texts"), ("One is.", "Two is."),
        ("One is. Two is.",)),
    Row("embeddings.overlap", VECTORS.replace(PLACE, f"max_chunk_size: 2, chunk_strategy: fixed, {PLACE}"),
        "overlap: 1", lambda ran: len(ran.models.embedded[0].texts), 3, 2),
    Row("embeddings.dimensions", VECTORS, "dimensions: 3", embedded("dimensions"), 3, None),
    Row("embeddings.encoding_format", VECTORS, "encoding_format: base64", embedded("encoding"), "base64", "float"),
    Row("embeddings.include_metadata", VECTORS, "include_metadata: false", result("total_chunks"), None, 1),
    Row("embeddings.output_file", VECTORS, "output_file: out/v.json",
        lambda ran: "written to" in ran.output, True, False),
)  # fmt: skip

TOP_ROWS = (
    Row("workflow.execution", f"{PLACE}\n{ONE_STEP}", "execution: {provider: acme, model: large}",
        asked("provider"), "acme", "other", "execution: {provider: other, model: large}"),
    Row("workflow.env", f"{PLACE}\nsteps: [{{name: a, run: 'in {{{{env.CITY}}}}'}}]", "env: {CITY: Oslo}",
        prompts("a"), ["in Oslo"], ["in {{env.CITY}}"]),
    Row("workflow.steps", f"{PLACE}\nloops: [{{name: l, workflow: work, max_iterations: 1, until: It says DONE}}]",
        "steps: [{name: a, run: x}]", times("a"), 1, 0),
    Row("loop.name", "steps: [{name: end, needs: [l], run: 'see {{l}}', on_failure: continue}]\n"
        "loops: [{<key>, workflow: work, max_iterations: 1, until: It says DONE}]", "name: l", prompts("end"),
        ["see ok"], [], "name: k"),
    Row("workflow.loops", f"{ONE_STEP}{PLACE}",
        "loops: [{name: l, workflow: work, max_iterations: 1, until: It says DONE}]", times("work"), 1, 0),
)  # fmt: skip

ROWS = (
    *(*TOP_ROWS, *EXECUTION_ROWS, *STEP_ROWS, *CONSENSUS_ROWS, *EMBEDDINGS_ROWS),
    *(row for one in LOOP_ROWS for row in _everywhere(one)),
)


@pytest.mark.parametrize("row", named(ROWS))
def test_a_key_of_a_workflow_is_seen_in_the_run(row: Row, tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text("from the file")
    for text, expected in row.twins:
        with asyncio.Runner(loop_factory=VirtualLoop) as virtual:
            assert row.sees(virtual.run(_run(text, tmp_path))) == expected, text


async def _run(text: str, folder: Path) -> Ran:
    callees = {"work": WORK, "other": "steps: [{name: two, run: x}]", "bad_work": "steps: [{name: bad, run: x}]"}
    callees["slow_work"] = "steps: [{name: slow, run: x}]"
    it = lab({"main": text, **callees}, dict(SCRIPT), root=str(folder), input="tea")
    it.models.wait = lambda request: SLOW.get(request.place.rpartition("/")[2], 0.0)
    return await it.run()


#: What a start looks at, before anything runs.
FILE = f"{PLACE}\nexecution: {{provider: acme, model: large}}\nsteps: [{{name: a, run: x}}]\n"
FILE_ROWS = (
    Row("workflow.$schema", f"name: far\nversion: 1.0.0\n{FILE}", "$schema: workflow/v2.0", ok, True, False),
    Row("workflow.version", f"$schema: workflow/v2.0\nname: far\n{FILE}", "version: 1.0.0", ok, True, False),
    Row("workflow.name", f"$schema: workflow/v2.0\nversion: 1.0.0\n{FILE}", "name: far", ok, True, False, "name: near"),
)
CALLS = f"$schema: workflow/v2.0\nname: calls\nversion: 1.0.0\n{FILE}".replace(PLACE, "").replace(
    "run: x", "template: {name: far}"
)


def test_a_key_of_the_file_is_seen_at_the_start_of_who_calls_it(tmp_path: Path) -> None:
    told = asyncio.run(_wrong(tmp_path))
    assert told == "", told


async def _wrong(folder: Path) -> str:
    project = WiredProject(folder)
    project.write("calls.yaml", CALLS)
    await project.open()

    async def start(row: Row, text: str) -> Ended:
        project.write("called.yaml", text)
        return await project.run("calls.yaml", {}, input="x")

    try:
        return await wrong(FILE_ROWS, start)
    finally:
        await project.close()
