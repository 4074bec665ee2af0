"""An assistant with `isolate: worktree`: its agent and its test work beside the user's files, commit by commit, and at
the end a person decides."""

from __future__ import annotations

import json
import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.engine.isolation.kinds import git
from tests.engine.isolation.project import Isolated, files_of


@pytest.fixture
async def project(tmp_path: Path) -> AsyncIterator[Isolated]:
    project = Isolated(tmp_path)
    yield project
    await project.close()


async def test_each_iteration_is_a_commit_and_the_users_files_stay(project: Isolated) -> None:
    project.prepare({"text": "one", "bash": "echo new > a.py"}, {"text": "two", "bash": "touch done"})
    before = project.users()
    facts = await project.run()
    assert (facts.end["kind"], facts.end["reason"]) == ("completed", "condition_met"), facts.end
    (made,) = facts.of("worktree_made")
    assert made["leftOut"] == ["mine.txt"]
    assert "`mine.txt`" in facts.of("warning")[0]["message"]
    commits = facts.of("worktree_committed")
    assert [(one.get("iteration"), one.get("verdict")) for one in commits] == [(1, "no"), (2, "yes"), (None, None)]
    assert commits[-1]["changed"] == 2
    assert git(project.root, "log", "--format=%s", made["branch"]).splitlines() == [
        "Fixer 2: yes",
        "Fixer 1: no",
        "first",
    ]
    assert git(project.root, "show", f"{commits[0]['commit']}:a.py") == "new\n"
    assert project.users() == before
    assert git(Path(made["folder"]), "status", "--porcelain") == ""
    assert [call["cwd"] for call in project.agent.calls] == [made["folder"]] * 2
    state = await project.state(made["runId"])
    assert state["worktree"] == {
        "branch": made["branch"],
        "folder": made["folder"],
        "base": made["base"],
        "commit": commits[1]["commit"],
        "changed": 2,
    }


async def test_the_changes_are_shown_and_applied_once(project: Isolated) -> None:
    project.prepare()
    run_id = (await project.run()).end["runId"]
    assert project.engine is not None
    shown = await project.engine.changes(run_id)
    assert shown["ok"], shown
    assert [(one["path"], one["status"]) for one in shown["files"]] == [
        ("a.py", "changed"),
        ("done", "added"),
        ("one", "added"),
    ]
    assert "-old\n+new\n" in shown["diff"] and "decision" not in shown
    assert [one.get("iteration") for one in shown["commits"]] == [1, 2, None]
    answer = await project.decide(run_id, "apply")
    assert (answer["ok"], answer["decision"], answer["changed"]) == (True, "applied", 3), answer
    assert ((project.root / "a.py").read_text(), (project.root / "done").exists()) == ("new\n", True)
    assert git(project.root, "diff", "--cached") == ""
    assert not Path(shown["folder"]).exists()
    again = await project.decide(run_id, "apply")
    assert (again["code"], again["message"]) == (
        "wrong_status",
        f"The changes of run {run_id} have been applied already.",
    )
    assert (await project.state(run_id))["worktree"]["decision"] == "applied"
    await project.close()
    await project.open()
    assert (await project.state(run_id))["worktree"]["decision"] == "applied"


async def test_kept_they_are_a_branch_and_discarded_they_are_gone(project: Isolated) -> None:
    project.prepare()
    before = project.users()
    facts = await project.run()
    run_id, (made,) = facts.end["runId"], facts.of("worktree_made")
    kept = await project.decide(run_id, "keep")
    assert (kept["ok"], kept["decision"], kept.get("told")) == (True, "kept", None), kept
    assert project.branches() == [made["branch"], "main"]
    assert not Path(made["folder"]).exists()
    discarded = await project.decide(run_id, "discard")
    assert (discarded["ok"], discarded["decision"], discarded.get("told")) == (True, "discarded", None), discarded
    assert project.branches() == ["main"]
    later = await project.decide(run_id, "keep")
    assert later["message"] == f"The changes of run {run_id} have been discarded."
    assert project.users() == before


