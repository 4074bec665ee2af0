"""The rooms of the product and who may know whom (see docs of `loop_ls`)."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2] / "loop_ls"

#: room -> the rooms that it may import. Order is the direction of the product.
MAY_IMPORT = {
    "text": set(),
    "syntax": {"text"},
    "formats": {"text", "syntax"},
    "index": {"text", "syntax", "formats"},
    "rules": {"text", "syntax", "formats", "index"},
    "features": {"text", "syntax", "formats", "index", "rules"},
    "report": {"text", "rules"},
    "client": set(),
    "server": {"text", "syntax", "formats", "index", "rules", "features", "client"},
    "engine": {"text", "syntax", "formats", "index"},
    "testing": {"text", "syntax", "formats", "index", "engine"},
    "cli": {
        *("text", "syntax", "formats", "index", "rules", "features"),
        *("report", "client", "server", "engine", "testing"),
    },
    "__main__": {"cli"},
    "__init__": set(),
}

#: third-party package -> the only places that may import it.
ONLY = {
    "pygls": (),
    "lsprotocol": (),
    "dbos": ("engine/durable",),
    "httpx": ("engine/providers", "client"),
    "starlette": ("engine/api",),
    "uvicorn": ("engine/api",),
    "socketio": ("engine/api",),
    "mcp": ("engine/api", "engine/tools"),
    "httpx2": ("engine/tools",),
    "anyio": ("engine/tools",),
    "opentelemetry": ("engine/telemetry",),
    "pydantic": ("engine",),
    "pydantic_ai": ("engine/providers",),
    "yaml": ("syntax",),
    "rich": ("cli",),
}


def modules() -> list[Path]:
    return sorted(ROOT.rglob("*.py"))


def room(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def imported(path: Path) -> list[str]:
    found = []
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute"
            found.append(node.module or "")
            if node.module == "loop_ls":
                found += [f"loop_ls.{alias.name}" for alias in node.names]
    return found


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(ROOT)))
def test_a_room_imports_only_what_lies_before_it(path: Path) -> None:
    own = room(path)
    for name in imported(path):
        parts = name.split(".")
        if parts[0] != "loop_ls" or len(parts) < 2 or parts[1] in (own, "__version__"):
            continue
        assert parts[1] in MAY_IMPORT[own], f"{path.relative_to(ROOT)} imports {name}"


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(ROOT)))
def test_heavy_packages_stay_in_their_rooms(path: Path) -> None:
    place = path.relative_to(ROOT).as_posix()
    for name in imported(path):
        homes = ONLY.get(name.split(".")[0])
        if homes is not None:
            assert place.startswith(homes), f"{place} imports {name}; only {', '.join(homes) or 'nobody'} may"


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(ROOT)))
def test_a_file_holds_one_idea(path: Path) -> None:
    lines = path.read_text("utf-8").splitlines()
    assert len(lines) <= 500, "no file is longer than 500 lines"


def test_the_median_file_is_short() -> None:
    sizes = sorted(len(p.read_text("utf-8").splitlines()) for p in modules())
    assert sizes[len(sizes) // 2] <= 150


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(ROOT)))
def test_every_module_says_why_it_exists(path: Path) -> None:
    assert ast.get_docstring(ast.parse(path.read_text("utf-8"))), f"{path} has no module docstring"
