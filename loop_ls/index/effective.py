"""What counts for a step when nothing, or something, is written, and where it comes from."""

from __future__ import annotations

from typing import Generic, Literal, NamedTuple, TypeVar

from loop_ls.formats.common.target import Target
from loop_ls.formats.common.typed_mapping import Block, Field
from loop_ls.index.document import Document
from loop_ls.index.element import Element
from loop_ls.text.record import equal_record

Source = Literal["consensus", "embeddings", "step", "execution", "built-in"]
V = TypeVar("V")
_Places = tuple[tuple[Source, Block | None], ...]


class EffectiveValue(NamedTuple, Generic[V]):
    """A value and who gave it; `field` is where it is written, relative to its own piece."""

    value: V
    source: Source
    field: Field | None = None


class Models(NamedTuple):
    """Whom a step asks. `chain` in order of preference; empty where nothing can be resolved, then
    `provider` and `model` hold the half that is known. `source` is the nearest place that had a say,
    `halves` are the places of provider and model. `ignored` is a lone key that a chain of
    `execution` makes void (WF109)."""

    chain: tuple[Target, ...]
    source: Source
    provider: str | None = None
    model: str | None = None
    halves: tuple[Source, Source] = ("built-in", "built-in")
    ignored: Literal["provider", "model"] | None = None


@equal_record
class Effective:
    """Everything that one step runs with. `max_iterations` are rounds of tool calls."""

    models: Models
    temperature: EffectiveValue[float]
    max_tokens: EffectiveValue[int | None]
    timeout: EffectiveValue[float | None]
    max_iterations: EffectiveValue[int]
    servers: EffectiveValue[tuple[str, ...]]
    skills: EffectiveValue[tuple[str, ...]]
    on_failure: EffectiveValue[str]
    max_retries: EffectiveValue[int]
    logging: EffectiveValue[str]


_NOTHING = Models((), "built-in")


def effective(document: Document, element: Element) -> Effective:
    """What counts for a step; for a top-level loop what counts for its judge and its workflow."""
    execution, step = document.execution, element.block if element.kind == "step" else None
    places: _Places = (("step", step), ("execution", execution))
    return Effective(
        models=models(document, element),
        temperature=_number(places, "temperature", 0.7),
        max_tokens=_whole(places, "max_tokens", None),
        timeout=_number_or_none(places, "timeout"),
        max_iterations=_count(places, "max_iterations", 10),
        servers=_words(places, "servers"),
        skills=_words(places, "skills"),
        on_failure=_on_failure(element, execution),
        max_retries=_retries(element),
        logging=_text(places, "logging", "info"),
    )


def models(document: Document, element: Element) -> Models:
    """Step chain, step pair, chain of `execution`, pair of `execution`; a lone half is completed from
    the pair (D22). An embeddings step resolves each half on its own."""
    step = element.block if element.kind == "step" else None
    execution = document.execution
    embeddings = element.block.block("embeddings") if step is not None and element.mode == "embeddings" else None
    if embeddings is not None:
        return _halves((("embeddings", embeddings), ("step", step), ("execution", execution)))
    places: _Places = (("step", step), ("execution", execution))
    for source, block in places:
        found = _own(block, source)
        if found is not None:
            lone = _lone(step) if source == "execution" and block is not None and block.has("providers") else None
            return found if lone is None else found._replace(ignored=lone)
        if source == "step" and _lone(step) is not None and (execution is None or not chain_of(execution)):
            return _halves(places)
    return _halves((("execution", execution),))


def execution_models(document: Document) -> Models:
    """Whom the workflow itself asks: its judge, where the settings name none."""
    return _own(document.execution, "execution") or _halves((("execution", document.execution),))


def chain_of(block: Block) -> tuple[Target, ...]:
    """The complete links of a `providers` chain."""
    links = ((one.text("provider"), one.text("model")) for one in block.blocks("providers"))
    return tuple(Target(provider, model) for provider, model in links if provider and model)


def _own(block: Block | None, source: Source) -> Models | None:
    if block is None:
        return None
    chain = chain_of(block)
    if chain:
        return Models(chain, source, chain[0].provider, chain[0].model, (source, source))
    provider, model = block.text("provider"), block.text("model")
    if provider and model:
        return Models((Target(provider, model),), source, provider, model, (source, source))
    return None


def _lone(block: Block | None) -> Literal["provider", "model"] | None:
    if block is None:
        return None
    provider, model = block.text("provider"), block.text("model")
    if provider and not model:
        return "provider"
    return "model" if model and not provider else None


def _halves(places: _Places) -> Models:
    provider, model = _text_or_none(places, "provider"), _text_or_none(places, "model")
    given = tuple(half.source if half is not None else "built-in" for half in (provider, model))
    said: tuple[Source, ...] = tuple(source for source, _ in places if source in given)
    first, second = (half.value if half is not None else None for half in (provider, model))
    chain = (Target(first, second),) if first and second else ()
    return Models(chain, said[0] if said else "built-in", first, second, (given[0], given[1]))


def _written(places: _Places, key: str) -> tuple[Source, Block, Field] | None:
    """The nearest place that has a sound value for a key."""
    for source, block in places:
        field = None if block is None else block.get(key)
        if block is not None and field is not None and field.value is not None and not field.empty:
            return source, block, field
    return None


def _number(places: _Places, key: str, default: float) -> EffectiveValue[float]:
    found = _number_or_none(places, key)
    return (
        EffectiveValue(default, "built-in")
        if found.value is None
        else EffectiveValue(found.value, found.source, found.field)
    )


def _number_or_none(places: _Places, key: str) -> EffectiveValue[float | None]:
    found = _written(places, key)
    return (
        EffectiveValue(None, "built-in") if found is None else EffectiveValue(found[1].number(key), found[0], found[2])
    )


def _whole(places: _Places, key: str, default: int | None) -> EffectiveValue[int | None]:
    found = _written(places, key)
    return (
        EffectiveValue(default, "built-in")
        if found is None
        else EffectiveValue(found[1].integer(key), found[0], found[2])
    )


def _count(places: _Places, key: str, default: int) -> EffectiveValue[int]:
    found = _whole(places, key, default)
    return EffectiveValue(default if found.value is None else found.value, found.source, found.field)


def _text(places: _Places, key: str, default: str) -> EffectiveValue[str]:
    return _text_or_none(places, key) or EffectiveValue(default, "built-in")


def _text_or_none(places: _Places, key: str) -> EffectiveValue[str] | None:
    found = _written(places, key)
    text = None if found is None else found[1].text(key)
    return None if found is None or not text else EffectiveValue(text, found[0], found[2])


def _words(places: _Places, key: str) -> EffectiveValue[tuple[str, ...]]:
    found = _written(places, key)
    if found is None:
        return EffectiveValue((), "built-in")
    return EffectiveValue(tuple(word.text for word in found[1].words(key)), found[0], found[2])


def _on_failure(element: Element, execution: Block | None) -> EffectiveValue[str]:
    """Own `on_failure`; for a step then `execution.on_error`; else `halt`."""
    block = element.loop if element.loop is not None and element.loop.has("on_failure") else element.block
    own = _text_or_none((("step", block),), "on_failure")
    if own is not None or element.kind == "loop":
        return own or EffectiveValue("halt", "built-in")
    return _text((("execution", execution),), "on_error", "halt")


def _retries(element: Element) -> EffectiveValue[int]:
    """3 more tries under `retry` where no number is written (D11)."""
    block = element.loop if element.loop is not None else element.block
    retries = block.text("on_failure") == "retry"
    return _count((("step", block),), "max_retries", 3 if retries else 0)
