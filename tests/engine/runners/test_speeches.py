"""What other agents say, and which runner a provider means."""

from __future__ import annotations

import json
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from loop_ls.engine.core.ports import LONGEST_ANSWER, Failure, ModelFailure
from loop_ls.engine.runners.claude import Claude
from loop_ls.engine.runners.cli import CliRunner
from loop_ls.engine.runners.codex import TOOL_TAKES, Codex, CodexOutput
from loop_ls.engine.runners.command import AnyCommand
from loop_ls.engine.runners.model import ModelRunner
from loop_ls.engine.runners.opencode import Opencode, OpencodeOutput
from loop_ls.engine.runners.output_parser import CLUE, OutputParser, PlainOutput, TooMuch
from loop_ls.engine.runners.resolve import runner_for
from loop_ls.engine.runners.runner import SERVER_STARTS, Assignment, Served, deaf
from loop_ls.engine.runners.stream_json import StreamJson
from loop_ls.testing.models import ScriptedModels

MODELS = ScriptedModels({})


def test_codex_answers_with_its_last_message() -> None:
    speech = CodexOutput(deaf)
    for line in (
        '{"type":"thread.started","thread_id":"t"}',
        '{"type":"item.completed","item":{"type":"reasoning","text":"hm"}}',
        '{"type":"item.completed","item":{"type":"agent_message","text":"I look"}}',
        '{"type":"error","message":"Reconnecting... 1/5"}',
        '{"type":"item.completed","item":{"type":"agent_message","text":"DONE"}}',
        '{"type":"turn.completed","usage":{"input_tokens":7,"output_tokens":2}}',
    ):
        speech.line(line)
    heard = speech.heard()
    assert (heard.output, heard.error, heard.input_tokens, heard.output_tokens) == ("DONE", None, 7, 2)


def test_codex_that_tries_to_reach_its_service_shows_no_work() -> None:
    speech = CodexOutput(deaf)
    assert speech.line('{"type":"turn.started"}')
    assert not speech.line('{"type":"error","message":"Reconnecting... 1/5"}')


def test_a_failed_turn_of_codex_is_an_error() -> None:
    speech = CodexOutput(deaf)
    speech.line('{"type":"turn.failed","error":{"message":"no credit"}}')
    assert speech.heard().error == "no credit"


def test_opencode_answers_with_the_text_of_its_last_step() -> None:
    speech = OpencodeOutput(deaf)
    for line in (
        '{"type":"step_start","part":{}}',
        '{"type":"text","part":{"text":"I look"}}',
        '{"type":"step_finish","part":{"cost":0.01,"tokens":{"input":3,"output":1}}}',
        '{"type":"step_start","part":{}}',
        '{"type":"text","part":{"text":"DO"}}',
        '{"type":"text","part":{"text":"NE"}}',
        '{"type":"step_finish","part":{"cost":0.02,"tokens":{"input":4,"output":1}}}',
    ):
        speech.line(line)
    heard = speech.heard()
    assert (heard.output, heard.input_tokens, heard.usd) == ("DONE", 7, pytest.approx(0.03))


def test_opencode_counts_what_was_cached_and_thought_beside_its_tokens() -> None:
    speech = OpencodeOutput(deaf)
    tokens = '{"total":150,"input":20,"output":5,"reasoning":25,"cache":{"read":90,"write":10}}'
    speech.line('{"type":"step_finish","part":{"cost":0.01,"tokens":' + tokens + "}}")
    heard = speech.heard()
    assert (heard.input_tokens, heard.cached, heard.output_tokens) == (120, 90, 30)


def test_an_error_of_opencode_is_told() -> None:
    speech = OpencodeOutput(deaf)
    speech.line('{"type":"error","error":{"name":"ProviderAuthError","data":{"message":"no key"}}}')
    assert speech.heard().error == "no key"


#: Of Codex: no session on the disk, no key for commands, no agents below it.
KEPT = (
    *("--ephemeral", "-c", "shell_environment_policy.ignore_default_excludes=false"),
    *("-c", "features.multi_agent=false"),
)


