"""Role files: keys, values, instructions, and what else sets up the same role."""

from __future__ import annotations

from collections.abc import Iterator

from loop_ls.formats.common.did_you_mean import nearest
from loop_ls.formats.common.typed_mapping import Unknown
from loop_ls.formats.registry import ROLE_FILE
from loop_ls.formats.role_file.file_format import is_of_claude
from loop_ls.formats.role_file.keys import OF_CLAUDE
from loop_ls.formats.role_file.keys import ROLE_FILE as ROLE_KEYS
from loop_ls.formats.role_file.read import body_of
from loop_ls.index.document import Document
from loop_ls.index.role_file import precedence, role_name_of
from loop_ls.rules.engine.context import Draft, Spot, draft
from loop_ls.rules.engine.finding import Severity, Tier
from loop_ls.rules.engine.object_view import ObjectView, conflict_drafts, root_message, syntax_fault
from loop_ls.rules.engine.registry import rule
from loop_ls.rules.fixes import builders
from loop_ls.rules.role_loop.role_loop_rules import reworded
from loop_ls.rules.workflow.yaml_rules import renamed, unknown_sentence

#: Keys that neither Claude Code nor front matter of other programs has, and one that people bring from the settings.
_OWN = frozenset({*ROLE_KEYS.keys, "instructions"} - {"name", "description", "tools", "model"})


def _is_meant_for_us(view: ObjectView) -> bool:
    """Whether what is odd in it is a mistake: other programs read files of such names, too, by rules of their own."""
    if is_of_claude(view.document.path):
        return False
    if not view.parts.keys and not view.parts.strays:
        return False  # a thematic break
    return not _OWN.isdisjoint(view.parts.keys) or all(_is_misspelt(stray.unknown, view) for stray in view.parts.strays)


def _is_misspelt(unknown: Unknown, view: ObjectView) -> bool:
    name = unknown.entry.key.text
    return name in _OWN or nearest(name, view.parts.shape.keys) is not None


@rule("RO001", "syntax", Severity.ERROR, on="role_file syntax")
def syntax(view: ObjectView) -> Iterator[Draft]:
    """Role file whose keys cannot be read.

    They are in YAML between two lines `---` at the top; the instructions of the role are the text below. Agents of
    Claude Code, which reads less strictly, are not reported.

    Bad::
        #- roles/tester.md
        ---
        description: "Tests everything
        ---
        You test.
    Good::
        #- roles/tester.md
        ---
        description: Tests everything
        ---
        You test.
    """
    if conflicts := conflict_drafts(view.document):
        yield from conflicts
        return
    if not _is_meant_for_us(view):
        return
    fault = syntax_fault(view.document)
    if fault is not None:
        yield Draft(Spot(None, fault.span), fault.message)
    else:
        yield Draft(view.begin(), f"The keys of a role must be a mapping, not {root_message(view.document)}")


@rule("RO002", "unknown-key", Severity.WARNING, on="role_file", fixes=(Tier.SAFE,))
def unknown_key(view: ObjectView) -> Iterator[Draft]:
    """Unknown key.

    It has no effect. In `.claude/agents`, only misspelled keys are reported: the others are for Claude Code. The same
    applies to a file in `roles` without any key that only roles have, because other programs have such folders, too.

    Bad::
        #- roles/tester.md
        ---
        acces: readonly
        ---
        You test.
    Good::
        #- roles/tester.md
        ---
        access: readonly
        ---
        You test.
    """
    known = OF_CLAUDE if is_of_claude(view.document.path) else frozenset()
    for stray in view.parts.strays:
        if stray.unknown.entry.key.text in known:
            continue
        if not _is_meant_for_us(view) and not _is_misspelt(stray.unknown, view):
            continue
        better = renamed(stray.unknown, set(view.parts.keys), view.parts.shape)
        span = stray.unknown.entry.key.span
        fix = (builders.reword(stray.piece, span, better),) if better else ()
        yield draft(stray.piece, span, unknown_sentence(stray.unknown, view.parts.shape), fixes=fix)


@rule("RO003", "bad-value", Severity.ERROR, on="role_file", fixes=(Tier.SAFE,))
def bad_value(view: ObjectView) -> Iterator[Draft]:
    """Wrong type, or a value that the key does not accept.

    Bad::
        #- roles/tester.md
        ---
        access: everything
        ---
        You test.
    Good::
        #- roles/tester.md
        ---
        access: full
        ---
        You test.
    """
    of_claude = is_of_claude(view.document.path)
    for placed in view.flaws("RO003"):
        key = None if placed.piece is None else placed.piece.key
        if not of_claude or (key is not None and key.text in _OWN):
            yield view.of_flaw(placed, *reworded(placed))


@rule("RO004", "no-instructions", Severity.WARNING, on="role_file")
def no_instructions(view: ObjectView) -> Iterator[Draft]:
    """Role without instructions below its keys.

    Its agent only gets the description.

    Bad::
        #- roles/tester.md
        ---
        description: Tests everything
        ---
    Good::
        #- roles/tester.md
        ---
        description: Tests everything
        ---
        Run the tests, and say what fails and why.
    """
    if _is_meant_for_us(view) and not body_of(view.document.tree).strip():
        yield _at_name(view, "The role has no instructions; write them below the second `---`")


@rule("RO005", "duplicate-role", Severity.WARNING, on="role_file")
def duplicate_role(view: ObjectView) -> Iterator[Draft]:
    """Role that another file sets up, so that this one has no effect.

    `roles` in `.loop-ls.yaml` takes precedence over files in `roles`, and those over `.claude/agents`. In the same
    folder, the first file by name takes precedence.

    Bad::
        #- roles/tester.md
        ---
        name: tester
        ---
        You test.
        #- roles/another.md
        ---
        name: tester
        ---
        You test, too.
    Good::
        #- roles/tester.md
        ---
        name: tester
        ---
        You test.
    """
    name, own = role_name_of(view.document), precedence(view.document)
    same = (one for one in _role_files(view) if role_name_of(one) == name and precedence(one) < own)
    first = min(same, key=precedence, default=None)
    if first is not None:
        message = f"Role `{name}` is set up in `{_shown(view, first)}`, which takes precedence; this has no effect"
        yield _at_name(view, message)


def _role_files(view: ObjectView) -> Iterator[Document]:
    yield from (one for one in view.workspace.documents.values() if one.format == ROLE_FILE)


def _shown(view: ObjectView, document: Document) -> str:
    return document.path.removeprefix(f"{view.workspace.roots.workspace}/")


def _at_name(view: ObjectView, message: str) -> Draft:
    """On the name of the role, or where the file begins."""
    part = view.parts.get("name")
    if part is None or part.node is None:
        return Draft(view.begin(), message)
    return draft(part.piece, part.node.span, message)
