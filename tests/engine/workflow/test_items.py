"""Where the items of an iterate loop come from (vector C7)."""

from __future__ import annotations

from pathlib import Path

import pytest

from loop_ls.engine.bodies.items import label, parse_items
from loop_ls.engine.core.ports import Failure
from loop_ls.testing.workflows import run

SPREAD = '{\n"a": 1\n}'


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ('["a","b"]', ["a", "b"]),
        ("[]", []),
        ('{"a":1}', [{"a": 1}]),
        ('{"a":1}\n\n{"a":2}\n', [{"a": 1}, {"a": 2}]),
        (SPREAD, ["{", '"a": 1', "}"]),
        ("x", ["x"]),
        ("  one \r\n\n two\n", ["one", "two"]),
        ('["a",', ['["a",']),
        ("[NaN]", ["[NaN]"]),
    ],
)
def test_WB_124_items_from_a_text(text: str, items: list[object]) -> None:
    assert parse_items(text).values == items


@pytest.mark.parametrize(
    ("text", "count"),
    [('["a","b"]', 2), ("[]", 0), ('{"a":1}', 1), ('{"a":1}\n{"a":2}', 2), (SPREAD, 3), ("x", 1)],
)
def test_C7_items(text: str, count: int) -> None:
    assert len(parse_items(text).values) == count


def test_C7_a_spread_object_is_in_doubt_and_blank_text_fails() -> None:
    assert "each line is an item" in parse_items(SPREAD).doubt
    with pytest.raises(Failure, match="empty"):
        parse_items("  \n ")


def test_WB_130_the_label_of_an_item_is_its_id_or_its_number() -> None:
    assert label({"name": "n", "id": "i"}, 3) == "i"
    assert label({"control_id": "AC-1", "name": "n"}, 3) == "AC-1"
    assert label("text", 3) == "ITEM-003"


WORK = "steps: [{name: work, run: '{{item}}'}]"


async def test_WB_127_a_file_is_read_after_interpolation(tmp_path: Path) -> None:
    (tmp_path / "todo.txt").write_text("one\ntwo\n")
    main = """
        env: {NAME: todo}
        loops: [{name: l, mode: iterate, items: "file://{{env.NAME}}.txt", workflow: work, max_iterations: 9}]
    """
    ran = await run({"main": main, "work": WORK}, root=str(tmp_path))
    assert ran.prompts("work") == ["one", "two"]


async def test_WB_127_a_missing_file_fails_the_loop_whatever_on_failure_says(tmp_path: Path) -> None:
    main = """
        loops:
          - {name: l, mode: iterate, items: "file://gone.txt", workflow: work, max_iterations: 9, on_failure: continue}
    """
    ran = await run({"main": main, "work": WORK}, root=str(tmp_path))
    assert ran.reason == "error"
    assert "gone.txt" in ran.of("step_failed")[0]["error"]["message"]
