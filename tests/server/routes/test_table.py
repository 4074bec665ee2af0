"""One table says what the server answers: each handler is a plain function of context and params."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest

import loop_ls.server
from loop_ls.server.language_server import LoopServer
from loop_ls.server.routes.table import ROUTES, Kind, Route

OF_THE_LIFE_CYCLE = {"initialize", "initialized", "shutdown"}


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.method)
def test_a_route_leads_to_a_function_of_context_and_params_that_waits_only_where_the_table_says_so(
    route: Route,
) -> None:
    assert inspect.isfunction(route.function)
    first, second = inspect.signature(route.function).parameters.values()
    assert (first.name, first.annotation) == ("context", "Context")
    assert second.annotation == "JsonObject"
    assert inspect.iscoroutinefunction(route.function) == (route.kind is Kind.WAIT)


def test_what_is_registered_is_the_table_and_the_life_cycle() -> None:
    registered = LoopServer().protocol.fm.features.keys()
    assert registered == {route.method for route in ROUTES} | OF_THE_LIFE_CYCLE


def test_no_method_has_two_routes() -> None:
    methods = [route.method for route in ROUTES]
    assert len(set(methods)) == len(methods)


def test_only_who_serves_knows_the_whole_server() -> None:
    folder = Path(loop_ls.server.__file__).parent
    who = {
        path.relative_to(folder).as_posix() for path in folder.rglob("*.py") if "LoopServer" in path.read_text("utf-8")
    }
    assert who == {"language_server.py", "serve.py"}
