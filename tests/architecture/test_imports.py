"""The rooms of the product and who may know whom (see docs of `loop_ls`)."""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2] / "loop_ls"

#: room -> the rooms that it may import. Order is the direction of the product.
MAY_IMPORT = {
    "text": set(),
    "syntax": {"text"},
    "formats": {"text", "syntax"},
    "index": {"text", "syntax", "formats"},
    "rules": {"text", "syntax", "formats", "index"},
    "features": {"text", "syntax", "formats", "index", "rules", "contract"},
    "report": {"text", "contract", "rules"},
    "client": {"contract", "text"},
    "contract": {"text"},
    "server": {"text", "syntax", "formats", "index", "rules", "features", "client", "contract"},
    "engine": {"text", "syntax", "formats", "index", "contract", "extras"},
    "extras": set(),
    "testing": {"text", "syntax", "formats", "index", "engine", "contract"},
    "app": {"text", "syntax", "formats", "index", "rules", "features", "client", "engine", "contract"},
    "cli": {
        *("text", "syntax", "formats", "index", "rules", "features"),
        *("report", "client", "server", "engine", "testing", "app", "contract", "extras"),
    },
    "__main__": {"cli"},
    "__init__": set(),
}

#: third-party package -> the only places that may import it.
ONLY = {
    "pygls": ("server",),
    "lsprotocol": ("server",),
    "attrs": ("server/rpc",),
    "cattrs": ("server/rpc",),
    "dbos": ("engine/durable",),
    "httpx": ("engine/providers", "client"),
    "starlette": ("engine/api",),
    "uvicorn": ("engine/api",),
    "socketio": ("engine/api",),
    "mcp": ("engine/api", "engine/tools"),
    "httpx2": ("engine/tools",),
    "anyio": ("engine/tools",),
    "opentelemetry": ("engine/telemetry",),
    "pydantic": ("engine", "contract"),
    "pydantic_ai": ("engine/providers",),
    "yaml": ("syntax",),
    "rich": ("cli",),
    "markdown_it": ("features/text",),
}


def modules() -> list[Path]:
    return sorted(ROOT.rglob("*.py"))


def room(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


@cache
def imported(path: Path) -> tuple[str, ...]:
    found = []
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            found.append("." * node.level + (node.module or ""))
            if node.module == "loop_ls":
                found += [f"loop_ls.{alias.name}" for alias in node.names]
    return tuple(found)


def offenders(complaint: Callable[[Path], list[str]]) -> list[str]:
    """All complaints about all modules, each with the path of its module."""
    return [f"{path.relative_to(ROOT).as_posix()}: {text}" for path in modules() for text in complaint(path)]


def test_imports_are_absolute() -> None:
    assert offenders(lambda path: [f"imports {name}" for name in imported(path) if name.startswith(".")]) == []


def test_a_room_imports_only_what_lies_before_it() -> None:
    def upwards(path: Path) -> list[str]:
        allowed = {room(path), "__version__", *MAY_IMPORT[room(path)]}
        parts = [name.split(".") for name in imported(path)]
        return [f"imports {'.'.join(p)}" for p in parts if p[0] == "loop_ls" and len(p) > 1 and p[1] not in allowed]

    assert offenders(upwards) == []


def test_heavy_packages_stay_in_their_rooms() -> None:
    def outside(path: Path) -> list[str]:
        place = path.relative_to(ROOT).as_posix()
        found = []
        for name in imported(path):
            homes = ONLY.get(name.split(".")[0])
            if homes is not None and not place.startswith(homes):
                found.append(f"imports {name}; only {', '.join(homes) or 'nobody'} may")
        return found

    assert offenders(outside) == []


def test_every_module_says_why_it_exists() -> None:
    assert offenders(lambda path: [] if ast.get_docstring(tree(path)) else ["has no module docstring"]) == []