@pytest.mark.parametrize(
    ("dialect", "words"),
    [
        (Codex(), ["exec", "--json", "--skip-git-repo-check", *KEPT, "--dangerously-bypass-approvals-and-sandbox"]),
        (Opencode(), ["run", "--format", "json", "--title", "loop-ls"]),
    ],
)
def test_agents_without_a_system_prompt_get_the_persona_before_the_message(dialect: Any, words: list[str]) -> None:
    said = dialect.said(Assignment("--do it", system="You repair.", model="m"), str)
    assert list(said.words)[: len(words) + 2] == [*words, "--model", "m"]
    assert said.stdin == "You repair.\n\n--do it"
    assert not [word for word in said.words if "do it" in word or "repair" in word]


@pytest.mark.parametrize("access", ["full", "readonly-shell", "readonly", "minimal"])
def test_claude_code_is_told_of_no_tool_that_it_has_not(access: Any) -> None:
    """It warned of `MultiEdit` at each start. What is denied is what the program has today."""
    words = list(Claude().said(Assignment("go", access=access, alone=True, session="x"), str).words)
    given = {name for option in ("--tools", "--disallowedTools") if option in words for name in _listed(words, option)}
    assert given - {""} <= CLAUDE_HAS
    assert (access == "full") == ("Agent" in given)


#: Of what the real program lists at its start, or starts beside itself.
CLAUDE_HAS = {
    *("Read", "Grep", "Glob", "Agent", "CronCreate", "CronDelete", "ScheduleWakeup", "Workflow", "RemoteTrigger"),
    *("Monitor", "SendMessage", "EnterWorktree", "ExitWorktree"),
}


def _listed(words: list[str], option: str) -> list[str]:
    return words[words.index(option) + 1].split(",")


SERVED = Served(("shell", "todo_add"), "the key to our tools")


@pytest.mark.parametrize("access", ["readonly", "readonly-shell"])
def test_codex_reads_by_our_tools_and_has_no_shell_of_its_own(access: Any) -> None:
    words = list(Codex().said(Assignment("go", access=access, served=SERVED), lambda text: "/key.txt").words)
    assert words[words.index("--sandbox") + 1] == "read-only"
    assert {"--ignore-user-config", "features.shell_tool=false"} <= set(words)
    [server] = [word for word in words if word.startswith("mcp_servers.loop_ls=")]
    settings = tomllib.loads(f"a = {server.partition('=')[2]}")["a"]
    waited_for = {"required": True, "startup_timeout_sec": SERVER_STARTS}  # the first question goes with the tool
    approved = {"default_tools_approval_mode": "approve", "tool_timeout_sec": TOOL_TAKES}
    arguments = ["-P", "-m", "loop_ls", "mcp", "--stage", "/key.txt"]
    assert settings == {"command": sys.executable, "args": arguments, **approved, **waited_for}


def test_codex_without_our_shell_has_no_other() -> None:
    words = list(Codex().said(Assignment("go", access="readonly"), str).words)
    assert words[words.index("--sandbox") + 1] == "read-only"
    assert {"--ignore-user-config", "--ignore-rules", 'web_search="disabled"', "features.shell_tool=false"} <= set(
        words
    )
    assert not [word for word in words if word.startswith("mcp_servers")]


def test_codex_asks_where_the_environment_says() -> None:
    """It reads the address from its configuration alone."""
    environ = {"OPENAI_BASE_URL": "http://127.0.0.1:1/v1"}
    words = runner_for("codex", {}, MODELS, environ=environ).dialect.said(Assignment("go"), str).words  # type: ignore[attr-defined]
    assert 'openai_base_url="http://127.0.0.1:1/v1"' in words
    assert not [word for word in Codex().said(Assignment("go"), str).words if "base_url" in word]


def test_codex_that_only_answers_has_no_shell() -> None:
    words = Codex().said(Assignment("go", access="minimal"), str).words
    assert "features.shell_tool=false" in words
    assert not [word for word in words if "mcp_servers" in word]


