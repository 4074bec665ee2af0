"""Whole enhance loops: what a round is, when the loop has converged, and when it ends otherwise."""

from __future__ import annotations

import pytest

from loop_ls.testing.workflows import run
from tests.engine.enhance.loops import HEAD, THREE, Loop, failing, instructions, plan_of

BETTER = plan_of(instructions("review", "Review {{draft}} kindly"))


async def test_EB_009_what_works_is_left_alone() -> None:
    loop = Loop()
    outcome = await loop.run()
    assert (outcome.reason, outcome.iterations, outcome.output) == ("converged", 1, "ok")
    assert loop.planner_calls == []


async def test_EB_010_a_step_that_is_mended_converges() -> None:
    loop = Loop(script={"review": [failing(), "good"]}, planner=[BETTER])
    # A server that is out of order is no fault of the workflow: let it be an answer that cannot be used.
    loop = Loop(script={"review": [failing("bad_answer", "no JSON"), "good"]}, planner=[BETTER])
    outcome = await loop.run()
    assert (outcome.reason, outcome.iterations) == ("converged", 2)
    assert [fact["round"] for fact in loop.of("round_started")] == [1, 2]
    assert loop.prompts("review")[-1] == "Review ok kindly"


@pytest.mark.parametrize("rounds", [1, 2, 3])
async def test_EB_011_the_last_round_is_not_planned(rounds: int) -> None:
    different = [failing("bad_answer", f"fault {word}") for word in ("red", "green", "blue")]
    plans = [plan_of(instructions("review", f"Review {{{{draft}}}} {word}")) for word in ("well", "better", "best")]
    loop = Loop(script={"review": different}, planner=plans, knobs={"maxRounds": rounds})
    outcome = await loop.run()
    assert (outcome.reason, outcome.iterations) == ("max_rounds", rounds)
    assert len(loop.planner_calls) == rounds - 1


async def test_EB_012_one_round_has_no_planner() -> None:
    loop = Loop(script={"review": failing("bad_answer")}, planner=[BETTER], knobs={"maxRounds": 1})
    assert (await loop.run()).reason == "max_rounds"
    assert loop.planner_calls == []


SKIPPING = THREE.replace("    needs: [draft]\n", '    needs: [draft]\n    if: "${{ input == \\"coffee\\" }}"\n')


async def test_EB_013_strict_mode_wants_every_step() -> None:
    loop = Loop(text=SKIPPING, knobs={"maxRounds": 1})
    assert (await loop.run()).reason == "max_rounds"
    assert loop.kinds() == {"review": "intentional_skip"}


async def test_EB_014_lenient_mode_takes_a_skip() -> None:
    loop = Loop(text=SKIPPING, knobs={"convergenceMode": "lenient"})
    assert (await loop.run()).reason == "converged"


CHAIN = THREE.replace(
    "{provider: acme, model: large}", "{providers: [{provider: acme, model: large}, {provider: other, model: small}]}"
)


def _first_is_out(request: object) -> object:
    provider = getattr(request, "provider", "")
    return failing() if provider == "acme" else "from the second"


async def test_EB_015_lenient_mode_takes_a_fallback() -> None:
    loop = Loop(text=CHAIN, script={"review": _first_is_out}, knobs={"convergenceMode": "lenient"})
    assert (await loop.run()).reason == "converged"
    assert loop.kinds() == {"review": "fallback_output"}
    [found] = loop.reports[0]["failures"]
    assert found["fallback"] == {"used": True, "from": "acme/large", "to": "other/small"}
    strict = Loop(text=CHAIN, script={"review": _first_is_out}, knobs={"maxRounds": 1})
    assert (await strict.run()).reason == "max_rounds"


CHECKED = (
    SKIPPING
    + """\
  - name: verify
    needs: [publish]
    run: |
      Begin your answer with PASS if it meets the criterion, else with FAIL. {{publish}}
"""
)


async def test_EB_016_lenient_mode_takes_no_failed_check() -> None:
    loop = Loop(text=CHECKED, script={"verify": "FAIL: too long"}, knobs={"convergenceMode": "lenient", "maxRounds": 1})
    assert (await loop.run()).reason == "max_rounds"
    assert loop.kinds() == {"review": "intentional_skip", "publish": "verifier_fail"}


RETRYING = THREE.replace("    needs: [draft]\n", "    needs: [draft]\n    on_failure: retry\n    max_retries: 2\n")


async def test_EB_017_what_passes_on_a_further_try_has_not_failed() -> None:
    loop = Loop(text=RETRYING, script={"review": [failing("bad_answer"), "good"]})
    assert (await loop.run()).reason == "converged"
    assert loop.reports[0]["failures"] == []


async def test_EB_018_what_was_passed_over_has_failed() -> None:
    text = THREE.replace("    needs: [draft]\n", "    needs: [draft]\n    on_failure: continue\n")
    loop = Loop(text=text, script={"review": failing("bad_answer")}, knobs={"maxRounds": 1})
    assert (await loop.run()).reason == "max_rounds"
    assert loop.kinds() == {"review": "bad_output"}


