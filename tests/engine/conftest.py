"""One PostgreSQL server for all tests that need one, an empty database for each of them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from loop_ls.testing.postgres import NoPostgres, PostgresServer


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
