"""Repeated and unknown keys, wrong types, empty values: what every mapping of a file is asked."""

from __future__ import annotations

from collections.abc import Container, Iterator

from loop_ls.formats.common.duration import parse_duration
from loop_ls.formats.common.key_table import Key, Shape, Type
from loop_ls.formats.common.typed_mapping import Block, Fault, Field, Unknown
from loop_ls.formats.role_loop.keys import DEFINITION
from loop_ls.rules.docs.phrases import line_break, listed, shortened
from loop_ls.rules.engine.context import Draft, Site, node_span
from loop_ls.rules.engine.finding import Fix, Severity, Tier
from loop_ls.rules.engine.prefilter import EMPTY, FAULTS, UNKNOWN, has_gap
from loop_ls.rules.engine.registry import rule
from loop_ls.rules.fixes import builders
from loop_ls.syntax.nodes import Alias, Entry, Mapping, Node, Scalar, Sequence

_NO_TEXTS = (Type.INTEGER, Type.NUMBER, Type.BOOLEAN)


@rule("WF005", "duplicate-key", Severity.ERROR, on="tree", local=True, fixes=(Tier.SAFE,))
def duplicate_key(site: Site) -> Iterator[Draft]:
    """A key that is written twice in one mapping.

    YAML leaves open which of the two counts, and mcp-cli refuses the whole file. Here the first one
    counts. Repeated `steps` or `loops` at top level are read as if they were joined, and a file with
    this fault alone still runs.

    Bad::
        steps:
          - name: greet
            run: "Greet {{input}} warmly"
            run: "Greet {{input}} coldly"
    Good::
        steps:
          - name: greet
            run: "Greet {{input}} warmly"
    """
    if site.piece.node is not None:
        yield from _repeated(site, site.piece.node)


def _repeated(site: Site, node: Node) -> Iterator[Draft]:
    match node:
        case Mapping():
            first: dict[str, Entry] = {}
            for entry in node.entries:
                if entry.merged:
                    continue
                before = first.setdefault(entry.key.text, entry)
                if before is not entry:
                    yield _again(site, entry, before)
                if entry.value is not None:
                    yield from _repeated(site, entry.value)
        case Sequence():
            for item in node.items:
                if item is not None:
                    yield from _repeated(site, item)
        case Scalar() | Alias():
            return


def _again(site: Site, entry: Entry, before: Entry) -> Draft:
    spot = site.at(before.key.span)
    return site.found(
        entry.key.span,
        lambda line_of: f"`{shortened(entry.key.text)}` is repeated; the first is in line {line_of(spot)}",
        related=((spot, "the first one, which counts"),),
    )


@rule("WF006", "unknown-key", Severity.ERROR, on="*", local=True, fixes=(Tier.SAFE,), about=UNKNOWN)
def unknown_key(site: Site) -> Iterator[Draft]:
    """A key that does not exist at this place.

    An unknown key is refused, not skipped: it is nearly always a slip, and the value behind it would
    silently do nothing.

    Bad::
        steps:
          - name: greet
            condition: "{{input}}"
            run: "Greet {{input}}"
    Good::
        steps:
          - name: greet
            if: "{{input}}"
            run: "Greet {{input}}"
    """
    for unknown in site.block.unknown:
        if unknown.entry.merged:
            continue
        better = renamed(unknown, {name for name in site.block.fields if site.block.writes(name)})
        fix = (builders.reword(site.piece, unknown.entry.key.span, better),) if better else ()
        yield site.found(unknown.entry.key.span, unknown_sentence(unknown, site.block.shape), fixes=fix)


#: A sentence with more keys than this is read by nobody; completion lists them all.
_MOST_KEYS = 10


def unknown_sentence(unknown: Unknown, shape: Shape) -> str:
    start = f"`{shortened(unknown.entry.key.text)}` is not a key of {shape.title}"
    if unknown.advice is not None:
        return f"{start}; {unknown.advice.text}"
    if unknown.meant:
        return f"{start}; did you mean `{unknown.meant[0]}`?"
    keys = [key.name for key in shape.keys.values() if not key.idle or shape is not DEFINITION]
    if len(keys) <= _MOST_KEYS:
        return f"{start}; its keys are {listed(keys, 'and')}"
    told = ", ".join(f"`{key}`" for key in keys[:_MOST_KEYS])
    return f"{start}; its keys are {told} and {len(keys) - _MOST_KEYS} more"


def renamed(unknown: Unknown, present: Container[str]) -> str | None:
    """The key that the unknown one may become, its value unchanged."""
    if not unknown.meant or (unknown.advice is not None and not unknown.advice.rename):
        return None
    return None if unknown.meant[0] in present else unknown.meant[0]


@rule("WF007", "wrong-type", Severity.ERROR, on="*", local=True, fixes=(Tier.SAFE,), about=FAULTS)
def wrong_type(site: Site) -> Iterator[Draft]:
    """A value of another kind than its key expects.

    Numbers and `true` or `false` are written without quotes, lists in brackets or with dashes, and a
    text that begins with `{{` needs quotes, since YAML takes braces for a mapping.

    Bad::
        steps:
          - name: greet
            temperature: "0.7"
            run: "Greet {{input}}"
    Good::
        steps:
          - name: greet
            temperature: 0.7
            run: "Greet {{input}}"
    """
    for field in site.own_fields():
        for fault in field.faults:
            if fault.kind != "duration":
                yield site.found(node_span(fault.node), _sentence(field, fault), fixes=_retype(site, field, fault))


