"""What a run needs besides models is looked at, shown and agreed to before it begins."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from loop_ls.client.consent import agreed
from loop_ls.testing import mcp_server
from tests.engine.starting.test_workflow_start import Desk

TOOLS = "steps: [{name: find, run: x, servers: [things]}]"
SEARCH = "steps: [{name: look, rag: {query: x, server: docs}}]"


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def given(desk: Desk, flow: str, settings: str) -> None:
    desk.write("flow.yaml", flow)
    desk.settings(settings)


async def test_a_program_of_the_project_is_shown_with_its_environment_before_it_is_started(desk: Desk) -> None:
    given(desk, TOOLS, "servers: {things: {command: [node, srv.js], env: {TOKEN: '${MY_TOKEN}', PRELOAD: x.so}}}")
    refused = await desk.refused("flow.yaml")
    assert refused.code == "consent_required"
    assert refused.details["programs"] == [["env", "TOKEN=${MY_TOKEN}", "PRELOAD=x.so", "node", "srv.js"]]
    prepared = await desk.start("flow.yaml", consent=agreed(desk.data, refused.details))
    assert list(prepared.started.settings["servers"]) == ["things"]
    await desk.start("flow.yaml")


async def test_another_environment_is_another_program(desk: Desk) -> None:
    given(desk, TOOLS, "servers: {things: {command: node, env: {A: '1'}}}")
    refused = await desk.refused("flow.yaml")
    await desk.start("flow.yaml", consent=agreed(desk.data, refused.details))
    desk.settings("servers: {things: {command: node, env: {A: '1', LD_PRELOAD: ./evil.so}}}")
    assert (await desk.refused("flow.yaml")).code == "consent_required"


async def test_a_server_elsewhere_is_shown_with_its_host_and_the_variables_that_go_there(desk: Desk) -> None:
    headers = "headers: {Authorization: 'Bearer ${A_TOKEN}', X: '${OTHER}'}"
    given(desk, TOOLS, f"servers: {{things: {{url: 'https://tools.example.org/mcp', {headers}}}}}")
    shown = (await desk.refused("flow.yaml")).details["endpoints"]
    assert [(each["host"], each["variable"]) for each in shown] == [
        ("tools.example.org", "A_TOKEN"),
        ("tools.example.org", "OTHER"),
    ]


async def test_a_database_is_shown_without_its_password(desk: Desk) -> None:
    desk.environ["DOCS_DB"] = "postgresql://me:hush@db.example.org/docs"
    store = "{databaseUrlEnv: DOCS_DB, table: t, provider: ollama, model: m}"
    given(desk, SEARCH, f"rag: {{stores: {{docs: {store}}}}}")
    refused = await desk.refused("flow.yaml")
    assert [(each["host"], each["variable"]) for each in refused.details["endpoints"]] == [
        ("db.example.org", "DOCS_DB")
    ]
    assert "hush" not in str(refused.answer())


async def test_who_makes_the_vectors_of_a_store_is_asked_for_a_key_too(desk: Desk) -> None:
    store = "{server: things, provider: openai, model: m}"
    given(desk, SEARCH, f"servers: {{things: {{command: node}}}}\nrag: {{stores: {{docs: {store}}}}}")
    desk.broken = ("openai",)
    refused = await desk.refused("flow.yaml")
    assert (refused.code, refused.details["provider"]) == ("provider_unavailable", "openai")


async def test_a_fallback_is_a_place_that_texts_may_go_to(desk: Desk) -> None:
    desk.environ["OPENAI_API_KEY"] = "sk-x"
    given(desk, "steps: [{name: a, run: x}]", "providers: {ollama: {fallback: [openai/gpt-4o-mini]}}")
    assert [each["host"] for each in (await desk.refused("flow.yaml")).details["endpoints"]] == ["api.openai.com"]


@pytest.mark.parametrize(
    ("flow", "settings", "said"),
    [
        (TOOLS, "servers: {thing: {command: x}}", "`things` is no configured MCP server; did you mean `thing`?"),
        (TOOLS, "servers: {things: {type: stdio}}", "MCP server `things` has no `command`."),
        (SEARCH, "{}", "`docs`, which `look` searches, is no store and no MCP server."),
        (
            TOOLS,
            "servers: {things: {command: x, env: {GITHUB_TOKEN: abc}}}",
            "`servers.things.env.GITHUB_TOKEN` holds a key itself, and keys never stand in files.",
        ),
        (
            TOOLS,
            "servers: {things: {url: 'https://x.test', headers: {X-Api-Key: abc}}}",
            "`servers.things.headers.X-Api-Key` holds a key itself, and keys never stand in files.",
        ),
    ],
)
async def test_what_is_not_there_or_does_not_belong_there_is_refused(
    desk: Desk, flow: str, settings: str, said: str
) -> None:
    given(desk, flow, settings)
    refused = await desk.refused("flow.yaml")
    assert (refused.code, refused.message) == ("bad_argument", said)


async def test_servers_that_the_chosen_part_does_not_use_are_neither_shown_nor_recorded(desk: Desk) -> None:
    flow = "steps: [{name: plain, run: x}, {name: find, run: x, servers: [things]}]"
    given(desk, flow, "servers: {things: {command: x}, others: {command: y}}")
    prepared = await desk.start("flow.yaml", target={"kind": "step", "name": "plain"})
    assert "servers" not in prepared.started.settings


async def test_a_mock_run_starts_nothing_and_needs_no_consent(desk: Desk) -> None:
    given(desk, TOOLS, "{}")
    prepared = await desk.start("flow.yaml", mock=True)
    assert "servers" not in prepared.started.settings


async def test_scripts_are_recorded_with_the_run(desk: Desk) -> None:
    desk.write("flow.yaml", "steps: [{name: a, run: x}]")
    (desk.root / "flow.answers.yaml").write_text("answers: [{say: x}]")
    (desk.root / "other.yaml").write_text("answers: [{say: y}]")
    desk.settings("providers: {ollama: {kind: scripted}, two: {kind: scripted, script: other.yaml}}")
    plan = await desk.plan(path="flow.yaml")
    assert {path: plan.texts[path] for path in ("flow.answers.yaml", "other.yaml")} == {
        "flow.answers.yaml": "answers: [{say: x}]",
        "other.yaml": "answers: [{say: y}]",
    }


@pytest.mark.parametrize("script", ["../outside.yaml", "/etc/hostname"])
async def test_a_script_outside_of_the_workspace_is_not_recorded(desk: Desk, script: str) -> None:
    (desk.root.parent / "outside.yaml").write_text("key: secret")
    desk.write("flow.yaml", "steps: [{name: a, run: x}]")
    desk.settings(f"providers: {{two: {{kind: scripted, script: '{script}'}}}}")
    assert list((await desk.plan(path="flow.yaml")).texts) == ["flow.yaml"]


def configured(desk: Desk, **files: Any) -> None:
    for name, text in files.items():
        path = desk.root / f"config/{name}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


async def test_a_project_of_the_reference_tool_asks_for_consent_like_any_other(desk: Desk) -> None:
    includes = "includes: {providers: 'config/p*.yaml', servers: 'config/s*.yaml', workflows: '*.yaml'}"
    (desk.root / "config.yaml").write_text(includes)
    configured(
        desk,
        provider="interface_type: openai_compatible\nprovider_name: house\nconfig: {api_endpoint: 'https://h.test/v1',"
        " api_key: '${H_KEY}', default_model: m}",
        server=f"server_name: things\nconfig: {{command: {sys.executable}, args: ['{mcp_server.FILE}']}}",
    )
    desk.environ["H_KEY"] = "k"
    desk.write("flow.yaml", TOOLS, provider="house")
    refused = await desk.refused("flow.yaml")
    assert refused.details["endpoints"] == [
        {"provider": "house", "host": "h.test", "url": "https://h.test/v1", "variable": "H_KEY"}
    ]
    assert refused.details["programs"] == [[sys.executable, mcp_server.FILE]]
    prepared = await desk.start("flow.yaml", consent=agreed(desk.data, refused.details))
    assert prepared.started.settings["providers"]["house"]["baseUrl"] == "https://h.test/v1"


async def test_a_cloud_that_is_reached_through_another_package_is_shown_by_its_name(desk: Desk) -> None:
    desk.write("flow.yaml", "steps: [{name: a, run: x}]", provider="bedrock")
    desk.settings("providers: {bedrock: {kind: pydantic-ai}}")
    assert [each["host"] for each in (await desk.refused("flow.yaml")).details["endpoints"]] == ["bedrock"]


async def test_a_step_may_name_the_maker_of_its_vectors_where_execution_names_nobody(desk: Desk) -> None:
    flow = "steps: [{name: v, provider: openai, model: e, embeddings: {input: x}}]"
    head = "$schema: workflow/v2.0\nname: flow\nversion: 1.0.0\ndescription: d\n"
    (desk.root / "flow.yaml").write_text(head + flow)
    assert (await desk.refused("flow.yaml")).details["endpoints"][0]["provider"] == "openai"
    (desk.root / "flow.yaml").write_text(head + flow.replace("provider: openai, model: e, ", ""))
    refused = await desk.refused("flow.yaml")
    assert (refused.code, refused.message) == (
        "provider_unavailable",
        "`v` names no provider and model, and neither does `execution`.",
    )
