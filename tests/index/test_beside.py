"""A workspace with too many files still finds what a call means, and knows when it cannot tell."""

from __future__ import annotations

from pathlib import Path

import pytest

from loop_ls.index.disk.discovery import discover
from loop_ls.index.nearby_lookup import with_called

HEAD = "$schema: workflow/v2.0\nname: {}\nversion: 1.0.0\n"
CALL = HEAD + "steps:\n  - {{name: s, template: {{name: {}}}}}\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    files = {
        "config/workflows/main.yaml": CALL.format("main", "deep/near"),
        "config/workflows/deep/a.yaml": CALL.format("near", "other"),
        "config/workflows/deep/b.yaml": CALL.format("other", "top"),
        "config/workflows/z.yaml": HEAD.format("top"),
        "config/workflows/elsewhere/c.yaml": HEAD.format("unrelated"),
    }
    for path, text in files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    return tmp_path


def test_calls_are_followed_to_where_they_must_lead(folder: Path) -> None:
    found = discover(str(folder), most=0)
    assert found.capped
    whole = discover(str(folder)).workspace
    main = whole.by_key("main")
    assert main is not None
    beside = with_called(found.workspace.with_document(main), [main])
    assert beside.complete
    assert set(beside.workspace.keys) == {"main", "deep/near", "deep/other", "top"}


def test_a_limit_is_told(folder: Path) -> None:
    whole = discover(str(folder)).workspace
    main = whole.by_key("main")
    assert main is not None
    assert not with_called(discover(str(folder), most=0).workspace.with_document(main), [main], most=1).complete
