"""Variables: exactly those that exist at the place, best first, each with what it is and where from.

Inside braces only the word is replaced; where an argument is still empty the braces are inserted, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from loop_ls.features.answers import Item, ItemKind
from loop_ls.features.complete.island import Braces, with_quotes
from loop_ls.features.complete.items.argument_guess import best_fit
from loop_ls.features.complete.items.proximity import nearest
from loop_ls.features.complete.prefix_filter import may_become
from loop_ls.features.complete.request import Request
from loop_ls.features.spot.place import Spot
from loop_ls.formats.workflow.placeholder_syntax import RAG_PARTS, RESERVED
from loop_ls.index.element import Element
from loop_ls.index.loop_variables import variables_of
from loop_ls.index.scope import Scope, Variable, scope_at
from loop_ls.rules.engine.finding import TextEdit
from loop_ls.text.position import Position, Span

#: More than anybody reads; the editor asks again while the name is being typed.
LIMIT = 100

#: What an argument of a loop mostly wants: the iteration goes on from the one before.
_BEST_IN_WITH = "loop.last.output"


def in_braces(request: Request, braces: Braces) -> tuple[Span, Iterator[Item]]:
    """What is replaced, and the items."""
    line = request.at.line
    braces, quotes = with_quotes(braces, request.line, request.spot)
    span = Span(Position(line, braces.start), Position(line, braces.end))
    return span, _items(request, braces, quotes)


def _items(request: Request, braces: Braces, quotes: tuple[TextEdit, ...]) -> Iterator[Item]:
    element, field = request.name, _field(request)
    for place, variable in enumerate(_offered(request, braces.word)):
        name = variable.name
        yield Item(
            name,
            ItemKind.VARIABLE,
            braces.before + name + braces.after,
            None,
            detail(variable),
            f"{place:04}",
            filter="{" + name if braces.before else None,
            more=quotes,
            about=("variable", element, field, name),
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
            detail(variable),
            f"v{place:04}",
            filter=f"{variable.name} {{{{{variable.name}}}}}",
            preselect=variable is fit,
            about=("variable", request.name, _field(request), variable.name),
        )


def fitting(request: Request, name: str) -> str:
    """The variable that an argument called `name` probably wants; empty where none seems right."""
    fit = best_fit(name, _offered(request, ""))
    return fit.name if fit is not None else ""


def detail(variable: Variable) -> str:
    """In a line: what it is, and what it is in the first iteration."""
    first = variable.first
    if first is None:
        waits = ", adds a dependency" if variable.waits and variable.kind in ("result", "rag") else ""
        return variable.meaning + waits
    return f"{variable.meaning} ({first or chr(34) * 2} in the first)"


def _criticised(request: Request, scope: Scope, variable: Variable) -> bool:
    """Whether a rule would speak up about the variable here: in a condition WF702 (what the judge sees anyway, or
    what is not there before the loop has ended), in the arguments of a loop WF507."""
    match request.in_loop:
        case "until":
            own = scope.element is not None and variable.element is scope.element
            return (
                own or variable.kind == "loop" or (variable.kind == "argument" and variable.name in _of_callee(request))
            )
        case "with":
            return variable.name == "loop.output"
        case _:
            return False


def _of_callee(request: Request) -> frozenset[str]:
    """The names that belong to the called workflow and are not known here."""
    around = (request.spot.written, *request.spot.outer)
    reference = next((entries["workflow"] for entries in around if "workflow" in entries), "")
    callee = request.workspace.callee(request.document, reference)
    return frozenset() if callee is None else frozenset((*callee.names, callee.name or ""))


def _offered(request: Request, typed: str) -> list[Variable]:
    """Best first; at most `LIMIT`. What cannot become of the typed word is not looked at."""
    scope = request_scope(request)
    found: dict[str, Variable] = {}
    for variable in _listed(request, scope, typed):
        if _criticised(request, scope, variable):
            continue
        found.setdefault(variable.name, variable)
        if len(found) == LIMIT:
            break
    listed = list(found.values())
    if request.in_loop == "until":
        listed.sort(key=lambda one: one.kind != "env")
    elif request.in_loop == "with":
        listed.sort(key=lambda one: one.name != _BEST_IN_WITH)
    return listed


def _listed(request: Request, scope: Scope, typed: str) -> Iterator[Variable]:
    if scope.element is None and request.in_loop is not None:
        yield from (one for one in _of_unread_loop(request) if may_become(typed, one.name))
    places = dict.fromkeys(place[:2] for place in scope.loop_places)
    yield from _looked_up(scope, dict.fromkeys(one.name for place in places for one in variables_of(*place)), typed)
    yield from _looked_up(scope, ("input", *(f"env.{key}" for key in request.document.env)), typed)
    yield from (
        one for one in _arguments(request, scope, typed) if not (one.name == typed and _only_here(request, one))
    )
    yield from _results(request, scope, typed)
    yield from _spelled_out(request, scope, typed)


def _spelled_out(request: Request, scope: Scope, typed: str) -> Iterator[Variable]:
    """The other spelling of a result, `step.x`, where it is being typed."""
    before, dot, name = typed.partition(".")
    if not typed or not (before == "step" if dot else "step".startswith(before)):
        return
    for variable in _results(request, scope, name):
        if variable.kind == "result":
            yield from _looked_up(scope, (f"step.{variable.name}",), typed)


def _looked_up(scope: Scope, names: Iterable[str], typed: str) -> Iterator[Variable]:
    for name in names:
        if may_become(typed, name) and (variable := scope.look_up(name)) is not None:
            yield variable


def _arguments(request: Request, scope: Scope, typed: str) -> Iterator[Variable]:
    """The arguments of callers, and the names that this file uses as parameters."""
    names = dict.fromkeys(request.document.parameters)
    for call in request.workspace.callers(request.document):
        names.update(dict.fromkeys(pair.name for pair in call.reference.arguments or ()))
        if call.reference.iterates:
            names.setdefault("item")
    for name in names:
        if name in RESERVED or name in request.document.names or "." in name or not may_become(typed, name):
            continue
        yield scope.look_up(name) or Variable(name, "argument", "an argument that callers must pass", can_be_empty=True)


def _results(request: Request, scope: Scope, typed: str) -> Iterator[Variable]:
    document = request.document
    own = document.position(scope.element) if scope.element is not None else None
    waits = document.graph.dependencies(own) - {own} if own is not None else frozenset()
    for _, element in nearest(document, own, waits, typed):
        yield from _looked_up(scope, _names_of(element), typed)


def _names_of(element: Element) -> Iterator[str]:
    """The variables that an element makes, its own name first."""
    names = [element.name] if element.name else []
    if element.accumulate is not None:
        names.append(element.accumulate.text)
    yield from (name for name in names if name not in RESERVED)
    if element.mode == "rag" and element.name:
        yield from (f"{element.name}.{part}" for part in sorted(RAG_PARTS))


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
