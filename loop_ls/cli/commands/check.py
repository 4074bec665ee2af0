"""`loop-ls check`: the findings of a workspace, for people, programs and build servers."""

from __future__ import annotations

import argparse
import gc
import sys
from pathlib import Path

from loop_ls.cli.files.baseline_paths import BaselinePaths
from loop_ls.cli.files.check_run import BadUsage, check, choose
from loop_ls.cli.main import CannotPrint
from loop_ls.index.disk.discovery import MAX_FILES
from loop_ls.report.as_json import as_json
from loop_ls.report.as_text import as_text, summary
from loop_ls.report.baseline import Baseline, NoBaseline, read_baseline, write_baseline
from loop_ls.report.checked import WORDS, Checked
from loop_ls.report.paint import wants_colour

HELP = "check loop files for problems"

CLEAN, FOUND, REFUSED = 0, 1, 2
_CAPPED = "choose a smaller folder, or use --root, to check everything"
FORMATS = ("text", "json", "sarif", "github", "junit")
LEVELS = {word: severity for severity, word in WORDS.items()}


def configure(parser: argparse.ArgumentParser) -> None:
    add_selection(parser)
    parser.add_argument(
        "--format",
        choices=FORMATS,
        default="text",
        help="Output format, for people, programs or build servers",
    )
    parser.add_argument("--level", choices=tuple(LEVELS), default="hint", help="Lowest severity to report")
    parser.add_argument(
        "--fail-on",
        choices=(*LEVELS, "never"),
        default="error",
        help="Lowest severity that gives exit status 1",
    )
    parser.add_argument("--baseline", metavar="FILE", help="Ignore the findings listed in this file")
    parser.add_argument("--write-baseline", action="store_true", help="Write all findings to the baseline instead")


def add_selection(parser: argparse.ArgumentParser) -> None:
    """The options that `check` and `fix` have in common."""
    parser.add_argument("paths", nargs="*", metavar="PATH", help="Files or folders (default: this folder)")
    parser.add_argument("--root", metavar="DIR", help="Workspace folder: where called workflows are looked up")
    parser.add_argument(
        "--enable", action="append", default=[], metavar="WHAT", help="Enable a rule or a profile (compat, pedantic)"
    )
    parser.add_argument(
        "--disable", action="append", default=[], metavar="RULE", help="Disable a rule; takes precedence over --enable"
    )


def run(args: argparse.Namespace) -> int:
    gc.disable()  # a short life, and nothing in it that counting references would not free
    if args.write_baseline and not args.baseline:
        return refuse("--write-baseline needs --baseline FILE")
    try:
        chosen = choose(args.paths, args.root, args.enable, args.disable)
        checked = check(chosen)
        if checked.count == 0 and args.paths:
            for path in args.paths:
                if Path(path).is_file():
                    say(f'{path} is not a loop file; a workflow begins with $schema: "workflow/v2.0"')
        if checked.capped:
            say(f"{chosen.root} has more than {MAX_FILES} YAML and JSON files; the rest was not checked: {_CAPPED}")
        if args.write_baseline:
            covered = BaselinePaths(chosen, checked, args.baseline).covers
            before = read_baseline(args.baseline) if Path(args.baseline).exists() else Baseline({})
            write_baseline(args.baseline, before.besides(covered).with_all(Baseline.of(checked)))
            return CLEAN
        if args.baseline:
            baseline, listed = read_baseline(args.baseline), BaselinePaths(chosen, checked, args.baseline)
            checked, stale = baseline.applied(checked, listed.covers, listed.names)
            for entry in stale:
                say(f"{args.baseline}: {entry.path} no longer has {entry.rule} in `{entry.text}`")
    except (BadUsage, NoBaseline) as error:
        return refuse(str(error))
    shown = checked.at_least(LEVELS[args.level])
    write(written(shown, args.format, args.fail_on, chosen.below_here))
    return status(shown, args.fail_on)


def written(shown: Checked, format_: str, fail_on: str, below: str) -> str:
    """The report. Those that build servers read name files as they are seen from the current folder."""
    match format_:
        case "json":
            return as_json(shown)
        case "sarif":
            from loop_ls.report.as_sarif import as_sarif

            return as_sarif(shown.below(below))
        case "github":
            from loop_ls.report.as_github import as_github

            say(summary(shown))
            return as_github(shown.below(below))
        case "junit":
            from loop_ls.report.as_junit import as_junit

            return as_junit(shown.below(below), LEVELS.get(fail_on))
        case _:
            return as_text(shown, wants_colour(sys.stdout))


def status(shown: Checked, fail_on: str) -> int:
    if fail_on == "never":
        return CLEAN
    return FOUND if any(finding.severity <= LEVELS[fail_on] for _, finding in shown.findings()) else CLEAN


def write(text: str) -> None:
    """UTF-8 whatever the terminal or pipe is set to; line breaks stay as they are."""
    try:
        sys.stdout.flush()
        binary = getattr(sys.stdout, "buffer", None)
        if binary is None:
            sys.stdout.write(text)
        else:
            binary.write(text.encode("utf-8", "replace"))
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise CannotPrint(error.strerror or str(error)) from None


def say(sentence: str) -> None:
    print(f"loop-ls: {sentence}", file=sys.stderr)


def refuse(sentence: str) -> int:
    say(sentence)
    return REFUSED
