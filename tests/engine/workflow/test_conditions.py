"""The `if` of a step, and replies that only look like failures."""

from __future__ import annotations

import pytest

from loop_ls.engine.context.if_condition import condition_holds
from loop_ls.engine.context.scope import Scope
from loop_ls.testing.workflows import lab, run


def holds(condition: str, **results: str) -> bool:
    return condition_holds(condition, Scope(results=results)).holds


async def test_WB_060_a_false_condition_skips_the_step() -> None:
    main = """
        steps:
          - {name: a, if: "{{input}}", run: x}
          - {name: b, needs: [a], run: "[{{a}}]"}
    """
    ran = await run(main, input="")
    assert ran.order == ["b"]
    assert ran.prompt("b") == "[]"
    (skipped,) = ran.of("step_skipped")
    assert (skipped["step"], skipped["condition"]) == ("a", "{{input}}")
    assert "a" not in [body["step"] for body in ran.of("step_started")]


@pytest.mark.parametrize(("then", "now", "skipped"), [("1", "", 0), ("", "1", 1)])
async def test_WB_060_a_replay_takes_the_same_way_whatever_the_environment_says_now(
    then: str, now: str, skipped: int
) -> None:
    main = """
        env: {ON: "${SWITCH}"}
        steps: [{name: a, if: "{{env.ON}}", run: x}, {name: b, run: y}]
    """
    before = lab(main, environment={"SWITCH": then})
    await before.run()
    before.environment["SWITCH"] = now
    again = await before.restarted()
    assert again.recorder.worked == []
    assert len(again.of("step_skipped")) == skipped


@pytest.mark.parametrize("reply", ["  padded \n\n", "error: unable to do that", "Error: nothing found"])
async def test_WB_061_a_reply_is_the_result_whatever_it_looks_like(reply: str) -> None:
    ran = await run("steps: [{name: a, run: x}]", {"a": reply})
    assert (ran.output, ran.reason) == (reply, "completed")
    assert ran.completed("a")["output"] == reply
    assert ran.of("step_failed") == []


@pytest.mark.parametrize("value", ["", "0", " False ", "false", "\n", "FALSE"])
def test_WB_062_empty_zero_and_false_are_false(value: str) -> None:
    assert not holds("{{x}}", x=value)


@pytest.mark.parametrize("value", ["no", "00", "true", "0.0", "falsehood", "-"])
def test_WB_062_any_other_text_is_true(value: str) -> None:
    assert holds("{{x}}", x=value)


def test_WB_063_a_comparison_ignores_case_and_blanks_around() -> None:
    assert holds('${{ a == "yes" }}', a=" YES ")
    assert holds('${{ a.result == "yes" }}', a="Yes\n")
    assert not holds('${{ a == "no" }}', a="yes")
    assert holds('${{ a != "no" }}', a="yes")


def test_WB_064_a_placeholder_can_be_compared() -> None:
    assert not holds("{{a}} == 'NO'", a="YES")
    assert holds("{{a}} != 'NO'", a="YES")


async def test_WB_065_an_unknown_name_makes_it_false_with_a_warning() -> None:
    main = """
        steps:
          - {name: a, if: "{{nobody}}", run: x}
          - {name: b, if: "{{nobody}} != 'x'", run: x}
          - {name: c, if: "ask {{nobody}}", run: x}
    """
    ran = await run(main)
    assert ran.order == []
    assert len(ran.warnings) == 3
    assert all("{{nobody}}" in warning for warning in ran.warnings)


def test_WB_066_a_result_cannot_change_what_a_condition_means() -> None:
    assert not holds("{{a}} == 'YES'", a="x' == 'x")
    assert holds("{{a}}", a="1 == 2")
    assert holds("{{a}} != 'NO'", a='"NO" == \'NO\' ${{ a == "NO" }}')


def test_C9_if() -> None:
    assert holds("{{a}}", a="YES")
    assert holds('${{ a == "yes" }}', a="YES")
    assert not holds("{{a}} == 'NO'", a="YES")
    assert not holds("{{b}}", a="YES")
    assert not any(holds(text) for text in ("false", "0", "FALSE", ""))
