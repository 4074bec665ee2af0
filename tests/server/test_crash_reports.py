"""A report of a fault, as a person attaches it to an issue."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from loop_ls.server.crash_reports import CrashReports

VALUE = "no-shape-at-all-771"


class Nothing:
    """A session without documents."""

    def find(self, uri: str) -> None:
        return None

    def all_folders(self) -> Any:
        return iter(())


@pytest.mark.parametrize("secret", [VALUE, "sk-live-0123456789abcdefghij", "postgresql://me:hunter22@db/loops"])
def test_an_exception_that_quotes_a_key_gives_it_to_nobody(
    secret: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOOP_LS_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("HOUSE_KEY", VALUE)
    session: Any = Nothing()
    try:
        raise ValueError(f"cannot read {secret} here")
    except ValueError as error:
        path = CrashReports(session).write("textDocument/hover", {}, error)
    assert path is not None
    told = path.read_text()
    assert "ValueError: cannot read" in told
    assert "[secret]" in told
    assert secret not in told
    assert "hunter22" not in told
