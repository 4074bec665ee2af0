"""The settings of a project and of its user as plain values.

Layers of plain mappings, as they come from `.loop-ls.yaml` and from an editor, are laid over one
another; a value of the wrong type is left out and told. Whoever needs more than the typed values
(the engine does) reads `raw`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import field
from typing import Any, NamedTuple, cast

from loop_ls.formats.common.did_you_mean import nearest
from loop_ls.formats.common.duration import parse_duration
from loop_ls.formats.common.isolate import ISOLATE, WORKTREE
from loop_ls.formats.common.key_table import Key, Shape, Type
from loop_ls.formats.common.plain_value import plain
from loop_ls.formats.common.read_value import read_block
from loop_ls.formats.common.target import Target
from loop_ls.formats.common.typed_mapping import Block, Fault, Field, Pair
from loop_ls.formats.settings.keys import PRICE, SETTINGS
from loop_ls.formats.settings.price import price_faults
from loop_ls.syntax.nodes import Entry
from loop_ls.syntax.nodes import Mapping as MappingNode
from loop_ls.syntax.tree import Tree, read_yaml
from loop_ls.text.json_value import Json, JsonObject
from loop_ls.text.lines import Text
from loop_ls.text.position import Position, Span, span
from loop_ls.text.record import equal_record


class Problem(NamedTuple):
    """Something in the settings that is not taken. `span` is absolute; None outside of a file. `path` is the key that
    is about, such as `limits.budgetUsd`; empty where it is about no key."""

    code: str  # LS001, LS002, LS003
    message: str
    span: Span | None = None
    path: str = ""


@equal_record
class ProviderSettings:
    name: str
    kind: str | None = None
    default_model: str | None = None
    models: tuple[str, ...] = ()
    base_url: str | None = None
    api_key_env: str | None = None


@equal_record
class Limits:
    max_iterations: int | None = None
    budget_usd: float | None = None
    wall_clock: float | None = None

    def iterations(self, written: int | None) -> int | None:
        """The most iterations of a loop for which `written` says how many; None where neither says it."""
        return min((one for one in (written, self.max_iterations) if one is not None), default=None)


@equal_record
class EngineSettings:
    data_dir: str | None = None
    database_url: str | None = None
    port: int | None = None
    teardown_on_disconnect: bool = True
    teardown_grace_ms: int = 60_000
    keep_runs: int | None = None
    keep_days: float | None = None
    shutdown_grace_ms: int = 5_000


@equal_record
class Settings:
    """`raw` is everything that was taken, as plain JSON values."""

    workflow_roots: tuple[str, ...] = ()
    rules: Mapping[str, str] = field(default_factory=dict)
    providers: Mapping[str, ProviderSettings] = field(default_factory=dict)
    judge: Target | None = None
    judge_locally: bool = False
    judge_impossible: bool = False
    assist: Target | None = None
    servers: tuple[str, ...] = ()
    roles: tuple[str, ...] = ()
    limits: Limits = Limits()
    enhanced: frozenset[str] = frozenset()
    engine: EngineSettings = EngineSettings()
    raw: Mapping[str, Any] = field(default_factory=dict)


def read_settings(text: str | Text) -> tuple[Settings, tuple[Problem, ...]]:
    """The settings of one `.loop-ls.yaml`, and what is wrong with it. Never raises on content."""
    values, problems = file_values(text)
    settings, more = settings_of(values)
    return settings, problems or more


def file_values(text: str | Text) -> tuple[JsonObject, tuple[Problem, ...]]:
    """The plain values of a settings file, for `settings_of`, and its problems with their places."""
    tree = read_yaml(text if isinstance(text, Text) else Text.of(text))
    syntax = tuple(_syntax_problems(tree))
    if syntax or tree.root_kind not in ("mapping", "empty"):
        return {}, syntax or (Problem("LS001", "Settings must be a mapping of keys", _whole(tree)),)
    values: dict[str, Any] = {}
    problems: list[Problem] = []
    for piece in tree.pieces:
        if piece.kind == "item" and piece.section is not None:  # `roles` and `servers` are no lists here
            values.setdefault(piece.section, [])
        if piece.key is None:
            continue
        values.setdefault(piece.key.text, plain(piece.node))
        at = tree.start_of(piece)
        entry = Entry(piece.key, piece.node)
        block = read_block(SETTINGS, MappingNode(piece.key.span, (entry,)))
        problems += (Problem(code, message, found.shift(at)) for code, message, found in _problems(block))
    return values, tuple(problems)


def settings_of(*layers: Mapping[str, Json]) -> tuple[Settings, tuple[Problem, ...]]:
    """The typed settings of plain values; a later layer wins over an earlier one, key by key."""
    merged: JsonObject = {}
    for layer in layers:
        merged = _merged(merged, layer)
    problems: list[Problem] = []
    raw = _checked(SETTINGS, merged, "", problems)
    return _typed(raw), tuple(problems)


def _typed(raw: Mapping[str, Any]) -> Settings:
    judge, limits, engine = raw.get("judge") or {}, raw.get("limits") or {}, raw.get("engine") or {}
    workflows = (raw.get("enhance") or {}).get("workflows") or {}
    return Settings(
        workflow_roots=tuple(raw.get("workflowRoots") or ()),
        rules=raw.get("rules") or {},
        providers={name: _provider(name, value) for name, value in (raw.get("providers") or {}).items()},
        judge=_target(judge),
        judge_locally=judge.get("local") is True,
        judge_impossible=judge.get("impossible") is True,
        assist=_target(raw.get("assist") or {}),
        servers=tuple(raw.get("servers") or ()),
        roles=tuple(raw.get("roles") or ()),
        limits=Limits(
            limits.get("maxIterations"), limits.get("budgetUsd"), parse_duration(limits.get("wallClock", ""))
        ),
        enhanced=frozenset(key for key, value in workflows.items() if value.get("enabled") is True),
        engine=EngineSettings(
            engine.get("dataDir"),
            engine.get("databaseUrl"),
            engine.get("port"),
            engine.get("teardownOnDisconnect", True),
            engine.get("teardownGraceMs", 60_000),
            engine.get("keepRuns"),
            engine.get("keepDays"),
            engine.get("shutdownGraceMs", 5_000),
        ),
        raw=raw,
    )


def _provider(name: str, value: Mapping[str, Any]) -> ProviderSettings:
    return ProviderSettings(
        name,
        value.get("kind"),
        value.get("defaultModel"),
        tuple(value.get("models") or ()),
        value.get("baseUrl"),
        value.get("apiKeyEnv"),
    )


def _target(value: Mapping[str, Any]) -> Target | None:
    provider, model = value.get("provider"), value.get("model")
    return Target(provider, model) if provider and model else None


def _merged(below: Mapping[str, Json], above: Mapping[str, Json]) -> JsonObject:
    merged = dict(below)
    for key, value in above.items():
        old = merged.get(key)
        merged[key] = _merged(old, value) if isinstance(old, Mapping) and isinstance(value, Mapping) else value
    return merged


def narrower(one: object, other: object) -> Json:
    """Of two sections of limits what both name, each time the smaller amount: who wrote one meant it."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        found = {name: narrower(one[name], other[name]) for name in one if name in other}
        return {name: value for name, value in found.items() if value is not None}
    amounts = [(_amount(each), each) for each in (one, other)]
    known = [(amount, each) for amount, each in amounts if amount is not None]
    return cast("Json", min(known, key=lambda pair: pair[0])[1]) if len(known) == len(amounts) else None


