"""What of a document can be started, as one value."""

from __future__ import annotations

from loop_ls.text.position import Span
from loop_ls.text.record import record


@record
class Runnable:
    """`kind` is the kind of target that starts it: that of its format, or `loop` or `step` of a workflow. `name` is
    what a start calls it, `label` what people call it."""

    kind: str
    name: str
    label: str
    span: Span
    judged: Span
    inner: tuple[Runnable, ...] = ()
