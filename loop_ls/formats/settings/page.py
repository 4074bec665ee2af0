"""The page about `.loop-ls.yaml` as Markdown: every setting with type, default and range, from its table."""

from __future__ import annotations

from collections.abc import Iterator

from loop_ls.formats.common.key_table import Key, Shape, Type
from loop_ls.formats.settings.keys import SETTINGS

_INTRODUCTION = """\
# Settings

A project's settings are in `.loop-ls.yaml` next to its workflows; the same keys are available in the section
`loopLs` of an editor. If both set a key, the file takes precedence. `<name>` is a name
that you choose. Never put a key or token here: `apiKeyEnv` names the environment variable that
holds it."""

_EXAMPLE = """\
```yaml
judge: {provider: anthropic, model: claude-haiku-4}
limits: {maxIterations: 10}
providers:
  house:
    kind: openai
    baseUrl: https://models.house.example/v1
    apiKeyEnv: HOUSE_KEY
rules:
  WF703: "off"
```"""


def settings_page() -> str:
    return "\n\n".join([_INTRODUCTION, _EXAMPLE, *_sections(SETTINGS, "")]) + "\n"


def settings_named(word: str) -> list[str]:
    """The lines of the page about a setting: `judge.local`, or `providers` with all below it."""
    return [line for path, line in _lines(SETTINGS, "") if path == word or path.startswith(f"{word}.")]


def _sections(shape: Shape, prefix: str) -> Iterator[str]:
    for key in shape.keys.values():
        path = f"{prefix}{key.name}"
        heading = f"## `{path}`\n\n{key.text}"
        if key.shape is None:
            yield f"{heading}\n\n{_facts(key)}" if _facts(key) else heading
        else:
            yield f"{heading}\n\n" + "\n".join(line for _, line in _lines(key.shape, _below(key, path)))


def _lines(shape: Shape, prefix: str) -> Iterator[tuple[str, str]]:
    for key in shape.keys.values():
        path = f"{prefix}{key.name}"
        facts = _facts(key)
        yield path, f"- `{path}`: {key.text}{f' {facts}' if facts else ''}"
        if key.shape is not None:
            yield from _lines(key.shape, _below(key, path))


def _below(key: Key, path: str) -> str:
    return f"{path}.<name>." if key.type is Type.BLOCK_MAP else f"{path}."


def _facts(key: Key) -> str:
    parts = (
        [] if key.shape is not None or key.type is Type.ANY else [key.type.value.removeprefix("an ").removeprefix("a ")]
    )
    if key.choices:
        parts = [" or ".join(f"`{one}`" for one in key.choices)]
    if key.minimum is not None and key.maximum is not None:
        parts.append(f"from {key.minimum:g} to {key.maximum:g}")
    elif key.minimum is not None:
        parts.append(f"at least {key.minimum:g}")
    if key.default is not None:
        parts.append(f"default: {key.default}")
    return f"({'; '.join(parts)})" if parts else ""
