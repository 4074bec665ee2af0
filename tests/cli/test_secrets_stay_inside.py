"""Values of declared variables, by file and command: a model gets them, and nothing that is written holds them.

The model is a real service that says back what it was asked, in pieces that cut the value in two.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Place

VALUE = 'Tor"n-äpple/9934'
KEY = "no-shape-at-all-771"
#: How a value may look inside of what is written.
LOOKS = (VALUE, json.dumps(VALUE)[1:-1], json.dumps(VALUE, ensure_ascii=False)[1:-1], KEY)
WORKFLOW = """\
$schema: "workflow/v2.0"
name: leak
version: 1.0.0
env: {PASS: "${DEPLOY_PASS}", WHO: "${USER}", URL: "https://me:${DEPLOY_PASS}@host/"}
execution: {provider: echo, model: m}
steps:
  - {name: first, run: "Hello {{env.PASS}}, I am {{env.WHO}}"}
  - {name: again, needs: [first], run: "Say {{first}} and {{env.URL}} once more"}
"""


@dataclass
class Echo:
    """A service of the OpenAI dialect. With `status` it refuses, and quotes what it was asked."""

    url: str = ""
    heard: list[str] = field(default_factory=list)
    status: int = 200


@pytest.fixture
def echo() -> Iterator[Echo]:
    state = Echo()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            said = f"you said: {body['messages'][-1]['content']} with {self.headers['authorization']}"
            state.heard.append(said)
            stream = "text/event-stream" if state.status == 200 else "application/json"
            self.send_response(state.status)
            self.send_header("content-type", stream)
            self.end_headers()
            self.wfile.write(b"".join(map(_event, _pieces(said))) if state.status == 200 else _error(said))

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    state.url = f"http://127.0.0.1:{server.server_port}/v1"
    yield state
    server.shutdown()
    server.server_close()


def _pieces(text: str) -> list[Any]:
    cut = [text[at : at + 5] for at in range(0, len(text), 5)]
    last = {"choices": [{"delta": {}, "finish_reason": "stop"}], "usage": {"prompt_tokens": 5, "completion_tokens": 5}}
    return [*({"choices": [{"delta": {"content": piece}}]} for piece in cut), last]


def _event(piece: Any) -> bytes:
    return f"data: {json.dumps(piece)}\n\n".encode()


def _error(said: str) -> bytes:
    return json.dumps({"error": {"message": said, "code": "odd"}}).encode()


@pytest.fixture
def place(alone: Place, echo: Echo) -> Place:
    alone.write("leak.yaml", WORKFLOW)
    alone.write(".loop-ls.yaml", f"providers:\n  echo: {{kind: openai, baseUrl: '{echo.url}', apiKeyEnv: ECHO_AUTH}}\n")
    return alone


def ran(place: Place, *words: str) -> str:
    """All that the command prints."""
    done = place.call(*words, DEPLOY_PASS=VALUE, ECHO_AUTH=KEY, USER="somebody")
    return done.stdout + done.stderr


def written(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file() and not path.is_symlink()}


def require_clean(texts: dict[str, bytes]) -> None:
    found = [(name, look) for name, text in texts.items() for look in LOOKS if look.encode() in text]
    assert found == []


def test_a_value_that_a_model_says_back_is_in_nothing_that_is_written(place: Place, echo: Echo) -> None:
    told = {"run": ran(place, "run", "leak.yaml", "--input", "x", "--yes", "--json")}
    assert len(echo.heard) == 2, told
    assert VALUE in echo.heard[0]
    assert KEY in echo.heard[0]
    [run] = json.loads(ran(place, "runs", "list", "--json"))["runs"]
    assert run["status"] == "completed"
    for verb in (["show"], ["show", "--json"], ["events"], ["export"]):
        told[" ".join(verb)] = ran(place, "runs", verb[0], run["runId"], *verb[1:])
    assert "[secret]" in told["export"]
    assert "somebody" in told["export"], "what every program is told is no secret"
    require_clean({name: text.encode() for name, text in told.items()})
    ran(place, "engine", "stop")
    files = written(place.data)
    assert b"[secret]" in files["journal.db"]
    require_clean(files)


def test_an_error_that_quotes_what_was_asked_gives_nothing_away(place: Place, echo: Echo) -> None:
    echo.status = 400
    told = {"run": ran(place, "run", "leak.yaml", "--input", "x", "--yes")}
    assert echo.heard, told
    assert "[secret]" in told["run"]
    [run] = json.loads(ran(place, "runs", "list", "--json"))["runs"]
    assert run["status"] == "failed"
    told["export"] = ran(place, "runs", "export", run["runId"])
    ran(place, "engine", "stop")
    require_clean({name: text.encode() for name, text in told.items()} | written(place.data))
