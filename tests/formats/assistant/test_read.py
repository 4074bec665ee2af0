"""Assistant files as values that run: defaults, tolerance, and why one cannot."""

from __future__ import annotations

import json
from typing import Any

import pytest

from loop_ls.formats.assistant.model import Assistant, Criteria, Retry
from loop_ls.formats.assistant.read import read_assistant, read_assistants


def one(text: str) -> Assistant:
    found = read_assistant(text)
    assert isinstance(found, Assistant), found
    return found


def refused(text: str, **more: Any) -> list[str]:
    found = read_assistants(text, **more)
    assert isinstance(found, list), found
    return [refusal.code for refusal in found]


def test_AB_001_without_loop_keys_there_are_defaults() -> None:
    found = one("name: Test fixer\npersona: |\n  You repair.\n")
    assert (found.id, found.persona) == ("test-fixer", "You repair.\n")
    assert (found.loop_enabled, found.criteria, found.max_iterations) == (False, None, 10)
    assert (found.provider, found.permission_mode, found.allowed_tools) == ("claude-code", "default", ())


def test_every_key_is_read() -> None:
    found = one(
        """
id: fixer
name: Fixer
persona: You repair.
description: d
purpose: coding
model: sonnet
provider: openai
permissionMode: full
allowedTools: [Read, Bash]
skills: [pytest]
servers: [tickets]
memory: memory/fixer.md
memoryEnabled: true
maxBudgetUsd: 0.5
loopEnabled: true
loopCriteria: {type: test_pass, value: npm test, argv: [npm, test], timeoutSeconds: 5, cwd: app, includeOutput: true}
maxIterations: 3
approvalTimeoutSeconds: 60
maxTotalBudgetUsd: 2
maxDurationSeconds: 90
stallAfter: 4
retry: {attempts: 2, backoffSeconds: 1.5}
"""
    )
    assert found == Assistant(
        *(
            "fixer",
            "Fixer",
            "You repair.",
            "d",
            "coding",
            "sonnet",
            "openai",
            "full",
            ("Read", "Bash"),
            True,
            0.5,
            True,
        ),
        Criteria("test_pass", "npm test", ("npm", "test"), 5.0, "app", True),
        *(3, 60.0, 2.0, 90.0, 4),
        Retry(2, 1.5),
        skills=("pytest",),
        servers=("tickets",),
        memory="memory/fixer.md",
    )


@pytest.mark.parametrize("path", ["memory.md", "memory/fixer.md", "a b/c.md", "a\\b.md"])
def test_a_memory_is_a_markdown_file_of_the_workspace(path: str) -> None:
    assert one(f"name: a\npersona: b\nmemory: '{path}'\n").memory == path


@pytest.mark.parametrize(
    "path",
    [
        *("/tmp/a.md", "../a.md", "a/../../b.md", "C:/a.md", "C:\\a.md", "\\\\host\\a.md", "file:///a.md", "a//b.md"),
        *(".github/a.md", "a/.b.md", "run.sh", "memory", "", " ", "fixer.assistant.yaml"),
    ],
)
def test_and_nothing_else(path: str) -> None:
    refused = read_assistants(f"name: a\npersona: b\nmemory: '{path}'\n")
    assert isinstance(refused, list) and [each.code for each in refused] == ["AL004"]


@pytest.mark.parametrize(
    ("criteria", "expected"),
    [
        ("{type: manual}", Criteria("manual", "")),
        ("{type: max_iterations}", Criteria("max_iterations", "")),
        ("{type: regex}", Criteria("max_iterations", "")),
        ("{type: regex, value: 42}", Criteria("max_iterations", "")),
        ("{value: x}", Criteria("max_iterations", "")),
        ("{type: whatever, value: x}", Criteria("whatever", "x")),
        ("{type: regex, value: '('}", Criteria("regex", "(")),
        ("{type: test_pass, argv: [sh]}", Criteria("test_pass", "", ("sh",))),
        ("null", None),
    ],
)
def test_AB_010_AB_012_a_criterion_that_cannot_be_judged_never_ends_the_loop(
    criteria: str, expected: Criteria | None
) -> None:
    assert one(f"name: a\npersona: b\nloopCriteria: {criteria}\n").criteria == expected


def test_several_in_one_file() -> None:
    text = "assistants:\n  - {name: A b, persona: p}\n  - {id: second, name: C, persona: p}\n"
    found = read_assistants(text)
    assert isinstance(found, tuple)
    assert [each.id for each in found] == ["a-b", "second"]
    chosen = read_assistant(text, "second")
    assert isinstance(chosen, Assistant)
    assert chosen.name == "C"
    assert read_assistant(text) == []
    assert read_assistant(text, "third") == []


def test_anchors_and_merges() -> None:
    text = "assistants:\n  - &a {name: A, persona: p, maxIterations: 4}\n  - {<<: *a, name: B}\n"
    found = read_assistants(text)
    assert isinstance(found, tuple)
    assert [(each.name, each.max_iterations) for each in found] == [("A", 4), ("B", 4)]


def test_json() -> None:
    text = json.dumps({"name": "A", "persona": "p", "loopCriteria": {"type": "regex", "value": "\\d"}})
    found = read_assistants(text, json=True)
    assert isinstance(found, tuple)
    assert found[0].criteria == Criteria("regex", "\\d")
    assert refused("name: a\npersona: b\n", json=True) == ["AL001"]


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("- a\n", ["AL001"]),
        ('name: "a\n', ["AL001"]),
        ("name: a\n", ["AL002"]),
        ("name: a\npersona: b\nloopEnabled: maybe\n", ["AL004"]),
        ("name: a\npersona: b\nmaxIterations: 0\n", ["AL021"]),
        ("name: a\npersona: b\nmaxIterations: 101\npurpose: x\n", ["AL021", "AL004"]),
    ],
)
def test_what_keeps_an_assistant_from_running(text: str, codes: list[str]) -> None:
    assert refused(text) == codes
