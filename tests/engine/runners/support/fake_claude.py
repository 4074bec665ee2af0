"""A small program that speaks Claude Code's stream of JSON, for tests: no model, no network.

`python fake_claude.py DIRECTORY [words of claude]`: writes what it was given to `DIRECTORY/calls.jsonl` and
does what `DIRECTORY/script.json` says for this call, in order (the last entry again and again). An entry may
hold: `text`, `result`, `stop_reason`, `partial`, `is_error`, `subtype`, `stderr`, `exit`, `signal`, `plain`,
`hang`, `ticks` (so many signs of life, each after the one before was noted in `DIRECTORY/heard`), `child` (starts
one that ignores SIGTERM), `wait_for` (a file), `cost`, `silent` (no result), `bash` (a command that the model wants),
`limit` (a usage limit, and when it is reset), `window` (the share of the one of five hours that is used, and when it is
reset), `uses`
(tools of servers that the model wants, each with its arguments; the answers go to `DIRECTORY/answers.json`).
It reads the settings of its user and of the project as the real one does, with their hooks.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from cli_contract import (
    claude_may_use,
    claude_settings,
    rate_limit_info,
    refusal,
)  # beside this file, which runs as a program
from mcp_host import used

CHILD = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)"


def main() -> int:
    folder, words = Path(sys.argv[1]), sys.argv[2:]
    message = sys.stdin.read()
    if (fault := refusal("claude-code", words, message) or _session_used(folder, words)) is not None:
        print(fault, file=sys.stderr)
        return 1
    calls = folder / "calls.jsonl"
    number = len(calls.read_text("utf-8").splitlines()) if calls.exists() else 0
    script = json.loads((folder / "script.json").read_text("utf-8"))
    step = script[min(number, len(script) - 1)]
    child = subprocess.Popen([sys.executable, "-c", CHILD]).pid if step.get("child") else None
    _note(calls, words, message, child)
    _use_tools(step, words)
    if "uses" in step:
        answers = [used(words, name, arguments) for name, arguments in step["uses"]]
        (folder / "answers.json").write_text(json.dumps(answers))
    return _act(step, folder / "heard")


def _use_tools(step: dict[str, Any], words: list[str]) -> None:
    home = Path(os.environ.get("CLAUDE_CONFIG_DIR") or Path(os.environ.get("HOME", "/nowhere"), ".claude"))
    settings = list(claude_settings(words, home, Path.cwd()))
    for hook in [hook for one in settings for hook in one.get("hooks", {}).get("SessionStart", [])]:
        for each in hook["hooks"]:
            subprocess.run(each["command"], shell=True, check=False)
    if "bash" in step and claude_may_use("Bash", words, settings):
        subprocess.run(step["bash"], shell=True, check=False)


def _session_used(folder: Path, words: list[str]) -> str | None:
    """A session that was kept cannot begin once more."""
    if "--session-id" not in words or "--no-session-persistence" in words:
        return None
    session = words[words.index("--session-id") + 1]
    used = folder / "sessions.txt"
    known = used.read_text().split() if used.exists() else []
    used.write_text("\n".join([*known, session]))
    return f"Error: Session ID {session} is already in use." if session in known else None


def _note(calls: Path, words: list[str], message: str, child: int | None) -> None:
    paths = {word: Path(words[at + 1]) for at, word in enumerate(words) if word.endswith("-file")}
    files = {word: path.read_text("utf-8") for word, path in paths.items()}
    told = {
        "pid": os.getpid(),
        "child": child,
        "words": words,
        "message": message,
        "cwd": str(Path.cwd()),
        "env": dict(os.environ),
        "files": files,
        "modes": {word: oct(path.stat().st_mode & 0o777) for word, path in paths.items()},
    }
    with calls.open("a", encoding="utf-8") as file:
        file.write(json.dumps(told) + "\n")


def _act(step: dict[str, Any], heard: Path) -> int:
    _say({"type": "system", "subtype": "init"})
    if "plain" in step:
        print(step["plain"], flush=True)
    if "stderr" in step:
        print(step["stderr"], file=sys.stderr, flush=True)
    for number in range(step.get("ticks", 0)):
        while not heard.exists() or heard.stat().st_size <= number:
            time.sleep(0.005)
        _say({"type": "ping"})
    if "text" in step or "partial" in step:
        said = step.get("text", step.get("partial"))
        stop = None if "partial" in step else step.get("stop_reason")
        content = [{"type": "text", "text": said}]
        _say({"type": "assistant", "message": {"model": "fake", "content": content, "stop_reason": stop}})
    if "window" in step:  # so much of it is used, and then it is reset
        used, resets = step["window"]
        _say({"type": "rate_limit_event", "rate_limit_info": rate_limit_info(used, int(resets))})
    if "limit" in step:  # used up until then
        told = {"status": "rejected", "resetsAt": step["limit"]}
        _say({"type": "rate_limit_event", "rate_limit_info": told})
    if "wait_for" in step:
        while not Path(step["wait_for"]).exists():
            time.sleep(0.01)
    if step.get("hang"):
        time.sleep(600)
    if "signal" in step:
        os.kill(os.getpid(), getattr(signal, step["signal"]))
        time.sleep(10)
    if "exit" in step:
        return int(step["exit"])
    if not step.get("silent"):
        _say(_result(step))
    return 0


def _result(step: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "result",
        "subtype": step.get("subtype", "success"),
        "is_error": bool(step.get("is_error") or "limit" in step),
        **({"api_error_status": 429} if "limit" in step else {}),
        "result": step.get("result", step.get("text", "")),
        "total_cost_usd": step.get("cost", 0.01),
        "usage": {} if "limit" in step else {"input_tokens": 10, "output_tokens": 5},
    }


def _say(event: dict[str, Any]) -> None:
    print(json.dumps(event), flush=True)


if __name__ == "__main__":
    sys.exit(main())
