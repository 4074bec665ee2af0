"""Files of all four formats to type in: every example of a rule's page, what `new` writes, the demo, own odd ones."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import loop_ls
from loop_ls.index.disk.roots import Roots
from loop_ls.index.document import Document
from loop_ls.index.workspace import Workspace
from loop_ls.rules.engine.registry import all_rules
from loop_ls.testing.fixture import read_fixture

ROOT = "/w"
PACKAGE = Path(loop_ls.__file__).parent

#: Where a file of `loop-ls new` would lie, so that its format is recognised.
_PLACES = {"role-loop.json": "loops/new.json", "settings.yaml": ".loop-ls.yaml", "assistant.yaml": "a.assistant.yaml"}

_BUSY = """\
$schema: workflow/v2.0
name: busy
version: 1.0.0
description: "Everything at once: é 😀 {{input}}"
execution: &model {provider: ollama, model: llama3.2}
env:
  TONE: friendly # a remark
  'odd key': "${HOME}"
steps:
  - name: facts
    rag: {server: docs, query: "{{input}} {{topic}}", top_k: 3}
  - name: vote
    needs: [facts]
    consensus:
      prompt: >-
        Is {{facts.results}} right,
        in a {{ env.TONE }} tone?
      executions:
        - {provider: ollama, model: a}
        - {provider: ollama, model: b}
      require: majority
  - name: draft
    if: "{{vote}} != ''"
    loop:
      workflow: polish
      with: {text: "{{vote}}", before: "{{loop.last.output}}"}
      max_iterations: 3
      until: The text names {{loop.output}}
      accumulate: drafts
  - name: vectors
    embeddings: {input: ["{{draft}}", '{{drafts}}'], provider: openai, model: e}
  - name: last
    needs: [draft, vectors]
    template:
      name: polish
      with:
        text: |
          {{draft}}

            and {{drafts}}
        before: ""
loops:
  - name: each
    workflow: polish
    mode: iterate
    items: "file://items.json"
    with: {text: "{{loop.current}}", before: "{{last}}"}
    max_iterations: 5
"""
_POLISH = """\
$schema: workflow/v2.0
name: polish
version: 1.0.0
description: Improves a text
execution:
  provider: ollama
  model: llama3.2
steps:
  - name: improve
    run: "Improve {{text}}, not {{before}}. Say DONE when nothing is left."
    temperature: 0.2
"""


@dataclass(frozen=True)
class Sample:
    """A small workspace; `main` is the file that is typed in."""

    name: str
    files: dict[str, str]
    main: str

    def workspace(self) -> tuple[Workspace, Document]:
        documents = {path: Document.open(f"file://{ROOT}/{path}", text) for path, text in self.files.items()}
        return Workspace.of(Roots(ROOT), documents.values()), documents[self.main]


@cache
def samples() -> tuple[Sample, ...]:
    found = [Sample("busy", {"busy.yaml": _BUSY, "polish.yaml": _POLISH}, "busy.yaml")]
    found.append(Sample("busy, windows", {"b.yaml": _BUSY.replace("\n", "\r\n"), "polish.yaml": _POLISH}, "b.yaml"))
    for file in sorted((PACKAGE / "cli" / "new_files").iterdir()):
        if file.is_file():
            path = _PLACES.get(file.name, file.name)
            found.append(Sample(f"new {file.name}", {path: file.read_text("utf-8")}, path))
    for folder in sorted((PACKAGE / "cli" / "demo_files").iterdir()):
        texts = {f.name: f.read_text("utf-8") for f in sorted(folder.glob("*.yaml"))}
        found += [Sample(f"demo {name}", texts, name) for name in texts]
    for rule in all_rules().values():
        for kind, page in (("bad", rule.page.bad), ("good", rule.page.good)):
            fixture = read_fixture(page)
            found.append(Sample(f"{rule.code} {kind}", dict(fixture.texts), fixture.main.path))
    found += _of_folder(os.environ.get("LOOP_LS_FILES", ""))
    return tuple(found)


def _of_folder(folder: str) -> Iterator[Sample]:
    """Files from elsewhere, each with those beside it."""
    for file in sorted(Path(folder).rglob("*")) if folder else ():
        if file.suffix in (".yaml", ".yml", ".json"):
            beside = [one for one in sorted(file.parent.iterdir()) if one.suffix in (".yaml", ".yml") or one == file]
            lead = "loops/" if file.parent.name == "loops" else ""
            texts = {lead + one.name: one.read_text("utf-8", "replace") for one in beside[:30]}
            yield Sample(str(file), {lead + file.name: file.read_text("utf-8", "replace"), **texts}, lead + file.name)


@cache
def by_format() -> dict[str, tuple[Sample, ...]]:
    found: dict[str, list[Sample]] = {}
    for sample in samples():
        found.setdefault(str(sample.workspace()[1].format), []).append(sample)
    return {name: tuple(listed) for name, listed in found.items()}
