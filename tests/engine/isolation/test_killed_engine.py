"""A real engine is killed with -9 while a command of Git that it started runs: the next one goes on, and what is the
user's stays byte for byte."""

from __future__ import annotations

import asyncio
import json
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import psutil
import pytest

from loop_ls.client import find
from tests.cli.conftest import CliProject
from tests.engine.isolation.kinds import ENVIRON, git, picture

Json = dict[str, Any]
#: A Git that stops where its plan says, so that the engine can be killed meanwhile: `after` the command has done its
#: work, with the `lock` of the branch that it was about to take, or `half` way, in a filter of the files.
GIT = """\
#!/bin/sh
here=$(dirname "$0") word= skip=
for each in "$@"; do
  if [ -n "$skip" ]; then skip=; continue; fi
  case $each in -c) skip=1;; *) word=$each; break;; esac
done
echo "$word" >> "$here/said"
read -r how command number < "$here/plan"
stop() { : > "$here/reached"; exec sleep 600; }
if [ "$command" = any ]; then found=$(wc -l < "$here/said"); else found=$(grep -cx -- "$command" "$here/said"); fi
if [ "$command" != any ] && [ "$command" != "$word" ]; then found=0; fi
[ "$found" -eq "$number" ] || exec REAL "$@"
case $how in
  after) REAL "$@"; stop;;
  half) exec REAL -c filter.slow.smudge="$here/slow" -c filter.slow.clean="$here/slow" "$@";;
  lock) : > "$(REAL rev-parse --path-format=absolute --git-common-dir)/$(echo "$*" | grep -o 'refs/heads/[^ ]*').lock"
    stop;;
esac
"""
SLOW = '#!/bin/sh\n: > "$(dirname "$0")/reached"\nexec sleep 600\n'
AGENT = """\
import pathlib
made = pathlib.Path("made.txt")
made.write_text((made.read_text() if made.exists() else "") + "line\\n")
pathlib.Path("a.txt").write_text("by the agent\\n")
print("done")
"""
ASSISTANT = """\
name: Maker
persona: You make.
loopEnabled: true
loopCriteria: {type: max_iterations}
maxIterations: 2
isolate: worktree
"""


class Killed:
    """A project whose engine finds that Git first."""

    def __init__(self, folder: Path) -> None:
        self.project = CliProject(folder / "project", folder / "data")
        self.bin = folder / "bin"
        self.bin.mkdir(parents=True)
        real = shutil.which("git")
        assert real is not None
        for name, text in (("git", GIT.replace("REAL", real)), ("slow", SLOW)):
            (self.bin / name).write_text(text)
            (self.bin / name).chmod(0o755)
        self.env = {**ENVIRON, "PATH": f"{self.bin}:{Path(real).parent}:/usr/bin:/bin"}
        self.plan("never", "any", 0)
        agent = json.dumps([sys.executable, str(folder / "agent.py")])
        (folder / "agent.py").write_text(AGENT)
        self.root = self.project.root
        self.root.mkdir()
        self.project.write(".loop-ls.yaml", f"providers: {{claude-code: {{kind: agent-cli, cli: {agent}}}}}\n")
        self.project.write("maker.assistant.yaml", ASSISTANT)
        for name, text in ((".gitattributes", "*.txt filter=slow\n"), (".gitignore", "*.log\n")):
            self.project.write(name, text)
        for name in ("a.txt", "b.md"):
            self.project.write(name, f"{name}\n")
        git(self.root, "init", "-q", "-b", "main")
        git(self.root, "add", "-A")
        git(self.root, "commit", "-q", "-m", "first")
        for name in ("b.md", "untracked", "ignored.log"):
            self.project.write(name, "mine\n")

    def call(self, *words: str) -> subprocess.CompletedProcess[str]:
        return self.project.call(*words, **self.env)

    def plan(self, how: str, command: str, number: int) -> None:
        for name in ("said", "reached"):
            (self.bin / name).unlink(missing_ok=True)
        (self.bin / "said").touch()
        (self.bin / "plan").write_text(f"{how} {command} {number}\n")

    def begin(self) -> str:
        words = ("run", "maker.assistant.yaml", "--input", "Make", "--yes", "--detach", "--json")
        done = self.call(*words)
        assert done.returncode == 0, done.stdout + done.stderr
        return str(json.loads(done.stdout.splitlines()[-1])["runId"])

    def kill_there(self, waited: subprocess.Popen[str] | None = None) -> bool:
        """The engine, once Git has stopped; False if it never does, because all is over."""
        reached = self.bin / "reached"
        end = time.monotonic() + 60
        while not reached.exists():
            if waited is not None and waited.poll() is not None:
                return False
            assert time.monotonic() < end, (self.bin / "said").read_text()
            time.sleep(0.01)
        self.kill()
        return True

    def kill(self) -> None:
        pid = self.project.engine_pid()
        assert pid is not None
        process = psutil.Process(pid)
        children = process.children(recursive=True)
        process.kill()
        psutil.wait_procs([process, *children], timeout=30)
        self.plan("never", "any", 0)

    def again(self) -> None:
        done = self.call("engine", "start")
        assert done.returncode == 0, done.stderr

    async def recorded(self, run_id: str) -> str:
        """The last commit of its branch, as the record says."""
        client = await find(self.root, self.project.data)
        assert client is not None
        async with client:
            return str(cast("Json", await client.status(run_id))["state"]["worktree"]["commit"])

    async def ended(self, run_id: str) -> list[Json]:
        client = await find(self.root, self.project.data)
        assert client is not None
        async with client, asyncio.timeout(90):
            while "endedAt" not in (state := cast("Json", await client.status(run_id))["state"]):
                await asyncio.sleep(0.05)
            assert state["status"] == "completed", state
            return [dict(one) for one in cast("Json", await client.events(run_id, 0))["events"]]


