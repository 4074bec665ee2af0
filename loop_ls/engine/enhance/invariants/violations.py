"""The invariants of a plan: what a candidate breaks, compared with the baseline on the effective workflow.

Each is a function that yields violations. A violation that the text before the plan has already, with the same
value, comes from its author, who may do all of this.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from loop_ls.engine.enhance.invariants.across_calls import deciding_arguments, judged_inside, told_across
from loop_ls.engine.enhance.invariants.baseline import Baseline
from loop_ls.engine.enhance.invariants.behind_checks import deciding_files
from loop_ls.engine.enhance.invariants.bounds import worst_calls
from loop_ls.engine.enhance.invariants.compared import Compared, Violation, named
from loop_ls.engine.enhance.invariants.gates import gates_of, guard_sources, only_waits_decide, told_to_gates
from loop_ls.engine.enhance.invariants.past_checks import behind_checks, past_checks, unfailed
from loop_ls.engine.enhance.invariants.pleas import plea_in
from loop_ls.engine.enhance.invariants.powers import constants, unguarded
from loop_ls.engine.enhance.invariants.readable import words_of
from loop_ls.engine.enhance.invariants.shape import (
    POLICY_RANK,
    Shape,
    is_of_last_loop,
    last_loops,
    reaches,
    shape_of,
    tail,
    waits_for,
)
from loop_ls.formats.workflow.criterion_markers import markers
from loop_ls.index.document import Document
from loop_ls.index.workspace import Workspace
from loop_ls.text.hash import text_hash

#: How many times as much as round 1 a plan may make the workflow cost and wait.
_MOST_TIMES = 3
#: So many words in a row of an input are no accident.
_LEAK_WORDS = 8
_LETTERS = re.compile(r"(?<!\S)\S(?: \S(?!\S)){2,}")
_SENTENCE = re.compile(r"(?<=[.!?:;])\s+|\n+")
_QUOTED = re.compile(r"[\"'`]([^\"'`\n]{3,80})[\"'`]")
_SHORTEST_SENTENCE = 3


def violations(base: Baseline, workspace: Workspace, now: Document) -> tuple[Violation, ...]:
    """All that a text breaks."""
    compared = Compared(base, workspace, now)
    return tuple(found for check in _CHECKS for found in check(compared))


def new_violations(
    base: Baseline, workspace: Workspace, before: Document, now: Document, earlier: Workspace | None = None
) -> tuple[Violation, ...]:
    """What `now` breaks and the text before the plan did not. `earlier` is the workspace of that one, where other files
    of it are changed as well."""
    known = {(one.code, one.subject, one.found) for one in violations(base, earlier or workspace, before)}
    return tuple(one for one in violations(base, workspace, now) if (one.code, one.subject, one.found) not in known)


# -- what counts as the result --------------------------------------------------------------------------


def _result(it: Compared) -> Iterator[Violation]:
    """Who gives the result stays: a check behind the last step would be returned instead of the work."""
    first, now = it.base.first, it.now
    if not first.steps and now.steps:
        told = f"`{now.steps[-1].name}` would give the result instead of a loop"
        yield Violation("changes_result", now.steps[-1].name, told)
        return
    was, is_ = tail(first), tail(now)
    if was != is_ and was:
        name = next((one[0] for one in is_ if one not in was), is_[-1][0] if is_ else "")
        told = f"`{was[0][0]}` gives the result of the workflow, and the plan would change that"
        yield Violation("changes_result", name, told, repr(is_))


def _flow(it: Compared) -> Iterator[Violation]:
    """What reached the result, a check or a loop's judge still does."""
    first = it.base.first
    targets = {name for name, _ in tail(first)} | set(it.base.verifiers.checked)
    targets |= set(it.base.verifiers.checked.values()) | it.base.looked_at
    targets |= {one.name for one in first.elements if one.loop is not None}
    for name in sorted(targets):
        if first.element(name) is None or it.now.element(name) is None:
            continue
        lost = reaches(first, name) - reaches(it.now, name)
        if lost:
            gone = ", ".join(f"`{one}`" for one in sorted(lost))
            yield Violation("changes_result", name, f"{gone} would no longer reach `{name}`", repr(sorted(lost)))


def _last_loop(it: Compared) -> Iterator[Violation]:
    """`loop.*` behind a loop is that of the same loop as before: another one behind it would be looked at instead."""
    for element in it.now.elements:
        before = it.base.first.element(element.name)
        if before is None or not any(map(is_of_last_loop, before.uses)) or not any(map(is_of_last_loop, element.uses)):
            continue
        was, is_ = last_loops(it.base.first, before), last_loops(it.now, element)
        if was != is_:
            meant = named(was) if was else "the loop that calls this workflow"
            told = f"`loop` in `{element.name}` means {meant}, but would mean {named(is_) if is_ else 'another one'}"
            yield Violation("changes_result", element.name, told, repr(is_))


