"""No text of a file or a model is rendered by an editor: all Markdown that features answer, from hostile files."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from loop_ls.engine.enhance.timeline import markdown as timeline
from loop_ls.features.complete.completion import complete, describe
from loop_ls.features.hover.hover import hover
from loop_ls.features.runs.transcript import transcript
from loop_ls.features.text.plain_text import plain_text
from loop_ls.formats.settings.model import read_settings
from loop_ls.index.disk.roots import Roots
from loop_ls.index.document import Document
from loop_ls.index.workspace import Workspace
from loop_ls.text.position import Position

EVIL = "evil ![p](http://127.0.0.1:9/x.png) [c](command:workbench.action.quit) <img src=evil> **evil** _evil_ a`b"
LINES = f"# evil title\n\n- evil `` item\n\n<b>evil</b>\n{EVIL}\n```\n# evil after a fence"
PARSER = MarkdownIt("commonmark").enable(["table", "strikethrough"])
#: Marks of our own may stand around a name, but around nothing that others wrote outside of a span of code.
AROUND = {"strong_open": "strong_close", "em_open": "em_close", "s_open": "s_close", "heading_open": "heading_close"}
NEVER = {"image", "link_open", "html_inline", "html_block", "blockquote_open", "hr", "table_open", "code_block"}


def quoted(text: str) -> str:
    return json.dumps(text)


WORKFLOW = f"""$schema: workflow/v2.0
name: {quoted("w " + EVIL)}
version: 1.0.0
description: {quoted(LINES)}
execution: {{provider: {quoted("p " + EVIL)}, model: {quoted("m " + EVIL)}, temperature: 0.5}}
env:
  {quoted("K " + EVIL)}: {quoted(LINES)}
  TONE: {quoted(EVIL)}
steps:
  - &evil
    name: draft
    run: {quoted(LINES + " {{input}} {{env.TONE}} {{evil_[x](y)}}")}
  - name: {quoted(EVIL)}
    run: {quoted(EVIL + " start with PASS {{draft}}")}
    needs: [draft, {quoted(EVIL)}]
  - name: calls
    template: {{name: callee, with: {{{quoted("a " + EVIL)}: {quoted(EVIL)}, text: x}}}}
  - <<: *evil
    name: again
loops:
  - name: refine
    workflow: callee
    with: {{text: "{{{{draft}}}}", input: {quoted(EVIL)}}}
    max_iterations: 3
    until: {quoted(EVIL)}
    accumulate: {quoted("all " + EVIL)}
  - name: {quoted("l " + EVIL)}
    workflow: {quoted("c " + EVIL)}
    max_iterations: 3
    until: ""
"""
CALLEE = f"""$schema: workflow/v2.0
name: callee
version: 1.0.0
description: {quoted(LINES)}
execution: {{provider: ollama, model: llama3.2}}
steps:
  - name: {quoted("r " + EVIL)}
    run: {quoted("Rate it from 1 to 10. **evil** Start with PASS [c](http://e.vil) {{text}} " + EVIL)}
"""
ROLE_LOOP = json.dumps(
    {
        "name": EVIL,
        "description": LINES,
        "parameters": [{"name": "goal", "description": LINES, "default": EVIL}],
        "stages": [{"role": "plan", "name": EVIL, "prompt": EVIL + " {{goal}} {{evil_[x](y)}}"}],
        "termination_condition": {"type": "ToolBound", "value": {"tool": EVIL, "threshold": 1}},
    },
    indent=1,
)
ASSISTANT = f"""name: {quoted(EVIL)}
description: {quoted(LINES)}
persona: {quoted(LINES)}
loopEnabled: true
loopCriteria: {{type: regex, value: {quoted(EVIL)}}}
maxIterations: 3
maxBudgetUsd: 1
"""
SETTINGS = f"""providers:
  {quoted("p " + EVIL)}: {{kind: openai, base_url: {quoted("http://e.vil/" + EVIL)}, models: [{quoted("m " + EVIL)}]}}
