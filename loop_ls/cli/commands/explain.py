"""`loop-ls explain`: the page of a rule, the list of all rules, what a setting does, or set-ups of editors."""

from __future__ import annotations

import argparse
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

from loop_ls.cli.commands.check import CLEAN, refuse, write
from loop_ls.formats.common.did_you_mean import nearest
from loop_ls.formats.settings.page import settings_named, settings_page
from loop_ls.report.checked import WORDS
from loop_ls.report.paint import Paint, wants_colour
from loop_ls.rules.docs.render import index_markdown, page_markdown
from loop_ls.rules.engine.finding import Tier
from loop_ls.rules.engine.registry import Rule, all_rules

HELP = "explain a rule, with a bad and a good example"
WIDTH = 88
#: How other editors than VS Code are set up; what is tested there is what stands there (a test compares).
EDITORS = Path(__file__).parents[1] / "editors.md"


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("rule", nargs="?", metavar="RULE", help="a code such as WF702, a name, `settings` or `editors`")
    parser.add_argument("--list", action="store_true", help="list all rules")
    parser.add_argument("--markdown", action="store_true", help="print the page as Markdown")


def run(args: argparse.Namespace) -> int:
    rules = all_rules()
    paint = Paint(wants_colour(sys.stdout))
    if args.list:
        write(index_markdown() if args.markdown else "".join(f"{line}\n" for line in listing(paint)))
        return CLEAN
    if args.rule == "editors":
        write(EDITORS.read_text("utf-8"))
        return CLEAN
    if args.rule is None:
        return refuse("name a rule, such as loop-ls explain WF702, or use --list")
    rule = find(args.rule)
    if rule is None and (found := about_settings(args.rule)):
        write(found)
        return CLEAN
    if rule is None:
        names = [*rules, *(one.name for one in rules.values())]
        better = nearest(args.rule, names) or nearest(args.rule.upper(), names)
        hint = f"; did you mean {better}?" if better else "; --list names all of them"
        return refuse(f"there is no rule {args.rule}{hint}")
    write(page_markdown(rule) if args.markdown else "".join(f"{line}\n" for line in page(rule, paint)))
    return CLEAN


def find(word: str) -> Rule | None:
    rules = all_rules()
    return rules.get(word.upper()) or next((one for one in rules.values() if one.name == word.lower()), None)


def about_settings(word: str) -> str:
    """The page of all settings, or the lines about one; empty where there is no such setting."""
    if word in ("settings", ".loop-ls.yaml"):
        return settings_page()
    return "".join(f"{line}\n" for line in settings_named(word))


def listing(paint: Paint) -> Iterator[str]:
    for rule in all_rules().values():
        level = paint.severity(f"{WORDS[rule.severity]:11}", rule.severity)
        marks = ", ".join(filter(None, (rule.profile, "fix" if Tier.SAFE in rule.fixes else "")))
        yield f"{paint.bold(rule.code)}  {level}  {rule.name:28}  {rule.title}{f' ({marks})' if marks else ''}"


def page(rule: Rule, paint: Paint) -> Iterator[str]:
    yield f"{paint.bold(rule.code)} {rule.name} · {paint.severity(WORDS[rule.severity], rule.severity)}{_switch(rule)}"
    yield ""
    yield from textwrap.wrap(rule.page.title, WIDTH)
    for paragraph in filter(None, rule.page.text.split("\n\n")):
        yield ""
        yield from textwrap.wrap(" ".join(paragraph.split()), WIDTH)
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
            return "loop-ls fix repairs most of these."
        case Tier.REVIEW:
            return "A repair is proposed, which its author has to look at (loop-ls fix --unsafe)."
