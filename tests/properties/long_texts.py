"""Long files of all four formats, and edits of them as editors send them: the client's side of a session.

The text here is one string, cut into lines by a rule of its own, so that nothing of the product decides
what an edit means.
"""

from __future__ import annotations

import json
import random
import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]

_BREAK = re.compile("\r\n|\r|\n")
_WORDS = ("draft", "review", "é", "😀 smile", "topic", "{{input}}", "{{draft3}}", "{{draft7}}", "check", "plain")

ENCODINGS = ("utf-16", "utf-8", "utf-32")
EOLS = ("\n", "\r\n", "\r")


def _sentence(rng: random.Random) -> str:
    return " ".join(rng.choice(_WORDS) for _ in range(rng.randint(2, 7)))


def _workflow(rng: random.Random, most: int) -> Iterator[str]:
    yield from ("$schema: workflow/v2.0", "name: long", "version: 1.0.0", "description: Long", "")
    yield from ("execution:", "  provider: ollama", "  model: llama3.2", "env:", "  TONE: kind", "steps:")
    lines, number, section = 11, 0, "steps"
    while lines < most:
        part = list(_loop(number, rng) if section == "loops" else _step(number, rng))
        if rng.random() < 0.03:
            section = "loops" if section == "steps" else "steps"
            part = [f"{section}:"]
        yield from part
        lines, number = lines + len(part), number + 1


def _step(number: int, rng: random.Random) -> Iterator[str]:
    yield f"  - name: draft{number}"
    if number and rng.random() < 0.6:
        yield f"    needs: [draft{rng.randrange(number)}]"
    if rng.random() < 0.2:
        yield "    # remark 😀 é"
    if rng.random() < 0.1:
        yield f"    temperature: &warm{rng.randrange(3)} 0.{rng.randrange(9)}"
    elif rng.random() < 0.1:
        yield f"    temperature: *warm{rng.randrange(3)}"
    if rng.random() < 0.05:
        yield rng.choice((f"    <<: &base {{timeout: {number + 1}s}}", "    <<: *base"))
    if rng.random() < 0.05:
        yield rng.choice((f'    run: &said "{_sentence(rng)}"', "    run: *said"))
    elif rng.random() < 0.3:
        yield "    run: |"
        yield from (f"      {_sentence(rng)}" for _ in range(rng.choice((1, 2, 3, 8, 90))))
    else:
        yield f'    run: "{_sentence(rng)}"'
    if rng.random() < 0.1:
        yield ""


def _loop(number: int, rng: random.Random) -> Iterator[str]:
    yield from (f"  - name: draft{number}", "    workflow: callee", "    with:", f'      topic: "{_sentence(rng)}"')
    yield from ("    max_iterations: 3", f"    until: The reply says {rng.choice(_WORDS)} is DONE")


def _assistant(rng: random.Random, most: int) -> Iterator[str]:
    yield from ("id: long", "name: Long", "purpose: coding", "model: sonnet", "permissionMode: edit")
    yield from ("loopEnabled: true", "maxIterations: 4", "persona: |")
    yield from (f"  {_sentence(rng)}" for _ in range(most - 12))
    yield from ("loopCriteria:", "  type: regex", "  value: 'ALL GREEN'", "colour: odd")


