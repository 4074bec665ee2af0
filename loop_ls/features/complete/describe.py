"""The documentation of an item, when the editor asks for it (completion resolve)."""

from __future__ import annotations

from loop_ls.features.answers import About
from loop_ls.features.complete.items.callees import workflow_text
from loop_ls.features.docs.element import element_text
from loop_ls.features.docs.key import key_text
from loop_ls.features.docs.provider import model_text, provider_text
from loop_ls.features.docs.variable import variable_text
from loop_ls.features.language_support import support_of
from loop_ls.features.text.humanize import excerpt
from loop_ls.formats.workflow.keys import SHAPES
from loop_ls.index.document import Document
from loop_ls.index.scope import scope_at
from loop_ls.index.workspace import Workspace
from loop_ls.text.markdown import code, escaped


def describe(workspace: Workspace, document: Document, about: About) -> str | None:
    """The documentation (Markdown) of an item, by its `about`. None for what is not known any more."""
    return support_of(document).describe(workspace, document, about)


def describe_workflow(workspace: Workspace, document: Document, about: About) -> str | None:
    match about:
        case ("key", shape, name):
            found = SHAPES.get(shape)
            key = found.keys.get(name) if found is not None else None
            return key_text(key, found) if found is not None and key is not None else None
        case ("snippet", text):
            return f"```yaml\n{text}\n```"
        case ("element", name):
            element = document.element(name)
            return element_text(workspace, document, element) if element is not None else None
        case ("workflow", key_):
            callee = workspace.by_key(key_)
            return workflow_text(workspace, callee) if callee is not None else None
        case ("variable", element_name, field, name):
            return _variable(workspace, document, element_name, field, name)
        case ("parameter", uri, name):
            callee = workspace.documents.get(uri)
            return parameter_text(callee, name) if callee is not None else None
        case ("provider", name):
            return provider_text(name, workspace.settings)
        case ("model", provider, name):
            return model_text(provider, name, workspace.settings)
        case _:
            return None


def _variable(workspace: Workspace, document: Document, element: str, field: str, name: str) -> str | None:
    scope = scope_at(workspace, document, document.element(element) if element else None, field)
    variable = scope.look_up(name) or scope.variables.get(name)
    return variable_text(variable, scope.in_loop) if variable is not None else None


def parameter_text(callee: Document, name: str) -> str:
    """Where a called workflow uses a parameter first."""
    parts = [f"**{code(name)}** — parameter of {code(callee.name or '?')}"]
    found = callee.first_use(name)
    if found is not None:
        element, use = found
        line = callee.text.lines[callee.absolute(element.piece, use.span).start.line]
        parts.append(f"First used in {code(element.name)}: “{escaped(excerpt(line, 120))}”")
    if name == "input":
        parts.append("Without it, the called workflow gets all other arguments as lines of text.")
    return "\n\n".join(parts)
