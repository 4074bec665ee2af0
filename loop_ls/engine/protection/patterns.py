"""Which files are protected: those that say how a project is built and checked, what agents are told, and what judges.

Names decide, so that no agent can make a file unprotected by what it writes. Names are compared in small letters: some
file systems pass over them.
"""

from __future__ import annotations

import fnmatch
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from loop_ls.formats.role_file.file_format import FOLDER as ROLES
from loop_ls.text.json_value import Json, as_object

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

#: Manifests, lock files and whatever else a build or a test runner takes its orders from, in any folder.
MANIFESTS = (
    *("package.json", "package-lock.json", "npm-shrinkwrap.json", "pnpm-lock.yaml", "pnpm-workspace.yaml"),
    *("bun.lockb", "deno.json", "deno.jsonc", "tsconfig.json", "pyproject.toml", "setup.py", "setup.cfg", "tox.ini"),
    *("pytest.ini", "conftest.py", "noxfile.py", "pipfile", "requirements*.txt", "cargo.toml", "go.mod", "go.sum"),
    *("go.work", "gemfile", "*.gemspec", "composer.json", "pom.xml", "build.gradle", "build.gradle.kts"),
    *("settings.gradle", "settings.gradle.kts", "gradle.properties", "mix.exs", "makefile", "gnumakefile", "justfile"),
    *("dockerfile", "docker-compose*.yml", "docker-compose*.yaml", "*.lock"),
)
#: What test runners take their orders from, besides manifests.
RUNNERS = (
    *("pytest.toml", ".pytest.ini", ".pytest.toml", ".coveragerc", "sitecustomize.py", "usercustomize.py"),
    *("jest.config.*", "vitest.config.*", "vitest.workspace.*", "vite.config.*", "karma.conf.*", ".mocharc.*"),
    *("playwright.config.*", "cypress.config.*", "babel.config.*", ".babelrc*", ".swcrc", "bunfig.toml"),
    *("rakefile", ".rspec", "phpunit.xml", "phpunit.xml.dist", "build.rs", "build.sbt", "cmakelists.txt"),
    *("meson.build", "taskfile.yml", "taskfile.yaml", ".justfile"),
)
#: What agents are told, and the servers that they start.
INSTRUCTIONS = (
    *("agents.md", "agents.override.md", "claude.md", "claude.local.md", "gemini.md", "opencode.json"),
    *("opencode.jsonc", ".mcp.json", ".cursorrules", ".windsurfrules", ".clinerules"),
)
#: Settings of tools, and our own files.
SETTINGS = (
    *(".loop-ls.yaml", "*.checks.yaml", "*.checks.yml", "*.cases.yaml", "*.cases.yml", ".npmrc", ".yarnrc"),
    *(".yarnrc.yml", ".pre-commit-config.yaml", ".gitlab-ci.yml", ".travis.yml", ".gitattributes", ".gitmodules"),
    *(".gitconfig", "lefthook.yml", "lefthook.yaml"),
    *(".env", ".envrc"),
)
NAMES = (*MANIFESTS, *RUNNERS, *INSTRUCTIONS, *SETTINGS)
_PLAIN = frozenset(name for name in NAMES if "*" not in name)
_PATTERN = re.compile("|".join(fnmatch.translate(name) for name in NAMES if "*" in name))
#: Folders with instructions and hooks of agents: everything in them, wherever they lie.
AGENT_FOLDERS = frozenset({".claude", ".codex", ".opencode", ".cursor", ".gemini", ".agents"})
#: Files of roles: what a reviewer is told and may do stands there as in the settings.
_OF_ROLE = ".md"
#: What programs write there themselves when they start, whatever their agent does.
OF_PROGRAMS = frozenset({".opencode/.gitignore"})
#: Dot folders of the workspace that hold what tools make, or what an editor writes while a run goes on.
MADE = frozenset(
    {
        *(".venv", ".env", ".tox", ".nox", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".hypothesis", ".cache"),
        *(".gradle", ".next", ".nuxt", ".svelte-kit", ".turbo", ".parcel-cache", ".terraform", ".eggs", ".idea", ".vs"),
        *(".ipynb_checkpoints", ".dart_tool", ".stack-work", ".pnpm-store", ".npm", ".git", ".hg", ".svn", ".jj"),
        *(".yarn/cache", ".yarn/unplugged", ".nyc_output", ".serverless", ".angular", ".vite", ".history"),
    }
)
#: Folders that nobody looks into for protected names: dependencies, and what is built.
PASSED_OVER = frozenset({"node_modules", "__pycache__", "venv", "target", "build", "dist", "site-packages", ".git"})
#: Where a work tree has its innards elsewhere, this file says where.
_GIT_FILE = ".git"
#: Of the innards of version control: what runs programs, also by naming other innards.
OF_GIT = (".git/config", ".git/config.worktree", ".git/commondir", ".git/hooks", ".git/info/attributes")


