"""What people do with the changes of a run in its worktree once it has ended: look, apply, keep, discard, go back.

Each decision is a fact of the run. What is not saved in a commit is never deleted, except by `discard`.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Literal, cast

from loop_ls.contract.answers import ChangesDone, FileChange, RunChanges, SavedIteration
from loop_ls.contract.facts.kinds import Warned, WorktreeDecided
from loop_ls.contract.run_state import WorktreeView
from loop_ls.engine.core.errors import Refused
from loop_ls.engine.core.ports import Failure
from loop_ls.engine.events import Event, RunState
from loop_ls.engine.runs.isolation.changes import apply, changed_files, diff, restore, told_of
from loop_ls.engine.runs.isolation.git import for_people
from loop_ls.engine.runs.isolation.put_in_place import PutInPlace
from loop_ls.engine.runs.isolation.restoring import Restoring
from loop_ls.engine.runs.isolation.worktree import Worktree, shown
from loop_ls.text.json_value import Json

Decision = Literal["apply", "keep", "discard"]
_DONE: dict[str, Literal["applied", "kept", "discarded"]] = {
    "apply": "applied",
    "keep": "kept",
    "discard": "discarded",
}


def read_choice(given: Json) -> Decision:
    """Raises `Refused`."""
    if given not in _DONE:
        raise Refused("bad_argument", f"`decision` must be `apply`, `keep` or `discard`, not {given!r}.")
    return cast("Decision", given)


async def looked_at(state: RunState, facts: Sequence[Event]) -> RunChanges:
    """Raises `Refused`."""
    made = _made(state)
    with _refusing(), for_people(state.root):
        files = await changed_files(state.root, made["base"], made["commit"])
        text, cut = await diff(state.root, made["base"], made["commit"])
    found: RunChanges = {
        "ok": True,
        "runId": state.run_id,
        "branch": made["branch"],
        "folder": made["folder"],
        "base": made["base"],
        "commit": made["commit"],
        "files": [FileChange(path=shown(one["path"]), status=one["status"]) for one in files],
        "diff": text,
        "cut": cut,
        "commits": _saved(facts),
    }
    if "decision" in made:
        found["decision"] = made["decision"]
    return found


@asynccontextmanager
async def undone_unless_recorded(state: RunState, data: Path) -> AsyncIterator[None]:
    """Inside, a decision is carried out and recorded: what is not recorded has not happened to the user's files."""
    placing = PutInPlace.of(Worktree.of(state.root, data, state.run_id, "").own)
    try:
        yield
    except BaseException:
        await asyncio.to_thread(placing.put_back)
        raise
    await asyncio.to_thread(placing.forget)
    Restoring.of(data, state.run_id).forget()


def undo(state: RunState, placing: PutInPlace) -> Warned | None:
    """What a crash has left in the middle is put back; what to tell of it. Never raises."""
    if state.worktree is not None and state.worktree.get("decision") == "applied":
        placing.forget()
        return None
    back = placing.put_back()
    if not back.begun:
        return None
    told = f"The engine was stopped while it applied the changes. {told_of(back)}"
    return Warned(code="apply_interrupted", message=told)


async def decided(state: RunState, data: Path, decision: Decision) -> WorktreeDecided:
    """Do it, as a person may (see `for_people`) -> the fact that says so, to be recorded. Raises `Refused`."""
    made = _ended(state)
    worktree = Worktree.of(state.root, data, state.run_id, made["branch"])
    with _refusing():
        match decision:
            case "apply":
                if made.get("decision") == "applied":
                    raise Refused("wrong_status", f"The changes of run {state.run_id} have been applied already.")
                changed = await apply(state.root, worktree.own, made["base"], made["commit"])
                told = await worktree.remove(made["folder"])
                return WorktreeDecided(decision="applied", changed=len(changed), told=told or None)
            case "keep":
                told = await worktree.remove(made["folder"])
                return WorktreeDecided(decision="kept", told=told or None)
            case "discard":
                told = await worktree.drop(made["folder"]) or await worktree.forget()
                return WorktreeDecided(decision="discarded", told=told or None)


