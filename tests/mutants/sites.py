"""Small, plausible faults in functions: one changed condition, number or early return, or one call left out, at a
time."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Container, Iterator
from pathlib import Path
from typing import NamedTuple

_TURNED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}

#: Calls that no test can miss: what is logged, what is reached only where the type checker has erred, and what the
#: product asserts of itself while tests run (nothing, where it is right).
_UNNOTICED = ("logger.", "assert_never(", "invariant(")

Change = Callable[[ast.AST], None]


class Mutant(NamedTuple):
    """One fault: in which function of which file, and what it does there. `number` finds it again in the file."""

    path: Path
    function: str
    line: int
    what: str
    number: int


def mutants_in(path: Path) -> list[Mutant]:
    """Every mutant of a file, in the order of its text."""
    tree = ast.parse(path.read_text("utf-8"))
    return [
        Mutant(path, function, line, what, number) for number, (function, line, what, _, _) in enumerate(_sites(tree))
    ]


def mutated(mutant: Mutant) -> ast.Module:
    """The syntax tree of the file with the fault in it."""
    tree = ast.parse(mutant.path.read_text("utf-8"))
    for number, (_, _, _, node, change) in enumerate(_sites(tree)):
        if number == mutant.number:
            change(node)
            return ast.fix_missing_locations(tree)
    raise LookupError(mutant)


def watched(path: Path, functions: Container[str], watcher: str) -> ast.Module:
    """The syntax tree of the file in which these functions begin by telling who they are."""
    tree = ast.parse(path.read_text("utf-8"))
    for name, node in _functions(tree, ""):
        if name in functions:
            node.body[:0] = ast.parse(f"{watcher}({(str(path), name)!r})").body
    return ast.fix_missing_locations(tree)


_Site = tuple[str, int, str, ast.AST, Change]


def _sites(tree: ast.Module) -> Iterator[_Site]:
    for function, node in _functions(tree, ""):
        for inner in _own(node):
            for what, change in _changes(inner):
                yield function, getattr(inner, "lineno", node.lineno), what, inner, change


_Function = ast.FunctionDef | ast.AsyncFunctionDef


def _functions(node: ast.AST, prefix: str) -> Iterator[tuple[str, _Function]]:
    """Functions and methods by qualified name; what is nested in a function belongs to it."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, _Function):
            yield f"{prefix}{child.name}", child
        elif isinstance(child, ast.ClassDef):
            yield from _functions(child, f"{prefix}{child.name}.")


def _own(function: _Function) -> Iterator[ast.AST]:
    for statement in function.body:
        yield from ast.walk(statement)


def _changes(node: ast.AST) -> Iterator[tuple[str, Change]]:
    match node:
        case ast.Compare(ops=[op]) if type(op) in _TURNED:
            yield f"{ast.unparse(node)}: comparison turned", _turn
        case ast.BoolOp(values=values):
            yield f"{ast.unparse(node)}: and/or swapped", _swap
            for at, value in enumerate(values):
                yield f"{ast.unparse(node)}: without `{ast.unparse(value)}`", _without(at)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield f"{ast.unparse(node)}: `not` dropped", _affirm(operand)
        case ast.Constant(value=int() as value) if not isinstance(value, bool):
            yield f"{value}: one more", _more
        case ast.Expr(value=ast.Call() | ast.Await()) if not ast.unparse(node).startswith(_UNNOTICED):
            yield f"{ast.unparse(node)}: left out", _leave_out
        case ast.If(body=[ast.Continue() | ast.Return(value=None)], orelse=[]):
            yield f"if {ast.unparse(node.test)}: never left early", _never
        case ast.If(test=test):
            yield f"if {ast.unparse(test)}: always", _always


def _turn(node: ast.AST) -> None:
    assert isinstance(node, ast.Compare)
    node.ops = [_TURNED[type(node.ops[0])]()]


def _swap(node: ast.AST) -> None:
    assert isinstance(node, ast.BoolOp)
    node.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()


def _without(at: int) -> Change:
    def change(node: ast.AST) -> None:
        assert isinstance(node, ast.BoolOp)
        left = [value for number, value in enumerate(node.values) if number != at]
        node.values = left if len(left) > 1 else [left[0], copy.deepcopy(left[0])]

    return change


def _affirm(operand: ast.expr) -> Change:
    def change(node: ast.AST) -> None:
        assert isinstance(node, ast.UnaryOp)
        node.operand = ast.UnaryOp(ast.Not(), operand)

    return change


def _more(node: ast.AST) -> None:
    assert isinstance(node, ast.Constant)
    assert isinstance(node.value, int)
    node.value += 1


def _leave_out(node: ast.AST) -> None:
    assert isinstance(node, ast.Expr)
    node.value = ast.Constant(None)


def _never(node: ast.AST) -> None:
    assert isinstance(node, ast.If)
    node.test = ast.Constant(False)


def _always(node: ast.AST) -> None:
    assert isinstance(node, ast.If)
    node.test = ast.Constant(True)