async def test_EB_019_a_check_that_failed_itself_said_nothing() -> None:
    text, declared = THREE + CHECKED[len(SKIPPING) :], {"verifiers": ["verify"], "maxRounds": 1}
    silent = Loop(text=text, script={"verify": "Well."}, knobs=declared)
    await silent.run()
    assert silent.kinds() == {"publish": "verifier_error"}
    failed = Loop(text=text, script={"verify": failing("bad_answer")}, knobs=declared)
    await failed.run()
    assert failed.kinds() == {"verify": "bad_output"}


OFF_TOPIC = (
    "`verify` is asked for PASS or FAIL and its answer began with neither; if it is not a check, list the real ones "
    "under `verifiers:` of `report.checks.yaml`."
)


async def test_EB_019_a_step_that_is_asked_for_a_verdict_and_gives_none_has_not_passed_anything() -> None:
    """Nobody declared it: the end says how to say that it checks nothing."""
    text = THREE + CHECKED[len(SKIPPING) :]
    loop = Loop(text=text, script={"verify": "The weather is nice."}, knobs={"maxRounds": 1})
    outcome = await loop.run()
    assert (outcome.reason, loop.kinds()) == ("max_rounds", {"publish": "verifier_error"})
    assert outcome.because is not None
    assert outcome.because.endswith(OFF_TOPIC)
    declared = Loop(text=text, script={"verify": "Well."}, knobs={"maxRounds": 1, "verifiers": ["verify"]})
    assert "if it is not a check" not in ((await declared.run()).because or "")


async def test_EB_019_the_end_of_a_loop_with_cases_says_so_too() -> None:
    text = THREE + CHECKED[len(SKIPPING) :]
    cases = ({"name": "tea", "input": "tea"},)
    loop = Loop(text=text, script={"verify": "Nice."}, knobs={"maxRounds": 1}, cases=cases)
    outcome = await loop.run()
    assert outcome.reason == "max_rounds"
    assert (outcome.because or "").endswith(OFF_TOPIC)


@pytest.mark.parametrize("verifiers", [[], ["draft"]])
async def test_EB_019_who_lists_the_checks_says_that_no_other_step_is_one(verifiers: list[str]) -> None:
    text = THREE + CHECKED[len(SKIPPING) :]
    script = {"verify": "FAIL is what the guide explains", "draft": "PASS"}
    loop = Loop(text=text, script=script, knobs={"maxRounds": 1, "verifiers": verifiers})
    assert (await loop.run()).reason == "converged"
    checks = f"verifiers: {verifiers}\n"
    loop = Loop(text, script, knobs={"maxRounds": 1}, cases=({"name": "tea", "input": "tea"},), checks=checks)
    assert (await loop.run()).reason == "converged"


async def test_EB_019_a_check_said_no() -> None:
    text = THREE + CHECKED[len(SKIPPING) :]
    loop = Loop(text=text, script={"verify": "FAIL: it is too long"}, knobs={"maxRounds": 1})
    await loop.run()
    [found] = loop.reports[0]["failures"]
    assert (found["step"], found["kind"]) == ("publish", "verifier_fail")
    assert found["verifier"] == {"verdict": "fail", "criterion": "verify", "reason": "FAIL: it is too long"}


@pytest.mark.parametrize(
    ("needs", "failed"),
    [("[ask, extra]", "ask"), ("[extra]", "review")],
    ids=["another one that ran", "nothing that ran"],
)
async def test_EB_019_what_a_check_says_counts_where_its_subject_was_skipped(needs: str, failed: str) -> None:
    text = HEAD + (
        "steps:\n  - {name: ask, run: 'Ask about {{input}}'}\n"
        "  - {name: extra, needs: [ask], if: \"{{ask}} == 'no such words'\", run: 'More about {{ask}}'}\n"
        f"  - {{name: review, needs: {needs}, run: 'Answer PASS or FAIL'}}\n"
        "  - {name: publish, needs: [review], run: 'Publish {{ask}}'}\n"
    )
    script, knobs = {"review": "FAIL: too long"}, {"convergenceMode": "lenient", "maxRounds": 1}
    loop = Loop(text=text, script=script, knobs=knobs)
    assert (await loop.run()).reason == "max_rounds"
    assert loop.kinds() == {"extra": "intentional_skip", failed: "verifier_fail"}


async def test_EB_019_a_check_said_no_behind_mark_up() -> None:
    text = THREE + CHECKED[len(SKIPPING) :]
    loop = Loop(text=text, script={"verify": "**Verdict:** FAIL, it is too long"}, knobs={"maxRounds": 1})
    assert (await loop.run()).reason == "max_rounds"
    assert loop.kinds() == {"publish": "verifier_fail"}


async def test_EB_019_a_check_that_has_said_no_takes_it_back_with_yes_alone() -> None:
    text = THREE + CHECKED[len(SKIPPING) :]
    script = {"verify": ["FAIL: it is too long", "Bananas are yellow."]}
    loop = Loop(text=text, script=script, planner=[BETTER], knobs={"maxRounds": 2})
    assert (await loop.run()).reason == "max_rounds"
    assert loop.kinds(2) == {"publish": "verifier_error"}