async def test_an_earlier_iteration_is_restored_by_a_new_commit(project: Isolated) -> None:
    project.prepare({"text": "one", "bash": "echo 1 > a.py"}, {"text": "two", "bash": "echo 2 > a.py; touch done"})
    facts = await project.run()
    run_id, (made,) = facts.end["runId"], facts.of("worktree_made")
    assert project.engine is not None
    missing = await project.engine.restore(run_id, 7)
    assert (missing["code"], missing["message"]) == (
        "not_found",
        f"Run {run_id} has no commit of iteration 7. It has 1, 2.",
    )
    (Path(made["folder"]) / "later.txt").write_text("written by a person\n")
    answer = await project.engine.restore(run_id, 1)
    assert (answer["ok"], answer["decision"], answer["changed"]) == (True, "restored", 1), answer
    assert files_of(project.root, made["branch"]) == {"a.py": "1\n"}
    titles = git(project.root, "log", "--format=%s", made["branch"]).splitlines()
    assert titles[:3] == ["Restore iteration 1 of Fixer", "Before Restore iteration 1 of Fixer", "Fixer 2: yes"]
    assert (Path(made["folder"]) / "a.py").read_text() == "1\n"
    applied = await project.decide(run_id, "apply")
    assert (applied["ok"], applied["changed"]) == (True, 1), applied
    assert (project.root / "a.py").read_text() == "1\n"


async def test_while_it_goes_on_it_is_shown_and_nothing_is_decided(project: Isolated) -> None:
    project.prepare({"text": "one", "bash": "echo new > a.py"}, {"text": "two", "hang": True})
    run_id = await project.started()
    await project.until_kind(run_id, "worktree_committed")
    await project.calls(2)
    assert project.engine is not None
    shown = await project.engine.changes(run_id)
    assert [one["path"] for one in shown["files"]] == ["a.py"]
    for answer in (await project.decide(run_id, "apply"), await project.engine.restore(run_id, 1)):
        assert (answer["code"], answer["message"]) == ("wrong_status", f"Run {run_id} is running.")
    other = await project.start(target={"kind": "assistant"}, message="again")
    assert other["code"] == "already_running"
    await project.engine.control("stop", run_id)
    facts = await project.ended(run_id)
    assert [one.get("iteration") for one in facts.of("worktree_committed")] == [1, None]
    assert (await project.decide(run_id, "discard"))["ok"]


async def test_without_a_worktree_there_is_nothing_to_decide(project: Isolated) -> None:
    project.prepare(isolate=None)
    facts = await project.run()
    assert facts.of("worktree_made") == []
    assert (project.root / "done").exists()
    answer = await project.decide(facts.end["runId"], "apply")
    assert (answer["code"], answer["hint"]) == ("not_found", "Set `isolate: worktree` for the next one.")
    assert (await project.decide(facts.end["runId"], "merge"))["code"] == "bad_argument"


@pytest.mark.parametrize("where", ["settings", "provider"])
async def test_the_settings_say_it_for_every_run_and_for_one_agent(project: Isolated, where: str) -> None:
    if where == "settings":
        project.settings["isolate"] = "worktree"
    else:
        project.settings["providers"]["claude-code"]["isolate"] = "worktree"
    project.prepare(isolate=None)
    facts = await project.run()
    assert len(facts.of("worktree_made")) == 1
    assert not (project.root / "done").exists()


@pytest.mark.parametrize("where", ["settings", "provider"])
async def test_another_word_starts_nothing_in_the_users_files(project: Isolated, where: str) -> None:
    if where == "settings":
        project.settings["isolate"] = "wrktree"
    else:
        project.settings["providers"]["claude-code"]["isolate"] = True
    project.prepare(isolate=None)
    answer = await project.start()
    assert (answer["ok"], answer["code"]) == (False, "bad_argument"), answer
    assert answer["hint"] == "The only value is `worktree`."
    assert project.agent.calls == []


async def test_consent_says_that_git_is_started(project: Isolated) -> None:
    project.prepare()
    asked = await project.start(consent=False)
    told = json.dumps(asked)
    assert asked["code"] == "consent_required"
    assert f"works in a Git worktree of its own for {project.root}" in told
    assert "starts `git`" in told


