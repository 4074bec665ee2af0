"""What stage agents can do, and what none of them can (RB 79-83, 105-111)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from loop_ls.engine.core.messages import ToolSpec
from loop_ls.engine.model_calls.tool_loop import Outcome
from loop_ls.engine.roles.access import RoleToolbox, is_excluded, tools_of
from loop_ls.engine.roles.agent import Job
from loop_ls.engine.roles.records.records import Records
from loop_ls.engine.roles.tools.files import writing_tools
from loop_ls.engine.roles.tools.notes import StageNotes
from loop_ls.engine.roles.tools.workspace import Workspace
from loop_ls.engine.subprocesses.sandbox import NoSandbox, Sandbox, find_sandbox
from loop_ls.formats.role_loop.roles import ROLES, Access, Role, known_roles, steps_of

from .conftest import SETTINGS, EngineProject

ENVIRON = {"PATH": "/usr/bin:/bin", "OPENAI_API_KEY": "sk-very-secret-indeed"}
READING = {"file_read", "file_list", "file_search"}
NOTES = {
    *("artifact_list", "artifact_read", "artifact_create", "todo_list", "todo_add", "todo_update"),
    *("sprint_show", "sprint_update", "skill_list", "skill_read"),
}
FULL = {"file_write", "file_edit", "shell", "web_fetch", "memory_store", "memory_search", "artifact_delete"}
FOREIGN = ("loop_start", "loop_control", "background_task_start", "schedule_create", "webhook_register", "x__loop_list")

Call = Callable[..., Awaitable[Outcome]]


class Discovered:
    """Tools of a server of the project."""

    async def offered(self) -> tuple[ToolSpec, ...]:
        return tuple(ToolSpec(name) for name in ("weather", *FOREIGN))

    async def call(self, name: str, arguments: Any) -> Outcome:
        return Outcome(f"{name} called")


def box(root: Path, access: Access, servers: Any = None, sandbox: Sandbox | NoSandbox | None = None) -> RoleToolbox:
    notes = StageNotes(
        Records(root.parent / "data", lambda: 0.0), "mine", "run", "project", "sprint", "run/pair/1/write"
    )
    return RoleToolbox(tools_of(access, root, notes, ENVIRON, sandbox or find_sandbox()), servers)


async def names(toolbox: RoleToolbox) -> set[str]:
    return {tool.name for tool in await toolbox.offered()}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made = tmp_path / "project"
    made.mkdir()
    (made / "a.py").write_text("one = 1\ntwo = 2\n")
    (made / "b.txt").write_text("bee\n")
    return made


@pytest.fixture
def explorer(root: Path) -> Call:
    return calling(box(root, ROLES["explorer"].access))


@pytest.fixture
def coder(root: Path) -> Call:
    return calling(box(root, ROLES["coder"].access))


def calling(toolbox: RoleToolbox) -> Call:
    async def call(name: str, **arguments: Any) -> Outcome:
        return await toolbox.call(name, arguments)

    return call


async def seen(project: EngineProject, definition: str, stage: str) -> list[str]:
    """The names of the tools that a stage was really offered."""
    await project.run(definition)
    return [tool.name for tool in project.models.asked(stage)[0].tools]


async def test_RB_079_a_coder_gets_no_tool_that_starts_anything_on_its_own(project: EngineProject) -> None:
    offered = await seen(project, "pair", "write")
    assert offered
    assert not [name for name in offered if is_excluded(name)]
    refused = await box(project.root, "full", Discovered()).call("loop_start", {"definition": "pair", "goal": "again"})
    assert refused.failed
    assert "unknown tool" in refused.text


async def test_RB_080_a_reviewer_has_no_tool_that_writes(project: EngineProject) -> None:
    assert "file_write" not in await seen(project, "pair", "judge-it")
    refused = await box(project.root, "readonly").call("file_write", {"path": "x", "content": "y"})
    assert (refused.failed, refused.text) == (True, "unknown tool `file_write`")
    assert not (project.root / "x").exists()


@pytest.mark.parametrize("access", ["readonly", "readonly-shell", "minimal"])
async def test_RB_080_nobody_without_full_access_is_offered_what_writes(project: EngineProject, access: Access) -> None:
    writing = {tool.spec.name for tool in writing_tools(Workspace(project.root))}
    assert len(writing) > 1
    offered = await names(box(project.root, access))
    assert not offered & writing
    assert writing <= await names(box(project.root, "full"))


@pytest.mark.parametrize("command", ["rm a.py", "python3 -c 1", "sed -i s/a/b/ a.py", "/bin/cat a.py", "./cat", ""])
async def test_RB_081_an_explorer_runs_only_what_is_on_the_list(root: Path, explorer: Call, command: str) -> None:
    outcome = await explorer("shell", command=command)
    assert outcome.failed
    assert (root / "a.py").exists()


async def test_RB_082_a_minimal_role_has_no_tools(project: EngineProject) -> None:
    project.define("little", roles=[{"name": "title", "role": "title-generator", "prompt": "Say APPROVED."}])
    project.say(title="APPROVED")
    assert await seen(project, "little", "title") == []


def test_RB_083_the_most_steps_are_100() -> None:
    coder = ROLES["coder"]
    assert steps_of(500, coder) == 100
    assert steps_of(7, coder) == 7
    assert steps_of(None, coder) == 48
    assert steps_of(None, ROLES["orchestrator"]) == 48
    assert steps_of(0, coder) == 100


async def test_RB_083_a_stage_takes_no_more_steps_than_its_cap(project: EngineProject) -> None:
    from loop_ls.engine.core.messages import ToolCall
    from loop_ls.engine.core.ports import ModelReply

    asked: list[str] = []

    async def ask(request: Any, *others: Any) -> ModelReply:
        asked.append(request.place)
        return ModelReply("", "p", "m", calls=(ToolCall("1", "file_list", {}, "{}"),))

    project.models.ask = ask  # type: ignore[method-assign,assignment]
    project.define("long", roles=[{"name": "write", "role": "coder", "prompt": "Write.", "max_iterations": 500}])
    state = await project.run("long")
    assert (state["status"], len(asked)) == ("failed", 100)


@pytest.mark.parametrize("cap", [1, 3])
async def test_RB_146_a_stage_at_its_cap_is_asked_for_an_answer_without_tools(project: EngineProject, cap: int) -> None:
    from loop_ls.engine.core.messages import ToolCall
    from loop_ls.engine.core.ports import ModelReply
    from loop_ls.engine.model_calls.tool_loop import CLOSING

    asked: list[Any] = []

    async def ask(request: Any, *others: Any) -> ModelReply:
        asked.append(request)
        if request.closing or not request.tools:
            return ModelReply("what I know", "p", "m")
        return ModelReply("", "p", "m", calls=(ToolCall("1", "file_list", {}, "{}"),))

    project.models.ask = ask  # type: ignore[method-assign,assignment]
    roles = [{"name": "write", "role": "coder", "prompt": "Write.", "max_iterations": cap}]
    project.define("long", roles=roles, termination_condition={"type": "iteration_bound", "value": 1})
    state = await project.run("long")
    assert (state["status"], state["lastOutput"], len(asked)) == ("completed", "what I know", cap)
    assert [request.closing for request in asked] == [False] * (cap - 1) + [cap > 1]
    if cap > 1:
        assert asked[-1].turns[-1].answers[-1].text.endswith(CLOSING)


async def test_RB_105_a_coder_has_everything(root: Path) -> None:
    found = await names(box(root, ROLES["coder"].access, Discovered()))
    assert found == READING | NOTES | FULL | {"weather"}


async def test_RB_106_an_explorer_reads_and_runs_what_reads(root: Path) -> None:
    toolbox = box(root, ROLES["explorer"].access)
    assert await names(toolbox) == READING | NOTES | {"shell"}
    assert (await toolbox.call("shell", {"command": "cat b.txt"})).text == "bee"
    assert (await toolbox.call("file_read", {"path": "b.txt"})).text.count("bee") == 1
    refused = await toolbox.call("shell", {"command": "touch new.txt"})
    assert refused.failed
    assert "touch" in refused.text
    assert sorted(path.name for path in root.iterdir()) == ["a.py", "b.txt"]


async def test_RB_106_without_a_sandbox_an_explorer_has_no_shell(root: Path) -> None:
    offered = await names(box(root, ROLES["explorer"].access, sandbox=NoSandbox("There is none.")))
    assert offered == READING | NOTES


@pytest.mark.parametrize("role", ["plan", "reviewer"])
async def test_RB_107_a_plan_and_a_reviewer_read(root: Path, role: str) -> None:
    assert await names(box(root, ROLES[role].access)) == READING | NOTES


@pytest.mark.parametrize("role", ["title-generator", "vision"])
async def test_RB_108_minimal_roles_have_nothing(root: Path, role: str) -> None:
    assert await names(box(root, ROLES[role].access)) == set()


@pytest.mark.parametrize("access", ["full", "readonly-shell", "readonly", "minimal"])
async def test_RB_109_no_level_and_no_setting_adds_what_starts_loops(root: Path, access: Access) -> None:
    role = known_roles({"own": {"access": access, "tools": ["loop_start"], "loop": True}})["own"]
    assert role.access == access
    found = await names(box(root, role.access, Discovered() if access == "full" else None))
    assert not found & set(FOREIGN)


async def test_RB_109_a_server_of_the_project_is_asked_for_full_access_only(project: EngineProject) -> None:
    from loop_ls.engine.core.plan import Plan
    from loop_ls.engine.roles.stage_agents import stage_agents

    settings = {"assist": {"provider": "p", "model": "m"}, "servers": {"own": {"command": ["x"]}}}
    plan = Plan("run", "role_loop", str(project.root), "pair", "loops/pair.json", settings=settings)
    made = stage_agents(project.records, ENVIRON)(plan, None, project.models)  # type: ignore[arg-type]
    for name, wanted in (("coder", True), ("explorer", False), ("reviewer", False), ("vision", False)):
        job = Job(None, "s", ROLES[name], "", 1, "mine", "e")  # type: ignore[arg-type]
        job = Job(_place(), job.stage, job.role, "", 1, "mine", "e")
        assert (made.toolbox(job).servers is not None) is wanted  # type: ignore[attr-defined]


def _place() -> Any:
    from loop_ls.engine.core.location import Place

    return Place("pair/1/write")


async def test_RB_110_find_finds(explorer: Call) -> None:
    outcome = await explorer("shell", command='find . -name "*.py"')
    assert (outcome.text, outcome.failed) == ("./a.py", False)


@pytest.mark.parametrize(
    "action",
    [
        *("-exec rm {} ;", "-execdir rm {} ;", "-ok rm {} ;", "-okdir rm {} ;", "-delete"),
        *("-fprint out", "-fprint0 out", "-fprintf out %p", "-fls out", "-L", "-follow"),
    ],
)
async def test_RB_110_find_neither_runs_nor_writes_nor_deletes(root: Path, explorer: Call, action: str) -> None:
    before = sorted(root.iterdir())
    outcome = await explorer("shell", command=f"find . {action}")
    assert outcome.failed
    assert sorted(root.iterdir()) == before


@pytest.mark.parametrize(
    "command",
    [
        *(
            "cat a.py > b",
            "cat a.py | sh",
            "cat $(ls)",
            "cat `ls`",
            "cat a.py; rm a.py",
            "cat a.py>b",
            "cat a.py&rm a.py",
        ),
        *('cat "$(ls)"', "cat a.py 2>b", "cat <(ls)", "cat 'a.py' \\' ; rm a.py '"),
    ],
)
async def test_RB_111_no_shell_reads_the_command(root: Path, explorer: Call, command: str) -> None:
    outcome = await explorer("shell", command=command)
    assert outcome.failed
    assert sorted(path.name for path in root.iterdir()) == ["a.py", "b.txt"]


# -- the border of the workspace ---------------------------------------------------------------------


@pytest.fixture
def secret(root: Path) -> Path:
    there = root.parent / "secret.txt"
    there.write_text("a secret")
    (root / "link").symlink_to(there)
    (root / "up").symlink_to(root.parent)
    return there


def content(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("path", ["../secret.txt", "/etc/passwd", "link", "up/secret.txt", "a/../../secret.txt"])
async def test_RB_142_no_file_tool_leaves_the_workspace(coder: Call, secret: Path, path: str) -> None:
    for name, more in (
        ("file_read", {}),
        ("file_write", {"content": "x"}),
        ("file_edit", {"old": "a", "new": "b"}),
    ):
        assert (await coder(name, path=path, **more)).failed
    assert secret.read_text() == "a secret"


async def test_RB_142_no_tool_reads_or_writes_what_an_engine_keeps(root: Path, coder: Call, explorer: Call) -> None:
    data = root / "engine-data"
    data.mkdir()
    for name in ("engine.lock", "engine.json", "consent.key"):
        (data / name).write_text("a token")
    for name, more in (("file_read", {}), ("file_write", {"content": "x"}), ("file_edit", {"old": "a", "new": "b"})):
        assert (await coder(name, path="engine-data/engine.json", **more)).failed
    assert (await explorer("file_list", path="engine-data")).failed
    assert (await explorer("shell", command="cat engine-data/engine.json")).failed
    assert "a token" not in (await explorer("file_search", query="token")).text
    for into in ("grep -r token .", "grep --recursive token", "grep -rn token engine-data/..", "diff -r . other"):
        assert (found := await explorer("shell", command=into)).failed
        assert "a token" not in found.text
    told = (await explorer("shell", command="grep -r token .")).text
    assert "leave it out with `--exclude-dir engine-data`" in told
    (root / "beside.txt").write_text("another token")
    (root / "other").mkdir()
    for around in ("grep -r token . --exclude-dir engine-data", "diff -r -x engine-data . other"):
        found = await explorer("shell", command=around)
        assert "beside.txt" in found.text
        assert "a token" not in found.text
    assert (data / "engine.json").read_text() == "a token"


@pytest.mark.parametrize(
    "command",
    [
        *("cat ../secret.txt", "cat /etc/passwd", "cat link", "head -n 1 up/secret.txt", "grep -r secret .."),
        *("grep -R secret .", "grep -f../secret.txt a.py", "grep -rf../secret.txt .", "wc --files0-from=../x"),
        *("grep --dereference-rec a .", "find / -name x", "find . -newer ../secret.txt", "diff a.py ../secret.txt"),
        *(
            "diff -l a.py b.txt",
            "uniq a.py out.txt",
            "uniq - b.txt",
            "find -L . -name x",
            "find . -files0-from x",
            "ls ../",
        ),
        # `--` as the value of an option ends no options, whatever the option
        *("diff -I -- --to-file=../secret.txt a.py", "diff -F -- --from-file=/etc/hostname a.py"),
        *("diff --label -- --to-file=../secret.txt a.py", "diff --ignore-matching-lines -- --to-file=link a.py"),
        *("grep -e secret -e -- -R .", "grep --include -- -R secret .", "grep -ne -- -f../secret.txt a.py"),
        *("uniq - a.py", "uniq -- a.py -copy.txt", "find . -newer -- -delete"),
    ],
)
async def test_RB_106_the_restricted_shell_does_not_leave_the_workspace(
    explorer: Call, secret: Path, command: str
) -> None:
    before = content(secret.parent)
    outcome = await explorer("shell", command=command)
    assert outcome.failed, outcome.text
    assert "a secret" not in outcome.text
    assert content(secret.parent) == before


@pytest.mark.parametrize(
    ("command", "text"),
    [
        ("cat a.py", "one = 1\ntwo = 2"),
        ("grep -n two a.py", "2:two = 2"),
        ("grep -rn /none .", "(no output)\n[ended with 1]"),
        ("head -n 1 a.py", "one = 1"),
        ("wc -l a.py", "2 a.py"),
        ("ls", "a.py\nb.txt"),
        ("head -1 a.py", "one = 1"),
        ("tail -n +2 a.py", "two = 2"),
        ("grep -c -e one -- a.py", "1"),
        ("grep --regexp one a.py", "one = 1"),
        ("grep -cE ';|two' a.py", "1"),
        ('grep -c "=" a.py', "2"),
        ("grep -c '$(x)`y`' a.py", "0\n[ended with 1]"),
        ("find . \\( -name a.py -o -name nothing \\)", "./a.py"),
        ("diff -u a.py a.py", "(no output)"),
        ("find . -name '*.txt' -printf '%f %s\\n'", "b.txt 4"),
    ],
)
async def test_RB_106_the_restricted_shell_reads(explorer: Call, command: str, text: str) -> None:
    assert (await explorer("shell", command=command)).text.lstrip() == text


async def test_RB_142_a_search_does_not_follow_links(explorer: Call, secret: Path) -> None:
    assert "a secret" not in (await explorer("file_search", query="secret")).text
    assert "a secret" not in (await explorer("shell", command="grep -r secret .")).text
    assert "a secret" not in (await explorer("shell", command="diff -r . .")).text


async def test_RB_105_files_are_written_edited_and_read(root: Path, coder: Call) -> None:
    assert not (await coder("file_write", path="new/c.txt", content="one\ntwo\n")).failed
    assert not (await coder("file_edit", path="new/c.txt", old="two", new="three")).failed
    assert (await coder("file_read", path="new/c.txt")).text == "1\tone\n2\tthree"
    assert (root / "new" / "c.txt").read_text() == "one\nthree\n"
    twice = await coder("file_edit", path="new/c.txt", old="e", new="x")
    assert (twice.failed, "4 times" in twice.text or "times" in twice.text) == (True, True)


async def test_RB_105_a_file_is_read_in_parts_that_say_how_much_is_left(root: Path, coder: Call) -> None:
    (root / "long.txt").write_text("".join(f"line {n}\n" for n in range(1, 2_003)))
    assert (await coder("file_read", path="long.txt", first="2", lines="2")).text == (
        "2\tline 2\n3\tline 3\n[1999 more lines]"
    )
    assert (await coder("file_read", path="long.txt", first="2002")).text == "2002\tline 2002"
    assert (await coder("file_read", path="long.txt", first="2001", lines="1")).text == (
        "2001\tline 2001\n[1 more lines]"
    )
    assert (await coder("file_read", path="long.txt", first="9000")).text == ""
    whole = (await coder("file_read", path="long.txt", first="0", lines="9000")).text
    assert (whole.startswith("1\tline 1\n"), "[2 more lines]" in whole) == (True, True)
    assert (await coder("file_read", path="long.txt", first="-1")).failed


async def test_RB_105_a_folder_is_listed_and_lines_are_found_below_it(root: Path, coder: Call) -> None:
    (root / "sub").mkdir()
    (root / "sub" / "c.txt").write_text("bee\n" + "bee " * 100)
    (root / "sub" / "d.bin").write_bytes(b"bee\xff")
    (root / "node_modules").mkdir()
    (root / "node_modules" / "e.txt").write_text("bee")
    assert (await coder("file_list")).text == "a.py\nb.txt\nnode_modules/\nsub/"
    assert (await coder("file_list", path="sub")).text == "c.txt\nd.bin"
    assert (await coder("file_list", path="b.txt")).failed
    (root / "none").mkdir()
    assert (await coder("file_list", path="none")).text == "(empty)"
    found = (await coder("file_search", query="bee")).text.splitlines()
    assert found == ["b.txt:1: bee", "sub/c.txt:1: bee", "sub/c.txt:2: " + ("bee " * 100)[:300]]
    assert (await coder("file_search", query="bee", path="b.txt")).text == "b.txt:1: bee"
    assert (await coder("file_search", query="wasp")).text == "nothing found"


async def test_RB_143_a_list_and_a_search_of_very_many_say_that_there_is_more(root: Path, coder: Call) -> None:
    for n in range(1_001 - 2):
        (root / f"n{n:04}.txt").touch()
    assert (await coder("file_list")).text.endswith("\n[1 more]")
    (root / "n0000.txt").write_text("hit\n" * 199)
    assert len((await coder("file_search", query="hit")).text.splitlines()) == 199
    (root / "n0000.txt").write_text("hit\n" * 201)
    found = (await coder("file_search", query="hit")).text.splitlines()
    assert (len(found), found[-1]) == (201, "[more results; search in a subfolder]")


async def test_RB_142_what_is_no_small_text_is_neither_read_nor_edited(root: Path, coder: Call) -> None:
    (root / "c.bin").write_bytes(b"\xff")
    (root / "big.txt").write_bytes(b"x" * (4 * 1024 * 1024))
    assert "is not a text file" in (await coder("file_read", path="c.bin")).text
    assert not (await coder("file_read", path="big.txt")).failed
    (root / "big.txt").write_bytes(b"x" * (4 * 1024 * 1024 + 1))
    assert "larger than 4 MiB" in (await coder("file_read", path="big.txt")).text
    assert "File not found: `none.txt`" in (await coder("file_read", path="none.txt")).text
    assert "is a folder" in (await coder("file_write", path=".", content="x")).text
    assert "occurs 0 times" in (await coder("file_edit", path="b.txt", old="", new="x")).text


@pytest.mark.parametrize(
    "path",
    [
        *(".git/hooks/pre-commit", ".GIT/hooks/pre-commit", "sub/.Git/config", ".vscode/tasks.json", ".VSCode/x"),
        *(".loop-ls.yaml", ".LOOP-LS.yaml", ".github/workflows/x.yml", "hidden/x", ".env"),
    ],
)
async def test_RB_142_nothing_hidden_is_written_whatever_the_letter_case(root: Path, coder: Call, path: str) -> None:
    (root / ".idea").mkdir()
    (root / "hidden").symlink_to(".idea")
    assert (await coder("file_write", path=path, content="x")).failed
    assert (await coder("file_edit", path=path, old="x", new="y")).failed
    assert {entry.name for entry in root.iterdir()} == {"a.py", "b.txt", ".idea", "hidden"}
    assert not list((root / ".idea").iterdir())


async def test_RB_105_a_command_of_a_stage_knows_no_key_and_says_that_it_is_one(coder: Call) -> None:
    outcome = await coder("shell", command="env")
    assert "sk-very-secret-indeed" not in outcome.text
    assert "LOOP_LS_STAGE=1" in outcome.text


async def test_UP_61_a_command_that_takes_too_long_is_ended_with_its_children(root: Path, coder: Call) -> None:
    outcome = await coder("shell", command="trap '' TERM; sleep 600 & echo $! > pid; wait", seconds="1")
    assert outcome.failed
    assert "longer than 1 s" in outcome.text
    pid = int((root / "pid").read_text())
    async with asyncio.timeout(60):
        while Path(f"/proc/{pid}").exists() and "Z" not in Path(f"/proc/{pid}/stat").read_text().split()[2]:
            await asyncio.sleep(0.02)


async def test_RB_143_long_output_is_cut_and_nobody_waits_for_us(coder: Call) -> None:
    outcome = await coder("shell", command="yes | head -c 3000000; echo the end >&2; exit 3")
    assert len(outcome.text) < 60_000
    assert outcome.text.endswith("the end\n[ended with 3]")


async def test_RB_144_notes_stay_in_their_session(root: Path, coder: Call) -> None:
    made = (await coder("artifact_create", title="T", content="C")).text.removeprefix("artifact ")
    assert (await coder("artifact_read", id=made)).text == "C"
    notes = StageNotes(Records(root.parent / "data", lambda: 0.0), "yours", "run", "p", "s", "by")
    other = calling(RoleToolbox(tools_of("full", root, notes, ENVIRON, find_sandbox())))
    assert (await other("artifact_read", id=made)).failed
    todo = (await coder("todo_add", title="Write tests")).text.removeprefix("todo ")
    await coder("todo_update", id=todo, status="done")
    assert (await coder("todo_list")).text == f"{todo}  [done] Write tests"
    assert (await coder("todo_update", id=todo, status="lost")).failed
    await coder("memory_store", text="The tests need Postgres.")
    assert "Postgres" in (await coder("memory_search", query="TESTS postgres")).text
    assert (await coder("artifact_delete", id=made)).text == f"artifact {made} deleted"


async def test_RB_144_skills_are_texts_of_the_workspace(root: Path, explorer: Call) -> None:
    (root / "skills" / "release").mkdir(parents=True)
    (root / "skills" / "release" / "SKILL.md").write_text("Tag it.")
    assert (await explorer("skill_list")).text == "release"
    assert (await explorer("skill_read", skill="release")).text == "Tag it."
    refused = await explorer("skill_read", skill="../x")
    assert (refused.failed, "Unknown skill `../x`; available skills: release." in refused.text) == (True, True)


async def test_RB_144_skills_of_other_tools_are_read_after_those_of_the_workspace(root: Path, explorer: Call) -> None:
    for folder, name, text in (
        ("skills", "release", "Tag it."),
        (".claude/skills", "release", "Another one."),
        (".claude/skills", "review", "Read it twice."),
        (".agents/skills", "deploy", "Ask first."),
    ):
        (root / folder / name).mkdir(parents=True)
        (root / folder / name / "SKILL.md").write_text(text)
    (root / ".agents/skills/outside").symlink_to(root.parent, target_is_directory=True)
    (root.parent / "SKILL.md").write_text("Not of this workspace.")
    assert (await explorer("skill_list")).text.splitlines() == ["deploy", "release", "review"]
    for name, text in (("release", "Tag it."), ("review", "Read it twice."), ("deploy", "Ask first.")):
        assert (await explorer("skill_read", skill=name)).text == text


@pytest.mark.parametrize("url", ["file:///etc/passwd", "http://127.0.0.1:1/", "http://localhost/x", "nonsense"])
async def test_RB_144_the_web_is_the_public_one(coder: Call, url: str) -> None:
    assert (await coder("web_fetch", url=url)).failed


def test_RB_108_a_role_that_nobody_knows_has_no_access() -> None:
    assert "nosuch" not in known_roles()
    assert Role("x", "readonly", None, "").access == "readonly"
    assert SETTINGS


async def test_a_mistake_in_a_tool_is_its_answer_and_no_end_of_the_stage(
    explorer: Call, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: Any) -> Any:
        raise RuntimeError("a mistake of ours")

    monkeypatch.setattr("loop_ls.engine.roles.tools.files._text_of", broken)
    outcome = await explorer("file_read", path="a.py")
    assert (outcome.failed, "`file_read` failed" in outcome.text) == (True, True)
    assert "a mistake of ours" not in outcome.text
    assert "a mistake of ours" in caplog.text
    assert not (await explorer("file_list")).failed


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("file_read", {"path": "a.py", "first": "9" * 5000}),
        ("file_read", {"path": "a.py", "lines": "9" * 5000}),
        ("file_read", {"path": "a\0b"}),
        ("file_read", {"path": "a" * 5000}),
        ("file_list", {"path": "\ud800"}),
        ("file_search", {"query": "x", "path": "a/" * 3000}),
        ("todo_add", {"title": "\ud800" * 10}),
        ("artifact_read", {"id": "\0"}),
        ("shell", {"command": "cat 'a\0b'"}),
        ("shell", {"command": "cat \ud800"}),
        ("shell", {"command": "head -n " + "9" * 5000 + " a.py"}),
    ],
)
async def test_odd_arguments_are_no_mistake_of_a_tool(
    explorer: Call, caplog: pytest.LogCaptureFixture, tool: str, given: dict[str, Any]
) -> None:
    outcome = await explorer(tool, **given)
    assert outcome.text
    assert "a mistake" not in outcome.text and not [one for one in caplog.records if one.exc_info]