async def test_EB_020_a_person_rejects_a_step() -> None:
    loop = Loop(knobs={"maxRounds": 1})
    said = {"text": "too dry", "step": "review", "negative": True}

    def ask(request: object) -> str:
        loop.recorder.facts.append(("feedback", said))
        return "published"

    loop.models.script["publish"] = [ask]
    assert (await loop.run()).reason == "max_rounds"
    assert loop.kinds() == {"review": "user_rejected"}
    assert loop.reports[0]["failures"][0]["feedback"] == ["too dry"]
    assert loop.reports[0]["user_feedback"][0]["text"] == "too dry"


@pytest.mark.parametrize("step", [None, "drft", "extra"], ids=["no step", "an unknown step", "a step that was skipped"])
async def test_EB_020_a_rejection_that_names_nothing_that_ran_is_one_of_the_result(step: str | None) -> None:
    skipped = "  - {name: extra, needs: [draft], if: \"{{draft}} == 'no such words'\", run: 'More'}\n"
    text = THREE.replace("  - name: publish", skipped + "  - name: publish")
    loop = Loop(text=text, knobs={"maxRounds": 1, "convergenceMode": "lenient"})
    said = {"text": "too dry", "negative": True, **({"step": step} if step else {})}

    def ask(request: object) -> str:
        loop.recorder.facts.append(("feedback", said))
        return "reviewed"

    loop.models.script["review"] = [ask]
    assert (await loop.run()).reason == "max_rounds"
    assert loop.kinds() == {"extra": "intentional_skip", "publish": "user_rejected"}
    assert loop.reports[0]["failures"][-1]["feedback"] == ["too dry"]


LOOPING = (
    HEAD
    + """\
steps:
  - name: draft
    run: Write about {{input}}
loops:
  - name: polish
    workflow: shorten
    with: {draft: "{{draft}}"}
    max_iterations: 2
    until: The text is short
"""
)
SHORTEN = {"shorten.yaml": HEAD.replace("report", "shorten") + "steps:\n  - name: go\n    run: Shorten {{draft}}\n"}


async def test_EB_021_a_loop_at_its_limit() -> None:
    loop = Loop(
        text=LOOPING,
        more=SHORTEN,
        script={"polish:judge": "NO", "2:judge": "NO", "1:judge": "NO"},
        knobs={"maxRounds": 1},
    )
    loop.models.default = "NO"
    await loop.run()
    [found] = loop.reports[0]["failures"]
    assert (found["step"], found["kind"], found["target"]) == ("polish", "until_not_met", "loop")
    assert found["iterations"] == {"used": 2, "max": 2, "exit_reason": "max_iterations"}
    assert found["verifier"]["criterion"] == "The text is short"


async def test_EB_022_a_step_that_was_not_run_names_the_root() -> None:
    loop = Loop(script={"review": failing("bad_answer")}, knobs={"maxRounds": 1})
    await loop.run()
    assert loop.kinds() == {"review": "bad_output", "publish": "upstream_failed"}
    assert loop.reports[0]["failures"][1]["upstream"] == ["review"]
    alone = Loop(
        text=THREE.replace("  - name: publish\n    run: Publish {{review}}\n", ""),
        script={"review": failing("bad_answer")},
        knobs={"maxRounds": 1},
    )
    await alone.run()
    assert alone.reports[0]["fingerprint"] == loop.reports[0]["fingerprint"]


async def test_EB_023_the_first_round_is_a_plain_run() -> None:
    loop = Loop()
    await loop.run()
    plain = await run({"report": THREE.partition("version: 1.0.0\n")[2]}, input="tea")
    assert [one.prompt for one in loop.models.requests] == [one.prompt for one in plain.models.requests]


async def test_EB_009_each_run_of_a_round_is_one_of_its_own_whatever_its_steps_are_called() -> None:
    """The second run must not find the answers of a step in the first."""
    text = HEAD + 'steps:\n  - {name: run-2, template: {name: part}}\n  - {name: write, run: "Write {{run-2}}"}\n'
    part = HEAD.replace("report", "part") + "steps: [{name: write, run: Begin}]\n"
    loop = Loop(text, {"write": ["a", "b", "c", "d"]}, knobs={"confirmRuns": 2}, more={"part.yaml": part})
    assert (await loop.run()).reason == "converged"
    assert loop.prompts("write") == ["Begin", "Write a", "Begin", "Write c"]


async def test_EB_009_without_cases_a_workflow_is_run_as_often_as_it_has_to_be_clean() -> None:
    loop = Loop(
        script={"review": ["good", "good", failing("bad_answer"), "good"]},
        knobs={"confirmRuns": 3},
        planner=[plan_of(instructions("review", "Review {{draft}} kindly"))],
    )
    outcome = await loop.run()
    assert (outcome.reason, outcome.iterations) == ("converged", 2)
    assert len(loop.prompts("draft")) == 6
    assert loop.kinds(1) == {"review": "bad_output", "publish": "upstream_failed"}
    assert loop.reports[1]["failures"] == []
