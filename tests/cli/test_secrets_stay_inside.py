"""Values of declared variables, by file and command: a model gets them, and nothing that is written holds them.

The model is a real service that says back what it was asked, in pieces that cut the value in two.
"""

from __future__ import annotations

import json
import sys
import threading
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from loop_ls.client.engine_location import read_handover
from loop_ls.testing.mcp_server import FILE
from tests.cli.conftest import CliProject
from tests.server.support.raw import RawClient

VALUE = 'Tor"n-äpple/9934'
KEY = "no-shape-at-all-771"
#: How a value may look inside of what is written.
LOOKS = (VALUE[:10], VALUE, json.dumps(VALUE)[1:-1], json.dumps(VALUE, ensure_ascii=False)[1:-1], KEY)
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


WITH_TOOL = """\
$schema: "workflow/v2.0"
name: tool
version: 1.0.0
execution: {provider: echo, model: m}
steps:
  - {name: only, servers: [own], run: "Look"}
"""
ASKED = {"index": 0, "id": "c1", "function": {"name": "env", "arguments": '{"name": "T"}'}}
TOOL_CALL = [{"choices": [{"delta": {"tool_calls": [ASKED]}, "finish_reason": "tool_calls"}]}]


@dataclass
class Echo:
    """A service of the OpenAI dialect. With `status` it refuses, and quotes what it was asked. The first tool
    that it is offered, it uses: one that tells a variable of its server."""

    url: str = ""
    heard: list[str] = field(default_factory=list)
    status: int = 200
    before: str = ""


@pytest.fixture
def echo() -> Iterator[Echo]:
    state = Echo()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            said = f"{state.before}you said: {body['messages'][-1]['content']} with {self.headers['authorization']}"
            said += f" at {self.path}"
            state.heard.append(said)
            tools = body.get("tools") and not any(each["role"] == "tool" for each in body["messages"])
            stream = "text/event-stream" if state.status == 200 else "application/json"
            self.send_response(state.status)
            self.send_header("content-type", stream)
            self.end_headers()
            pieces = TOOL_CALL if tools else _pieces(said)
            self.wfile.write(b"".join(map(_event, pieces)) if state.status == 200 else _error(said))

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
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
def project(alone: CliProject, echo: Echo) -> CliProject:
    alone.write("leak.yaml", WORKFLOW)
    alone.write(".loop-ls.yaml", f"providers:\n  echo: {{kind: openai, baseUrl: '{echo.url}', apiKeyEnv: ECHO_AUTH}}\n")
    return alone


def ran(project: CliProject, *words: str) -> str:
    """All that the command prints."""
    done = project.call(*words, DEPLOY_PASS=VALUE, ECHO_AUTH=KEY, USER="somebody")
    return done.stdout + done.stderr


def written(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file() and not path.is_symlink()}


def require_clean(texts: dict[str, bytes], looks: tuple[str, ...] = LOOKS) -> None:
    found = [(name, look) for name, text in texts.items() for look in looks if look.encode() in text]
    assert found == []


def test_a_value_that_a_model_says_back_is_in_nothing_that_is_written(project: CliProject, echo: Echo) -> None:
    told = {"run": ran(project, "run", "leak.yaml", "--input", "x", "--yes", "--json")}
    assert len(echo.heard) == 2, told
    assert VALUE in echo.heard[0]
    assert KEY in echo.heard[0]
    [run] = json.loads(ran(project, "runs", "list", "--json"))["runs"]
    assert run["status"] == "completed"
    for verb in (["show"], ["show", "--json"], ["events"], ["export"]):
        told[" ".join(verb)] = ran(project, "runs", verb[0], run["runId"], *verb[1:])
    assert "[secret]" in told["export"]
    assert "somebody" in told["export"], "what every program is told is no secret"
    require_clean({name: text.encode() for name, text in told.items()})
    ran(project, "engine", "stop")
    files = written(project.data)
    assert b"[secret]" in files["journal.db"]
    require_clean(files)


@pytest.mark.parametrize("before", [0, 274], ids=["whole", "cut in two"])
def test_an_error_that_quotes_what_was_asked_gives_nothing_away(project: CliProject, echo: Echo, before: int) -> None:
    echo.status, echo.before = 400, "x" * before
    told = {"run": ran(project, "run", "leak.yaml", "--input", "x", "--yes")}
    assert echo.heard, told
    assert "[secret]" in told["run"]
    [run] = json.loads(ran(project, "runs", "list", "--json"))["runs"]
    assert run["status"] == "failed"
    told["export"] = ran(project, "runs", "export", run["runId"])
    ran(project, "engine", "stop")
    require_clean({name: text.encode() for name, text in told.items()} | written(project.data))


