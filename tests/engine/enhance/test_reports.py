"""What a report says, what it keeps to itself, and when two rounds count as the same failure."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from loop_ls.engine.enhance.report.decide import Situation, decide
from loop_ls.engine.enhance.report.failures import FailedStep, Observed, checked
from loop_ls.engine.enhance.report.fingerprint import fingerprint, normalised
from loop_ls.engine.enhance.report.report import excerpt
from tests.engine.enhance.loops import THREE, VERIFY, Loop, failing, instructions, plan_of

KEY = "sk-live-0123456789abcdefghij"


def failed(step: str = "review", kind: str = "step_error", message: str = "broken", **more: Any) -> FailedStep:
    return FailedStep(1, step, kind, error={"code": "bad", "message": message}, **more)


def print_of(*failures: FailedStep) -> str | None:
    return fingerprint(failures)


async def test_EB_024_a_failure_with_everything_that_is_known() -> None:
    loop = Loop(script={"review": failing("bad_answer", "no JSON")}, knobs={"maxRounds": 1})
    await loop.run()
    found = loop.reports[0]["failures"][0]
    assert found["id"] == "1:review:bad_output"
    assert (found["step"], found["kind"], found["class"], found["fixable"]) == ("review", "bad_output", "hard", True)
    line = THREE.splitlines().index("  - name: review")
    assert found["range"]["start"] == {"line": line, "character": 10}
    assert found["error"]["code"] == "bad_answer"
    assert "no JSON" in found["error"]["message"]
    assert found.keys() >= {
        "output_excerpt",
        "verifier",
        "feedback",
        "skip_reason",
        "fallback",
        "iterations",
        "upstream",
    }
    report = loop.reports[0]
    assert report["schema"] == "enhance/failure-report/1"
    assert report["totals"] == {"steps": 3, "completed": 1, "failed": 1, "skipped": 0, "fallback": 0, "not_run": 1}
    assert (report["round"], report["mode"], report["converged"]) == (1, "strict", False)


@pytest.mark.parametrize("most", [200, 2000])
def test_EB_025_long_outputs_are_cut_in_the_middle(most: int) -> None:
    text = "".join(chr(97 + n % 26) for n in range(10_000))
    cut = excerpt(text, most)
    assert len(cut) <= most
    assert cut.startswith(text[:40])
    assert cut.endswith(text[-40:])
    assert excerpt("short", most) == "short"


async def test_EB_025_a_report_has_the_excerpt_and_the_true_length() -> None:
    whole = "FAIL: " + "x" * 9_994
    loop = Loop(text=THREE + VERIFY, script={"publish": "y" * 10_000, "verify": whole}, knobs={"maxRounds": 1})
    await loop.run()
    [found] = loop.reports[0]["failures"]
    assert (found["kind"], found["output_chars"]) == ("verifier_fail", 10_000)
    assert len(found["output_excerpt"]) <= 2_000
    short = Loop(
        text=THREE + VERIFY,
        script={"publish": "y" * 10_000, "verify": whole},
        knobs={"maxRounds": 1, "excerptChars": 300},
    )
    await short.run()
    assert len(short.reports[0]["failures"][0]["output_excerpt"]) <= 300


async def test_EB_025_the_true_length_is_given() -> None:
    text = THREE + VERIFY
    script = {"verify": "FAIL", "publish": "x" * 10_000}
    loop = Loop(text=text, script=script, knobs={"maxRounds": 1, "excerptChars": 300})
    await loop.run()
    [found] = loop.reports[0]["failures"]
    assert found["output_chars"] == 10_000
    assert len(found["output_excerpt"]) <= 300


async def test_EB_026_a_key_is_never_told() -> None:
    loop = Loop(
        script={"review": failing("bad_answer", f"the key {KEY} is refused")},
        planner=[plan_of(instructions("review", "Review {{draft}} now"), rationale=f"use {KEY}")],
        knobs={"maxRounds": 2, "onFixation": "warn"},
    )
    await loop.run()
    assert KEY not in str(loop.reports)
    assert KEY not in loop.planner_calls[0].prompt
    assert KEY not in str([fact for kind, fact in loop.recorder.facts if kind not in ("step_failed", "call")])


async def test_EB_026_a_key_in_an_output_is_not_told_either() -> None:
    loop = Loop(
        THREE + VERIFY,
        script={"publish": f"use {KEY} for it", "verify": f"FAIL: it says {KEY}"},
        planner=[plan_of(instructions("review", "Review {{draft}} now"))],
        knobs={"maxRounds": 2, "onFixation": "warn"},
    )
    await loop.run()
    assert loop.reports[0]["failures"]
    assert "use " in str(loop.reports[0]["failures"]), "the output is quoted"
    assert KEY not in str(loop.reports)
    assert KEY not in loop.planner_calls[0].prompt


async def test_EB_027_nothing_failed() -> None:
    loop = Loop()
    await loop.run()
    assert loop.reports[0]["failures"] == []
    assert loop.reports[0]["fingerprint"] is None


def test_EB_028_what_varies_by_itself_does_not_count() -> None:
    one = failed(output="a first draft", usd=0.1, duration=1.0, verifier=checked("fail", "short", "too long by far"))
    other = failed(output="something else", usd=0.2, duration=9.0, verifier=checked("fail", "short", "still too long"))
    assert print_of(one) == print_of(other) is not None


def test_EB_029_another_step_is_another_failure() -> None:
    assert print_of(failed("review")) != print_of(failed("draft"))


def test_EB_030_another_kind_is_another_failure() -> None:
    assert print_of(failed(kind="timeout")) != print_of(failed(kind="bad_output"))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("request 1b4e28ba-2fa1-11d2-883f-0016d3cca427 failed", "request 6ba7b810-9dad-11d1-80b4-00c04fd430c8 failed"),
        ("after 30 s", "after 31 s"),
        ("at 2026-01-31T12:00:00Z", "at 2027-02-01T08:30:11.5Z"),
        ("commit deadbeef01", "commit cafebabe99"),
        ("https://acme.dev/run?id=1&k=a", "https://acme.dev/run?id=2&k=b"),
        ("/tmp/loop-abc/out.txt is gone", "/tmp/loop-xyz/out.txt is gone"),
        ("Too   Long", "too long"),
    ],
)
def test_EB_031_numbers_and_moments_do_not_count(one: str, other: str) -> None:
    assert normalised(one) == normalised(other)
    assert print_of(failed(message=one)) == print_of(failed(message=other))


def test_EB_031_words_count() -> None:
    assert normalised("the key is refused") != normalised("the model is unknown")


SAME = {"review": failing("bad_answer", "no JSON")}


def plans(*words: str) -> list[str]:
    return [plan_of(instructions("review", f"Review {{{{draft}}}} {word}")) for word in words]


async def test_EB_032_the_same_failure_twice_is_told_once() -> None:
    loop = Loop(script=SAME, planner=plans("well"))
    await loop.run()
    [warned] = loop.of("loop_fixation_warning")
    assert (warned["stateLabel"], warned["action"], warned["previousRound"]) == ("fixation-risk", "abort", 1)
    assert warned["fingerprint"] == loop.reports[0]["fingerprint"]
    assert (await loop.state()).label == "fixation-risk"


async def test_EB_033_and_ends_the_loop() -> None:
    loop = Loop(script=SAME, planner=plans("well"))
    assert (await loop.run()).reason == "fixation"
    assert len(loop.reports) == 2


async def test_EB_034_or_only_warns() -> None:
    loop = Loop(script=SAME, planner=plans("well", "better"), knobs={"onFixation": "warn"})
    assert (await loop.run()).reason == "max_rounds"
    assert len(loop.of("loop_fixation_warning")) == 2
    assert len(loop.planner_calls) == 2


async def test_EB_035_only_the_round_before_counts() -> None:
    answers = [failing("bad_answer", "red"), failing("bad_answer", "blue"), failing("bad_answer", "red")]
    loop = Loop(script={"review": answers}, planner=plans("well", "better"))
    await loop.run()
    assert loop.of("loop_fixation_warning") == []
    assert loop.reports[0]["fingerprint"] == loop.reports[2]["fingerprint"]


async def test_EB_037_what_has_converged_is_not_stuck() -> None:
    text = THREE.replace("    needs: [draft]\n", '    needs: [draft]\n    if: "${{ input == \\"coffee\\" }}"\n')
    loop = Loop(
        text=text + VERIFY,
        script={"verify": ["FAIL", "PASS"]},
        planner=[plan_of(instructions("publish", "Publish {{review}} soon"))],
        knobs={"convergenceMode": "lenient"},
    )
    assert (await loop.run()).reason == "converged"
    assert loop.of("loop_fixation_warning") == []
    skipped = FailedStep(2, "review", "intentional_skip")
    same = fingerprint([skipped])
    decision = decide(Situation(Observed(2, (skipped,)), "lenient", same, "abort", True, 3))
    assert (decision.next, decision.fixation) == ("converged", False)
    strict = decide(Situation(Observed(2, (skipped,)), "strict", same, "abort", True, 3))
    assert (strict.next, strict.fixation) == ("gave_up", True)


async def test_EB_119_the_label_goes_when_a_round_differs() -> None:
    answers = [failing("bad_answer", "red")] * 2 + [failing("bad_answer", "blue")]
    labels: list[str | None] = []

    async def label() -> None:
        labels.append((await loop.state()).label)

    def ask(request: Any) -> str:
        waiting.append(asyncio.ensure_future(label()))  # when the planner is asked
        return next(told)

    told, waiting = iter(plans("well", "better")), list[asyncio.Future[None]]()
    loop = Loop(script={"review": answers}, planner=[ask, ask], knobs={"onFixation": "warn"})
    await loop.run()
    await asyncio.gather(*waiting)
    assert len(loop.of("loop_fixation_warning")) == 1
    assert labels == [None, "fixation-risk"]
    assert (await loop.state()).label is None


async def test_EB_120_a_missing_tool_is_planned_for() -> None:
    missing = {"review": failing("server_unavailable", "the server `search` did not start")}
    loop = Loop(script=missing, planner=plans("well", "better"), knobs={"onFixation": "warn"})
    assert (await loop.run()).reason == "max_rounds"
    assert loop.kinds()["review"] == "missing_tool"
    assert len(loop.planner_calls) == 2
    strict = Loop(script=missing, planner=plans("well", "better"))
    assert (await strict.run()).reason == "fixation"
