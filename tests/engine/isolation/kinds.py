"""Kinds of Git repositories that people have, each made in an empty folder."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

#: A user of their own: what the machine that runs the tests says about Git plays no part.
ENVIRON = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
_OWN = ("-c", "user.name=User", "-c", "user.email=user@example.org", "-c", "protocol.file.allow=always")


def git(folder: Path, *words: str, check: bool = True) -> str:
    environ = {**{k: v for k, v in os.environ.items() if not k.startswith("GIT_")}, **ENVIRON}
    done = subprocess.run(["git", *_OWN, *words], cwd=folder, env=environ, capture_output=True, timeout=60, check=False)
    if check and done.returncode:
        raise AssertionError(f"git {' '.join(words)}: {done.stderr.decode(errors='replace')}")
    return done.stdout.decode("utf-8", "surrogateescape")


def committed(root: Path) -> Path:
    """`a.txt` and `sub/b.txt` in one commit."""
    root.mkdir(parents=True, exist_ok=True)
    git(root, "init", "-q", "-b", "main")
    (root / "a.txt").write_text("one\ntwo\nthree\n")
    (root / "sub").mkdir()
    (root / "sub" / "b.txt").write_text("b\n")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "first")
    return root


def clean(root: Path) -> Path:
    return committed(root)


def dirty(root: Path) -> Path:
    committed(root)
    (root / "sub" / "b.txt").write_text("mine, not committed\n")
    (root / "untracked").write_bytes(b"\0\xff mine")
    return root


def staged(root: Path) -> Path:
    committed(root)
    (root / "sub" / "b.txt").write_text("staged\n")
    git(root, "add", "sub/b.txt")
    (root / "sub" / "b.txt").write_text("and changed again\n")
    git(root, "rm", "-q", "--cached", "a.txt")
    (root / "new.txt").write_text("staged and new\n")
    git(root, "add", "new.txt")
    return root


def detached(root: Path) -> Path:
    committed(root)
    git(root, "checkout", "-q", "--detach")
    return root


def submodule(root: Path) -> Path:
    other = committed(root.with_name("other"))
    committed(root)
    git(root, "submodule", "--quiet", "add", str(other), "module")
    git(root, "commit", "-q", "-m", "module")
    (root / "module" / "a.txt").write_text("mine in the module\n")
    return root


def hooks(root: Path) -> Path:
    """Each of them would leave a file, and refuse."""
    committed(root)
    for name in (
        "pre-commit",
        "commit-msg",
        "post-commit",
        "post-checkout",
        "reference-transaction",
        "post-index-change",
    ):
        hook = root / ".git" / "hooks" / name
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(f"#!/bin/sh\ntouch {root}/hook-ran\nexit 1\n")
        hook.chmod(0o755)
    return root


def signing(root: Path) -> Path:
    committed(root)
    for name, value in (("commit.gpgSign", "true"), ("gpg.program", "/bin/false"), ("user.signingKey", "nobody")):
        git(root, "config", name, value)
    return root


def no_identity(root: Path) -> Path:
    committed(root)
    git(root, "config", "user.useConfigOnly", "true")
    return root


def own_identity(root: Path) -> Path:
    committed(root)
    git(root, "config", "user.name", "Zoë Ünal")
    git(root, "config", "user.email", "zoe@example.org")
    return root


def worktree_in_worktree(root: Path) -> Path:
    main = committed(root.with_name("main"))
    git(main, "worktree", "add", "-q", "-b", "side", str(root))
    (root / "untracked").write_text("mine\n")
    return root


def ignored(root: Path) -> Path:
    committed(root)
    (root / ".gitignore").write_text("*.log\nbuild/\n")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "ignore")
    (root / "mine.log").write_text("mine\n")
    (root / "build").mkdir()
    (root / "build" / "out").write_text("made\n")
    return root


def crlf(root: Path) -> Path:
    root.mkdir()
    git(root, "init", "-q", "-b", "main")
    (root / ".gitattributes").write_text("*.txt text eol=crlf\n")
    (root / "a.txt").write_bytes(b"one\r\ntwo\r\nthree\r\n")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "crlf")
    return root


def filtered(root: Path) -> Path:
    """As large-file storage does it: what is stored is not what is in the folder."""
    committed(root)
    git(root, "config", "filter.turned.clean", "tr a-z A-Z")
    git(root, "config", "filter.turned.smudge", "tr A-Z a-z")
    git(root, "config", "filter.turned.required", "true")
    (root / ".gitattributes").write_text("a.txt filter=turned\n")
    git(root, "add", "--renormalize", "-A")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "filter")
    return root


def links_and_modes(root: Path) -> Path:
    committed(root)
    (root / "link").symlink_to("sub/b.txt")
    (root / "away").symlink_to("/nowhere/at/all")
    (root / "tool.sh").write_text("#!/bin/sh\n")
    (root / "tool.sh").chmod(0o755)
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "links")
    return root


def nested(root: Path) -> Path:
    """Another repository lies in it, which it does not know."""
    committed(root)
    committed(root / "inner")
    return root


def odd_names(root: Path) -> Path:
    committed(root)
    for name in ("with space.txt", "ünï çödé.txt", 'quo"te.txt', "-dash", "tab\there", "[a]*?.txt", "日本.txt"):
        (root / name).write_text(f"{name}\n")
    (root / os.fsdecode(b"no\xfftext")).write_text("bytes\n")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "names")
    (root / "also mine ü").write_text("mine\n")
    return root


def rebase_in_progress(root: Path) -> Path:
    committed(root)
    git(root, "checkout", "-q", "-b", "side")
    (root / "sub" / "b.txt").write_text("side\n")
    git(root, "commit", "-q", "-am", "side")
    git(root, "checkout", "-q", "main")
    (root / "sub" / "b.txt").write_text("main\n")
    git(root, "commit", "-q", "-am", "main")
    git(root, "rebase", "-q", "side", check=False)
    return root


def shallow(root: Path) -> Path:
    other = committed(root.with_name("other"))
    (other / "sub" / "b.txt").write_text("second\n")
    git(other, "commit", "-q", "-am", "second")
    git(root.parent, "clone", "-q", "--depth", "1", f"file://{other}", root.name)
    return root


def read_only_objects(root: Path) -> Path:
    """As Git leaves them, and packed."""
    committed(root)
    git(root, "gc", "-q")
    for path in (root / ".git" / "objects").rglob("*"):
        if path.is_file():
            path.chmod(0o444)
    return root


def settings_against(root: Path) -> Path:
    """Settings of the repository that would be in the way."""
    committed(root)
    for name, value in (
        *(("core.splitIndex", "true"), ("core.untrackedCache", "true"), ("core.fsmonitor", "/bin/false")),
        *(("diff.external", "/bin/false"), ("diff.noprefix", "true"), ("apply.whitespace", "error")),
        *(("core.safecrlf", "true"), ("status.showUntrackedFiles", "no"), ("core.quotePath", "true")),
    ):
        git(root, "config", name, value)
    return root


WORKING: tuple[Callable[[Path], Path], ...] = (
    *(clean, dirty, staged, detached, submodule, hooks, signing, no_identity, own_identity, worktree_in_worktree),
    *(ignored, crlf, filtered, links_and_modes, nested, odd_names, rebase_in_progress, shallow, read_only_objects),
    settings_against,
)


def none(root: Path) -> Path:
    root.mkdir()
    return root


def unborn(root: Path) -> Path:
    root.mkdir()
    git(root, "init", "-q", "-b", "main")
    (root / "a.txt").write_text("mine\n")
    return root


def bare(root: Path) -> Path:
    root.mkdir()
    git(root, "init", "-q", "--bare")
    return root


def sparse(root: Path) -> Path:
    committed(root)
    git(root, "sparse-checkout", "set", "sub")
    return root


def uncommitted_folder(root: Path) -> Path:
    committed(root)
    (root / "fresh").mkdir()
    (root / "fresh" / "c.txt").write_text("mine\n")
    return root / "fresh"


def inside_of_git(root: Path) -> Path:
    return committed(root) / ".git"


REFUSED: tuple[tuple[Callable[[Path], Path], str], ...] = (
    (none, "in no Git repository"),
    (unborn, "no commit yet"),
    (bare, "bare repository"),
    (sparse, "sparse checkout"),
    (uncommitted_folder, "`fresh` is not part of the last commit"),
    (inside_of_git, "`.git`"),
)


def picture(root: Path) -> dict[str, object]:
    """Everything that is the user's: each file with its bytes, mode and time, where HEAD is, the index and all
    branches but those of runs."""
    found: dict[str, object] = {}
    for folder, folders, files in os.walk(root):
        if ".git" in folders:
            folders.remove(".git")
        for name in (*files, *folders):
            path = Path(folder, name)
            stat = path.lstat()
            what = str(path.readlink()) if path.is_symlink() else path.read_bytes() if path.is_file() else "folder"
            when = None if what == "folder" else stat.st_mtime_ns
            found[str(path.relative_to(root))] = (what, stat.st_mode, when)
    own = git(root, "rev-parse", "--absolute-git-dir", check=False).strip()
    if own:
        index = Path(own, "index")
        found["/index"] = index.read_bytes() if index.exists() else None
        found["/HEAD"] = Path(own, "HEAD").read_text()
        found["/refs"] = [line for line in git(root, "for-each-ref").splitlines() if "loop-ls/" not in line]
        found["/stash"] = git(root, "stash", "list", check=False)
    return found
