"""`rag` steps against a real MCP server with a tool that searches."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from loop_ls.engine.retrieval.by_server import hits
from loop_ls.engine.retrieval.values import Store
from loop_ls.testing import mcp_server
from loop_ls.testing.workflows import Lab, Ran, lab
from tests.engine.tools.test_steps_with_tools import Room

SERVER = {"command": [sys.executable, "-S", mcp_server.FILE], "env": {"MCP_LOG": "${MCP_LOG}"}}
SEARCH = "steps: [{name: r, rag: {query: 'about {{input}}', server: docs}}]"


@pytest.fixture
def room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Room:
    return Room(tmp_path, monkeypatch)


def make(room: Room, text: str, rag: dict[str, Any] | None = None, **plan: Any) -> Lab:
    settings = {"servers": {"docs": SERVER}, "rag": rag or {}}
    return lab(text, settings=settings, root=str(room.folder), **{"input": "bread", **plan})


async def run(room: Room, text: str, rag: dict[str, Any] | None = None, **plan: Any) -> Ran:
    return await make(room, text, rag, **plan).run()


async def test_WB_160_a_server_that_no_store_describes_is_asked_with_the_text(room: Room) -> None:
    ran = await run(room, SEARCH)
    assert room.called == [["search", {"query": "about bread", "top_k": 5}]]
    found = json.loads(ran.output)
    assert (found["query"], found["fusion"], found["total_results"]) == ("about bread", "rrf", 5)
    assert (found["results"][0]["id"], found["results"][0]["text"]["text"]) == ("doc1", "about bread 1")
    assert ran.models.requests == []


async def test_WB_014_an_unknown_name_in_the_query_fails_the_step_before_any_search(room: Room) -> None:
    ran = await run(room, SEARCH.replace("input", "nothing"))
    assert ran.outcome.failure is not None
    assert "`query` of `r` uses `{{nothing}}`" in ran.outcome.failure.message
    assert room.called == []


async def test_WB_025_results_number_and_method_can_be_read_by_name(room: Room) -> None:
    text = """
        steps:
          - {name: r, rag: {query: x, server: docs, top_k: 2, fusion: max}}
          - {name: use, run: "{{r.total_results}} by {{r.fusion_method}}: {{r.results}}"}
    """
    prompt = (await run(room, text)).prompt("use")
    assert prompt.startswith("2 by max: [")
    assert [each["id"] for each in json.loads(prompt.partition(": ")[2])] == ["doc1", "doc2"]


async def test_WB_122_without_a_server_the_configured_default_is_searched(room: Room) -> None:
    text = "steps: [{name: r, rag: {query: x}}]"
    ran = await run(room, text, {"server": "docs", "topK": 3})
    assert room.called == [["search", {"query": "x", "top_k": 3}]]
    assert json.loads(ran.output)["total_results"] == 3
    refused = await run(room, text)
    assert refused.outcome.failure is not None
    assert "has no `server` to search, and the settings have no default" in refused.outcome.failure.message


async def test_WB_160_a_store_says_which_tool_which_columns_and_who_makes_the_vector(room: Room) -> None:
    store = {
        "server": "docs",
        "tool": "search",
        "textColumns": ["text"],
        "provider": "acme",
        "model": "vec",
        "dimensions": 3,
        "strategies": {"near": {"weight": 2.0}, "far": {"threshold": 0.6}},
    }
    ran = await run(room, "steps: [{name: r, rag: {query: x, strategies: [near, far]}}]", {"stores": {"s": store}})
    [request] = ran.models.embedded
    assert (request.provider, request.model, request.texts, request.dimensions) == ("acme", "vec", ("x",), 3)
    first, second = json.loads(ran.output)["results"][:2]
    assert first["component_scores"] == {"near": 1.0, "far": 1.0}
    assert second["component_scores"] == {"near": 0.5}, "0.5 lies below the threshold of `far`"
    assert first["combined_score"] == pytest.approx(3 / 61, abs=1e-6)


async def test_WB_160_other_formats_are_compact_json_and_text(room: Room) -> None:
    text = SEARCH.replace("server: docs", "server: docs, top_k: 1, output_format: text")
    assert (await run(room, text)).output == (
        "Query: about bread\nResults: 1\n\n--- Result 1 (score: 0.0164) ---\nID: doc1\ntext: about bread 1"
    )
    compact = (await run(room, text.replace("format: text", "format: compact"))).output
    assert "\n" not in compact
    assert ": " not in compact


async def test_WB_160_a_query_is_expanded_by_the_word_lists_of_the_project(room: Room) -> None:
    (room.folder / "words.yaml").write_text("bread: [loaf, bun]\nMFA: multi-factor authentication\n")
    rag = {"synonyms": "words.yaml"}
    text = SEARCH.replace("server: docs", "server: docs, expand_query: true")
    ran = await run(room, text, rag)
    assert [call[1]["query"] for call in room.called] == ["about bread", "about loaf", "about bun"]
    assert json.loads(ran.output)["expanded_query"] == ["about loaf", "about bun"]
    assert "`synonyms` and `acronyms` are not set" in (await run(room, text)).warnings[0]


async def test_WB_160_a_project_says_how_far_a_query_is_expanded(room: Room) -> None:
    (room.folder / "words.yaml").write_text("bread: [loaf, bun, roll]\n")
    rag = {"synonyms": "words.yaml", "maxExpansions": 2}
    ran = await run(room, SEARCH.replace("server: docs", "server: docs, expand_query: true"), rag)
    assert json.loads(ran.output)["expanded_query"] == ["about loaf", "about bun"]


async def test_WB_160_a_project_says_how_results_become_one_list(room: Room) -> None:
    """`fusion` of the settings, where the step names none."""
    assert json.loads((await run(room, SEARCH, {"fusion": "max"})).output)["fusion"] == "max"
    own = await run(room, SEARCH.replace("server: docs", "server: docs, fusion: avg"), {"fusion": "max"})
    assert json.loads(own.output)["fusion"] == "avg"


@pytest.mark.parametrize("lists", ["synonyms", "acronyms"])
async def test_WB_160_one_word_list_is_enough_to_expand_a_query(room: Room, lists: str) -> None:
    (room.folder / "words.yaml").write_text("bread: [loaf]\n")
    ran = await run(room, SEARCH.replace("server: docs", "server: docs, expand_query: true"), {lists: "words.yaml"})
    assert ran.warnings == []
    assert json.loads(ran.output)["query"] == "about bread"


async def test_WB_160_after_a_crash_a_finished_search_is_not_made_again(room: Room) -> None:
    it = make(room, SEARCH)
    first = await it.run()
    assert (await it.restarted()).output == first.output
    assert len(room.called) == 1


async def test_WB_160_a_mock_run_starts_no_server(room: Room) -> None:
    ran = await run(room, SEARCH, mock=True)
    assert "mock result 1 for: about bread" in ran.output
    assert ran.output.startswith('{\n  "query": "about bread",\n')
    [started], [completed] = ran.of("step_started"), ran.of("step_completed")
    assert (started["step"], completed["output"]) == ("r", ran.output)
    assert room.called == []


@pytest.mark.parametrize(
    ("mode", "said"),
    [
        ("{query: x, server: dosc}", "did you mean `docs`?"),
        ("{query: x, server: docs, strategies: [far]}", "Unknown strategy `far` of `docs`"),
        ("{query: ' ', server: docs}", "`query` of `r` is empty"),
        ("{query: x, server: lame}", "MCP server `things` has no search tool"),
        ("{query: x, server: bare}", "store `bare` has neither `server` nor `databaseUrlEnv`"),
    ],
)
async def test_WB_160_what_cannot_be_searched_is_named(room: Room, mode: str, said: str) -> None:
    lame = {"command": [*SERVER["command"], "only", "add"]}
    settings = {
        "servers": {"docs": SERVER, "things": lame},
        "rag": {"stores": {"docs": {"server": "docs"}, "lame": {"server": "things"}, "bare": {"table": "t"}}},
    }
    ran = await lab(f"steps: [{{name: r, rag: {mode}}}]", settings=settings, root=str(room.folder)).run()
    assert ran.outcome.failure is not None
    assert said in ran.outcome.failure.message


async def test_WB_113_a_failing_rag_step_under_continue_leaves_empty_text(room: Room) -> None:
    text = """
        steps:
          - {name: r, on_failure: continue, rag: {query: x, server: gone}}
          - {name: after, run: "got <{{r}}>"}
    """
    assert (await run(room, text)).prompt("after") == "got <>"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('[{"id": 1, "score": 0.9, "text": "a"}]', [("1", 0.9)]),
        ('{"matches": [{"_id": "x", "distance": 0.25, "body": "b"}]}', [("x", 0.75)]),
        ('{"rows": [{"identifier": "r", "similarity": 0.5}, "plain"]}', [("r", 0.5), ("", 0.5)]),
        ("first part\n\nsecond part", [("", 1.0), ("", 0.5)]),
        ('{"results": []}', []),
        ("{}", []),
        ("null", []),
        ("", []),
    ],
)
def test_WB_160_answers_of_many_shapes_are_read(text: str, found: list[tuple[str, float]]) -> None:
    assert [(hit.id, hit.score) for hit in hits(text, Store("s"))] == found
