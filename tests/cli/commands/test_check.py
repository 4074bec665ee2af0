"""`loop-ls check`: options, output and exit status as the contract says."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from loop_ls.cli.main import main

GOOD = """\
$schema: workflow/v2.0
name: {name}
version: 1.0.0
description: x
execution: {{provider: ollama, model: llama3.2}}
steps:
  - name: greet
    run: "Greet {{{{input}}}}"
"""


@pytest.fixture
def flows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """One sound file, one with an error, a warning and a hint."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "good.yaml").write_text(GOOD.format(name="good"))
    sub = tmp_path / "sub"
    sub.mkdir()
    bad = GOOD.format(name="other").replace("    run:", "    temperature: 3\n    rnu:")
    (sub / "bad.yaml").write_text(bad)
    return tmp_path


class Outcome:
    def __init__(self, status: int, out: str, err: str) -> None:
        self.status, self.out, self.err = status, out, err

    @property
    def data(self) -> Any:
        return json.loads(self.out)

    @property
    def rules(self) -> list[str]:
        return [finding["rule"] for finding in self.data["findings"]]


@pytest.fixture
def check(capfdbinary: pytest.CaptureFixture[bytes]) -> Any:
    def call(*words: str, command: str = "check") -> Outcome:
        status = main([command, *words])
        captured = capfdbinary.readouterr()
        return Outcome(status, captured.out.decode(), captured.err.decode())

    return call


def test_json_is_one_object_with_everything_in_it(flows: Path, check: Any) -> None:
    found = check("--format", "json")
    assert found.status == 1
    assert found.err == ""
    assert found.out.count("\n") == 1
    assert found.data["version"] == 1
    assert found.data["files"] == 2
    assert [(f["path"], f["rule"], f["line"]) for f in found.data["findings"]] == [
        ("sub/bad.yaml", "WF115", 2),
        ("sub/bad.yaml", "WF118", 8),
        ("sub/bad.yaml", "WF006", 9),
    ]
    assert found.data["findings"][2]["fixable"] is True


def test_the_root_is_the_folder_of_the_call_when_it_is_one_folder(flows: Path, check: Any) -> None:
    assert {f["path"] for f in check("--format", "json", "sub").data["findings"]} == {"bad.yaml"}
    assert {f["path"] for f in check("--format", "json", "sub/bad.yaml").data["findings"]} == {"sub/bad.yaml"}
    assert {f["path"] for f in check("--format", "json", "--root", ".", "sub").data["findings"]} == {"sub/bad.yaml"}


def test_only_what_is_named_is_reported_but_the_workspace_is_read(flows: Path, check: Any) -> None:
    (flows / "caller.yaml").write_text(
        GOOD.format(name="caller").replace('run: "Greet {{input}}"', "template: {name: sub/other, with: {a: b}}")
    )
    found = check("--format", "json", "caller.yaml")
    assert found.data["files"] == 1
    assert found.rules == ["WF609"]


def test_a_file_outside_of_the_root_has_an_absolute_path(flows: Path, check: Any) -> None:
    found = check("--format", "json", "--root", "sub", "good.yaml", "sub")
    paths = {f["path"] for f in found.data["findings"]}
    assert paths == {"bad.yaml"}
    assert found.data["files"] == 2
    (flows / "good.yaml").write_text(GOOD.format(name="x"))
    found = check("--format", "json", "--root", "sub", "good.yaml")
    assert {f["path"] for f in found.data["findings"]} == {str(flows / "good.yaml")}


def test_a_named_file_is_checked_whatever_its_folder(flows: Path, check: Any) -> None:
    hidden = flows / ".hidden"
    hidden.mkdir()
    (hidden / "x.yaml").write_text(GOOD.format(name="y"))
    assert check("--format", "json").data["files"] == 2
    assert check("--format", "json", ".hidden/x.yaml").rules == ["WF115"]


def test_folders_that_an_ignore_file_names_are_not_looked_at_and_their_workflows_not_missed(
    flows: Path, check: Any
) -> None:
    (flows / ".gitignore").write_text("sub/\n")
    assert check(".", "--format", "json").rules == []
    assert check("sub", "--format", "json").rules != [], "what is named is looked at"
    head = GOOD.format(name="caller").partition("steps:")[0]
    call = f'{head}loops:\n  - name: again\n    workflow: sub/NAME\n    max_iterations: 2\n    until: "It says DONE"\n'
    (flows / "sub" / "made.yaml").write_text(GOOD.format(name="made"))
    (flows / "caller.yaml").write_text(call.replace("NAME", "made"))
    assert "WF601" not in check(".", "--format", "json").rules
    (flows / "caller.yaml").write_text(call.replace("NAME", "mode"))
    assert "WF601" in check(".", "--format", "json").rules


