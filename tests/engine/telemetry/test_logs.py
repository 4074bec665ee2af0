"""The log: one line or one object for each record, and never a key."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest

from loop_ls.engine.telemetry.logs import Lines, Objects, log_to_stderr
from loop_ls.formats.common.secret import secrets_of

KEY = "correct-horse-battery"


def record(message: str, *args: Any, error: bool = False, **extra: Any) -> logging.LogRecord:
    info = None
    if error:
        try:
            raise RuntimeError(f"refused {KEY}")
        except RuntimeError as caught:
            info = (type(caught), caught, caught.__traceback__)
    made = logging.LogRecord("loop_ls.engine", logging.WARNING, __file__, 1, message, args, info)
    vars(made).update(extra)
    return made


def test_an_object_is_one_line_with_what_was_given() -> None:
    line = Objects().format(record("run %s\nended", "7f3a", run="7f3a", calls=3, error=True))
    assert "\n" not in line
    found = json.loads(line)
    assert found["message"] == "run 7f3a\nended"
    assert (found["level"], found["logger"], found["run"], found["calls"]) == ("warning", "loop_ls.engine", "7f3a", 3)
    assert found["at"].endswith("Z")
    assert "RuntimeError" in found["error"]


@pytest.mark.parametrize("form", [Lines, Objects])
def test_no_key_is_written_whoever_writes_it(form: Any) -> None:
    secrets = secrets_of(
        {"HOUSE_API_KEY": KEY, "MY_TOKEN": "tok-123456789", "PATH": "/usr/bin-and-more", "X_KEY": "abc"}
    )
    assert secrets == (KEY, "tok-123456789")
    made = record(
        f"asked with {KEY} and sk-abcdefghijklmnopqrstuv", error=True, header="Bearer tok-123456789", path="/usr"
    )
    line = form(lambda: secrets).format(made)
    assert KEY not in line
    assert "sk-abcdefghij" not in line
    assert "tok-123456789" not in line


@pytest.fixture
def kept() -> Iterator[None]:
    """The loggers are as they were afterwards."""
    root, named = logging.getLogger(), [logging.getLogger(name) for name in ("", "loop_ls", "mcp.client")]
    before, levels = list(root.handlers), [each.level for each in named]
    yield
    root.handlers[:] = before
    for each, level in zip(named, levels, strict=True):
        each.setLevel(level)


def test_the_form_and_the_level_are_chosen(capsys: Any, kept: None) -> None:
    log_to_stderr("json", "info", lambda: (KEY,))
    logging.getLogger("loop_ls.x").info("said %s", KEY)
    logging.getLogger("loop_ls.x").debug("not said")
    [line] = capsys.readouterr().err.splitlines()
    assert json.loads(line)["message"] == "said [secret]"
    log_to_stderr("loud", "everything")
    logging.getLogger("loop_ls.x").info("not said")
    logging.getLogger("x").warning("said")
    assert capsys.readouterr().err.endswith("WARNING x: said\n")


@pytest.mark.parametrize("level", ["debug", "info", "warning"])
@pytest.mark.parametrize("name", ["mcp.client.streamable_http", "mcp.client.sse", "openai._base_client", "httpx", "x"])
def test_no_library_writes_what_it_sends_into_the_log(capsys: Any, kept: None, level: str, name: str) -> None:
    """Clients of tools and of models say at their lower levels what goes over the wire."""
    log_to_stderr("text", level)
    capsys.readouterr()
    logging.getLogger(name).debug("Sending client message: the prompt")
    logging.getLogger(name).info("Received: the answer")
    if name.startswith("mcp.client"):
        logging.getLogger(name).error("Error parsing JSON response: the answer")
    assert capsys.readouterr().err == ""
    logging.getLogger("loop_ls.x").warning("ours")
    assert "ours" in capsys.readouterr().err


def test_an_error_of_the_log_is_one_of_all(capsys: Any, kept: None) -> None:
    log_to_stderr("text", "error")
    logging.getLogger("x").warning("not said")
    logging.getLogger("loop_ls.x").warning("not said")
    logging.getLogger("x").error("said")
    assert capsys.readouterr().err.endswith("ERROR x: said\n")


def test_the_log_of_an_engine_is_objects_and_holds_no_text_of_a_run(serving: Any, tmp_path: Any) -> None:
    lines = [json.loads(line) for line in (tmp_path / "log").read_text("utf-8").splitlines()]
    runs = [line for line in lines if line["logger"] == "loop_ls.runs"]
    assert [line["message"].split()[2].rstrip(":") for line in runs] == ["started", "completed"]
    assert runs[1]["reason"] == "completed"
    assert runs[0]["run"] == runs[1]["run"]
    assert "Ada" not in json.dumps(lines)
