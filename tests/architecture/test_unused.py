"""Nothing lies about that nobody uses: functions and methods without a use in the product are dead code."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.architecture.test_imports import ROOT

vulture = pytest.importorskip("vulture", reason="comes with the extra `test`")

#: Found by something that reads no names: fixtures and ports that libraries call, routes by their decorator, and what
#: only tests ask for because it is where they come in.
USED = {
    *("_check_value", "_send_handler_result", "main_loop", "report_server_error"),
    *("default_schema", "field_title_should_be_set"),
    *("all_pass", "total_score"),
    *("check_invariants", "page_path", "recognise", "unregister", "workflow_calls"),
}


def test_no_function_is_without_a_use() -> None:
    search = vulture.Vulture(ignore_names=["on_*"], ignore_decorators=["@*"])
    search.scavenge([str(ROOT)], exclude=[str(Path(ROOT, "testing"))])
    found = search.unused_funcs + search.unused_methods + search.unused_imports + search.unreachable_code
    strange = [f"{item.filename}:{item.first_lineno} {item.name}" for item in found if item.name not in USED]
    assert strange == []
    unneeded = USED - {item.name for item in found}
    assert unneeded == set(), "take these names out"
