"""Programs, connections and writes of a run: every way to one asks what the run may do (`engine.capabilities`)."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ENGINE = Path(__file__).resolve().parents[2] / "loop_ls" / "engine"

#: What opens the world to a run, by the name under which it is imported or called.
DOORS = frozenset(
    {
        *("subprocess", "create_subprocess_exec", "create_subprocess_shell", "os.system", "os.popen", "pty"),
        *("httpx", "httpx2", "urllib.request", "aiohttp", "requests", "http.client", "pydantic_ai", "psycopg"),
        *("open_connection", "create_connection", "mcp.client", "ftplib", "smtplib", "webbrowser"),
    }
)
#: The modules that have one, and by what they ask.
ASKING = {
    "providers/http.py": "require_endpoint",
    "providers/dialects/pydantic_ai.py": "require_endpoint",
    "providers/fetch.py": "require_page",
    "retrieval/by_database.py": "require_server",
    "tools/transports.py": "require_server",
    "subprocesses/supervisor.py": "require_start",
}
#: Modules that have one which is no effect of a run: the engine's own storage, its own server, what it proves of
#: this machine, and the child that a supervised program becomes.
OWN = (
    "durable/",
    "journal/",
    "api/",
    "telemetry/",
    "roles/records/",
    "subprocesses/",
    "providers/registry.py",
)
#: Files that a run writes because somebody (a model, a text, a plan) names them.
WRITING = {
    "context/workspace_files.py": "require_write",
    "roles/tools/files.py": "require_write",
    "enhance/edit_target.py": "require_write",
}


def names_of(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        match node:
            case ast.Import(names=names):
                yield from (alias.name for alias in names)
            case ast.ImportFrom(module=str() as module, names=names):
                yield module
                yield from (f"{module}.{alias.name}" for alias in names)
            case ast.Attribute(value=ast.Name(id=base), attr=attr):
                yield f"{base}.{attr}"
                yield from [attr] if attr != "subprocess" else []  # `asyncio.subprocess.PIPE` is a number


def is_door(name: str) -> bool:
    return any(name == door or name.startswith(f"{door}.") for door in DOORS)


def doors() -> dict[str, set[str]]:
    found = {}
    for path in sorted(ENGINE.rglob("*.py")):
        used = {name for name in names_of(path) if is_door(name)}
        if used:
            found[path.relative_to(ENGINE).as_posix()] = used
    return found


def calls(path: Path, name: str) -> bool:
    tree = ast.parse(path.read_text("utf-8"))
    return any(isinstance(n, ast.Call) and isinstance(n.func, ast.Name) and n.func.id == name for n in ast.walk(tree))


def test_nothing_but_these_modules_starts_programs_or_connects() -> None:
    unknown = {place: names for place, names in doors().items() if place not in ASKING and not place.startswith(OWN)}
    assert unknown == {}


@pytest.mark.parametrize(("place", "question"), [*ASKING.items(), *WRITING.items()])
def test_they_ask_what_the_run_may_do(place: str, question: str) -> None:
    assert calls(ENGINE / place, question)


def test_outside_of_a_run_nothing_is_permitted() -> None:
    from loop_ls.engine.capabilities import guard
    from loop_ls.engine.core.ports import ModelFailure

    assert guard.permitted().all == frozenset()
    with pytest.raises(guard.NotPermitted):
        guard.require_start(["true"])
    with pytest.raises(guard.NotPermitted):
        guard.require_write(Path("/tmp/x"))
    with pytest.raises(guard.NotPermitted):
        guard.require_page("https://example.org")
    with pytest.raises(guard.NotPermitted):
        guard.require_server("things", "https://example.org")
    with pytest.raises(ModelFailure):
        guard.require_endpoint("openai", "", "https://api.openai.com")
    assert not guard.may_read("HOME")