def _sentence(field: Field, fault: Fault) -> str:
    name = field.key.name
    match fault.kind:
        case "quoted":
            return f"`{name}` has to be {fault.expected}; write it without quotes"
        case "fraction":
            return f"`{name}` has to be {fault.expected}, without a fraction"
        case "braces" if fault.node is not field.node:
            return f"quotes are missing in `{name}`: without them YAML takes `{{{{…}}}}` for a mapping"
        case "braces":
            return f"quotes are missing: without them YAML takes `{{{{…}}}}` for a mapping, and `{name}` has to be text"
        case "bare":
            return f"`{name}` has to be {fault.expected}: put it in brackets or behind a dash"
        case _ if fault.node is not field.node:
            return f"every entry of `{name}` has to be {fault.expected}, not {_kind(fault.node)}"
        case _ if field.key.type is Type.BLOCKS and isinstance(fault.node, Mapping):
            return f"`{name}` has to be {fault.expected}: begin each with a dash"
        case _:
            ends = line_break(fault.node.text) if isinstance(fault.node, Scalar) else ""
            return f"`{name}` has to be {fault.expected}, not {_kind(fault.node)}{ends}{_old_form(field)}"


def _kind(node: Node) -> str:
    match node:
        case Mapping():
            return "a mapping"
        case Sequence():
            return "a list"
        case Scalar():
            return f"`{shortened(node.text)}`" if node.text.strip() else "an empty text"
        case Alias():
            return f"what `*{node.name}` stands for"


def _old_form(field: Field) -> str:
    if field.key.name == "template" and isinstance(field.node, Scalar):
        return f"; write `template: {{name: {shortened(field.node.text)}}}`"
    return ""


def _retype(site: Site, field: Field, fault: Fault) -> tuple[Fix, ...]:
    node = fault.node
    if isinstance(node, Alias):
        return ()
    match fault.kind:
        case "quoted" if isinstance(node, Scalar):
            return (builders.replace(site.piece, node.span, node.text, "Remove the quotes"),)
        case "braces":
            return (builders.quote(site.piece, node.span),)
        case "bare" if field.key.type is Type.TEXTS:
            return (builders.bracket(site.piece, node.span),)
        case "type" if _old_form(field) and isinstance(node, Scalar):
            return (builders.wrap(site.piece, node.span, "{name: ", "}", "Write it as a mapping"),)
        case _:
            return builders.on_one_line(site.piece, node, as_text=field.key.type not in _NO_TEXTS)


@rule("WF008", "no-duration", Severity.ERROR, on="*", local=True, fixes=(Tier.REVIEW,), about=FAULTS)
def no_duration(site: Site) -> Iterator[Draft]:
    """A time that is not written as a duration.

    A duration is one or more numbers with their units, without blanks: `90s`, `1h30m`, `250ms`. The
    units are `ns`, `us`, `ms`, `s`, `m` and `h`; there are no days.

    Bad::
        steps:
          - name: greet
            timeout: 30
            run: "Greet {{input}}"
    Good::
        steps:
          - name: greet
            timeout: 30s
            run: "Greet {{input}}"
    """
    for field in site.own_fields():
        if field.fault != "duration":
            continue
        written = field.scalar.text if field.scalar is not None else ""
        better = _as_duration(written)
        bare = written.replace(".", "", 1).isdecimal()
        what = f"`{shortened(written)}` has no unit" if bare else f"`{shortened(written)}` is no duration"
        yield site.found(
            node_span(field.faults[0].node),
            f"{what}: write `{field.key.name}` as a number and a unit, such as `30s`, `5m` or `1h30m`",
            fixes=(builders.replace(site.piece, field.span, better, f"Change to `{better}`", Tier.REVIEW),)
            if better is not None and isinstance(field.node, Scalar)
            else (),
        )


def _as_duration(written: str) -> str | None:
    """What was probably meant: seconds, or the same without its blanks."""
    joined = "".join(written.split())
    return next((one for one in (joined, f"{joined}s") if one != written and parse_duration(one) is not None), None)


@rule("WF009", "empty-value", Severity.INFORMATION, on="*", local=True, about=EMPTY)
def empty_value(site: Site) -> Iterator[Draft]:
    """A key with nothing behind it, or a list with nothing behind a dash.

    It reads like something that was begun and forgotten. Emptiness on purpose is written out: `{}`,
    `[]` or `""`.

    Bad::
        env:
        steps:
          - name: greet
            run: "Greet {{input}}"
    Good::
        env: {}
        steps:
          - name: greet
            run: "Greet {{input}}"
    """
    for field in site.own_fields():
        if field.empty and not _is_written_null(field) and not _is_asked_for(field.key, site.block):
            yield site.found(field.entry.key.span, f"nothing stands behind `{field.key.name}`")
        elif has_gap(field.node):
            yield site.found(field.entry.key.span, f"nothing stands behind a dash of `{field.key.name}`")


def _is_asked_for(key: Key, block: Block) -> bool:
    """Whether another rule says that a value is missing here: that is the same fault."""
    mode = block.text("mode") or "refine"
    needed = key.required or key.required_in == mode or (block.shape.name, key.name) == ("rag", "server")
    return needed or (key.name in block.shape.one_of and not _has_mode(block))


def _has_mode(block: Block) -> bool:
    return any(not field.empty for name, field in block.fields.items() if name in block.shape.one_of)


def _is_written_null(field: Field) -> bool:
    return isinstance(field.node, Scalar) and field.node.text != ""
