"""SQLite, the system's PostgreSQL and the one that comes as a wheel hold a journal alike."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from loop_ls.engine.journal import Journal, SqliteStorage
from loop_ls.engine.journal.postgres import PostgresStorage
from loop_ls.testing.postgres import NoPostgres, PostgresServer, installed_programs, of_wheel
from loop_ls.text.hash import hash_of

KINDS = ["sqlite", "system", "wheel"]
ODD = ["", "ä\n\u2028\t😀", '{"a": 1}', "x" * 200_000, "' ; drop table facts; --", "\\x00 and %s"]


def programs(kind: str) -> Path:
    """Those of one server. Skips where that one is not installed."""
    wheel = of_wheel()
    try:
        found = installed_programs() if kind == "system" else wheel[0]
    except (NoPostgres, IndexError):
        pytest.skip("no such PostgreSQL server is installed")
    if kind == "system" and found in wheel:
        pytest.skip("no PostgreSQL of the system is installed")
    return found


@pytest.fixture(scope="module", params=KINDS)
def place(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Makes the storage of one journal, again and again the same."""
    if request.param == "sqlite":
        folder = tmp_path_factory.mktemp("journal")
        yield lambda: SqliteStorage(folder / "journal.db")
        return
    server = PostgresServer(programs=programs(request.param)).start()
    url = server.database()
    yield lambda: PostgresStorage(url)
    server.stop()


@pytest.fixture
async def journal(place: Any) -> AsyncIterator[Journal]:
    opened = Journal(place())
    yield opened
    await opened.close()


@pytest.mark.parametrize("number", range(len(ODD)))
async def test_a_text_comes_back_as_it_was(place: Any, number: int) -> None:
    run, text = f"text-{number}", ODD[number]
    first = Journal(place())
    await first.append(run, "k", [("x", {"text": text})], {"text": text}, keep={hash_of(text): text})
    await first.close()
    again = Journal(place())
    try:
        [event] = (await again.facts(run)).events
        assert event.body["text"] == text
        assert again.recall(run, "k") == {"text": text}
        assert again.storage.text(hash_of(text)) == text
    finally:
        await again.close()


async def test_facts_of_a_run_have_their_order_and_no_gap(journal: Journal) -> None:
    for number in range(5):
        await journal.append("order", f"k{number}", [("x", {"n": number}), ("y", {"n": number})], number)
    events = (await journal.facts("order")).events
    assert [event.seq for event in events] == list(range(1, 11))
    positions = [event.position for event in events]
    assert positions == sorted(set(positions))


async def test_an_answer_is_what_was_recorded_first(journal: Journal) -> None:
    await journal.append("first", "k", answer="one")
    assert await journal.append("first", "k", [("x", {})], answer="two") == []
    assert journal.recall("first", "k") == "one"
    assert list((await journal.facts("first")).events) == []
