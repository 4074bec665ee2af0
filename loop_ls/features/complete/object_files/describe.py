"""The documentation of completion items in role loops, assistants and settings (completion resolve)."""

from __future__ import annotations

from collections.abc import Mapping

from loop_ls.features.answers import About
from loop_ls.features.docs.assistant import CRITERIA
from loop_ls.features.docs.key import key_text
from loop_ls.features.docs.provider import model_text, provider_text
from loop_ls.features.docs.role_loop import ENDS, parameter_text, role_text
from loop_ls.formats.common.key_table import Shape
from loop_ls.index.document import Document
from loop_ls.index.object_file import roles_of
from loop_ls.index.placeholders import placeholders
from loop_ls.index.workspace import Workspace


def describe_object(workspace: Workspace, document: Document, about: About, shapes: Mapping[str, Shape]) -> str | None:
    """Markdown; `shapes` are the key tables of the format by name. None for what is not known any more."""
    match about:
        case ("key", name, key):
            shape = shapes.get(name)
            found = None if shape is None else shape.keys.get(key)
            return key_text(found, shape) if found is not None and shape is not None else None
        case ("snippet", text):
            return f"```yaml\n{text}\n```"
        case ("snippet json", text):
            return f"```json\n{text}\n```"
        case ("role", name):
            role = roles_of(workspace.settings).get(name)
            return role_text(role) if role is not None else None
        case ("end", type_):
            return ENDS.get(type_)
        case ("role parameter", name):
            declared = document.whole.role_loop.declared.get(name)
            return parameter_text(declared, list(placeholders(document))) if declared is not None else None
        case ("rule", code):
            return _rule(code)
        case ("provider", name):
            return provider_text(name, workspace.settings)
        case ("model", provider, name):
            return model_text(provider, name, workspace.settings)
        case ("value", "loop criteria", "type", text):
            return CRITERIA.get(text)
        case _:
            return None


def _rule(code: str) -> str | None:
    from loop_ls.rules.engine.registry import all_rules

    rule = all_rules().get(code)
    return f"**{rule.name}** — {rule.severity.name.lower()}\n\n{rule.title}" if rule is not None else None


def shapes_below(root: Shape | None) -> dict[str, Shape]:
    """A key table and every one that is reached from it, by name."""
    found: dict[str, Shape] = {}
    waiting = [root]
    while waiting:
        shape = waiting.pop()
        if shape is not None and shape.name not in found:
            found[shape.name] = shape
            waiting += (key.shape for key in shape.keys.values())
    return found
