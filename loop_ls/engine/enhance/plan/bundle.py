"""The texts that a loop may change, as one: that of the workflow, or of the workflow and the files that it may edit.

Everything that knows a round by its text (rounds that repeat, trials, what an editor answers) works with one text. Of
several files it is a JSON object of their paths and texts; of one file it is the text of that file.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from loop_ls.engine.enhance.timeline import unified


@dataclass(frozen=True, slots=True)
class Bundle:
    """`primary` is the path of the workflow, `others` those of further files; all are relative to the workspace."""

    primary: str = ""
    others: tuple[str, ...] = ()

    @property
    def paths(self) -> tuple[str, ...]:
        return (self.primary, *self.others)

    def joined(self, texts: Mapping[str, str]) -> str:
        if not self.others:
            return texts[self.primary]
        return json.dumps({path: texts[path] for path in self.paths}, ensure_ascii=False)

    def apart(self, text: str) -> dict[str, str]:
        """The texts by path. Raises `ValueError` for what is no text of this bundle."""
        if not self.others:
            return {self.primary: text}
        found = json.loads(text)
        if not isinstance(found, dict) or found.keys() != set(self.paths):
            raise ValueError("these files do not belong to this loop")
        return {path: str(found[path]) for path in self.paths}

    def over(self, known: str, text: str) -> str:
        """What somebody says the files hold: all of them, or the workflow alone beside the others as they are known."""
        try:
            return self.joined(self.apart(text))
        except ValueError:
            return self.joined({**self.apart(known), self.primary: text})

    def diff(self, before: str, after: str) -> str:
        """The change as people read it, file by file."""
        if not self.others:
            return unified(before, after, "workflow")
        old, new = self.apart(before), self.apart(after)
        return "".join(unified(old[path], new[path], path) for path in self.paths if old[path] != new[path])


#: Of a loop that may change its workflow and nothing else.
ALONE = Bundle()
