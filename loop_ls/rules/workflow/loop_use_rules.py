"""Loops and the rest of the file: limits that are missing, items, outputs that nobody reads."""

from __future__ import annotations

import json
from collections.abc import Iterator

from loop_ls.index.element import Element
from loop_ls.rules.docs.phrases import shortened
from loop_ls.rules.engine.context import UNNECESSARY, Draft, Site, draft, value_span
from loop_ls.rules.engine.finding import Severity
from loop_ls.rules.engine.prefilter import LOOP
from loop_ls.rules.engine.registry import also, rule
from loop_ls.rules.engine.tracked_view import View
from loop_ls.rules.workflow.execution_rules import missing_or_empty
from loop_ls.rules.workflow.loop_rules import LOOPS, limits, mode_of


@also("WF403", on=LOOPS, local=True, missing=True)
def limit_missing(site: Site) -> Iterator[Draft]:
    field = site.block.get("max_iterations")
    if field is None or field.empty:
        message = f"{missing_or_empty(site, 'max_iterations')}: set an upper limit for this loop"
        yield site.found(site.label, message, fixes=limits(site))


@rule("WF415", "items-file-missing", Severity.WARNING, on=LOOPS)
def items_file_missing(site: Site, view: View) -> Iterator[Draft]:
    """`items: file://...` with a file that does not exist.

    A relative path starts at the folder of the workflow, then at the workspace folder. Paths with a
    placeholder and paths under `/outputs/` are known only when the loop runs.

    Bad::
        loops:
          - {name: each_line, workflow: draft, mode: iterate, items: "file://no_such_list.txt", max_iterations: 50}
        #- draft.yaml
        steps:
          - {name: improve, run: "Improve {{input}}"}
    Good::
        loops:
          - {name: each_line, workflow: draft, mode: iterate, items: "file://{{input}}", max_iterations: 50}
        #- draft.yaml
        steps:
          - {name: improve, run: "Improve {{input}}"}
    """
    field, text = site.own("items"), site.block.text("items") or ""
    if field is None or mode_of(site.block) != "iterate" or not text.startswith("file://"):
        return
    path = text.removeprefix("file://").strip()
    if path and "{{" not in path and not path.startswith("/outputs/") and not view.file_exists(path):
        yield site.found(value_span(field), f"File not found: `{shortened(path)}`")


@rule("WF416", "unread-history", Severity.HINT, on="element", missing=True, about=LOOP)
def unread_history(element: Element, view: View) -> Iterator[Draft]:
    """Unused `accumulate` variable.

    Bad::
        loops:
          - name: polish
            workflow: draft
            max_iterations: 3
            until: "The reply contains READY"
            accumulate: all_drafts
        steps:
          - {name: print, needs: [polish], run: "Print {{polish}}"}
        #- draft.yaml
        steps:
          - {name: improve, run: "Improve {{input}}, write READY below it"}
    Good::
        loops:
          - name: polish
            workflow: draft
            max_iterations: 3
            until: "The reply contains READY"
            accumulate: all_drafts
        steps:
          - {name: print, needs: [polish], run: "Compare the drafts in {{all_drafts}}"}
        #- draft.yaml
        steps:
          - {name: improve, run: "Improve {{input}}, write READY below it"}
    """
    word = element.accumulate
    field = element.loop.get("accumulate") if element.loop is not None else None
    if word is None or field is None or field.entry.merged or view.is_mentioned(word.text, element):
        return
    yield draft(element.piece, word.span, f"`{shortened(word.text)}` is never used", tags=UNNECESSARY)


@rule("WF417", "unused-loop", Severity.HINT, on="element", missing=True, about=LOOP)
def unused_loop(element: Element, view: View) -> Iterator[Draft]:
    """Top-level loop whose result is never used, and that is not the result of the workflow.

    Bad::
        loops:
          - {name: polish, workflow: draft, max_iterations: 3, until: "The reply contains READY"}
        steps:
          - {name: print, run: "Print {{input}}"}
        #- draft.yaml
        steps:
          - {name: improve, run: "Improve {{input}}, write READY below it"}
    Good::
        loops:
          - {name: polish, workflow: draft, max_iterations: 3, until: "The reply contains READY"}
        steps:
          - {name: print, needs: [polish], run: "Say that {{input}} is done"}
        #- draft.yaml
        steps:
          - {name: improve, run: "Improve {{input}}, write READY below it"}
    """
    if element.kind != "loop" or element.name_span is None or view.is_mentioned(element.name, element):
        return
    if element.accumulate is not None and view.is_mentioned(element.accumulate.text, element):
        return
    if view.gives_result(element) or view.loop_is_read(element) or _is_begun(element):
        return
    message = f"The result of loop `{shortened(element.name)}` is never used"
    yield draft(element.piece, element.name_span, message, tags=UNNECESSARY)


