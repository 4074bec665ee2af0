"""Starting by a name alone: what the catalogue has under it, if no role loop is called so.

Every format is a loop to the documented interface, and `definition` is how it names one.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from loop_ls.text.json_value import JsonObject, as_object

if TYPE_CHECKING:
    from loop_ls.contract.answers import Agreed, NewRun, Refusal
    from loop_ls.engine.service import Engine

#: format -> what the goal of a start is called there.
_GOAL = {"workflow": "input", "assistant": "message"}


async def started(
    engine: Engine, catalogue: Callable[[], Awaitable[list[JsonObject]]], argument: JsonObject, user: str | None
) -> NewRun | Agreed | Refusal:
    """A start by whatever it names. An enhance loop is always one of a workflow."""
    if not _is_by_name(argument):
        return await engine.start(argument, user)
    if as_object(argument.get("enhance")).get("start") is True:
        return await engine.start(_from_catalogue(argument, await catalogue()) or argument, user)
    answer = await engine.start(argument, user)
    if answer["ok"] or answer["code"] != "not_found":
        return answer
    named = _from_catalogue(argument, await catalogue())
    return answer if named is None else await engine.start(named, user)


def _is_by_name(argument: JsonObject) -> bool:
    named = argument.get("definition")
    return isinstance(named, str) and not any(argument.get(key) for key in ("path", "uri", "target"))


def _from_catalogue(argument: JsonObject, rows: list[JsonObject]) -> JsonObject | None:
    """The same start with the file that has the name; None where there is none."""
    name = argument["definition"]
    for row in rows:
        goal = _GOAL.get(str(row.get("format")))
        if goal is not None and row.get("name") == name and isinstance(row.get("path"), str):
            rest = {key: value for key, value in argument.items() if key != "definition"}
            target = {"kind": row["format"], "name": name}
            given = {goal: rest["goal"]} if goal not in rest and rest.get("goal") is not None else {}
            root = rest.get("root") or row.get("root")
            return {**rest, **given, "root": root, "path": f"{row.get('root', '.')}/{row['path']}", "target": target}
    return None