async def test_where_there_is_no_repository_the_run_ends_with_a_sentence(project: Isolated) -> None:
    project.prepare()
    shutil.rmtree(project.root / ".git")
    facts = await project.run()
    assert facts.end["kind"] == "failed"
    assert (
        facts.end["error"]["message"] == "`isolate: worktree` is not possible here: the folder is in no Git repository"
    )
    assert project.agent.calls == []


async def test_two_that_work_beside_each_other_ask_nobody(project: Isolated) -> None:
    project.prepare({"text": "one", "hang": True})
    run_id = await project.started()
    await project.calls(1)
    (project.root / "other.assistant.json").write_text(json.dumps({**project.assistant, "name": "Other"}))
    asked = await project.start(path=str(project.root / "other.assistant.json"), consent=False)
    assert asked["ok"], asked
    assert project.engine is not None
    await project.until_kind(asked["runId"], "worktree_made")
    await project.engine.control("stop", "all")
    folders = [(await project.ended(one)).of("worktree_made")[0]["folder"] for one in (run_id, asked["runId"])]
    assert len({*folders}) == 2


async def test_protected_files_of_the_worktree_ask_before_the_check_counts(project: Isolated) -> None:
    project.prepare({"text": "one", "bash": "echo 'raise SystemExit(0)' > check.py"})
    run_id = await project.started()
    asked = await project.until_kind(run_id, "manual_approval_required")
    assert asked["protected"] == [{"path": "check.py", "change": "changed"}]
    assert (await project.facts(run_id)).of("judged") == []
    assert project.engine is not None
    await project.engine.approve(run_id, None, False, "reject")
    await project.ended(run_id)


@pytest.mark.parametrize(
    ("bash", "touched"),
    [
        ("git config filter.x.clean 'touch /tmp/x'", "config"),
        (
            "cd $(git rev-parse --git-common-dir); mkdir -p hooks; echo 'exit 0' > hooks/pre-commit; cd -",
            "hooks/pre-commit",
        ),
    ],
)
async def test_what_an_agent_does_to_the_users_repository_is_asked_about_and_put_back(
    project: Isolated, bash: str, touched: str
) -> None:
    project.prepare({"text": "one", "bash": f"{bash}; touch done"})
    config = (project.root / ".git" / "config").read_bytes()
    run_id = await project.started()
    asked = await project.until_kind(run_id, "manual_approval_required")
    assert [one["path"] for one in asked["protected"]] == [str(project.root / ".git" / touched)]
    assert project.engine is not None
    await project.engine.approve(run_id, None, False, "restore")
    facts = await project.ended(run_id)
    assert facts.end["reason"] == "condition_met"
    assert (project.root / ".git" / "config").read_bytes() == config
    assert not (project.root / ".git" / "hooks" / "pre-commit").exists()
    assert [path.name for path in (project.root / ".git").iterdir() if path.name.startswith("config")] == ["config"]


#: Another repository where Git looks for that of the worktree, and settings of the user's own, each with a program.
ELSEWHERE = (
    "cp -r $(git rev-parse --git-common-dir)/. other/; git --git-dir=other config core.worktree .."
    "; git --git-dir=other config filter.x.clean '{touch}'; echo 'gitdir: other' > .git"
)
SETTINGS = "git config filter.x.clean '{touch}'; git config filter.x.smudge '{touch}'"
INCLUDED = "echo '[filter \"x\"] clean = {touch}' > more; git config include.path $PWD/more"


@pytest.mark.parametrize("bash", [ELSEWHERE, SETTINGS, INCLUDED])
async def test_a_program_that_an_agent_wrote_into_settings_of_git_is_not_started_when_its_run_is_stopped_or_decided(
    project: Isolated, tmp_path: Path, bash: str
) -> None:
    started = tmp_path / "started"
    attributes = "mkdir -p other; echo '* filter=x' > .gitattributes; echo 2 > a.py"
    evil = bash.format(touch=f"touch {started}; cat")
    project.prepare(
        {"text": "one", "bash": "echo 1 > a.py"}, {"text": "two", "bash": f"{attributes}; {evil}; rm -f {started}"}
    )
    run_id = await project.started()
    await project.until_kind(run_id, "manual_approval_required")
    assert project.engine is not None
    await project.engine.control("stop", run_id)
    facts = await project.ended(run_id)
    assert not started.exists()
    told = [one["message"] for one in facts.of("warning") if one["code"] == "worktree_not_committed"]
    assert len(told) == 1 and "for its files, without permission" in told[0]
    await project.engine.changes(run_id)
    for decide in (
        project.engine.restore(run_id, 1, None),
        project.decide(run_id, "apply"),
        project.decide(run_id, "keep"),
        project.decide(run_id, "discard"),
    ):
        await decide
        assert not started.exists()


