"""Commands that look at files before a run: `estimate`, `preview`, `definitions`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from loop_ls.cli.main import main

LOOP = """\
$schema: workflow/v2.0
name: {name}
version: 1.0.0
description: Goes on until it is done
execution: {{provider: anthropic, model: {model}}}
loops:
  - name: polish
    workflow: draft
    with: {{topic: "{{{{input}}}}"}}
    max_iterations: 3
    until: "It says READY"
"""
DRAFT = """\
$schema: workflow/v2.0
name: draft
version: 1.0.0
description: x
execution: {provider: anthropic, model: claude-3-5-haiku-latest}
steps:
  - {name: write, run: "Write about {{topic}}, and READY below it", max_tokens: 1000}
"""
SETTINGS = "providers:\n  anthropic: {price: {input: 1, output: 10}}\n"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".loop-ls.yaml").write_text(SETTINGS)
    (tmp_path / "flow.yaml").write_text(LOOP.format(name="flow", model="claude-3-5-haiku-latest"))
    (tmp_path / "draft.yaml").write_text(DRAFT)
    return tmp_path


@pytest.fixture
def answer(capfd: pytest.CaptureFixture[str]) -> Any:
    def call(*words: str) -> Any:
        assert main(list(words)) == 0
        return json.loads(capfd.readouterr().out)

    return call


# -- estimate -----------------------------------------------------------------------------------


def test_estimate_counts_calls_and_dollars(here: Path, answer: Any, capfd: pytest.CaptureFixture[str]) -> None:
    found = answer("estimate", "flow.yaml", "--json")
    assert found["ok"] is True
    assert found["calls"] == {"min": 2, "max": 6}
    assert 0 < found["usd"]["min"] < found["usd"]["max"]
    assert answer("estimate", "flow", "--loop", "polish", "--json")["calls"] == found["calls"]
    assert main(["estimate", "flow.yaml"]) == 0
    assert capfd.readouterr().out.startswith("flow: 2 to 6 calls, $0.")


def test_estimate_takes_prices_of_the_table_where_the_settings_have_none(here: Path, answer: Any) -> None:
    (here / ".loop-ls.yaml").unlink()
    assert answer("estimate", "flow.yaml", "--root", ".", "--json")["usd"]["max"] > 0


@pytest.mark.parametrize("where", ["beside", "named", "inside", "settings"])
def test_estimate_shows_the_costs_that_a_script_shows(here: Path, answer: Any, where: str) -> None:
    """Scripted answers cost nothing, unless their script gives a price to show costs, as its run will."""
    for name in ("flow", "draft"):
        text = (here / f"{name}.yaml").read_text().replace("provider: anthropic", "provider: mine")
        (here / f"{name}.yaml").write_text(text)
    price, own = {"input": 1, "output": 10}, {"kind": "scripted", "script": [{"say": "x"}]}
    settings: dict[str, Any] = {
        "beside": {"kind": "scripted"},
        "named": {"kind": "scripted", "script": "said.yaml"},
        "inside": {"kind": "scripted", "script": {"price": price, "answers": []}},
        "settings": {**own, "price": price},
    }
    for file in ("flow.answers.yaml", "said.yaml"):
        (here / file).write_text("# shown\nprice: {input: 1, output: 10}\nanswers:\n  - say: x\n")
    (here / ".loop-ls.yaml").write_text(json.dumps({"providers": {"mine": settings[where]}}))
    found = answer("estimate", "flow.yaml", "--json")
    assert found["usd"]["max"] > 0
    (here / ".loop-ls.yaml").write_text(json.dumps({"providers": {"mine": own}}))
    assert answer("estimate", "flow.yaml", "--json")["usd"] == {"min": 0.0, "max": 0.0}


def test_estimate_says_why_it_cannot_tell_the_dollars(here: Path, answer: Any) -> None:
    (here / ".loop-ls.yaml").write_text("{}\n")
    (here / "flow.yaml").write_text(LOOP.format(name="flow", model="no-such-model"))
    found = answer("estimate", "flow.yaml", "--json")
    assert found["usd"] is None
    assert "no-such-model" in found["why"]


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["flow.yaml", "--loop", "polsh"], "no step or loop `polsh`"),
        (["nowhere.yaml"], "file not found: nowhere.yaml"),
        (["flwo"], "did you mean `flow`?"),
        ([".loop-ls.yaml"], "is not a workflow file"),
        (["latin.yaml"], "latin.yaml cannot be read: Invalid UTF-8 byte 0xE9"),
    ],
)
@pytest.mark.parametrize("command", ["estimate", "preview"])
def test_what_is_not_there_is_refused(
    here: Path, command: str, words: list[str], reason: str, capfd: pytest.CaptureFixture[str]
) -> None:
    (here / "latin.yaml").write_bytes("$schema: workflow/v2.0\nname: café\n".encode("latin-1"))
    if command == "preview":
        words = ["--target" if word == "--loop" else word for word in words]
    assert main([command, *words]) == 2
    captured = capfd.readouterr()
    assert captured.out == ""
    assert reason in captured.err


# -- preview ------------------------------------------------------------------------------------


def test_preview_shows_prompts_of_the_called_workflow_too(
    here: Path, answer: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    found = answer("preview", "flow.yaml", "--input", "bees", "--json")
    assert [(one["path"], one["key"], one["prompt"]) for one in found["prompts"]] == [
        (["polish"], "with.topic", "bees"),
        (["polish"], "until", "It says READY"),
        (["polish", "write"], "run", "Write about bees, and READY below it"),
    ]
    assert main(["preview", "draft", "--param", "topic=ants"]) == 0
    assert capfd.readouterr().out == "write\n  run:\n    Write about ants, and READY below it\n\n"


def test_preview_tells_names_that_do_not_exist(here: Path, answer: Any, capfd: pytest.CaptureFixture[str]) -> None:
    (here / "draft.yaml").write_text(DRAFT.replace("{{topic}}", "{{nowhere}}"))
    (found,) = answer("preview", "draft", "--target", "write", "--json")["prompts"]
    assert found["unresolved"] == ["nowhere"]
    assert main(["preview", "draft"]) == 0
    assert "(does not exist: nowhere)" in capfd.readouterr().out


# -- definitions --------------------------------------------------------------------------------


def test_definitions_lists_every_format_with_inputs_and_limits(
    here: Path, answer: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    for kind in ("role-loop", "assistant"):
        assert main(["new", kind, kind.replace("-", "_")]) == 0
    (here / "broken.yaml").write_text(LOOP.format(name="broken", model="m").replace("until:", "untl:"))
    capfd.readouterr()
    found = {one["name"]: one for one in answer("definitions", "--json")["definitions"]}
    own = {name for name, one in found.items() if one["path"] != "built in"}
    assert own == {"flow", "draft", "broken", "role_loop", "assistant"}
    assert found["flow"]["loops"] == [
        {"name": "polish", "mode": "refine", "maxIterations": 3, "until": "It says READY"}
    ]
    assert found["draft"]["parameters"] == [{"name": "topic", "required": True}]
    assert found["role_loop"]["stages"] == ["plan", "coder", "reviewer"]
    assert found["goal-driven"]["roles"] == ["plan", "coder"]
    assert found["goal-driven"]["termination"] == "goal_bound"
    assert found["role_loop"]["parameters"][0]["default"] == "correctness"
    assert found["assistant"]["criteria"] == "regex"
    assert found["flow"]["error"] is None
    assert found["broken"]["error"].startswith("WF")


def test_definitions_as_text(here: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["definitions"]) == 0
    out = capfd.readouterr().out
    assert "flow  workflow  flow.yaml" in out
    assert "loop polish: at most 3 iterations, until: It says READY" in out
    assert "--param topic" in out
    assert (
        "roles: explorer → philosopher → identity-curator → muse; at most 1 iteration; ends by: iteration_bound\n"
        in out
    )


def test_definitions_of_an_empty_folder_say_how_to_begin(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["definitions", "--root", str(tmp_path)]) == 0
    assert "loop-ls new loop NAME" in capfd.readouterr().out
    assert main(["definitions", "--root", str(tmp_path / "nowhere")]) == 2
    assert "nowhere is not a folder" in capfd.readouterr().err
