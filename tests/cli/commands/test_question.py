"""The question before a start on a terminal: what matters is in sight, or it is said that it is not."""

from __future__ import annotations

from typing import Any

import pytest

from loop_ls.cli.commands import run
from loop_ls.cli.commands.run import RunOptions, agreed


class Terminal(RunOptions):
    """A person sits there."""

    may_ask = True


def asked(things: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> list[str]:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("LINES", "24")
    monkeypatch.setattr(run, "_line", lambda question: "y")
    answer: Any = {"ok": False, "code": "consent_required", "message": "This run does things.", "capabilities": things}
    assert agreed(answer, Terminal())
    return capsys.readouterr().err.splitlines()


def test_a_short_question_is_asked_as_it_is(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert asked(["starts `make x`"], monkeypatch, capsys) == ["This run does things.", "  it starts `make x`"]


@pytest.mark.parametrize(
    "things", [["starts `evil`", *(f"sends data to {n}.test" for n in range(60))], ["starts `evil`", "a" * 5000]]
)
def test_a_question_that_is_longer_than_the_screen_says_so_at_its_end(
    things: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    *told, last = asked(things, monkeypatch, capsys)
    assert told[1] == "  it starts `evil`"
    assert last.startswith(f"These are {len(things)} entries on ")
    assert "scroll up" in last
