"""Facts about providers and models: for completion, near misses and hover.

The list is open: whatever the settings name under `providers` is a provider too. Nothing here is
needed to ask a model; that is the engine's business.
"""

from __future__ import annotations

from typing import NamedTuple


class KnownProvider(NamedTuple):
    """`models` and `embeddings` as the sources show them, best known first. `local`: on this machine."""

    name: str
    text: str
    default_model: str
    models: tuple[str, ...]
    embeddings: tuple[str, ...] = ()
    local: bool = False


_GEMINI = (
    *("gemini-2.0-flash-exp", "gemini-2.5-flash", "gemini-2.5-pro", "gemini-2.0-flash-001"),
    *("gemini-2.0-flash-lite-001", "gemini-1.5-pro", "gemini-1.5-flash", "gemini-pro"),
)
_OPENAI_EMBEDDINGS = ("text-embedding-3-small", "text-embedding-3-large", "text-embedding-ada-002")
_BEDROCK_LLAMA = tuple(f"meta.llama3-1-{size}-instruct-v1:0" for size in ("8b", "70b", "405b"))
_OPENROUTER_LLAMA = tuple(f"meta-llama/llama-3.1-{size}-instruct" for size in ("8b", "70b", "405b"))

PROVIDERS: dict[str, KnownProvider] = {
    provider.name: provider
    for provider in (
        KnownProvider(
            "anthropic",
            "Anthropic's own service. Temperature from 0 to 1.",
            "claude-3-5-sonnet-20241022",
            (
                *("claude-sonnet-4", "claude-opus-4", "claude-haiku-4", "claude-sonnet-4-20250514"),
                *("claude-3-5-sonnet-20241022", "claude-3-5-haiku-20241022", "claude-3-opus-20240229"),
                *("claude-3-sonnet-20240229", "claude-3-haiku-20240307"),
            ),
        ),
        KnownProvider(
            "openai",
            "OpenAI's own service.",
            "gpt-4o-mini",
            ("gpt-4o-mini", "gpt-4o", "gpt-4-turbo", "gpt-3.5-turbo"),
            _OPENAI_EMBEDDINGS,
        ),
        KnownProvider("deepseek", "DeepSeek's own service.", "deepseek-chat", ("deepseek-chat", "deepseek-coder")),
        KnownProvider(
            "ollama",
            "Ollama on this machine: no key, no cost.",
            "qwen2.5:32b",
            (
                *("qwen2.5:32b", "qwen2.5:7b", "qwen2.5-coder:32b", "llama3.1:8b", "llama3.1:70b", "llama3.2"),
                "deepseek-coder:33b",
            ),
            ("nomic-embed-text", "mxbai-embed-large"),
            local=True,
        ),
        KnownProvider("gemini", "Google's Gemini service.", "gemini-2.0-flash-exp", _GEMINI),
        KnownProvider(
            "openrouter",
            "OpenRouter: many services with one key. Models are named `vendor/model`.",
            "anthropic/claude-3.5-sonnet",
            (
                *("anthropic/claude-3.5-sonnet", "anthropic/claude-3.5-haiku", "openai/gpt-4o", "openai/gpt-4o-mini"),
                *("deepseek/deepseek-r1", "google/gemini-pro-1.5", "google/gemini-flash-1.5", *_OPENROUTER_LLAMA),
            ),
            _OPENAI_EMBEDDINGS[:2],
        ),
        KnownProvider(
            "lmstudio", "LM Studio on this machine: no key, no cost.", "local-model", ("local-model",), local=True
        ),
        KnownProvider("kimik2", "Moonshot's Kimi service.", "kimi-k2-turbo-preview", ("kimi-k2-turbo-preview",)),
        KnownProvider(
            "bedrock",
            "Amazon Bedrock.",
            "anthropic.claude-3-5-sonnet-20241022-v2:0",
            (
                *("anthropic.claude-3-5-sonnet-20241022-v2:0", "anthropic.claude-3-5-haiku-20241022-v1:0"),
                *("anthropic.claude-3-opus-20240229-v1:0", "anthropic.claude-3-haiku-20240307-v1:0"),
                *_BEDROCK_LLAMA,
            ),
            (
                *("amazon.titan-embed-text-v2:0", "amazon.titan-embed-g1-text-02"),
                *("cohere.embed-english-v3", "cohere.embed-multilingual-v3"),
            ),
        ),
        KnownProvider(
            "azure-foundry",
            "Azure AI Foundry. Models are named after their deployments.",
            "gpt-4o",
            ("gpt-4o", "gpt-4o-mini", "gpt-4-turbo", "gpt-35-turbo"),
            _OPENAI_EMBEDDINGS,
        ),
        KnownProvider(
            "vertex-ai",
            "Google's Vertex AI.",
            "gemini-2.5-flash",
            ("gemini-2.5-flash", "gemini-2.5-pro", *(m for m in _GEMINI if not m.startswith("gemini-2.5"))),
            ("text-embedding-004", "text-multilingual-embedding-002", "textembedding-gecko@003"),
        ),
    )
}

#: The model of each provider that works by its name alone, where nobody names one.
DEFAULT_MODELS = {
    **{provider.name: provider.default_model for provider in PROVIDERS.values()},
    "groq": "llama-3.3-70b-versatile",
    "local": "smollm2-135m-instruct",
    "scripted": "script",
}

#: Lengths of the vectors of embedding models.
DIMENSIONS = {
    "text-embedding-3-small": 1536,
    "text-embedding-3-large": 3072,
    "text-embedding-ada-002": 1536,
    "nomic-embed-text": 768,
    "mxbai-embed-large": 1024,
    "amazon.titan-embed-text-v2:0": 1024,
    "amazon.titan-embed-g1-text-02": 1536,
    "cohere.embed-english-v3": 1024,
    "cohere.embed-multilingual-v3": 1024,
    "text-embedding-004": 768,
    "text-multilingual-embedding-002": 768,
    "textembedding-gecko@003": 768,
}

#: Names that a service does not answer to any more, or never did though documents use them, as patterns.
RETIRED: dict[str, tuple[str, ...]] = {
    "anthropic": (
        *("claude-v1", "claude-2*", "claude-instant*", "claude-3-*"),
        *("claude-sonnet-4", "claude-opus-4", "claude-haiku-4"),
    ),
    "bedrock": ("anthropic.claude-v*", "anthropic.claude-3-*", "amazon.titan-text-*"),
    "deepseek": ("deepseek-coder",),
    "gemini": ("gemini-1*", "gemini-2.0-*", "gemini-pro", "gemini-*1.5*"),
    "openai": ("gpt-3.5*", "gpt-4-32k*", "gpt-4-vision*", "gpt-4.5*", "o1-preview", "o1-mini"),
    "openrouter": ("google/gemini-*-1.5", "anthropic/claude-3*"),
    "vertex-ai": ("gemini-1*", "gemini-2.0-*", "gemini-pro", "gemini-*1.5*"),
}

#: Names of MCP servers and skills that such files use; `skills` is built in.
SERVERS = ("filesystem", "brave-search", "sqlite", "pgvector", "bash", "search", "skills")
SKILLS = ("docx", "pdf", "pptx", "xlsx", "python-context-builder")

#: Names that the engine knows besides, without an entry in the settings: a script, the model that comes with it, and a
#: service whose models nobody lists here.
RUN_BY_NAME = ("groq", "local", "scripted")

#: Kinds of providers that never cost anything, unless the settings give a price.
FREE_KINDS = ("local", "scripted")
