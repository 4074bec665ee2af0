"""`rag` steps against real PostgreSQL: with pgvector, and by exact distances over arrays without it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from loop_ls.engine.core.ports import EmbedReply, EmbedRequest
from loop_ls.testing.models import ScriptedModels
from loop_ls.testing.postgres import NoPostgres, PostgresServer, of_wheel
from loop_ls.testing.workflows import Ran, lab

ROWS = [
    ("a", "bread", "north", [1.0, 0.0, 0.0]),
    ("b", "butter", "south", [0.9, 0.1, 0.0]),
    ("c", "engine", "east", [0.0, 0.0, 1.0]),
]


@pytest.fixture(scope="module", params=["vector", "real[]", "double precision[]"])
def table(request: pytest.FixtureRequest) -> Iterator[tuple[str, str]]:
    """The address of a database with a table of documents, and the type of their vectors."""
    kind, programs = request.param, of_wheel()
    if kind == "vector" and not programs:
        pytest.skip("no server with pgvector is installed")
    server = PostgresServer(programs=programs[0] if kind == "vector" else None)
    try:
        server.start()
    except NoPostgres as reason:
        pytest.skip(str(reason))
    try:
        with psycopg.connect(server.url, autocommit=True) as db:
            if kind == "vector":
                db.execute("create extension vector")
                kind = "vector(3)"
            db.execute("create schema shop")
            db.execute(f'create table shop."Docs" (id text primary key, body text, place text, near {kind})')  # type: ignore[call-overload]
            for row in ROWS:
                db.execute(f'insert into shop."Docs" values (%s, %s, %s, %s::real[]::{kind})', row)  # type: ignore[call-overload]
            db.execute("create table shop.plain (id int, body text)")
        yield server.url, kind
    finally:
        server.stop()


class Embedding(ScriptedModels):
    """The vector of every question is near bread."""

    async def embed(self, request: EmbedRequest, on_wait: Any = None) -> EmbedReply:
        self.embedded.append(request)
        return EmbedReply(tuple([1, 0.05, 0] for _ in request.texts), request.provider, request.model)


STORE = {
    "databaseUrlEnv": "SHOP_DB",
    "table": "shop.Docs",
    "textColumns": ["body"],
    "metadataColumns": ["place"],
    "provider": "acme",
    "model": "vec",
}


async def run(address: str, rag: str = "{query: bread}", **store: Any) -> Ran:
    settings = {"rag": {"stores": {"shop": STORE | store}}}
    it = lab(f"steps: [{{name: r, rag: {rag}}}]", settings=settings, environment={"SHOP_DB": address})
    it.models = Embedding()
    return await it.run()


async def test_the_nearest_rows_come_first_with_their_columns(table: tuple[str, str]) -> None:
    found = json.loads((await run(table[0], "{query: bread, top_k: 2}")).output)["results"]
    assert [(each["id"], each["text"], each["metadata"]) for each in found] == [
        ("a", {"body": "bread"}, {"place": "north"}),
        ("b", {"body": "butter"}, {"place": "south"}),
    ]
    assert found[0]["component_scores"]["default"] == pytest.approx(0.9988, abs=1e-3)


async def test_a_threshold_leaves_the_others_out(table: tuple[str, str]) -> None:
    ran = await run(table[0], strategies={"default": {"column": "near", "threshold": 0.5}})
    assert [each["id"] for each in json.loads(ran.output)["results"]] == ["a", "b"]


async def test_without_columns_all_text_is_shown(table: tuple[str, str]) -> None:
    ran = await run(table[0], textColumns=[], metadataColumns=[])
    assert json.loads(ran.output)["results"][0]["text"] == {"body": "bread", "place": "north"}


async def test_a_store_says_which_column_tells_documents_apart(table: tuple[str, str]) -> None:
    ran = await run(table[0], idColumn="place")
    assert [each["id"] for each in json.loads(ran.output)["results"]] == ["north", "south", "east"]


@pytest.mark.parametrize(
    ("store", "said"),
    [
        ({"table": "shop.gone"}, "store `shop` has no table `shop.gone`"),
        ({"table": "shop.plain"}, "has no vector columns"),
        ({"textColumns": ["nothing"]}, "`shop.Docs` of store `shop` has no column `nothing`"),
        (
            {"strategies": {"default": {"column": "body"}}},
            "column `body` of `shop.Docs` has type text, not vector",
        ),
        ({"table": 'Docs"; drop table "x'}, "has no table"),
        ({"table": ""}, "store `shop` of a database has no `table`"),
        ({"provider": ""}, "store `shop` of a database has no `provider`"),
        ({"databaseUrlEnv": "OTHER"}, "needs the environment variable OTHER, which is not set"),
    ],
)
async def test_what_is_not_there_is_named(table: tuple[str, str], store: dict[str, Any], said: str) -> None:
    ran = await run(table[0], **store)
    assert ran.outcome.failure is not None
    assert said in ran.outcome.failure.message


async def test_a_database_that_is_down_is_one_sentence_without_its_password() -> None:
    ran = await run("postgresql://someone:hush-hush@127.0.0.1:9/x")
    assert ran.outcome.failure is not None
    assert ran.outcome.failure.message.startswith("store `shop` cannot be searched: ")
    assert "hush" not in ran.outcome.failure.message