@pytest.mark.parametrize(
    ("access", "allowed"),
    [
        *(("minimal", set()), ("readonly", {"read", "grep", "glob", "loop_ls_shell", "loop_ls_todo_add"})),
        ("readonly-shell", {"read", "grep", "glob", "loop_ls_shell", "loop_ls_todo_add"}),
    ],
)
def test_opencode_works_as_an_agent_of_ours_that_may_do_no_more(access: Any, allowed: set[str]) -> None:
    served = Served() if access == "minimal" else SERVED
    said = Opencode().said(Assignment("go", access=access, served=served), lambda text: "/key.txt")
    name = f"loop-ls-{access}"
    assert list(said.words)[-3:] == ["--agent", name, "--pure"]  # without the plugins of a project
    assert said.environment["OPENCODE_DISABLE_PROJECT_CONFIG"] == "1"
    settings = json.loads(said.environment["OPENCODE_CONFIG_CONTENT"])
    permission = settings["agent"][name]["permission"]
    assert {tool for tool, rule in permission.items() if rule == "allow"} == allowed
    assert permission["*"] == "deny"
    assert ("mcp" in settings) is (access != "minimal")
    assert SERVED.key not in json.dumps(settings)


def test_agents_that_work_alone_are_offered_no_others() -> None:
    words = list(Codex().said(Assignment("go", alone=True), str).words)
    assert {"features.multi_agent=false", "features.goals=false"} <= set(words)
    assert "--dangerously-bypass-approvals-and-sandbox" in words
    usual = [word for word in Codex().said(Assignment("go"), str).words if "features" in word]
    assert usual == ["features.multi_agent=false"], "it does not count what agents below it take"
    said = Opencode().said(Assignment("go", alone=True), str)
    permission = json.loads(said.environment["OPENCODE_CONFIG_CONTENT"])["agent"]["loop-ls-full"]["permission"]
    assert (list(said.words)[-2:], permission) == (["--agent", "loop-ls-full"], {"*": "allow", "task": "deny"})
    usual = Opencode().said(Assignment("go"), str)
    assert "--agent" not in usual.words
    told = json.loads(usual.environment["OPENCODE_CONFIG_CONTENT"])
    assert told["agent"]["build"]["permission"] == told["permission"] == {"task": "deny"}, (
        "it does not count them either"
    )


def test_tokens_of_agents_below_are_counted_too() -> None:
    speech = StreamJson(deaf)
    models = '"a":{"inputTokens":900,"outputTokens":80},"b":{"inputTokens":10,"cacheReadInputTokens":90}'
    usage = '{"input_tokens":100,"output_tokens":5}'
    speech.line(f'{{"type":"result","result":"x","usage":{usage},"modelUsage":{{{models}}}}}')
    assert (speech.heard().input_tokens, speech.heard().output_tokens) == (1000, 80)


UNFINISHED = {
    "claude-code": '{"type":"system","subtype":"init"}',
    "codex": '{"type":"thread.started","thread_id":"t"}',
    "opencode": '{"type":"step_start","part":{}}',
}


@pytest.mark.parametrize("speaks", UNFINISHED)
@pytest.mark.parametrize("said", ["", "line"])
async def test_a_program_that_ends_before_its_answer_has_failed(speaks: str, said: str) -> None:
    words = [sys.executable, "-c", f"print({UNFINISHED[speaks] if said else ''!r})"]
    settings = {"own": {"kind": "agent-cli", "cli": words, "speaks": speaks}}
    with pytest.raises(Failure, match="ended without an answer"):
        await runner_for("own", settings, MODELS, environ={"PATH": "/usr/bin:/bin"}).run(Assignment("go"))


async def test_a_program_that_only_tries_again_is_ended_at_its_idle_limit() -> None:
    again = """import time
for number in range(100):
    print('{"type":"error","message":"Reconnecting... %s"}' % number, flush=True)
    time.sleep(0.1)"""
    settings = {"own": {"kind": "agent-cli", "cli": [sys.executable, "-c", again], "speaks": "codex"}}
    with pytest.raises(Failure, match=r"timed out \(inactivity\).* 1 s"):
        await runner_for("own", settings, MODELS, environ={"PATH": "/usr/bin:/bin"}).run(Assignment("go", idle=1.0))


