"""`loop-ls run` through the installed command: result, progress, exit codes, refusals."""

from __future__ import annotations

import json

import pytest

from tests.cli.conftest import ANSWERS, DEVELOP, CliProject

SAYS_NO = 'answers:\n  - when: {purpose: judge}\n    say: "NO"\n  - say: "a draft"\n'


def test_the_result_goes_to_standard_output_and_progress_elsewhere(shared: CliProject) -> None:
    done = shared.call("run", "develop.yaml", "--input", "ships")
    assert done.returncode == 0, done.stderr
    assert done.stdout == "the report\n"
    told = done.stderr.splitlines()
    assert "develop 1/5  NO   draft one" in told
    assert "develop 3/5  YES  draft three" in told
    assert "develop: ✓ condition met in iteration 3" in told
    assert any("loop-ls runs show" in line for line in told)
    assert not any("Condition evaluation" in line for line in told), "WB_096: only with --verbose"


def test_WB_095_verbose_prints_each_evaluation_in_the_guides_shape(shared: CliProject) -> None:
    done = shared.call("run", "--workflow", "develop_it", "--input-data", "ships", "--verbose")
    lines = [line for line in done.stderr.splitlines() if line.startswith("[INFO]")]
    said = "[INFO] Condition evaluation: 'The text is good' -> "
    assert lines == [said + "NO", said + "NO", said + "YES"]


def test_one_loop_by_name_ends_with_its_condition(shared: CliProject) -> None:
    done = shared.call("run", "develop.yaml", "--loop", "develop", "--input", "x", "--json")
    found = json.loads(done.stdout)
    assert done.returncode == 0
    assert (found["ok"], found["reason"], found["iteration"]) == (True, "condition_met", 3)
    assert found["output"] == "draft three"
    assert done.stderr == ""


def test_a_limit_is_no_success(shared: CliProject) -> None:
    shared.write("limit.answers.yaml", SAYS_NO)
    shared.write("limit.yaml", DEVELOP.replace("develop_it", "limit_it"))
    done = shared.call("run", "limit.yaml", "--loop", "develop", "--input", "x", "--max-iterations", "2")
    assert done.returncode == 3
    assert "◼ limit reached after 2 iterations, condition not met" in done.stderr
    assert "✓" not in done.stderr.replace("✓ write", "")
    assert done.stdout == "a draft\n"


MANY = """\
loops:
  - name: each
    mode: iterate
    items: '["a", "b", "c"]'
    workflow: draft
    with: {topic: x, before: y}
    max_iterations: 2
"""


def test_a_failure_is_one_sentence_and_what_to_do(shared: CliProject) -> None:
    shared.write("bad.answers.yaml", "answers:\n  - say: {fail: auth}\n")
    shared.write("bad.yaml", DEVELOP.replace("develop_it", "bad_it"))
    done = shared.call("run", "bad.yaml", "--input", "x")
    assert done.returncode == 4
    assert done.stdout == ""
    assert "✗ failed" in done.stderr
    assert "Traceback" not in done.stderr
    [told] = [line.partition(": ")[2] for line in done.stderr.splitlines() if line.startswith("loop-ls: ")]
    assert not any(told in line for line in done.stderr.splitlines() if "✗ failed" in line), "it was told above"


def test_verbose_tells_a_warning_once(shared: CliProject) -> None:
    shared.write("many.answers.yaml", "answers:\n  - say: fine\n")
    shared.write("many.yaml", DEVELOP.partition("loops:")[0].replace("develop_it", "many") + MANY)
    done = shared.call("run", "many.yaml", "--input", "x", "--verbose")
    assert done.stderr.count("has 3 items and `max_iterations: 2`") == 1, done.stderr
    assert "[WARN] `each` has 3 items" in done.stderr


def test_a_loop_that_went_on_without_an_item_says_which(shared: CliProject) -> None:
    shared.write(
        "most.answers.yaml", "answers:\n  - when: {contains: second}\n    say: {fail: bad_answer}\n  - say: fine\n"
    )
    items = MANY.replace('"b"', '"second"').replace("topic: x", "topic: '{{loop.current}}'").replace(": 2", ": 3")
    text = DEVELOP.partition("loops:")[0].replace("develop_it", "most") + items + "    on_failure: continue\n"
    shared.write("most.yaml", text)
    done = shared.call("run", "most.yaml", "--input", "x")
    assert done.returncode == 0, done.stderr
    said = "✓ completed: 2 of 3 iterations succeeded, iteration 2 failed"
    assert f"each: {said}\n" in done.stderr
    assert f"   {said} · " in done.stderr
    assert "after 3 iterations" not in done.stderr


@pytest.mark.parametrize(("word", "stdin"), [("-", "from stdin"), ("@in.txt", None), ("from argument", None)])
def test_the_input_comes_from_where_it_is_said(shared: CliProject, word: str, stdin: str | None) -> None:
    shared.write("in.txt", "from a file")
    shared.write("echo.yaml", DEVELOP.partition("loops:")[0].replace("develop_it", "echo_it"))
    path = shared.root / "echo.yaml"
    path.write_text(path.read_text("utf-8") + 'steps: [{name: say, run: "{{input}}"}]\n', "utf-8")
    done = shared.call("run", "echo.yaml", "--mock", "--input", word, stdin=stdin)
    wanted = {"-": "from stdin", "@in.txt": "from a file"}.get(word, word)
    assert wanted in done.stdout


