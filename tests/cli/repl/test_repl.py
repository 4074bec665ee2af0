"""`loop-ls repl` as a child: lines through a pipe, and a person at a pseudo-terminal."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import time

import pytest

from tests.cli.conftest import DEVELOP, SCRIPT, CliProject

LONG = 60
PROMPT = "loop-ls> "


def typed(project: CliProject, *lines: str) -> str:
    """What the prompt said to these lines, and that it left well."""
    done = project.call("repl", stdin="".join(f"{line}\n" for line in lines))
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


@pytest.fixture(scope="module")
def finished(shared: CliProject) -> str:
    done = shared.call("run", "develop.yaml", "--input", "ships", "--json")
    return str(json.loads(done.stdout)["runId"])


def test_a_limit_is_not_shown_as_a_success(shared: CliProject, finished: str) -> None:
    done = shared.call("run", "develop.yaml", "--input", "ships", "--json", "--max-iterations", "1")
    limited = json.loads(done.stdout)["runId"]
    lines = typed(shared, "/loops").splitlines()
    marks = {line.split()[1][:8]: line.split()[0] for line in lines[2:]}
    assert marks[limited[:8]] == "◼"
    assert marks[finished[:8]] == "✓"


@pytest.fixture
def going(shared: CliProject) -> str:
    shared.write("slow.answers.yaml", "delay: 60\nanswers:\n  - say: x\n")
    shared.write("slow.yaml", DEVELOP.replace("develop_it", "slow_it"))
    done = shared.call("run", "slow.yaml", "--input", "x", "--detach", "--json")
    return str(json.loads(done.stdout)["runId"])


def test_the_table_has_a_heading_marks_short_ids_and_iterations(shared: CliProject, finished: str) -> None:
    heading, columns, *rows = typed(shared, "/loops").splitlines()
    assert heading.startswith("Loops: ")
    assert columns.split() == ["ID", "DEFINITION", "ITERATION", "AGE"]
    row = next(row for row in rows if finished[:8] in row)
    assert row.startswith(f"✓  {finished[:8]}...  develop_it")
    assert "3/5" in row


def test_a_status_filters_and_another_word_is_told(shared: CliProject, finished: str) -> None:
    assert finished[:8] in typed(shared, "/loops completed")
    assert finished[:8] not in typed(shared, "/loops failed")
    assert "did you mean `/loops completed`" in typed(shared, "/loops complete")


def test_definitions_are_listed_with_roles_and_end(shared: CliProject) -> None:
    said = typed(shared, "/loops definitions")
    assert said == typed(shared, "/loops defs")
    assert said.splitlines()[0].split() == ["NAME", "DESCRIPTION", "ROLES", "ENDS"]
    assert "A loop with a step behind it." in said
    assert " → " in said, "role loops show their stages"


def test_an_id_as_the_table_shows_it_is_an_id(shared: CliProject, finished: str) -> None:
    said = typed(shared, f"/loops status {finished[:8]}...")
    assert "✓ condition met" in said
    assert "iteration  3/5" in said
    assert "done" in said
    metrics = typed(shared, f"/loops metrics {finished[:8]}")
    assert "iterations  3 (" in metrics
    history = typed(shared, f"/loops history {finished}")
    assert "draft three" in history


def test_a_single_stop_and_every_all_ask_first_and_no_is_the_default(shared: CliProject, going: str) -> None:
    for answer in ("", "n", "what"):
        said = typed(shared, f"/loops stop {going[:8]}", answer, f"/loops status {going}")
        assert f"Stop {going[:8]}? [y/N]" in said
        assert "● running" in said
    assert "◉ paused" in typed(shared, f"/loops pause {going[:8]}", f"/loops status {going[:8]}")
    assert "running" in typed(shared, "/loops resume ALL", "y")
    assert "cancelled" in typed(shared, f"/loops stop {going[:8]}", "y")
    assert "Nothing to stop." in typed(shared, "/loops stop all", "yes")
    assert "Nothing to pause." not in typed(shared, "/loops pause all", "n")


def test_a_start_takes_the_rest_of_the_line_as_its_goal(shared: CliProject) -> None:
    said = typed(shared, '/loops start develop_it --mock "ships  and   boats"', "/loops")
    started = said.split("Started ")[1][:8]
    wait_for_end(shared, started)
    show = json.loads(shared.call("runs", "events", started, "--json").stdout.splitlines()[0])
    assert show["input"] == "ships  and   boats"
    assert show["detach"] is True


def wait_for_end(project: CliProject, run_id: str) -> None:
    project.call("runs", "events", run_id, "--follow")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("/loops status", "Usage: /loops status ID"),
        ("/loops stop", "Usage: /loops stop ID|all"),
        ("/loops start", "Usage: /loops start NAME"),
        ("/loops start x --param y z", "Usage: /loops start NAME"),
        ("/loops start x --param", "Usage: /loops start NAME"),
        ("/loops fork abc x", "Usage: /loops fork ID ITERATION"),
        ("/loops statsu", "did you mean `/loops status`?"),
        ("/loops status zzzz", "Unknown run `zzzz`."),
        ("hello", "Commands start with /loops; try /help."),
        ("/help", "/loops pause|resume|stop ID|all"),
        ("", ""),
        ("/loops start nowhere_at_all x", "nowhere_at_all"),
        ("/loops status ../../health", "Unknown run"),
        ("\x1b[31m", "Commands start with /loops"),
    ],
)
def test_lines_that_cannot_be_followed_say_how_and_the_prompt_goes_on(shared: CliProject, line: str, said: str) -> None:
    out = typed(shared, line, "/loops definitions")
    assert said in out
    assert "NAME" in out, "the next line is followed"
    assert "Traceback" not in out and "\x1b" not in out


def test_quit_and_the_end_of_the_input_leave(shared: CliProject) -> None:
    assert typed(shared, "/quit", "/loops") == ""
    assert typed(shared, "/exit", "/loops") == ""
    assert typed(shared) == ""


# -- a person at a terminal -----------------------------------------------------------------------


class Person:
    """Types into a pseudo-terminal and waits for words."""

    def __init__(self, project: CliProject) -> None:
        import fcntl
        import pty
        import termios

        self.master, slave = pty.openpty()
        env = project.env(TERM="xterm", COLUMNS="120")
        self.child = subprocess.Popen(
            [SCRIPT, "repl"],
            cwd=project.root,
            env=env,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # else Ctrl-C is a letter
        )
        os.close(slave)
        self.seen = ""

    def types(self, text: str) -> None:
        os.write(self.master, text.encode())

    def sees(self, words: str) -> str:
        """Everything up to these words."""
        ended = time.monotonic() + LONG
        while words not in self.seen:
            left = ended - time.monotonic()
            assert left > 0 and select.select([self.master], [], [], left)[0], f"no {words!r} in {self.seen!r}"
            try:
                self.seen += os.read(self.master, 65536).decode("utf-8", "replace")
            except OSError:
                raise AssertionError(f"it ended before {words!r}: {self.seen!r}") from None
        before, self.seen = self.seen.split(words, 1)
        return before

    def interrupts(self) -> None:
        """Presses Ctrl-C until the prompt is back: CPython's readline sees a signal only while it waits for a key,
        so that one that comes in the moment after a key stays unseen until the next. What is still on its way from
        before the key (the blank behind a question) is no answer to it."""
        ended = time.monotonic() + LONG
        while PROMPT not in self.seen:
            assert time.monotonic() < ended, f"Ctrl-C brought no prompt: {self.seen!r}"
            self.types("\x03")
            while PROMPT not in self.seen and select.select([self.master], [], [], 2)[0]:
                self.seen += os.read(self.master, 65536).decode("utf-8", "replace")
        self.seen = self.seen.split(PROMPT, 1)[1]

    def leaves(self) -> int:
        self.types("\x04")
        return self.child.wait(LONG)


@pytest.mark.skipif(sys.platform == "win32", reason="pseudo-terminals are a thing of POSIX")
def test_a_person_completes_words_is_asked_interrupts_and_finds_the_history(shared: CliProject, finished: str) -> None:
    person = Person(shared)
    person.sees("loop-ls> ")
    person.types("/lo\tmetr\t" + finished[:4] + "\t\r")
    person.sees("iterations  3 (")
    person.sees("loop-ls> ")
    person.types("/loops stop all\r")
    person.sees("[y/N]")
    person.interrupts()
    person.types("/loops failed\r")
    person.sees("loop-ls> ")
    assert person.leaves() == 0
    history = shared.data / "repl_history"
    assert "/loops failed" in history.read_text("utf-8")
    assert history.stat().st_mode & 0o777 == 0o600
    again = Person(shared)
    again.sees("loop-ls> ")
    again.types("\x1b[A")
    again.sees("/loops failed")
    again.interrupts()
    assert again.leaves() == 0
