"""What is found on the disk."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from loop_ls.formats.settings.model import Settings
from loop_ls.index.disk.discovery import candidates, discover, find_roots, folders, is_candidate, load, load_settings
from loop_ls.text.decode import MAX_BYTES

WORKFLOW = "$schema: workflow/v2.0\nname: {}\nversion: 1.0.0\n"


def write(root: Path, path: str, text: str | bytes = "a: b\n") -> Path:
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(text, bytes):
        file.write_bytes(text)
    else:
        file.write_text(text, "utf-8")
    return file


def listed(root: Path) -> list[str]:
    return [os.path.relpath(path, root) for path in candidates(str(root))[0]]


def test_four_kinds_of_files_are_looked_at_in_path_order(tmp_path: Path) -> None:
    for path in (
        *("b.yaml", "a/c.yml", "a.txt", "x.json", "loops/r.json", "deep/loops/r.json", "loops/deep/no.json"),
        *(
            "q.assistant.json",
            ".loop-ls.yaml",
            "a/.loop-ls.yaml",
            ".git/x.yaml",
            "node_modules/x.yaml",
            ".hidden/y.yml",
        ),
    ):
        write(tmp_path, path)
    assert listed(tmp_path) == [
        *(
            ".loop-ls.yaml",
            "a/.loop-ls.yaml",
            "a/c.yml",
            "b.yaml",
            "deep/loops/r.json",
            "loops/r.json",
            "q.assistant.json",
        )
    ]


def test_links_in_a_circle_end(tmp_path: Path) -> None:
    write(tmp_path, "a/x.yaml")
    (tmp_path / "a" / "round").symlink_to(tmp_path)
    (tmp_path / "self").symlink_to(tmp_path / "self")
    assert listed(tmp_path) == ["a/x.yaml"]


def test_a_folder_that_is_linked_is_entered_once(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    write(outside, "x.yaml")
    root = tmp_path / "root"
    root.mkdir()
    (root / "one").symlink_to(outside)
    (root / "two").symlink_to(outside)
    assert len(listed(root)) == 1


def test_there_is_a_limit(tmp_path: Path) -> None:
    for n in range(5):
        write(tmp_path, f"{n}.yaml")
    found, capped = candidates(str(tmp_path), most=3)
    assert (len(found), capped) == (3, True)
    assert candidates(str(tmp_path), most=5)[1] is False


def test_a_folder_that_is_not_there_holds_nothing(tmp_path: Path) -> None:
    assert candidates(str(tmp_path / "no")) == ((), False)


@pytest.mark.parametrize(
    ("files", "config", "expected"),
    [
        (["x.yaml"], None, ""),
        (["workflows/x.yaml"], None, "workflows"),
        (["config/workflows/x.yaml", "workflows/x.yaml"], None, "config/workflows"),
        (["config/workflows/x.yaml"], "includes:\n  workflows: flows/**/*.yaml\n", "flows"),
        (["workflows/x.yaml"], "includes:\n  workflows: '*.yaml'\n", ""),
        (["workflows/x.yaml"], "includes:\n  workflows: [a]\n", "workflows"),
        (["workflows/x.yaml"], "includes:\n  workflows: ../else/*.yaml\n", "workflows"),
        (["workflows/x.yaml"], "includes: {}\n", "workflows"),
        (["workflows/x.yaml"], "\0", "workflows"),
        (["deep/workflows/x.yaml"], None, ""),
    ],
)
def test_1_3_the_first_root_that_there_is(tmp_path: Path, files: list[str], config: str | None, expected: str) -> None:
    for path in files:
        write(tmp_path, path)
    if config is not None:
        write(tmp_path, "config.yaml", config)
    root = find_roots(str(tmp_path), Settings()).all[0]
    assert root.folder == str(tmp_path / expected).rstrip("/")


def test_1_3_a_glob_that_does_not_recurse_leaves_sub_folders_outside(tmp_path: Path) -> None:
    write(tmp_path, "config.yaml", "includes:\n  workflows: config/workflows/*.yaml\n")
    write(tmp_path, "config/workflows/a.yaml", WORKFLOW.format("a"))
    write(tmp_path, "config/workflows/deep/b.yaml", WORKFLOW.format("b"))
    found = discover(str(tmp_path)).workspace
    assert set(found.keys) == {"a", "config/workflows/deep/b"}


def test_a_setting_comes_before_everything_else(tmp_path: Path) -> None:
    write(tmp_path, ".loop-ls.yaml", "workflowRoots: ['services/*/flows']\n")
    write(tmp_path, "config.yaml", "includes:\n  workflows: other/*.yaml\n")
    write(tmp_path, "services/a/flows/x.yaml", WORKFLOW.format("x"))
    write(tmp_path, "services/b/flows/y.yaml", WORKFLOW.format("y"))
    found = discover(str(tmp_path)).workspace
    assert set(found.keys) == {"x", "y"}


@pytest.mark.parametrize("pattern", ["../x", "/tmp", "nowhere", "a/../.."])
def test_LS007_a_pattern_that_leads_nowhere_or_outside(tmp_path: Path, pattern: str) -> None:
    write(tmp_path, "a/x.yaml")
    assert folders(str(tmp_path), pattern) == ()


def test_folders_by_pattern(tmp_path: Path) -> None:
    write(tmp_path, "a/flows/x.yaml")
    write(tmp_path, "b/flows/x.yaml")
    write(tmp_path, ".c/flows/x.yaml")
    assert folders(str(tmp_path), "*/flows/") == (f"{tmp_path}/a/flows", f"{tmp_path}/b/flows")
    assert folders(str(tmp_path), ".") == (str(tmp_path),)


def test_a_whole_workspace(tmp_path: Path) -> None:
    write(tmp_path, "workflows/a.yaml", WORKFLOW.format("a") + "steps:\n  - {name: s, template: {name: team/b}}\n")
    write(tmp_path, "workflows/team/b.yaml", WORKFLOW.format("b"))
    write(tmp_path, "other.yaml", "on: push\n")
    write(tmp_path, ".loop-ls.yaml", "judge: {provider: p, model: m}\nnonsense: 1\n")
    found = discover(str(tmp_path))
    assert set(found.workspace.keys) == {"a", "team/b"}
    assert {d.format for d in found.workspace.documents.values()} == {"workflow", "settings"}
    assert found.workspace.settings.judge is not None
    assert [problem.code for problem in found.problems] == ["LS002"]
    called = found.workspace.by_key("team/b")
    assert called is not None
    assert len(found.workspace.callers(called)) == 1


def test_settings_of_editor_and_project(tmp_path: Path) -> None:
    write(tmp_path, ".loop-ls.yaml", "engine: {port: 2}\n")
    settings, problems = load_settings(str(tmp_path), {"engine": {"port": 1, "dataDir": "x"}, "nope": 1})
    assert (settings.engine.port, settings.engine.data_dir) == (2, "x")
    assert [problem.code for problem in problems] == ["LS002"]


# -- files that are no text ------------------------------------------------------------------------


def test_bytes_that_are_no_text_are_ours_if_they_say_so(tmp_path: Path) -> None:
    ours = load(str(write(tmp_path, "a.yaml", b"$schema: workflow/v2.0\nname: \xff\n")))
    assert ours is not None
    assert ours.format == "workflow"
    assert ours.fault is not None
    assert ours.fault.code == "encoding"
    other = load(str(write(tmp_path, "b.yaml", b"name: \xff\n")))
    assert other is not None
    assert other.format is None


def test_a_binary_file_is_none_of_ours(tmp_path: Path) -> None:
    found = load(str(write(tmp_path, "a.yaml", b"\x00\x01workflow/v2.0")))
    assert found is not None
    assert found.format is None


@pytest.mark.parametrize("data", [b"$schema: workflow/v2.0\nname: \0\n", "$schema: workflow/v2.0\n".encode("utf-16")])
def test_a_workflow_that_is_no_text_is_still_ours_and_says_why(tmp_path: Path, data: bytes) -> None:
    found = load(str(write(tmp_path, "a.yaml", data)))
    assert found is not None and found.format == "workflow" and found.fault is not None


def test_a_file_that_is_too_large_is_not_read(tmp_path: Path) -> None:
    text = b"$schema: workflow/v2.0\n" + b"# " + b"x" * MAX_BYTES
    found = load(str(write(tmp_path, "a.yaml", text)))
    assert found is not None
    assert found.format == "workflow"
    assert found.fault is not None
    assert found.fault.code == "too-large"
    assert len(found.text.lines) < 5


def test_a_file_that_is_gone_is_no_document(tmp_path: Path) -> None:
    assert load(str(tmp_path / "no.yaml")) is None
    assert load(str(tmp_path)) is None


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes are a matter of POSIX")
@pytest.mark.timeout(10)
def test_a_pipe_or_a_device_is_no_file_and_nobody_waits_for_it(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.yaml")
    (tmp_path / "endless.yaml").symlink_to("/dev/zero")
    (tmp_path / "config.yaml").symlink_to("/dev/zero")
    os.mkfifo(tmp_path / ".loop-ls.yaml")
    write(tmp_path, "a.yaml", WORKFLOW.format("a"))
    assert [document.name for document in discover(str(tmp_path)).workspace.documents.values()] == ["a"]


def test_names_of_candidates() -> None:
    assert is_candidate("/w", "/w/a.yaml")
    assert is_candidate("/w", "/w/.loop-ls.yaml")
    assert is_candidate("/w", "/w/sub/.loop-ls.yaml")
    assert not is_candidate("/w", "/w/a.json")


def test_a_whole_disk_is_not_looked_through(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(30):
        write(tmp_path, f"deep/{number}/{number}/x.yaml")
    write(tmp_path, "near.yaml")
    monkeypatch.setattr("loop_ls.index.disk.discovery.MAX_ENTRIES", 20)
    assert candidates(str(tmp_path)) == ((f"{tmp_path}/near.yaml",), True)


def test_the_root_of_the_disk_is_a_folder_like_others() -> None:
    assert is_candidate("/", "/flow.yaml")
    assert is_candidate("/", "/.loop-ls.yaml")
    assert is_candidate("/", "/a/.loop-ls.yaml")


@pytest.mark.parametrize(
    ("editor", "file", "limits"),
    [
        ({"budgetUsd": 5}, "{budgetUsd: 1000}", {"budgetUsd": 5}),
        ({"budgetUsd": 500}, "{budgetUsd: 10, maxIterations: 3}", {"budgetUsd": 10, "maxIterations": 3}),
        ({"wallClock": "90s", "maxTokens": 7}, "{wallClock: 1h}", {"wallClock": "90s", "maxTokens": 7}),
        (
            {"perDay": {"budgetUsd": 3}, "perProject": {"maxTokens": 9}},
            "{perDay: {budgetUsd: 50, maxTokens: 5}}",
            {"perDay": {"budgetUsd": 3, "maxTokens": 5}, "perProject": {"maxTokens": 9}},
        ),
        ({"budgetUsd": "lots"}, "{budgetUsd: 10}", {"budgetUsd": 10}),
    ],
)
def test_a_project_does_not_loosen_a_limit_of_the_editor(
    tmp_path: Path, editor: dict[str, object], file: str, limits: dict[str, object]
) -> None:
    (tmp_path / ".loop-ls.yaml").write_text(f"limits: {file}\n")
    settings, _ = load_settings(str(tmp_path), {"limits": editor})  # type: ignore[dict-item]
    assert settings.raw["limits"] == limits
