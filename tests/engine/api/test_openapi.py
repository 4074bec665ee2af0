"""The description of the interface is true: what it promises is what a real engine answers.

Schemathesis makes requests from the document, good ones and bad ones, with a token and without.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from loop_ls.client.engine_location import read_handover
from loop_ls.contract.operations import OPERATIONS
from loop_ls.engine.api.openapi import document
from loop_ls.engine.api.route_table import ROUTES

CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
#: `LOOP_LS_EXAMPLES=200` makes a longer run of it, with other requests each time.
EXAMPLES = int(os.environ.get("LOOP_LS_EXAMPLES", "8"))
#: Every request without a token gets the same answer, before anything of it is read.
REFUSED_EXAMPLES = 3

DOCUMENT = document(ROUTES)
#: A stream has no end; its answers are tried in test_stream.
ENDLESS = "streamEvents"
#: Would end the engine that is asked; tried in test_people.
ENDING = "stopEngine"
ASKED = [each.operation.operation_id for each in ROUTES if each.operation.operation_id != ENDLESS]

WORKFLOW = """\
$schema: "workflow/v2.0"
name: greet
version: 1.0.0
execution: {provider: scripted, model: m}
steps:
  - {name: hello, run: "Say hello to {{input}}"}
"""


@dataclass(frozen=True)
class Running:
    url: str
    token: str
    runs: tuple[str, ...]


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """The engine as it is shipped, in a process of its own, with two runs in its record."""
    root, data = tmp_path_factory.mktemp("root"), tmp_path_factory.mktemp("data")
    (root / "greet.yaml").write_text(WORKFLOW, "utf-8")
    argv = [sys.executable, "-m", "loop_ls", "engine", "start", "--foreground", "--root", str(root)]
    child = subprocess.Popen([*argv, "--data-dir", str(data)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        found, deadline = None, time.monotonic() + 60
        while found is None and time.monotonic() < deadline and child.poll() is None:
            time.sleep(0.02)
            found = read_handover(data)
        assert found is not None, "the engine did not start"
        body = {"root": str(root), "path": str(root / "greet.yaml"), "input": "Ada", "mock": True}
        headers = {"Authorization": f"Bearer {found.token}"}
        made = [
            httpx.post(
                f"{found.url}/api/v1/loops", json=body, headers=headers, trust_env=False, timeout=60, verify=False
            )
            for _ in "ab"
        ]
        assert [answer.status_code for answer in made] == [201, 201], made[0].text
        yield Running(found.url, found.token, tuple(answer.json()["runId"] for answer in made))
        assert child.poll() is None, "the engine lives on after all of it"
    finally:
        child.kill()
        child.wait()


def test_the_document_is_valid_openapi() -> None:
    assert DOCUMENT["openapi"] == "3.1.0"
    schemathesis.openapi.from_dict(json.loads(json.dumps(DOCUMENT))).validate()


def test_every_operation_has_a_name_of_its_own_and_says_who_may_call_it() -> None:
    names = [each.operation.operation_id for each in ROUTES]
    assert len(set(names)) == len(names)
    for each in ROUTES:
        operation = DOCUMENT["paths"][each.shown_path][each.operation.method.lower()]
        assert operation["operationId"] == each.operation.operation_id
        assert ("401" in operation["responses"]) == (each.operation.role is not None)
        assert operation["summary"].endswith(".")


def _drive(running: Running, name: str, headers: dict[str, str], mode: GenerationMode, times: int = 1) -> set[int]:
    """Many requests to one operation, each answer checked; the statuses that came. Good requests are
    about runs that exist."""
    schema = schemathesis.openapi.from_dict({**DOCUMENT, "servers": [{"url": running.url}]})
    operation, seen = schema.find_operation_by_id(name), set()
    count = iter(range(10_000))

    known = mode is GenerationMode.POSITIVE

    @given(case=operation.as_strategy(generation_mode=mode))
    @settings(
        max_examples=(EXAMPLES if headers else REFUSED_EXAMPLES) * times,
        deadline=None,
        database=None,
        derandomize="LOOP_LS_EXAMPLES" not in os.environ,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    def ask(case: Any) -> None:
        if known and "id" in (case.path_parameters or {}):
            case.path_parameters["id"] = running.runs[next(count) % len(running.runs)]
        response = case.call(base_url=running.url, headers=headers, timeout=60)
        seen.add(response.status_code)
        case.validate_response(response, checks=CHECKS)

    ask()
    return seen


@pytest.mark.parametrize("name", [name for name in ASKED if name != ENDING])
def test_with_a_token_every_answer_is_as_described(running: Running, name: str) -> None:
    headers = {"Authorization": f"Bearer {running.token}"}
    good = _drive(running, name, headers, GenerationMode.POSITIVE)
    assert good and 401 not in good
    route = next(each for each in ROUTES if each.operation.operation_id == name)
    if "{" in route.operation.path or route.operation.query or route.operation.request:
        tries = (_drive(running, name, headers, GenerationMode.NEGATIVE, times) - {401} for times in (1, 10))
        assert any(tries), "bad requests spoil the token too: in a few tries by chance all of them, in many not"


@pytest.mark.parametrize("name", [each.operation.operation_id for each in ROUTES])
def test_without_a_token_nothing_is_said(running: Running, name: str) -> None:
    operation = next(each for each in ROUTES if each.operation.operation_id == name).operation
    by_code = OPERATIONS["page_sign_in"]  # its request holds what lets it in, and none of these does
    wanted = 401 if operation.role is not None else 403 if operation == by_code else 200
    assert _drive(running, name, {}, GenerationMode.POSITIVE) == {wanted}


def test_the_document_is_served_as_it_is_written(running: Running) -> None:
    served = httpx.get(f"{running.url}/openapi.json", trust_env=False, timeout=60, verify=False).json()
    assert served == json.loads(json.dumps({**DOCUMENT, "servers": [{"url": running.url}]}))


def test_methods_that_a_path_does_not_have(running: Running) -> None:
    headers = {"Authorization": f"Bearer {running.token}"}
    for path, methods in DOCUMENT["paths"].items():
        place = path.replace("{id}", running.runs[0]).replace("{iteration}", "x")
        answer = httpx.request("PUT", running.url + place, headers=headers, trust_env=False, verify=False)
        assert answer.status_code == 405
        allowed = {word.strip().lower() for word in answer.headers["allow"].split(",")} - {"head"}
        assert allowed <= set(methods)
