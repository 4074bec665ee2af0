"""Why a workflow file cannot be turned into values: rule, sentence, place. Data, never exceptions.

Only what keeps values from being made or makes them senseless; the rules say much more.
"""

from __future__ import annotations

from collections.abc import Iterator

from loop_ls.formats.common.key_table import Type
from loop_ls.formats.common.typed_mapping import Block, Fault, Field, Unknown
from loop_ls.formats.workflow.keys import MODES
from loop_ls.text.position import Span
from loop_ls.text.record import equal_record


@equal_record
class Refusal:
    """`code` is the rule that says the same to a person who edits the file."""

    code: str
    message: str
    span: Span

    def shift(self, lines: int) -> Refusal:
        return Refusal(self.code, self.message, self.span.shift(lines))


#: shape and key -> rule for a required key that is missing or empty.
MISSING = {
    ("workflow", "name"): "WF101",
    ("workflow", "version"): "WF102",
    ("provider", "provider"): "WF108",
    ("provider", "model"): "WF108",
    ("step", "name"): "WF201",
    ("template", "name"): "WF205",
    ("loop", "name"): "WF401",
    ("loop", "workflow"): "WF402",
    ("step loop", "workflow"): "WF402",
    ("loop", "max_iterations"): "WF403",
    ("step loop", "max_iterations"): "WF403",
    ("consensus", "prompt"): "WF801",
    ("consensus", "executions"): "WF802",
    ("consensus execution", "provider"): "WF803",
    ("consensus execution", "model"): "WF803",
    ("consensus", "require"): "WF804",
    ("rag", "query"): "WF811",
}

#: shape and key -> rule for a value outside of its list. Keys that are not here only warn.
CHOICES = {
    ("execution", "logging"): "WF110",
    ("execution", "on_error"): "WF111",
    ("step", "on_failure"): "WF209",
    ("loop", "mode"): "WF404",
    ("step loop", "mode"): "WF404",
    ("loop", "on_failure"): "WF408",
    ("step loop", "on_failure"): "WF408",
    ("consensus", "require"): "WF804",
    ("rag", "output_format"): "WF813",
    ("embeddings", "chunk_strategy"): "WF821",
    ("embeddings", "encoding_format"): "WF822",
}

#: shape and key -> rule for a number outside of its range that is an error.
RANGES = {
    ("execution", "max_workers"): "WF112",
    ("loop", "max_iterations"): "WF403",
    ("step loop", "max_iterations"): "WF403",
    ("loop", "min_success_rate"): "WF411",
    ("step loop", "min_success_rate"): "WF411",
}


def block_refusals(block: Block, partial: bool = False) -> Iterator[Refusal]:
    """Everything against a block and the blocks inside it. `partial`: not all of its keys are here."""
    for unknown in block.unknown:
        yield Refusal("WF006", _unknown_sentence(block, unknown), unknown.entry.key.span)
    for repeated in block.repeated:
        sentence = f"Duplicate key `{repeated.later.key.text}`"
        yield Refusal("WF005", sentence, repeated.later.key.span)
    for field in block.fields.values():
        yield from _field_refusals(block, field)
    if not partial:
        required = tuple(key.name for key in block.shape.keys.values() if key.required)
        yield from missing(block, required, block.node.span)
        yield from _together(block)
    for inner in block.inner:
        yield from block_refusals(inner)


def missing(block: Block, names: tuple[str, ...], place: Span) -> Iterator[Refusal]:
    """Required keys that are absent or empty. A wrong value is told as what it is."""
    for name in names:
        field, code = block.get(name), MISSING.get((block.shape.name, name))
        if code is None or (block.meant(name) and field is None):
            continue
        if field is None or field.empty or field.value in ("", ()):
            where = place if field is None else field.span
            yield Refusal(code, f"Missing `{name}` in {_title(block)}", where)


