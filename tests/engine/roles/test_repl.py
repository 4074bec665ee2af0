"""The lines `/loops ...` with role loops, and that both ways of running give the same (RB 92-93, 121-125)."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from loop_ls.cli.repl.lines import Lines
from loop_ls.engine import service
from loop_ls.testing.models import SILENCE, calls

from .served import ServedProject, serving


@pytest.fixture
async def served(tmp_path: Path) -> AsyncIterator[ServedProject]:
    async with serving(tmp_path) as made:
        yield made


class Prompt:
    """What a person types, reads, and answers."""

    def __init__(self, served: ServedProject, answer: str = "y") -> None:
        self.said: list[str] = []
        self.asked: list[str] = []
        self.answer = answer
        self.lines = Lines(served.client, str(served.root), self.said.append, self._ask)

    def _ask(self, question: str) -> str:
        self.asked.append(question)
        return self.answer

    async def type(self, line: str) -> str:
        self.said.clear()
        await self.lines.line(line)
        return "\n".join(self.said)


@pytest.mark.parametrize("answer", ["n", "", "what?"])
async def test_RB_092_nothing_changes_when_the_confirmation_is_declined(served: ServedProject, answer: str) -> None:
    ids = await served.held(2)
    prompt = Prompt(served, answer)
    await prompt.type("/loops stop all")
    assert len(prompt.asked) == 1
    assert [(await served.state(run_id))["status"] for run_id in ids] == ["running", "running"]
    await Prompt(served).type("/loops stop all")
    assert [(await served.ended(run_id))["status"] for run_id in ids] == ["cancelled", "cancelled"]


async def test_RB_092_nothing_is_asked_about_a_loop_that_is_not_there(served: ServedProject) -> None:
    prompt = Prompt(served, "y")
    for verb in ("stop", "delete"):
        assert "Unknown run `zzz`" in await prompt.type(f"/loops {verb} zzz")
    assert prompt.asked == []


async def test_RB_093_a_prefix_finds_a_loop_and_an_ambiguous_one_lists_them(
    served: ServedProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = ["aaaa01234567", "aaaa89abcdef", "bbbb01234567"]
    left = iter(ids)
    monkeypatch.setattr(service, "secrets", SimpleNamespace(token_hex=lambda size: next(left)))
    for run_id in ids:
        assert await served.begin() == run_id
        await served.ended(run_id)
    for enough in ("bbbb", "aaaa0", ids[0]):
        told = await Prompt(served).type(f"/loops status {enough}")
        assert f"{enough[:4]}" in told
        assert "reviewer  done" in re.sub(r" {2,}", "  ", told)
    told = await Prompt(served).type("/loops status aaaa")
    assert "Several" in told
    assert (ids[0] in told, ids[1] in told, ids[2] in told) == (True, True, False)


async def test_RB_093_a_slip_of_the_finger_finds_no_loop(served: ServedProject) -> None:
    """The one run that begins with `a` is not what `delete a` means."""
    run_id = await served.begin()
    await served.ended(run_id)
    prompt = Prompt(served)
    for length in (1, 2, 3):
        told = await prompt.type(f"/loops delete {run_id[:length]}")
        assert f"`{run_id[:length]}` is too short for the id of a run." in told
        assert "first 4 characters" in told
        await served.get(f"/{run_id[:length]}", code=404)
    assert prompt.asked == []
    assert (await served.get(f"/{run_id[:4]}"))["loop"]["id"] == run_id


async def test_RB_121_the_table_of_loops(served: ServedProject) -> None:
    await served.ended(await served.begin(goal="Done already."))
    served.say(write=SILENCE)
    going = await served.begin(goal="Build " + "a very long goal " * 5)
    await served.until(going, "stage_started")
    served.define("endless", termination_condition={"type": "manual"})
    endless = await served.begin(definition="endless")
    await served.until(endless, "stage_started")
    await served.post(f"/{endless}/pause")
    lines = (await Prompt(served).type("/loops")).splitlines()
    assert re.match(r"Loops: \d+ active, 3 shown", lines[0])
    assert lines[1].split() == ["ID", "DEFINITION", "ITERATION", "STAGE", "GOAL", "AGE"]
    rows = {line.split()[1]: line for line in lines[2:]}
    assert rows[f"{going[:8]}..."].startswith("●")
    assert "1/3" in rows[f"{going[:8]}..."]
    assert " write " in rows[f"{going[:8]}..."]
    assert f"{('Build ' + 'a very long goal ' * 5)[:57]}..." in rows[f"{going[:8]}..."]
    assert rows[f"{endless[:8]}..."].startswith("◉")
    assert "1/∞" in rows[f"{endless[:8]}..."]
    assert any(row.startswith("✓") and "Done already." in row for row in rows.values())
    await Prompt(served).type("/loops stop all")


@pytest.mark.parametrize("word", ["definitions", "defs"])
async def test_RB_122_definitions_with_roles_and_ends_and_first_errors(served: ServedProject, word: str) -> None:
    served.write("loops/broken.json", "{")
    told = re.sub(r" {2,}", "  ", await Prompt(served).type(f"/loops {word}"))
    assert "pair  One writes, one judges.  coder → reviewer  evaluation_bound" in told
    assert "harness  " in told
    assert re.search(r"broken  cannot be started: .+  ✗", told)


async def test_RB_122_what_ends_a_loop_is_told_where_its_file_does_not_say(served: ServedProject) -> None:
    """Not what it is: `role loop` and `assistant` stood in the column of ends."""
    served.define("once", termination_condition=None)
    assistant = {"id": "fixer", "name": "Fixer", "persona": "Mend.", "loopEnabled": True, "maxIterations": 4}
    served.write("assistants/fixer.assistant.json", json.dumps(assistant))
    criteria = {"type": "regex", "value": "DONE"}
    served.write("assistants/ends.assistant.json", json.dumps({**assistant, "id": "ends", "loopCriteria": criteria}))
    served.write("assistants/still.assistant.json", json.dumps({**assistant, "id": "still", "loopEnabled": False}))
    lines = (await Prompt(served).type("/loops definitions")).splitlines()
    ends = {line.split()[0]: line.split()[-1] for line in lines}
    told = {name: ends[name] for name in ("once", "fixer", "ends", "still")}
    assert told == {"once": "iteration_bound", "fixer": "max_iterations", "ends": "regex", "still": "-"}
    found = {row["name"]: row["termination"] for row in (await served.get("/definitions"))["definitions"]}
    assert (found["once"], found["fixer"]) == (
        {"type": "iteration_bound", "value": 1},
        {"type": "max_iterations", "value": 4},
    )


async def test_RB_020_a_start_at_the_prompt_is_told_how_to_give_what_is_missing(served: ServedProject) -> None:
    tone = {"name": "tone", "description": "How it sounds"}
    served.define("strict", parameters=[tone])
    told = await Prompt(served).type("/loops start strict Write a poem.")
    assert ("The run needs `tone`." in told, "give: --param tone=TEXT" in told) == (True, True)


async def test_RB_123_a_loop_started_at_the_prompt_is_shown_live_and_the_prompt_comes_back_at_its_end(
    served: ServedProject,
) -> None:
    go = asyncio.Event()
    inner = served.models.ask

    async def ask(request: Any, hear: Any = None, *others: Any) -> Any:
        if request.place.endswith("/write"):
            hear("first line\nsecond ")
            await go.wait()
            hear("line\n")
            return await inner(request, None, *others)
        return await inner(request, hear, *others)

    served.models.ask = ask  # type: ignore[method-assign]
    prompt = Prompt(served)
    typing = asyncio.create_task(prompt.type("/loops start pair Write a poem."))
    async with asyncio.timeout(60):
        while "    first line" not in prompt.said:
            await asyncio.sleep(0.02)
    assert not typing.done()
    assert "    second line" not in prompt.said
    go.set()
    told = await asyncio.wait_for(typing, 60)
    assert "  write (coder)\n    first line\n    second line\n" in told
    assert "    APPROVED" in told
    assert "✓ approved in iteration 1" in told


async def test_RB_123_an_interruption_gives_the_prompt_back_and_leaves_the_loop_running(served: ServedProject) -> None:
    served.say(write=SILENCE)
    prompt = Prompt(served)
    typing = asyncio.create_task(prompt.type("/loops start pair Write a poem."))
    async with asyncio.timeout(60):
        while "  write (coder)" not in prompt.said:
            await asyncio.sleep(0.02)
    typing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await typing
    [state] = (await served.engine.runs())["runs"]
    assert state["status"] == "running"
    await served.engine.control("stop", "all")


async def test_RB_125_both_ways_give_the_same_records(served: ServedProject) -> None:
    answers: dict[str, Any] = {"write": ["draft", "better draft"], "judge_it": ["NEEDS CHANGES: more\nof it", "LGTM"]}
    served.say(**answers)
    await Prompt(served).type("/loops start pair Write a poem.")
    served.models._asked.clear()
    served.say(**answers)
    await served.ended(await served.begin(goal="Write a poem."))
    second, first = (await served.engine.runs())["runs"]
    kept = ("iteration_number", "status", "outcome_summary")
    told = ("stage_index", "role", "label", "status", "result_summary")
    seen = []
    for run in (first, second):
        rows = await served.rows(run["runId"])
        stages = [[{name: stage[name] for name in told} for stage in row["stages"]] for row in rows]
        seen.append((run["status"], run["reason"], [{name: row[name] for name in kept} for row in rows], stages))
    assert seen[0] == seen[1]
    assert seen[0][:2] == ("completed", "approved")
    assert len(seen[0][2]) == 2


async def test_UP_92_protected_files_are_put_back_at_the_prompt(served: ServedProject) -> None:
    served.write("package.json", "{}")
    served.say(write=[calls(("shell", {"command": "echo >> package.json"})), "done"])
    run_id = await served.begin()
    await served.until(run_id, "manual_approval_required")
    assert "The agent touched a protected file: package.json" in await Prompt(served).type(f"/loops status {run_id}")
    assert await Prompt(served).type(f"/loops restore {run_id}") == "Files restored."
    await served.ended(run_id)
    assert (served.root / "package.json").read_text() == "{}"


async def test_UP_96_a_blocked_loop_gives_the_prompt_back_and_is_answered_there(served: ServedProject) -> None:
    """It was followed until its end, which did not come while nobody could type an answer."""
    served.say(write="STATUS: BLOCKED\nWhich sea?", try_2="text")
    prompt = Prompt(served)
    told = await asyncio.wait_for(prompt.type("/loops start pair Write a poem."), 60)
    run_id = str((await served.engine.runs())["runs"][0]["runId"])
    assert "It asks: `write` cannot continue: Which sea?" in told
    assert f"Answer with /loops retry {run_id[:8]}, /loops reject {run_id[:8]}." in told
    assert f"(/loops retry {run_id[:8]})" in await Prompt(served).type(f"/loops status {run_id}")
    listed = await Prompt(served).type("/loops inbox")
    assert f"{run_id[:8]}... `pair` is blocked: `write` cannot continue: Which sea? (retry, reject)" in listed
    assert await Prompt(served).type(f"/loops retry {run_id[:8]} The Baltic.") == "Tries again."
    assert (await served.ended(run_id))["reason"] == "approved"
    assert "The Baltic." in served.models.prompts("try-2")[0]
    assert await Prompt(served).type("/loops inbox") == "Nothing waits for you."