@pytest.fixture
def killed(tmp_path: Path) -> Iterator[Killed]:
    made = Killed(tmp_path)
    yield made
    made.project.end()


async def goes_on(killed: Killed, run_id: str, before: dict[str, object]) -> None:
    """The run ends well in the next engine, all that it made is on its branch, and is applied."""
    killed.again()
    facts = await killed.ended(run_id)
    assert picture(killed.root) == before
    [made] = [one for one in facts if one["kind"] == "worktree_made"]
    assert not [one for one in facts if one["kind"] == "warning" and one["code"] == "worktree_not_committed"]
    saved = [one["commit"] for one in facts if one["kind"] == "worktree_committed"]
    assert saved[-1] == git(killed.root, "rev-parse", made["branch"]).strip()
    titles = git(killed.root, "log", "--format=%s", f"main..{made['branch']}").splitlines()
    assert [title.partition(":")[0] for title in titles] == ["Maker 2", "Maker 1"]
    assert len(git(killed.root, "worktree", "list").splitlines()) == 2
    done = killed.call("runs", "apply", run_id)
    assert done.returncode == 0, done.stderr
    assert (killed.root / "a.txt").read_text() == "by the agent\n"
    assert (killed.root / "made.txt").read_text() == git(killed.root, "show", f"{made['branch']}:made.txt")
    assert (killed.root / "b.md").read_text() == "mine\n"


#: What changes something: made, added, written, and the branch moved for each iteration.
STEPS = [
    *[("half", "worktree", 1), ("after", "worktree", 1), ("half", "add", 1), ("after", "add", 2)],
    *[("after", "write-tree", 1), ("after", "commit-tree", 2), ("lock", "update-ref", 1), ("after", "update-ref", 2)],
]
USUAL = [("half", "worktree", 1), ("half", "add", 1), ("lock", "update-ref", 1)]
#: Commands of Git of such a run.
COMMANDS = 27


def of_ring(steps: list[tuple[str, str, int]]) -> list[Any]:
    return [step if step in USUAL else pytest.param(step, marks=pytest.mark.long) for step in steps]


