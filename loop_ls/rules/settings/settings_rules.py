"""The settings of a project, `.loop-ls.yaml`: keys, values, secrets, and what they name."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from loop_ls.formats.checks.model import Target
from loop_ls.formats.common.did_you_mean import nearest
from loop_ls.formats.common.json_types import WORDS, kind_of, text_of, wrong_type
from loop_ls.formats.common.key_table import Type
from loop_ls.formats.common.plain_value import plain
from loop_ls.formats.common.secret import is_secret, is_variable_name, names_secret, takes_from_environment
from loop_ls.formats.common.typed_mapping import Block, Field, Named, Pair
from loop_ls.formats.settings.enhance import lies_below
from loop_ls.formats.settings.keys import ENHANCED, PRICE, PROVIDER_KINDS
from loop_ls.formats.settings.model import out_of_range
from loop_ls.formats.settings.price import price_faults
from loop_ls.index.checked_file import places_in
from loop_ls.index.disk.discovery import folders
from loop_ls.index.enhanced_verifiers import named_verifiers
from loop_ls.rules.docs.phrases import did_you_mean, listed, shortened
from loop_ls.rules.engine.context import Draft, Spot, draft, value_span
from loop_ls.rules.engine.finding import Fix, Severity, Tier
from loop_ls.rules.engine.object_view import ObjectView, conflict_drafts, mark, root_message, syntax_fault
from loop_ls.rules.engine.registry import all_rules, rule
from loop_ls.rules.fixes import builders
from loop_ls.rules.workflow.yaml_rules import renamed, unknown_sentence
from loop_ls.syntax.incremental.piece import Piece
from loop_ls.syntax.nodes import Alias, Entry, Mapping, Node, Scalar, Sequence


class _WrittenField(NamedTuple):
    """A field that is written in the file, with its piece."""

    piece: Piece
    field: Field


def _fields(view: ObjectView) -> Iterator[_WrittenField]:
    """Every known key of the file, outer ones first."""
    for part in view.parts.keys.values():
        yield _WrittenField(part.piece, part.field)
    for piece, block in _blocks(view):
        yield from (_WrittenField(piece, field) for field in block.fields.values() if not field.entry.merged)


def _blocks(view: ObjectView) -> Iterator[tuple[Piece, Block]]:
    """Every mapping with keys of its own."""
    for part in view.parts.keys.values():
        value = part.field.value
        tops = [value] if isinstance(value, Block) else []
        tops += [one.block for one in _named(part.field) if one.block is not None]
        for top in tops:
            yield from ((part.piece, block) for block in top.walk())


def _named(field: Field) -> tuple[Named, ...]:
    value = field.value
    return tuple(one for one in value if isinstance(one, Named)) if isinstance(value, tuple) else ()


@rule("LS001", "syntax", Severity.ERROR, on="settings syntax")
def syntax(view: ObjectView) -> Iterator[Draft]:
    """Settings that cannot be read, or that are not a mapping of keys.

    The last valid settings stay in effect.

    Bad::
        #- .loop-ls.yaml
        limits: {maxIterations: 20
    Good::
        #- .loop-ls.yaml
        limits: {maxIterations: 20}
    """
    if conflicts := conflict_drafts(view.document):
        yield from conflicts
        return
    fault = syntax_fault(view.document)
    if fault is not None:
        yield Draft(Spot(None, fault.span), fault.message)
    else:
        message = f"Settings must be a mapping of keys, not {root_message(view.document)}"
        yield Draft(view.begin(), message)


@rule("LS002", "unknown-key", Severity.WARNING, on="settings", fixes=(Tier.SAFE,))
def unknown_key(view: ObjectView) -> Iterator[Draft]:
    """Unknown key.

    You choose the names of providers, roles, servers and enhanced workflows; the keys below them are fixed.

    Bad::
        #- .loop-ls.yaml
        limits: {maxIteration: 20}
    Good::
        #- .loop-ls.yaml
        limits: {maxIterations: 20}
    """
    secret = {id(entry) for _, entry, _ in _secrets(view) if entry is not None}
    found = [(stray.piece, stray.unknown, view.parts.shape, set(view.parts.keys)) for stray in view.parts.strays]
    for piece, block in _blocks(view):
        if block.shape is PRICE:
            continue  # LS008
        found += [(piece, unknown, block.shape, set(block.fields)) for unknown in block.unknown]
    for piece, unknown, shape, present in found:
        if id(unknown.entry) in secret or unknown.entry.merged:
            continue
        span, better = unknown.entry.key.span, renamed(unknown, present, shape)
        fix = (builders.reword(piece, span, better),) if better else ()
        yield draft(piece, span, unknown_sentence(unknown, shape), fixes=fix)


@rule("LS003", "bad-value", Severity.ERROR, on="settings")
def bad_value(view: ObjectView) -> Iterator[Draft]:
    """Wrong type, or a value outside its list or range.

    The value is ignored. If a key is repeated, the first one counts.

    Bad::
        #- .loop-ls.yaml
        limits: {maxIterations: many}
    Good::
        #- .loop-ls.yaml
        limits: {maxIterations: 20}
    """
    for piece, field in _fields(view):
        if _of_price(field):
            continue  # LS008
        for at, message in _wrong(field):
            yield draft(piece, mark(at), message)
    for section, items in view.parts.items.items():
        part = view.parts.get(section)
        if items and items[0].node is not None and part is not None:
            yield draft(items[0].piece, mark(items[0].node), f"`{section}` must be {part.field.key.type.value}")
    for piece, block in _blocks(view):
        absent = [key.name for key in block.shape.keys.values() if key.required and not block.meant(key.name)]
        if absent and block.shape is not PRICE:
            yield draft(piece, mark(block.node), f"{block.shape.title} needs {listed(absent, 'and')}")
        for repeated in block.repeated:
            message = f"`{repeated.later.key.text}` is repeated; the first one counts"
            yield draft(piece, repeated.later.key.span, message)


def _wrong(field: Field) -> Iterator[tuple[Node, str]]:
    key, node = field.key, field.node
    if node is None or field.empty:
        return
    if field.faults:
        yield from ((fault.node, f"`{key.name}` must be {fault.expected}") for fault in field.faults)
    elif key.type is Type.TEXT and wrong_type(key, node) is not None:
        yield node, f"`{key.name}` must be {WORDS[key.type]}"
    elif _is_kind(field):
        return  # LS006
    elif isinstance(field.value, str | int | float) and (why := out_of_range(key, field.value)) is not None:
        yield node, f"`{key.name}` {why}"
    elif isinstance(field.value, tuple) and key.choices:
        for pair in field.value:
            if isinstance(pair, Pair) and pair.node is not None and pair.text not in key.choices:
                hint = did_you_mean(pair.text or "", key.choices)
                yield pair.node, f"`{pair.name}` must be {listed(key.choices)}{hint}"


def _is_kind(field: Field) -> bool:
    return field.key.choices == PROVIDER_KINDS


@rule("LS004", "secret-in-file", Severity.ERROR, on="settings", fixes=(Tier.SAFE,))
def secret_in_file(view: ObjectView) -> Iterator[Draft]:
    """API key or token in a file that others can read.

    Keep keys in the environment; the file only names the variable (`apiKeyEnv`). Revoke and replace a key
    that was in a file.

    Bad::
        #- .loop-ls.yaml
        providers:
          house:
            kind: openai
            apiKey: 0123456789abcdef
    Good::
        #- .loop-ls.yaml
        providers:
          house:
            kind: openai
            apiKeyEnv: HOUSE_API_KEY
    """
    for piece, entry, scalar in _secrets(view):
        name = entry.key.text if entry is not None else ""
        if entry is not None and is_variable_name(scalar.text) and name.lower().replace("_", "") == "apikey":
            message = (
                f"`{name}` would put the key itself in the file; set the name of an environment variable in `apiKeyEnv`"
            )
            block = next((one for _, one in _blocks(view) if entry in one.node.entries), None)
            fix: tuple[Fix, ...] = ()
            if block is not None and not block.has("apiKeyEnv"):
                fix = (builders.reword(piece, entry.key.span, "apiKeyEnv"),)
            yield draft(piece, mark(scalar), message, fixes=fix)
            continue
        message = (
            "Possible API key or token in a file that others can read; use the name of an environment variable instead"
        )
        yield draft(piece, mark(scalar), message)


def _secrets(view: ObjectView) -> Iterator[tuple[Piece, Entry | None, Scalar]]:
    """Values that are keys or tokens by their shape or by the name of their key."""
    for part in view.parts.keys.values():
        yield from _secrets_in(part.piece, part.entry, part.node)
    for stray in view.parts.strays:
        yield from _secrets_in(stray.piece, stray.unknown.entry, stray.unknown.entry.value)


def _secrets_in(piece: Piece, entry: Entry | None, node: Node | None) -> Iterator[tuple[Piece, Entry | None, Scalar]]:
    match node:
        case Scalar():
            if _is_secret(entry, node):
                yield piece, entry, node
        case Mapping():
            for inner in node.entries:
                if not inner.merged:
                    yield from _secrets_in(piece, inner, inner.value)
        case Sequence():
            for item in node.items:
                yield from _secrets_in(piece, None, item)
        case Alias() | None:
            return


def _is_secret(entry: Entry | None, scalar: Scalar) -> bool:
    if is_secret(scalar.text):
        return True
    kind = kind_of(scalar)
    if kind == "number" and entry is not None and entry.key.text.lower().startswith(("max", "min")):
        return False  # `maxToken: 5`: an amount under a misspelled name
    named = entry is not None and names_secret(entry.key.text)
    value = scalar.text.strip() if kind in ("text", "number") else ""
    return named and bool(value) and not takes_from_environment(value)


@rule("LS005", "unknown-rule", Severity.WARNING, on="settings", fixes=(Tier.SAFE,))
def unknown_rule(view: ObjectView) -> Iterator[Draft]:
    """Unknown rule.

    Use the code of a rule; `loop-ls explain --list` shows all.

    Bad::
        #- .loop-ls.yaml
        rules: {WF1115: off}
    Good::
        #- .loop-ls.yaml
        rules: {WF115: off}
    """
    part, known = view.parts.get("rules"), all_rules()
    if part is None or not isinstance(part.field.value, tuple):
        return
    for pair in part.field.value:
        if not isinstance(pair, Pair) or pair.name in known or pair.entry.merged:
            continue
        code = pair.name.upper()
        better = code if code in known else nearest(code, known, 1)
        hint = f"; did you mean `{better}`?" if better else "; `loop-ls explain --list` shows all"
        fix = (builders.reword(part.piece, pair.entry.key.span, better),) if better else ()
        message = f"Unknown rule `{shortened(pair.name)}`{hint}"
        yield draft(part.piece, pair.entry.key.span, message, fixes=fix)


@rule("LS006", "unknown-provider-kind", Severity.ERROR, on="settings", fixes=(Tier.SAFE,))
def unknown_provider_kind(view: ObjectView) -> Iterator[Draft]:
    """Unknown provider kind.

    The kind is the API that a service speaks, or how a program is called.

    Bad::
        #- .loop-ls.yaml
        providers:
          house: {kind: openapi, baseUrl: "http://127.0.0.1:8080/v1"}
    Good::
        #- .loop-ls.yaml
        providers:
          house: {kind: openai, baseUrl: "http://127.0.0.1:8080/v1"}
    """
    for piece, field in _fields(view):
        text = text_of(field.node)
        if not _is_kind(field) or text is None or text in PROVIDER_KINDS:
            continue
        better = nearest(text, PROVIDER_KINDS)
        hint = did_you_mean(text, PROVIDER_KINDS) or f"; expected {listed(PROVIDER_KINDS)}"
        written = isinstance(field.node, Scalar)
        fix = (builders.reword(piece, field.span, better),) if better and written else ()
        yield draft(piece, value_span(field), f"Unknown provider kind `{shortened(text)}`{hint}", fixes=fix)


@rule("LS007", "unreachable-glob", Severity.INFORMATION, on="settings")
def unreachable_glob(view: ObjectView) -> Iterator[Draft]:
    """Workflow folder pattern that matches no folder.

    Patterns are relative to the folder of the settings and cannot leave it.

    Bad::
        #- .loop-ls.yaml
        workflowRoots: [../elsewhere]
    Good::
        #- .loop-ls.yaml
        workflowRoots: [flows]
        #- flows/greet.yaml
        $schema: workflow/v2.0
        name: greet
        version: 1.0.0
        description: Greets somebody
        execution: {provider: ollama, model: llama3.2}
        steps:
          - {name: greet, run: "Greet {{input}}"}
    """
    part = view.parts.get("workflowRoots")
    if part is None or not isinstance(part.node, Sequence):
        return
    for item in [one for one in part.node.items if one is not None]:
        pattern = text_of(item)
        if pattern is None or _leads_somewhere(view, pattern):
            continue
        outside = ".." in pattern.replace("\\", "/").split("/") or pattern.startswith("/")
        why = "is outside the workspace" if outside else "does not match a folder of the workspace"
        yield draft(part.piece, mark(item), f"`{shortened(pattern)}` {why}, so it has no effect")


@rule("LS008", "faulty-price", Severity.ERROR, on="settings", fixes=(Tier.SAFE,))
def faulty_price(view: ObjectView) -> Iterator[Draft]:
    """Invalid `price`.

    An amount is missing, negative or not a number, or a key is unknown. Some tokens would count as free,
    and a budget in dollars could be exceeded, so runs are refused.

    Bad::
        #- .loop-ls.yaml
        providers:
          house:
            kind: openai
            baseUrl: "https://models.example.org/v1"
            price: {input: 3, outptu: 15}
    Good::
        #- .loop-ls.yaml
        providers:
          house:
            kind: openai
            baseUrl: "https://models.example.org/v1"
            price: {input: 3, output: 15}
    """
    for piece, field in _fields(view):
        if field.key.shape is not PRICE or field.node is None or field.empty:
            continue
        entries = {entry.key.text: entry for entry in field.node.entries} if isinstance(field.node, Mapping) else {}
        faults = tuple(price_faults(plain(field.node)))
        for fault in faults:
            entry = entries.get(fault.key)
            if not fault.key and any(other.meant for other in faults):
                continue  # the misspelt key is the missing one
            spot = mark(field.node) if entry is None else entry.key.span
            fix = (builders.reword(piece, entry.key.span, fault.meant),) if entry is not None and fault.meant else ()
            yield draft(piece, spot, f"`price` {fault.message}", fixes=fix)


def _of_price(field: Field) -> bool:
    return field.key.shape is PRICE or field.key in PRICE.keys.values()


def _leads_somewhere(view: ObjectView, pattern: str) -> bool:
    root = view.workspace.roots.workspace
    if folders(root, pattern):
        return True
    known = pattern.strip("/").removeprefix("./")
    return any(other.path.startswith(f"{root}/{known}/") for other in view.workspace.documents.values())


@rule("LS009", "uneditable-file", Severity.ERROR, on="settings", fixes=(Tier.SAFE,))
def uneditable_file(view: ObjectView) -> Iterator[Draft]:
    """A file in `enhance.files` that no plan can edit: it is outside the workspace, or is not one of its workflows.

    Paths are relative to the folder of the settings and cannot lead out of it. An enhance loop does not start with
    such a file.

    Bad::
        #- .loop-ls.yaml
        enhance: {files: [../draft.yaml]}
    Good::
        #- .loop-ls.yaml
        enhance: {files: [parts/draft.yaml]}
        #- parts/draft.yaml
        $schema: workflow/v2.0
        name: draft
        version: 1.0.0
        description: Writes a draft
        execution: {provider: ollama, model: llama3.2}
        steps:
          - {name: write, run: "Write about {{input}}"}
    """
    root = f"{view.workspace.roots.workspace}/"
    known = [one.path.removeprefix(root) for one in view.workspace.documents.values() if one.is_workflow]
    for piece, field in _fields(view):
        if field.key is not ENHANCED.keys["files"] or not isinstance(field.node, Sequence):
            continue
        for item in [one for one in field.node.items if one is not None]:
            path = text_of(item)
            if path is None or path in known:
                continue
            if not lies_below(path):
                yield draft(piece, mark(item), f"`{shortened(path)}` is outside the workspace, or is not a plain path")
                continue
            better = nearest(path, known)
            fix = (builders.reword(piece, item.span, better),) if better and isinstance(item, Scalar) else ()
            told = f"there is no workflow `{shortened(path)}` in the workspace{did_you_mean(path, known)}"
            yield draft(piece, mark(item), told, fixes=fix)


@rule("LS010", "unknown-verifier", Severity.ERROR, on="settings", fixes=(Tier.SAFE,))
def unknown_verifier(view: ObjectView) -> Iterator[Draft]:
    """A step in `verifiers` of an enhanced workflow that the workflow does not have.

    No step would give that verdict. An enhance loop does not start with such a name.

    Bad::
        #- .loop-ls.yaml
        enhance: {workflows: {draft: {verifiers: [reveiw]}}}
        #- draft.yaml
        $schema: workflow/v2.0
        name: draft
        version: 1.0.0
        description: Writes a draft
        execution: {provider: ollama, model: llama3.2}
        steps:
          - {name: write, run: "Write about {{input}}"}
          - {name: review, needs: [write], run: "Begin with PASS or FAIL: is {{write}} clear?"}
    Good::
        #- .loop-ls.yaml
        enhance: {workflows: {draft: {verifiers: [review]}}}
        #- draft.yaml
        $schema: workflow/v2.0
        name: draft
        version: 1.0.0
        description: Writes a draft
        execution: {provider: ollama, model: llama3.2}
        steps:
          - {name: write, run: "Write about {{input}}"}
          - {name: review, needs: [write], run: "Begin with PASS or FAIL: is {{write}} clear?"}
    """
    for workflow, piece, node in named_verifiers(view.parts):
        document, name = view.workspace.by_key(workflow), text_of(node)
        places = None if document is None else places_in(document)
        missing = None if places is None or name is None else places.missing(Target(places.part, name))
        if places is None or missing is None or name is None:
            continue
        better = nearest(name, places.parts)
        fix = (builders.reword(piece, node.span, better),) if better and isinstance(node, Scalar) else ()
        yield draft(piece, mark(node), missing.told, fixes=fix)


@rule("LS011", "unknown-workflow", Severity.WARNING, on="settings", fixes=(Tier.SAFE,))
def unknown_workflow(view: ObjectView) -> Iterator[Draft]:
    """Settings for a workflow in `enhance.workflows` that the workspace does not have.

    They have no effect: a pause or a lower limit that you set here does not apply. A workflow in a subfolder is named
    with its folder, as in `parts/draft`.

    Bad::
        #- .loop-ls.yaml
        enhance: {workflows: {drfat: {pauseBetweenRounds: true}}}
        #- draft.yaml
        $schema: workflow/v2.0
        name: draft
        version: 1.0.0
        description: Writes a draft
        execution: {provider: ollama, model: llama3.2}
        steps:
          - {name: write, run: "Write about {{input}}"}
    Good::
        #- .loop-ls.yaml
        enhance: {workflows: {draft: {pauseBetweenRounds: true}}}
        #- draft.yaml
        $schema: workflow/v2.0
        name: draft
        version: 1.0.0
        description: Writes a draft
        execution: {provider: ollama, model: llama3.2}
        steps:
          - {name: write, run: "Write about {{input}}"}
    """
    known = view.workspace.keys
    if not known:  # they are not written yet, or not read
        return
    for piece, field in _fields(view):
        if field.key.shape is not ENHANCED:
            continue
        for one in _named(field):
            if one.name in known or one.entry.merged:
                continue
            better = nearest(one.name, known)
            fix = (builders.reword(piece, one.entry.key.span, better),) if better else ()
            told = f"Unknown workflow `{shortened(one.name)}`, so this has no effect{did_you_mean(one.name, known)}"
            yield draft(piece, one.entry.key.span, told, fixes=fix)
