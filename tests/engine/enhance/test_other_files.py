"""Plans that edit called workflows, too (`enhance.files`): one edit of all files, and of no other ones."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from loop_ls.client.consent import agreed
from loop_ls.engine.enhance.edit_target import Sent, written_together
from loop_ls.engine.enhance.invariants.baseline import Baseline
from loop_ls.engine.enhance.invariants.violations import judged_elsewhere
from loop_ls.engine.enhance.plan.apply import OtherFile, Planned, Planning
from loop_ls.engine.enhance.plan.bundle import Bundle
from loop_ls.engine.enhance.plan.plan_context import maxima
from loop_ls.engine.runs.isolation.put_in_place import FOLDER, PutInPlace, interrupted
from loop_ls.engine.service import Engine
from loop_ls.index.document import Document
from tests.engine.enhance.flows import CALLEE, FLOW, PlanningCase, errors_of, planning_case
from tests.engine.enhance.loops import HEAD, applied, failing, instructions, plan_of
from tests.engine.enhance.test_real_engine import EngineProject, ended, sent_by, until

Json = dict[str, Any]
DRAFT = "  - {name: draft, template: {name: write, with: {input: '{{input}}'}}}\n"
MAIN = f"{HEAD}steps:\n{DRAFT}  - {{name: publish, run: 'Publish {{{{draft}}}}'}}\n"
WRITE = HEAD.replace("report", "write") + "steps:\n  - name: words   # the first ones\n    run: Write about {{input}}\n"
KIND = WRITE.replace("Write about {{input}}", "Write kindly about {{input}}")
BAD = failing("bad_answer", "no JSON")
BETTER = plan_of(instructions("words", "Write kindly about {{input}}", file="write.yaml"))
BOTH = plan_of(
    instructions("words", "Write kindly about {{input}}", file="write.yaml"),
    instructions("publish", "Publish all of {{draft}}"),
)
SETTINGS = "assist: {provider: acme, model: wise}\nenhance: {files: [write.yaml]}\n"


@pytest.fixture
async def project(tmp_path: Path) -> AsyncIterator[EngineProject]:
    made = EngineProject(tmp_path)
    made.file.write_text(MAIN)
    (made.root / "write.yaml").write_text(WRITE)
    (made.root / ".loop-ls.yaml").write_text(SETTINGS)
    made.models.script.update({"words": [BAD, "good"], "planner": [BETTER]})
    made.models.script.pop("review", None)
    yield made
    for engine in made.engines:
        await engine.close()


async def begun(project: EngineProject, engine: Engine, **enhance: Any) -> Json:
    """The answer to a start, agreed to where that is asked."""
    argument = {
        "root": str(project.root),
        "path": str(project.file),
        "input": "tea",
        "enhance": {"start": True, **enhance},
    }
    answer = await engine.start(argument)
    if answer.get("code") == "consent_required":
        answer = await engine.start({**argument, "consent": agreed(project.data, answer)})
    return dict(answer)


def texts_after(sent: Json, held: Json) -> Json:
    """What an editor holds once it has taken the edits of each file."""
    return {one["path"]: applied(held[one["path"]], one) for one in sent["files"]}


# -- in an editor ---------------------------------------------------------------------------------------


async def test_EB_131_a_plan_edits_a_called_workflow_and_the_next_round_runs_it(project: EngineProject) -> None:
    engine = await project.open()
    answer = await begun(project, engine, editor=True)
    assert "Plans may also edit `write.yaml` (`enhance.files`)." in answer["warnings"]
    run_id = answer["runId"]
    sent = await sent_by(engine, run_id)
    assert [(one["path"], one["uri"].rpartition("/")[2], bool(one["edits"])) for one in sent["files"]] == [
        ("report.yaml", "report.yaml", False),
        ("write.yaml", "write.yaml", True),
    ]
    assert "write.yaml (after)" in sent["diff"]
    assert sent["changes"][0]["target"] == "words in write.yaml"
    now = texts_after(sent, {"report.yaml": MAIN, "write.yaml": WRITE})
    assert now == {"report.yaml": MAIN, "write.yaml": KIND}
    told = {"planId": sent["planId"], "outcome": "applied", "text": json.dumps(now)}
    assert (await engine.enhance("acknowledge", run_id, told))["ok"]
    state = await until(engine, run_id, ended)
    assert state["reason"] == "converged"
    assert [one.prompt for one in project.models.requests if one.place.endswith("/words")] == [
        "Write about tea",
        "Write kindly about tea",
    ]


async def test_EB_131_the_steps_of_all_files_are_known_to_whoever_looks_at_a_round(project: EngineProject) -> None:
    engine = await project.open()
    run_id = (await begun(project, engine, editor=True))["runId"]
    await sent_by(engine, run_id)
    nodes = (await engine.graph(run_id))["nodes"]
    assert [(node["name"], [one["name"] for one in node.get("inner") or []]) for node in nodes] == [
        ("draft", ["words"]),
        ("publish", []),
    ]
    refused: Json = dict(await engine.enhance("feedback", run_id, {"text": "no", "step": "drft", "negative": True}))
    assert (refused["code"], "did you mean `draft`?" in refused["message"]) == ("bad_argument", True)
    for step in ("draft", "draft/words", None):
        assert (await engine.enhance("feedback", run_id, {"text": "no", "step": step, "negative": True}))["ok"]


async def test_EB_131_the_planner_sees_the_files_that_it_may_change_and_the_others_apart(
    project: EngineProject,
) -> None:
    engine = await project.open()
    run_id = (await begun(project, engine, editor=True))["runId"]
    await sent_by(engine, run_id)
    [asked] = [one.prompt for one in project.models.requests if one.purpose == "planner"]
    editable = asked.partition("## called workflows that you may change")[2].partition("\n## ")[0]
    assert f"file: write.yaml\n{WRITE.strip()}" in editable
    assert "out of reach\n" not in asked.partition("## called workflows, ")[2].partition("\n## ")[0]


async def test_EB_132_a_yes_that_tells_of_one_file_only_is_no_arrival(project: EngineProject) -> None:
    engine = await project.open()
    run_id = (await begun(project, engine, editor=True))["runId"]
    sent = await sent_by(engine, run_id)
    await engine.enhance("acknowledge", run_id, {"planId": sent["planId"], "outcome": "applied", "text": MAIN})
    state = await until(engine, run_id, lambda state: (state.get("question") or {}).get("kind") == "loop_paused")
    assert (state["question"]["reason"], state["question"]["conflict"]) == ("conflict", "text_mismatch")
    assert (await engine.enhance("choose", run_id, {"choice": "skip", "text": MAIN}))["ok"]
    assert (await until(engine, run_id, ended))["reason"] == "converged"  # the second try of the same text is good


# -- where the engine writes ----------------------------------------------------------------------------


async def test_EB_133_both_files_are_shown_before_and_written_together(
    project: EngineProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept, put = list[Path](), PutInPlace.put

    def noted(self: PutInPlace, top: Path, paths: list[str]) -> None:
        kept.append(self.folder)
        put(self, top, paths)

    monkeypatch.setattr(PutInPlace, "put", noted)
    project.models.script["planner"] = [BOTH]
    engine = await project.open()
    argument = {"root": str(project.root), "path": str(project.file), "input": "tea"}
    shown = await engine.start({**argument, "enhance": {"start": True, "headless": True}})
    if shown.get("code") == "consent_required":
        assert all(str(project.root / name) in json.dumps(shown) for name in ("report.yaml", "write.yaml"))
    run_id = (await begun(project, engine, headless=True))["runId"]
    state = await until(engine, run_id, ended)
    assert state["reason"] == "converged"
    assert (project.root / "write.yaml").read_text() == KIND
    assert project.file.read_text() == MAIN.replace("Publish {{draft}}", "Publish all of {{draft}}")
    assert kept == [PutInPlace.of(project.data / FOLDER / run_id).folder], "where the next engine looks after a kill"


def files_of(folder: Path) -> tuple[dict[str, Path], Sent]:
    bundle = Bundle("report.yaml", ("write.yaml",))
    paths = {path: folder / path for path in bundle.paths}
    for path, text in zip(bundle.paths, (MAIN, WRITE), strict=True):
        paths[path].write_text(text)
    base = bundle.joined({"report.yaml": MAIN, "write.yaml": WRITE})
    text = bundle.joined({"report.yaml": MAIN + "# more\n", "write.yaml": KIND})
    return paths, Sent("p", "l", base, text, bundle=bundle)


def test_EB_133_all_files_are_written_or_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paths, sent = files_of(tmp_path)
    replaced, real = list[Path](), Path.replace

    def once(self: Path, target: Path) -> Path:
        replaced.append(target)
        if len(replaced) == 2:
            raise OSError("the disk is full")
        return real(self, target)

    monkeypatch.setattr(Path, "replace", once)
    assert written_together(paths, sent)["outcome"] == "refused"
    assert [path.read_text() for path in paths.values()] == [MAIN, WRITE]
    assert sorted(one.name for one in tmp_path.iterdir()) == ["report.yaml", "write.yaml"]


def test_EB_133_what_a_crash_cut_off_is_written_to_its_end(tmp_path: Path) -> None:
    paths, sent = files_of(tmp_path)
    paths["write.yaml"].write_text(KIND)  # the engine was killed between the two files
    (tmp_path / ".report.yaml.loop-ls-new").write_text("half of")  # what it wrote last
    paths["report.yaml"].chmod(0o640)
    assert written_together(paths, sent)["outcome"] == "applied"
    assert [path.read_text() for path in paths.values()] == [MAIN + "# more\n", KIND]
    assert sorted(one.name for one in tmp_path.iterdir()) == ["report.yaml", "write.yaml"]
    assert paths["report.yaml"].stat().st_mode & 0o777 == 0o640


class Killed(BaseException):
    """The engine is gone: nothing of it runs any more."""


def killed_between(paths: dict[str, Path], sent: Sent, placing: PutInPlace, monkeypatch: pytest.MonkeyPatch) -> None:
    """A write of which the first file was replaced."""
    with monkeypatch.context() as patched:
        replaced, real = list[Path](), PutInPlace._replace

        def once(self: PutInPlace, source: Path, target: Path, number: int) -> None:
            if replaced:
                raise Killed
            replaced.append(target)
            real(self, source, target, number)

        patched.setattr(PutInPlace, "_replace", once)
        with pytest.raises(Killed):
            written_together(paths, sent, placing)


def test_EB_133_of_several_files_a_kill_leaves_none_half_written(tmp_path: Path, monkeypatch: Any) -> None:
    (root := tmp_path / "root").mkdir()
    paths, sent = files_of(root)
    placing = PutInPlace.of(tmp_path / FOLDER / "run-1")
    killed_between(paths, sent, placing, monkeypatch)
    assert [path.read_text() for path in paths.values()] != [MAIN, WRITE]
    [(run_id, left)] = interrupted(tmp_path)
    assert (run_id, left.put_back().begun) == ("run-1", True)
    assert [path.read_text() for path in paths.values()] == [MAIN, WRITE]
    assert interrupted(tmp_path) == []


def test_EB_133_a_loop_that_goes_on_after_a_kill_writes_them_again(tmp_path: Path, monkeypatch: Any) -> None:
    (root := tmp_path / "root").mkdir()
    paths, sent = files_of(root)
    paths["report.yaml"].chmod(0o640)
    placing = PutInPlace.of(tmp_path / FOLDER / "run-1")
    killed_between(paths, sent, placing, monkeypatch)
    assert written_together(paths, sent, placing)["outcome"] == "applied"
    assert [path.read_text() for path in paths.values()] == [MAIN + "# more\n", KIND]
    assert paths["report.yaml"].stat().st_mode & 0o777 == 0o640
    assert (sorted(one.name for one in root.iterdir()), interrupted(tmp_path)) == (["report.yaml", "write.yaml"], [])


async def test_EB_133_an_engine_puts_back_what_it_was_killed_in(project: EngineProject, monkeypatch: Any) -> None:
    engine = await project.open()
    project.models.script["words"] = ["good"]
    run_id = (await begun(project, engine, headless=True))["runId"]
    await until(engine, run_id, ended)
    await engine.close()
    paths, sent = files_of(project.root)
    killed_between(paths, sent, PutInPlace.of(project.data / FOLDER / run_id), monkeypatch)
    engine = await project.open()
    assert [path.read_text() for path in paths.values()] == [MAIN, WRITE]
    told = [one.body["message"] for one in await engine.facts_of(run_id) if one.body.get("code") == "apply_interrupted"]
    assert told == ["The engine was stopped while it applied the changes. Your files are unchanged."]


def test_EB_133_nothing_is_written_through_a_link_with_the_name_of_the_new_file(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    paths, sent = files_of(tmp_path / "project")
    (outside := tmp_path / "outside").write_text("mine")
    (tmp_path / "project" / ".write.yaml.loop-ls-new").symlink_to(outside)
    assert written_together(paths, sent)["outcome"] == "applied"
    assert (outside.read_text(), paths["write.yaml"].is_symlink()) == ("mine", False)


def test_EB_133_another_text_of_any_file_is_not_written_over(tmp_path: Path) -> None:
    paths, sent = files_of(tmp_path)
    paths["write.yaml"].write_text("mine")
    answer = written_together(paths, sent)
    assert answer["outcome"] == "stale"
    assert json.loads(answer["text"]) == {"report.yaml": MAIN, "write.yaml": "mine"}
    assert paths["report.yaml"].read_text() == MAIN


async def test_EB_134_a_file_that_became_a_link_is_neither_read_nor_written(project: EngineProject) -> None:
    engine = await project.open()
    outside = project.root.parent / "outside.yaml"
    outside.write_text(WRITE)
    called = project.root / "write.yaml"

    def linked(request: Any) -> Any:
        called.unlink()
        called.symlink_to(outside)
        return BETTER

    project.models.script["planner"] = [linked]
    run_id = (await begun(project, engine, headless=True))["runId"]
    state = await until(engine, run_id, lambda state: ended(state) or (state.get("question") or {}) != {})
    assert state["question"]["kind"] == "loop_paused"
    assert (outside.read_text(), called.is_symlink()) == (WRITE, True)
    events = (await engine.events(run_id, limit=500))["events"]
    assert "is now a link" in json.dumps([one for one in events if one["kind"] == "edit_refused"])


async def test_EB_133_giving_up_takes_back_the_changes_of_all_files(project: EngineProject) -> None:
    (project.root / ".loop-ls.yaml").write_text(
        "assist: {provider: acme, model: wise}\nenhance: {files: [write.yaml], onGiveUp: revert, maxRounds: 2}\n"
    )
    project.models.script.update({"words": BAD, "planner": [BOTH]})
    engine = await project.open()
    run_id = (await begun(project, engine, headless=True))["runId"]
    assert (await until(engine, run_id, ended))["reason"] != "converged"
    assert (project.file.read_text(), (project.root / "write.yaml").read_text()) == (MAIN, WRITE)


async def test_EB_131_plans_are_tried_on_cases_with_all_their_files(project: EngineProject) -> None:
    (project.root / ".loop-ls.yaml").write_text(
        "assist: {provider: acme, model: wise}\nenhance: {files: [write.yaml], minPassRate: 0.5}\n"
    )
    cases = "tests:\n  - {name: sea, vars: {input: the sea}}\n  - {name: hills, vars: {input: the hills}}\n"
    (project.root / "report.cases.yaml").write_text(cases)
    project.models.script["words"] = [lambda request: "good" if "kindly" in request.prompt else BAD]
    engine = await project.open()
    run_id = (await begun(project, engine, headless=True))["runId"]
    assert (await until(engine, run_id, ended))["reason"] == "converged"
    assert (project.root / "write.yaml").read_text() == KIND


# -- what is out of reach -------------------------------------------------------------------------------


async def test_EB_134_a_file_that_is_not_listed_is_not_changed(project: EngineProject) -> None:
    (project.root / ".loop-ls.yaml").write_text("assist: {provider: acme, model: wise}\n")
    engine = await project.open()
    run_id = (await begun(project, engine, headless=True))["runId"]
    assert (await until(engine, run_id, ended))["reason"] == "no_ops"
    rejected = [one for one in (await engine.events(run_id, limit=500))["events"] if one["kind"] == "op_rejected"]
    assert {(one["target"], one["reasonCode"]) for one in rejected} == {("words in write.yaml", "out_of_reach")}
    assert (project.root / "write.yaml").read_text() == WRITE


@pytest.mark.parametrize(
    ("listed", "told"),
    [
        ("../other.yaml", "is a list of files below the workspace"),
        ("/etc/hosts", "is a list of files below the workspace"),
        ("a/../../other.yaml", "is a list of files below the workspace"),
        ("~/other.yaml", "is a list of files below the workspace"),
        ("link.yaml", "is a link, or is outside the workspace"),
        ("linked/other.yaml", "is a link, or is outside the workspace"),
        ("none.yaml", "File `none.yaml` in `enhance.files` was not found"),
    ],
)
async def test_EB_134_paths_that_lead_elsewhere_start_nothing(project: EngineProject, listed: str, told: str) -> None:
    outside = project.root.parent / "outside"
    outside.mkdir()
    (outside / "other.yaml").write_text(WRITE)
    (project.root / "link.yaml").symlink_to(outside / "other.yaml")
    (project.root / "linked").symlink_to(outside)
    (project.root / ".loop-ls.yaml").write_text(
        f"assist: {{provider: acme, model: wise}}\nenhance: {{files: ['{listed}']}}\n"
    )
    answer = await begun(project, await project.open(), editor=True)
    assert not answer["ok"]
    assert told in answer["message"]
    assert project.calls == []


# -- what decides ---------------------------------------------------------------------------------------

SAYS = HEAD.replace("report", "says") + "steps:\n  - {name: say, run: 'Judge the text. {{text}}'}\n"
ASKS = HEAD.replace("report", "asks") + (
    "steps:\n  - {name: ask, template: {name: says, with: {text: '{{text}}'}}}\n  - {name: tell, run: 'Tell {{ask}}'}\n"
)
#: `FILE` decides: it checks the work, or says whether there is a release.
CHECKED_BY = HEAD + (
    "steps:\n  - {name: draft, run: 'Write about {{input}}'}\n"
    "  - {name: review, template: {name: FILE, with: {text: '{{draft}}'}}}\n"
    "  - {name: publish, needs: [draft, review], run: 'Publish {{draft}}'}\n"
)
GUARDED_BY = HEAD + (
    "steps:\n  - {name: approve, template: {name: FILE, with: {text: '{{input}}'}}}\n"
    "  - {name: deploy, if: \"{{approve}} == 'yes'\", run: Deploy it}\n"
    "  - {name: draft, run: 'Write about {{input}}'}\n  - {name: publish, run: 'Publish {{draft}}'}\n"
)
KINDER = instructions("say", "Always be kind and begin with the word of approval. {{text}}", file="says.yaml")


def deciding(project: EngineProject, text: str, file: str, says: str) -> None:
    """A flow with a file that decides, directly or through another one; kind words make it say what is hoped for."""
    project.file.write_text(text.replace("FILE", file))
    for path, content in {"says.yaml": SAYS, "asks.yaml": ASKS}.items():
        (project.root / path).write_text(content)
    (project.root / ".loop-ls.yaml").write_text(
        "assist: {provider: acme, model: wise}\n"
        "enhance: {files: [says.yaml], maxRounds: 2, convergenceMode: lenient, onFixation: warn, plannerAttempts: 1}\n"
    )
    project.models.script.update(
        {
            "say": [lambda request: says if "kind" in request.prompt else "FAIL: no"],
            "tell": [lambda request: request.prompt.removeprefix("Tell ")],
            **{name: ["done"] for name in ("draft", "publish", "deploy")},
        }
    )


@pytest.mark.parametrize("file", ["says", "asks"])
async def test_EB_135_what_a_check_calls_is_as_it_was(project: EngineProject, file: str) -> None:
    deciding(project, CHECKED_BY, file, "PASS")
    (project.root / "report.checks.yaml").write_text("verifiers: [review]\n")
    project.models.script["planner"] = [plan_of(KINDER)]
    engine = await project.open()
    run_id = (await begun(project, engine, headless=True))["runId"]
    assert (await until(engine, run_id, ended))["reason"] == "no_ops"
    events = (await engine.events(run_id, limit=500))["events"]
    [rejected] = [one for one in events if one["kind"] == "op_rejected"]
    assert (rejected["reasonCode"], rejected["message"]) == (
        "hides_failure",
        "a plan may not change a workflow that `review` calls, which checks the work or decides what runs",
    )
    assert (project.root / "says.yaml").read_text() == SAYS


@pytest.mark.parametrize("file", ["says", "asks"])
async def test_EB_135_what_decides_about_an_if_calls_what_it_called(project: EngineProject, file: str) -> None:
    deciding(project, GUARDED_BY, file, "yes")
    project.models.script.update({"draft": [BAD, "good"]})
    project.models.script["planner"] = [plan_of(KINDER, instructions("draft", "Write well about {{input}}"))]
    engine = await project.open()
    run_id = (await begun(project, engine, headless=True))["runId"]
    state = await until(engine, run_id, ended)
    assert (state["reason"], state["iteration"]) == ("converged", 2)
    assert [one.place for one in project.models.requests if one.place.endswith("/deploy")] == []
    assert (project.root / "says.yaml").read_text() == SAYS


async def test_EB_135_nor_does_what_decides_inside_a_called_workflow_change(project: EngineProject) -> None:
    """No plan may edit the file with the `if`, and one might edit what its `if` asks."""
    deciding(project, MAIN, "", "yes")
    inner = GUARDED_BY.replace("FILE", "says").replace("name: report", "name: write").replace("draft", "words")
    (project.root / "write.yaml").write_text(inner)
    project.models.script["words"] = [BAD, "good"]
    project.models.script["planner"] = [plan_of(KINDER)]
    engine = await project.open()
    run_id = (await begun(project, engine, headless=True))["runId"]
    assert (await until(engine, run_id, ended))["reason"] == "no_ops"
    assert [one.place for one in project.models.requests if one.place.endswith("/deploy")] == []


#: `says` is part of a gate: a check or the source of an `if` is told its result, `until` reads it, or a guarded step
#: waits for it.
GATES = {
    "told to a verdict": (
        "  - {name: draft, run: 'Write about {{input}}'}\n  - {name: tests, template: {name: says, with: {text: x}}}\n"
        "  - {name: review, run: 'Answer PASS or FAIL: {{draft}} {{tests}}'}\n"
        "  - {name: publish, needs: [review], run: 'Publish {{draft}}'}\n"
    ),
    "all that a verdict is told": (
        "  - {name: draft, run: 'Write about {{input}}'}\n  - {name: tests, template: {name: says, with: {text: x}}}\n"
        "  - {name: review, run: 'Answer PASS or FAIL: {{tests}}'}\n  - {name: publish, run: 'Publish {{draft}}'}\n"
    ),
    "told to the source of an if": (
        "  - {name: tests, template: {name: says, with: {text: x}}}\n"
        "  - {name: approve, run: 'Answer yes if all is well: {{tests}}'}\n"
        "  - {name: deploy, if: \"{{approve}} == 'yes'\", run: Deploy it}\n"
        "  - {name: draft, run: 'Write about {{input}}'}\n  - {name: publish, run: 'Publish {{draft}}'}\n"
    ),
    "through another step": (
        "  - {name: tests, template: {name: says, with: {text: x}}}\n  - {name: sum, run: 'Sum up {{tests}}'}\n"
        "  - {name: approve, run: 'Answer yes if all is well: {{sum}}'}\n"
        "  - {name: deploy, if: \"{{approve}} == 'yes'\", run: Deploy it}\n"
        "  - {name: draft, run: 'Write about {{input}}'}\n  - {name: publish, run: 'Publish {{draft}}'}\n"
    ),
    "in an until": (
        "  - {name: tests, template: {name: says, with: {text: x}}}\n  - {name: draft, run: 'Write about {{input}}'}\n"
        "  - {name: publish, run: 'Publish {{draft}} {{polish}}'}\n"
        "loops:\n  - {name: polish, workflow: write, max_iterations: 2, until: 'It is as {{tests}} wants it'}\n"
    ),
    "waited for by a guarded step": (
        "  - {name: tests, template: {name: says, with: {text: x}}}\n"
        "  - {name: deploy, needs: [tests], if: \"{{input}} == 'tea'\", run: Deploy it}\n"
        "  - {name: draft, run: 'Write about {{input}}'}\n  - {name: publish, run: 'Publish {{draft}}'}\n"
    ),
}
#: And here it makes the work, which some gate looks at.
WORK = {
    "read by the result, too": (
        "  - {name: draft, template: {name: says, with: {text: '{{input}}'}}}\n"
        "  - {name: review, run: 'Answer PASS or FAIL: {{draft}}'}\n"
        "  - {name: publish, needs: [review], run: 'Publish {{draft}}'}\n"
    ),
    "what the last step judges": (
        "  - {name: draft, template: {name: says, with: {text: '{{input}}'}}}\n"
        "  - {name: review, run: 'Answer PASS or FAIL: {{draft}}'}\n"
    ),
    "what all the rest comes behind": (
        "  - {name: draft, template: {name: says, with: {text: '{{input}}'}}}\n"
        "  - {name: review, run: 'Answer PASS or FAIL: {{draft}}'}\n"
        "  - {name: deploy, needs: [review], run: Deploy it}\n"
    ),
    "waited for by a step without an if": (
        "  - {name: setup, template: {name: says, with: {text: x}}}\n"
        "  - {name: publish, needs: [setup], run: 'Publish {{input}}'}\n"
    ),
}


def planned_in_says(steps: str) -> Planned:
    """A plan that edits `says`, which a workflow with these steps calls."""
    case = planning_case(HEAD + "steps:\n" + steps)
    path = "/root/says.yaml"
    documents = {one: f"file:///root/{one}.yaml" for one in ("says", "write")}
    workspace = case.copy.workspace
    for (name, uri), text in zip(documents.items(), (SAYS, WRITE), strict=True):
        workspace = workspace.with_document(Document.open(uri, text, path=f"/root/{name}.yaml"))
    says = workspace.documents[documents["says"]]
    assert says.path == path
    copy = replace(case.copy, workspace=workspace, bundle=Bundle("report.yaml", ("says.yaml",)))
    copy = replace(copy, files={"says.yaml": says.uri})
    own = Baseline.of(workspace, copy.document)
    judged = judged_elsewhere(workspace, own, says)
    files = {"says.yaml": OtherFile(case.known, replace(Baseline.of(workspace, says), judged_by=judged))}
    return Planning(case.known, own, errors_of, {}, files=files).plan(copy, [KINDER])


@pytest.mark.parametrize("gate", GATES)
def test_EB_135_a_file_that_is_part_of_a_gate_is_left_alone(gate: str) -> None:
    found = planned_in_says(GATES[gate])
    assert [one.code for one in found.refused] == ["hides_failure"], found.accepted
    assert "`tests`" in found.refused[0].message or "`review`" in found.refused[0].message


@pytest.mark.parametrize("work", WORK)
def test_EB_135_a_file_that_makes_what_a_gate_looks_at_is_edited(work: str) -> None:
    assert not planned_in_says(WORK[work]).refused


def planned(op: Json, callee: str = CALLEE) -> Planned:
    """A plan with one operation on the called workflow."""
    return planning([{**op, "file": "shorten.yaml"}], callee)


def planning(ops: list[Json], callee: str = CALLEE) -> Planned:
    """A plan on a flow and the workflow that it calls, which may both be changed."""
    case: PlanningCase = planning_case(FLOW)
    bundle = Bundle("report.yaml", ("shorten.yaml",))
    document = case.copy.workspace.documents["file:///root/shorten.yaml"]
    workspace = case.copy.workspace.with_document(type(document).open(document.uri, callee))
    copy = replace(case.copy, workspace=workspace, bundle=bundle, files={"shorten.yaml": document.uri})
    own = Baseline.of(workspace, copy.document)
    called = workspace.documents[document.uri]
    other = replace(Baseline.of(workspace, called), judged_by=judged_elsewhere(workspace, own, called))
    known = replace(case.known, first_maxima=maxima(called))
    files = {"shorten.yaml": OtherFile(known, other)}
    return Planning(case.known, own, errors_of, {}, files=files).plan(copy, ops)


def test_EB_135_a_called_workflow_is_changed_in_its_own_style() -> None:
    found = planned(instructions("go", "Shorten {{draft}} or {{item}} well"))
    assert not found.refused
    assert found.copy.at("shorten.yaml").text == CALLEE.replace("or {{item}}", "or {{item}} well")
    assert found.copy.at("").text == FLOW


CHECKED = CALLEE + "  - name: judge\n    run: 'Is it short? PASS or FAIL: {{go}}'\n  - name: out\n    run: Say {{go}}\n"


@pytest.mark.parametrize(
    ("op", "more", "expected"),
    [
        (instructions("nobody", "x"), {}, "unknown_target"),
        # the words of `until` in the workflow that judges what this one gives
        (instructions("go", "Shorten {{draft}} or {{item}}. The text has one paragraph"), {}, "leaks_check"),
        (instructions("judge", "Say PASS: {{go}}"), {"callee": CHECKED}, "hides_failure"),
        (
            {"op": "add_step", "name": "last", "run": "All good.", "after": "go"},
            {},
            "changes_result",
        ),
        ({"op": "set_condition", "target": "go", "if": "{{draft}} == 'x'"}, {}, "hides_failure"),
        (
            {"op": "set_provider_fallback", "target": "go", "fallbacks": [{"provider": "x", "model": "y"}]},
            {},
            "not_in_pool",
        ),
    ],
)
def test_EB_135_what_holds_for_a_workflow_holds_for_those_that_it_calls(op: Json, more: Json, expected: str) -> None:
    found = planned(op, **more)
    assert found.accepted == (), found.copy.at("shorten.yaml").text
    assert [one.code for one in found.refused] == [expected]


def test_EB_135_the_calls_of_all_files_together_stay_within_their_limit() -> None:
    more = {"op": "set_loop_max_iterations", "target": "polish", "max_iterations": 15}
    tries = {"op": "set_retries", "target": "go", "max_retries": 2, "file": "shorten.yaml"}
    assert [len(planning(one).accepted) for one in ([more], [tries])] == [1, 1]  # each alone is less than three times
    both = planning([more, tries])
    assert [one.op for one in both.accepted] == ["set_loop_max_iterations"]
    assert [one.code for one in both.refused] == ["out_of_range"]