#: A repository of its own below the worktree, made by the agent, and what its settings start.
_GIT = "git -c user.name=a -c user.email=a@b"
INNER = f"mkdir -p {{at}}; cd {{at}}; git init -q; echo 1 > f; {_GIT} add -A; {_GIT} commit -q -m x"
STARTS = {
    "filter": "git config filter.x.clean '{touch}'; echo '* filter=x' > $(git rev-parse --git-dir)/info/attributes",
    "monitor": "echo '#!/bin/sh\n{touch}' > .git/m; chmod +x .git/m; git config core.fsmonitor $PWD/.git/m",
    "elsewhere": "git config filter.x.clean '{touch}'; echo '* filter=x' > .git/info/attributes; mv .git ../away;"
    ' echo "gitdir: $PWD/../away" > .git',
}


@pytest.mark.parametrize("at", ["sub", "deep/er/sub"])
@pytest.mark.parametrize("how", STARTS)
async def test_a_program_of_a_repository_that_an_agent_made_in_the_worktree_is_not_started(
    project: Isolated, tmp_path: Path, at: str, how: str
) -> None:
    started = tmp_path / "started"
    inner = f"{INNER.format(at=at)}; {STARTS[how].format(touch=f'touch {started}; cat')}; rm -f {started}; echo 2 > f"
    project.prepare({"text": "one", "bash": inner}, {"text": "two", "bash": "touch done"})
    run_id = (await project.run()).end["runId"]
    assert project.engine is not None
    assert not started.exists()
    await project.engine.restore(run_id, 1, None)
    for decision in ("apply", "keep", "discard"):
        told = await project.decide(run_id, decision)
        if decision == "keep":  # what is in no commit of ours would be lost
            assert f"has files that are not committed ({at}" in told["told"]
        assert not started.exists()


async def test_a_repository_in_the_worktree_is_committed_as_the_commit_that_it_is_at(project: Isolated) -> None:
    project.prepare(
        {"text": "one", "bash": INNER.format(at="sub")},
        {
            "text": "two",
            "bash": f"cd sub; echo 2 > f; {_GIT} commit -q -a -m y; git rev-parse HEAD > ../at; echo 3 > f",
        },
        {"text": "three", "bash": "rm -rf sub; echo plain > sub; touch done"},
    )
    facts = await project.run()
    first, second, third = [one["commit"] for one in facts.of("worktree_committed")][:3]
    at = git(project.root, "show", f"{second}:at").strip()
    assert git(project.root, "ls-tree", second, "sub").split()[:3] == ["160000", "commit", at]
    assert git(project.root, "ls-tree", first, "sub").split()[2] != at
    assert git(project.root, "show", f"{third}:sub") == "plain\n"


async def test_a_fork_goes_on_from_what_the_iterations_before_had_made(project: Isolated) -> None:
    project.prepare({"text": "one", "bash": "echo 1 > a.py"}, {"text": "two", "bash": "echo 2 >> a.py; touch done"})
    first = (await project.run()).end["runId"]
    project.agent.say({"text": ""}, {"text": ""}, {"text": "again", "bash": "echo 3 >> a.py; touch done"})
    assert project.engine is not None
    answer = await project.engine.fork(first, 2)
    assert answer["ok"], answer
    facts = await project.ended(answer["runId"])
    assert [one.get("iteration") for one in facts.of("worktree_committed")] == [2, None]
    assert files_of(project.root, facts.of("worktree_made")[0]["branch"])["a.py"] == "1\n3\n"
    assert (await project.decide(answer["runId"], "apply"))["ok"]
    assert (project.root / "a.py").read_text() == "1\n3\n"
