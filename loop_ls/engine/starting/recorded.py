"""What every preparer writes down or says in the same words: the settings of a run, the errors of a file.

Keys of providers live in the environment, so there is nothing secret in settings; an address with a password in
it is refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from loop_ls.engine.core.addresses import address_fault, whole_address
from loop_ls.engine.core.errors import Refused
from loop_ls.engine.core.preparer import Problem
from loop_ls.index.disk.discovery import load
from loop_ls.text.json_value import Json, JsonObject, as_object

#: Sections of the settings that every run depends on.
COMMON = ("judge", "assist", "limits", "notify", "protect", "isolate")
SECTIONS = (*COMMON, "assistants")


def recorded(settings: Mapping[str, Json], sections: Iterable[str] = SECTIONS) -> JsonObject:
    """Raises `Refused` where an address holds what may not be recorded."""
    found = {name: settings[name] for name in sections if name in settings}
    if providers := as_object(settings.get("providers")):
        for name, provider in providers.items():
            _require_address(name, as_object(provider).get("baseUrl"))
        found["providers"] = {name: dict(as_object(each)) for name, each in providers.items()}
    return found


def _require_address(name: str, address: object) -> None:
    if isinstance(address, str) and (fault := address_fault(whole_address(address))):
        told = f"`providers.{name}.baseUrl` {fault}."
        hint = "Use the form `https://host/path`; put the key in the environment variable set in `apiKeyEnv`."
        raise Refused("bad_argument", told, hint, {"provider": name})


def unread(root: str, path: str) -> Refused:
    """A file that was named has no text: it is not there, or what is there cannot be read."""
    document = load(f"{root}/{path}")
    if document is None or document.fault is None:
        return Refused("not_found", f"File not found: {path} in {root}.")
    told = f"{path} cannot be read: {document.fault.message}"
    return Refused("file_has_errors", told, "Fix the file, then run it again.", {"path": path})


def why_unread(root: str, path: str) -> str:
    """Why nobody can read what is there, as a sentence."""
    fault = document.fault if (document := load(f"{root}/{path}")) is not None else None
    return fault.message if fault is not None else "It is not a file."


def has_errors(path: str, problems: Sequence[Problem]) -> Refused:
    """The first error is told, all are listed."""
    first, count = problems[0], len(problems)
    told = f"{path} has {count} error{'s' if count > 1 else ''}: line {first.line}, {first.code}: {first.message}"
    findings = [{"code": each.code, "message": each.message, "line": each.line} for each in problems]
    return Refused("file_has_errors", told, "Fix the file, then run it again.", {"path": path, "findings": findings})