# -- what guards and checks --------------------------------------------------------------------------------


def _guards(it: Compared) -> Iterator[Violation]:
    """The `if`s of round 1 stay, its elements get none, and what an `if` reads is asked as before."""
    first = it.base.first
    sources, told_to = guard_sources(first), told_to_gates(first, it.base.verifiers.checked) | _told_across(it)
    for element, before, now in it.both():
        if first.element(element.name) is None:
            continue
        if before.condition != now.condition:
            told = f"a plan may not change the `if` of `{element.name}`"
            yield Violation("hides_failure", element.name, told, repr(now.condition))
        if element.name in sources and before.question != now.question:
            told = f"a plan may not change the prompt of `{element.name}`: an `if` depends on it"
            yield Violation("hides_failure", element.name, told, repr(now.question))
        if element.name in told_to and before.question != now.question:
            told = f"a plan may not change the prompt of `{element.name}`: only a check gets its result"
            yield Violation("hides_failure", element.name, told, repr(now.question))


def _told_across(it: Compared) -> frozenset[str]:
    return told_across(it.base.workspace, it.base.first, it.base.declared_in)


def _arguments(it: Compared) -> Iterator[Violation]:
    """What a called workflow checks by is given to it as before."""
    for element, before, now in it.both():
        first = it.base.first.element(element.name)
        if first is None or before.arguments == now.arguments:
            continue
        deciding = deciding_arguments(it.base.workspace, it.base.first, first, it.base.declared_in).all
        was, is_ = ({name: text for _, name, text in one.arguments} for one in (before, now))
        for name in sorted(one for one in deciding if was.get(one) != is_.get(one)):
            told = f"a plan may not change `{name}` of `{element.name}`: `{before.callee}` checks or decides by it"
            yield Violation("hides_failure", element.name, told, f"{name}: {is_.get(name)}")


def _verifiers(it: Compared) -> Iterator[Violation]:
    for element, before, now in it.both():
        if element.name in it.base.verifiers.checked and before != now:
            told = f"a plan may not change `{element.name}`, which checks the work"
            yield Violation("hides_failure", element.name, told, repr(now))


def _deciding(it: Compared) -> Iterator[Violation]:
    """What checks and guards call is as it was."""
    base = it.base
    for file, name in deciding_files(base.workspace, base.first, base.verifiers.checked, base.declared_in):
        now = it.workspace.documents.get(file.uri)
        if now is not None and str(now.text) != str(file.text):
            told = f"a plan may not change a workflow that `{name}` calls, which checks the work or decides what runs"
            yield Violation("hides_failure", name, told, text_hash(str(now.text)))


def _order(it: Compared) -> Iterator[Violation]:
    """A check comes behind its work, a guarded step behind all that it came behind, and everything behind its gates."""
    first = it.base.first
    guarding = set(it.base.verifiers.checked) | guard_sources(it.base.first) | _guarded(first)
    gates = guarding | it.base.failed | gates_of(first, it.base.verifiers.checked)
    for element in first.elements:
        if it.now.element(element.name) is None:
            continue
        lost = waits_for(first, element.name) - waits_for(it.now, element.name)
        for one in sorted(lost if element.name in guarding else lost & gates):
            told = f"`{element.name}` would no longer wait for `{one}`"
            yield Violation("hides_failure", element.name, told, one)


def _until(it: Compared) -> Iterator[Violation]:
    if it.base.reviewed:
        return
    for element, before, now in it.both():
        if before.until != now.until:
            told = (
                f"the `until` of `{element.name}` says when the work is done: a plan changes it only where a person "
                "reviews it (`pauseBetweenRounds`)"
            )
            yield Violation("hides_failure", element.name, told, now.until)


def _subject(it: Compared) -> Iterator[Violation]:
    """What is judged does not learn the words of its judge, nor does anything that flows into it."""
    criteria = [(criterion, given | {name}) for name, criterion, given in _judged(it)]
    everything = frozenset(one.name for one in it.now.elements)
    criteria += [(criterion, everything) for criterion in it.base.judged_by]
    judged = frozenset[str]().union(*(subjects for _, subjects in criteria), _declared_subjects(it))
    for element in it.now.elements:
        first = it.base.first.element(element.name)
        before = None if first is None else shape_of(it.base.first, first)
        now = shape_of(it.now, element)
        old = "" if before is None else before.prompt
        fresh = now.prompt if before is None else _fresh_text(before, now)
        for criterion, subjects in criteria:
            if not fresh or element.name not in subjects:
                continue
            said = _repeats(criterion, fresh, old)
            if said is not None:
                told = f"the prompt of `{element.name}` would contain the words that its check looks for: {said}"
                yield Violation("leaks_check", element.name, told, fresh)
                break
        plea = plea_in(fresh, old) if element.name in judged else None
        if plea is not None:
            told = f"what `{element.name}` gives is judged, and its prompt would speak to whoever judges it: `{plea}`"
            yield Violation("leaks_check", element.name, told, fresh)