def _role_loop(rng: random.Random, most: int) -> Iterator[str]:
    roles = [
        {"role": rng.choice(("plan", "coder", "reviewer", "odd")), "prompt": _sentence(rng)} for _ in range(most // 5)
    ]
    condition = {"type": "evaluation_bound", "value": {"criteria": _sentence(rng), "max_review_rounds": 3}}
    found = {"name": "long", "description": "é", "roles": roles, "termination_condition": condition}
    yield from json.dumps(found, indent=2, ensure_ascii=False).split("\n")


def _settings(rng: random.Random, most: int) -> Iterator[str]:
    yield from ("limits:", "  maxIterations: 20", "judge:", "  provider: anthropic", "roles:")
    for number in range((most - 8) // 3):
        yield from (f"  role{number}:", f"    prompt: {_sentence(rng)!r}", f"    odd: {number}")
    yield "rules: {WF702: off}"


#: The path of each format in a folder, and its lines.
FORMATS: dict[str, tuple[str, Callable[[random.Random, int], Iterator[str]]]] = {
    "workflow": ("flow.yaml", _workflow),
    "assistant": ("long.assistant.yaml", _assistant),
    "role_loop": ("loops/long.json", _role_loop),
    "settings": (".loop-ls.yaml", _settings),
}

CALLEE = """\
$schema: workflow/v2.0
name: callee
version: 1.0.0
description: The one that is called
steps:
  - name: write
    run: "Write about {{topic}} and say DONE"
"""


@dataclass
class Buffer:
    """A text as an editor holds it. Every edit gives the LSP changes that tell of it."""

    text: str
    encoding: str = "utf-16"
    past: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._cut()

    def _cut(self) -> None:
        self.starts = [0, *(found.end() for found in _BREAK.finditer(self.text))]

    def place(self, offset: int) -> Json:
        line = bisect_right(self.starts, offset) - 1
        before = self.text[self.starts[line] : offset]
        if self.encoding == "utf-16":
            units = len(before.encode("utf-16-le", "surrogatepass")) // 2
        else:
            units = len(before) if self.encoding == "utf-32" else len(before.encode("utf-8", "surrogatepass"))
        return {"line": line, "character": units}

    def outside(self, offset: int) -> int:
        """Between CR and LF there is no place."""
        return offset - 1 if self.text[offset - 1 : offset + 1] == "\r\n" else offset

    def replace(self, start: int, end: int, new: str) -> Json:
        start, end = self.outside(start), self.outside(end)
        change = {"range": {"start": self.place(start), "end": self.place(end)}, "text": new}
        self.text = self.text[:start] + new + self.text[end:]
        self._cut()
        return change

    def become(self, new: str, whole: bool) -> Json:
        """The change from this text to another, as one edit between what both have in common, or as a whole."""
        if whole:
            self.text = new
            self._cut()
            return {"text": new}
        old = self.text
        start, most = 0, min(len(old), len(new))
        while start < most and old[start] == new[start]:
            start += 1
        behind = 0
        while behind < most - start and old[-1 - behind] == new[-1 - behind]:
            behind += 1
        while start and (_splits(old, start) or _splits(new, start)):
            start -= 1
        while behind and (_splits(old, len(old) - behind) or _splits(new, len(new) - behind)):
            behind -= 1
        return self.replace(start, len(old) - behind, new[start : len(new) - behind])


def _splits(text: str, offset: int) -> bool:
    return text[offset - 1 : offset + 1] == "\r\n"


def long_text(name: str, rng: random.Random, most: int, eol: str) -> str:
    text = eol.join(FORMATS[name][1](rng, most)) + eol
    return text if rng.random() < 0.8 else text.removesuffix(eol)


_TYPED = (
    *("x", "é", "😀", " ", "  ", "\n", "\r\n", "\r", ":", "- ", '"', "'", "#", "[", "]", "{", "}", ",", "|", "\t"),
    *("{{", "}}", "{{draft5}}", "{{draft9.x}}", "\n  - name: draft1\n    run: x\n", "steps:\n", "loops:\n", "---\n"),
    *(
        "&a ",
        "*a",
        "&warm1 ",
        "*warm1",
        "*said",
        "<<: *a",
        "    needs: [draft2]\n",
        "\u2028",
        "\x85",
        "\n<<<<<<< HEAD\n",
        "\n=======\n",
        "\n>>>>>>> x\n",
        "",
        "",
        '"name": "x",\n',
        "null",
    ),
)


def some_edit(buffer: Buffer, rng: random.Random) -> list[Json]:
    """One message of changes; what was there before can be brought back by later ones."""
    buffer.past = [*buffer.past[-20:], buffer.text]
    eol = (_BREAK.search(buffer.text) or re.match("", "")).group() or "\n"  # type: ignore[union-attr]
    edit = rng.choices(_EDITS, _WEIGHTS)[0]
    return edit(buffer, rng, eol)


def _somewhere(buffer: Buffer, rng: random.Random) -> int:
    start = rng.choice(buffer.starts)
    return start if rng.random() < 0.2 else min(len(buffer.text), start + rng.randrange(40))


def _type(buffer: Buffer, rng: random.Random, eol: str) -> list[Json]:
    at = _somewhere(buffer, rng)
    return [buffer.replace(at, at, rng.choice(_TYPED).replace("\n", eol))]


def _several(buffer: Buffer, rng: random.Random, eol: str) -> list[Json]:
    """Changes of one message, each on the text that the one before it left."""
    return [change for _ in range(rng.randint(2, 4)) for change in _type(buffer, rng, eol)]


def _enter(buffer: Buffer, rng: random.Random, eol: str) -> list[Json]:
    at = rng.choice(buffer.starts)
    return [buffer.replace(at, at, rng.choice(("# new", "", "  # é")) + eol)]


def _delete(buffer: Buffer, rng: random.Random, eol: str) -> list[Json]:
    at = _somewhere(buffer, rng)
    return [buffer.replace(at, min(len(buffer.text), at + rng.choice((1, 1, 3, 30, 200))), "")]


def _delete_lines(buffer: Buffer, rng: random.Random, eol: str) -> list[Json]:
    first = rng.randrange(len(buffer.starts))
    last = min(first + rng.choice((1, 1, 2, 5, 40)), len(buffer.starts) - 1)
    return [buffer.replace(buffer.starts[first], buffer.starts[last], "")]


def _span_over_blocks(buffer: Buffer, rng: random.Random, eol: str) -> list[Json]:
    """One change from the first to the last of many lines that leaves their number as it was."""
    low, high = sorted(rng.sample(range(len(buffer.text) + 1), 2))
    old, new = rng.choice((("e", "E"), ("draft", "draff"), ("a", "ä"), (" ", " "), ("d", "😀")))
    low, high = buffer.outside(low), buffer.outside(high)
    return [buffer.replace(low, high, buffer.text[low:high].replace(old, new))]


def _replace_all(buffer: Buffer, rng: random.Random, eol: str) -> list[Json]:
    """Every occurrence on its own, from the last one, as editors with several cursors do."""
    old, new = rng.choice((("draft3", "other3"), ("plain", "plane"), ("😀", ":)"), ("é", "ee"), ("kind", "kind" + eol)))
    found = [one.start() for one in re.finditer(re.escape(old), buffer.text)][-60:]
    return [buffer.replace(at, at + len(old), new) for at in reversed(found)]


def _cursors(buffer: Buffer, rng: random.Random, eol: str) -> list[Json]:
    lines = sorted(rng.sample(range(len(buffer.starts)), min(rng.randint(2, 30), len(buffer.starts))), reverse=True)
    new = rng.choice(("x", "#", "  ", eol, "é"))
    return [buffer.replace(at, at, new) for at in [buffer.starts[line] for line in lines]]


def _line_ends(buffer: Buffer, rng: random.Random, eol: str) -> list[Json]:
    other = rng.choice(EOLS)
    if rng.random() < 0.5:
        return [buffer.become(_BREAK.sub(other, buffer.text), whole=rng.random() < 0.3)]
    low, high = sorted(rng.sample(buffer.starts, 2)) if len(buffer.starts) > 1 else (0, 0)
    return [buffer.replace(low, high, _BREAK.sub(other, buffer.text[low:high]))]


def _undo(buffer: Buffer, rng: random.Random, eol: str) -> list[Json]:
    return [buffer.become(rng.choice(buffer.past[-6:]), whole=rng.random() < 0.3)]


def _whole(buffer: Buffer, rng: random.Random, eol: str) -> list[Json]:
    """A formatter's or another program's text, sent as one."""
    text = buffer.text
    at = _somewhere(buffer, rng)
    new = rng.choice(
        (text, text[:at] + "# w" + eol + text[at:], text.replace("draft", "drift", 50), text[at:] + text[:at])
    )
    return [buffer.become(new, whole=True)]


def _paste(buffer: Buffer, rng: random.Random, eol: str) -> list[Json]:
    low = rng.randrange(len(buffer.starts))
    piece = buffer.text[buffer.starts[low] : buffer.starts[min(low + rng.choice((3, 30, 300)), len(buffer.starts) - 1)]]
    at = rng.choice(buffer.starts)
    return [buffer.replace(at, at, piece)]


def _swap(buffer: Buffer, rng: random.Random, eol: str) -> list[Json]:
    """Two stretches of lines change places in one edit."""
    a, b, c = sorted(rng.choice(buffer.starts) for _ in range(3))
    return [buffer.replace(a, c, buffer.text[b:c] + buffer.text[a:b])]


_EDITS = (
    *(_type, _several, _enter, _delete, _delete_lines, _span_over_blocks, _replace_all, _cursors),
    *(_line_ends, _undo, _whole, _paste, _swap),
)
_WEIGHTS = (20, 5, 8, 8, 5, 10, 4, 4, 3, 14, 3, 3, 3)
