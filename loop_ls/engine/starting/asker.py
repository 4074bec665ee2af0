"""Who asks for a start: what only the owner may ask, and how a refusal is told to everybody else.

The owner of the data folder agrees to programs and endpoints and works in any folder. People with a token of
their own, and whoever speaks for the owner over the network (a model over MCP, a page, a script), start what
lies in the engine's folder and was agreed to.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from loop_ls.engine.capabilities.consent import for_others
from loop_ls.engine.core.errors import Refused
from loop_ls.engine.core.start_request import StartRequest
from loop_ls.engine.journal import JournalRefused
from loop_ls.text.json_value import Json

#: Surfaces of the owner, where a person sees what a run would do and answers.
OWNERS_SURFACES = frozenset({"cli", "editor"})


def as_asked_by(request: StartRequest, user: str | None, home: Path | None) -> StartRequest:
    """The request of this person; nobody but the owner agrees to anything. Raises `Refused`: other folders, texts
    that are in no file and settings of an editor are the owner's."""
    require_own_root(request.root.as_posix(), user, home)
    given = [name for name, value in (("texts", request.texts), ("settings", request.settings)) if value]
    if user is not None and given:
        told = f"`{given[0]}` may be given by the owner of the engine only: others start files as they are."
        raise Refused("forbidden", told, f"Leave out `{given[0]}`.")
    return request if user is None else replace(request, consent=None)


def require_own_root(root: str, user: str | None, home: Path | None) -> None:
    """Raises `Refused`."""
    if user is None:
        return
    if home is None or Path(root).resolve() != home.resolve():
        told = f"`{root}` may be run in by the owner of the engine only; others run in the folder of the engine."
        raise Refused("forbidden", told, "Leave out `root`, or ask the owner.")


def refused_to(
    refused: Refused | JournalRefused, user: str | None, given: Mapping[str, Any]
) -> Refused | JournalRefused:
    """The refusal as the one who asked should hear it: only the owner's own surfaces are asked to agree."""
    match refused:
        case Refused(code="consent_required") if user is not None or not _is_owners(given):
            return for_others(refused)
        case _:
            return refused


def _is_owners(given: Mapping[str, Json]) -> bool:
    return (given.get("origin") or "cli") in OWNERS_SURFACES
