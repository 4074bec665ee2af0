"""`loop-ls doctor`: what loop-ls finds on this machine, and what is missing for what. Starts and changes nothing."""

from __future__ import annotations

import argparse
import json
import os
import platform
import shlex
import shutil
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from loop_ls import __version__
from loop_ls.cli.commands.check import CLEAN, write
from loop_ls.cli.engine.connect import add_place, data_folder_of, root_of
from loop_ls.extras import EXTRAS, install_command, is_installed
from loop_ls.report.terminal_text import shown
from loop_ls.text.json_value import JsonObject

HELP = "show what loop-ls finds on this machine"


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="Print one JSON object")
    add_place(parser)


def run(args: argparse.Namespace) -> int:
    found = findings(args.root, args.data_dir, os.environ)
    write(json.dumps(found, indent=2) + "\n" if args.json else "".join(f"{line}\n" for line in _lines(found)))
    return CLEAN


def findings(root: str | None, data_dir: str | None, environ: Mapping[str, str]) -> dict[str, Any]:
    """`{version, python, system, root, dataFolder, sandbox, extras, agents, notFenced, keys}`; of keys the names
    alone."""
    from loop_ls.engine.providers.known import KNOWN
    from loop_ls.engine.runners.resolve import KNOWN_AGENTS

    place = root_of(root)
    keys = sorted({known.key_env for known in KNOWN.values() if known.key_env})
    return {
        "version": __version__,
        "python": f"{platform.python_version()} ({sys.executable})",
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "root": str(place),
        "dataFolder": _data_folder(data_dir, place),
        "sandbox": _sandbox(),
        "extras": {extra: is_installed(package) for package, (extra, _) in EXTRAS.items()},
        "agents": {name: shutil.which(program) for name, program in KNOWN_AGENTS.items()},
        "notFenced": _not_fenced(str(place)),
        "keys": [name for name in keys if environ.get(name)],
    }


def _data_folder(given: str | None, place: Path) -> str:
    from loop_ls.client.engine_location import EngineUnavailable

    try:
        return str(data_folder_of(given, place))
    except EngineUnavailable as error:
        return f"none: {error.message}"


def _not_fenced(place: str) -> dict[str, str]:
    """The agents among the project's providers whose tools nobody here can take away, by what starts them."""
    from loop_ls.engine.core.ports import Failure
    from loop_ls.engine.runners.resolve import is_agent, is_fenced, program_of
    from loop_ls.index.disk.discovery import load_settings

    providers, found = load_settings(place)[0].raw.get("providers") or {}, {}
    for name in providers:
        with suppress(Failure):
            if is_agent(name, providers) and not is_fenced(name, providers, place):
                found[name] = shlex.join(program_of(name, providers))
    return found


def _sandbox() -> JsonObject:
    """`{name}` of the one in force, or `{name: None, reason}`."""
    from loop_ls.engine.subprocesses.sandbox import NoSandbox, find_sandbox

    found = find_sandbox()
    return {"name": None, "reason": found.reason} if isinstance(found, NoSandbox) else {"name": found.name}


def _lines(found: Mapping[str, Any]) -> Iterator[str]:
    yield f"loop-ls {found['version']}, Python {found['python']}"
    yield f"system      {found['system']}"
    yield f"workspace   {found['root']}"
    yield f"data        {found['dataFolder']}"
    sandbox = found["sandbox"]
    if sandbox["name"]:
        yield f"sandbox     {sandbox['name']}: commands of `readonly-shell` roles can only read the workspace"
    else:
        yield "sandbox     none: `readonly-shell` roles have no shell; they read with their file tools"
        yield f"            {sandbox['reason']}"
    for name, path in found["agents"].items():
        yield f"agent       {name}: {path or 'not installed'}"
    for name, command in found["notFenced"].items():
        yield shown(f"agent       {name}: not sandboxed: `{command}` uses all of its own tools")
    yield f"keys        {', '.join(found['keys']) or 'none in the environment'}"
    for package, (extra, use) in EXTRAS.items():
        told = "installed" if found["extras"][extra] else f"not installed; {install_command(package)}"
        yield f"extra       {extra} ({use}): {told}"
