"""The gist of a loop as files of a format."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from typing import Any

from loop_ls.features.convert.gist import Converted, Gist, Part, Ref, with_context

#: What an assistant writes when it holds its work for done; letters that no prompt has by chance.
DONE = "LOOP-DONE"

Say = Callable[[Ref], str]


def to_workflow(gist: Gist, provider: str = "anthropic", model: str = "claude-sonnet-4") -> Converted:
    """Two files: the loop, and what one round does."""
    name = snake(gist.name)
    names = {part.name: snake(part.name) for part in gist.parts}
    lost = list(gist.lost)
    head = _head(name, gist.description, gist.provider or provider, gist.model or model)
    arguments = {"goal": "{{input}}", "previous": "{{loop.last.output}}"}
    if gist.until is None:
        arguments.pop("previous")
        lost.append("the outcome of the round before: a loop that only counts does not hand it on")
    for one in gist.parameters:
        arguments[one.name] = f"{{{{{one.name}}}}}" if one.default is None else one.default
    lines = [*head, "", "loops:", f"  - name: {name}_rounds", f"    workflow: {name}_round", "    with:"]
    lines += [f"      {key}: {_quoted(value)}" for key, value in arguments.items()]
    if gist.until is None:
        lines += ["    mode: iterate", f"    items: {_quoted(json.dumps(list(range(1, gist.limit + 1))))}"]
    lines.append(f"    max_iterations: {gist.limit}")
    if gist.until is not None:
        lines.append(f"    until: {_quoted(_filled((gist.until,), str))}")

    def say(ref: Ref) -> str:
        match ref.kind:
            case "goal":
                return "{{goal}}"
            case "before":
                return "{{previous}}" if gist.until is not None else "(nothing)"
            case "part":
                return f"{{{{{names.get(ref.name, ref.name)}}}}}"
            case _:
                return f"{{{{{ref.name}}}}}"

    round_ = [*_head(f"{name}_round", f"One round of {name}.", gist.provider or provider, gist.model or model), ""]
    round_.append("steps:")
    for place, part in enumerate(gist.parts):
        before = gist.parts[place - 1].name if place else None
        round_ += [f"  - name: {names[part.name]}", *([f"    needs: [{names[before]}]"] if before else [])]
        round_ += _block("    run", _filled(with_context(part, gist.parts[:place]), say), 6)
    files = {f"{name}.yaml": "\n".join([*lines, ""]), f"{name}_round.yaml": "\n".join([*round_, ""])}
    return Converted(files, tuple(lost))


def to_role_loop(gist: Gist) -> Converted:
    name = snake(gist.name)
    end: dict[str, Any] = {"type": "iteration_bound", "value": gist.limit}
    if gist.until is not None:
        end = {"type": "goal_bound", "value": {"goal_prompt": gist.until, "max_iterations": gist.limit}}

    def say(ref: Ref) -> str:
        match ref.kind:
            case "goal":
                return "(the goal)"
            case "before":
                return "(the outcome of the iteration before)"
            case "part":
                return f"(what {ref.name} gave)"
            case _:
                return f"{{{{{snake(ref.name)}}}}}"

    definition: dict[str, Any] = {"name": name, "description": gist.description}
    if gist.parameters:
        definition["parameters"] = [
            {"name": snake(one.name), "description": one.description}
            | ({"required": True} if one.default is None else {"required": False, "default": one.default})
            for one in gist.parameters
        ]
    definition["roles"] = [
        {"role": part.role or "assistant", "name": part.name, "prompt": _filled(part.prompt, say).strip()}
        for part in gist.parts
    ]
    definition["termination_condition"] = end
    lost = list(gist.lost)
    if gist.model:
        lost.append(f"provider and model ({gist.provider}, {gist.model}): roles have theirs in the settings")
    text = json.dumps(definition, ensure_ascii=False, indent=2) + "\n"
    return Converted({f"loops/{name}.json": text}, tuple(lost))


def to_assistant(gist: Gist) -> Converted:
    name = snake(gist.name)
    defaults = {one.name: one.default for one in gist.parameters}

    def say(ref: Ref) -> str:
        match ref.kind:
            case "goal":
                return "(your task)"
            case "before":
                return "(what your last round gave)"
            case "part":
                return f"(what came of {ref.name})"
            case _:
                return defaults.get(ref.name) or f"({ref.name}, from your task)"

    lines = [f"id: {name}", f"name: {_quoted(name.replace('_', ' ').capitalize())}"]
    lines += _block("persona", _persona(gist.parts, gist.until, say), 2)
    lines += [f"description: {_quoted(gist.description)}", "loopEnabled: true", "maxTotalBudgetUsd: 5"]
    if gist.until is not None:
        lines += ["loopCriteria:", "  type: regex", f"  value: '(^|\\n){DONE}\\s*(\\n|$)'"]
    else:
        lines += ["loopCriteria:", "  type: max_iterations"]
    lines.append(f"maxIterations: {min(gist.limit, 100)}")
    lost = [*gist.lost]
    if gist.until is not None:
        lost.append(f"the judge: the assistant itself writes {DONE} when it holds the condition for met")
    if len(gist.parts) > 1:
        lost.append("separate parts: one assistant does the work of all in each round")
    if gist.model:
        lost.append(f"provider and model ({gist.provider}, {gist.model})")
    return Converted({f"{name}.assistant.yaml": "\n".join([*lines, ""])}, tuple(lost))


def _persona(parts: tuple[Part, ...], until: str | None, say: Say) -> str:
    if len(parts) == 1:
        text = _filled(parts[0].prompt, say).strip()
    else:
        text = "In each round do these, one after the other."
        for number, part in enumerate(parts, 1):
            text += f"\n\n{number}. {part.name}: {_filled(part.prompt, say).strip()}"
    if until is None:
        return text
    return f"{text}\n\nThe work is done when this holds: {until}\nOnly then write {DONE} on a line of its own."


def _head(name: str, description: str, provider: str, model: str) -> list[str]:
    return [
        '$schema: "workflow/v2.0"',
        f"name: {name}",
        "version: 1.0.0",
        f"description: {_quoted(description)}",
        "",
        "execution:",
        f"  provider: {_quoted(provider)}",
        f"  model: {_quoted(model)}",
    ]


def _filled(pieces: Iterable[str | Ref], say: Callable[[Ref], str]) -> str:
    return "".join(piece if isinstance(piece, str) else say(piece) for piece in pieces)


def _quoted(text: str) -> str:
    """Plain where nothing in it means anything to YAML, else in double quotes."""
    if re.fullmatch(r"[A-Za-z][A-Za-z0-9 _.,/-]*[A-Za-z0-9.]", text) and text.lower() not in _WORDS:
        return text
    written = json.dumps(text, ensure_ascii=False)
    return "".join(letter if letter.isprintable() else f"\\U{ord(letter):08x}" for letter in written)


_WORDS = frozenset(("true", "false", "yes", "no", "on", "off", "null"))


def _block(key: str, text: str, indent: int) -> list[str]:
    """A text as a block scalar where one can hold it unchanged."""
    lines = [line.rstrip() for line in text.strip("\n").split("\n")]
    odd = not lines or lines[0][:1] in (" ", "\t", "") or any(not line.isprintable() for line in lines)
    if odd or len(lines) == 1:
        return [f"{key}: {_quoted(chr(10).join(lines))}"]
    return [f"{key}: |", *(" " * indent + line if line else "" for line in lines)]


def snake(word: str) -> str:
    """A name that every format takes."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", word)
    return re.sub(r"[^a-z0-9]+", "_", spaced.lower()).strip("_").lstrip("0123456789_") or "loop"
