"""`loop-ls explain`: pages of rules and settings, keys, values and loop variables, as text and as Markdown."""

from __future__ import annotations

import pytest

from loop_ls.cli.commands.explain import page
from loop_ls.cli.main import main
from loop_ls.features.docs.by_name import explained, known_names
from loop_ls.report.paint import Paint
from loop_ls.rules.docs.render import all_pages
from loop_ls.rules.engine.registry import Rule, all_rules

RULES = all_rules()


def words(text: str) -> list[str]:
    return text.replace("`", "").split()


def unsaid(rule: Rule) -> list[str]:
    """What stands on the page of a rule and is not printed."""
    printed = "\n".join(page(rule, Paint(False)))
    told = [] if " ".join(words(rule.page.text)) in " ".join(words(printed)) else [rule.page.text]
    lines = [line.removeprefix("#- ").strip() for line in f"{rule.page.bad}\n{rule.page.good}".splitlines()]
    return told + [line for line in lines if line not in printed]


def test_what_is_printed_says_what_the_page_says() -> None:
    assert len(RULES) > 150
    assert {code: missing for code, rule in RULES.items() if (missing := unsaid(rule))} == {}


def test_every_rule_is_listed_once(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "--list"]) == 0
    assert [line.split()[0] for line in capfd.readouterr().out.splitlines()] == list(RULES)


def test_markdown_is_the_file_in_the_package(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "wf702", "--markdown"]) == 0
    assert capfd.readouterr().out == all_pages()["WF702.md"]
    assert main(["explain", "--list", "--markdown"]) == 0
    assert capfd.readouterr().out == all_pages()["rules.md"]


def test_settings_are_explained_too(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "settings"]) == 0
    assert capfd.readouterr().out == all_pages()["settings.md"]
    assert main(["explain", "judge"]) == 0
    assert "`judge.local`" in capfd.readouterr().out
    assert main(["explain", "jugde"]) == 2


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("until", ["until — key of a loop, a loop inside a step", "in plain language"]),
        ("max_iterations", ["key of a loop", "key of execution", "Maximum rounds of tool calls per step"]),
        ("maxIterations", ["key of an assistant", "from 1 to 100"]),
        ("loop.last.output", ["{{loop.last.output}}", "mode: refine", "In the first iteration: empty."]),
        ("{{loop.item}}", ["Alias of {{loop.current}}", "{{loop.current}} — variable"]),
        ("evaluation_bound", ["value of type in termination_condition", "max_review_rounds"]),
        ("test_pass", ["exit status 0 ends the loop"]),
        ("manual", ["termination_condition", "loopCriteria"]),
        ("judge.local", ["without a model"]),
        ("inputs", ["is not a key of a workflow", "put constants in env"]),
    ],
)
def test_UP_88_keys_values_and_loop_variables_are_explained(
    name: str, said: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(["explain", name]) == 0
    printed = " ".join(capfd.readouterr().out.split()).replace("`", "")
    assert [one for one in said if one not in printed] == []


def test_UP_88_every_key_value_and_variable_has_a_text() -> None:
    names = known_names()
    assert {"until", "judge", "loop.output", "goal_bound", "contains"} - names == {"judge"}
    assert [name for name in names if not explained(name)] == []


def test_UP_88_a_misspelt_name_gets_the_nearest_one(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "max_iteratons"]) == 2
    assert "`max_iteratons` is not a rule, a key or a loop variable; did you mean max_iterations?" in (
        capfd.readouterr().err
    )
