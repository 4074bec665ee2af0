"""How a change reaches the document: edits of a version, what counts as their arrival, conflicts, files."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from loop_ls.contract.facts.enhance import RoundNumbers
from loop_ls.contract.run_view.rounds import rounds_of
from loop_ls.engine.core.location import Place
from loop_ls.engine.enhance.edit_target import EditorTarget, FileTarget, Sent, edits_wire, judged, written
from loop_ls.testing.recorder import MemoryRecorder
from loop_ls.text.hash import text_hash
from tests.engine.enhance.loops import THREE, Loop, applied, failing, instructions, plan_of

BAD = failing("bad_answer", "no JSON")
BETTER = plan_of(instructions("review", "Review {{draft}} kindly"))
KIND = THREE.replace("Review {{draft}}", "Review {{draft}} kindly")


def mending(**more: Any) -> Loop:
    return Loop(script={"review": [BAD, "good"]}, planner=[BETTER], **more)


async def until(loop: Loop, kind: str, count: int = 1) -> dict[str, Any]:
    async with asyncio.timeout(60):
        while len(loop.of(kind)) < count:
            await asyncio.sleep(0)
    return loop.of(kind)[-1]


async def test_EB_059_an_edit_names_the_text_it_is_for() -> None:
    loop = mending()
    await loop.run()
    [sent] = loop.of("edit_sent")
    assert sent["baseSha256"] == text_hash(THREE)
    assert sent["textSha256"] == text_hash(KIND)
    assert applied(THREE, sent) == KIND
    assert sent["label"] == "Enhance round 2: 1 change"
    assert sent["changes"] == [{"op": "set_instructions", "target": "review", "reason": ""}]


async def test_EB_060_the_next_round_runs_what_the_document_holds() -> None:
    reformatted = KIND.replace("needs: [draft]", "needs:   [ draft ]")
    loop = mending(editor=lambda sent: {"outcome": "applied", "text": reformatted})
    assert (await loop.run()).reason == "converged"
    assert loop.of("round_started")[1]["textSha256"] == text_hash(reformatted)


async def test_EB_061_a_yes_without_a_change_is_no_arrival() -> None:
    loop = mending(editor=lambda sent: None, knobs={"ackTimeoutSeconds": 5})
    loop.recorder.tell({"outcome": "applied"})
    running = asyncio.ensure_future(loop.run())
    paused = await until(loop, "loop_paused")
    assert (paused["reason"], paused["conflict"]) == ("conflict", "no_change_seen")
    assert paused["failureReason"] == "the editor accepted the change but did not show it"
    assert len(loop.of("round_started")) == 1
    loop.recorder.tell({"choice": "stop"})
    assert (await running).reason == "apply_rejected"


async def test_EB_127_an_editor_that_goes_away_with_the_edit_leaves_the_loop_waiting_and_nothing_is_spent() -> None:
    answers = iter(
        [{"outcome": "client_gone", "failureReason": "no editor took it"}, {"outcome": "applied", "text": KIND}]
    )
    loop = mending(editor=lambda sent: next(answers))
    running = asyncio.ensure_future(loop.run())
    paused = await until(loop, "loop_paused")
    assert (paused["reason"], paused["conflict"]) == ("conflict", "client_gone")
    asked = len(loop.models.requests)
    await asyncio.sleep(0.05)
    assert (len(loop.models.requests), len(loop.of("round_started"))) == (asked, 1)
    loop.recorder.tell({"choice": "continue"})  # somebody is back, and the edit is sent once more
    assert (await running).reason == "converged"
    assert len(loop.of("edit_sent")) == 2


async def test_EB_127_an_editor_that_says_nothing_in_time_is_gone() -> None:
    class Late(MemoryRecorder):
        async def outside(self, key: str, asked: Any, seconds: float | None, late: Any) -> Any:
            return late

    planning_case, numbers = (
        EditorTarget(Late(), "file:///report.yaml", 5.0),
        RoundNumbers(round=1, max_rounds=3, spent_usd=0.0, cap_usd=5.0),
    )
    ack = await planning_case.apply(Place("report/1"), Sent("p", "l", THREE, KIND), numbers)
    assert ack.trouble == "client_gone"


async def test_EB_062_the_reason_of_an_editor_is_told() -> None:
    loop = mending(editor=lambda sent: {"outcome": "refused", "failureReason": "the file is read-only"})
    running = asyncio.ensure_future(loop.run())
    paused = await until(loop, "loop_paused")
    assert paused["conflict"] == "refused"
    assert paused["failureReason"] == "the file is read-only"
    loop.recorder.tell({"choice": "skip"})
    assert (await running).reason == "converged"
    assert loop.prompts("review") == ["Review ok", "Review ok"]


async def test_EB_063_a_stale_edit_is_sent_again_on_the_text_as_it_is() -> None:
    typed = THREE.replace("Write about {{input}}", "Write much about {{input}}")

    def editor(sent: dict[str, Any]) -> dict[str, Any]:
        if sent["baseSha256"] == text_hash(THREE):
            return {"outcome": "stale", "text": typed}
        return {"outcome": "applied", "text": applied(typed, sent)}

    loop = mending(editor=editor)
    assert (await loop.run()).reason == "converged"
    assert loop.prompts("draft")[-1] == "Write much about tea"
    assert loop.prompts("review")[-1] == "Review ok kindly"


async def test_an_operation_that_a_moved_document_has_no_place_for_is_told_as_refused() -> None:
    renamed = THREE.replace("name: publish", "name: print")
    plan = plan_of(instructions("review", "Review {{draft}} kindly"), instructions("publish", "Publish {{review}} now"))

    def editor(sent: dict[str, Any]) -> dict[str, Any]:
        if sent["baseSha256"] == text_hash(THREE):
            return {"outcome": "stale", "text": renamed}
        return {"outcome": "applied", "text": applied(renamed, sent)}

    loop = Loop(script={"review": [BAD, "good"]}, planner=[plan], editor=editor)
    assert (await loop.run()).reason == "converged"
    assert [(one["target"], one["reasonCode"]) for one in loop.of("op_rejected")] == [("publish", "unknown_target")]


async def test_a_yes_for_another_text_is_told_as_nothing_applied() -> None:
    loop = mending(editor=lambda sent: {"outcome": "applied", "text": THREE.replace("Write about", "Tell of")})
    running = asyncio.ensure_future(loop.run())
    paused = await until(loop, "loop_paused")
    assert paused["conflict"] == "text_mismatch"
    told = rounds_of([one.wire() for one in await loop.facts("run-1")])
    assert (told.by_number[1].applied, told.changes) == ([], [])
    assert told.by_number[1].refused == "the document differs from the text that was sent"
    loop.recorder.tell({"choice": "stop"})
    assert (await running).reason == "apply_rejected"


async def test_EB_063_a_stale_edit_that_no_longer_fits_is_for_a_person() -> None:
    gone = THREE.replace("name: review", "name: look").replace("{{review}}", "{{look}}")
    loop = mending(editor=lambda sent: {"outcome": "stale", "text": gone})
    running = asyncio.ensure_future(loop.run())
    assert (await until(loop, "loop_paused"))["conflict"] == "stale"
    loop.recorder.tell({"choice": "stop"})
    assert (await running).reason == "apply_rejected"


def test_EB_060_an_answer_is_judged_by_the_text_that_it_names() -> None:
    sent = Sent("p", "l", THREE, KIND)
    assert judged(sent, {"outcome": "applied", "text": KIND}).trouble is None
    assert judged(sent, {"outcome": "applied", "text": THREE}).trouble == "text_mismatch"


async def test_EB_064_an_answer_after_a_restart_starts_no_second_round() -> None:
    loop = mending()
    await loop.run()
    other = await loop.again()
    assert (await other.run()).reason == "converged"
    assert len(other.of("round_started")) == 2
    assert other.recorder.worked == []


async def test_EB_066_a_file_that_was_changed_is_not_written(tmp_path: Path) -> None:
    path = tmp_path / "report.yaml"
    path.write_text("changed: meanwhile\n")
    told = written(path, Sent("p", "l", THREE, KIND))
    assert told["outcome"] == "stale"
    assert path.read_text() == "changed: meanwhile\n"
    assert [one.name for one in tmp_path.iterdir()] == ["report.yaml"]


async def test_EB_123_a_file_is_written_whole_and_keeps_its_mode(tmp_path: Path) -> None:
    path = tmp_path / "report.yaml"
    path.write_bytes(THREE.replace("\n", "\r\n").encode())
    path.chmod(0o640)
    base = THREE.replace("\n", "\r\n")
    assert written(path, Sent("p", "l", base, KIND))["outcome"] == "applied"
    assert path.read_bytes() == KIND.encode()
    assert path.stat().st_mode & 0o777 == 0o640


async def test_EB_123_without_an_editor_the_file_is_changed(tmp_path: Path) -> None:
    path = tmp_path / "report.yaml"
    path.write_text(THREE)
    loop = mending(headless=path)
    assert (await loop.run()).reason == "converged"
    assert path.read_text() == KIND
    assert [fact["textSha256"] for fact in loop.of("edit_acknowledged")] == [text_hash(KIND)]


@pytest.mark.parametrize("text", ["a\nb\nc", "a\r\nb\r\n", "", "ä😀b\n"])
def test_EB_057_edits_lead_from_one_text_to_the_other(text: str) -> None:
    for other in (text + "\nd\n", text.replace("b", "B"), "", "x\n" + text):
        sent = Sent("p", "l", text, other)
        if text.isascii():
            assert applied(text, {"edits": edits_wire(sent)}) == other


async def test_EB_123_a_desk_for_files_reads_what_is_there(tmp_path: Path) -> None:
    path = tmp_path / "report.yaml"
    path.write_text(THREE)
    loop = mending(headless=path)

    def review(request: object) -> object:
        path.write_text(THREE.replace("about", "much about"))
        return BAD

    loop.models.script["review"] = [review, "good"]
    assert (await loop.run()).reason == "converged"
    assert path.read_text() == KIND.replace("about", "much about")
    assert isinstance(FileTarget(loop.recorder, path), FileTarget)


async def test_EB_089_a_restart_in_the_middle_pays_for_nothing_again() -> None:
    loop = mending(editor=lambda sent: None)
    running = asyncio.ensure_future(loop.run())
    await until(loop, "edit_sent")
    running.cancel()
    other = await loop.again()
    other._editor = lambda sent: None
    other.recorder.tell({"outcome": "applied", "text": KIND})
    asked = len(other.models.requests)
    assert (await other.run()).reason == "converged"
    assert [one.place.rpartition("/")[2] for one in other.models.requests[asked:]] == ["draft", "review", "publish"]
    assert len(other.of("edit_sent")) == 1


async def test_EB_063_a_change_that_a_person_made_void_in_the_pause_is_planned_anew() -> None:
    """No round is paid for an edit without an operation."""
    renamed = THREE.replace("name: review", "name: look").replace("{{review}}", "{{look}}")
    loop = Loop(
        script={"review": [BAD], "look": ["good"]},
        planner=[
            plan_of(instructions("review", "Review {{draft}} kindly")),
            plan_of(instructions("look", "Look at {{draft}} kindly")),
        ],
        knobs={"pauseBetweenRounds": True},
    )
    loop._texts.append(renamed)
    for text in ({"text": renamed}, {}):
        loop.recorder.tell({"choice": "continue", **text})
    assert (await loop.run()).reason == "converged"
    [sent] = loop.of("edit_sent")
    assert [one["target"] for one in sent["changes"]] == ["look"]
    assert [(one["target"], one["reasonCode"]) for one in loop.of("op_rejected")] == [("review", "unknown_target")]
    assert [one["planId"] for one in loop.of("loop_paused")] == ["run-1:1:1", "run-1:1:2"]
    assert len(loop.of("round_started")) == 2


@pytest.mark.parametrize(("on_give_up", "named"), [("revert", "--revert run-1"), ("best", "--timeline run-1")])
async def test_what_somebody_writes_in_the_last_round_is_not_overwritten(
    on_give_up: str, named: str, tmp_path: Path
) -> None:
    path = tmp_path / "report.yaml"
    path.write_text(THREE)
    loop = mending(headless=path, knobs={"onGiveUp": on_give_up, "maxRounds": 3})
    better = plan_of(instructions("review", "Review {{draft}} well"))
    loop.models.script["planner"] = [plan_of(instructions("review", "Review {{draft}} kindly")), better]

    def last(request: object) -> object:
        path.write_text(path.read_text() + "# mine\n")
        return failing("bad_answer", "third")

    loop.models.script["draft"] = ["one", "two", last]
    loop.models.script["review"] = [BAD, failing("bad_answer", "another")]
    outcome = await loop.run()
    assert path.read_text().endswith("# mine\n"), outcome
    assert outcome.because is not None
    assert "was not restored" in outcome.because
    assert named in outcome.because


@pytest.mark.parametrize("choice", ["skip", "continue"])
async def test_of_a_file_nobody_but_the_file_says_what_it_holds(choice: str, tmp_path: Path) -> None:
    path = tmp_path / "report.yaml"
    path.write_text(THREE)
    loop = mending(headless=path, knobs={"pauseBetweenRounds": True})
    running = asyncio.ensure_future(loop.run())
    await until(loop, "loop_paused")
    path.write_text(THREE.replace("about", "much about"))
    loop.recorder.tell({"choice": choice, "text": THREE.replace("about", "nothing about")})
    assert (await running).reason == "converged"
    assert loop.prompts("draft")[-1] == "Write much about tea"
    kept = THREE if choice == "skip" else KIND
    assert path.read_text() == kept.replace("about", "much about")


#: Half of a line, as it is while somebody types.
TYPED = THREE.replace("    run: Publish {{review}}", "    run: 'Publish {{review}}\n    env: [")


@pytest.mark.parametrize("choice", ["skip", "continue"])
async def test_EB_136_what_a_person_has_half_typed_in_a_pause_is_told_and_runs_no_round(
    choice: str, tmp_path: Path
) -> None:
    path = tmp_path / "report.yaml"
    path.write_text(THREE)
    loop = mending(headless=path, knobs={"pauseBetweenRounds": True})
    running = asyncio.ensure_future(loop.run())
    await until(loop, "loop_paused", 1)
    path.write_text(TYPED)
    asked = len(loop.models.requests)
    loop.recorder.tell({"choice": choice})
    paused = await until(loop, "loop_paused", 2)
    assert (paused["reason"], paused["conflict"]) == ("conflict", "document_invalid")
    why = paused["failureReason"]
    assert why.startswith("`report.yaml` cannot be run: line 1"), why
    assert "Fix it and continue, or continue without it" in why
    assert path.read_text() == TYPED
    assert len(loop.models.requests) == asked, "nothing is paid for it"
    mine = THREE.replace("Publish {{review}}", "Publish all of {{review}}")
    path.write_text(mine)
    loop.recorder.tell({"choice": "continue"})
    assert (await running).reason == "converged"
    kind = mine if choice == "skip" else mine.replace("Review {{draft}}", "Review {{draft}} kindly")
    assert path.read_text() == kind
    assert loop.prompts("publish")[-1] == "Publish all of good"


async def test_EB_136_a_loop_goes_on_without_it_and_the_text_of_the_person_stays(tmp_path: Path) -> None:
    path = tmp_path / "report.yaml"
    path.write_text(THREE)
    loop = mending(headless=path, knobs={"pauseBetweenRounds": True})
    running = asyncio.ensure_future(loop.run())
    await until(loop, "loop_paused", 1)
    path.write_text(TYPED)
    loop.recorder.tell({"choice": "continue"})
    await until(loop, "loop_paused", 2)
    loop.recorder.tell({"choice": "skip"})
    assert (await running).reason == "file_changed", "it was clean, and the file holds something else"
    assert loop.prompts("review")[-1] == "Review ok"
    assert path.read_text() == TYPED


@pytest.mark.parametrize(
    ("how", "told"), [("broken", "cannot be run: line 1"), ("gone", "cannot be read: No such file")]
)
async def test_EB_136_no_plan_is_paid_for_what_was_half_typed_while_a_round_ran(
    how: str, told: str, tmp_path: Path
) -> None:
    path = tmp_path / "report.yaml"
    path.write_text(THREE)
    loop = mending(headless=path)

    def first(request: object) -> object:
        path.write_text(TYPED) if how == "broken" else path.unlink()
        return BAD

    loop.models.script["review"] = [first, "good"]
    running = asyncio.ensure_future(loop.run())
    paused = await until(loop, "loop_paused", 1)
    assert told in paused["failureReason"]
    assert [one.purpose for one in loop.models.requests if one.purpose == "planner"] == []
    path.write_text(THREE)
    loop.recorder.tell({"choice": "continue"})
    assert (await running).reason == "converged"
    assert path.read_text() == KIND


async def test_EB_136_a_file_that_is_gone_in_a_pause_is_told_and_comes_back(tmp_path: Path) -> None:
    path = tmp_path / "report.yaml"
    path.write_text(THREE)
    loop = mending(headless=path, knobs={"pauseBetweenRounds": True})
    running = asyncio.ensure_future(loop.run())
    await until(loop, "loop_paused")
    path.unlink()
    loop.recorder.tell({"choice": "continue"})
    paused = await until(loop, "loop_paused", 2)
    assert paused["conflict"] == "document_invalid"
    assert paused["failureReason"].startswith(f"`{path}` cannot be read: No such file or directory. Fix it")
    path.write_text(THREE + "# mine\n")
    loop.recorder.tell({"choice": "continue"})
    assert (await running).reason == "converged"
    assert path.read_text() == KIND + "# mine\n"


async def test_EB_136_a_buffer_that_cannot_be_run_is_told_by_the_editor_that_holds_it() -> None:
    loop = mending(knobs={"pauseBetweenRounds": True})
    for text in (TYPED, TYPED, THREE):
        loop.recorder.tell({"choice": "continue", "text": text})
    assert (await loop.run()).reason == "converged"
    reasons = [(one["reason"], one.get("conflict")) for one in loop.of("loop_paused")]
    assert reasons == [("between_rounds", None), ("conflict", "document_invalid"), ("conflict", "document_invalid")]
    assert len(loop.of("edit_sent")) == 1


async def test_EB_136_nor_is_an_edit_sent_again_on_a_text_that_cannot_be_run() -> None:
    answers = iter([{"outcome": "stale", "text": TYPED}, {"outcome": "stale", "text": THREE + "# mine\n"}])
    loop = mending()

    def editor(sent: Any) -> Any:
        if (told := next(answers, None)) is None:
            return {"outcome": "applied", "text": applied(loop.seen_text(), sent)}
        return told

    loop._editor = editor
    running = asyncio.ensure_future(loop.run())
    await until(loop, "loop_paused")
    loop.recorder.tell({"choice": "continue"})
    assert (await running).reason == "converged"
    assert [one["conflict"] for one in loop.of("loop_paused")] == ["document_invalid"]
    assert loop.seen_text() == KIND + "# mine\n"
