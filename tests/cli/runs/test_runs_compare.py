"""Runs side by side, through the installed command: `loop-ls runs compare` and `loop-ls run --compare`."""

from __future__ import annotations

import json

from tests.cli.conftest import DEVELOP, CliProject

ANSWERS = """\
answers:
  - when: {step: write, contains: tea}
    say: a draft of tea
  - when: {step: write}
    say: ["draft one", "draft two"]
  - when: {purpose: judge, contains: tea}
    say: "YES"
  - when: {purpose: judge}
    say: ["NO", "YES"]
  - when: {step: report, contains: tea}
    say: "a report of tea\\nwith milk"
  - when: {step: report}
    say: "a report of ships\\nwith milk"
"""
CHECKS = """\
assert:
  - {name: tea, type: contains, value: tea, weight: 3, severity: warn}
  - {name: milk, type: contains, value: milk}
"""


def compared_file(place: CliProject) -> None:
    place.write("twice.yaml", DEVELOP.replace("develop_it", "twice"))
    place.write("twice.answers.yaml", ANSWERS)
    place.write("twice.checks.yaml", CHECKS)


def test_two_runs_stand_side_by_side_with_what_differs(shared: CliProject) -> None:
    compared_file(shared)
    ids = []
    for word in ("tea", "ships"):
        done = shared.call("run", "twice.yaml", "--input", word, "--check", "--json")
        assert done.returncode == 0, done.stderr
        ids.append(json.loads(done.stdout)["runId"])
    told = shared.call("runs", "compare", *ids, "--json")
    assert told.returncode == 0, told.stderr
    found = json.loads(told.stdout)
    first, second = found["runs"]
    assert (first["verdicts"], second["verdicts"]) == ({"develop": "YES"}, {"develop": "NO YES"})
    assert (first["checks"], second["checks"]) == ({"tea": "pass", "milk": "pass"}, {"tea": "fail", "milk": "pass"})
    assert (first["score"], second["score"]) == (1.0, 0.25)
    [difference] = found["differences"]
    assert [one["name"] for one in difference["outputs"]] == ["develop", "report", "result"]
    assert "-a report of tea\n+a report of ships\n with milk" in difference["outputs"][-1]["diff"]
    lines = shared.call("runs", "compare", *(one[:6] for one in ids), "--full").stdout.splitlines()
    cells = {line.split("  ")[0]: line for line in lines}
    assert "1 of 2 passed, score 0.25" in cells["checks"]
    assert "NO YES" in cells["until of develop"]
    assert "+a report of ships" in lines
    assert any(line.startswith("--- develop of") for line in lines)
    short = shared.call("runs", "compare", *ids).stdout
    assert ("--- result of" in short, "--- develop of" in short) == (True, False)
    alone = shared.call("runs", "compare", ids[0])
    assert (alone.returncode, "Choose two or more" in alone.stderr) == (2, True)


def test_one_start_runs_with_each_model_and_compares(shared: CliProject) -> None:
    compared_file(shared)
    done = shared.call("run", "twice.yaml", "--input", "tea", "--compare", "scripted/small,large", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert [one["models"] for one in found["runs"]] == [["scripted/small"], ["scripted/large"]]
    assert found["differences"][0]["outputs"] == []
    both = shared.call("run", "twice.yaml", "--input", "tea", "--compare", "a,b", "--model", "c")
    assert (both.returncode, "`--compare` sets the models" in both.stderr) == (2, True)
    before = json.loads(shared.call("runs", "--json").stdout)["runs"]
    wrong = shared.call("run", "twice.yaml", "--input", "tea", "--compare", "scripted/a,scriptd/b")
    assert (wrong.returncode, "did you mean `scripted`?" in wrong.stderr) == (2, True)
    shared.write("keyed.yaml", DEVELOP.replace("develop_it", "keyed"))
    shared.write("keyed.answers.yaml", ANSWERS)
    keyless = shared.call("run", "keyed.yaml", "--input", "tea", "--yes", "--compare", "scripted/a,openai/gpt-5")
    assert keyless.returncode == 2, keyless.stderr
    assert "openai/gpt-5: " in keyless.stderr
    settings = (
        "providers:\n  acme: {kind: openai, baseUrl: 'https://acme.example/v1', apiKeyEnv: '', defaultModel: x}\n"
    )
    shared.write(".loop-ls.yaml", settings)
    capped = ("--budget-usd", "1", "--compare", "scripted/a,acme/no-such-model")
    priceless = shared.call("run", "keyed.yaml", "--input", "tea", "--yes", *capped)
    (shared.root / ".loop-ls.yaml").unlink()
    assert priceless.returncode == 2, priceless.stderr
    assert "price" in priceless.stderr
    assert json.loads(shared.call("runs", "--json").stdout)["runs"] == before, "nothing was run before it was refused"


def test_a_key_for_one_run_is_refused_before_the_first_of_several(shared: CliProject) -> None:
    compared_file(shared)
    before = shared.call("runs", "--json").stdout
    words = ("run", "twice.yaml", "--input", "x", "--compare", "scripted/m,scripted/n", "--idempotency-key", "k")
    done = shared.call(*words)
    assert (done.returncode, "`--idempotency-key` is for one run" in done.stderr) == (2, True), done.stderr
    assert shared.call("runs", "--json").stdout == before
