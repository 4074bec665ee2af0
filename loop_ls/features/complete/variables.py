"""Variables: exactly those that exist at the place, best first, each with what it is and where from.

Inside braces only the word is replaced; where an argument is still empty the braces are inserted, too.
"""

from __future__ import annotations

from collections.abc import Iterator

from loop_ls.features.complete.fitting import best_fit
from loop_ls.features.complete.island import Braces
from loop_ls.features.complete.request import Request
from loop_ls.features.spot.place import Spot
from loop_ls.features.values import Item, ItemKind
from loop_ls.index.loop_variables import variables_of
from loop_ls.index.scope import Scope, Variable, scope_at
from loop_ls.text.position import Position, Span

#: More than anybody reads; the editor asks again while the name is being typed.
LIMIT = 400

_NOT_IN_UNTIL = "does not belong in a condition: the judge sees the output anyway"


def in_braces(request: Request, braces: Braces) -> tuple[Span, Iterator[Item]]:
    """What is replaced, and the items."""
    line = request.at.line
    span = Span(Position(line, braces.start), Position(line, braces.end))
    return span, _items(request, braces)


def _items(request: Request, braces: Braces) -> Iterator[Item]:
    for place, variable in enumerate(_offered(request, braces.word)):
        name = variable.name
        yield Item(
            name,
            ItemKind.VARIABLE,
            braces.before + name + braces.after,
            None,
            detail(variable, request.in_loop),
            f"{place:04}",
            filter=braces.before[:1] + name if braces.before else None,
            about=_about(request, name),
        )


def as_values(request: Request, spot: Spot, name: str = "") -> Iterator[Item]:
    """Variables as whole values, braces and quotes included; `name` is what the value is for."""
    found = _offered(request, "")
    fit = best_fit(name, found) if name else None
    found.sort(key=lambda variable: variable is not fit)
    quote = "" if spot.quote else '"'
    for place, variable in enumerate(found):
        text = f"{spot.lead}{quote}{{{{{variable.name}}}}}{quote}"
        yield Item(
            "{{" + variable.name + "}}",
            ItemKind.VARIABLE,
            text,
            None,
            detail(variable, request.in_loop),
            f"v{place:04}",
            filter=f"{variable.name} {{{{{variable.name}}}}}",
            preselect=variable is fit,
            about=_about(request, variable.name),
        )


def fitting(request: Request, name: str) -> str:
    """The variable that an argument called `name` probably wants; empty where none seems right."""
    fit = best_fit(name, _offered(request, ""))
    return fit.name if fit is not None else ""


def detail(variable: Variable, in_loop: str | None) -> str:
    """In a line: what it is, and what it is in the first iteration."""
    if in_loop == "until" and is_output(variable):
        return _NOT_IN_UNTIL
    first = variable.first
    if first is None:
        waits = ", which is then waited for" if variable.waits and variable.kind in ("result", "rag") else ""
        return variable.meaning + waits
    return f"{variable.meaning} ({first or chr(34) * 2} in the first)"


def is_output(variable: Variable) -> bool:
    """Whether it holds what the judge is asked about (WF702)."""
    return variable.kind == "loop" and variable.name != "loop.iteration"


def _offered(request: Request, typed: str) -> list[Variable]:
    scope = request_scope(request)
    found = list(scope.variables.values())
    if scope.element is None and request.in_loop is not None:
        found = [*_of_unread_loop(request), *(one for one in found if one.kind != "loop")]
    if typed:
        found = [one for one in found if not (one.name == typed and _only_here(request, one))]
    if request.in_loop == "until":
        found.sort(key=lambda one: (is_output(one), one.kind == "loop", one.kind != "env"))
    return found[:LIMIT]


def request_scope(request: Request) -> Scope:
    return scope_at(request.workspace, request.document, request.element, _field(request))


def _field(request: Request) -> str:
    path = request.spot.path
    return next((part for part in reversed(path) if part in ("with", "items", "until", "if")), path[-1] if path else "")


def _of_unread_loop(request: Request) -> Iterator[Variable]:
    """The variables of a loop that cannot be read as it is typed now."""
    around = (request.spot.written, *request.spot.outer)
    mode = next((entries["mode"] for entries in around if "mode" in entries), "refine")
    assert request.in_loop is not None
    for known in variables_of("iterate" if mode == "iterate" else "refine", request.in_loop):
        yield Variable(known.name, "loop", known.meanings[request.in_loop], first=known.first)


def _only_here(request: Request, variable: Variable) -> bool:
    """Whether a name is no more than the word that is being typed."""
    if variable.kind != "argument" or variable.callers:
        return False
    uses = [use for element in request.document.mentioning(variable.name) for use in element.uses]
    return sum(use.name == variable.name for use in uses) <= 1


def _about(request: Request, name: str) -> tuple[str, ...]:
    return ("variable", request.name, _field(request), name)