#: As it may stand in a path and in the name of a host.
IN_ADDRESS = "hunter9934-swordfish"
ONE_STEP = WORKFLOW.partition("steps:")[0].partition("env:")[0] + (
    "execution: {provider: PROVIDER, model: m}\nsteps: [{name: only, run: Hello}]\n"
)
OF_SERVER = (
    'servers: {far: {url: "http://127.0.0.1:9/${HIDDEN}/mcp"}}\n'
    "providers: {echo: {kind: openai, baseUrl: URL, apiKeyEnv: ECHO_AUTH}}\n"
)
OWN = "providers: {echo: {kind: openai, apiKeyEnv: ECHO_AUTH, baseUrl: '%s'}}\n"
#: What the settings write -> the provider that is asked, variables of the environment, the status of the service.
ADDRESSES: dict[str, tuple[str, str, dict[str, str], int]] = {
    "a path where nobody listens": (OWN % "http://127.0.0.1:9/${HIDDEN}/v1", "echo", {}, 200),
    "a path that an error quotes": (OWN % "URL/${HIDDEN}/x", "echo", {}, 400),
    "a path that is not there": (OWN % "URL/${HIDDEN}/x", "echo", {}, 404),
    "a path that a server out of order quotes": (OWN % "URL/${HIDDEN}/x", "echo", {}, 500),
    "a path that leads elsewhere": (OWN % "URL/${HIDDEN}/x", "echo", {}, 307),
    "a path that an answer quotes": (OWN % "URL/${HIDDEN}/x", "echo", {}, 200),
    "a query": (OWN % "URL?key=${HIDDEN}", "echo", {}, 400),
    "a host that there is not": (OWN % "http://${HIDDEN}.invalid/v1", "echo", {}, 200),
    "a port that is none": (OWN % "http://127.0.0.1:${HIDDEN}/v1", "echo", {}, 200),
    "an address that is none": (OWN % "http://[${HIDDEN}/v1", "echo", {}, 200),
    "a whole address": (OWN % "${WHOLE}", "echo", {"WHOLE": f"http://127.0.0.1:9/{IN_ADDRESS}/v1"}, 200),
    "a password of the user's own": ("{}\n", "openai", {"OPENAI_BASE_URL": f"http://me:{IN_ADDRESS}@127.0.0.1:9"}, 200),
    "a user name that is a key": ("{}\n", "openai", {"OPENAI_BASE_URL": f"http://{IN_ADDRESS}@127.0.0.1:9/v1"}, 200),
    "a password that an error quotes": ("{}\n", "ollama", {"OLLAMA_HOST": f"http://me:{IN_ADDRESS}@HOST"}, 400),
    "a server of tools": (OF_SERVER, "echo", {}, 200),
}


@pytest.mark.parametrize("name", ADDRESSES)
def test_a_value_in_an_address_is_in_no_error_and_in_nothing_that_is_written(
    project: CliProject, echo: Echo, name: str
) -> None:
    settings, provider, environ, echo.status = ADDRESSES[name]
    here = echo.url.removesuffix("/v1")
    project.write(".loop-ls.yaml", settings.replace("URL", echo.url))
    step = "{name: only, run: Hello, servers: [far]}" if "servers" in settings else "{name: only, run: Hello}"
    project.write("leak.yaml", ONE_STEP.replace("PROVIDER", provider).replace("{name: only, run: Hello}", step))
    given = {"HIDDEN": IN_ADDRESS, "ECHO_AUTH": KEY, "OPENAI_API_KEY": KEY}
    given |= {key: value.replace("HOST", here.removeprefix("http://")) for key, value in environ.items()}

    def told(*words: str) -> str:
        done = project.call(*words, **given)
        return done.stdout + done.stderr

    texts = {"asked": told("run", "leak.yaml"), "run": told("run", "leak.yaml", "--yes", "--json")}
    runs = json.loads(told("runs", "list", "--json"))["runs"]
    for run in runs:
        for verb in ("show", "events", "export"):
            texts[verb] = told("runs", verb, run["runId"])
    texts["doctor"] = told("doctor")
    told("engine", "stop")
    clean = {title: text.encode() for title, text in texts.items()} | written(project.data)
    require_clean(clean, (IN_ADDRESS, IN_ADDRESS[:12], KEY))
    assert runs or '"ok": false' in texts["run"], texts["run"]
    if "URL" in settings and "servers" not in settings:
        assert IN_ADDRESS in echo.heard[0], "it was sent"
        assert "[secret]" in texts["export"] or echo.status == 307, "and said back"


