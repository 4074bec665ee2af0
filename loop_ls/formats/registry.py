"""The registry of file formats, and their names for code that is about one of them.

`register` adds one; the rooms above keep registries of their own under the same name (`rules.engine.registry`,
`features.language_support`, `engine.systems.registry`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Final

from loop_ls.formats.assistant import file_format as assistant
from loop_ls.formats.checks import file_format as checks
from loop_ls.formats.file_format import FileFormat, Format, PartKind, StartText
from loop_ls.formats.role_file import file_format as role_file
from loop_ls.formats.role_loop import file_format as role_loop
from loop_ls.formats.settings import file_format as settings
from loop_ls.formats.workflow import file_format as workflow

if TYPE_CHECKING:
    from loop_ls.formats.checks.target import Places
    from loop_ls.formats.common.object_parts import Parts
    from loop_ls.formats.common.problem import Placed

WORKFLOW: Final = workflow.WORKFLOW.name
LOOKALIKE: Final = workflow.LOOKALIKE.name
ROLE_LOOP: Final = role_loop.ROLE_LOOP.name
ASSISTANT: Final = assistant.ASSISTANT.name
SETTINGS: Final = settings.SETTINGS.name
DECLARED_CHECKS: Final = checks.CHECKS.name
ROLE_FILE: Final = role_file.ROLE_FILE.name
TEST_CASES: Final = checks.CASES.name

#: By name, in the order in which a path is offered to them.
FORMATS: dict[Format, FileFormat] = {}


def register(format_: FileFormat) -> None:
    """Make a format known. Raises `ValueError`: the name is taken."""
    if format_.name in FORMATS:
        raise ValueError(f"`{format_.name}` is registered twice")
    FORMATS[format_.name] = format_


def unregister(name: Format) -> None:
    """Forget a format."""
    FORMATS.pop(name, None)


for _one in (
    *(settings.SETTINGS, checks.CHECKS, checks.CASES, role_file.ROLE_FILE),
    *(assistant.ASSISTANT, role_loop.ROLE_LOOP, workflow.WORKFLOW, workflow.LOOKALIKE),
):
    register(_one)


def claimed(path: str) -> Format | None:
    """The format that the name of a file settles alone."""
    return next((one.name for one in FORMATS.values() if one.claims(path)), None)


def is_object(name: Format | None) -> bool:
    """Whether a file of this format is one object, read as a whole by a key table."""
    found = FORMATS.get(name or "")
    return found is not None and found.is_object


def depends_on_any_file(name: Format | None) -> bool:
    """Whether any file of the workspace may have to do with the findings of a file of this format."""
    found = FORMATS.get(name or "")
    return found is not None and found.is_object and not found.by_folder


def can_run(name: Format | None) -> bool:
    """Whether a file of this format can be started."""
    found = FORMATS.get(name or "")
    return found is not None and found.can_run


def told_as(name: Format | None) -> StartText:
    """What the start of a file of this format calls the text that it hands over."""
    found = FORMATS.get(name or "")
    return "input" if found is None else found.told_as


def part_of(name: Format | None) -> PartKind:
    """What a file of this format calls its parts."""
    found = FORMATS.get(name or "")
    return "step" if found is None else found.part


def runnable_formats() -> frozenset[Format]:
    """The formats whose files can be started."""
    return frozenset(one.name for one in FORMATS.values() if one.can_run)


def flaws_of(name: Format | None) -> Callable[[Parts], Iterable[Placed]] | None:
    """What says everything against a file of this format; None: its rules alone do."""
    found = FORMATS.get(name or "")
    return None if found is None or found.flaws is None else found.flaws()


def places_of(name: Format | None) -> Callable[[Parts], Places] | None:
    """What says what checks and test cases of such a file may speak of; None: nothing does."""
    found = FORMATS.get(name or "")
    return None if found is None or found.places is None else found.places()


def is_beside(name: Format | None) -> bool:
    """Whether a file of this format is about the loop file of its name, and nobody's without it."""
    found = FORMATS.get(name or "")
    return found is not None and found.beside


def has_front_matter(name: Format | None) -> bool:
    """Whether the keys of such a file stand between two lines `---` above a text."""
    found = FORMATS.get(name or "")
    return found is not None and found.front_matter


def may_be_empty(name: Format | None) -> bool:
    """Whether an empty file of this format is one of it."""
    found = FORMATS.get(name or "")
    return found is not None and found.may_be_empty


def label_of(name: Format) -> str:
    """What people call it."""
    found = FORMATS.get(name)
    return name if found is None else found.label


def format_of_target(target: str) -> Format | None:
    """The format of the file that a start with this kind of target names."""
    return next((one.name for one in FORMATS.values() if one.target and one.target == target), None)
