"""The client's TypeScript types are those of the contract."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

GENERATOR = runpy.run_path(str(Path(__file__).resolve().parents[2] / "scripts" / "generate_typescript.py"))


@pytest.mark.parametrize("name", GENERATOR["FILES"])
def test_the_client_has_what_the_contract_says(name: str) -> None:
    written = (GENERATOR["FOLDER"] / name).read_text("utf-8")
    assert written == GENERATOR["FILES"][name](), "run `python scripts/generate_typescript.py`"
