"""`loop-ls fix`: applies safe fixes, and shows or writes the outcome."""

from __future__ import annotations

import argparse
import difflib
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from loop_ls.cli.commands.check import CLEAN, FOUND, REFUSED, add_selection, refuse, say, write
from loop_ls.cli.files.check_run import BadUsage, Chosen, choose, open_files
from loop_ls.contract.amounts import count
from loop_ls.index.document import Document
from loop_ls.report.baseline import write_whole
from loop_ls.report.paint import Paint, wants_colour
from loop_ls.report.terminal_text import shown
from loop_ls.rules.engine.checker import Checker
from loop_ls.rules.engine.finding import Finding, Severity
from loop_ls.rules.fixes.apply import Fixed, fix_document

HELP = "apply safe fixes"


def configure(parser: argparse.ArgumentParser) -> None:
    add_selection(parser)
    parser.add_argument("--diff", action="store_true", help="Show the changes without writing them")
    parser.add_argument("--unsafe", action="store_true", help="Also apply fixes that need review")


def run(args: argparse.Namespace) -> int:
    """With `--diff` the status is 1 when something would change, as CI wants it."""
    try:
        chosen = choose(args.paths, args.root, args.enable, args.disable)
    except BadUsage as error:
        return refuse(str(error))
    paint = Paint(wants_colour(sys.stdout))
    number = files = 0
    status = CLEAN
    left: list[Finding] = []
    for before, fixed in fix_all(chosen, args.unsafe):
        name = chosen.shown(before.path)
        left += fixed.left
        if str(fixed.document.text) == str(before.text):
            continue
        if args.diff:
            write(diff(name, before, fixed.document, paint, fit_to_print=sys.stdout.isatty()))
            status = FOUND
        elif not _written(before, fixed.document, name, chosen.root):
            status = REFUSED
            continue
        else:
            write(f"{shown(name)}: {count(len(fixed.done), 'fix', 'fixes')}\n")
        number += len(fixed.done)
        files += 1
    say_what(number, files, args.diff, left)
    return status


def fix_all(chosen: Chosen, unsafe: bool) -> Iterator[tuple[Document, Fixed]]:
    """Every file, as it was and as it is with its fixes. What cannot be read stays as it is."""
    opened = open_files(chosen, edits=True)
    workspace = opened.workspace
    checker = Checker(chosen.enable, chosen.disable)
    for before in opened.documents:
        if before.fault is not None:
            yield before, Fixed(workspace, before, (), checker.findings(workspace, before))
            continue
        fixed = fix_document(checker, workspace, before, unsafe)
        workspace = fixed.workspace
        yield before, fixed


def _written(before: Document, after: Document, name: str, root: str) -> bool:
    """In one step, and only if nobody else changed the file meanwhile."""
    path = Path(before.path)
    below = root if path.is_relative_to(root) else path.parent
    try:
        if path.read_bytes() != str(before.text).encode("utf-8"):
            say(f"{name} was changed in the meantime; run loop-ls fix again")
            return False
        write_whole(path, str(after.text).encode("utf-8"), below)
    except OSError as error:
        say(f"{name} cannot be written: {error.strerror or error}")
        return False
    return True


def diff(name: str, before: Document, after: Document, paint: Paint, fit_to_print: bool) -> str:
    """A unified diff: for a terminal without what it would obey, for anybody else one that `patch` takes."""
    old, new = (_LINE.findall(str(one.text)) for one in (before, after))
    lines = difflib.unified_diff(old, new, f"a/{name}", f"b/{name}", lineterm="\n")
    if fit_to_print:
        return "".join(f"{_painted(shown(line.rstrip(chr(10) + chr(13))), paint)}\n" for line in lines)
    return "".join(line if line.endswith("\n") else f"{line}\n{_NO_BREAK}\n" for line in lines)


#: What `patch` calls a line, and what stands in a patch behind one without an end.
_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_NO_BREAK = "\\ No newline at end of file"


def _painted(line: str, paint: Paint) -> str:
    if line.startswith(("+++", "---")):
        return paint.bold(line)
    if line.startswith("+"):
        return paint.added(line)
    return paint.removed(line) if line.startswith("-") else line


def say_what(number: int, files: int, only_shown: bool, left: Sequence[Finding]) -> None:
    """What was done, and what only a person can fix."""
    verb = "would be applied" if only_shown else "applied"
    done = f"{count(number, 'fix', 'fixes')} {verb} in {count(files, 'file')}" if number else "nothing to fix"
    serious = [sum(one.severity is level for one in left) for level in (Severity.ERROR, Severity.WARNING)]
    more = " and ".join(count(each, word) for each, word in zip(serious, ("error", "warning"), strict=True) if each)
    verb = "remains" if sum(serious) == 1 else "remain"
    say(f"{done}; {more} {verb}: see loop-ls check" if more else done)