@pytest.mark.parametrize(
    ("level", "rules"),
    [("hint", ["WF115", "WF118", "WF006"]), ("warning", ["WF118", "WF006"]), ("error", ["WF006"])],
)
def test_level_hides_what_is_less_serious(flows: Path, check: Any, level: str, rules: list[str]) -> None:
    assert check("--format", "json", "--level", level).rules == rules


@pytest.mark.parametrize(
    ("words", "status"),
    [
        (["--fail-on", "never"], 0),
        (["--fail-on", "error"], 1),
        (["--fail-on", "warning", "--disable", "WF006"], 1),
        (["--fail-on", "error", "--disable", "WF006", "--disable", "WF203"], 0),
        (["--fail-on", "hint", "--level", "error", "--disable", "WF006", "--disable", "WF203"], 0),
    ],
)
def test_exit_status(flows: Path, check: Any, words: list[str], status: int) -> None:
    assert check("--format", "json", *words).status == status


def test_profiles_and_single_rules_are_switched_on_and_off(flows: Path, check: Any) -> None:
    assert "WF120" in check("--format", "json", "--enable", "pedantic").rules
    assert "WF120" in check("--format", "json", "--enable", "WF120").rules
    assert "WF120" not in check("--format", "json", "--enable", "WF120", "--disable", "WF120").rules


def test_settings_of_the_project_change_rules(flows: Path, check: Any) -> None:
    (flows / ".loop-ls.yaml").write_text("rules: {WF118: error, WF115: off, WF120: info}\n")
    found = check("--format", "json")
    assert {(f["rule"], f["severity"]) for f in found.data["findings"]} == {
        ("WF118", "error"),
        ("WF006", "error"),
        ("WF120", "information"),
    }


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["nowhere.yaml"], "nowhere.yaml cannot be read"),
        ([os.devnull], f"{os.devnull} is a pipe or a device"),
        (["--root", "nowhere"], "--root nowhere is not a folder"),
        (["--enable", "WF70"], "did you mean WF701?"),
        (["--disable", "compatt"], "unknown rule"),
        (["--write-baseline"], "needs --baseline FILE"),
        (["--baseline", "none.json"], "baseline not found: none.json"),
        (["--baseline", "good.yaml"], "good.yaml is not a baseline: invalid JSON"),
    ],
)
def test_wrong_usage_gives_2_and_a_reason(flows: Path, check: Any, words: list[str], reason: str) -> None:
    found = check("--format", "json", *words)
    assert found.status == 2
    assert found.out == ""
    assert reason in found.err


def test_unknown_options_give_2(flows: Path, check: Any) -> None:
    with pytest.raises(SystemExit) as caught:
        check("--formt", "json")
    assert caught.value.code == 2


def test_text_for_people(flows: Path, check: Any) -> None:
    found = check()
    assert (
        "sub/bad.yaml:9:5: error: Unknown key `rnu` in a step; did you mean `run`? [WF006 unknown-key]\n" in found.out
    )
    assert "    rnu:" in found.out
    assert "fix: Change to `run`" in found.out
    assert found.out.rstrip().endswith("s), 1 fixable with loop-ls fix")
    assert "\x1b" not in found.out


# -- baseline -----------------------------------------------------------------------------------


def test_a_baseline_accepts_what_is_there_and_shows_what_is_new(flows: Path, check: Any) -> None:
    written = check("--baseline", "base.json", "--write-baseline")
    assert (written.status, written.out) == (0, "")
    entries = json.loads((flows / "base.json").read_text())["findings"]
    assert [(e["rule"], e["text"], e["count"]) for e in entries] == [
        ("WF006", 'rnu: "Greet {{input}}"', 1),
        ("WF115", "name: other", 1),
        ("WF118", "temperature: 3", 1),
    ]
    assert check("--format", "json", "--baseline", "base.json").status == 0
    bad = flows / "sub" / "bad.yaml"
    bad.write_text("# a line above\n" + bad.read_text() + "    max_tokens: 0\n    max_iterations: 0\n")
    assert check("--format", "json", "--baseline", "base.json").rules == ["WF118", "WF118"]


