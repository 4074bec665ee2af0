"""Which variable an unknown name with a dot was meant to be.

A name with a dot is never a parameter, so nobody can supply it later. The nearest right one is looked for by
letter case and distance over the whole name, then with a first word that was left out, then word by word.
"""

from __future__ import annotations

from loop_ls.formats.common.did_you_mean import nearest, plain
from loop_ls.formats.workflow.placeholder_syntax import RESERVED
from loop_ls.index.element import Element, Use
from loop_ls.index.loop_variables import NAMES as LOOP_NAMES
from loop_ls.rules.engine.tracked_view import View
from loop_ls.rules.workflow.loop_places import places_of, variables_at

#: First words that other tools use for the results of steps.
_LIKE_STEP = ("step", "steps")


def meant(use: Use, element: Element, view: View) -> str | None:
    """The variable that exists at this place and was probably meant; None where nothing is near."""
    head, _, rest = use.name.partition(".")
    found = _loop_variable(use, element, view) or _behind(head, rest, view)
    if found == "loop.output" and use.slot.of_loop and use.slot.kind == "with":
        found = "loop.last.output"  # what it is there (WF507)
    return None if found is None or found.removeprefix("step.") in element.node.provides else found


def with_a_dot(name: str, view: View) -> str | None:
    """The variable that a simple name is without its dots: `loop_last_output`, `loopOutput`, `env_TONE`, `step_a`."""
    head, _, rest = plain(name).partition("_")
    written = name[-len(rest) :]
    if head == "env" and view.has_env(written):
        return f"env.{written}"
    if head in _LIKE_STEP and view.known(written) is not None:
        return f"step.{written}"
    return next((one for one in sorted(LOOP_NAMES) if _without_joints(one) == _without_joints(name)), None)


def _without_joints(name: str) -> str:
    return plain(name).replace("_", "").replace(".", "")


def _loop_variable(use: Use, element: Element, view: View) -> str | None:
    """Of those that exist here; where no loop is in reach, of all."""
    known = sorted(variables_at(places_of(element, use, view)) or LOOP_NAMES)
    return nearest(use.name, known) or nearest(f"loop.{use.name}", known, 1) or _same(f"loop.{use.name}", known)


def _same(name: str, known: list[str]) -> str | None:
    return next((one for one in known if plain(one) == plain(name)), None)


def _behind(head: str, rest: str, view: View) -> str | None:
    """By its first word: `ENV.X`, `Step.a`, `steps.a.output`, `Input.x`, `drafft.result`."""
    if nearest(head, ("env",)):
        key = rest if view.has_env(rest) else view.near_env(rest)
        return None if key is None else f"env.{key}"
    if nearest(head, _LIKE_STEP):
        return _result(rest, view)
    if head in RESERVED:
        return None  # `loop.indx`: the first word is right, whatever step is called `look`
    return view.near_variable(head)


def _result(rest: str, view: View) -> str | None:
    """The result of a step, whatever stands behind its name: a result is one text."""
    owner = rest.partition(".")[0]
    name = owner if view.known(owner) is not None else view.near_variable(owner)
    return None if name is None or name == "input" else f"step.{name}"