def _amount(value: object) -> float | None:
    if isinstance(value, str):
        return parse_duration(value)
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


# -- plain values against the table ---------------------------------------------------------------

_FITS: dict[Type, Callable[[Any], bool]] = {
    Type.TEXT: lambda v: isinstance(v, str),
    Type.INTEGER: lambda v: isinstance(v, int) and not isinstance(v, bool),
    Type.NUMBER: lambda v: isinstance(v, int | float) and not isinstance(v, bool),
    Type.BOOLEAN: lambda v: isinstance(v, bool),
    Type.DURATION: lambda v: isinstance(v, str) and parse_duration(v) is not None,
    Type.TEXTS: lambda v: isinstance(v, list) and all(isinstance(item, str) for item in v),
    Type.TEXT_MAP: lambda v: isinstance(v, Mapping),
}


def _checked(shape: Shape, values: Mapping[str, Any], where: str, problems: list[Problem]) -> JsonObject:
    """What of `values` the shape takes. Keys that it does not know are told and handed on: a provider
    may understand more than the table."""
    taken: dict[str, Any] = {}
    for name, value in values.items():
        key, path = shape.keys.get(name), f"{where}{name}"
        if key is None:
            problems.append(Problem("LS002", _unknown(shape, path, name), path=path))
            taken[name] = value
        elif value is not None:
            found = _taken(key, value, path, problems)
            if found is not None:
                taken[name] = found
    return taken


