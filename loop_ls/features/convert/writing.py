"""The gist of a loop as files of a format."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from typing import Any

from loop_ls.features.convert.gist import Converted, Gist, NoConversion, Prompt, Ref, with_context
from loop_ls.features.convert.names import named, snake
from loop_ls.features.convert.yaml_text import block, quoted
from loop_ls.formats.assistant.keys import CAP_ONLY, MOST_ITERATIONS
from loop_ls.formats.workflow.placeholder_syntax import PLACEHOLDER, RESERVED
from loop_ls.text.json_value import JsonObject

#: What an assistant writes when it holds its work for done; letters that no prompt has by chance.
DONE = "LOOP-DONE"

#: What the files of a workflow loop call the goal and the outcome of the round before.
_OWN = ("goal", "previous")

Say = Callable[[Ref], str]


def to_workflow(gist: Gist, provider: str = "anthropic", model: str = "claude-sonnet-4-6") -> Converted:
    """Two files: the loop, and what one round does. Raises `NoConversion`."""
    if gist.person or gist.seconds is not None:
        ends = "when a person ends it" if gist.person else "by time"
        raise NoConversion(f"this loop ends {ends}, which workflows do not support")
    name = snake(gist.name)
    given = {one.name: own for one, own in zip(gist.parameters, _parameters(gist, (*RESERVED, *_OWN)), strict=True)}
    names = _parts(gist, (*RESERVED, *_OWN, *given.values()))
    lost = _Lost(gist)
    lost.renamed(given)
    arguments = {"goal": "{{input}}", "previous": "{{loop.last.output}}"}
    if gist.until is None:
        arguments.pop("previous")
        lost.add("the outcome of the previous round (a loop that only counts does not pass it on)")
    for one in gist.parameters:
        arguments[given[one.name]] = f"{{{{{given[one.name]}}}}}" if one.default is None else one.default

    def say(place: int, ref: Ref) -> str:
        match ref.kind:
            case "goal":
                return "{{goal}}"
            case "before":
                return "{{previous}}" if gist.until is not None else "(nothing)"
            case "part":
                return f"{{{{{_named_part(gist, names, ref.name, place)}}}}}"
            case _:
                return f"{{{{{given[ref.name]}}}}}"

    def asked(ref: Ref) -> str:
        if ref.kind == "parameter":
            return f"{{{{{given[ref.name]}}}}}"
        return f"({'the input' if ref.kind == 'goal' else 'the output'})"

    head = _head(name, gist.description, gist.provider or provider, gist.model or model)
    lines = [*head, "", "loops:", f"  - name: {name}_rounds", f"    workflow: {name}_round", "    with:"]
    lines += [f"      {quoted(key)}: {quoted(value)}" for key, value in arguments.items()]
    if gist.until is None:
        lines += ["    mode: iterate", f"    items: {quoted(json.dumps(list(range(1, gist.limit + 1))))}"]
    lines.append(f"    max_iterations: {gist.limit}")
    if gist.until is not None:
        lines.append(f"    until: {quoted(lost.filled(gist.until, asked))}")
    round_ = [*_head(f"{name}_round", f"One round of {name}.", gist.provider or provider, gist.model or model), ""]
    round_.append("steps:")
    for place, part in enumerate(gist.parts):
        needs = [f"    needs: [{quoted(names[place - 1])}]"] if place else []
        text = lost.filled(with_context(part, gist.parts[:place]), partial(say, place))
        round_ += [f"  - name: {quoted(names[place])}", *needs, *block("    run", text, 6)]
    files = {f"{name}.yaml": "\n".join([*lines, ""]), f"{name}_round.yaml": "\n".join([*round_, ""])}
    return Converted(files, lost.sentences)


def to_role_loop(gist: Gist) -> Converted:
    name = snake(gist.name)
    given = {one.name: own for one, own in zip(gist.parameters, _parameters(gist, ()), strict=True)}
    lost = _Lost(gist)
    lost.renamed(given)

    def say(ref: Ref) -> str:
        match ref.kind:
            case "goal":
                return "(the goal)"
            case "before":
                return "(the outcome of the iteration before)"
            case "part":
                return f"(the result of {ref.name})"
            case _:
                return f"{{{{{given[ref.name]}}}}}"

    end: dict[str, Any] = {"type": "iteration_bound", "value": gist.limit}
    if gist.until is not None:
        prompt = lost.filled(gist.until, lambda ref: "(the output)" if ref.kind == "before" else say(ref))
        end = {"type": "goal_bound", "value": {"goal_prompt": prompt, "max_iterations": gist.limit}}
    definition: JsonObject = {"name": name, "description": gist.description}
    if gist.parameters:
        definition["parameters"] = [
            {"name": given[one.name], "description": one.description or f"Value of {one.name}."}
            | ({"required": True} if one.default is None else {"required": False, "default": one.default})
            for one in gist.parameters
        ]
    definition["roles"] = [
        {"role": part.role or "assistant", "name": part.name, "prompt": lost.filled(part.prompt, say).strip()}
        for part in gist.parts
    ]
    definition["termination_condition"] = end
    if gist.model:
        lost.add(f"provider and model ({gist.provider}, {gist.model}); set them for roles in the settings")
    text = json.dumps(definition, ensure_ascii=False, indent=2) + "\n"
    return Converted({f"loops/{name}.json": text}, lost.sentences)


def to_assistant(gist: Gist) -> Converted:
    name = snake(gist.name)
    defaults = {one.name: one.default for one in gist.parameters}
    lost = _Lost(gist, literal=True)

    def say(ref: Ref) -> str:
        match ref.kind:
            case "goal":
                return "(your task)"
            case "before":
                return "(the result of your last round)"
            case "part":
                return f"(the result of {ref.name})"
            case _:
                return defaults.get(ref.name) or f"({ref.name}, from your task)"

    until = None
    if gist.until is not None:
        until = lost.filled(gist.until, lambda ref: "(your answer)" if ref.kind == "before" else say(ref))
    persona = _persona([(part.name, lost.filled(part.prompt, say).strip()) for part in gist.parts], until)
    lines = [f"id: {quoted(name)}", f"name: {quoted(name.replace('_', ' ').capitalize()[:100])}"]
    lines += block("persona", persona, 2)
    lines += [f"description: {quoted(gist.description)}", "loopEnabled: true", "maxTotalBudgetUsd: 5"]
    if until is not None:
        lines += ["loopCriteria:", "  type: regex", f"  value: '(^|\\n){DONE}\\s*(\\n|$)'"]
        lost.add(f"the judge (the assistant decides by writing {DONE})")
    else:
        lines += ["loopCriteria:", f"  type: {CAP_ONLY}"]
    if gist.seconds is not None:
        lines.append(f"maxDurationSeconds: {gist.seconds}")
    lines.append(f"maxIterations: {min(gist.limit, MOST_ITERATIONS)}")
    if gist.limit > MOST_ITERATIONS:
        lost.add(f"the limit of {gist.limit} iterations (an assistant has at most {MOST_ITERATIONS})")
    if len(gist.parts) > 1:
        lost.add("separate parts (one assistant does the work of all in each round)")
    for one in gist.parameters:
        lost.add(f"the parameter `{one.name}` (add it to the task)" if one.default is None else "")
    if gist.model:
        lost.add(f"provider and model ({gist.provider}, {gist.model})")
    return Converted({f"{name}.assistant.yaml": "\n".join([*lines, ""])}, lost.sentences)


class _Lost:
    """Fills prompts, and collects what gets lost. `literal`: double braces mean nothing in the new format."""

    def __init__(self, gist: Gist, literal: bool = False) -> None:
        self._found, self._literal = dict.fromkeys(gist.lost), literal

    @property
    def sentences(self) -> tuple[str, ...]:
        return tuple(self._found)

    def add(self, sentence: str) -> None:
        if sentence:
            self._found[sentence] = None

    def renamed(self, names: dict[str, str]) -> None:
        for old, new in names.items():
            if old != new:
                self.add(f"the name of the parameter `{old}` (renamed to `{new}`)")

    def filled(self, pieces: Prompt, say: Say) -> str:
        return "".join(self._plain(piece) if isinstance(piece, str) else say(piece) for piece in pieces)

    def _plain(self, text: str) -> str:
        """A text in which nothing was filled in, so written that nothing is filled in now."""
        if self._literal or "{{" not in text:
            return text
        for found in PLACEHOLDER.finditer(text):
            self.add(f"the braces of `{found[0]}` (written as `({found[1]})` so that it is not filled in)")
        return PLACEHOLDER.sub(lambda found: f"({found[1]})", text)


def _parameters(gist: Gist, taken: tuple[str, ...]) -> list[str]:
    return named((one.name for one in gist.parameters), taken, "parameter")


def _parts(gist: Gist, taken: tuple[str, ...]) -> list[str]:
    return named((part.name for part in gist.parts), taken, "part")


def _named_part(gist: Gist, names: list[str], name: str, before: int) -> str:
    """The step of a part: of several with one name the last that stands in front of `before`."""
    places = [place for place, part in enumerate(gist.parts) if part.name == name]
    return names[max((place for place in places if place < before), default=places[0])]


def _persona(parts: list[tuple[str, str]], until: str | None) -> str:
    text = parts[0][1]
    if len(parts) > 1:
        text = "In each round do these, one after the other."
        for number, (name, prompt) in enumerate(parts, 1):
            text += f"\n\n{number}. {name}: {prompt}"
    if until is None:
        return text
    return f"{text}\n\nThe work is done when this holds: {until}\nOnly then write {DONE} on a line of its own."


def _head(name: str, description: str, provider: str, model: str) -> list[str]:
    return [
        '$schema: "workflow/v2.0"',
        f"name: {quoted(name)}",
        "version: 1.0.0",
        f"description: {quoted(description)}",
        "",
        "execution:",
        f"  provider: {quoted(provider)}",
        f"  model: {quoted(model)}",
    ]
