"""`embeddings` steps: what is embedded, by whom, what comes out, and what a crash costs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from loop_ls.testing.models import failure
from loop_ls.testing.workflows import Ran, lab, run


def output(ran: Ran) -> Any:
    return json.loads(ran.output)


async def test_WB_156_texts_are_joined_by_a_blank_line_and_cut_into_chunks() -> None:
    ran = await run('steps: [{name: v, embeddings: {input: ["One is here.", "Two is there."], max_chunk_size: 4}}]')
    [request] = ran.models.embedded
    assert request.texts == ("One is here.", "Two is there.")
    found = output(ran)
    assert (found["provider"], found["model"], found["dimensions"], found["total_chunks"]) == ("acme", "large", 26, 2)
    assert found["embeddings"][1]["chunk"] == {
        "text": "Two is there.",
        "index": 1,
        "start_pos": 14,
        "end_pos": 27,
        "token_count": 4,
    }
    assert len(found["embeddings"][1]["vector"]) == 26


async def test_WB_014_an_unknown_name_stays_as_written_in_the_text_that_is_embedded() -> None:
    ran = await run('steps: [{name: v, embeddings: {input: "about {{nothing}}"}}]')
    assert ran.models.embedded[0].texts == ("about {{nothing}}",)
    assert ran.warnings == ["`v` uses `{{nothing}}`, which is not defined; it stays as written"]


async def test_WB_157_provider_and_model_each_come_from_mode_step_then_execution() -> None:
    text = """
        execution: {provider: exec, model: big}
        steps:
          - {name: a, embeddings: {input: x}}
          - {name: b, provider: own, embeddings: {input: x}}
          - {name: c, model: stepm, embeddings: {input: x, provider: modep}}
          - {name: d, model: stepm, embeddings: {input: x, model: modem}}
    """
    ran = await run(text)
    asked = [(request.provider, request.model or request.otherwise) for request in ran.models.embedded]
    assert asked == [("exec", "big"), ("own", "big"), ("modep", "stepm"), ("exec", "modem")]


async def test_WB_157_every_parameter_is_passed_on() -> None:
    text = """
        execution: {provider: acme, model: m, timeout: 9s}
        steps: [{name: v, embeddings: {input: x, dimensions: 3, encoding_format: base64, include_metadata: false}}]
    """
    ran = await run(text)
    [request] = ran.models.embedded
    assert (request.dimensions, request.encoding, request.timeout) == (3, "base64", 9.0)
    assert list(output(ran)["embeddings"][0]) == ["vector"]


async def test_WB_157_a_file_wins_over_the_text(tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text("from the file")
    text = """
        env: {N: notes}
        steps: [{name: v, embeddings: {input: text, input_file: "{{env.N}}.md"}}]
    """
    ran = await run(text, root=str(tmp_path))
    assert ran.models.embedded[0].texts == ("from the file",)


async def test_WB_157_an_output_file_gets_the_data_and_the_step_says_so_in_one_line(tmp_path: Path) -> None:
    text = "steps: [{name: v, embeddings: {input: x, output_file: out/v.json}}, {name: after, run: 'see {{v}}'}]"
    ran = await run(text, root=str(tmp_path))
    assert ran.prompt("after") == "see 1 vector of acme/large written to out/v.json"
    assert json.loads((tmp_path / "out/v.json").read_text())["total_chunks"] == 1


async def test_WB_157_an_output_file_outside_of_the_workspace_fails_the_step(tmp_path: Path) -> None:
    ran = await run("steps: [{name: v, embeddings: {input: x, output_file: ../v.json}}]", root=str(tmp_path))
    assert ran.outcome.failure is not None
    assert ran.outcome.failure.code == "forbidden"


async def test_WB_157_vectors_of_an_earlier_run_are_replaced(tmp_path: Path) -> None:
    text = "steps: [{{name: v, embeddings: {{input: {}, output_file: v.json, include_metadata: {}}}}}]"
    for word, metadata in (("first", "true"), ("second", "false"), ("third", "true")):
        ran = await run(text.format(word, metadata), root=str(tmp_path))
        assert ran.outcome.failure is None
    assert "third" in (tmp_path / "v.json").read_text()


@pytest.mark.parametrize("there", ["# Notes", '{"provider": "acme"}', "[1]", "\ufeff{}"])
async def test_WB_157_an_output_file_replaces_nothing_but_vectors(there: str, tmp_path: Path) -> None:
    (tmp_path / "v.json").write_text(there)
    ran = await run("steps: [{name: v, embeddings: {input: x, output_file: v.json}}]", root=str(tmp_path))
    assert ran.outcome.failure is not None
    told = "output file v.json exists and has other content, so it is not replaced"
    assert (ran.outcome.failure.code, ran.outcome.failure.message) == ("forbidden", told)
    assert (tmp_path / "v.json").read_text() == there


async def test_WB_157_an_empty_output_file_is_written(tmp_path: Path) -> None:
    (tmp_path / "v.json").touch()
    ran = await run("steps: [{name: v, embeddings: {input: x, output_file: v.json}}]", root=str(tmp_path))
    assert ran.outcome.failure is None
    assert (tmp_path / "v.json").stat().st_size


async def test_WB_157_many_chunks_are_several_calls_and_each_is_paid_once() -> None:
    text = "steps: [{name: v, embeddings: {input: '{{input}}', chunk_strategy: fixed, max_chunk_size: 1}}]"
    it = lab(text, input="abcd" * 150)
    first = await it.run()
    assert [len(request.texts) for request in it.models.embedded] == [64, 64, 22]
    assert [call["purpose"] for call in first.of("call")] == ["embeddings"] * 3
    crashed = it.recorder.again()
    for key in ("v:embed.3", "v:completed"):
        crashed.entries.pop(key, None)
    it.recorder = crashed
    again = await it.run()
    assert [len(request.texts) for request in it.models.embedded] == [64, 64, 22, 22]
    assert again.output == first.output


async def test_WB_157_nothing_to_embed_is_a_failure() -> None:
    ran = await run('steps: [{name: v, embeddings: {input: " "}}]')
    assert ran.outcome.failure is not None
    assert ran.outcome.failure.message == "`v` has no text to embed"


@pytest.mark.parametrize("mode", ["{input: x}", "{input_file: gone.txt}"])
async def test_WB_113_a_failing_embeddings_step_under_continue_leaves_empty_text(mode: str, tmp_path: Path) -> None:
    text = f"steps: [{{name: v, on_failure: continue, embeddings: {mode}}}, {{name: after, run: 'got <{{{{v}}}}>'}}]"
    ran = await run(text, {"embed": failure()}, root=str(tmp_path))
    assert ran.prompt("after") == "got <>"


async def test_WB_112_a_retried_step_asks_again() -> None:
    ran = await run("steps: [{name: v, on_failure: retry, embeddings: {input: x}}]", {"embed": [failure(), "ok"]})
    assert ran.reason == "completed"
    assert [request.attempts for request in ran.models.embedded] == [1, 1]
