"""What a key or a loop variable means, looked up by its name alone: for people who have no file open.

The words are those of hover, completion and findings: the tables of keys, of advice and of loop variables.
"""

from __future__ import annotations

from collections.abc import Iterator

from loop_ls.features.docs.assistant import CRITERIA
from loop_ls.features.docs.key import key_text
from loop_ls.features.docs.role_loop import ENDS
from loop_ls.features.text.humanize import listed
from loop_ls.formats.assistant.keys import CRITERIA as LOOP_CRITERIA
from loop_ls.formats.common.key_table import Key, Shape
from loop_ls.formats.role_loop.keys import TERMINATION
from loop_ls.formats.schema.published import FORMATS, shapes_of
from loop_ls.formats.settings.keys import SETTINGS
from loop_ls.index.loop_variables import ALIASES, ITERATE, REFINE, LoopVariable, Where
from loop_ls.text.markdown import code, in_braces

#: What loops of workflows are called in the tables: a key that they have is explained first.
_ABOUT_LOOPS = ("a loop", "a loop inside a step")
#: What single values mean, where there is more to say than what their key does.
_SENTENCES = {TERMINATION.name: ENDS, LOOP_CRITERIA.name: CRITERIA}
_PLACES: dict[Where, str] = {
    "with": "in `with` of the loop",
    "items": "in `items`",
    "until": "in `until`",
    "callee": "in the called workflow",
    "after": "in steps after the loop",
}


def explained(name: str) -> list[str]:
    """One Markdown text for each meaning of the name. A key of other dialects gets the advice for it; a name that is
    neither a key, a loop variable nor a value gets nothing. The settings' own top keys are not here: their page is
    `settings_named`."""
    plain = name.strip().removeprefix("{{").removesuffix("}}").strip()
    return [*_variables(plain), *_keys(plain), *_values(plain)] or list(_advice(plain))


def known_names() -> frozenset[str]:
    """Everything that `explained` knows."""
    keys = {name for shape in _shapes() for name in shape.keys}
    values = {choice for shape in _shapes() for key in shape.keys.values() for choice in key.choices}
    return frozenset(keys | values | {variable.name for variable in (*REFINE, *ITERATE)} | ALIASES.keys())


def _shapes() -> tuple[Shape, ...]:
    found = {shape.name: shape for name in FORMATS for shape in shapes_of(name) if shape is not SETTINGS}
    return tuple(found.values())


def _keys(name: str) -> Iterator[str]:
    """Shapes that share a key (a loop, and a loop of a step) share its text."""
    by_key: dict[Key, list[Shape]] = {}
    for shape in _shapes():
        if (key := shape.keys.get(name)) is not None:
            by_key.setdefault(key, []).append(shape)
    for key, shapes in sorted(by_key.items(), key=lambda found: found[1][0].title not in _ABOUT_LOOPS):
        head, _, rest = key_text(key, shapes[0]).partition("\n\n")
        others = dict.fromkeys(shape.title for shape in shapes if shape.title != shapes[0].title)
        yield f"{', '.join((head, *others))}\n\n{rest}"


def _values(name: str) -> Iterator[str]:
    by_text: dict[str, list[str]] = {}
    for shape in _shapes():
        for key in shape.keys.values():
            if name in key.choices:
                text = _SENTENCES.get(shape.name, {}).get(name, key.text)
                by_text.setdefault(text, []).append(f"{code(key.name)} in {shape.title}")
    for text, places in by_text.items():
        yield f"**{code(name)}** — value of {listed([*dict.fromkeys(places)])}\n\n{text}"


def _advice(name: str) -> Iterator[str]:
    by_text: dict[str, list[str]] = {}
    for shape in _shapes():
        if (advice := shape.wrong_keys.get(name)) is not None:
            by_text.setdefault(advice.text, []).append(shape.title)
    for text, titles in by_text.items():
        yield f"**{code(name)}** is not a key of {listed([*dict.fromkeys(titles)], 'or')}: {text}."


def _variables(name: str) -> Iterator[str]:
    usual = ALIASES.get(name)
    if usual is not None:
        said = f"Alias of {in_braces(usual)}, the usual name."
        yield f"**{in_braces(name)}** — loop variable\n\n{said}"
    for variable in (*REFINE, *ITERATE):
        if variable.name == name or variable.name == usual:
            yield _variable(variable)


def _variable(variable: LoopVariable) -> str:
    head = f"**{in_braces(variable.name)}** — variable of loops with `mode: {variable.mode}`"
    meanings = "\n".join(f"- {_PLACES[where]}: {meaning}" for where, meaning in variable.meanings.items())
    if variable.first is None:
        return f"{head}\n\n{meanings}"
    first = code(variable.first) if variable.first else "empty"
    return f"{head}\n\n{meanings}\n\nIn the first iteration: {first}."
