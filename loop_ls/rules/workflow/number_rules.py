"""Numbers and durations outside their range, and keys that are accepted and do nothing."""

from __future__ import annotations

from collections.abc import Iterator

from loop_ls.formats.common.key_table import Key, Type
from loop_ls.formats.common.typed_mapping import Field
from loop_ls.rules.engine.context import UNNECESSARY, Draft, Site, value_span
from loop_ls.rules.engine.finding import Severity
from loop_ls.rules.engine.registry import also, rule

#: Ranges that have a rule of their own: WF112, WF403, WF411, WF414.
_OWN_RULE = {
    "execution": ("max_workers",),
    "loop": ("max_iterations", "min_success_rate", "max_workers"),
    "step loop": ("max_iterations", "min_success_rate", "max_workers"),
}

_DISPUTED = (("step", "logging"),)


@rule("WF118", "number-out-of-range", Severity.WARNING, on="*", local=True)
def number_out_of_range(site: Site) -> Iterator[Draft]:
    """Value out of range.

    Temperatures go from 0 to 2, limits and sizes start at 1, waits and timeouts must be longer than zero.
    Providers reject such values at the first call, or the step never ends.

    Bad::
        steps:
          - name: greet
            temperature: 2.5
            run: "Greet {{input}}"
    Good::
        steps:
          - name: greet
            temperature: 2
            run: "Greet {{input}}"
    """
    taken = _OWN_RULE.get(site.block.shape.name, ())
    for field in site.block.fields.values():
        value = field.value
        if value.__class__ not in (int, float) or field.key.name in taken or field.entry.merged:
            continue
        if not _fits(field.key, float(value)):
            yield site.found(value_span(field), f"`{field.key.name}` must be {_range(field.key)}")


def _fits(key: Key, value: float) -> bool:
    if key.type is Type.DURATION:
        return value > 0
    if value != value or (key.minimum is not None and value < key.minimum):
        return False
    return key.maximum is None or value <= key.maximum


def _range(key: Key) -> str:
    if key.type is Type.DURATION:
        return "longer than zero"
    if key.maximum is None:
        return f"{key.minimum:g} or more"
    return f"between {key.minimum:g} and {key.maximum:g}"


@rule("WF119", "key-without-effect", Severity.INFORMATION, on="*", local=True)
def key_without_effect(site: Site) -> Iterator[Draft]:
    """Key that is accepted but has no effect.

    Older documents mention these keys, so files with them load; runs ignore them. `logging` on a step,
    which works only in `execution`, is reported with the profile `pedantic`.

    Bad::
        steps:
          - name: greet
            input: "some text"
            run: "Greet {{input}}"
    Good::
        steps:
          - name: greet
            run: "Greet {{input}}"
    """
    yield from _without_effect(site, disputed=False)


@also("WF119", on="*", local=True, profile="pedantic")
def disputed_key_without_effect(site: Site) -> Iterator[Draft]:
    """Documents disagree whether a step may set it, so good files do."""
    yield from _without_effect(site, disputed=True)


def _without_effect(site: Site, disputed: bool) -> Iterator[Draft]:
    for field in site.block.fields.values():
        if not field.key.idle or field.entry.merged or _is_outside_its_list(field):
            continue
        if ((site.block.shape.name, field.key.name) in _DISPUTED) is disputed:
            message = f"`{field.key.name}` has no effect {_place(site)}"
            yield site.found(field.entry.key.span, message, tags=UNNECESSARY)


def _is_outside_its_list(field: Field) -> bool:
    """WF822 speaks of such a value instead."""
    return bool(field.key.choices) and isinstance(field.value, str) and field.value not in field.key.choices


def _place(site: Site) -> str:
    return "on a step" if site.block.shape.name == "step" else f"in `{site.block.shape.name}`"
