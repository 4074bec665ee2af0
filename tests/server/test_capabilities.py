"""Capabilities are read from whatever clients send."""

from __future__ import annotations

from typing import Any

import pytest

from loop_ls.server.capabilities import ClientFacts, client_facts, server_capabilities


@pytest.mark.parametrize(
    "params", [{}, {"capabilities": None}, {"capabilities": {"textDocument": 5}}, {"clientInfo": "x"}]
)
def test_odd_or_missing_capabilities_count_as_absent(params: dict[str, Any]) -> None:
    assert client_facts(params) == ClientFacts()


@pytest.mark.parametrize(
    ("offered", "chosen"),
    [
        (["utf-32", "utf-8", "utf-16"], "utf-32"),
        (["utf-8", "utf-16"], "utf-8"),
        (["utf-7", "utf-16"], "utf-16"),
        (["utf-7"], "utf-16"),
        (None, "utf-16"),
        ([], "utf-16"),
    ],
)
def test_the_clients_first_choice_that_we_know_is_taken(offered: list[str] | None, chosen: str) -> None:
    client = client_facts({"capabilities": {"general": {"positionEncodings": offered}}})
    assert client.encoding == chosen
    assert server_capabilities(client, [])["positionEncoding"] == chosen


def test_only_what_the_client_can_use_is_announced() -> None:
    bare = server_capabilities(ClientFacts(), ["loopLs.run"])
    assert "diagnosticProvider" not in bare
    assert bare["codeActionProvider"] is True
    assert bare["executeCommandProvider"] == {"commands": ["loopLs.run"]}
    assert bare["experimental"]["loopLs"] == {"version": 1, "events": True, "virtualDocuments": False}
    full = server_capabilities(ClientFacts(pull_diagnostics=True, action_literals=True, action_resolve=True), [])
    assert full["diagnosticProvider"]["workspaceDiagnostics"] is True
    assert full["codeActionProvider"]["resolveProvider"] is True