def test_a_finding_beyond_the_accepted_number_is_reported(flows: Path, check: Any) -> None:
    check("--baseline", "base.json", "--write-baseline")
    bad = flows / "sub" / "bad.yaml"
    bad.write_text(bad.read_text() + '  - name: again\n    temperature: 3\n    needs: [greet]\n    run: "{{greet}}"\n')
    found = check("--format", "json", "--baseline", "base.json")
    assert [(f["rule"], f["line"]) for f in found.data["findings"]] == [("WF118", 11)]


def test_what_a_baseline_no_longer_needs_is_named(flows: Path, check: Any) -> None:
    check("--baseline", "base.json", "--write-baseline")
    bad = flows / "sub" / "bad.yaml"
    bad.write_text(bad.read_text().replace("rnu", "run"))
    found = check("--format", "json", "--baseline", "base.json")
    assert found.rules == []
    assert 'sub/bad.yaml no longer has WF006 in `rnu: "Greet {{input}}"`' in found.err
    assert check("--format", "json", "--baseline", "base.json", "good.yaml").err == ""


def test_a_file_that_is_no_baseline_is_not_overwritten(flows: Path, check: Any) -> None:
    (flows / "notes.json").write_text('{"mine": true}')
    assert check("--baseline", "notes.json", "--write-baseline").status == 2
    assert (flows / "notes.json").read_text() == '{"mine": true}'


def test_no_baseline_is_made_where_a_link_leads_out_of_its_folder(
    flows: Path, check: Any, tmp_path_factory: pytest.TempPathFactory
) -> None:
    outside = tmp_path_factory.mktemp("outside") / "b.json"
    (flows / "b.json").symlink_to(outside)
    refused = check("--baseline", "b.json", "--write-baseline")
    assert (refused.status, outside.exists()) == (2, False)
    assert "a link points to" in refused.err
    outside.write_text('{"version": 1, "findings": []}')
    assert check("--baseline", "b.json", "--write-baseline").status == 0
    assert (flows / "b.json").is_symlink()


@pytest.mark.parametrize("words", [["sub"], ["sub/bad.yaml"], ["--root", "sub", "sub"], ["."]])
def test_a_baseline_is_right_whichever_part_is_looked_at(flows: Path, check: Any, words: list[str]) -> None:
    check("--baseline", "base.json", "--write-baseline")
    found = check("--format", "json", "--baseline", "base.json", *words)
    assert (found.rules, found.err) == ([], "")
    bad = flows / "sub" / "bad.yaml"
    bad.write_text(bad.read_text().replace("rnu", "run"))
    assert "sub/bad.yaml no longer has WF006" in check("--format", "json", "--baseline", "base.json", *words).err


def test_writing_what_one_part_accepts_leaves_the_rest_as_it_is(flows: Path, check: Any) -> None:
    check("--baseline", "base.json", "--write-baseline")
    before = (flows / "base.json").read_text()
    for words in (["sub/bad.yaml"], ["good.yaml"], ["--disable", "WF118"]):
        check("--baseline", "base.json", "--write-baseline", *words)
        assert (flows / "base.json").read_text() == before, words
    bad = flows / "sub" / "bad.yaml"
    bad.write_text(bad.read_text().replace("rnu", "run"))
    check("--baseline", "base.json", "--write-baseline", "sub/bad.yaml")
    assert [e["rule"] for e in json.loads((flows / "base.json").read_text())["findings"]] == ["WF115", "WF118"]


def test_a_rule_that_is_off_is_not_missed_by_a_baseline(flows: Path, check: Any) -> None:
    check("--baseline", "base.json", "--write-baseline", "--enable", "pedantic")
    assert len(json.loads((flows / "base.json").read_text())["findings"]) > 3
    assert check("--format", "json", "--baseline", "base.json").err == ""
    assert check("--format", "json", "--baseline", "base.json", "--disable", "WF118").err == ""


def test_a_baseline_that_two_branches_wrote_counts_equal_entries_together(flows: Path, check: Any) -> None:
    check("--baseline", "base.json", "--write-baseline")
    data = json.loads((flows / "base.json").read_text())
    data["findings"] += data["findings"]
    (flows / "base.json").write_text(json.dumps(data), "utf-8-sig")
    bad = flows / "sub" / "bad.yaml"
    bad.write_text(bad.read_text() + '  - name: again\n    temperature: 3\n    needs: [greet]\n    run: "{{greet}}"\n')
    assert check("--format", "json", "--baseline", "base.json").rules == []


ENTRY = '{"path": "a", "rule": "WF006", "text": "x", "count": 1}'


