"""`loop-ls explain`: the page of a rule, what a key, a loop variable or a setting means, or set-ups of editors."""

from __future__ import annotations

import argparse
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

from loop_ls.cli.commands.check import CLEAN, refuse, write
from loop_ls.features.docs.by_name import explained, known_names
from loop_ls.formats.common.did_you_mean import nearest
from loop_ls.formats.settings.page import settings_named, settings_page
from loop_ls.report.checked import WORDS
from loop_ls.report.paint import Paint, wants_colour
from loop_ls.rules.docs.render import index_markdown, page_markdown
from loop_ls.rules.engine.finding import Tier
from loop_ls.rules.engine.registry import Rule, all_rules

HELP = "explain a rule, a key, a loop variable or a setting"
WIDTH = 88
#: How other editors than VS Code are set up; what is tested there is what stands there (a test compares).
EDITORS = Path(__file__).parents[1] / "editors.md"


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "name",
        nargs="?",
        metavar="NAME",
        help="A rule such as WF702, a key such as until, a variable such as loop.output, `settings` or `editors`",
    )
    parser.add_argument("--list", action="store_true", help="List all rules")
    parser.add_argument("--markdown", action="store_true", help="Print the page as Markdown")


def run(args: argparse.Namespace) -> int:
    paint = Paint(wants_colour(sys.stdout))
    if args.list:
        write(index_markdown() if args.markdown else "".join(f"{line}\n" for line in listing(paint)))
        return CLEAN
    if args.name is None:
        return refuse("name a rule, a key or a variable, such as loop-ls explain until, or use --list")
    text = _text(args.name, args.markdown, paint)
    if not text:
        return refuse(_unknown(args.name))
    write(text)
    return CLEAN


def _text(name: str, markdown: bool, paint: Paint) -> str:
    """Everything that has this name; empty where nothing has."""
    if name == "editors":
        return EDITORS.read_text("utf-8")
    if (rule := find(name)) is not None:
        return page_markdown(rule) if markdown else "".join(f"{line}\n" for line in page(rule, paint))
    if name in ("settings", ".loop-ls.yaml"):
        return settings_page()
    meanings = explained(name)
    told = "\n".join(f"{one}\n" if markdown else shown(one, paint) for one in meanings)
    return "\n".join(filter(None, (told, "".join(f"{line}\n" for line in settings_named(name)))))


def _unknown(name: str) -> str:
    rules = all_rules()
    names = [*rules, *(one.name for one in rules.values()), *sorted(known_names())]
    better = nearest(name, names) or nearest(name.upper(), names)
    hint = f"; did you mean {better}?" if better else "; see loop-ls explain --list and loop-ls explain settings"
    return f"`{name}` is not a rule, a key or a loop variable{hint}"


def shown(markdown: str, paint: Paint) -> str:
    """One meaning for a terminal: the head in bold, lines that fit, no marks of Markdown."""
    head, *parts = markdown.split("\n\n")
    lines = [_plain(head).replace(_plain(_name(head)), paint.bold(_plain(_name(head))), 1)]
    for part in parts:
        for line in part.splitlines():
            indent = "    " if line.startswith("- ") else "  "
            lines += textwrap.wrap(
                _plain(line), WIDTH, initial_indent="  ", subsequent_indent=indent, break_on_hyphens=False
            )
    return "".join(f"{line}\n" for line in lines)


def _name(head: str) -> str:
    return head.partition("**")[2].partition("**")[0]


def _plain(text: str) -> str:
    emphasised = len(text) > 1 and text.startswith("*") and text.endswith("*") and not text.startswith("**")
    return (text[1:-1] if emphasised else text.replace("**", "")).replace("`", "")


def find(word: str) -> Rule | None:
    rules = all_rules()
    return rules.get(word.upper()) or next((one for one in rules.values() if one.name == word.lower()), None)


def listing(paint: Paint) -> Iterator[str]:
    for rule in all_rules().values():
        level = paint.severity(f"{WORDS[rule.severity]:11}", rule.severity)
        marks = ", ".join(filter(None, (rule.profile, "fix" if Tier.SAFE in rule.fixes else "")))
        yield f"{paint.bold(rule.code)}  {level}  {rule.name:28}  {rule.title}{f' ({marks})' if marks else ''}"


def page(rule: Rule, paint: Paint) -> Iterator[str]:
    yield f"{paint.bold(rule.code)} {rule.name} · {paint.severity(WORDS[rule.severity], rule.severity)}{_switch(rule)}"
    yield ""
    yield from textwrap.wrap(rule.page.title, WIDTH, break_on_hyphens=False)
    for paragraph in filter(None, rule.page.text.split("\n\n")):
        yield ""
        yield from textwrap.wrap(" ".join(paragraph.split()), WIDTH, break_on_hyphens=False)
    for heading, example in (("Instead of", rule.page.bad), ("write", rule.page.good)):
        yield ""
        yield paint.bold(f"{heading}:")
        yield ""
        yield from (f"    {_file_name(line, paint)}" for line in example.splitlines())
    if rule.fixes:
        yield ""
        yield " ".join(_about_fix(tier) for tier in sorted(rule.fixes, key=lambda tier: tier.value, reverse=True))


def _switch(rule: Rule) -> str:
    return "" if rule.profile is None else f" · off by default, --enable {rule.profile}"


def _file_name(line: str, paint: Paint) -> str:
    return paint.faint(f"# {line.removeprefix('#- ')}") if line.startswith("#- ") else line


def _about_fix(tier: Tier) -> str:
    match tier:
        case Tier.SAFE:
            return "loop-ls fix fixes most of these."
        case Tier.REVIEW:
            return "A fix is available that needs review (loop-ls fix --unsafe)."
