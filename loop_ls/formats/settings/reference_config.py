"""The configuration files of the tool that `workflow/v2.0` comes from, as a layer of our settings.

Projects of that tool run as they are: its providers, MCP servers and stores are read from `config.yaml` and
what it includes. Only values are mapped here; `index.disk.reference_files` reads files.
A key that stands in a file is left out: keys come from the environment.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from loop_ls.text.json_value import Json, as_object
from loop_ls.text.pattern import pattern

_KINDS = {
    "openai_compatible": "openai",
    "azure_openai": "openai",
    "ollama_native": "openai",
    "gemini_native": "openai",
    "anthropic_native": "anthropic",
    "aws_bedrock": "pydantic-ai",
    "gcp_vertex_ai": "pydantic-ai",
}
#: Their native addresses are those of another dialect; ours is known by the provider's name.
_OTHER_ADDRESS = frozenset({"gemini_native", "aws_bedrock", "gcp_vertex_ai"})
_VARIABLE = pattern(r"\$\{?([A-Za-z_][A-Za-z0-9_]*)\}?")
_BARE_ADDRESS = pattern(r"[a-z]+://[^/]+/?")


def provider(interface: str, config: Mapping[str, Json], name: str) -> dict[str, Json]:
    """One entry of `providers`."""
    found: dict[str, Json] = {}
    kind = _KINDS.get(interface)
    if kind is not None:
        found["kind"] = kind
    if interface not in _OTHER_ADDRESS and (url := _address(interface, config.get("api_endpoint"))):
        found["baseUrl"] = url
    if variable := _key_variable(config.get("api_key"), name):
        found["apiKeyEnv"] = variable
    _take(config, found, default_model="defaultModel", timeout_seconds="timeoutSeconds")
    if isinstance(models := config.get("available_models"), list):
        found["models"] = [str(model) for model in models]
    if embedding := _embedding_model(config):
        found["embeddingModel"] = embedding
    return found


def embedder(interface: str, config: Mapping[str, Json], name: str) -> dict[str, Json]:
    """The provider that a file of `embeddings` describes: its models make vectors, not answers."""
    found = provider(interface, config, name)
    model = found.get("embeddingModel") or found.get("defaultModel")
    kept = {key: value for key, value in found.items() if key not in ("defaultModel", "models")}
    return kept | ({"embeddingModel": model} if model else {})


def server(config: Mapping[str, Json]) -> dict[str, Json]:
    """One entry of `servers`."""
    found: dict[str, Json] = {}
    for name in ("command", "url", "cwd"):
        if isinstance(config.get(name), str) and config[name]:
            found[name] = config[name]
    if found.get("command"):
        args = config.get("args")
        found["args"] = [str(word) for word in args] if isinstance(args, list) else []
    for name in ("env", "headers"):
        if written := as_object(config.get(name)):
            found[name] = {str(key): str(value) for key, value in written.items()}
    return found


def rag(settings: Mapping[str, Json], stores: Mapping[str, Mapping[str, Json]]) -> dict[str, Json]:
    """The section `rag`: defaults of the settings file, and one store for each configured server."""
    found: dict[str, Json] = {}
    _take(settings, found, default_server="server", default_fusion="fusion", default_top_k="topK")
    expansion = settings.get("query_expansion")
    if isinstance(expansion, Mapping) and expansion.get("enabled"):
        _take(expansion, found, synonyms_file="synonyms", acronyms_file="acronyms", max_expansions="maxExpansions")
    inline = as_object(settings.get("servers"))
    every = {str(name): each for name, each in {**inline, **stores}.items() if isinstance(each, Mapping)}
    if every:
        found["stores"] = {name: _store(config, name) for name, config in every.items()}
    return found


def _store(config: Mapping[str, Json], name: str) -> dict[str, Json]:
    found: dict[str, Json] = {"server": str(config.get("mcp_server") or name)}
    _take(config, found, search_tool="tool", table="table")
    for key, ours in (("text_columns", "textColumns"), ("metadata_columns", "metadataColumns")):
        if isinstance(columns := config.get(key), list):
            found[ours] = [str(column) for column in columns]
    embedding = config.get("query_embedding")
    if isinstance(embedding, Mapping) and embedding.get("type") == "service":
        _take(embedding, found, provider="provider", model="model")
    listed = config.get("strategies")
    if isinstance(listed, list):
        named = [each for each in listed if isinstance(each, Mapping) and each.get("name")]
        found["strategies"] = {str(each["name"]): _strategy(each) for each in named}
    return found


def _strategy(config: Mapping[str, Json]) -> dict[str, Json]:
    found: dict[str, Json] = {}
    _take(config, found, vector_column="column", weight="weight", threshold="threshold")
    return found


def _take(source: Mapping[str, Json], found: dict[str, Json], **names: str) -> None:
    found |= {ours: source[theirs] for theirs, ours in names.items() if source.get(theirs) not in (None, "")}


def _address(interface: str, written: Json) -> str:
    """An address without a path is that of a machine; the dialect answers below `/v1` there."""
    url = written.strip() if isinstance(written, str) else ""
    if interface != "anthropic_native" and _BARE_ADDRESS.fullmatch(url):
        return url.rstrip("/") + "/v1"
    return url.rstrip("/")


def _key_variable(written: Json, name: str) -> str:
    """The variable that holds the key. A key in the file itself is not taken: it belongs into one."""
    if not isinstance(written, str) or not written.strip():
        return ""
    if found := _VARIABLE.fullmatch(written.strip()):
        return found[1]
    if written.strip().lower() in ("ollama", "lm-studio", "none", "not-needed", "dummy"):
        return ""
    return re.sub(r"\W", "_", name).upper() + "_API_KEY"


def _embedding_model(config: Mapping[str, Json]) -> str:
    if isinstance(named := config.get("default_embedding_model"), str) and named:
        return named
    models = config.get("embedding_models")
    if not isinstance(models, Mapping):
        return ""
    default = [name for name, each in models.items() if isinstance(each, Mapping) and each.get("default")]
    return str(next(iter(default or models), ""))
