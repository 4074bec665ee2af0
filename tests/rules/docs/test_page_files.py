"""The pages that lie in the package: current, complete, and one for every rule."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from loop_ls.formats.settings.keys import SETTINGS
from loop_ls.formats.settings.page import settings_named, settings_page
from loop_ls.rules.docs.render import (
    PAGES,
    all_pages,
    example_files,
    index_markdown,
    page_markdown,
    page_path,
    write_pages,
)
from loop_ls.rules.engine.registry import Rule, all_rules

RULES = all_rules()


def test_the_number_of_rules_of_each_format() -> None:
    assert Counter(code[:2] for code in RULES) == {"WF": 133, "RL": 23, "AL": 29, "LS": 11, "RO": 5, "CK": 21}


def test_the_files_are_current_and_there_are_no_others() -> None:
    written = {path.name: path.read_text("utf-8") for path in PAGES.iterdir()}
    assert written == all_pages(), "run `python -m loop_ls.rules.docs.render`"


def _missing(rule: Rule) -> list[str]:
    """What a page has to hold and does not."""
    page = page_path(rule.code).read_text("utf-8")
    wanted = [f"# {rule.code} {rule.name}\n", rule.page.title, rule.page.text]
    for example in (rule.page.bad, rule.page.good):
        for name, text in example_files(example):
            wanted += [f"\n{text}\n```", f"`{name}`" if name else "", *([] if text.strip() else ["an example"])]
    return [one for one in wanted if one not in page] + (["`#- ` taken out"] if "#- " in page else [])


def test_a_page_holds_title_text_and_both_examples() -> None:
    assert len(RULES) > 150
    assert {code: missing for code, rule in RULES.items() if (missing := _missing(rule))} == {}


def test_files_of_an_example_are_taken_apart() -> None:
    assert list(example_files("a: 1\n#- b/c.yaml\nd: 2\n\n")) == [("", "a: 1"), ("b/c.yaml", "d: 2")]
    assert list(example_files("#- x.json\n{}")) == [("x.json", "{}")]
    assert list(example_files("#- empty.yaml\n#- x.yaml\na: 1")) == [("empty.yaml", ""), ("x.yaml", "a: 1")]


def test_writing_removes_the_pages_of_rules_that_are_gone(tmp_path: Path) -> None:
    (tmp_path / "WF999.md").write_text("old")
    (tmp_path / "notes.txt").write_text("mine")
    write_pages(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {*all_pages(), "notes.txt"}


def test_the_index_leads_to_every_page() -> None:
    assert all(f"[{code}]({code}.md)" in index_markdown() for code in RULES)
    assert "off by default" in page_markdown(RULES["WF120"])


def test_every_setting_has_its_line_on_the_page() -> None:
    page = settings_page()
    assert all(f"## `{name}`\n" in page for name in SETTINGS.keys)
    assert "- `enhance.workflows.<name>.enabled`: " in page
    assert "- `providers.<name>.apiKeyEnv`: " in page
    assert settings_named("limits.budgetUsd") == [
        "- `limits.budgetUsd`: Maximum cost of one run in US dollars; the run ends before a call that could "
        "exceed it. (number; at least 0)"
    ]
    assert settings_named("limit") == []
