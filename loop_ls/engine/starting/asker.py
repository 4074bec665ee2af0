"""Who asks for a start: what only the owner may ask, and how a refusal is told to everybody else.

The owner of the data folder agrees to programs and endpoints and works in any folder. People with a token of
their own, and whoever speaks for the owner over the network (a model over MCP, a page, a script), start what
lies in the engine's folder and was agreed to.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from loop_ls.engine.capabilities.consent import for_others
from loop_ls.engine.capabilities.values import literal
from loop_ls.engine.core.errors import Refused
from loop_ls.engine.core.start_request import StartRequest
from loop_ls.engine.journal import JournalRefused
from loop_ls.index.disk.uris import path_of
from loop_ls.text.json_value import Json

#: Surfaces of the owner, where a person sees what a run would do and answers.
OWNERS_SURFACES = frozenset({"cli", "editor"})


def as_asked_by(request: StartRequest, user: str | None, home: Path | None) -> StartRequest:
    """The request of this person; nobody but the owner agrees to anything. Raises `Refused`: other folders, texts
    that are in no file and settings of an editor are the owner's."""
    require_own_root(request.root.as_posix(), user, home)
    given = [name for name, value in (("texts", request.texts), ("settings", request.settings)) if value]
    if user is not None and given:
        told = f"Only the owner of the engine may set `{given[0]}`; other users start files as they are."
        raise Refused("forbidden", told, f"Remove `{given[0]}`.")
    enhance = request.enhance
    require_no_writing_for(user, enhance.get("headless") is True and enhance.get("start") is True)
    if request.agree_only and (user is not None or request.origin not in OWNERS_SURFACES):
        told = "Only the owner can give permission to a run, in a terminal or an editor."
        raise Refused("forbidden", told, "Remove `agreeOnly`.")
    if user is None:
        return request
    # Whoever runs a workflow says that nobody applies edits there: that is no wish to have its file written.
    enhance = {name: value for name, value in enhance.items() if name != "headless"}
    return replace(request, consent=None, enhance=enhance)


def require_own_root(root: str, user: str | None, home: Path | None) -> None:
    """Raises `Refused`."""
    if user is None:
        return
    if home is None or Path(root).resolve() != home.resolve():
        told = f"Only the owner of the engine may run in `{root}`; other users run in the folder of the engine."
        raise Refused("forbidden", told, "Remove `root`, or ask the owner.")


def require_no_writing_for(user: str | None, headless: bool) -> None:
    """`headless`: an enhance loop writes its file itself, which nobody is asked about. Raises `Refused`."""
    if user is not None and headless:
        told = "Only the owner of the engine may start a loop that writes its file itself."
        hint = "Remove `enhance.headless`, or set `enhance.applyWhenHeadless` in the settings of the project."
        raise Refused("forbidden", told, hint)


def refused_to(
    refused: Refused | JournalRefused, user: str | None, given: Mapping[str, Json]
) -> Refused | JournalRefused:
    """The refusal as the one who asked should hear it: only the owner's own surfaces are asked to agree."""
    match refused:
        case Refused(code="consent_required") if user is not None or not _is_owners(given):
            return for_others(refused, agreeing(given))
        case _:
            return refused


def agreeing(given: Mapping[str, Json]) -> str:
    """The command with which the owner agrees to such a start, and starts nothing; empty where none says the same."""
    root, path = str(given.get("root") or ""), str(given.get("path") or given.get("uri") or "")
    target = given.get("target")
    named = target.get("name") if isinstance(target, Mapping) and target.get("kind") == "definition" else None
    check = given.get("check")
    if given.get("enhance") or (isinstance(check, Mapping) and check.get("case")):
        return ""  # it asks a planner, too, or does what one test case says
    what = path and str(Path(root, path_of(path)))
    what = what or str(given.get("definition") or named or "")
    if not what:
        return ""
    words = ["loop-ls", "run", what, *(["--root", root] if root else [])]
    parameters = given.get("parameters")
    if not path and isinstance(parameters, Mapping):
        words += [word for name, value in parameters.items() for word in ("--param", f"{name}={value}")]
    words += [f"--{name}={given[name]}" for name in ("provider", "model") if given.get(name)]
    words += ["--check", "--plain"] if isinstance(check, Mapping) else []
    return literal(shlex.join([*words, "--agree-only"]))


def _is_owners(given: Mapping[str, Json]) -> bool:
    return (given.get("origin") or "cli") in OWNERS_SURFACES
