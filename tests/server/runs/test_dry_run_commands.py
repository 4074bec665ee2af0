"""What the server says of a run before there is one: cost, prompts, definitions. No engine is needed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.server.support.editor import TARGET, Editor
from tests.server.support.full import Full
from tests.server.support.raw import RawClient

Json = dict[str, Any]


@pytest.fixture
def full(server: RawClient, folder: Path) -> Full:
    return Full(server, folder)


def command(full: Full, name: str, argument: Json) -> Json:
    found: Json = full.ask("workspace/executeCommand", {"command": name, "arguments": [argument]})
    return found


def test_an_estimate_of_a_loop_counts_the_judge_and_says_why(full: Full) -> None:
    answer = command(full, "loopLs.estimate", {"uri": full.uri("flow"), "target": TARGET})
    assert (answer["ok"], answer["calls"]) == (True, {"min": 2, "max": 10})
    assert answer["usd"] == {"min": 0.0, "max": 0.0}
    assert "`refine`: at most 5 iterations" in answer["why"]


def test_an_estimate_is_of_the_text_in_the_editor(full: Full) -> None:
    text = full.texts["flow"].replace("max_iterations: 5", "max_iterations: 7").replace(
        "provider: ollama, model: llama3.2", "provider: openai, model: gpt-x"
    )  # fmt: skip
    full.client.change(full.uri("flow"), 2, {"text": text})
    answer = command(full, "loopLs.estimate", {"uri": full.uri("flow")})
    assert answer["calls"]["max"] == 14
    assert answer["usd"] is None
    assert "`openai` `gpt-x`" in answer["why"]


def test_an_estimate_follows_whom_the_run_asks(full: Full) -> None:
    asked = {"uri": full.uri("flow")}
    assert command(full, "loopLs.estimate", asked)["usd"] == {"min": 0.0, "max": 0.0}
    answer = command(full, "loopLs.estimate", {**asked, "provider": "openai", "model": "gpt-x"})
    assert (answer["usd"], "`openai` `gpt-x`" in answer["why"]) == (None, True)
    default = command(full, "loopLs.estimate", {**asked, "provider": "openai"})
    assert default["usd"] is None and "`openai` `gpt-" in default["why"]
    nobody = command(full, "loopLs.estimate", {**asked, "provider": "nobody"})
    assert (nobody["ok"], nobody["code"]) == (False, "bad_argument")


@pytest.mark.parametrize("provider", ["local", "scripted"])
def test_an_estimate_takes_the_default_model_that_the_run_would_ask(full: Full, provider: str) -> None:
    answer = command(full, "loopLs.estimate", {"uri": full.uri("flow"), "provider": provider})
    assert (answer["ok"], answer["calls"]["min"]) == (True, 2), answer


def test_an_estimate_for_a_provider_that_nobody_knows_is_refused_as_the_run_is(full: Full) -> None:
    answer = command(full, "loopLs.estimate", {"uri": full.uri("flow"), "provider": "opnai", "model": "gpt-x"})
    assert (answer["ok"], answer["code"]) == (False, "bad_argument")
    assert "did you mean `openai`?" in answer["message"]


def test_a_preview_fills_in_what_is_known(full: Full) -> None:
    answer = command(full, "loopLs.previewPrompt", {"uri": full.uri("flow"), "target": TARGET})
    assert answer["ok"] is True
    assert "Write about ‹input›. Name three risks. Improve on: \n" in answer["prompt"] + "\n"
    assert "The draft names three risks" in answer["prompt"]
    assert answer["unresolved"] == []
    one = command(full, "loopLs.previewPrompt", {"uri": full.uri("other"), "target": {"kind": "step", "name": "last"}})
    assert one["prompt"].startswith("call said 😀: ‹")


def test_a_preview_of_a_later_iteration_takes_the_outputs_of_a_run(
    fake: Callable[..., RawClient], folder: Path
) -> None:
    editor = Editor(fake(), folder)
    run_id = editor.run({"iterations": 3, "yes": 3})["runId"]
    editor.wait_event("completed")
    argument = {"uri": editor.uri, "target": TARGET, "runId": run_id, "iteration": 3}
    answer = editor.command("loopLs.previewPrompt", argument)
    assert "Improve on: draft 2" in answer["prompt"]
    assert editor.command("loopLs.previewPrompt", {**argument, "runId": "gone"})["code"] == "not_found"


@pytest.mark.parametrize(
    ("argument", "code", "words"),
    [
        ({"uri": "file:///never.yaml"}, "not_found", "cannot be read"),
        ({"uri": "flow", "target": {"kind": "loop", "name": "refin"}}, "not_found", "`refine`"),
        ({"uri": "flow", "target": {"kind": "loop"}}, "bad_argument", "Missing `target.name`: the loop"),
        ({}, "bad_argument", "`uri`"),
        ({"uri": "flow", "iteration": 0}, "bad_argument", "at least 1"),
    ],
)
def test_what_cannot_be_previewed_is_refused(full: Full, argument: Json, code: str, words: str) -> None:
    if argument.get("uri") == "flow":
        argument = {**argument, "uri": full.uri("flow")}
    answer = command(full, "loopLs.previewPrompt", argument)
    assert (answer["ok"], answer["code"]) == (False, code)
    assert words in answer["message"] + answer["hint"]


def test_definitions_are_listed_and_a_wrong_one_with_its_first_error(server: RawClient, folder: Path) -> None:
    loops = folder / "loops"
    loops.mkdir()
    good = {
        "name": "review",
        "description": "Write, then look at it.",
        "parameters": [{"name": "goal", "description": "What to do."}],
        "roles": [{"role": "coder", "prompt": "Do {{goal}}"}, {"role": "reviewer", "prompt": "Look at {{goal}}"}],
        "termination": {"type": "evaluation_bound", "value": 3},
    }
    (loops / "review.json").write_text(json.dumps(good))
    (loops / "broken.json").write_text('{"name": "broken", "roles": 5}')
    full = Full(server, folder)
    answer = command(full, "loopLs.definitions", {})
    found = {one["name"]: one for one in answer["definitions"]}
    assert list(found)[:2] == ["broken", "review"]
    shipped = [name for name, one in found.items() if one.get("builtIn")]
    assert shipped == ["harness", "research", "goal-driven", "diverge-converge", "reflection"]
    assert found["harness"]["roles"] == ["plan", "coder", "reviewer"]
    assert found["review"]["roles"] == ["coder", "reviewer"]
    assert found["review"]["parameters"] == ["goal"]
    assert found["broken"]["valid"] is False
    assert found["broken"]["error"]["code"].startswith("RL")
