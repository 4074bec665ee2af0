"""MCP servers as the settings name them: a program to start, or an address to talk to.

`${NAME}` is put in from the environment in `env`, `headers` and `url` alone, when the server is
started; the settings and the record keep the name.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from loop_ls.engine.capabilities.values import Program, place_of
from loop_ls.engine.core.env_substitution import filled, names_in
from loop_ls.engine.core.ports import Failure
from loop_ls.formats.common.did_you_mean import nearest
from loop_ls.text.json_value import Json, float_field

Kind = Literal["stdio", "http", "sse"]

#: How long a server may take until it has said what it can do.
START_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Server:
    """One server, as written. `timeout` bounds its start; a call has a limit of its own."""

    name: str
    kind: Kind
    argv: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    cwd: str = ""
    url: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    timeout: float = START_SECONDS

    @property
    def variables(self) -> tuple[str, ...]:
        """Variables of the environment that the server gets to see."""
        texts = (*self.env.values(), *self.headers.values(), self.url)
        return tuple(dict.fromkeys(name for text in texts for name in names_in(text)))

    def filled(self, values: Mapping[str, str], environ: Mapping[str, str]) -> dict[str, str]:
        """`env` or `headers` with the environment put in. Raises `Failure` for a variable that is not set."""
        return {name: self.fill(text, environ) for name, text in values.items()}

    def fill(self, text: str, environ: Mapping[str, str]) -> str:
        found, unset = filled(text, environ.get)
        if unset:
            raise Failure(
                "server_unavailable",
                f"MCP server `{self.name}` needs the environment variable {unset[0]}, which is not set",
                f"set {unset[0]} in the environment of the engine, then restart the engine (`loop-ls engine stop`)",
            )
        return found


def server_program(server: Server, root: str) -> Program:
    """What is started for a server, with the environment that is written for it: it decides what runs as much
    as the words do."""
    env = ("env", *(f"{name}={value}" for name, value in server.env.items())) if server.env else ()
    folder = str(Path(root) / server.cwd)
    return Program((*env, *server.argv), folder, place=place_of(folder, root))


def read_servers(settings: Mapping[str, Json], names: Iterable[str]) -> list[Server]:
    """The servers of these names under the settings section `servers`. Raises `Failure`."""
    return [read_server(settings, name) for name in dict.fromkeys(names)]


def read_server(settings: Mapping[str, Json], name: str) -> Server:
    """One server by name. Raises `Failure` for a name that nothing defines and for half an entry."""
    entry = settings.get(name)
    if not isinstance(entry, Mapping):
        raise _unknown(name, settings)
    argv, url = _argv(entry), str(entry.get("url") or "")
    kind = entry.get("type") or ("stdio" if argv else "http")
    if kind not in ("stdio", "http", "sse"):
        raise Failure(
            "bad_argument",
            f"MCP server `{name}` has the unknown type `{kind}`; expected `stdio`, `http` or `sse`",
            _WHERE,
        )
    if not (argv if kind == "stdio" else url):
        wanted = "command" if kind == "stdio" else "url"
        raise Failure("bad_argument", f"MCP server `{name}` has no `{wanted}`", _WHERE)
    return Server(
        name=name,
        kind=kind,
        argv=argv,
        env=_texts(entry.get("env")),
        cwd=str(entry.get("cwd") or ""),
        url=url,
        headers=_texts(entry.get("headers")),
        timeout=float_field(entry, "timeoutSeconds") or START_SECONDS,
    )


_WHERE = "configure servers under `servers` in .loop-ls.yaml: `command` and `args`, or `url`"


def _argv(entry: Mapping[str, Json]) -> tuple[str, ...]:
    """Words: a list as it is, a text with `args` as one word, a text alone cut at its blanks. No shell."""
    command, args = entry.get("command"), entry.get("args")
    words = [str(word) for word in args] if isinstance(args, list) else []
    if isinstance(command, list):
        return (*(str(word) for word in command), *words)
    if not isinstance(command, str) or not command.strip():
        return ()
    return (command, *words) if isinstance(args, list) else tuple(shlex.split(command))


def _texts(values: object) -> dict[str, str]:
    return {str(name): str(value) for name, value in values.items()} if isinstance(values, Mapping) else {}


def _unknown(name: str, settings: Mapping[str, Json]) -> Failure:
    near = nearest(name, settings)
    guess = f"; did you mean `{near}`?" if near else ""
    known = f"expected {', '.join(f'`{each}`' for each in sorted(settings))}; " if settings else ""
    return Failure("bad_argument", f"Unknown MCP server `{name}`{guess}", f"{known}{_WHERE}")