def _declared_subjects(it: Compared) -> frozenset[str]:
    """What declared checks look at, and what flows into that."""
    found = it.base.looked_at
    return found.union(*(reaches(it.now, one) for one in found))


def _policies(it: Compared) -> Iterator[Violation]:
    first, checks = it.base.first, it.base.verifiers.checked
    gates = guard_sources(first) | told_to_gates(first, checks) | only_waits_decide(first) | _told_across(it)
    watched = it.base.failed | set(checks) | gates
    for element, before, now in it.both():
        if POLICY_RANK.get(now.policy, 2) <= POLICY_RANK.get(before.policy, 0):
            continue
        if element.name in watched:
            told = (
                f"`{element.name}` failed or decides: `{now.policy}` instead of `{before.policy}` would hide failures"
            )
            yield Violation("hides_failure", element.name, told, now.policy)
        elif element.loop is not None and now.policy == "continue":
            told = f"`continue` would leave out what fails in `{element.name}`, now or later"
            yield Violation("hides_failure", element.name, told, now.policy)


def _rates(it: Compared) -> Iterator[Violation]:
    for element, before, now in it.both():
        if element.loop_mode != "iterate":
            continue
        if now.rate < before.rate:
            told = f"a lower `min_success_rate` than {before.rate:g} would only hide failures"
            yield Violation("hides_failure", element.name, told, repr(now.rate))
        if (now.iterations or 0) < (before.iterations or 0):
            told = f"fewer than {before.iterations} items of `{element.name}` would be left out"
            yield Violation("hides_failure", element.name, told, repr(now.iterations))
        if _items(before) != _items(now):
            told = f"a plan may not change the `items` of `{element.name}`"
            yield Violation("hides_failure", element.name, told, repr(_items(now)))


# -- what is out of reach ----------------------------------------------------------------------------------


def _reach(it: Compared) -> Iterator[Violation]:
    first, now = it.base.first, it.now
    for element, before, is_ in it.both():
        if before.servers != is_.servers or before.mode != is_.mode or before.callee != is_.callee:
            told = f"`{element.name}` would work with other servers or another workflow"
            yield Violation("out_of_reach", element.name, told, repr((is_.servers, is_.mode, is_.callee)))
    if {name: pair.text for name, pair in first.env.items()} != {name: pair.text for name, pair in now.env.items()}:
        yield Violation("out_of_reach", "env", "a plan may not change `env`")
    known = _callees(it.base.workspace, first)
    for key in sorted(_callees(it.workspace, now) - known):
        yield Violation("out_of_reach", key, f"this workflow does not call `{key}`")


def _leaks(it: Compared) -> Iterator[Violation]:
    for element in it.now.elements:
        shape = shape_of(it.now, element)
        before = it.base.first.element(element.name)
        old = "" if before is None else shape_of(it.base.first, before).prompt
        text = shape.prompt
        for quoted in it.base.quoted:
            if _has_run_of(quoted, text) and not _has_run_of(quoted, old):
                told = f"`{element.name}` would contain this input"
                yield Violation("leaks_check", element.name, told, text)
                break
        for sought in it.base.sought:
            words = words_of(sought)
            if len(words) > 1 and _within(words, words_of(text)) and not _within(words, words_of(old)):
                told = f"`{element.name}` would contain what a check looks for"
                yield Violation("leaks_check", element.name, told, text)
                break


def _limits(it: Compared) -> Iterator[Violation]:
    was, is_ = worst_calls(it.base.workspace, it.base.first), worst_calls(it.workspace, it.now)
    if was and is_ > _MOST_TIMES * was:
        told = f"the workflow could make {is_} calls instead of {was}; at most {_MOST_TIMES} times as many are allowed"
        yield Violation("out_of_range", "", told, str(is_))
    for element, before, now in it.both():
        if before.timeout is not None and now.timeout is not None and now.timeout > _MOST_TIMES * before.timeout:
            told = (
                f"`{element.name}` had {before.timeout:g} seconds at first; at most {_MOST_TIMES} times that is allowed"
            )
            yield Violation("out_of_range", element.name, told, repr(now.timeout))


