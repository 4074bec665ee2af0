"""What a file format is: one value per format, which every room asks instead of comparing names.

A format states here how its files are found and read. What the rooms above do for it (rules, editor features, runs)
is registered there under the same name, because imports go one way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Literal

from loop_ls.text.record import record

if TYPE_CHECKING:
    from loop_ls.formats.checks.target import Places
    from loop_ls.formats.common.key_table import Shape
    from loop_ls.formats.common.object_parts import Parts
    from loop_ls.formats.common.problem import Placed

#: The name of a file format, as facts, answers and lists spell it: `role_loop`.
Format = str
#: What a start calls the text that it hands over.
StartText = Literal["input", "goal", "message"]
#: What the parts of a loop file are called.
PartKind = Literal["step", "stage"]


def _never(path: str) -> bool:
    return False


@record
class FileFormat:
    """`label` is its name in sentences. `claims` says of a path (with `/`) whether its name alone makes it a file of
    this format. `keys` imports the key table of a format whose files are one object; a workflow, which is cut into
    steps and loops, has none. `target` is the kind of target that starts a whole file of it; empty: nothing to run.
    `told_as` is what such a start calls its text, `part` what the file calls its parts, and `places` imports what says
    what checks and test cases of a file may speak of.
    `flaws` imports what says everything against a file that can be said without looking at others.
    `beside`: a file of it is about the loop file of its name, and without that one it is nobody's. `front_matter`: it
    is a text whose keys stand between two lines `---` at its top, and without those it is nobody's. `by_folder`: its
    findings depend on files of its folder at most; those of other objects may depend on any file."""

    name: Format
    label: str
    claims: Callable[[str], bool] = _never
    keys: Callable[[], Shape] | None = None
    target: str = ""
    told_as: StartText = "input"
    part: PartKind = "step"
    places: Callable[[], Callable[[Parts], Places]] | None = None
    may_be_empty: bool = False
    flaws: Callable[[], Callable[[Parts], Iterable[Placed]]] | None = None
    beside: bool = False
    front_matter: bool = False
    by_folder: bool = False

    @property
    def is_object(self) -> bool:
        return self.keys is not None

    @property
    def can_run(self) -> bool:
        return bool(self.target)