def _taken(key: Key, value: Any, path: str, problems: list[Problem]) -> object:
    if key.shape is PRICE:  # kept as it is written: half of it would be another price
        problems.extend(Problem("LS008", f"`{path}` {fault.message}", path=path) for fault in price_faults(value))
        return value
    if key.shape is not None and isinstance(value, Mapping):
        if key.type is Type.BLOCK:
            return _checked(key.shape, value, f"{path}.", problems)
        named = {str(n): v for n, v in value.items() if isinstance(v, Mapping)}
        return {n: _checked(key.shape, v, f"{path}.{n}.", problems) for n, v in named.items()}
    if key.shape is not None and key.type is Type.BLOCKS and _blocks(value):
        return [_checked(key.shape, one, f"{path}.", problems) for one in value]
    if key.name == ISOLATE and value not in key.choices:  # kept: without it a run would work where nobody wants it
        problems.append(Problem("LS003", f"`{path}` must be `{WORKTREE}`", path=path))
        return str(value)
    if key.type is Type.INTEGER and isinstance(value, float) and value.is_integer():
        value = int(value)  # as a file is read: `5.0` is a whole number
    fits = _FITS.get(key.type, lambda v: key.shape is None)
    if not fits(value):
        problems.append(Problem("LS003", f"`{path}` must be {key.type.value}", path=path))
        return None
    if key.type is Type.TEXT_MAP:
        return {str(n): _word(v) for n, v in value.items() if not key.choices or _word(v) in key.choices}
    fault = out_of_range(key, value)
    if fault is not None:
        problems.append(Problem("LS003", f"`{path}` {fault}", path=path))
    return value if fault is None else None


def _blocks(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(one, Mapping) for one in value)


def _word(value: object) -> str:
    """`off` may have become false on its way through another reader of YAML."""
    return "off" if value is False else str(value)


def out_of_range(key: Key, value: object) -> str | None:
    """Why a value of the right type is none that the key knows; the end of a sentence."""
    if isinstance(value, str) and key.choices and value not in key.choices:
        return f"must be one of {', '.join(key.choices)}" if len(key.choices) > 1 else f"must be `{key.choices[0]}`"
    if isinstance(value, int | float) and not isinstance(value, bool):
        if key.positive and value <= 0:
            return "must be more than 0"
        if key.minimum is not None and value < key.minimum:
            return f"must be at least {key.minimum:g}"
        if key.maximum is not None and value > key.maximum:
            return f"must be at most {key.maximum:g}"
    return None


def _unknown(shape: Shape, path: str, name: str) -> str:
    close = nearest(name, shape.keys)
    return f"Unknown key `{path}` in {shape.title}" + (f"; did you mean `{close}`?" if close else "")


# -- a file against the table ---------------------------------------------------------------------

_Found = tuple[str, str, Span]


def _problems(block: Block) -> Iterator[_Found]:
    for unknown in block.unknown:
        name = unknown.entry.key.text
        yield "LS002", _unknown(block.shape, name, name), unknown.entry.key.span
    for later in block.repeated:
        yield "LS003", f"`{later.later.key.text}` is repeated; the first one counts", later.later.key.span
    for one in block.fields.values():
        yield from _field_problems(one)
    for inner in block.inner:
        yield from _problems(inner)


def _field_problems(one: Field) -> Iterator[_Found]:
    for fault in one.faults:
        yield _fault_problem(one.key, fault)
    if isinstance(one.value, str | int | float):
        wrong = out_of_range(one.key, one.value)
        if wrong is not None:
            yield "LS003", f"`{one.key.name}` {wrong}", one.span
    if isinstance(one.value, tuple) and one.key.choices:
        for pair in one.value:
            if isinstance(pair, Pair) and pair.text not in one.key.choices and pair.node is not None:
                yield "LS003", f"`{pair.name}` must be one of {', '.join(one.key.choices)}", pair.node.span


def _fault_problem(key: Key, fault: Fault) -> _Found:
    return "LS003", f"`{key.name}` must be {fault.expected}", fault.node.span


def _syntax_problems(tree: Tree) -> Iterator[Problem]:
    for fault in tree.faults:
        yield Problem("LS001", fault.message, fault.span)
    for piece in tree.pieces:
        for fault in piece.faults:
            yield Problem("LS001", fault.message, fault.span.shift(tree.start_of(piece)))


def _whole(tree: Tree) -> Span:
    for piece in tree.pieces:
        if piece.node is not None:
            return piece.node.span.shift(tree.start_of(piece))
    return Span(Position(0, 0), Position(0, 0)) if tree.pieces else span(0, 0, 0, 0)
