"""`loop-ls explain`: pages of rules and settings as text and as Markdown."""

from __future__ import annotations

import pytest

from loop_ls.cli.commands.explain import page
from loop_ls.cli.main import main
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
