"""What a rule says about a place: plain values, no LSP and no printing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from enum import Enum, IntEnum
from typing import TYPE_CHECKING, Any

from loop_ls.text.position import Span
from loop_ls.text.record import equal_record

if TYPE_CHECKING:
    from loop_ls.index.document import Document


class Severity(IntEnum):
    """Ordered as LSP numbers them: lower is more serious."""

    ERROR = 1
    WARNING = 2
    INFORMATION = 3
    HINT = 4


class Tier(Enum):
    """Whether a fix keeps what the file means, or chooses something for its author."""

    SAFE = "safe"
    REVIEW = "review"


@equal_record
class TextEdit:
    """Replace `span` (absolute, in the document `uri`) by `text`."""

    span: Span
    text: str
    uri: str | None = None  # None: the document of the finding


@equal_record
class Fix:
    """A titled change. Edits are computed on demand against the document as it is then."""

    title: str
    edits: Callable[[Document], tuple[TextEdit, ...]]
    tier: Tier = Tier.SAFE
    preferred: bool = False
    only_by_hand: bool = False  # one of several that nobody else can choose from: `fix` leaves it alone


@equal_record
class Related:
    """Another place that explains the finding. `uri` None: the same document."""

    span: Span
    message: str
    uri: str | None = None


@equal_record
class Finding:
    """One fault at one place. `span` is absolute in the document's text."""

    rule: str
    severity: Severity
    span: Span
    message: str
    name: str = ""
    related: tuple[Related, ...] = ()
    fixes: tuple[Fix, ...] = ()
    tags: frozenset[str] = frozenset()  # "unnecessary", "deprecated"
    data: dict[str, Any] = field(default_factory=dict)

    @property
    def fixable(self) -> bool:
        """Whether a safe fix exists (`fixable` of the JSON output)."""
        return any(fix.tier is Tier.SAFE for fix in self.fixes)
