"""The argument of a start: what is read of it, and each sentence with which one is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from loop_ls.engine.core.errors import Refused
from loop_ls.engine.core.start_request import EarlierOutputs, StartRequest, read_request
from loop_ls.index.disk.uris import uri_of

LOOP = {"kind": "loop", "name": "l"}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "flow.yaml").touch()
    return tmp_path.resolve()


def read(home: Path, **argument: Any) -> StartRequest:
    return read_request({"root": str(home), "path": "sub/flow.yaml", **argument})


def refusal(home: Path, **argument: Any) -> str:
    with pytest.raises(Refused) as refused:
        read(home, **argument)
    assert refused.value.code == "bad_argument"
    return refused.value.message


@pytest.mark.parametrize(
    ("argument", "said"),
    [
        ({"path": ""}, "Missing target: set `path`, `uri` or `definition`."),
        ({"path": 5}, "Missing target: set `path`, `uri` or `definition`."),
        ({"path": None, "target": {"kind": "definition"}}, "Missing target"),
        ({"root": "/no/such/folder"}, "`root` is not a folder: /no/such/folder."),
        ({"root": 5}, "`root` is not a folder: 5."),
        ({"path": "../flow.yaml"}, "is outside"),
        ({"path": "a\0b"}, r"Invalid file name"),
        ({"path": "x" * 5_000}, "x..."),
        (
            {"target": "nothing"},
            "`target.kind` must be one of `workflow`, `loop`, `step`, `definition` and `assistant`.",
        ),
        ({"target": 5}, "`target.kind` must be one of"),
        ({"target": "loop"}, "Missing `target.name`: the loop to run."),
        ({"target": {"kind": "step", "name": ""}}, "Missing `target.name`: the step to run."),
        ({"target": {"kind": "loop", "name": 5}}, "Missing `target.name`: the loop to run."),
        ({"target": {"kind": "assistant", "name": 5}}, "`target.name` must be a string: the name of the assistant."),
        ({"definition": 5}, "`target.name` must be a string: the name of the definition."),
        ({"input": 5}, "`input` must be a string."),
        ({"goal": ["x"]}, "`goal` must be a string."),
        ({"texts": "x"}, "`texts` must be an object of strings."),
        ({"parameters": "x"}, "`parameters` must be an object of strings."),
        (
            {"definition": "d", "parameters": {"depth": [1]}},
            "`parameters.depth` must be a string, a number, or true or false.",
        ),
        ({"item": 0, "target": LOOP}, "`item` must be the number of an item, from 1."),
        ({"item": True, "target": LOOP}, "`item` must be the number of an item, from 1."),
        ({"item": "1", "target": LOOP}, "`item` must be the number of an item, from 1."),
        ({"item": 1}, "`item` needs a loop as `target`."),
        ({"maxIterations": "3"}, "`maxIterations` must be an integer from 1."),
        ({"maxIterations": True}, "`maxIterations` must be an integer from 1."),
        ({"max_iterations": 2.0}, "`maxIterations` must be an integer from 1."),
        ({"limits": [1]}, "`limits` must be an object."),
    ],
)
def test_UP_55_an_argument_that_makes_no_sense_is_refused_by_its_name(
    root: Path, argument: dict[str, Any], said: str
) -> None:
    assert said in refusal(root, **argument)


def test_UP_55_a_start_is_one_object_and_says_where(root: Path) -> None:
    for argument in ([], "flow.yaml", None):
        with pytest.raises(Refused, match="must be an object"):
            read_request(argument)
    with pytest.raises(Refused, match="Missing `root`"):
        read_request({"definition": "d"})
    assert read_request({"definition": "d"}, root).root == root
    alone = read_request({"path": str(root / "sub" / "flow.yaml")})
    assert (alone.root, alone.path) == (root / "sub", "flow.yaml")


@pytest.mark.parametrize(
    ("limits", "said"),
    [
        ({"budgetUSD": 1}, "Unknown limit `limits.budgetUSD`; expected `budgetUsd`, `maxTokens`"),
        ({"budgetUsd": "1"}, "`limits.budgetUsd` must be a number above 0."),
        ({"budgetUsd": "5m"}, "`limits.budgetUsd` must be a number above 0."),
        ({"budgetUsd": True}, "`limits.budgetUsd` must be a number above 0."),
        ({"budgetUsd": float("inf")}, "`limits.budgetUsd` must be a number above 0."),
        ({"wallClock": "soon"}, "`limits.wallClock` must be a number above 0."),
        ({"wallClock": "0s"}, "`limits.wallClock` must be a number above 0."),
        ({"maxTokens": 1.5}, "`limits.maxTokens` must be an integer."),
        ({"unchanged": 1.5}, "`limits.unchanged` must be an integer."),
    ],
)
def test_UP_44_a_limit_that_is_none_is_refused_by_its_name(root: Path, limits: dict[str, Any], said: str) -> None:
    assert said in refusal(root, limits=limits)


@pytest.mark.parametrize("limits", [{"budgetUsd": 0}, {"maxTokens": 0}, {"wallClock": 0}, {"unchanged": -1}])
def test_UP_45_a_limit_of_0_is_refused(root: Path, limits: dict[str, Any]) -> None:
    assert "must be a number above 0" in refusal(root, limits=limits)
    assert refusal(root, maxIterations=0) == "`maxIterations` must be an integer from 1."


def test_UP_55_what_makes_sense_is_read(root: Path) -> None:
    limits = {"budgetUsd": 0.5, "maxTokens": 1, "wallClock": "1m", "unchanged": 2}
    assert read(root, limits=limits).limits == limits
    assert read(root, limits=None).limits == read(root).limits == {}
    assert (read(root, maxIterations=1).max_iterations, read(root, max_iterations=2).max_iterations) == (1, 2)
    assert read(root, maxIterations=None, max_iterations=2).max_iterations == 2
    assert [read(root, item=1, target=each).item for each in (LOOP, {"kind": "step", "name": "s"})] == [1, 1]
    found = read(root, parameters={"a": 1, "b": True, "c": False, "d": None, "e": "x"})
    assert found.parameters == {"a": "1", "b": "true", "c": "false", "d": "", "e": "x"}
    assert (read(root, input="").input, read(root).input) == ("", None)


def test_UP_55_switches_are_on_where_they_say_true(root: Path) -> None:
    for name, attribute in (("mock", "mock"), ("agreeOnly", "agree_only"), ("detach", "detach")):
        assert [getattr(read(root, **{name: given}), attribute) for given in (True, "true", 1)] == [True, False, False]
    for name in ("check", "settings", "enhance"):
        assert getattr(read(root, **{name: {"a": 1}}), name) == {"a": 1}
    assert (read(root, check=True).check, read(root, settings=[]).settings, read(root, enhance=1).enhance) == (
        None,
        {},
        {},
    )
    assert (read(root).origin, read(root, origin="mcp").origin, read(root, origin="").origin) == ("cli", "mcp", "cli")
    assert read(root, sessionId="a", session_id="b").session_id == "a"
    assert read(root, session_id="b").session_id == "b"


def test_UP_55_a_target_is_a_word_or_an_object(root: Path) -> None:
    def target(**argument: Any) -> tuple[str, str | None]:
        found = read(root, **argument)
        return found.target_kind, found.target_name

    assert target() == target(target="workflow") == target(target={}) == ("workflow", None)
    assert target(target={"kind": "workflow", "name": "x"}) == ("workflow", None)
    assert target(target=LOOP) == ("loop", "l")
    assert target(target="assistant") == target(target={"kind": "assistant", "name": ""}) == ("assistant", None)
    assert target(definition="d") == ("definition", "d")
    assert target(definition="d", target="workflow") == ("workflow", None)


def test_UP_55_files_are_named_from_the_root(root: Path) -> None:
    flow = root / "sub" / "flow.yaml"
    assert read(root, path=None, uri=uri_of(flow)).path == read(root, path=str(flow)).path == "sub/flow.yaml"
    assert read(root).uri == uri_of(flow)
    named = read(root, path=None, definition="d")
    assert (named.path, named.root) == ("", root)
    texts = {uri_of(flow): "a", "b.yaml": "b", "../c.yaml": "c"}
    assert read(root, texts=texts).texts == {"sub/flow.yaml": "a", "b.yaml": "b"}


def test_a_path_that_is_not_absolute_lies_in_the_engine_s_own_folder(root: Path) -> None:
    found = read_request({"path": "sub/flow.yaml"}, root)
    assert (found.root, found.path) == (root, "sub/flow.yaml")
    with pytest.raises(Refused, match="Missing `root`"):
        read_request({"path": "sub/flow.yaml"})


def test_WB_169_iterations_come_from_the_run_before_where_the_output_does_and_a_typed_one_has_none() -> None:
    before = EarlierOutputs("before", {"polish": "v2", "check": "old"}, iterations={"polish": ["v1", "v2"]})
    run = EarlierOutputs("run")
    pinned = [{"name": "polish", "output": "v2", "iterations": 2}, {"name": "check", "output": "typed"}]
    run.take("run_started", {"plan": {"part": {"pinned": pinned}}})
    found = run.over(before)
    assert found.outputs == {"polish": "v2", "check": "typed"}
    assert found.iterations == {"polish": ["v1", "v2"], "check": []}