async def restored(state: RunState, facts: Sequence[Event], data: Path, iteration: Json, loop: Json) -> WorktreeDecided:
    """As a person may. Raises `Refused`."""
    made = _ended(state)
    saved = _named(state, _saved(facts), iteration, loop)
    worktree = Worktree.of(state.root, data, state.run_id, made["branch"])
    name = saved.get("loop", "")
    begun = Restoring.of(data, state.run_id, iteration, loop)
    await asyncio.to_thread(begun.begin)
    with _refusing():
        title = f"Restore iteration {saved.get('iteration')} of {name}"
        try:
            commit = await restore(worktree, made["folder"], saved["commit"], title)
        except Failure:  # the branch was not set back
            begun.forget()
            raise
        changed = len(await changed_files(state.root, made["base"], commit))
    return WorktreeDecided(
        decision="restored", commit=commit, iteration=saved.get("iteration"), loop=name or None, changed=changed
    )


async def is_half_done(state: RunState, data: Path) -> bool:
    """Whether a restore has moved the branch of a run without a record of it, as the engine died in between."""
    made = state.worktree
    if made is None or state.imported or made.get("decision") == "discarded":
        return False
    with for_people(state.root):
        tip = await Worktree.of(state.root, data, state.run_id, made["branch"]).tip()
    return tip not in (None, made["commit"])


def answered(state: RunState, fact: WorktreeDecided) -> ChangesDone:
    done: ChangesDone = {
        "ok": True,
        "runId": state.run_id,
        "decision": fact.decision,
        "branch": _made(state)["branch"],
    }
    if fact.commit is not None:
        done["commit"] = fact.commit
    if fact.changed is not None:
        done["changed"] = fact.changed
    if fact.told is not None:
        done["told"] = fact.told
    return done


def _made(state: RunState) -> WorktreeView:
    """Raises `Refused`. What came in by a file may say anything: words of its record would be options of Git, and its
    branch one of the user's."""
    if state.imported:
        told = f"Run {state.run_id} was imported: its worktree, if any, is on the machine where it ran."
        raise Refused("not_found", told, "See its changes there.")
    if state.worktree is None:
        told = f"Run {state.run_id} has no worktree of its own: it works in your files."
        raise Refused("not_found", told, "Set `isolate: worktree` for the next one.")
    return state.worktree


def _ended(state: RunState) -> WorktreeView:
    made = _made(state)
    if not state.ended:
        raise Refused("wrong_status", f"Run {state.run_id} is {state.status}.", "Wait until it ends, or stop it.")
    if made.get("decision") == "discarded":
        raise Refused("wrong_status", f"The changes of run {state.run_id} have been discarded.")
    return made


def _saved(facts: Sequence[Event]) -> list[SavedIteration]:
    names = ("commit", "iteration", "loop", "verdict")
    kept = (fact.body for fact in facts if fact.kind == "worktree_committed")
    return [cast("SavedIteration", {name: body[name] for name in names if name in body}) for body in kept]


def _named(state: RunState, saved: list[SavedIteration], iteration: Json, loop: Json) -> SavedIteration:
    """The last commit of that iteration. Raises `Refused`."""
    fitting = [one for one in saved if one.get("iteration") == iteration and loop in (None, one.get("loop"))]
    loops = sorted({one.get("loop", "") for one in fitting})
    if len(loops) > 1:
        listed = ", ".join(f"`{name}`" for name in loops)
        told = f"Several loops of run {state.run_id} have an iteration {iteration}: {listed}."
        raise Refused("bad_argument", told, "Name one with `loop`.")
    if not fitting:
        numbers = sorted({one["iteration"] for one in saved if "iteration" in one and loop in (None, one.get("loop"))})
        there = f" It has {', '.join(map(str, numbers))}." if numbers else " It has none."
        raise Refused("not_found", f"Run {state.run_id} has no commit of iteration {iteration}.{there}")
    return fitting[-1]


@contextmanager
def _refusing() -> Iterator[None]:
    """A `Failure` inside is a `Refused` outside."""
    try:
        yield
    except Failure as error:
        message = error.message if error.message.endswith(".") else f"{error.message[:1].upper()}{error.message[1:]}."
        raise Refused("wrong_status", message, error.hint) from error
