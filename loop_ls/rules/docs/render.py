"""The page of a rule as Markdown: what `pages/` holds, and what reports and editors show.

`pages/<CODE>.md` and the pages about settings and rules as a whole are written from here (`python -m
loop_ls.rules.docs.render`), so that an editor can open the page of a finding as a file; a test keeps
the files current.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from loop_ls.formats.settings.page import settings_page
from loop_ls.rules.engine.finding import Severity, Tier
from loop_ls.rules.engine.registry import Rule, all_rules

PAGES = Path(__file__).parents[1] / "pages"

_LEVELS = {
    Severity.ERROR: "Error",
    Severity.WARNING: "Warning",
    Severity.INFORMATION: "Information",
    Severity.HINT: "Hint",
}
_FIXES = {
    Tier.SAFE: "`loop-ls fix` fixes most of these.",
    Tier.REVIEW: "A fix is available that needs review (`loop-ls fix --unsafe`).",
}
#: Begins a file in an example.
FILE = "#- "


def page_path(code: str) -> Path:
    """The page of a rule as a file."""
    return PAGES / f"{code}.md"


def page_markdown(rule: Rule) -> str:
    return "\n".join(_lines(rule))


def help_text(rule: Rule) -> str:
    """The page without its heading, for readers that print one themselves."""
    return "\n".join([*_body(rule)]).strip() + "\n"


def remarks(rule: Rule) -> str:
    """One line: how serious, whether it has to be switched on."""
    switch = f" · off by default; turn on with `--enable {rule.profile}`" if rule.profile else ""
    return f"{_LEVELS[rule.severity]}{switch}"


def _lines(rule: Rule) -> Iterator[str]:
    yield f"# {rule.code} {rule.name}"
    yield ""
    yield remarks(rule)
    yield ""
    yield from _body(rule)


def _body(rule: Rule) -> Iterator[str]:
    yield rule.page.title
    yield ""
    if rule.page.text:
        yield rule.page.text
        yield ""
    for heading, example in (("Instead of", rule.page.bad), ("Write", rule.page.good)):
        yield f"## {heading}"
        yield ""
        for name, text in example_files(example):
            if name:
                yield f"`{name}`"
                yield ""
            yield from _fenced(text)
            yield ""
    for tier in sorted(rule.fixes, key=lambda one: one.value, reverse=True):
        yield _FIXES[tier]
        yield ""


def example_files(example: str) -> Iterator[tuple[str, str]]:
    """Name and text of every file of an example; one without a name where it has only one."""
    name, lines = "", list[str]()
    for line in example.splitlines():
        if not line.startswith(FILE):
            lines.append(line)
            continue
        if name or any(lines):
            yield name, "\n".join(lines).strip("\n")
        name, lines = line.removeprefix(FILE).strip(), []
    yield name, "\n".join(lines).strip("\n")


def _fenced(text: str) -> Iterator[str]:
    ticks = "```"
    while ticks in text:
        ticks += "`"
    yield f"{ticks}{'json' if text.startswith(('{', '[')) else 'yaml'}"
    yield text
    yield ticks


def index_markdown() -> str:
    """All rules in a table."""
    rows = [
        f"| [{rule.code}]({rule.code}.md) | {rule.name} | {remarks(rule)} | {rule.title.replace('|', chr(92) + '|')} |"
        for rule in all_rules().values()
    ]
    return "\n".join(["# Rules", "", "| code | name | severity | about |", "|---|---|---|---|", *rows, ""])


def all_pages() -> dict[str, str]:
    """Every page by the name of its file."""
    pages = {f"{rule.code}.md": page_markdown(rule) for rule in all_rules().values()}
    return pages | {"rules.md": index_markdown(), "settings.md": settings_page()}


def write_pages(folder: Path = PAGES) -> None:
    """Write every page, and remove those of rules that are gone."""
    folder.mkdir(exist_ok=True)
    wanted = all_pages()
    for old in folder.glob("*.md"):
        if old.name not in wanted:
            old.unlink()
    for name, text in wanted.items():
        (folder / name).write_text(text, "utf-8", newline="\n")


if __name__ == "__main__":
    write_pages()
