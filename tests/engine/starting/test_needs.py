"""What a run needs besides models is looked at, shown and agreed to before it begins."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from loop_ls.client.consent import agreed
from loop_ls.testing import mcp_server
from tests.engine.starting.test_workflow_start import StartProject

TOOLS = "steps: [{name: find, run: x, servers: [things]}]"
SEARCH = "steps: [{name: look, rag: {query: x, server: docs}}]"


@pytest.fixture
def project(tmp_path: Path) -> StartProject:
    return StartProject(tmp_path)


def given(project: StartProject, flow: str, settings: str) -> None:
    project.write("flow.yaml", flow)
    project.settings(settings)


async def test_a_program_of_the_project_is_shown_with_its_environment_before_it_is_started(
    project: StartProject,
) -> None:
    given(project, TOOLS, "servers: {things: {command: [node, srv.js], env: {TOKEN: '${MY_TOKEN}', PRELOAD: x.so}}}")
    refused = await project.refused("flow.yaml")
    assert refused.code == "consent_required"
    assert refused.details["programs"] == [["env", "TOKEN=${MY_TOKEN}", "PRELOAD=x.so", "node", "srv.js"]]
    prepared = await project.start("flow.yaml", consent=agreed(project.data, refused.details))
    assert list(prepared.started.settings["servers"]) == ["things"]
    await project.start("flow.yaml")


async def test_another_environment_is_another_program(project: StartProject) -> None:
    given(project, TOOLS, "servers: {things: {command: node, env: {A: '1'}}}")
    refused = await project.refused("flow.yaml")
    await project.start("flow.yaml", consent=agreed(project.data, refused.details))
    project.settings("servers: {things: {command: node, env: {A: '1', LD_PRELOAD: ./evil.so}}}")
    assert (await project.refused("flow.yaml")).code == "consent_required"


async def test_a_server_elsewhere_is_shown_with_its_host_and_the_variables_that_go_there(project: StartProject) -> None:
    headers = "headers: {Authorization: 'Bearer ${A_TOKEN}', X: '${OTHER}'}"
    given(project, TOOLS, f"servers: {{things: {{url: 'https://tools.example.org/mcp', {headers}}}}}")
    shown = (await project.refused("flow.yaml")).details["endpoints"]
    assert [(each["host"], each["variable"]) for each in shown] == [
        ("tools.example.org", "A_TOKEN"),
        ("tools.example.org", "OTHER"),
    ]


async def test_a_database_is_shown_without_its_password(project: StartProject) -> None:
    project.environ["DOCS_DB"] = "postgresql://me:hush@db.example.org/docs"
    store = "{databaseUrlEnv: DOCS_DB, table: t, provider: ollama, model: m}"
    given(project, SEARCH, f"rag: {{stores: {{docs: {store}}}}}")
    refused = await project.refused("flow.yaml")
    assert [(each["host"], each["variable"]) for each in refused.details["endpoints"]] == [
        ("db.example.org", "DOCS_DB")
    ]
    assert "hush" not in str(refused.answer())


async def test_the_table_of_a_database_that_models_get_to_read_is_shown(project: StartProject) -> None:
    project.environ["DOCS_DB"] = "postgresql://me:hush@db.example.org/docs"
    for table in ("notes", "customers"):  # who agreed to one has not agreed to another
        store = f"{{databaseUrlEnv: DOCS_DB, table: {table}, provider: ollama, model: m}}"
        given(project, SEARCH, f"rag: {{stores: {{docs: {store}}}}}")
        refused = await project.refused("flow.yaml")
        told = f"sends data to db.example.org, with the value of DOCS_DB, and lets models read its table {table}"
        assert told in refused.message
        assert told in refused.details["capabilities"]
        await project.start("flow.yaml", consent=agreed(project.data, refused.details))


async def test_who_makes_the_vectors_of_a_store_is_asked_for_a_key_too(project: StartProject) -> None:
    store = "{server: things, provider: openai, model: m}"
    given(project, SEARCH, f"servers: {{things: {{command: node}}}}\nrag: {{stores: {{docs: {store}}}}}")
    project.broken = ("openai",)
    refused = await project.refused("flow.yaml")
    assert (refused.code, refused.details["provider"]) == ("provider_unavailable", "openai")


async def test_a_fallback_is_a_place_that_texts_may_go_to(project: StartProject) -> None:
    project.environ["OPENAI_API_KEY"] = "sk-x"
    given(project, "steps: [{name: a, run: x}]", "providers: {ollama: {fallback: [openai/gpt-4o-mini]}}")
    assert [each["host"] for each in (await project.refused("flow.yaml")).details["endpoints"]] == ["api.openai.com"]


@pytest.mark.parametrize(
    ("flow", "settings", "said"),
    [
        (TOOLS, "servers: {thing: {command: x}}", "Unknown MCP server `things`; did you mean `thing`?"),
        (TOOLS, "servers: {things: {type: stdio}}", "MCP server `things` has no `command`."),
        (SEARCH, "{}", "Unknown store or MCP server `docs` in `look`."),
        (
            TOOLS,
            "servers: {things: {command: x, env: {GITHUB_TOKEN: abc}}}",
            "`servers.things.env.GITHUB_TOKEN` contains a key; never put keys in files.",
        ),
        (
            TOOLS,
            "servers: {things: {url: 'https://x.test', headers: {X-Api-Key: abc}}}",
            "`servers.things.headers.X-Api-Key` contains a key; never put keys in files.",
        ),
    ],
)
async def test_what_is_not_there_or_does_not_belong_there_is_refused(
    project: StartProject, flow: str, settings: str, said: str
) -> None:
    given(project, flow, settings)
    refused = await project.refused("flow.yaml")
    assert (refused.code, refused.message) == ("bad_argument", said)


async def test_servers_that_the_chosen_part_does_not_use_are_neither_shown_nor_recorded(project: StartProject) -> None:
    flow = "steps: [{name: plain, run: x}, {name: find, run: x, servers: [things]}]"
    given(project, flow, "servers: {things: {command: x}, others: {command: y}}")
    prepared = await project.start("flow.yaml", target={"kind": "step", "name": "plain"})
    assert "servers" not in prepared.started.settings


async def test_a_mock_run_starts_nothing_and_needs_no_consent(project: StartProject) -> None:
    given(project, TOOLS, "{}")
    prepared = await project.start("flow.yaml", mock=True)
    assert "servers" not in prepared.started.settings


async def test_scripts_are_recorded_with_the_run(project: StartProject) -> None:
    project.write("flow.yaml", "steps: [{name: a, run: x}]")
    (project.root / "flow.answers.yaml").write_text("answers: [{say: x}]")
    (project.root / "other.yaml").write_text("answers: [{say: y}]")
    project.settings("providers: {ollama: {kind: scripted}, two: {kind: scripted, script: other.yaml}}")
    plan = await project.plan(path="flow.yaml")
    assert {path: plan.texts[path] for path in ("flow.answers.yaml", "other.yaml")} == {
        "flow.answers.yaml": "answers: [{say: x}]",
        "other.yaml": "answers: [{say: y}]",
    }


@pytest.mark.parametrize("script", ["../outside.yaml", "/etc/hostname"])
async def test_a_script_outside_of_the_workspace_is_not_recorded(project: StartProject, script: str) -> None:
    (project.root.parent / "outside.yaml").write_text("key: secret")
    project.write("flow.yaml", "steps: [{name: a, run: x}]")
    project.settings(f"providers: {{two: {{kind: scripted, script: '{script}'}}}}")
    assert list((await project.plan(path="flow.yaml")).texts) == ["flow.yaml"]


def configured(project: StartProject, **files: Any) -> None:
    for name, text in files.items():
        path = project.root / f"config/{name}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


async def test_a_project_of_the_reference_tool_asks_for_consent_like_any_other(project: StartProject) -> None:
    includes = "includes: {providers: 'config/p*.yaml', servers: 'config/s*.yaml', workflows: '*.yaml'}"
    (project.root / "config.yaml").write_text(includes)
    configured(
        project,
        provider="interface_type: openai_compatible\nprovider_name: house\nconfig: {api_endpoint: 'https://h.test/v1',"
        " api_key: '${H_KEY}', default_model: m}",
        server=f"server_name: things\nconfig: {{command: {sys.executable}, args: ['{mcp_server.FILE}']}}",
    )
    project.environ["H_KEY"] = "k"
    project.write("flow.yaml", TOOLS, provider="house")
    refused = await project.refused("flow.yaml")
    assert refused.details["endpoints"] == [
        {"provider": "house", "host": "h.test", "url": "https://h.test/v1", "variable": "H_KEY"}
    ]
    assert refused.details["programs"] == [[sys.executable, mcp_server.FILE]]
    prepared = await project.start("flow.yaml", consent=agreed(project.data, refused.details))
    assert prepared.started.settings["providers"]["house"]["baseUrl"] == "https://h.test/v1"


async def test_a_cloud_that_is_reached_through_another_package_is_shown_by_its_name(project: StartProject) -> None:
    project.write("flow.yaml", "steps: [{name: a, run: x}]", provider="bedrock")
    project.settings("providers: {bedrock: {kind: pydantic-ai}}")
    assert [each["host"] for each in (await project.refused("flow.yaml")).details["endpoints"]] == ["bedrock"]


async def test_a_step_may_name_the_maker_of_its_vectors_where_execution_names_nobody(project: StartProject) -> None:
    flow = "steps: [{name: v, provider: openai, model: e, embeddings: {input: x}}]"
    head = "$schema: workflow/v2.0\nname: flow\nversion: 1.0.0\ndescription: d\n"
    (project.root / "flow.yaml").write_text(head + flow)
    assert (await project.refused("flow.yaml")).details["endpoints"][0]["provider"] == "openai"
    (project.root / "flow.yaml").write_text(head + flow.replace("provider: openai, model: e, ", ""))
    refused = await project.refused("flow.yaml")
    assert (refused.code, refused.message) == (
        "provider_unavailable",
        "`v` has no provider and model, and neither does `execution`.",
    )