@pytest.mark.parametrize(
    "text",
    [
        *("", "[]", "{}", "null", '{"version": 2, "findings": []}', '{"version": 1, "findings": {}}', "[" * 10_000),
        *(
            f'{{"version": 1, "findings": [{ENTRY}, {ENTRY.replace(old, new)}]}}'
            for old, new in (("1}", "1e999}"), ("1}", "-1}"), ("1}", '"1"}'), ("1}", "true}"), ('"a"', "null"))
        ),
    ],
)
def test_a_damaged_baseline_gives_2_and_a_sentence(flows: Path, check: Any, text: str) -> None:
    (flows / "base.json").write_text(text)
    for words in ([], ["--write-baseline"]):
        found = check("--baseline", "base.json", *words)
        assert (found.status, found.out) == (2, "")
        assert found.err.startswith("loop-ls: base.json is ")
    assert (flows / "base.json").read_text() == text


def test_a_folder_is_no_baseline(flows: Path, check: Any) -> None:
    err = check("--baseline", "sub").err
    assert err.startswith("loop-ls: the baseline sub cannot be read: ")
    assert "Errno" not in err


# -- where it is printed to -----------------------------------------------------------------------


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device of Linux")
@pytest.mark.parametrize("format_", ["text", "json", "sarif", "github", "junit"])
def test_an_output_that_cannot_be_written_gives_2_and_a_sentence(flows: Path, format_: str) -> None:
    words = [sys.executable, "-m", "loop_ls", "check", "--format", format_]
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(words, stdout=full, stderr=subprocess.PIPE, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert "loop-ls: the output cannot be written: No space left on device" in done.stderr
    assert "Traceback" not in done.stderr
    assert "Exception" not in done.stderr


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such calls")
def test_without_standard_output_the_status_still_says_it(flows: Path) -> None:
    words = [sys.executable, "-c", "import os, sys; os.close(1); os.execv(sys.argv[1], sys.argv[1:])"]
    words += [sys.executable, "-m", "loop_ls", "check"]
    done = subprocess.run(words, stderr=subprocess.PIPE, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (1, "")


def test_a_pattern_that_no_shell_filled_in_means_what_fits_it(flows: Path, check: Any) -> None:
    assert check("--format", "json", "*.yaml", "s*/*.yaml").rules == check("--format", "json").rules
    assert check("nothing*.yaml").status == 2


# -- any bytes ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "rules"),
    [
        (b"", []),
        (b"\x00\x01\x02" * 1000, []),
        (b"$schema: workflow/v2.0\nname: \xff\xfe\n", ["WF001"]),
        (b"$schema: workflow/v2.0\nname: x\x00\n", []),
        ("$schema: workflow/v2.0\n".encode("utf-16"), []),
        (b"$schema: workflow/v2.0\n" + b"a: [" * 10_000, ["WF001"]),
        (b"\xff" * 100, []),
    ],
    ids=["empty", "binary", "not utf-8", "nul", "utf-16", "deep", "garbage"],
)
def test_any_bytes_give_findings_and_no_fault(flows: Path, check: Any, data: bytes, rules: list[str]) -> None:
    (flows / "odd.yaml").write_bytes(data)
    found = check("--format", "json", "odd.yaml")
    assert found.status in (0, 1)
    for rule in rules:
        assert rule in found.rules


def test_a_byte_that_is_not_utf_8_is_told_where_it_stands(flows: Path, check: Any) -> None:
    (flows / "odd.yaml").write_bytes(b"$schema: workflow/v2.0\nname: caf\xe9 x\n")
    (one,) = check("--format", "json", "odd.yaml").data["findings"]
    assert (one["rule"], one["line"], one["column"]) == ("WF001", 2, 10)


def test_a_file_of_50_MB_is_told_and_not_read(flows: Path, check: Any) -> None:
    (flows / "huge.yaml").write_bytes(b"$schema: workflow/v2.0\nname: huge\n" + b"# x\n" * 13_000_000)
    found = check("--format", "json", "huge.yaml")
    assert found.rules == ["WF001"]
    assert "MB" in found.data["findings"][0]["message"]


def test_a_named_file_that_is_no_loop_file_is_told(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """`no findings in 0 files` alone reads as if it were right."""
    (tmp_path / "other.yaml").write_text("a: [\n")
    assert main(["check", str(tmp_path / "other.yaml")]) == 0
    assert 'other.yaml is not a loop file; a workflow begins with $schema: "workflow/v2.0"' in capfd.readouterr().err
    assert main(["check", str(tmp_path)]) == 0
    assert capfd.readouterr().err == ""
