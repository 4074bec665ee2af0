"""Assistant files: who the assistant is, and whether its loop is set up as a whole."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from loop_ls.formats.assistant.keys import LIST, MANUAL
from loop_ls.formats.assistant.parts import AssistantParts, is_list
from loop_ls.formats.common.did_you_mean import nearest
from loop_ls.formats.common.json_types import kind_of, text_of, unquoted
from loop_ls.formats.common.key_table import Key, Shape, Type
from loop_ls.formats.common.problem import Placed
from loop_ls.formats.common.providers import FREE_KINDS
from loop_ls.formats.common.typed_mapping import Block, Unknown
from loop_ls.index.disk.skill_files import lacks_skill, skill_files, skill_path
from loop_ls.rules.assistant.criteria_values import judged
from loop_ls.rules.engine.context import Draft, Spot, draft, value_span
from loop_ls.rules.engine.finding import Fix, Severity, Tier
from loop_ls.rules.engine.object_view import ObjectView, conflict_drafts, root_message, syntax_fault
from loop_ls.rules.engine.registry import rule
from loop_ls.rules.fixes import builders
from loop_ls.rules.fixes.json import add_key, add_key_behind
from loop_ls.rules.role_loop.role_loop_rules import reworded
from loop_ls.rules.workflow.yaml_rules import renamed, unknown_sentence
from loop_ls.syntax.incremental.piece import Piece
from loop_ls.syntax.nodes import Alias, Entry, Node, Scalar, Sequence, resolved
from loop_ls.text.pattern import pattern

#: A number of iterations that is allowed.
_ITERATIONS = pattern(r"[1-9][0-9]?|100")


@rule("AL001", "syntax", Severity.ERROR, on="assistant syntax")
def syntax(view: ObjectView) -> Iterator[Draft]:
    """Invalid YAML or JSON, or a file that is not a mapping of keys.

    Nothing else in the file is checked until this is fixed.

    Bad::
        #- fixer.assistant.yaml
        name: Fixer
        persona: "You repair failing tests.
    Good::
        #- fixer.assistant.yaml
        name: Fixer
        persona: "You repair failing tests."
    """
    if conflicts := conflict_drafts(view.document):
        yield from conflicts
        return
    fault = syntax_fault(view.document)
    if fault is not None:
        yield Draft(Spot(None, fault.span), fault.message)
    else:
        message = f"An assistant must be a mapping with `name` and `persona`, not {root_message(view.document)}"
        yield Draft(view.begin(), message)


@rule("AL002", "required", Severity.ERROR, on="assistant")
def required(view: ObjectView) -> Iterator[Draft]:
    """Missing name or persona, or a name of more than 100 characters.

    Bad::
        #- fixer.assistant.yaml
        name: Fixer
        persona: ""
    Good::
        #- fixer.assistant.yaml
        name: Fixer
        persona: You repair failing tests.
    """
    yield from map(view.of_flaw, view.flaws("AL002"))


@rule("AL003", "unknown-key", Severity.WARNING, on="assistant", fixes=(Tier.SAFE,))
def unknown_key(view: ObjectView) -> Iterator[Draft]:
    """Unknown key.

    The key is skipped and its value has no effect. A file that lists several `assistants` cannot have other
    top-level keys.

    Bad::
        #- fixer.assistant.yaml
        name: Fixer
        persona: You repair failing tests.
        max_iterations: 5
    Good::
        #- fixer.assistant.yaml
        name: Fixer
        persona: You repair failing tests.
        maxIterations: 5
    """
    parts = view.parts
    if is_list(parts):
        message = f"A file with `{LIST}` cannot have other top-level keys; move this into one of the assistants"
        beside = [(part.piece, part.entry) for name, part in parts.keys.items() if name != LIST]
        beside += [(stray.piece, stray.unknown.entry) for stray in parts.strays]
        for piece, entry in beside:
            yield draft(piece, entry.key.span, message)
    for one in view.assistants:
        present = {part.field.key.name for part in one.written()}
        shape = parts.shape if one.block is None else one.block.shape
        for stray in one.strays():
            yield _unknown(stray.piece, stray.unknown, shape, renamed(stray.unknown, present, shape))
        for part in filter(None, (one.get("loopCriteria"), one.get("retry"))):
            block = part.field.value
            if isinstance(block, Block):
                for unknown in block.unknown:
                    yield _unknown(part.piece, unknown, block.shape, renamed(unknown, block.fields, block.shape))


def _unknown(piece: Piece, unknown: Unknown, shape: Shape, better: str | None) -> Draft:
    span = unknown.entry.key.span
    fix = (builders.reword(piece, span, better),) if better and not unknown.entry.merged else ()
    return draft(piece, span, unknown_sentence(unknown, shape), fixes=fix)


@rule("AL004", "bad-value", Severity.ERROR, on="assistant", fixes=(Tier.SAFE,))
def bad_value(view: ObjectView) -> Iterator[Draft]:
    """Wrong type, or a value that the key does not accept.

    Bad::
        #- fixer.assistant.yaml
        name: Fixer
        persona: You repair failing tests.
        purpose: repairing
    Good::
        #- fixer.assistant.yaml
        name: Fixer
        persona: You repair failing tests.
        purpose: coding
    """
    for placed in view.flaws("AL004"):
        yield view.of_flaw(placed, *(reworded(placed) or _retyped(view, placed)))


def _retyped(view: ObjectView, placed: Placed) -> tuple[Fix, ...]:
    """Quotes that are missing, or too many."""
    at, piece = placed.flaw.at, placed.piece
    if at is None or piece is None or isinstance(at, Entry | Alias):
        return ()
    key = _key_of(view, at)
    if key is None:
        return ()
    bare = unquoted(key, at)
    if bare is not None:
        title = "Remove the quotes" if bare == text_of(at) else f"Change to `{bare}`"
        return (builders.replace(piece, at.span, bare, title),)
    if key.type is Type.TEXT and kind_of(at) in ("number", "true or false"):
        return (builders.quote(piece, at.span),)
    return ()


def _key_of(view: ObjectView, node: Node) -> Key | None:
    """The key whose value a node is."""
    for one in view.assistants:
        for part in one.written():
            if part.node is node:
                return part.field.key
            if isinstance(part.field.value, Block):
                for field in part.field.value.fields.values():
                    if field.node is node:
                        return field.key
    return None


@rule("AL021", "iterations-range", Severity.ERROR, on="assistant", fixes=(Tier.SAFE,))
def iterations_range(view: ObjectView) -> Iterator[Draft]:
    """Number of iterations outside 1 to 100.

    Bad::
        #- fixer.assistant.yaml
        name: Fixer
        persona: You repair failing tests.
        maxIterations: 0
    Good::
        #- fixer.assistant.yaml
        name: Fixer
        persona: You repair failing tests.
        maxIterations: 10
    """
    for placed in view.flaws("AL021"):
        at = placed.flaw.at
        fix: tuple[Fix, ...] = ()
        if isinstance(at, Scalar) and _ITERATIONS.fullmatch(at.text):
            assert placed.piece is not None, "a scalar keeps its value in one piece"
            fix = (builders.replace(placed.piece, at.span, at.text, "Remove the quotes"),)
        yield view.of_flaw(placed, *fix)


# -- the loop as a whole --------------------------------------------------------------------------


@rule("AL022", "criteria-without-enable", Severity.HINT, on="assistant", fixes=(Tier.REVIEW,))
def criteria_without_enable(view: ObjectView) -> Iterator[Draft]:
    """Criterion of a disabled loop.

    Without `loopEnabled: true` the assistant cannot be started as a loop.

    Bad::
        #- fixer.assistant.yaml
        name: Fixer
        persona: You repair failing tests.
        loopCriteria: {type: manual}
        maxIterations: 1
    Good::
        #- fixer.assistant.yaml
        name: Fixer
        persona: You repair failing tests.
        maxBudgetUsd: 0.5
        loopEnabled: true
        loopCriteria: {type: manual}
        maxIterations: 1
    """
    for one in view.assistants:
        part = one.get("loopCriteria")
        if part is None or not one.has("loopCriteria") or one.enabled:
            continue
        if one.get("loopEnabled") is None and one.meant("loopEnabled"):
            continue
        message = "The loop is disabled, so this has no effect; add `loopEnabled: true`"
        enable: tuple[Fix, ...] = ()
        if one.get("loopEnabled") is None and not part.entry.merged:
            title = "Enable the loop"
            if one.block is None:
                enable = (add_key_behind(part, "loopEnabled", True, title, Tier.REVIEW),)
            else:
                enable = (add_key(part.piece, one.block, "loopEnabled", True, title, Tier.REVIEW),)
        yield draft(part.piece, part.entry.key.span, message, fixes=enable)


@rule("AL023", "cap-only", Severity.INFORMATION, on="assistant")
def cap_only(view: ObjectView) -> Iterator[Draft]:
    """Loop that always runs to its last iteration, because nothing ends it early.

    `type: max_iterations` states that this is intended.

    Bad::
        #- fixer.assistant.yaml
        name: Fixer
        persona: You repair failing tests.
        maxBudgetUsd: 0.5
        loopEnabled: true
    Good::
        #- fixer.assistant.yaml
        name: Fixer
        persona: You repair failing tests.
        maxBudgetUsd: 0.5
        loopEnabled: true
        loopCriteria: {type: max_iterations}
    """
    for one in view.assistants:
        if _limit(one, view) == 1 != one.max_iterations:
            continue  # the project lets no loop come to a second iteration
        if one.has("loopCriteria") or (one.get("loopCriteria") is None and one.meant("loopCriteria")):
            continue
        yield from _at_enabled(one, "Nothing ends this loop early, so every iteration runs; add `loopCriteria`")


@rule("AL024", "manual-single-round", Severity.INFORMATION, on="assistant", fixes=(Tier.SAFE,))
def manual_single_round(view: ObjectView) -> Iterator[Draft]:
    """Manual approval loop that never reaches a second iteration.

    Both answers end it: approve completes the loop, reject fails it. With `assistants: {revise: true}` in
    the settings there is a third answer that asks for another iteration; then this rule is silent.

    Bad::
        #- fixer.assistant.yaml
        name: Fixer
        persona: You repair failing tests.
        maxBudgetUsd: 0.5
        loopEnabled: true
        loopCriteria: {type: manual}
    Good::
        #- fixer.assistant.yaml
        name: Fixer
        persona: You repair failing tests.
        maxBudgetUsd: 0.5
        loopEnabled: true
        loopCriteria: {type: manual}
        maxIterations: 1
    """
    if (view.settings.raw.get("assistants") or {}).get("revise") is True:
        return
    for one, piece, _, _, at in judged(view, MANUAL):
        limit = _limit(one, view)
        if not one.enabled or limit is None or limit <= 1:
            continue
        if one.meant("maxIterations") and one.get("maxIterations") is None:
            continue  # AL003
        message = f"Approve and reject both end this loop, so `maxIterations: {limit}` has no effect"
        yield draft(piece, at, message, fixes=_once(one))


def _limit(one: AssistantParts, view: ObjectView) -> int | None:
    """How many iterations there are at most: the settings may allow fewer than the file."""
    most = view.settings.limits.max_iterations
    return one.max_iterations if most is None or one.max_iterations is None else min(most, one.max_iterations)


def _once(one: AssistantParts) -> tuple[Fix, ...]:
    title = "Set `maxIterations: 1`"
    limit, criteria = one.get("maxIterations"), one.get("loopCriteria")
    if limit is not None:
        if limit.entry.merged or isinstance(limit.node, Alias):
            return ()
        return (builders.replace(limit.piece, limit.field.span, "1", title),)
    if criteria is None or criteria.entry.merged:
        return ()
    if one.block is None:
        return (add_key_behind(criteria, "maxIterations", 1, title),)
    return (add_key(criteria.piece, one.block, "maxIterations", 1, title),)


@rule("AL025", "no-budget", Severity.INFORMATION, on="assistant")
def no_budget(view: ObjectView) -> Iterator[Draft]:
    """Loop whose cost is limited only by the number of iterations.

    `maxBudgetUsd` limits one iteration, `maxTotalBudgetUsd` the loop, `limits.budgetUsd` in the settings
    every run of the project. Silent if the settings define the provider as free.

    Bad::
        #- fixer.assistant.yaml
        name: Fixer
        persona: You repair failing tests.
        loopEnabled: true
        loopCriteria: {type: max_iterations}
    Good::
        #- fixer.assistant.yaml
        name: Fixer
        persona: You repair failing tests.
        maxBudgetUsd: 0.5
        loopEnabled: true
        loopCriteria: {type: max_iterations}
    """
    if view.settings.limits.budget_usd is not None:
        return
    for one in view.assistants:
        if not any(one.meant(name) for name in ("maxBudgetUsd", "maxTotalBudgetUsd")) and not _is_free(one, view):
            limit = _limit(one, view)
            upto = f"up to {limit} iterations" if limit is not None and limit > 1 else "an iteration"
            yield from _at_enabled(one, f"{upto} without a cost limit; add `maxBudgetUsd`")


def _is_free(one: AssistantParts, view: ObjectView) -> bool:
    part = one.get("provider")
    provider = view.settings.providers.get(text_of(part.node) or "") if part is not None else None
    if provider is None or provider.kind not in FREE_KINDS:
        return False
    return not (view.settings.raw.get("providers") or {}).get(provider.name, {}).get("price")


def _at_enabled(one: AssistantParts, message: str) -> Iterator[Draft]:
    part = one.get("loopEnabled")
    if part is not None and one.enabled:
        yield draft(part.piece, part.entry.key.span, message)


@rule("AL027", "provider-unsupported", Severity.WARNING, on="assistant")
def provider_unsupported(view: ObjectView) -> Iterator[Draft]:
    """Provider that is not configured.

    `claude-code` needs no configuration; other providers need an entry under `providers` in the settings.

    Bad::
        #- fixer.assistant.yaml
        name: Fixer
        persona: You repair failing tests.
        provider: openai
    Good::
        #- fixer.assistant.yaml
        name: Fixer
        persona: You repair failing tests.
        provider: claude-code
    """
    for one in view.assistants:
        part = one.get("provider")
        text = None if part is None else text_of(part.node)
        if part is not None and text in ("openai", "perplexity") and text not in view.settings.providers:
            message = f"Provider `{text}` is not configured; add it under `providers` in `.loop-ls.yaml`"
            yield draft(part.piece, value_span(part.field), message)


@rule("AL028", "unknown-server", Severity.ERROR, on="assistant", fixes=(Tier.SAFE,))
def unknown_server(view: ObjectView) -> Iterator[Draft]:
    """MCP server that the settings do not have.

    The loop does not start: its tools would be missing. Servers are listed under `servers` in `.loop-ls.yaml`.

    Bad::
        #- fixer.assistant.yaml
        name: Fixer
        persona: You repair failing tests.
        servers: [tickets]
    Good::
        #- fixer.assistant.yaml
        name: Fixer
        persona: You repair failing tests.
    """
    known = view.settings.servers
    for piece, node in _listed(view, "servers"):
        if node.text in known:
            continue
        near = nearest(node.text, known)
        better = f"; did you mean `{near}`?" if near else "; add it under `servers` in `.loop-ls.yaml`"
        fix = (builders.reword(piece, node.span, near),) if near else ()
        yield draft(piece, node.span, f"Unknown MCP server `{node.text}`{better}", fixes=fix)


@rule("AL029", "unknown-skill", Severity.WARNING, on="assistant", fixes=(Tier.SAFE,))
def unknown_skill(view: ObjectView) -> Iterator[Draft]:
    """Skill without a file `skills/NAME/SKILL.md` in the workspace folder.

    The loop runs without it. Not reported if the workspace has no folder `skills`, because other tools keep skills
    elsewhere.

    Bad::
        #- fixer.assistant.yaml
        name: Fixer
        persona: You repair failing tests.
        skills: [pytest]
    Good::
        #- fixer.assistant.yaml
        name: Fixer
        persona: You repair failing tests, one at a time.
    """
    root = Path(view.workspace.roots.workspace)
    for piece, node in _listed(view, "skills"):
        if not lacks_skill(root, node.text):
            continue
        near = nearest(node.text, skill_files(root))
        better = f"; did you mean `{near}`?" if near else f"; there is no `{skill_path(node.text)}`"
        fix = (builders.reword(piece, node.span, near),) if near else ()
        yield draft(piece, node.span, f"Unknown skill `{node.text}`{better}", fixes=fix)


def _listed(view: ObjectView, key: str) -> Iterator[tuple[Piece, Scalar]]:
    """The texts of a list, each once."""
    seen: set[int] = set()
    for one in view.assistants:
        part = one.get(key)
        node = None if part is None else resolved(part.node)
        if part is None or not isinstance(node, Sequence) or id(node) in seen:
            continue
        seen.add(id(node))
        yield from ((part.piece, item) for item in node.items if isinstance(item, Scalar) and text_of(item))
