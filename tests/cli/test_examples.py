"""Every example of the pages for users is run, or says why not: `<!-- untested: why -->` above its fence.

`yaml` that names what it is (its schema, or a file name in its first line) is checked and has no error, as is
`markdown` with the front matter of a role. The commands of `console` run one after the other in one empty folder for
each page; below a command stands what it prints, where `...` stands for anything.
"""

from __future__ import annotations

import re
import shlex
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from loop_ls.cli.main import main

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    ROOT / "README.md",
    *(page for page in sorted((ROOT / "docs").rglob("[a-z]*.md")) if "dev" not in page.parts),
]
_FENCE = re.compile(
    r"(?:^(?P<above>[^\n]*\S[^\n]*)\n\n?)?^```(?P<language>[\w{}]*)[^\n]*\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL
)
_UNTESTED = re.compile(r"<!-- untested: \w.* -->")
#: Run by the build server's script, which takes them from the page.
_RUN_ELSEWHERE = re.compile(r"<!-- command: \w+ -->")
#: Not run: an included page, output of a program, and other formats whose pages are tested in their own way.
_NO_EXAMPLE = ("{include}", "{toctree}", "")
_OF_FILES = ("yaml", "markdown")


class Fence(NamedTuple):
    above: str
    language: str
    text: str

    @property
    def excused(self) -> bool:
        return bool(_UNTESTED.search(self.above) or _RUN_ELSEWHERE.search(self.above))


def fences(page: Path, *languages: str) -> list[Fence]:
    found = (
        Fence(one["above"] or "", one["language"], one["text"]) for one in _FENCE.finditer(page.read_text("utf-8"))
    )
    return [fence for fence in found if not languages or fence.language in languages]


def name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_fence_is_of_a_kind_that_is_run_or_says_why_not(page: Path) -> None:
    known = (*_OF_FILES, "console", *_NO_EXAMPLE)
    strange = [fence.text for fence in fences(page) if fence.language not in known and not fence.excused]
    assert strange == []


@pytest.mark.parametrize("page", [page for page in PAGES if fences(page, *_OF_FILES)], ids=name)
def test_examples_of_files_have_no_error(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for words in _new_files(page):
        assert main(words) == 0
    for fence in fences(page, *_OF_FILES):
        if (file := _file_of(fence)) is not None:
            (tmp_path / file).parent.mkdir(exist_ok=True)
            (tmp_path / file).write_text(fence.text, "utf-8")
            if file.startswith(".loop-ls"):  # settings stand for themselves
                assert main(["check", file, "--level", "error"]) == 0, capfd.readouterr().out
    assert main(["check", "--level", "error", "--fail-on", "error"]) == 0, capfd.readouterr().out


def _new_files(page: Path) -> list[list[str]]:
    """The commands of a page that write the files which it speaks of."""
    commands = (
        command for fence in fences(page, "console") if not fence.excused for command, _ in _commands(fence.text)
    )
    words = (shlex.split(command, comments=True)[1:] for command in commands)
    return [each for each in words if each[0] == "new"]


def _file_of(fence: Fence) -> str | None:
    """The name that an example has: in its first line, above it, or that of its workflow."""
    if fence.language == "markdown":
        told = re.search(r"^name: (\w+)$", fence.text, re.MULTILINE)
        return f"roles/{told[1]}.md" if told else None
    if told := re.match(r"# (\.?[\w.-]+\.yaml)\n", fence.text):
        return told[1]
    if told := re.fullmatch(r"`([\w.-]+\.yaml)`", fence.above):
        return told[1]
    if "$schema:" in fence.text and (told := re.search(r"^name: (\w+)$", fence.text, re.MULTILINE)):
        return f"{told[1]}.yaml"
    return "example.assistant.yaml" if "loopCriteria:" in fence.text else None


@pytest.mark.parametrize("page", [page for page in PAGES if fences(page, "console")], ids=name)
def test_commands_do_what_the_page_shows(page: Path, empty: Any) -> None:
    for fence in fences(page, "console"):
        if fence.excused:
            continue
        for command, shown in _commands(fence.text):
            program, *words = shlex.split(command, comments=True)
            assert program == "loop-ls", command
            ended = empty.call(*words)
            assert ended.returncode == 0, f"{command}: {ended.stdout}{ended.stderr}"
            if shown:
                assert fnmatchcase(ended.stdout.strip(), _pattern(shown)), f"{command}:\n{ended.stdout}"


def _commands(text: str) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for line in text.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], ""))
        else:
            found[-1] = (found[-1][0], found[-1][1] + line + "\n")
    return [(command, shown.strip()) for command, shown in found]


def _pattern(shown: str) -> str:
    return re.sub(r"([\[*?])", r"[\1]", shown).replace("...", "*")


def test_an_example_that_is_wrong_would_be_noticed() -> None:
    assert _commands("$ loop-ls check\nno findings\n\n$ loop-ls runs\n") == [
        ("loop-ls check", "no findings"),
        ("loop-ls runs", ""),
    ]
    assert fnmatchcase("no findings in 3 files (0.1 s)", _pattern("no findings in 3 files (...)"))
    assert not fnmatchcase("1 error in 3 files (0.1 s)", _pattern("no findings in 3 files (...)"))