def _is_begun(element: Element) -> bool:
    """Whether a loop is still being written: it lacks what every loop of its mode has (WF402 to WF406)."""
    needed = ("workflow", "max_iterations", "items" if element.loop_mode == "iterate" else "until")
    return element.loop is not None and not all(element.loop.meant(key) for key in needed)


@rule("WF418", "parallel-result-lost", Severity.WARNING, on="element", profile="compat", about=LOOP)
def parallel_result_lost(element: Element, view: View) -> Iterator[Draft]:
    """Parallel iterate loop whose result is used later: mcp-cli leaves it undefined.

    Bad::
        loops:
          - name: each_line
            workflow: draft
            mode: iterate
            items: "{{input}}"
            max_iterations: 50
            parallel: true
            max_workers: 4
        steps:
          - {name: print, needs: [each_line], run: "Print {{each_line}}"}
        #- draft.yaml
        steps:
          - {name: improve, run: "Improve {{input}}"}
    Good::
        loops:
          - {name: each_line, workflow: draft, mode: iterate, items: "{{input}}", max_iterations: 50}
        steps:
          - {name: print, needs: [each_line], run: "Print {{each_line}}"}
        #- draft.yaml
        steps:
          - {name: improve, run: "Improve {{input}}"}
    """
    loop = element.loop
    field = loop.get("parallel") if loop is not None else None
    if loop is None or field is None or field.value is not True or mode_of(loop) != "iterate" or field.entry.merged:
        return
    names = [element.name] if element.kind == "loop" else []
    if element.accumulate is not None:
        names.append(element.accumulate.text)
    read = [name for name in names if view.is_used(name)]
    if read:
        yield draft(element.piece, field.entry.key.span, f"mcp-cli does not define `{read[0]}` in a parallel loop")


@rule("WF419", "items-are-lines", Severity.INFORMATION, on=LOOPS, local=True)
def items_are_lines(site: Site) -> Iterator[Draft]:
    """`items` that is plain text: each line of it is one item.

    Bad::
        loops:
          - {name: each_word, workflow: draft, mode: iterate, items: "red, green, blue", max_iterations: 5}
        #- draft.yaml
        steps:
          - {name: improve, run: "Improve {{input}}"}
    Good::
        loops:
          - {name: each_word, workflow: draft, mode: iterate, items: '["red", "green", "blue"]', max_iterations: 5}
        #- draft.yaml
        steps:
          - {name: improve, run: "Improve {{input}}"}
    """
    field, text = site.own("items"), site.block.text("items")
    if field is None or text is None or mode_of(site.block) != "iterate":
        return
    if "{{" in text or text.startswith("file://") or _is_json(text):
        return
    lines = sum(1 for line in text.splitlines() if line.strip())
    told = f"Plain text is read as one item per line ({lines} here); write a list as JSON"
    yield site.found(value_span(field), told)


def _is_json(text: str) -> bool:
    """A JSON array, or JSON in every line."""
    if _loads(text):
        return True
    lines = [line for line in text.splitlines() if line.strip()]
    return all(_loads(line) for line in lines)


def _loads(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


@rule("WF420", "policy-not-written", Severity.HINT, on=LOOPS, local=True, profile="pedantic")
def policy_not_written(site: Site) -> Iterator[Draft]:
    """Loop without `on_failure`.

    Documents and programs differ in the default: loop-ls halts, mcp-cli continues.

    Bad::
        execution:
          providers: [{provider: ollama, model: llama3.2}, {provider: openai, model: gpt-4o}]
        loops:
          - {name: polish, workflow: draft, max_iterations: 3, until: "The reply contains READY"}
        #- draft.yaml
        execution:
          providers: [{provider: ollama, model: llama3.2}, {provider: openai, model: gpt-4o}]
        steps:
          - {name: improve, run: "Improve {{input}}, write READY below it"}
    Good::
        execution:
          providers: [{provider: ollama, model: llama3.2}, {provider: openai, model: gpt-4o}]
        loops:
          - {name: polish, workflow: draft, max_iterations: 3, until: "The reply contains READY", on_failure: halt}
        #- draft.yaml
        execution:
          providers: [{provider: ollama, model: llama3.2}, {provider: openai, model: gpt-4o}]
        steps:
          - {name: improve, run: "Improve {{input}}, write READY below it"}
    """
    if not site.block.meant("on_failure"):
        yield site.found(site.label, "Missing `on_failure`; the default is `halt`")
