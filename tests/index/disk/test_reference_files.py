"""Projects of the tool that the language comes from: their configuration becomes settings of ours."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

import pytest

from loop_ls.index.disk.discovery import load_settings


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project in several files, as that tool writes it."""
    write(
        tmp_path,
        {
            "config.yaml": """
                includes:
                  providers: config/providers/*.yaml
                  embeddings: config/embeddings/*.yaml
                  servers: config/servers/*.yaml
                  rag: config/rag/*.yaml
                  settings: config/settings.yaml
                  workflows: config/workflows/**/*.yaml
            """,
            "config/providers/house.yaml": """
                interface_type: openai_compatible
                provider_name: house
                config:
                  api_key: ${HOUSE_KEY}
                  api_endpoint: https://models.example.org/v1
                  default_model: large
                  available_models: [large, small]
                  timeout_seconds: 45
                  max_retries: 2
            """,
            "config/providers/near.yaml": """
                interface_type: openai_compatible
                provider_name: near
                config: {api_endpoint: "http://localhost:8080", default_model: m}
            """,
            "config/embeddings/vectors.yaml": """
                interface_type: openai_compatible
                provider_name: house
                config:
                  default_model: not-for-answers
                  embedding_models: {wide: {dimensions: 3}, narrow: {dimensions: 2, default: true}}
            """,
            "config/servers/files.yaml": """
                server_name: files
                config: {command: ~/bin/files, args: [--quiet, 1], env: {ROOT: here}}
            """,
            "config/rag/docs.yaml": """
                server_name: docs
                config:
                  mcp_server: files
                  search_tool: look
                  table: pages
                  text_columns: [title, body]
                  query_embedding: {type: service, provider: house, model: narrow}
                  strategies: [{name: default, vector_column: v1, weight: 0.5, threshold: 0.7}]
            """,
            "config/settings.yaml": """
                rag: {default_server: docs, default_top_k: 7, default_fusion: max}
                skills: {outputs_dir: out}
                ai: {default_provider: house}
            """,
        },
    )
    return tmp_path


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text).lstrip("\n"))


def raw(folder: Path, **editor: Any) -> dict[str, Any]:
    settings, problems = load_settings(str(folder), editor)
    assert problems == ()
    return dict(settings.raw)


def test_providers_servers_and_stores_are_read(project: Path) -> None:
    found = raw(project)
    assert found["providers"]["house"] == {
        "kind": "openai",
        "baseUrl": "https://models.example.org/v1",
        "apiKeyEnv": "HOUSE_KEY",
        "defaultModel": "large",
        "timeoutSeconds": 45,
        "models": ["large", "small"],
        "embeddingModel": "narrow",
    }
    assert found["servers"] == {"files": {"command": "~/bin/files", "args": ["--quiet", "1"], "env": {"ROOT": "here"}}}
    assert found["rag"] == {
        "server": "docs",
        "fusion": "max",
        "topK": 7,
        "stores": {
            "docs": {
                "server": "files",
                "tool": "look",
                "table": "pages",
                "textColumns": ["title", "body"],
                "provider": "house",
                "model": "narrow",
                "strategies": {"default": {"column": "v1", "weight": 0.5, "threshold": 0.7}},
            }
        },
    }
    assert found["outputsDir"] == "out"


def test_an_address_of_a_machine_alone_gets_the_path_of_its_dialect(project: Path) -> None:
    assert raw(project)["providers"]["near"]["baseUrl"] == "http://localhost:8080/v1"


def test_our_own_settings_lie_on_top_and_those_of_the_editor_below(project: Path) -> None:
    write(project, {".loop-ls.yaml": "providers: {house: {defaultModel: ours}}"})
    editor = {"providers": {"house": {"defaultModel": "theirs", "maxConcurrency": 3}}}
    house = raw(project, **editor)["providers"]["house"]
    assert (house["defaultModel"], house["baseUrl"], house["maxConcurrency"]) == (
        "ours",
        "https://models.example.org/v1",
        3,
    )


def test_a_key_in_a_file_is_not_taken_and_its_variable_is_named_after_the_provider(project: Path) -> None:
    file = project / "config/providers/house.yaml"
    file.write_text(file.read_text().replace("${HOUSE_KEY}", "sk-not-here-0123456789"))
    found = raw(project)
    assert found["providers"]["house"]["apiKeyEnv"] == "HOUSE_API_KEY"
    assert "sk-not-here" not in str(found)


def test_a_single_file_with_everything_in_it_is_read_too(tmp_path: Path) -> None:
    config = """
        servers: {files: {command: files-server, args: []}}
        ai:
          interfaces:
            anthropic_native: {providers: {anthropic: {api_key: "${MY_KEY}", default_model: m}}}
            gemini_native: {providers: {gemini: {api_key: "${G}", api_endpoint: "https://native.example.org"}}}
    """
    write(tmp_path, {"config.yaml": config})
    found = raw(tmp_path)
    assert found["servers"] == {"files": {"command": "files-server", "args": []}}
    assert found["providers"] == {
        "anthropic": {"kind": "anthropic", "apiKeyEnv": "MY_KEY", "defaultModel": "m"},
        "gemini": {"kind": "openai", "apiKeyEnv": "G"},
    }


@pytest.mark.parametrize(
    ("glob", "text"),
    [
        ("../outside/*.yaml", "provider_name: x"),
        ("/etc/*.yaml", "provider_name: x"),
        ("config/providers/*.yaml", "- a list"),
        ("config/providers/*.yaml", "provider_name: [half"),
        ("config/providers/[", "provider_name: x"),
        ("", "provider_name: x"),
    ],
)
def test_what_makes_no_sense_is_left_out(tmp_path: Path, glob: str, text: str) -> None:
    folder = tmp_path / "project"
    files = {"config.yaml": f'includes: {{providers: "{glob}"}}', "config/providers/x.yaml": text}
    write(folder, files | {"../outside/x.yaml": "provider_name: x"})
    assert "providers" not in raw(folder)


def test_D44_one_broken_file_leaves_the_others_as_they_are(project: Path) -> None:
    write(project, {"config/providers/broken.yaml": "provider_name: broken\n\tconfig: {"})
    assert set(raw(project)["providers"]) >= {"house", "near"}


def test_a_config_of_some_other_tool_is_none_of_ours(tmp_path: Path) -> None:
    write(tmp_path, {"config.yaml": "servers: 3\nai: [x]\nincludes: yes\nrag: {servers: nothing}\n"})
    assert raw(tmp_path) == {}
