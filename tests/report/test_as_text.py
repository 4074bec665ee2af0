"""What people read on a terminal."""

from __future__ import annotations

import io
import re
from typing import Any

import pytest

from loop_ls.report.as_text import as_text, summary
from loop_ls.report.checked import Checked, CheckedFile
from loop_ls.report.paint import wants_colour
from loop_ls.rules.engine.finding import Finding, Fix, Related, Severity, Tier
from loop_ls.text.position import Span, span


def finding(place: Span, severity: Severity = Severity.ERROR, **more: Any) -> Finding:
    return Finding("WF006", severity, place, more.pop("message", "no such key"), "unknown-key", **more)


def printed(line: str, one: Finding) -> list[str]:
    return as_text(Checked((CheckedFile("a.yaml", [line], (one,)),), 1)).split("\n")


def test_place_sentence_excerpt_mark_and_way_out() -> None:
    one = finding(
        span(11, 4, 11, 17),
        message="Unknown key `max_iteration` in a loop; did you mean `max_iterations`?",
        related=(Related(span(8, 2, 8, 6), "the loop begins here"),),
        fixes=(Fix("Change to `max_iterations`", lambda _: ()), Fix("Limit to 5", lambda _: (), Tier.REVIEW)),
    )
    file = CheckedFile("flows/dev.yaml", [""] * 11 + ["    max_iteration: 5"], (one,))
    assert as_text(Checked((file,), 12, 0.23)) == (
        "flows/dev.yaml:12:5: error: Unknown key `max_iteration` in a loop; did you mean `max_iterations`?"
        " [WF006 unknown-key]\n"
        " 12 |     max_iteration: 5\n"
        "    |     ~~~~~~~~~~~~~\n"
        "    = line 9: the loop begins here\n"
        "    = fix: Change to `max_iterations`\n"
        "    = fix to review: Limit to 5\n"
        "\n"
        "1 error in 12 files (0.2 s), 1 fixable with loop-ls fix\n"
    )


@pytest.mark.parametrize(
    ("line", "place", "mark"),
    [
        ("a: 日本 {{x}}", span(0, 6, 0, 11), "   |         ~~~~~"),
        ("a:\t{{x}}", span(0, 3, 0, 8), "   |       ~~~~~"),
        ("a: e\u0301 {{x}}", span(0, 6, 0, 11), "   |      ~~~~~"),
        ("a: 🦊 {{x}}", span(0, 5, 0, 10), "   |       ~~~~~"),
    ],
)
def test_the_mark_stands_under_its_text_whatever_is_before_it(line: str, place: Span, mark: str) -> None:
    assert printed(line, finding(place))[2] == mark


def test_an_empty_mark_is_still_visible() -> None:
    assert printed("abc", finding(span(0, 1, 0, 1)))[2] == "   |  ~"


def test_a_mark_over_several_lines_ends_with_the_first() -> None:
    file = CheckedFile("a.yaml", ["run: |", "  text"], (finding(span(0, 5, 1, 6)),))
    assert as_text(Checked((file,), 1)).split("\n")[2] == "   |      ~"


def test_a_long_line_is_cut_around_the_mark() -> None:
    lines = printed("x" * 300 + "{{here}}" + "y" * 300, finding(span(0, 300, 0, 308)))
    assert "{{here}}" in lines[1]
    assert len(lines[1]) < 130
    assert lines[1].index("{{here}}") == lines[2].index("~")


def test_control_characters_of_a_file_never_reach_the_terminal() -> None:
    text = "\n".join(printed("a: \x1b[31mred\u202e", finding(span(0, 3, 0, 5), message="key `\x1b]0;x\x07`")))
    assert "\x1b" not in text
    assert "\x07" not in text
    assert "\u202e" not in text


def test_a_finding_without_its_line_is_still_printed() -> None:
    file = CheckedFile("a.yaml", [], (finding(span(0, 0, 0, 0)),))
    assert as_text(Checked((file,), 1)).startswith("a.yaml:1:1: error: no such key [WF006 unknown-key]\n\n")


def test_the_summary_counts_by_severity() -> None:
    found = tuple(finding(span(0, 0, 0, 0), level) for level in (Severity.WARNING, Severity.ERROR, Severity.ERROR))
    info = (finding(span(0, 0, 0, 0), Severity.INFORMATION),) * 2
    assert summary(Checked((CheckedFile("a", [], found + info),), 2)) == (
        "2 errors, 1 warning, 2 information in 2 files (0.0 s)"
    )
    assert summary(Checked((), 1)) == "no findings in 1 file (0.0 s)"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_colours_only_on_a_terminal_and_never_against_no_color(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert wants_colour(Terminal())
    assert not wants_colour(io.StringIO())
    monkeypatch.setenv("NO_COLOR", "1")
    assert not wants_colour(Terminal())


def test_colour_changes_no_letter() -> None:
    file = CheckedFile("a.yaml", ["abc"], (finding(span(0, 1, 0, 2)),))
    checked = Checked((file,), 1)
    assert re.sub(r"\x1b\[[\d;]*m", "", as_text(checked, colour=True)) == as_text(checked)


@pytest.mark.parametrize(
    ("safe", "review", "said"),
    [
        (2, 1, "3 errors in 1 file (0.0 s), 2 fixable with loop-ls fix, 1 with --unsafe"),
        (0, 1, "1 error in 1 file (0.0 s), 1 fixable with loop-ls fix --unsafe"),
        (1, 0, "1 error in 1 file (0.0 s), 1 fixable with loop-ls fix"),
    ],
)
def test_the_summary_names_the_command_of_fixes_that_need_review(safe: int, review: int, said: str) -> None:
    fixes = [Fix("a", lambda _: ())] * safe + [Fix("b", lambda _: (), Tier.REVIEW)] * review
    found = tuple(finding(span(0, 0, 0, 1), fixes=(one,)) for one in fixes)
    assert summary(Checked((CheckedFile("a.yaml", ["x"], found),), 1)) == said
