"""One file as an immutable snapshot. An edit gives the next one and reads only the pieces it changed.

What is known of a piece is kept with it; names are copied and adjusted; the graph is shared until
a name, a need or a variable changes. Nothing here knows other files (see `index.workspace`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence, Set
from itertools import compress
from operator import is_not
from typing import TYPE_CHECKING

from loop_ls.formats.common.typed_mapping import Block, Pair
from loop_ls.formats.file_format import Format
from loop_ls.formats.registry import LOOKALIKE, WORKFLOW, claimed, has_front_matter, is_beside, is_object
from loop_ls.formats.workflow.detect_format import by_content, could_be_ours, names_schema
from loop_ls.formats.workflow.keys import SCHEMA
from loop_ls.formats.workflow.placeholder_syntax import RESERVED
from loop_ls.index.disk.uris import path_of
from loop_ls.index.element import Definition, Element, Use
from loop_ls.index.graph.graph import Graph
from loop_ls.index.names import MentionTable, Names, NameTable, Numbers
from loop_ls.index.object_file import ObjectFile, shape_of
from loop_ls.index.piece_facts import Facts, read_piece
from loop_ls.index.top_level import Head
from loop_ls.syntax.tree import Tree, read_front_matter, read_json, read_yaml, unread
from loop_ls.text.fault import Fault
from loop_ls.text.invariant import invariant
from loop_ls.text.lines import BOM, Text
from loop_ls.text.position import Span

if TYPE_CHECKING:
    from loop_ls.syntax.tree import Piece


#: Lines of a text that is read whatever it says, and lines in which the first that says something is looked for.
_SHORT, _HEAD = 50, 200


class Document:
    """`path` is absolute, with `/`. `elements` are steps and loops in the order of the file, repeated
    `steps` and `loops` blocks joined, so that the index of an element is its document position.

    Places in elements and in the head are relative to their pieces: `absolute` gives those of the text.
    """

    __slots__ = (
        *("uri", "path", "version", "tree", "format", "head", "elements", "fault"),
        *("_calling", "_facts", "_graph", "_names", "_numbers", "_parameters", "_places", "_references", "_whole"),
    )

    uri: str
    path: str
    version: int
    tree: Tree
    format: Format | None
    head: Head
    elements: tuple[Element, ...]
    fault: Fault | None  # why the file could not be read as text at all
    _calling: tuple[Element, ...] | None
    _references: frozenset[str] | None
    _facts: tuple[Facts, ...]
    _whole: ObjectFile | None
    _names: Names
    _graph: Graph | None
    _parameters: tuple[str, ...] | None
    _numbers: Numbers  # of the elements, in order; one keeps its number while its text is edited
    _places: dict[int, int] | None

    @property
    def is_workflow(self) -> bool:
        return self.format == WORKFLOW

    @property
    def is_object(self) -> bool:
        """Whether it is one object, read by the key table of its format (`whole`), and no workflow."""
        return is_object(self.format)

    @classmethod
    def open(
        cls, uri: str, text: str | Text, version: int = 0, path: str | None = None, fault: Fault | None = None
    ) -> Document:
        """A document from its whole text. Never raises on content."""
        document = cls.__new__(cls)
        document.uri, document.version, document.fault = uri, version, fault
        document.path = path_of(uri) if path is None else path
        text = text if isinstance(text, Text) else Text.of(text)
        named = _settled(document.path, text)
        front = read_front_matter(text) if has_front_matter(named) else None
        if front is not None:
            document.tree = front
        elif has_front_matter(named):
            named, document.tree = None, unread(text)
        elif named is None and not _is_worth_reading(document.path, text):
            document.tree = unread(text)
        else:
            is_json = named is not None and document.path.endswith(".json")
            document.tree = read_json(text) if is_json else read_yaml(text)
        shape = shape_of(named)
        document._facts = tuple(read_piece(piece, shape) for piece in document.tree.pieces)
        document.elements = tuple(element for facts in document._facts for element in facts.elements)
        document.head = Head(tuple(facts.top for facts in document._facts if facts.top is not None))
        document.format = named or document._recognised()
        document._whole = None
        document._numbers = tuple(range(len(document.elements)))
        document._names = Names.of(document.elements, document._numbers)
        document._graph = document._parameters = document._places = None
        document._calling = document._references = None
        return document

    def edit(self, span: Span, new: str, version: int | None = None) -> Document:
        """The document with `span` replaced by `new`."""
        return self.with_tree(self.tree.edit(span, new), self.version + 1 if version is None else version)

    def rewritten(self, new: str, version: int) -> Document:
        """The document of a whole new text, most of which is often the old one."""
        if not self.tree.fits(self.text) or new.startswith(BOM) != self.text.bom:  # a client counts that, too
            return self.__class__.open(self.uri, new, version, self.path)
        return self.with_tree(self.tree.after(*self.text.rewritten(new)), version)

    def with_tree(self, tree: Tree, version: int) -> Document:
        """The document of a tree that came from this one's by edits."""
        if self._would_be_read_otherwise(tree):
            return self.__class__.open(self.uri, tree.text, version, self.path)
        document = self.__class__.__new__(self.__class__)
        document.uri, document.path, document.version, document.tree = self.uri, self.path, version, tree
        document.fault = document._whole = None
        start, stop, end = _changed(self.tree.pieces, tree.pieces)
        old = self._facts[start:stop]
        new = self._read_again(tree.pieces[start:end], start, stop)
        document._facts = (*self._facts[:start], *new, *self._facts[stop:])
        document._take_head(self, old, new)
        document._take_elements(self, start, old, new)
        document.format = document._recognised(self.format)
        invariant(document._fits_its_pieces, "what a document keeps is what its pieces say")
        return document

    def at_version(self, version: int) -> Document:
        """The same text as another version: all that is known of it is shared."""
        other = self.__class__.__new__(self.__class__)
        for name in self.__slots__:
            setattr(other, name, getattr(self, name))
        other.version = version
        return other

    # -- what stands in the file ------------------------------------------------------------------

    @property
    def text(self) -> Text:
        return self.tree.text

    def absolute(self, piece: Piece, span: Span) -> Span:
        """The place in the text of a place in a piece."""
        return span.shift(self.tree.start_of(piece))

    def facts(self) -> zip[tuple[Piece, Facts]]:
        """Every piece with what was read from it, in order."""
        return zip(self.tree.pieces, self._facts, strict=True)

    def facts_of(self, piece: Piece) -> Facts:
        return self._facts[self.tree.pieces.index(piece)]

    @property
    def whole(self) -> ObjectFile:
        """What stands in a file that is no workflow."""
        if self._whole is None:
            self._whole = ObjectFile.of(self.format, (facts.parts for facts in self._facts))
        return self._whole

    @property
    def name(self) -> str | None:
        """The written name of the workflow."""
        return self.head.text("name")

    @property
    def execution(self) -> Block | None:
        return self.head.execution

    @property
    def env(self) -> dict[str, Pair]:
        return self.head.env

    @property
    def steps(self) -> tuple[Element, ...]:
        return tuple(element for element in self.elements if element.kind == "step")

    @property
    def loops(self) -> tuple[Element, ...]:
        """The top-level loops."""
        return tuple(element for element in self.elements if element.kind == "loop")

    def has_entries(self) -> bool:
        """Whether `steps` or `loops` has an entry, in whatever state (WF104)."""
        return bool(self.elements) or any(facts.blank or facts.faults for facts in self._facts)

    # -- names and order --------------------------------------------------------------------------

    @property
    def names(self) -> NameTable:
        """Every name that a step, loop or `accumulate` of this file defines."""
        return NameTable(self._names.defined, self._element)

    @property
    def defined(self) -> Set[str]:
        """The names of `names`."""
        return self._names.defined.keys()

    def definition(self, name: str) -> Definition | None:
        """The first definition of a name: the one that counts."""
        found = self.names.get(name)
        return found[0] if found else None

    def element(self, name: str) -> Element | None:
        """The step or loop with this name (an accumulated output is none)."""
        for definition in self.names.get(name, ()):
            if definition.kind != "accumulate":
                return definition.element
        return None

    def mentioning(self, name: str) -> tuple[Element, ...]:
        """The elements whose meaning depends on a name (`x`, `env.KEY`, `loop.output`), in order."""
        numbers = self._names.mentions.get(name, ())
        if len(numbers) < 2:
            return tuple(map(self._element, numbers))
        places = self._by_number()
        return tuple(self.elements[place] for place in sorted(places[number] for number in numbers))

    def mentioned(self) -> MentionTable:
        """All names that elements depend on, with those elements in no order."""
        return MentionTable(self._names.mentions, self._element)

    def position(self, element: Element) -> int:
        """Its place among all elements. Raises ValueError for one of another version."""
        return self.elements.index(element)

    @property
    def graph(self) -> Graph:
        """Who waits for whom; its indexes are positions."""
        if self._graph is None:
            self._graph = Graph.of(element.node for element in self.elements)
        return self._graph

    @property
    def parameters(self) -> tuple[str, ...]:
        """The simple names that are used and that nothing here defines, in order of first use."""
        if self._parameters is None:
            self._parameters = self._find_parameters(self._names.mentions)
        return self._parameters

    def first_use(self, name: str) -> tuple[Element, Use] | None:
        """The first use of exactly this variable in the file."""
        for element in self.mentioning(name):
            for use in element.uses:
                if use.name == name:
                    return element, use
        return None

    @property
    def calling(self) -> tuple[Element, ...]:
        """The elements that call another workflow, in order."""
        if self._calling is None:
            self._calling = tuple(element for element in self.elements if element.reference is not None)
        return self._calling

    @property
    def references(self) -> frozenset[str]:
        """Every reference to another workflow, as written."""
        if self._references is None:
            self._references = frozenset(_references(self.calling))
        return self._references

    def last_step(self) -> Element | None:
        """The step whose result is that of the workflow, unless it is skipped; without any step the
        last top-level loop."""
        steps = self.steps
        if steps:
            return steps[-1]
        return self.elements[-1] if self.elements else None

    # -- building ---------------------------------------------------------------------------------

    def _fits_its_pieces(self) -> bool:
        elements = tuple(element for facts in self._facts for element in facts.elements)
        return (
            len(self._facts) == len(self.tree.pieces)
            and self.elements == elements
            and len(set(self._numbers)) == len(elements)
            and self.head.tops == tuple(facts.top for facts in self._facts if facts.top is not None)
            and set(self._names.defined) == set(Names.of(elements, self._numbers).defined)
            and set(self._names.mentions) == set(Names.of(elements, self._numbers).mentions)
            and self._references in (None, frozenset(_references(self.calling)))
            and self._parameters in (None, self._find_parameters(self._names.mentions))
        )

    def _would_be_read_otherwise(self, tree: Tree) -> bool:
        """Whether the text of a tree, opened now, would be read as something else than this document was."""
        named = _settled(self.path, tree.text)
        if has_front_matter(named):
            return self.format is None or not tree.is_read
        if named != (self.format if self.is_object else None):
            return True
        return named is None and tree.is_read != _is_worth_reading(self.path, tree.text)

    def _read_again(self, pieces: Sequence[Piece], start: int, stop: int) -> tuple[Facts, ...]:
        known = dict(zip(self.tree.pieces[start:stop], self._facts[start:stop], strict=True))
        shape = shape_of(self.format)
        return tuple(known.get(piece) or read_piece(piece, shape) for piece in pieces)

    def _take_head(self, before: Document, old: tuple[Facts, ...], new: tuple[Facts, ...]) -> None:
        if any(facts.top for facts in old) or any(facts.top for facts in new):
            self.head = Head(tuple(facts.top for facts in self._facts if facts.top is not None))
        else:
            self.head = before.head

    def _take_elements(self, before: Document, start: int, old: tuple[Facts, ...], new: tuple[Facts, ...]) -> None:
        gone = tuple(element for facts in old for element in facts.elements)
        come = tuple(element for facts in new for element in facts.elements)
        if gone == come:
            self.elements, self._names = before.elements, before._names
            self._numbers, self._places = before._numbers, before._places
            self._graph, self._parameters = before._graph, before._parameters
            self._calling, self._references = before._calling, before._references
            return
        at = _offset(before, start, gone)
        self.elements = (*before.elements[:at], *come, *before.elements[at + len(gone) :])
        numbers = before._numbers[at : at + len(gone)]
        fresh = numbers if len(gone) == len(come) else _fresh(before._numbers, len(come))
        self._numbers, self._places = before._numbers, before._places
        if fresh is not numbers:
            self._numbers, self._places = (*before._numbers[:at], *fresh, *before._numbers[at + len(gone) :]), None
        left, added = tuple(zip(numbers, gone, strict=True)), tuple(zip(fresh, come, strict=True))
        if len(gone) == len(come):  # what stands between an anchor and an alias of it stays as it is
            differs = list(map(is_not, gone, come))
            left, added = tuple(compress(left, differs)), tuple(compress(added, differs))
        self._names = before._names.replaced(left, added, self._place)
        nodes = tuple(element.node for element in come)
        graph = before._graph
        self._graph = None if graph is None else graph.replaced(at, len(gone), nodes, self._is_mentioned(before))
        self._parameters = before._parameters
        if self._parameters is not None and nodes != tuple(element.node for element in gone):
            touched = {name for _, one in (*left, *added) for name in (*one.mentioned, *one.node.provides)}
            self._parameters = self._find_parameters({*self._parameters, *touched})
        self._calling = None
        self._references = before._references if _references(gone) == _references(come) else None

    def _by_number(self) -> dict[int, int]:
        if self._places is None:
            self._places = dict(zip(self._numbers, range(len(self._numbers)), strict=True))
        return self._places

    def _place(self, number: int) -> int:
        return self._by_number()[number]

    def _element(self, number: int) -> Element:
        return self.elements[self._by_number()[number]]

    def _is_mentioned(self, before: Document) -> Callable[[str], bool]:
        now, earlier = self._names.mentions, before._names.mentions
        return lambda name: name in now or name in earlier

    def _recognised(self, before: Format | None = None) -> Format | None:
        """Which of our formats this is; a broken text may still say what it wants to be."""
        if before is not None and before not in (WORKFLOW, LOOKALIKE):
            return before  # its name says so, and stays
        if before == WORKFLOW and self.head.text("$schema") == SCHEMA:
            return before
        if not self.tree.is_read:
            return None
        entries = {name: top.entry.value for name, top in self.head.first.items()}
        sections = {"steps" if element.kind == "step" else "loops" for element in self.elements}
        found = by_content(entries, sections)
        broken = self.tree.root_kind != "mapping" or any(piece.tolerant for piece in self.tree.pieces)
        if found != WORKFLOW and broken and names_schema(self.text.lines):
            return WORKFLOW
        return found

    def _find_parameters(self, among: Iterable[str]) -> tuple[str, ...]:
        free = [name for name in among if "." not in name and name not in RESERVED and name not in self._names.defined]
        found = {name: self.first_use(name) for name in free}
        uses = [(self.position(use[0]), use[1].span, name) for name, use in found.items() if use is not None]
        return tuple(name for _, _, name in sorted(uses))


