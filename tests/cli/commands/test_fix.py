"""`loop-ls fix` and `loop-ls explain`."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from loop_ls.cli.main import main

FLOW = """\
$schema: workflow/v2.0   # keep me
name: flow
version: 1.0.0
description: x
execution: {provider: ollama, model: llama3.2, logging: normal}
steps:
  - name: outline
    condition: "{{input}}"   # and me
    run: "Outline {{input}}"
  - name: essay
    run: 'Write from {{outlin}}'
loops:
  - name: polish
    workflow: flow_polish
    until: "The output {{loop.output}} has a title"
"""


@pytest.fixture
def flow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "flow.yaml"
    path.write_text(FLOW)
    return path


def read(path: Path) -> str:
    return path.read_bytes().decode("utf-8")


def test_safe_fixes_are_applied_until_nothing_is_left_and_layout_is_kept(flow: Path) -> None:
    assert main(["fix", "."]) == 0
    text = read(flow)
    assert "logging: info}" in text
    assert '    if: "{{input}}"   # and me\n' in text
    assert "  - name: essay\n    needs: [outline]\n    run: 'Write from {{outline}}'\n" in text
    assert "$schema: workflow/v2.0   # keep me\n" in text
    assert "{{loop.output}}" in text, "a rewritten condition needs review"
    before = read(flow)
    assert main(["fix", "."]) == 0
    assert read(flow) == before


def test_fixes_that_need_review_are_applied_only_when_asked_for(flow: Path) -> None:
    assert main(["fix", "--unsafe", "."]) == 0
    text = read(flow)
    assert 'until: "The output has a title"' in text
    assert "\n    max_iterations: 3\n" in text


def test_diff_writes_nothing_and_says_so_by_its_status(flow: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["fix", "--diff", "."]) == 1
    out, err = capfd.readouterr()
    assert '-    condition: "{{input}}"   # and me\n+    if: "{{input}}"   # and me\n' in out
    assert "would be applied in 1 file" in err
    assert read(flow) == FLOW
    main(["fix", "."])
    capfd.readouterr()
    assert main(["fix", "--diff", "."]) == 0


ESC = "\x1b"


@pytest.mark.skipif(shutil.which("git") is None, reason="git applies the patch")
@pytest.mark.parametrize(
    "change",
    [
        lambda text: text,
        lambda text: text.rstrip("\n"),
        lambda text: text.replace("\n", "\r\n"),
        lambda text: "\ufeff" + text.replace("description: x", f"description: a\u2028b {ESC}[31m\x0cc"),
        lambda text: text.replace("\n", "\r"),
    ],
    ids=["plain", "without a last line end", "CR LF", "odd characters", "CR"],
)
def test_a_diff_that_goes_to_no_terminal_is_a_patch(
    flow: Path, capfdbinary: pytest.CaptureFixture[bytes], change: Callable[[str], str]
) -> None:
    before = change(FLOW).encode()
    path = flow.rename(flow.with_name("my flow é.yaml"))
    path.write_bytes(before)
    assert main(["fix", "--diff", "."]) == 1
    (path.parent / "fix.patch").write_bytes(capfdbinary.readouterr().out)
    words = ["git", "apply", "-p1", "fix.patch"]
    done = subprocess.run(words, capture_output=True, check=False, timeout=60, env={"PATH": os.environ["PATH"]})
    assert done.returncode == 0, done.stderr
    patched = path.read_bytes()
    path.write_bytes(before)
    assert main(["fix", "."]) == 0
    assert path.read_bytes() == patched != before


def test_a_diff_on_a_terminal_holds_nothing_that_it_would_obey(
    flow: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    flow.write_text(FLOW.replace("description: x", f"description: x {ESC}[31m").replace("\n", "\r\n"))
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("NO_COLOR", "1")
    assert main(["fix", "--diff", "."]) == 1
    out = capfd.readouterr().out
    assert "-    condition" in out
    assert ESC not in out
    assert "\r" not in out


@pytest.mark.parametrize("eol", ["\r\n", "\r", "\n"])
def test_line_ends_byte_order_mark_and_permissions_are_kept(flow: Path, eol: str) -> None:
    flow.write_bytes(("\ufeff" + FLOW.replace("\n", eol)).encode("utf-8"))
    flow.chmod(0o640)
    assert main(["fix", "."]) == 0
    text = flow.read_bytes().decode("utf-8")
    assert text.startswith("\ufeff$schema")
    assert f"needs: [outline]{eol}" in text
    others = {"\r\n": ("\n", "\r"), "\r": ("\n",), "\n": ("\r",)}[eol]
    for other in others:
        assert other not in text.replace(eol, "")
    assert flow.stat().st_mode & 0o777 == 0o640
    assert sorted(path.name for path in flow.parent.iterdir()) == ["flow.yaml"]


def test_repeated_blocks_are_moved_behind_the_first_with_their_comments(flow: Path) -> None:
    flow.write_text(
        """\
$schema: workflow/v2.0
name: flow
version: 1.0.0
description: x
execution: {provider: ollama, model: llama3.2}
steps:
- name: one   # the first
  run: "One {{input}}"

loops:
  - {name: polish, workflow: draft, max_iterations: 3, until: "The reply contains READY"}

# about the rest
steps:
    # about two
    - name: two
      needs: [one, polish]
      run: |
        Two {{one}}
          indented
    - name: three
      run: "Three {{two}}"