def test_a_mock_run_needs_neither_key_nor_answers(shared: CliProject) -> None:
    shared.write("real.yaml", DEVELOP.replace("develop_it", "real_it").replace("scripted", "openai"))
    shared.write("draft2.yaml", "")
    done = shared.call("run", "real.yaml", "--mock", "--input", "x", "--loop", "develop")
    assert done.returncode == 0, done.stderr
    assert "mock answer of write, iteration 2" in done.stdout


def test_a_missing_key_names_its_variable(shared: CliProject) -> None:
    shared.write("keyed.yaml", DEVELOP.replace("develop_it", "keyed_it").replace("scripted", "openai"))
    done = shared.call("run", "keyed.yaml", "--input", "x", "--yes")
    assert done.returncode == 2
    assert "OPENAI_API_KEY" in done.stderr
    assert "--mock" in done.stderr


def test_a_missing_input_is_named(shared: CliProject) -> None:
    done = shared.call("run", "develop.yaml")
    assert done.returncode == 2
    assert "`input`" in done.stderr
    as_json = json.loads(shared.call("run", "develop.yaml", "--json").stdout)
    assert (as_json["ok"], as_json["code"], as_json["names"]) == (False, "input_required", ["input"])


def test_a_file_with_errors_is_not_run(shared: CliProject) -> None:
    shared.write("faulty.yaml", DEVELOP.replace("develop_it", "faulty_it").replace("max_iterations", "max_iteration"))
    done = shared.call("run", "faulty.yaml", "--input", "x")
    assert done.returncode == 2
    assert "faulty.yaml" in done.stderr
    assert "max_iterations" in done.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("develop_itt",), "did you mean `develop_it`?"),
        (("nowhere.yaml",), "file not found: nowhere.yaml"),
        (("latin.yaml",), "latin.yaml cannot be read: Invalid UTF-8 byte 0xE9"),
        ((), "FILE or NAME is required"),
        (("a", "--workflow", "b"), "FILE or NAME is required"),
        (("develop.yaml", "--param", "x"), "name=value"),
        (("develop.yaml", "--input", "@nowhere.txt"), "cannot be read"),
        (("develop.yaml", "--loop", "nothing", "--input", "x"), "nothing"),
        (("/etc/hostname", "--root", "."), "is not in the workspace"),
    ],
)
def test_a_wrong_call_is_one_sentence(shared: CliProject, words: tuple[str, ...], said: str) -> None:
    (shared.root / "latin.yaml").write_bytes("$schema: workflow/v2.0\nname: café\n".encode("latin-1"))
    done = shared.call("run", *words)
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_detached_prints_one_object_and_returns_at_once(shared: CliProject) -> None:
    shared.write("slow.answers.yaml", "delay: 600\nanswers:\n  - say: x\n")
    shared.write("slow.yaml", DEVELOP.replace("develop_it", "slow_it"))
    done = shared.call("run", "slow.yaml", "--input", "x", "--detach", "--json")
    found = json.loads(done.stdout)
    assert (done.returncode, found["ok"], len(done.stdout.splitlines())) == (0, True, 1)
    state = json.loads(shared.call("runs", "status", found["runId"], "--json").stdout)["state"]
    assert (state["status"], state["detach"]) == ("running", True)
    shared.call("runs", "stop", found["runId"])


def test_what_is_missing_is_said_as_words_to_type(shared: CliProject) -> None:
    done = shared.call("run", "draft.yaml", "--mock")
    assert (done.returncode, done.stdout) == (2, "")
    assert "  give: --param topic=TEXT --param before=TEXT\n" in done.stderr
    done = shared.call("run", "develop.yaml", "--mock")
    assert "  give: --input TEXT\n" in done.stderr


def test_another_model_is_asked_in_one_run_and_by_its_fork(shared: CliProject) -> None:
    """Those of the called workflow, of the judge and of the step, in place of what three files say."""
    shared.write("keyless.yaml", DEVELOP.replace("develop_it", "keyless").replace("scripted", "openai"))
    shared.write("keyless.answers.yaml", ANSWERS)
    instead = ("--provider", "scripted", "--model", "large")
    done = shared.call("run", "keyless.yaml", "--input", "ships", *instead, "--json")
    assert done.returncode == 0, done.stderr
    run_id = json.loads(done.stdout)["runId"]
    forked = shared.call("runs", "fork", run_id, "--iteration", "2", "--json")
    assert forked.returncode == 0, forked.stderr
    for one in (run_id, json.loads(forked.stdout)["runId"]):
        facts = [json.loads(line) for line in shared.call("runs", "events", one, "--json").stdout.splitlines()]
        asked = {(fact["provider"], fact["model"]) for fact in facts if fact["kind"] == "call"}
        assert asked == {("scripted", "large")}
    wrong = shared.call("run", "keyless.yaml", "--input", "ships", "--provider", "scriptd", "--model", "large")
    assert wrong.returncode == 2
    assert "did you mean `scripted`?" in wrong.stderr
