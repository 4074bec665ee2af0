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


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_what_is_printed_says_what_the_page_says(rule: Rule) -> None:
    printed = "\n".join(page(rule, Paint(False)))
    assert " ".join(words(rule.page.text)) in " ".join(words(printed))
    for example in (rule.page.bad, rule.page.good):
        assert all(line.removeprefix("#- ").strip() in printed for line in example.splitlines())


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