_CHECKS: tuple[Callable[[Compared], Iterator[Violation]], ...] = (
    *(_result, _flow, past_checks, behind_checks, _last_loop, _verifiers, _guards, _arguments, _deciding),
    *(_until, _subject, _policies, _rates, _order, _reach, unguarded, constants, _leaks, _limits, unfailed),
)


# -- shared ------------------------------------------------------------------------------------------------


def _guarded(document: Document) -> frozenset[str]:
    return frozenset(one.name for one in document.elements if one.block.has("if"))


def judged_elsewhere(workspace: Workspace, caller: Baseline, file: Document) -> tuple[str, ...]:
    """The criteria by which a caller judges what another file gives: those of its loops, of checks of its steps, and of
    workflows that what comes of it is given to."""
    compared, found = Compared(caller, workspace, caller.first), list[str]()
    own = {criterion for _, criterion in _criteria(compared)}
    for name, criterion, given in _judged(compared):
        elements = [caller.first.element(one) for one in (given | {name} if criterion in own else given)]
        callees = [workspace.callee(caller.first, one.reference) for one in elements if one is not None]
        if any(one.uri == file.uri or _leads_to(workspace, one, file) for one in callees if one is not None):
            found.append(criterion)
    return tuple(found)


def _judged(it: Compared) -> Iterator[tuple[str, str, frozenset[str]]]:
    """Whoever is judged, here or in a workflow that is called, in what words, and what flows into that."""
    for name, criterion in _criteria(it):
        yield name, criterion, reaches(it.now, name)
    for one in it.base.first.calling:
        for criterion in judged_inside(it.base.workspace, it.base.first, one, it.base.declared_in):
            yield one.name, criterion, reaches(it.now, one.name)


def _leads_to(workspace: Workspace, document: Document, file: Document) -> bool:
    seen, waiting = {document.uri}, [document]
    while waiting:
        one = waiting.pop()
        for element in one.calling:
            callee = workspace.callee(one, element.reference)
            if callee is not None and callee.uri not in seen:
                seen.add(callee.uri)
                waiting.append(callee)
    return file.uri in seen


def _criteria(it: Compared) -> Iterator[tuple[str, str]]:
    """Whoever is judged, and in what words: by its own `until`, and by the prompts of its verifiers."""
    for element in it.now.elements:
        before = it.base.shape(element.name)
        if before is not None and before.until:
            yield element.name, before.until
    for verifier, subject in it.base.verifiers.checked.items():
        shape = it.base.shape(verifier)
        if shape is not None and verifier != subject:
            yield subject, shape.prompt


def _fresh_text(before: Shape, now: Shape) -> str:
    """Texts of an element that are not as they were."""
    old = set(before.texts)
    return "\n".join(one[2] for one in now.texts if one not in old and one[0] != "until")


def _repeats(criterion: str, fresh: str, old: str) -> str | None:
    """A sentence, quoted text or marker of the criterion that is new in a text."""
    new, was = words_of(fresh), words_of(old)
    for sentence in _SENTENCE.split(criterion):
        words = words_of(sentence)
        if len(words.split()) >= _SHORTEST_SENTENCE and _within(words, new) and not _within(words, was):
            return f"`{sentence.strip()[:80]}`"
    for marker in (*markers(criterion), *_QUOTED.findall(criterion)):
        words = words_of(marker)
        if words and (_within(words, new) or _spelled_out(words, new)) and not _within(words, was):
            return f"`{marker}`"
    return None


def _within(words: str, text: str) -> bool:
    return f" {words} " in f" {text} "


def _spelled_out(words: str, text: str) -> bool:
    """Whether a text has them letter by letter: `D O N E`."""
    return any(words.replace(" ", "") in letters[0].replace(" ", "") for letters in _LETTERS.finditer(text))


def _has_run_of(quoted: str, text: str) -> bool:
    """Whether so many words in a row stand in both."""
    words, whole = words_of(quoted).split(), words_of(text)
    runs = (words[at : at + _LEAK_WORDS] for at in range(max(0, len(words) - _LEAK_WORDS + 1)))
    return any(_within(" ".join(run), whole) for run in runs)


def _items(shape: Shape) -> tuple[str, ...]:
    return tuple(text for kind, _, text in shape.texts if kind == "items")


def _callees(workspace: Workspace, document: Document) -> frozenset[str]:
    """The keys of all workflows that a file can reach."""
    found, waiting = set[str](), [document]
    while waiting:
        one = waiting.pop()
        for element in one.calling:
            resolved = workspace.resolve(one, element.reference) if element.reference else None
            if resolved is None or resolved.key is None or resolved.key in found:
                continue
            found.add(resolved.key)
            if resolved.document is not None:
                waiting.append(resolved.document)
    return frozenset(found)