"""
    )
    (flow.parent / "draft.yaml").write_text(FLOW.replace("name: flow\n", "name: draft\n"))
    assert main(["fix", "flow.yaml"]) == 0
    assert read(flow) == (
        """\
$schema: workflow/v2.0
name: flow
version: 1.0.0
description: x
execution: {provider: ollama, model: llama3.2}
steps:
- name: one   # the first
  run: "One {{input}}"
# about two
- name: two
  needs: [one, polish]
  run: |
    Two {{one}}
      indented
- name: three
  needs: [two]
  run: "Three {{two}}"

loops:
  - {name: polish, workflow: draft, max_iterations: 3, until: "The reply contains READY"}

# about the rest
"""
    )


@pytest.mark.parametrize(
    ("name", "text", "rest"),
    [
        ("loops/a.json", '{"name": "a", "aroles": [{"prompt": 1}, {"role": "x"}],}', "roles"),
        (
            "flow.yaml",
            FLOW.replace("steps:", "suteps:").replace("- name: outline", "- naem: outline\n    rnu: 1"),
            "steps",
        ),
        ("flow.yaml", FLOW.replace("$schema: workflow/v2.0", "x: 1"), "name"),
        ("a.assistant.yaml", "name: A\npersona: b\nlopoCriteria: {tpye: regex, valeu: '('}\n", "loopCriteria"),
    ],
)
def test_an_error_that_hides_others_is_mended_all_the_same(
    flow: Path, capfd: pytest.CaptureFixture[str], name: str, text: str, rest: str
) -> None:
    flow.unlink()
    path = flow.parent / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    assert main(["fix", "."]) == 0
    assert rest in read(path)
    capfd.readouterr()
    assert main(["fix", "."]) == 0
    assert "nothing to fix" in capfd.readouterr().err
    main(["check", "."])
    assert "fixable with loop-ls fix" not in capfd.readouterr().out.replace("fixable with loop-ls fix --unsafe", "")


def test_a_step_is_not_told_to_wait_for_itself(flow: Path) -> None:
    text = FLOW[: FLOW.index("loops:")].replace("essay", "publish").replace("{{outlin}}", "{{polish}}")
    flow.write_text(text.replace("    run: 'Write", "    needs: [polish]\n    run: 'Write"))
    assert main(["fix", "."]) == 0
    assert "needs: [polish]" in read(flow)
    assert "{{polish}}" in read(flow)


def test_a_file_that_somebody_changes_meanwhile_is_left_alone(
    flow: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    from loop_ls.cli.commands import fix

    original = fix.fix_document

    def slow(*args: Any, **more: Any) -> Any:
        flow.write_text("# somebody else\n")
        return original(*args, **more)

    monkeypatch.setattr(fix, "fix_document", slow)
    assert main(["fix", "."]) == 2
    assert read(flow) == "# somebody else\n"
    assert "changed in the meantime" in capfd.readouterr().err


def test_explain_shows_a_rule_by_code_or_name(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "wf702"]) == 0
    by_code = capfd.readouterr().out
    assert main(["explain", "interpolated-condition"]) == 0
    assert capfd.readouterr().out == by_code
    assert by_code.startswith("WF702 interpolated-condition · warning\n")
    assert "Instead of:" in by_code
    assert "--unsafe" in by_code


def test_explain_lists_all_rules_and_refuses_others(capfd: pytest.CaptureFixture[str]) -> None:
    from loop_ls.rules.engine.registry import all_rules

    assert main(["explain", "--list"]) == 0
    assert len(capfd.readouterr().out.splitlines()) == len(all_rules())
    assert main(["explain", "WF7O2"]) == 2
    assert "did you mean WF702?" in capfd.readouterr().err
    assert main(["explain"]) == 2


@pytest.mark.parametrize("words", [["."], ["linked.yaml"], ["shelf/flow.yaml"], ["shelf"]])
def test_nothing_is_written_where_a_link_of_the_project_leads_out_of_it(
    flow: Path, tmp_path_factory: pytest.TempPathFactory, capsys: pytest.CaptureFixture[str], words: list[str]
) -> None:
    outside = tmp_path_factory.mktemp("outside") / "flow.yaml"
    outside.write_text(FLOW)
    (flow.parent / "linked.yaml").symlink_to(outside)
    (flow.parent / "shelf").symlink_to(outside.parent)
    main(["fix", "--root", ".", *words])
    assert "a link points to" in capsys.readouterr().err
    assert outside.read_text() == FLOW


def test_a_link_inside_of_the_project_is_kept_and_its_file_is_fixed(flow: Path) -> None:
    (flow.parent / "other").mkdir()
    moved = flow.rename(flow.parent / "other" / "real.yaml")
    flow.symlink_to(moved)
    assert main(["fix", "flow.yaml"]) == 0
    assert flow.is_symlink()
    assert moved.read_text() != FLOW


def test_it_says_what_only_a_person_can_fix(flow: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["fix", "."]) == 0
    assert capfd.readouterr().err.endswith("applied in 1 file; 2 errors and 1 warning remain: see loop-ls check\n")
    assert main(["fix", "."]) == 0
    assert capfd.readouterr().err == "loop-ls: nothing to fix; 2 errors and 1 warning remain: see loop-ls check\n"
    flow.write_text("$schema: workflow/v2.0\nname: [\n")
    assert main(["fix", "."]) == 0
    assert capfd.readouterr().err == "loop-ls: nothing to fix; 1 error remains: see loop-ls check\n"
