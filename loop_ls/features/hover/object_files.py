"""Hover in role loops, assistants and settings: keys, and values that mean more than they say."""

from __future__ import annotations

from collections.abc import Callable

from loop_ls.features.answers import Hover
from loop_ls.features.docs.assistant import CRITERIA, assistant_text, ceiling_text
from loop_ls.features.docs.key import key_text
from loop_ls.features.docs.provider import model_text, provider_text
from loop_ls.features.docs.role_loop import ENDS, end_in_words, label_of, loop_text, parameter_text, role_text
from loop_ls.features.lookup.object_node_at import ObjectNodeAt, look_at_whole
from loop_ls.features.text.humanize import duration, excerpt
from loop_ls.formats.assistant.parts import AssistantParts
from loop_ls.formats.common.json_types import text_of, whole
from loop_ls.formats.common.key_table import Key, Type
from loop_ls.formats.common.typed_mapping import Block
from loop_ls.formats.role_loop.parts import role_part
from loop_ls.formats.settings.model import Settings
from loop_ls.index.document import Document
from loop_ls.index.object_file import roles_of
from loop_ls.index.placeholders import placeholders
from loop_ls.text.markdown import code, in_braces
from loop_ls.text.position import Position

#: What is known of a place besides the meaning of its key.
AboutValue = Callable[[ObjectNodeAt], str | None]


def hover_object(document: Document, at: Position, about_value: AboutValue) -> Hover | None:
    """Tells keys by the table of the format; `about_value` adds what the format knows of values."""
    look = look_at_whole(document, at)
    text = None if look is None else _text(look, about_value)
    return Hover(look.span, text) if look is not None and text else None


def _text(look: ObjectNodeAt, about_value: AboutValue) -> str | None:
    if look.placeholder is not None:
        return _placeholder(look)
    if look.pair is not None:
        return _pair(look)
    more = about_value(look)
    if look.on_key:
        return "\n\n".join(part for part in (key_text(look.field.key, look.shape), more) if part)
    if more is not None:
        return more
    key = look.field.key
    told = bool(key.choices) or key.type in (Type.INTEGER, Type.NUMBER, Type.BOOLEAN)
    return key_text(key, look.shape) if told else None


def _placeholder(look: ObjectNodeAt) -> str:
    one = look.placeholder
    assert one is not None
    declared = look.document.whole.role_loop.declared.get(one.name)
    if declared is None:
        return f"Unknown parameter {code(one.name)}: {in_braces(one.name)} stays as text."
    return parameter_text(declared, list(placeholders(look.document)))


def _pair(look: ObjectNodeAt) -> str | None:
    """A rule in the settings."""
    assert look.pair is not None
    if look.field.key.name != "rules":
        return key_text(look.field.key, look.shape)
    from loop_ls.rules.engine.registry import all_rules

    rule = all_rules().get(look.pair.name)
    if rule is None:
        return None
    return f"**{code(rule.code)}** {rule.name} — {rule.severity.name.lower()}\n\n{rule.title}"


# -- role loops -----------------------------------------------------------------------------------


def about_role_loop(look: ObjectNodeAt, settings: Settings) -> str | None:
    loop, key = look.document.whole.role_loop, look.field.key
    match (look.shape.name, key.name):
        case ("role loop", "name") if not look.on_key:
            return loop_text(loop)
        case ("role loop", "termination_condition"):
            return _end(look)
        case ("termination condition", "type" | "value"):
            return _end(look)
        case ("role stage", "role" | "name") if look.item is not None and not look.on_key:
            part = role_part(look.item)
            role = roles_of(settings).get(loop.role_of(look.item) or "")
            return role_text(role) if role is not None and part is not None and part.node is look.field.node else None
        case ("role stage", "requires_artifact_from") if not look.on_key:
            index = whole(look.field.node)
            stages = loop.in_run_order
            if index is None or not 0 <= index < len(stages):
                return None
            return f"The artifact of stage {index}, {code(label_of(loop, stages[index]))}."
        case ("parameter", "name") if not look.on_key:
            declared = loop.declared.get(text_of(look.field.node) or "")
            return None if declared is None else parameter_text(declared, list(placeholders(look.document)))
        case _:
            return None


def _end(look: ObjectNodeAt) -> str | None:
    reading = look.document.whole.role_loop.termination
    if reading is None or reading.type is None:
        return None
    here = f"Here: {end_in_words(reading.value)}." if reading.value is not None else ""
    return "\n\n".join(part for part in (ENDS[reading.type], here) if part)


# -- assistants -----------------------------------------------------------------------------------


def about_assistant(look: ObjectNodeAt, settings: Settings) -> str | None:
    key, one = look.field.key, assistant_at(look)
    match (look.shape.name, key.name):
        case ("loop criteria", "type"):
            type_ = text_of(look.field.node) or ""
            return CRITERIA.get(type_)
        case ("assistant" | "assistant file", "name" | "id") if one is not None and not look.on_key:
            return assistant_text(one, settings)
        case ("assistant" | "assistant file", "maxIterations" | "maxBudgetUsd" | "maxTotalBudgetUsd") if (
            one is not None
        ):
            return _ceiling(look, one, settings)
        case _:
            return None


def _ceiling(look: ObjectNodeAt, one: AssistantParts, settings: Settings) -> str | None:
    """What all iterations together may cost."""
    total = ceiling_text(one, settings)
    if total is None:
        return None
    here = f"Here: {total}."
    return here if look.on_key else f"{key_text(look.field.key, look.shape)}\n\n{here}"


def assistant_at(look: ObjectNodeAt) -> AssistantParts | None:
    """The assistant that a place belongs to."""
    for one in look.document.whole.assistants:
        if one.block is None or (look.item is not None and one.block is look.item.block):
            return one
    return None


# -- settings -------------------------------------------------------------------------------------


def about_setting(look: ObjectNodeAt, settings: Settings) -> str | None:
    key, text = look.field.key, text_of(look.field.node)
    if look.on_key or text is None:
        return None
    match key.offers:
        case "providers":
            return provider_text(text, settings)
        case "models":
            provider = look.block.text("provider") if isinstance(look.block, Block) else None
            return model_text(provider or "", text, settings)
        case _:
            return _duration(look, key)


def _duration(look: ObjectNodeAt, key: Key) -> str | None:
    value = look.field.value
    if key.type is Type.DURATION and isinstance(value, int | float):
        return f"{duration(value)}\n\n{excerpt(key.text, 200)}"
    return None