def _field_refusals(block: Block, field: Field) -> Iterator[Refusal]:
    for fault in field.faults:
        yield _fault_refusal(field, fault)
    place = (block.shape.name, field.key.name)
    if isinstance(field.value, str) and place in CHOICES and field.value and field.value not in field.key.choices:
        listed = ", ".join(f"`{choice}`" for choice in field.key.choices)
        yield Refusal(CHOICES[place], f"`{field.key.name}` must be one of {listed}", field.span)
    elif isinstance(field.value, int | float) and place in RANGES and not _in_range(field):
        least, most = field.key.minimum, field.key.maximum
        bounds = f"at least {least:g}" if most is None else f"from {least:g} to {most:g}"
        yield Refusal(RANGES[place], f"`{field.key.name}` must be {bounds}", field.span)
    elif field.key.name == "with" and isinstance(field.value, tuple):
        for pair in block.pairs("with"):
            if pair.name == "input" and pair.text is None and pair.node is not None:
                yield Refusal("WF608", "`input` must be a string, not a list or a mapping", pair.node.span)


def _fault_refusal(field: Field, fault: Fault) -> Refusal:
    code = "WF008" if fault.kind == "duration" else "WF007"
    sentence = f"`{field.key.name}` must be {fault.expected}"
    if fault.kind == "braces":
        sentence = f"Missing quotes around the braces of `{field.key.name}`"
    elif fault.kind == "quoted":
        sentence += ", without quotes"
    return Refusal(code, sentence, fault.node.span)


def _together(block: Block) -> Iterator[Refusal]:
    """Keys that only make sense with or without one another."""
    match block.shape.name:
        case "step":
            yield from _one_mode(block)
        case "loop" | "step loop":
            needed, code = ("items", "WF406") if block.text("mode") == "iterate" else ("until", "WF405")
            if not block.text(needed) and not _faulty(block, needed) and not _faulty(block, "mode"):
                yield Refusal(code, f"Missing `{needed}` in {_title(block)}", block.node.span)
        case "consensus" if block.has("executions") and len(block.blocks("executions")) < 2:
            yield Refusal("WF802", "`consensus` needs at least two `executions`", block.node.span)
        case "embeddings" if not block.meant("input") and not block.meant("input_file"):
            yield Refusal("WF207", "Missing `input` or `input_file` in `embeddings`", block.node.span)
        case _:
            return


def _one_mode(block: Block) -> Iterator[Refusal]:
    modes = [name for name in block.fields if name in MODES]
    if len(modes) > 1:
        sentence = f"Conflicting keys `{modes[0]}` and `{modes[1]}` in {_title(block)}"
        yield Refusal("WF204", sentence, block.fields[modes[1]].entry.key.span)
    elif not any(block.meant(name) for name in MODES) or (modes == ["run"] and block.text("run") == ""):
        listed = ", ".join(f"`{name}`" for name in MODES)
        yield Refusal("WF203", f"Nothing to do in {_title(block)}; add one of {listed}", block.node.span)


def _faulty(block: Block, name: str) -> bool:
    field = block.get(name)
    return field is not None and bool(field.faults)


def _in_range(field: Field) -> bool:
    value, key = field.value, field.key
    assert isinstance(value, int | float)
    return (key.minimum is None or value >= key.minimum) and (key.maximum is None or value <= key.maximum)


def _unknown_sentence(block: Block, unknown: Unknown) -> str:
    sentence = f"Unknown key `{unknown.entry.key.text}` in {block.shape.title}"
    if unknown.advice is not None:
        return f"{sentence}: {unknown.advice.text}"
    return f"{sentence}; did you mean `{unknown.meant[0]}`?" if unknown.meant else sentence


def _title(block: Block) -> str:
    name = block.text("name") if block.shape.keys.get("name", None) else None
    if name and block.shape.keys["name"].type is Type.TEXT and block.shape.name in ("step", "loop"):
        return f"the {block.shape.name} `{name}`"
    return block.shape.title