@dataclass(frozen=True)
class Protected:
    """What is protected in one workspace. `files` and `allow` are the patterns of the settings, written as in a
    `.gitignore`; `exact` are paths of the run itself: its files, and what its checks start. They are files, or folders
    with all that is in them."""

    files: tuple[str, ...] = ()
    allow: tuple[str, ...] = ()
    exact: tuple[str, ...] = ()

    @staticmethod
    def of(settings: Mapping[str, Json], exact: Iterable[str]) -> Protected:
        """`settings` are those of the run."""
        section = as_object(settings.get("protect"))
        return Protected(_texts(section.get("files")), _texts(section.get("allow")), tuple(dict.fromkeys(exact)))

    def covers(self, path: str) -> bool:
        """Whether the file at this path below the workspace is protected."""
        if self._allowed is not None and self._allowed.match_file(path):
            return False
        return (
            self._by_name(path)
            or path in self._named
            or path.startswith(self._below)
            or (self._more is not None and self._more.match_file(path))
        )

    def _by_name(self, path: str) -> bool:
        *folders, name = path.lower().split("/")
        if path.lower() in OF_PROGRAMS:
            return False
        if path.lower() == _GIT_FILE:
            return True
        if name in _PLAIN or _PATTERN.match(name):
            return True
        if not AGENT_FOLDERS.isdisjoint(folders) or (folders[-1:] == [ROLES] and name.endswith(_OF_ROLE)):
            return True
        return bool(folders) and folders[0].startswith(".") and MADE.isdisjoint((folders[0], "/".join(folders[:2])))

    def enters(self, folder: str) -> bool:
        """Whether protected files are looked for in this folder; what is named exactly is looked at in any case."""
        parts = folder.lower().split("/")
        return parts[-1] not in PASSED_OVER and "/".join(parts) not in MADE

    @cached_property
    def _named(self) -> frozenset[str]:
        return frozenset((*self.exact, *OF_GIT))

    @cached_property
    def _below(self) -> tuple[str, ...]:
        return tuple(f"{one}/" for one in self._named)

    @cached_property
    def _more(self) -> GitIgnoreSpec | None:
        return _spec(self.files)

    @cached_property
    def _allowed(self) -> GitIgnoreSpec | None:
        return _spec(self.allow)


def _texts(value: Json) -> tuple[str, ...]:
    return tuple(str(one) for one in value) if isinstance(value, list) else ()


def _spec(patterns: tuple[str, ...]) -> GitIgnoreSpec | None:
    if not patterns:
        return None
    from pathspec import GitIgnoreSpec  # takes longer to import than most starts have to spare

    return GitIgnoreSpec.from_lines(patterns)


def named_by(words: Sequence[str], folder: str, root: str) -> Iterator[str]:
    """The files and folders of the workspace that the words of a command name and that are there: `tests/test_a.py::b`
    and `--config=a.toml` name a file. Of the workspace itself nothing follows. With `python -m NAME`, what would be
    found instead of that module if it appeared."""
    base = os.path.realpath(root)
    yield from _instead(words, folder, root)
    for word in words:
        written = word.partition("::")[0]
        written = written.partition("=")[2] if written.startswith("-") else written
        if not written or "\0" in written:
            continue
        path = Path(os.path.normpath(Path(folder, written)))
        inside = Path(os.path.relpath(path, root))
        if inside.parts[:1] in ((), ("..",)) or not os.path.lexists(path):
            continue
        if Path(os.path.realpath(path)).is_relative_to(base):
            yield inside.as_posix()


def _instead(words: Sequence[str], folder: str, root: str) -> Iterator[str]:
    """Python looks for a module in its working folder first: one that is not there would be another one."""
    if len(words) < 3 or not Path(words[0]).name.lower().startswith("python") or "-m" not in words[:-1]:
        return
    name = words[words.index("-m") + 1].partition(".")[0]
    found = [Path(os.path.normpath(Path(folder, each))) for each in (f"{name}.py", name)]
    if name.isidentifier() and not any(map(os.path.lexists, found)):
        inside = (Path(os.path.relpath(one, root)) for one in found)
        yield from (one.as_posix() for one in inside if one.parts[:1] != ("..",))
