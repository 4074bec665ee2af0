"""Starting by a name alone: what the catalogue has under it, if no role loop is called so.

Every format is a loop to the documented interface, and `definition` is how it names one.
"""

from __future__ import annotations

from loop_ls.text.json_value import JsonObject

#: format -> what the goal of a start is called there.
_GOAL = {"workflow": "input", "assistant": "message"}


def is_by_name(argument: JsonObject) -> bool:
    named = argument.get("definition")
    return isinstance(named, str) and not any(argument.get(key) for key in ("path", "uri", "target"))


def from_catalogue(argument: JsonObject, rows: list[JsonObject]) -> JsonObject | None:
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