async def command(*words: str, **more: Any) -> str:
    program = (sys.executable, "-c", *words)
    runner = CliRunner("mine", program[:1], AnyCommand(program[1:]), {"PATH": "/usr/bin:/bin"})
    return (await runner.run(Assignment("the message", **more))).text


async def test_any_command_gets_the_message_as_a_word_or_on_its_input() -> None:
    assert await command("import sys; print('got', sys.argv[1])", "{message}") == "got the message"
    assert await command("import sys; print(sys.stdin.read().upper())", system="Persona") == "PERSONA\n\nTHE MESSAGE"
    words = ("import sys; print(sys.argv[1:])", "{system}", "{message}")
    assert await command(*words, system="P") == "['P', 'the message']"


async def test_any_command_gets_the_message_in_a_file_that_does_not_stay() -> None:
    read = "import os, sys; [print(p, open(p).read(), oct(os.stat(p).st_mode)[-3:]) for p in sys.argv[1:]]"
    said = (await command(read, "{system_file}", "{message_file}", system="P")).splitlines()
    paths, texts = zip(*(line.split(" ", 1) for line in said), strict=True)
    assert texts == ("P 600", "the message 600")
    assert not [path for path in paths if Path(path).exists()]


async def test_any_command_may_speak_json() -> None:
    assert await command("""print('{"type":"result","subtype":"success","result":"yes"}')""") == "yes"


async def test_a_model_is_asked_with_the_persona_as_system_prompt() -> None:
    models = ScriptedModels({"agent": "answer"})
    work = await ModelRunner("ollama", models, "m").run(Assignment("go", system="P", place="agent"))
    assert (work.text, models.requests[0].system, models.requests[0].prompt) == ("answer", "P", "go")


def test_the_provider_says_which_runner_it_is() -> None:
    def of(provider: str, mock: bool = False, **settings: Any) -> Any:
        return runner_for(provider, {provider: settings} if settings else {}, MODELS, mock, {})

    claude = of("claude-code")
    assert isinstance(claude, CliRunner)
    assert (claude.program, type(claude.dialect)) == (("claude",), Claude)
    assert isinstance(of("claude-code", mock=True), ModelRunner)
    assert type(of("claude-code", kind="agent-cli", cli=["/opt/codex", "-c", "a=b"]).dialect) is Codex
    assert of("claude-code", kind="agent-cli", cli=["/opt/codex", "-c", "a=b"]).program == ("/opt/codex", "-c", "a=b")
    assert type(of("claude-code", kind="agent-cli", cli="opencode").dialect) is Opencode
    assert type(of("x", kind="agent-cli", cli=["python", "a.py"], speaks="claude-code").dialect) is Claude
    assert type(of("x", kind="agent-cli", cli=["python", "a.py"]).dialect) is AnyCommand
    assert isinstance(of("openai"), ModelRunner)
    assert isinstance(of("claude-code", kind="anthropic"), ModelRunner)
    with pytest.raises(Failure, match="its `cli` has no program"):
        of("x", kind="agent-cli")


async def test_a_model_that_fails_fails_the_work() -> None:
    models = ScriptedModels({"agent": ModelFailure("server", "it is down")})
    with pytest.raises(ModelFailure):
        await ModelRunner("ollama", models).run(Assignment("go", place="agent"))
    with pytest.raises(Failure, match="empty"):
        await ModelRunner("ollama", models).run(Assignment(" "))


def test_a_folder_is_not_looked_into_for_a_plain_name(tmp_path: Path) -> None:
    (tmp_path / "claude").write_text("#!/bin/sh\n")
    (tmp_path / "claude").chmod(0o755)
    runner = runner_for("claude-code", {}, MODELS, environ={"PATH": "/nowhere"})
    assert runner.program == ("claude",)


