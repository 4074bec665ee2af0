"""Lines to nodes by libyaml, which is imported when the first lines come that need it.

Most lines of most files are read without it (see `fast_path`), and a server that starts does not want to
wait for what it may never use.
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Sequence as Lines

from loop_ls.syntax.yaml.anchors import Anchored
from loop_ls.syntax.yaml.composed import Composed

__all__ = ["completes_behind", "compose"]


def compose(lines: Lines[str], more: bool = False, outer: Iterable[Anchored] = ()) -> Composed:
    """The nodes of `lines`, places relative to the first of them. `more`: a line follows the last. `outer`: anchors
    in front of them. Raises `Rejected` where libyaml refuses."""
    from loop_ls.syntax.yaml import event_builder

    return event_builder.compose(lines, more, outer)


def completes_behind(lines: Iterable[str], line: int) -> bool:
    """Whether the first entry or item of `lines` ends well at or behind `line`. Reads only that far."""
    from loop_ls.syntax.yaml import event_builder

    return event_builder.completes_behind(lines, line)
