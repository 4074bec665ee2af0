"""Where in a run something happens.

A place has a logical key such as `develop/3/review`, the same however often the run is replayed and
whatever order parallel branches take, and says which element of which file it is for those who show it.
"""

from __future__ import annotations

from dataclasses import replace

from loop_ls.text.json_value import JsonObject
from loop_ls.text.record import equal_record


@equal_record
class Place:
    """`key` is unique in the run. `loop` and `iteration` are those of the nearest loop around it."""

    key: str = ""
    workflow: str = ""
    file: str = ""
    depth: int = 0
    loop: str | None = None
    iteration: int | None = None

    def element(self, name: str) -> Place:
        """A step or a loop of the workflow at this place."""
        return replace(self, key=f"{self.key}/{_quoted(name)}" if self.key else _quoted(name))

    def turn(self, loop: str, number: int, attempt: int = 1) -> Place:
        """Iteration `number` of the loop at this place; a further attempt has a key of its own."""
        again = f".{attempt}" if attempt > 1 else ""
        return replace(self, key=f"{self.key}/{number}{again}", loop=loop, iteration=number)

    def further_run(self, number: int) -> Place:
        """Run `number` of the workflow at this place. No element can have this key: a `%` in a name is quoted."""
        return replace(self, key=f"{self.key}/%run-{number}")

    def called(self, workflow: str, file: str) -> Place:
        """Inside a workflow that is called from this place."""
        return replace(self, workflow=workflow, file=file, depth=self.depth + 1)

    def part(self, name: str) -> str:
        """The key of something the engine itself does here (`develop/3:judge`): no element can have it."""
        return f"{self.key}:{name}"

    def fields(self) -> JsonObject:
        """As fields of an event, empty ones left out."""
        found = {"place": self.key, "workflow": self.workflow, "file": self.file}
        named: JsonObject = {name: value for name, value in found.items() if value}
        if self.depth:
            named["depth"] = self.depth
        if self.loop is not None:
            named["loop"] = self.loop
        if self.iteration is not None:
            named["iteration"] = self.iteration
        return named


def lies_at(place: str, wanted: str) -> bool:
    """Whether it is the wanted place, or inside it."""
    return place == wanted or place.startswith((f"{wanted}/", f"{wanted}:"))


def _quoted(name: str) -> str:
    return name.replace("%", "%25").replace("/", "%2F").replace(":", "%3A")