@pytest.mark.parametrize(
    ("speech", "line"),
    [
        (PlainOutput(deaf), "x" * 2**20),
        (StreamJson(deaf), '{"type":"assistant","message":{"content":[{"type":"text","text":"%s"}]}}' % ("x" * 2**20)),
    ],
)
def test_an_answer_without_end_is_not_kept(speech: OutputParser, line: str) -> None:
    for _ in range(LONGEST_ANSWER // 2**20 - 1):
        speech.line(line)
    with pytest.raises(TooMuch):
        for _ in range(2):
            speech.line(line)


def test_of_lines_that_nobody_understands_the_first_are_kept() -> None:
    speech = StreamJson(deaf)
    for number in range(CLUE):
        speech.line(f"line {number} of a flood")
    assert speech.heard().clue.startswith("line 0 of a flood\nline 1 of a flood\n")
    assert sum(map(len, speech.heard().clues)) < 2 * CLUE


async def test_a_command_that_floods_its_output_is_ended(tmp_path: Path) -> None:
    flood = "import os\nwhile True: os.write(1, b'flood ' * 10000 + b'\\n')"
    runner = CliRunner("own", (sys.executable,), AnyCommand(("-c", flood)), {})
    with pytest.raises(Failure, match="longer than 16 MiB") as failed:
        await runner.run(Assignment("hi", folder=str(tmp_path)))
    assert failed.value.code == "agent_failed"


@pytest.mark.parametrize("number", ["1e999", "NaN", "-Infinity", "-5", "1e300", "true", '"7"', "[1]"])
def test_numbers_that_are_none_are_not_counted(number: str) -> None:
    """JSON of Python has infinities; a cost below zero would give a budget back."""
    lines: dict[Callable[[Any], OutputParser], str] = {
        StreamJson: '{"type":"result","result":"x","total_cost_usd":%s,"usage":{"input_tokens":%s,"output_tokens":%s}}',
        CodexOutput: '{"type":"turn.completed","usage":{"input_tokens":%s,"output_tokens":%s,"x":%s}}',
        OpencodeOutput: '{"type":"step_finish","part":{"cost":%s,"tokens":{"input":%s,"output":%s}}}',
    }
    for speech, line in lines.items():
        made = speech(deaf)
        made.line(line % (number, number, number))
        heard = made.heard()
        assert (heard.input_tokens, heard.output_tokens, heard.usd or 0) == (0, 0, 0), speech


def test_an_error_that_claude_code_tells_as_a_message_names_no_model() -> None:
    speech = StreamJson(deaf)
    for model in ("claude-sonnet-4-6", "<synthetic>"):
        speech.line(json.dumps({"type": "assistant", "message": {"model": model, "content": []}}))
    assert speech.heard().model == "claude-sonnet-4-6"


@pytest.mark.parametrize(
    ("access", "only", "claude", "shell", "allowed"),
    [
        ("full", ("Read", "Bash"), "Read,Bash", True, {"read", "bash"}),
        ("full", ("Write",), "Write", False, {"edit"}),
        ("full", (), "", False, set()),
        ("readonly", ("Grep", "Bash"), "Grep", False, {"grep"}),
        ("minimal", ("Bash",), "", False, set()),
    ],
)
def test_tools_that_a_role_names_narrow_its_access_in_the_words_of_each_program(
    access: Any, only: tuple[str, ...], claude: str, shell: bool, allowed: set[str]
) -> None:
    work = Assignment("Go.", access=access, only=only, alone=True)
    words = list(Claude().said(work, str).words)
    assert words[words.index("--tools") + 1] == claude
    assert ("features.shell_tool=false" in Codex().said(work, str).words) is not shell
    said = Opencode().said(work, str)
    [agent] = json.loads(said.environment["OPENCODE_CONFIG_CONTENT"])["agent"].values()
    assert {name for name, rule in agent["permission"].items() if rule == "allow"} == allowed
    assert agent["permission"]["*"] == "deny"