@pytest.mark.parametrize("step", of_ring(STEPS), ids=lambda step: " ".join(map(str, step)))
async def test_a_run_goes_on_whose_engine_was_killed_in_a_command_of_git(
    killed: Killed, step: tuple[str, str, int]
) -> None:
    before = picture(killed.root)
    killed.plan(*step)
    run_id = killed.begin()
    assert killed.kill_there()
    assert picture(killed.root) == before
    await goes_on(killed, run_id, before)


@pytest.mark.long
@pytest.mark.timeout(3000)
async def test_a_run_goes_on_whose_engine_was_killed_after_each_command_of_git(tmp_path: Path) -> None:
    reached = []
    for number in range(1, COMMANDS + 1):
        killed = Killed(tmp_path / str(number))
        try:
            before = picture(killed.root)
            killed.plan("after", "any", number)
            run_id = killed.begin()
            reached.append(killed.kill_there())
            await goes_on(killed, run_id, before)
        finally:
            killed.project.end()
    assert all(reached)


#: Of what a person decides, with the command that it is told by.
DECISIONS = {
    "apply": [("after", "any", number) for number in range(1, 15)] + [("half", "checkout-index", 1)],
    "restore": [("after", "any", number) for number in range(1, 12)]
    + [("half", "read-tree", 1), ("lock", "update-ref", 1)],
    "keep": [("after", "worktree", 1)],
    "discard": [("after", "worktree", 1), ("lock", "branch", 1), ("after", "branch", 1)],
}


@pytest.mark.long
@pytest.mark.timeout(3000)
@pytest.mark.parametrize("verb", DECISIONS)
async def test_a_decision_is_made_again_whose_engine_was_killed_in_a_command_of_git(verb: str, tmp_path: Path) -> None:
    for number, step in enumerate(DECISIONS[verb]):
        killed = Killed(tmp_path / str(number))
        try:
            await decided_twice(killed, verb, step)
        finally:
            killed.project.end()


@pytest.mark.parametrize(
    ("verb", "step"),
    [
        ("apply", ("half", "checkout-index", 1)),
        ("restore", ("half", "read-tree", 1)),
        ("restore", ("after", "read-tree", 1)),
        ("restore", ("after", "update-ref", 1)),
    ],
)
async def test_apply_and_restore_are_made_again_after_a_kill(
    killed: Killed, verb: str, step: tuple[str, str, int]
) -> None:
    await decided_twice(killed, verb, step)


async def decided_twice(killed: Killed, verb: str, step: tuple[str, str, int]) -> None:
    run_id = killed.begin()
    facts = await killed.ended(run_id)
    [branch] = [one["branch"] for one in facts if one["kind"] == "worktree_made"]
    saved = [one["commit"] for one in facts if one["kind"] == "worktree_committed"]
    before = picture(killed.root)
    words = ("runs", verb, run_id, *(("--iteration", "1") if verb == "restore" else ()))
    killed.plan(*step)
    waited = killed.project.popen(*words, **killed.env)
    died = killed.kill_there(waited)
    waited.communicate(timeout=60)
    if not died:
        assert waited.returncode == 0
        return
    assert waited.returncode != 0
    killed.again()
    assert picture(killed.root) == before
    if verb == "restore":
        assert await killed.recorded(run_id) == git(killed.root, "rev-parse", branch).strip()
    done = killed.call(*words)
    assert done.returncode == 0, done.stderr
    match verb:
        case "apply":
            assert (killed.root / "a.txt").read_text() == "by the agent\n"
            assert (killed.root / "b.md").read_text() == "mine\n"
        case "restore":
            assert picture(killed.root) == before
            assert git(killed.root, "diff", saved[0], branch) == ""
            assert await killed.recorded(run_id) == git(killed.root, "rev-parse", branch).strip()
            titles = git(killed.root, "log", "--format=%s", f"{saved[-1]}..{branch}").splitlines()
            again = [title for title in titles if not title.startswith("Before ")]
            assert again == ["Restore iteration 1 of Maker"], "once, however often it was asked for"
        case "keep":
            assert len(git(killed.root, "worktree", "list").splitlines()) == 1
        case _:
            assert git(killed.root, "branch", "--list", "loop-ls/*") == ""