def _settled(path: str, text: Text) -> Format | None:
    """The format that the name of a file settles, unless its text says that it is a workflow of that name."""
    named = claimed(path)
    if is_beside(named) and text.mentions("$schema") and names_schema(text.lines):
        return None
    return named


def _is_worth_reading(path: str, text: Text) -> bool:
    """Whether a file whose name settles nothing may be ours. A short one is read in any case: somebody begins to
    write it, or asks what may stand in it."""
    if path.endswith((".json", ".jsonc")):
        return False
    lines = text.lines
    if len(lines) <= _SHORT and sum(map(len, lines)) <= _SHORT * 100:
        return True
    return could_be_ours(lines[:_HEAD], text.mentions)


def _fresh(numbers: Numbers, count: int) -> Numbers:
    first = max(numbers, default=-1) + 1
    return tuple(range(first, first + count))


def _references(elements: Sequence[Element]) -> list[str]:
    return [element.reference.text for element in elements if element.reference is not None and element.reference.text]


def _changed(old: Sequence[Piece], new: Sequence[Piece]) -> tuple[int, int, int]:
    """Which pieces differ: `old[start:stop]` became `new[start:end]`. Compares identities, in slices."""
    shorter = min(len(old), len(new))
    low, high = 0, shorter
    while low < high:
        middle = (low + high + 1) // 2
        if old[low:middle] == new[low:middle]:
            low = middle
        else:
            high = middle - 1
    start = low
    low, high = 0, shorter - start
    while low < high:
        middle = (low + high + 1) // 2
        if old[len(old) - middle : len(old) - low] == new[len(new) - middle : len(new) - low]:
            low = middle
        else:
            high = middle - 1
    return start, len(old) - low, len(new) - low


def _offset(document: Document, start: int, gone: tuple[Element, ...]) -> int:
    """How many elements stand before the pieces from `start` on."""
    if gone:
        return document.elements.index(gone[0])
    for facts in reversed(document._facts[:start]):
        if facts.elements:
            return document.elements.index(facts.elements[-1]) + 1
    return 0
