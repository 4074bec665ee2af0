"""One PostgreSQL server for all tests that need one, an empty database for each of them; every answer over HTTP is
checked against the contract.

What is tested outside of a run may do everything; a run is limited to its own capabilities here too.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp

from loop_ls.contract.validation import answer_type
from loop_ls.engine.api.route import Route, mounted
from loop_ls.engine.capabilities import guard
from loop_ls.engine.capabilities.values import Capabilities, Capability, Endpoint, Program
from loop_ls.engine.runs import control_commands
from loop_ls.testing.postgres import NoPostgres, PostgresServer


class Everything(Capabilities):
    def program(self, words: Sequence[str], folder: str) -> Program | None:
        return Program(tuple(words), folder)

    def endpoint(self, provider: str, written: str) -> Endpoint | None:
        return Endpoint(provider, written)

    @property
    def reads_pages(self) -> bool:
        return True

    def writes(self, path: Path) -> bool:
        return True

    def has(self, one: Capability) -> bool:
        return True


@pytest.fixture(autouse=True)
def answers_of_the_contract(monkeypatch: pytest.MonkeyPatch) -> None:
    """What an engine of this process answers over HTTP is of the type that the operation names, refusals too."""
    app = sys.modules.get("loop_ls.engine.api.app")
    if app is not None:
        monkeypatch.setattr(app, "mounted", lambda routes: mounted(tuple(checked(route) for route in routes)))


def checked(route: Route) -> Route:
    async def handler(request: Request) -> Response | ASGIApp:
        response = await route.handler(request)
        if isinstance(response, JSONResponse):
            operation = route.operation
            known = dict([(operation.status, operation.answer), *operation.otherwise])
            name = "HttpRefusal" if response.status_code >= 400 else known[response.status_code]
            answer_type(name).validate_json(response.body, strict=True)
        return response

    return Route(route.operation, handler)


@pytest.fixture(autouse=True)
def outside_of_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "OUTSIDE", Everything())


@pytest.fixture(autouse=True)
def stops_are_heard(monkeypatch: pytest.MonkeyPatch) -> None:
    """The engine cancels a whole run that does not hear of its stop in two seconds. In tests that would hide a stop
    that nobody hears, and a paid call that goes on meanwhile."""
    monkeypatch.setattr(control_commands, "PATIENCE", 300.0)


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    try:
        server = PostgresServer().start()
    except NoPostgres as error:
        pytest.fail(str(error))
    yield server
    server.stop()


@pytest.fixture
def database(postgres: PostgresServer) -> str:
    return postgres.database()