assist: {{provider: {quoted("p " + EVIL)}, model: {quoted("m " + EVIL)}}}
"""


def rendered_evil(markdown: str) -> list[str]:
    """What a renderer would make of texts of others, beside showing them."""
    found: list[str] = []
    for block in PARSER.parse(markdown):
        found += _rendered((block, *(block.children or ())), block)
    return found


def _rendered(tokens: tuple[Token, ...], block: Token) -> Iterator[str]:
    inside: list[str] = []
    for token in tokens:
        if token.type in NEVER:
            yield f"{token.type}: {token.content}"
        if token.type in AROUND:
            inside.append(AROUND[token.type])
        elif inside and token.type == inside[-1]:
            inside.pop()
        elif inside and token.type == "text" and "evil" in token.content:
            yield f"{inside[-1]}: {token.content}"


def heading_texts(markdown: str) -> list[str]:
    tokens = PARSER.parse(markdown)
    titles = [tokens[at + 1] for at, token in enumerate(tokens) if token.type == "heading_open"]
    return [part.content for title in titles for part in title.children or () if part.type == "text"]


def documents() -> Workspace:
    files = {
        "flow.yaml": WORKFLOW,
        "callee.yaml": CALLEE,
        "loops/role.json": ROLE_LOOP,
        ".assistants/one.assistant.yaml": ASSISTANT,
        ".loop-ls.yaml": SETTINGS,
    }
    opened = [Document.open(f"file:///w/{path}", text) for path, text in files.items()]
    return Workspace.of(Roots("/w"), opened, read_settings(SETTINGS)[0])


WORKSPACE = documents()


def places(document: Document) -> Iterator[Position]:
    for number, line in enumerate(document.text.lines):
        yield from (Position(number, column) for column in range(0, len(line) + 1, 1 if len(line) < 120 else 3))


@pytest.mark.parametrize("format_", ["workflow", "role_loop", "assistant", "settings"])
def test_hovers_show_texts_of_files_and_render_nothing_of_them(format_: str) -> None:
    told = set()
    for document in WORKSPACE.documents.values():
        if document.format == format_:
            hovers = (hover(WORKSPACE, document, at, WORKSPACE.settings) for at in places(document))
            told |= {one.text for one in hovers if one is not None}
    assert told
    assert [(text, evil) for text in told if (evil := rendered_evil(text) or heading_texts(text))] == []


def test_a_description_is_seen_letter_by_letter() -> None:
    document = WORKSPACE.documents["file:///w/flow.yaml"]
    row = next(n for n, line in enumerate(document.text.lines) if "workflow: callee" in line)
    found = hover(WORKSPACE, document, Position(row, 16))
    assert found is not None
    assert "".join(LINES.split()) in "".join(plain_text(found.text).split())


@pytest.mark.parametrize("format_", ["workflow", "role_loop", "assistant", "settings"])
def test_the_documentation_of_completions_renders_nothing_of_files(format_: str) -> None:
    told = set()
    for document in WORKSPACE.documents.values():
        if document.format != format_:
            continue
        for number, line in enumerate(document.text.lines):
            for column in {len(line), len(line) - 1, line.find(": ") + 2, len(line) - len(line.lstrip())}:
                for item in complete(WORKSPACE, document, Position(number, max(0, column))).items:
                    text = item.documentation or (describe(WORKSPACE, document, item.about) if item.about else None)
                    told |= {text} if text else set()
    assert told
    assert [(text, evil) for text in told if (evil := rendered_evil(text) or heading_texts(text))] == []


def test_a_transcript_renders_nothing_of_models_and_files() -> None:
    row: dict[str, Any] = {"name": EVIL, "status": "failed", "output": LINES, "error": {"message": LINES}}
    turn = {"loop": EVIL, "iteration_number": 1, "verdict": "no", "output": LINES, "answer": LINES, "question": LINES}
    state = {"name": EVIL, "runId": EVIL, "status": "failed", "because": LINES, "error": {"message": LINES}}
    text = transcript({"state": state, "stages": [row], "history": [{**turn, "stages": [row]}]})
    assert rendered_evil(text) == []
    assert not any("evil" in title for title in heading_texts(text))


def test_a_timeline_renders_nothing_of_models_and_files() -> None:
    one = {
        "step": EVIL,
        "kind": EVIL,
        "message": LINES,
        "op": EVIL,
        "target": EVIL,
        "reason": LINES,
        "reasonCode": EVIL,
    }
    entry = {"round": 1, "status": "failed", "label": "ok", "failed": [one], "proposed": [one], "rejected": [one]}
    entry |= {"applied": [one], "rationale": LINES, "diff": LINES}
    told = {"status": {"state": "gave_up", "because": LINES}, "rounds": [entry, {**entry, "planned": LINES}]}
    text = timeline(told, EVIL)
    assert rendered_evil(text) == []
    assert not any("evil" in title for title in heading_texts(text))
