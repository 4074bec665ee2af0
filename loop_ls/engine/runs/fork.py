"""Which answers of a run a fork takes: everything before an iteration of one of its loops.

Reads facts, writes the first fact of the new run. Knows no surface.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from loop_ls.contract.answers import Prompt
from loop_ls.contract.facts.kinds import RunStarted
from loop_ls.contract.run_view.fold import RunView
from loop_ls.contract.run_view.parts import Row
from loop_ls.engine.core.errors import Refused
from loop_ls.engine.core.plan import ENHANCE
from loop_ls.engine.events import RunState
from loop_ls.engine.journal.serialization import plain_text
from loop_ls.text.json_value import Json, JsonObject, as_object

#: What prompts are for that a person may change: a judge is asked what the file says.
CHANGEABLE = frozenset({"step", "consensus", "agent", "stage", "review"})
#: Characters of one, as many as are shown of it.
LONGEST_PROMPT = 1_000_000


@dataclass(frozen=True, slots=True)
class Cut:
    """The loop at `place`, from iteration `number` on; or what is `at` a place, and all that follows, asked with
    `prompt` where there is one."""

    place: str = ""
    number: int | None = None
    at: str = ""
    prompt: str | None = None

    @property
    def wire(self) -> JsonObject:
        fields: JsonObject = {"place": self.place, "iteration": self.number, "at": self.at, "prompt": self.prompt}
        return {name: value for name, value in fields.items() if value}


def cut_of(view: RunView, run_id: str, number: object, loop: object = None) -> Cut:
    """Raises `Refused` where the run has no such iteration, or not all before it are finished."""
    if isinstance(number, bool) or not isinstance(number, int) or number < 1:
        raise Refused("bad_argument", "`iteration` must be an integer from 1.")
    rows = [row for row in view.iterations if loop is None or row.name == loop]
    if not rows:
        told = f"Run {run_id} has no loop `{loop}`." if loop else f"Run {run_id} has no iterations to fork from."
        raise Refused("not_found", told, "Without `iteration` a fork reuses everything that was finished.")
    place = _loop_of(min(rows, key=_depth))  # the loop that is shown: the outermost, then the first
    have = max((row.number for row in rows if _loop_of(row) == place and _has_ended(row)), default=0)
    if number > have + 1:
        told = (
            f"Run {run_id} has finished {have} iterations of `{place}`: it can be forked from iteration 1 to "
            f"{have + 1}."
        )
        raise Refused("bad_argument", told)
    return Cut(place, number)


def cut_at(run_id: str, place: str, prompt: Json, asked: Sequence[Prompt]) -> Cut:
    """`asked` are the prompts at `place` and inside it. Raises `Refused` where a fork cannot begin with one of them."""
    own = [row for row in asked if asker_of(row["place"]) == place]
    if not own:
        told = f"Run {run_id} has no prompt at `{place}`."
        raise Refused("not_found", told, f"Its places: loop-ls runs prompts {run_id}")
    if not any(row["purpose"] in CHANGEABLE for row in own):
        told = f"A fork cannot start at `{place}`: that prompt is for the {own[0]['purpose']}."
        raise Refused("bad_argument", told, "Choose the place of a step, a stage or an assistant.")
    return Cut(at=place, prompt=read_prompt(prompt))


def read_prompt(given: Json) -> str | None:
    if given is None:
        return None
    if not isinstance(given, str) or not given.strip():
        raise Refused("bad_argument", "`prompt` must be a text that is not empty.")
    if len(given) > LONGEST_PROMPT:
        raise Refused(
            "bad_argument", f"`prompt` has {len(given):,} characters; at most {LONGEST_PROMPT:,} are allowed."
        )
    return plain_text(given)


def refuse_inside(state: RunState, run_id: str, place: str) -> None:
    """Raises `Refused` where files changed on the way to the place, and nobody could bring them back as they were."""
    if state.format == ENHANCE:
        told = f"Run {run_id} is an enhance loop, whose file changes between rounds: `at` does not work for it."
        raise Refused("bad_argument", told, "Set `iteration`, or run the workflow itself.")
    if state.worktree and not place.rpartition("/")[2].isdecimal():
        told = f"Run {run_id} worked in a worktree, which is kept after each iteration."
        raise Refused("bad_argument", told, "Set `iteration` instead of `at`.")


def place_of(given: Json) -> str:
    """The place that a request names: that of a prompt, or of what asks it."""
    if not isinstance(given, str) or not given.strip():
        raise Refused("bad_argument", "`at` must be a place of the run, such as `improve/2/draft`.")
    return asker_of(given.strip())


def asker_of(place: str) -> str:
    """Whose prompt the one at a place is: an assistant asks in a part of its iteration."""
    return place.removesuffix(":agent")


def _loop_of(row: Row) -> str:
    return row.id.rpartition("/")[0]


def _depth(row: Row) -> int:
    return row.depth * 100 + _loop_of(row).count("/")


def _has_ended(row: Row) -> bool:
    """By itself: what still ran at the end of its run has not."""
    return row.output is not None or row.error is not None


def forked(body: Mapping[str, Json], run_id: str, cut: Cut | None, given: Mapping[str, Json]) -> RunStarted:
    """The first fact of a run that goes on from another one, against the texts which that one has."""
    source: JsonObject = {"runId": run_id, "kind": "fork"}
    source |= cut.wire if cut is not None else {}
    started = RunStarted.model_validate({**body, "source": source})
    changed: JsonObject = {"attempt": started.attempt + 1}
    changed |= {name: given[name] for name in ("origin", "detach") if given.get(name)}
    return started.model_copy(update=changed)


def named_by(body: Mapping[str, Json]) -> JsonObject:
    """What the start of a run has named, as a request says it: for whoever has to agree to the same once more."""
    plan = as_object(body.get("plan"))
    named: JsonObject = {name: body.get(name) for name in ("root", "path", "target")}
    beside: JsonObject = {"check": plan.get("check"), "enhance": body.get("format") == ENHANCE}
    given = {name: value for name, value in beside.items() if value}
    return {**named, **given, **as_object(plan.get("instead"))}


def _part(part: Mapping[str, Json]) -> JsonObject:
    """What a start of a part of a workflow has said: its pinned outputs are those that the record has."""
    pinned = part.get("pinned")
    named = {name: part.get(name) for name in ("startFrom", "endAt")}
    outputs = {
        str(one.get("name")): one.get("output") for one in map(as_object, pinned if isinstance(pinned, list) else ())
    }
    return {**named, "pinned": outputs} if any(named.values()) else {}


def replay_argument(body: Mapping[str, Json], given: Mapping[str, Json]) -> JsonObject:
    """The start that a replay is: the recorded wishes against the files as they are now."""
    plan = as_object(body.get("plan"))
    recorded = {
        "root": body.get("root"),
        "path": body.get("path"),
        "target": body.get("target"),
        "input": body.get("input"),
        "goal": body.get("goal"),
        "message": body.get("message"),
        "parameters": body.get("parameters"),
        "maxIterations": plan.get("maxIterations"),
        **_part(as_object(plan.get("part"))),
    }
    mine = {
        name: given[name]
        for name in ("root", "path", "uri", "texts", "settings", "origin", "detach")
        if given.get(name)
    }
    if "uri" in mine and "path" not in mine:
        recorded.pop("path")
    wanted = {name: value for name, value in (recorded | mine).items() if value is not None}
    return {**wanted, "mock": True}  # nobody is asked, so nobody has to be there
