"""What the features answer: plain values, no LSP types and no printing.

Places are spans of code points, absolute in the document unless a field says otherwise; texts for
people are Markdown. The server turns these into messages, so whatever an editor wants to know must
be a field here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any, NamedTuple

from loop_ls.rules.engine.finding import TextEdit, Tier
from loop_ls.text.position import Position, Span

if TYPE_CHECKING:
    from loop_ls.contract.questions import Wait
    from loop_ls.contract.run_view.parts import Verdict
    from loop_ls.features.runs.enhance_rounds import Rounds

#: Edits of several documents: uri -> edits whose spans do not overlap.
Edits = Mapping[str, tuple[TextEdit, ...]]


class ItemKind(Enum):
    """What a completion item is; the server maps it to the icons that LSP knows."""

    KEY = "key"
    VALUE = "value"
    VARIABLE = "variable"
    ELEMENT = "element"  # a step or loop in `needs`
    WORKFLOW = "workflow"
    PARAMETER = "parameter"
    PROVIDER = "provider"
    MODEL = "model"
    CRITERION = "criterion"
    SNIPPET = "snippet"
    FILE = "file"


#: What an item is about, for `completion.describe`: strings only, so that it survives as JSON.
About = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Item:
    """One thing to insert in place of `Completions.span`.

    `text` is plain; `snippet` is the same with tab stops (LSP snippet syntax), for editors that have
    them. Indentation is already right for the place: the server must ask for no adjustment
    (`insertTextMode` 1, asIs). `sort` orders within the list; `filter` is what the typed word is compared with.
    """

    label: str
    kind: ItemKind
    text: str
    snippet: str | None = None
    detail: str = ""
    sort: str = ""
    filter: str | None = None
    preselect: bool = False
    span: Span | None = None  # what it replaces, where that is not `Completions.span`
    again: bool = False  # ask for completion again once it was accepted (`with:` -> its keys)
    more: tuple[TextEdit, ...] = ()  # edits elsewhere in the document
    documentation: str | None = None  # where it is cheap
    about: About = ()  # else `completion.describe(workspace, document, about)` tells


@dataclass(frozen=True, slots=True)
class Completions:
    """Items for one place, best first. `span` (on one line) is what accepting one of them replaces."""

    span: Span
    items: tuple[Item, ...] = ()
    incomplete: bool = False


@dataclass(frozen=True, slots=True)
class Hover:
    span: Span
    text: str


@dataclass(frozen=True, slots=True)
class Link:
    """From `origin` in the asked document to `target` in `uri`; `name` is the part to select there."""

    origin: Span
    uri: str
    target: Span
    name: Span


@dataclass(frozen=True, slots=True)
class Location:
    uri: str
    span: Span


@dataclass(frozen=True, slots=True)
class Highlight:
    """`writes`: the place gives the thing its name or its value."""

    span: Span
    writes: bool = False


class SymbolKind(Enum):
    WORKFLOW = "workflow"
    SECTION = "section"
    STEP = "step"
    LOOP = "loop"
    CONSTANT = "constant"  # an `env` key
    SETTING = "setting"  # a key of `execution` or of an element
    PARAMETER = "parameter"  # a key of `with`
    VARIABLE = "variable"  # an `accumulate` name


@dataclass(frozen=True, slots=True)
class Symbol:
    """A named part of a file. Its spans are relative to the `line` it is `Placed` at, so that one
    value serves as long as the part itself does not change; it may be cached by identity."""

    name: str
    kind: SymbolKind
    span: Span
    name_span: Span
    detail: str = ""
    children: tuple[Placed, ...] = ()


class Placed(NamedTuple):
    """`line` is absolute at the top level and relative to the parent's line below it."""

    line: int
    symbol: Symbol


@dataclass(frozen=True, slots=True)
class FoundSymbol:
    """A named thing somewhere in the workspace; `container` is the workflow that it is in."""

    name: str
    kind: SymbolKind
    uri: str
    span: Span
    container: str = ""


@dataclass(frozen=True, slots=True)
class DocumentLink:
    span: Span
    target: str  # a URI
    tooltip: str = ""


class Fold(NamedTuple):
    """Whole lines, both ends shown: `start` stays visible, everything to `end` hides. A file has thousands."""

    start: int
    end: int
    comment: bool = False


@dataclass(frozen=True, slots=True)
class Inlay:
    """A remark inside of a line. `before` tells that it belongs to what follows it."""

    at: Position
    text: str
    tooltip: str = ""
    before: bool = False


@dataclass(frozen=True, slots=True)
class Command:
    """A command of protocol 2 with its one argument object."""

    name: str
    argument: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Lens:
    """A line above `span`. Without a command it only tells something."""

    span: Span
    title: str
    command: Command | None = None


class ActionKind(Enum):
    QUICKFIX = "quickfix"
    FIX_ALL = "source.fixAll.loopLs"
    REFACTOR = "refactor"
    EXTRACT = "refactor.extract"
    INLINE = "refactor.inline"
    REWRITE = "refactor.rewrite"
    SOURCE = "source"
    PREVIEW = "source.enhance.preview"
    RUN = "source.run"


@dataclass(frozen=True, slots=True)
class Action:
    """A change on offer. `edits()` computes it when it is chosen; `findings` are positions in the
    sequence of findings that was passed in. A `command` runs instead of, or after, the edits; `creates` is the
    URI of a file that the edits begin."""

    title: str
    kind: ActionKind
    edits: Callable[[], Edits] | None = None
    command: Command | None = None
    preferred: bool = False
    tier: Tier = Tier.SAFE
    findings: tuple[int, ...] = ()
    creates: str = ""


@dataclass(frozen=True, slots=True)
class ShownRun:
    """A run as far as the editor shows it; `runs.shown_run` makes one from state and events."""

    run_id: str
    uri: str
    kind: str  # workflow | loop | step
    name: str  # of the target; of the workflow where all of it runs
    status: str
    reason: str | None = None
    iteration: int = 0
    done: int = 0  # iterations of an assistant that have ended well
    max_iterations: int | None = None
    cost_usd: float | None = None
    elapsed_ms: int = 0
    error: str = ""
    label: str | None = None
    recovered: bool = False
    paid_twice: bool = False  # one call may have been
    waiting: bool = False  # for the approval of a person
    approval: str = ""  # what is to be approved, by its id
    asks: Wait = "approval"  # what it is asked, where `approval` is set
    loops: Mapping[str, LoopView] = field(default_factory=dict)  # by name, loops of this file only
    results: Mapping[str, str] = field(default_factory=dict)  # the beginnings of outputs, by step or loop
    rounds: Rounds | None = None  # of an enhance loop
    mock: bool = False  # its answers are made up
    simulated: bool = False  # so is its price
    until: str = ""  # when a paused one goes on by itself, in words


@dataclass(frozen=True, slots=True)
class LoopView:
    """One loop inside a run."""

    name: str
    status: str  # completed | failed | cancelled, or that of the run while it has not ended
    iteration: int = 0
    max_iterations: int | None = None
    reason: str | None = None
    verdicts: tuple[Verdict, ...] = ()
    error: str = ""
    failed: tuple[int, ...] = ()  # iterations that it may have gone on without
