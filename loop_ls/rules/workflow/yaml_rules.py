"""Repeated and unknown keys, wrong types, empty values: what every mapping of a file is asked."""

from __future__ import annotations

from collections.abc import Container, Iterator

from loop_ls.formats.common.duration import parse_duration
from loop_ls.formats.common.key_table import Key, Shape, Type
from loop_ls.formats.common.read_value import read_field
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
    """Duplicate key.

    YAML does not define which value counts, and mcp-cli rejects the whole file. loop-ls uses the first one.
    Repeated `steps` or `loops` at top level are merged, and a file with only this error still runs.

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
    yield from _repeated(site, site.piece.node)


def _repeated(site: Site, node: Node | None) -> Iterator[Draft]:
    match node:
        case Mapping():
            first: dict[str, Entry] = {}
            for entry in node.entries:
                if entry.merged:
                    continue
                before = first.setdefault(entry.key.text, entry)
                if before is not entry:
                    yield _again(site, entry, before)
                yield from _repeated(site, entry.value)
        case Sequence():
            for item in node.items:
                yield from _repeated(site, item)
        case Scalar() | Alias() | None:
            return


def _again(site: Site, entry: Entry, before: Entry) -> Draft:
    spot = site.at(before.key.span)
    return site.found(
        entry.key.span,
        lambda line_of: f"Duplicate key `{shortened(entry.key.text)}`; first defined on line {line_of(spot)}",
        related=((spot, "the first one, which counts"),),
    )


@rule("WF006", "unknown-key", Severity.ERROR, on="*", local=True, fixes=(Tier.SAFE,), about=UNKNOWN)
def unknown_key(site: Site) -> Iterator[Draft]:
    """Unknown key.

    Unknown keys are errors: they are nearly always typos, and the value would silently have no effect.

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
        better = renamed(unknown, {name for name in site.block.fields if site.block.writes(name)}, site.block.shape)
        fix = (builders.reword(site.piece, unknown.entry.key.span, better),) if better else ()
        yield site.found(unknown.entry.key.span, unknown_sentence(unknown, site.block.shape), fixes=fix)


#: A sentence with more keys than this is read by nobody; completion lists them all.
_MOST_KEYS = 10


def unknown_sentence(unknown: Unknown, shape: Shape) -> str:
    start = f"Unknown key `{shortened(unknown.entry.key.text)}` in {shape.title}"
    if unknown.advice is not None:
        return f"{start}; {unknown.advice.text}"
    if unknown.meant:
        return f"{start}; did you mean `{unknown.meant[0]}`?"
    keys = [key.name for key in shape.keys.values() if not key.idle or shape is not DEFINITION]
    if len(keys) <= _MOST_KEYS:
        return f"{start}; expected {listed(keys)}"
    told = ", ".join(f"`{key}`" for key in keys[:_MOST_KEYS])
    return f"{start}; expected {told} or {len(keys) - _MOST_KEYS} more"


def renamed(unknown: Unknown, present: Container[str], shape: Shape) -> str | None:
    """The key of the shape that the unknown one may become, its value unchanged: not one that takes no such value."""
    key = shape.keys.get(unknown.likely or "")
    if key is None or key.name in present:
        return None
    faults = read_field(key, unknown.entry).faults
    return None if any(one.kind == "type" and one.node is unknown.entry.value for one in faults) else key.name


@rule("WF007", "wrong-type", Severity.ERROR, on="*", local=True, fixes=(Tier.SAFE,), about=FAULTS)
def wrong_type(site: Site) -> Iterator[Draft]:
    """Wrong value type.

    Write numbers and `true` or `false` without quotes and lists in brackets or with dashes. A string that
    starts with `{{` needs quotes, since YAML reads braces as a mapping.

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
            return f"`{name}` must be {fault.expected}; write it without quotes"
        case "fraction":
            return f"`{name}` must be {fault.expected}, without a fraction"
        case "braces" if fault.node is not field.node:
            return f"Missing quotes in `{name}`: without them YAML reads `{{{{…}}}}` as a mapping"
        case "braces":
            return f"Missing quotes: without them YAML reads `{{{{…}}}}` as a mapping, but `{name}` must be a string"
        case "bare":
            return f"`{name}` must be {fault.expected}; put it in brackets or after a dash"
        case _ if fault.node is not field.node:
            return f"Each entry of `{name}` must be {fault.expected}, not {_kind(fault.node)}"
        case _ if field.key.type is Type.BLOCKS and isinstance(fault.node, Mapping):
            return f"`{name}` must be {fault.expected}; start each entry with a dash"
        case _:
            ends = line_break(fault.node.text) if isinstance(fault.node, Scalar) else ""
            return f"`{name}` must be {fault.expected}, not {_kind(fault.node)}{ends}{_old_form(field)}"


def _kind(node: Node) -> str:
    match node:
        case Mapping():
            return "a mapping"
        case Sequence():
            return "a list"
        case Scalar():
            return f"`{shortened(node.text)}`" if node.text.strip() else "an empty string"
        case Alias():
            return f"the value of `*{node.name}`"


def _old_form(field: Field) -> str:
    if field.key.name == "template" and isinstance(field.node, Scalar):
        return f"; use `template: {{name: {shortened(field.node.text)}}}`"
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
            return (builders.wrap(site.piece, node.span, "{name: ", "}", "Change to a mapping"),)
        case _:
            return builders.on_one_line(site.piece, node, as_text=field.key.type not in _NO_TEXTS)


@rule("WF008", "no-duration", Severity.ERROR, on="*", local=True, fixes=(Tier.REVIEW,), about=FAULTS)
def no_duration(site: Site) -> Iterator[Draft]:
    """Invalid duration.

    A duration is one or more numbers with their units, without spaces: `90s`, `1h30m`, `250ms`. The units
    are `ns`, `us`, `ms`, `s`, `m` and `h`; there are no days.

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
        what = f"Missing unit in `{shortened(written)}`" if bare else f"Invalid duration `{shortened(written)}`"
        yield site.found(
            node_span(field.faults[0].node),
            f"{what}: set `{field.key.name}` to a number with a unit, such as `30s`, `5m` or `1h30m`",
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
    """Empty value or empty list entry.

    It looks unfinished. Write intended emptiness explicitly: `{}`, `[]` or `""`.

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
            yield site.found(field.entry.key.span, f"`{field.key.name}` is empty")
        elif has_gap(field.node):
            yield site.found(field.entry.key.span, f"Empty entry in `{field.key.name}`")


def _is_asked_for(key: Key, block: Block) -> bool:
    """Whether another rule says that a value is missing here: that is the same fault."""
    mode = block.text("mode") or "refine"
    needed = key.required or key.required_in == mode or (block.shape.name, key.name) == ("rag", "server")
    return needed or (key.name in block.shape.one_of and not _has_mode(block))


def _has_mode(block: Block) -> bool:
    return any(not field.empty for name, field in block.fields.items() if name in block.shape.one_of)


def _is_written_null(field: Field) -> bool:
    return isinstance(field.node, Scalar) and field.node.text != ""
