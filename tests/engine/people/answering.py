"""One run that waits, answered on one surface and then on another."""

from __future__ import annotations

import asyncio
import re

from tests.engine.people.surfaces import WHERE, Surfaces
from tests.engine.people.ways import Place, Way

AT = r"at 20\d\d-\d\d-\d\d \d\d:\d\d:\d\d UTC"


async def answered(place: Place, surfaces: Surfaces, way: Way, first: str, second: str, killed: bool) -> None:
    run_id = await place.begin(way)
    if killed:
        await asyncio.to_thread(place.kill)
    await _answered(surfaces, run_id, way, first, second)
    async with await place.client() as client:
        if not way.ended:
            await place.until(run_id, lambda state: state["iteration"] > 2)
            assert (await client.stop(run_id))["ok"]
        state = await place.until(run_id, lambda state: "endedAt" in state)
        assert state["reason"] == (way.ended or "user"), state
        if way.name in ("blocked", "pause"):
            assert way.text in str(await client.prompts(run_id))


async def _answered(surfaces: Surfaces, run_id: str, way: Way, first: str, second: str) -> None:
    for surface in (first, second):
        await _shown(surfaces, run_id, way, surface)
    told = await surfaces.answer(first, run_id, way.answer, way.text)
    assert told.ok, told.text
    late = await surfaces.answer(second, run_id, way.answer)
    assert not late.ok
    sentence = " ".join(late.text.split())
    assert f"The first answer was `{way.answer}`, given {WHERE[first]} by `owner` " in sentence
    assert re.search(AT, sentence)
    if way.name in ("approval", "blocked"):
        assert f"with the text: {way.text}" in sentence


async def _shown(surfaces: Surfaces, run_id: str, way: Way, surface: str) -> None:
    found = await surfaces.inbox(surface)
    if surface == "mcp":
        mine = found["text"].partition(run_id)[2].partition("\n\n")[0]
        assert mine.startswith(f"  {way.name}: ")
        assert way.answer in mine.partition("answers: ")[2]
        return
    assert "waiting" in found, found
    [mine] = [one for one in found["waiting"] if one["runId"] == run_id]
    assert mine["kind"] == way.name
    assert way.answer in [one["answer"] for one in mine["answers"]]
    assert mine["text"]
    assert mine["since"]
    if way.name == "protected":
        assert "Makefile" in mine["text"]
    context = {"approval": "a draft", "blocked": "Which port?", "question": "it will look better"}.get(way.name, "")
    assert context in mine.get("context", "")
