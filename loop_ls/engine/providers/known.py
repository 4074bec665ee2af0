"""Providers that work by name alone: where they are and which variable holds their key.

Names are those of the workflow language, as their default models (`formats.common.providers`). A project adds its own
under `providers` in its settings; every field here can be overridden there.
"""

from __future__ import annotations

from typing import Literal

from loop_ls.text.record import equal_record

Kind = Literal["openai", "anthropic", "local", "scripted", "pydantic-ai"]


@equal_record
class Known:
    """`base_url_env` names a variable with which a person points the provider elsewhere.
    `prices` is the name under which the price table knows it; None: its use costs nothing.
    `bills_what_it_says`: the `usage.cost` of an answer is what the account is charged."""

    kind: Kind
    base_url: str = ""
    key_env: str = ""
    base_url_env: str = ""
    prices: str | None = None
    embedding_model: str = ""
    bills_what_it_says: bool = False


KNOWN: dict[str, Known] = {
    "openai": Known(
        "openai",
        "https://api.openai.com/v1",
        "OPENAI_API_KEY",
        "OPENAI_BASE_URL",
        "openai",
        "text-embedding-3-small",
    ),
    "anthropic": Known(
        "anthropic",
        "https://api.anthropic.com",
        "ANTHROPIC_API_KEY",
        "ANTHROPIC_BASE_URL",
        "anthropic",
    ),
    "deepseek": Known("openai", "https://api.deepseek.com/v1", "DEEPSEEK_API_KEY", "DEEPSEEK_BASE_URL", "deepseek"),
    "ollama": Known("openai", "http://127.0.0.1:11434/v1", "", "OLLAMA_HOST", None, "nomic-embed-text"),
    "lmstudio": Known("openai", "http://127.0.0.1:1234/v1", "", "LMSTUDIO_BASE_URL"),
    "gemini": Known(
        "openai",
        "https://generativelanguage.googleapis.com/v1beta/openai",
        "GEMINI_API_KEY",
        "GEMINI_BASE_URL",
        "google",
    ),
    "openrouter": Known(
        "openai",
        "https://openrouter.ai/api/v1",
        "OPENROUTER_API_KEY",
        "OPENROUTER_BASE_URL",
        "openrouter",
        bills_what_it_says=True,
    ),
    "groq": Known(
        "openai",
        "https://api.groq.com/openai/v1",
        "GROQ_API_KEY",
        "GROQ_BASE_URL",
        "groq",
    ),
    "kimik2": Known(
        "openai",
        "https://api.moonshot.ai/v1",
        "MOONSHOT_API_KEY",
        "MOONSHOT_BASE_URL",
        "moonshotai",
    ),
    "azure-foundry": Known("openai", "", "AZURE_OPENAI_API_KEY", "AZURE_OPENAI_ENDPOINT", "azure"),
    "bedrock": Known(
        "openai",
        "",
        "AWS_BEARER_TOKEN_BEDROCK",
        "BEDROCK_BASE_URL",
        "aws",
    ),
    "vertex-ai": Known("openai", "", "VERTEX_AI_API_KEY", "VERTEX_AI_BASE_URL", "google"),
    "local": Known("local"),
    "scripted": Known("scripted"),
}