def test_a_variable_of_a_server_that_its_tool_tells_is_in_nothing_that_is_written(
    project: CliProject, echo: Echo
) -> None:
    project.write("tool.yaml", WITH_TOOL)
    words = json.dumps([sys.executable, str(FILE), "only", "env"])
    settings = project.root / ".loop-ls.yaml"
    settings.write_text(
        settings.read_text() + f'servers:\n  own: {{command: {words}, env: {{T: "${{DEPLOY_PASS}}"}}}}\n'
    )
    told = {"run": ran(project, "run", "tool.yaml", "--yes")}
    assert len(echo.heard) == 2, told
    assert "[secret]" in echo.heard[1]
    [run] = json.loads(ran(project, "runs", "list", "--json"))["runs"]
    told["export"] = ran(project, "runs", "export", run["runId"])
    ran(project, "engine", "stop")
    require_clean({name: text.encode() for name, text in told.items()} | written(project.data))


#: Stands for the keyring of an operating system.
KEYRING = f"def get_password(service, name):\n    return {KEY!r} if name == 'ECHO_AUTH' else None\n"


@pytest.fixture
def collector() -> Iterator[tuple[str, list[bytes]]]:
    """An OpenTelemetry collector: its address, and the bodies that it was sent."""
    received: list[bytes] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            received.append(self.rfile.read(int(self.headers["content-length"])))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}", received
    server.shutdown()
    server.server_close()


def route(project: CliProject, path: str) -> Any:
    handover = read_handover(project.data)
    assert handover is not None
    request = urllib.request.Request(f"http://127.0.0.1:{handover.port}{path}")
    request.add_header("Authorization", f"Bearer {handover.token}")
    return urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=60)


def test_nothing_that_is_told_to_others_holds_a_value(
    project: CliProject, echo: Echo, tmp_path: Path, collector: tuple[str, list[bytes]]
) -> None:
    """A stream of events, an editor, traces, numbers, the log and `doctor`; the key comes from the keyring."""
    (tmp_path / "packages").mkdir()
    (tmp_path / "packages" / "keyring.py").write_text(KEYRING)
    env = {
        "DEPLOY_PASS": VALUE,
        "USER": "somebody",
        "PYTHONPATH": str(tmp_path / "packages"),
        "OTEL_EXPORTER_OTLP_ENDPOINT": collector[0],
        "OTEL_EXPORTER_OTLP_COMPRESSION": "none",
        "NO_PROXY": "*",
    }
    project.call("engine", "start", **env)
    stream: list[bytes] = []

    def follow() -> None:
        ends = 0
        for line in route(project, "/api/v1/events?after=0"):
            stream.append(line)
            ends += line.startswith(b"data:") and json.loads(line[5:]).get("kind") == "completed"
            if ends == 2:
                return

    following = threading.Thread(target=follow, daemon=True)
    following.start()
    told = {"run": project.call("run", "leak.yaml", "--input", "x", "--yes", **env)}
    assert len(echo.heard) == 2, told
    assert KEY in echo.heard[0], "the keyring was asked"
    with RawClient(env=project.env(**env)) as editor:
        editor.begin({}, project.root, {"settlesAnswers": True})
        uri = (project.root / "leak.yaml").as_uri()
        editor.open(uri, WORKFLOW)
        run = {"command": "loopLs.run", "arguments": [{"uri": uri, "input": "x"}]}
        run_id = editor.ask("workspace/executeCommand", run, 60)["result"]["runId"]
        ended = {"runId": run_id, "status": "completed"}.items()
        editor.wait(lambda m: m.get("method") == "loopLs/run" and ended <= m["params"].items(), 60)
        shown = {"command": "loopLs.history", "arguments": [{"runId": run_id}]}
        assert "result" in editor.ask("workspace/executeCommand", shown, 60)
        editor.ask("textDocument/codeLens", {"textDocument": {"uri": uri}})
        notified, log = bytes(editor.raw), bytes(editor.log)
    following.join(60)
    assert not following.is_alive()
    loop = f"/api/v1/loops/{run_id}"
    of_loop = ("", "/prompts", "/view", "/metrics", "/history", "/graph", "/state")
    pages = {path: route(project, path).read() for path in ("/metrics", *(f"{loop}{one}" for one in of_loop))}
    assert b"[secret]" in pages[f"{loop}/view"]
    doctor = [project.call("doctor", *words, **env).stdout.encode() for words in ([], ["--json"])]
    project.call("engine", "stop", **env)
    assert b"[secret]" in b"".join(stream)
    assert b"[secret]" in notified
    assert b"leak" in b"".join(collector[1])
    assert b"keyring" in doctor[0]
    others = {"stream": b"".join(stream), "editor": notified, "editor's log": log, "traces": b"".join(collector[1])}
    require_clean(others | pages | {"doctor": b"".join(doctor)} | written(project.data))
