"""Scripted answers: by place, the same after a restart, failing on cue; and the mock of any workflow."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from loop_ls.engine.core.messages import ToolAnswer, ToolSpec, Turn
from loop_ls.engine.core.plan import Plan
from loop_ls.engine.core.ports import ModelFailure
from loop_ls.engine.providers import Providers, ScriptFault, read_script
from loop_ls.engine.providers.scripted.answers import Scripts, answers_path, values_of
from tests.engine.providers.conftest import Asked

SCRIPT: dict[str, Any] = {
    "answers": [
        {"when": {"step": "write"}, "say": ["first", "second"]},
        {"when": {"purpose": "judge", "loop": "develop"}, "say": ["NO", "YES"]},
        {"when": {"place": "other/*"}, "say": "by place"},
        {"when": {"contains": "weather"}, "say": "sunny"},
        {"say": "whatever"},
    ]
}


def scripted(script: dict[str, Any] | None = None) -> Asked:
    return Asked(Providers({}).models({"s": {"kind": "scripted", "script": script or SCRIPT}}))


@pytest.mark.parametrize(
    ("place", "more", "text"),
    [
        ("develop/1/write", {}, "first"),
        ("develop/2/write", {}, "second"),
        ("develop/2.3/write", {}, "second"),
        ("develop/9/write", {}, "second"),
        ("outer/2/develop/1/write", {}, "first"),
        ("develop/1:judge", {"purpose": "judge"}, "NO"),
        ("develop/2:judge", {"purpose": "judge"}, "YES"),
        ("polish/2:judge", {"purpose": "judge"}, "whatever"),
        ("other/thing", {}, "by place"),
        ("here", {"prompt": "the weather?"}, "sunny"),
        ("", {}, "whatever"),
    ],
)
async def test_the_place_decides(place: str, more: dict[str, Any], text: str) -> None:
    for ask in (scripted(), scripted()):  # a second engine hears the same
        assert (await ask("s", place=place, **more)).text == text


async def test_it_streams_at_its_pace_and_counts() -> None:
    ask = scripted({"answers": [{"say": "one two three"}], "pace": 100, "price": {"input": 0, "output": 1_000_000}})
    began = time.perf_counter()
    reply = await ask("s", prompt="x" * 40)
    assert ask.heard == ["one ", "two ", "three"]
    assert time.perf_counter() - began >= 0.02
    assert (reply.input_tokens, reply.output_tokens, reply.usd) == (10, 4, 4.0)


async def test_it_fails_on_cue_and_then_answers(soon: None) -> None:
    ask = scripted({"answers": [{"say": {"fail": "rate_limited", "retryAfter": 0.01, "times": 2, "then": "fine"}}]})
    assert (await ask("s", place="a")).text == "fine"
    assert len(ask.waits) == 2
    with pytest.raises(ModelFailure) as caught:
        await scripted({"answers": [{"say": {"fail": "auth"}}]})("s")
    assert caught.value.code == "auth"


async def test_UP_47_an_empty_line_is_an_empty_answer() -> None:
    with pytest.raises(ModelFailure) as caught:
        await scripted({"answers": [{"say": ""}]})("s")
    assert caught.value.code == "empty"


async def test_a_time_limit_counts_here_too() -> None:
    with pytest.raises(ModelFailure) as caught:
        await scripted({"answers": [{"say": {"text": "late", "delay": 60}}]})("s", timeout=0.05)
    assert caught.value.code == "timeout"


async def test_a_question_without_an_answer_says_where_to_write_one() -> None:
    with pytest.raises(ModelFailure) as caught:
        await scripted({"answers": [{"when": {"step": "x"}, "say": "y"}]})("s", place="develop/1/write")
    assert "develop/1/write" in caught.value.message
    assert "without `when`" in caught.value.hint


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ({}, "list `answers`"),
        ({"answers": {}}, "list `answers`"),
        ({"answers": [{}]}, "answer 1: missing `say`"),
        ({"answers": [{"say": "x", "when": {"stage": "y"}}]}, "unknown condition `stage`"),
        ({"answers": [{"say": []}]}, "`say` is empty"),
        ({"answers": [{"say": "x", "fail": "server"}]}, "answer 1: `fail` belongs inside `say`: write `say: {fail"),
        ({"answers": [{"say": "x", "delay": 2}]}, "`delay` belongs inside `say`"),
        ({"answers": [{"say": "x", "step": "write"}]}, "`step` belongs inside `when`: write `when: {step: ...}`"),
        ({"answers": [{"say": "x", "wen": {"step": "write"}}]}, "unknown key `wen` in an answer; did you mean `when`?"),
        ({"answers": [{"say": {"fial": "server"}}]}, "unknown key `fial` in `say`; did you mean `fail`?"),
        (
            {"answers": [{"say": {"fail": "server", "text": "x"}}]},
            "use `then`, not `text`, for the answer after `fail`",
        ),
        ({"answers": [{"say": {"fail": "server", "times": "2"}}]}, "`times` must be an integer"),
        ({"answers": [], "prise": {"input": 3}}, "unknown key `prise` in a script; did you mean `price`?"),
        ({"answers": [], "price": {"input": "dear"}}, "`price` must be dollars per million tokens"),
        ({"answers": [], "price": {"in": 3}}, "`price` must be dollars per million tokens"),
        ({"answers": [{"say": {"fail": "boom"}}]}, "unknown failure `boom`"),
        ({"answers": [], "pace": "fast"}, "`pace` must be a number"),
    ],
)
def test_a_wrong_script_is_one_sentence(script: Any, said: str) -> None:
    with pytest.raises(ScriptFault, match=said):
        read_script(script)


def test_the_words_of_a_judge_stay_words() -> None:
    values = values_of("answers:\n  - say: [NO, YES]\n  - say: true\n", "x.answers.yaml")
    script = read_script(values)
    assert [line.text for line in script.cues[0].lines] == ["NO", "YES"]


def test_a_broken_file_names_its_line() -> None:
    with pytest.raises(ScriptFault, match=r"x\.answers\.yaml, line 2"):
        values_of("answers:\n  - say: [a\n", "x.answers.yaml")


def test_a_file_that_is_no_text_is_told_in_words(tmp_path: Path) -> None:
    (tmp_path / "x.answers.yaml").write_bytes(b"\xff\xfe")
    with pytest.raises(ScriptFault, match=r"^x\.answers\.yaml is not UTF-8; save it as UTF-8$"):
        Scripts(tmp_path, "x.yaml").beside()


def plan(root: Path, mock: bool, provider: dict[str, Any] | None = None) -> Plan:
    settings = {"providers": {"scripted": provider}} if provider else {}
    texts = {path.relative_to(root).as_posix(): path.read_text("utf-8") for path in root.rglob("*.answers.yaml")}
    return Plan("r", "workflow", str(root), "w", "flows/w.yaml", settings=settings, mock=mock, texts=texts)


async def test_the_file_next_to_the_workflow_speaks(tmp_path: Path) -> None:
    assert answers_path("flows/w.yaml") == "flows/w.answers.yaml"
    (tmp_path / "flows").mkdir()
    (tmp_path / "flows" / "w.answers.yaml").write_text("answers:\n  - say: from the file\n", "utf-8")
    house = Providers({})
    assert (await Asked(house.for_plan(plan(tmp_path, mock=False)))("scripted")).text == "from the file"
    assert (await Asked(house.for_plan(plan(tmp_path, mock=True)))("openai")).text == "from the file"
    own: dict[str, Any] = {"script": [{"say": "from the settings"}]}
    assert (
        await Asked(house.for_plan(plan(tmp_path, mock=False, provider=own)))("scripted")
    ).text == "from the settings"
    named: dict[str, Any] = {"script": "flows/w.answers.yaml"}
    assert (await Asked(house.for_plan(plan(tmp_path, mock=False, provider=named)))("scripted")).text == "from the file"


async def test_a_run_hears_what_was_recorded_when_it_began(tmp_path: Path) -> None:
    """And other formats, which record no scripts, read them when they ask."""
    (tmp_path / "flows").mkdir()
    file = tmp_path / "flows" / "w.answers.yaml"
    file.write_text("answers: [{say: before}]", "utf-8")
    began = plan(tmp_path, mock=True)
    file.write_text("answers: [{say: after}]", "utf-8")
    house = Providers({})
    assert (await Asked(house.for_plan(began))("openai")).text == "before"
    assert (await Asked(house.for_plan(replace(began, texts={})))("openai")).text.startswith("mock answer")
    assert (await Asked(house.for_plan(replace(began, format="assistant", texts={})))("openai")).text == "after"


@pytest.mark.parametrize("name", ["../outside.answers.yaml", "/etc/hostname", "nowhere.answers.yaml"])
def test_a_script_file_lies_in_the_workspace(tmp_path: Path, name: str) -> None:
    problem = Providers({}).for_plan(plan(tmp_path, mock=False, provider={"script": name})).problem("scripted")
    assert problem is not None
    assert name in problem.message


async def test_without_any_script_a_scripted_provider_has_a_problem(tmp_path: Path) -> None:
    door = Providers({}).for_plan(plan(tmp_path, mock=False))
    problem = door.problem("scripted")
    assert problem is not None
    assert "answers.yaml" in problem.hint


async def test_a_mock_run_needs_no_key_and_no_file(tmp_path: Path) -> None:
    door = Providers({}).for_plan(plan(tmp_path, mock=True))
    assert door.problem("openai") is None
    ask = Asked(door)
    first = await ask("openai", place="develop/1/write", prompt="Write a poem")
    assert "write" in first.text and "Write a poem" in first.text
    verdicts = [(await ask("anthropic", place=f"develop/{n}:judge", purpose="judge")).text for n in (1, 2, 3)]
    assert verdicts == ["NO", "YES", "YES"]
    assert first.usd == 0.0


async def test_a_script_may_ask_for_tools_round_by_round() -> None:
    rounds = [[{"tool": "add", "arguments": {"a": 1}}, {"tool": "echo"}], [{"tool": "echo"}]]
    ask = Asked(
        Providers({}).models({"s": {"kind": "scripted", "script": [{"say": {"calls": rounds, "then": "done"}}]}})
    )
    tools = tuple(ToolSpec(name, "", {"type": "object"}) for name in ("add", "echo"))
    first = await ask("s", tools=tools)
    assert [(call.name, call.arguments) for call in first.calls] == [("add", {"a": 1}), ("echo", {})]
    turn = Turn("", first.calls, tuple(ToolAnswer(call.id, "x") for call in first.calls))
    assert [call.name for call in (await ask("s", turns=(turn,), tools=tools)).calls] == ["echo"]
    last = await ask("s", turns=(turn, turn), tools=tools)
    assert (last.text, last.calls, last.finish) == ("done", (), "stop")


@pytest.mark.parametrize("calls", [[{}], "add", [{"tool": "add", "arguments": [1]}]])
def test_a_call_that_names_no_tool_is_a_fault_of_the_script(calls: Any) -> None:
    with pytest.raises(ScriptFault):
        read_script([{"say": {"calls": calls}}])
