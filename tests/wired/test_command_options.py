"""Every option of the command line: the same call with it and without it ends, prints, writes or starts differently.

Where `--root`, `--data-dir` and `--json` are options, they are tried for every command that has them.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from loop_ls.client.engine_location import data_folder
from loop_ls.testing import mcp_server
from tests.cli.conftest import ANSWERS, CALLEE, DEVELOP
from tests.wired.commands import Commands, Said
from tests.wired.declared import options
from tests.wired.engine_thread import engine_of

OPTIONS = options()
PAIR = {
    "name": "pair",
    "description": "One writes, one judges.",
    "roles": [{"role": "coder", "prompt": "Write."}, {"role": "reviewer", "prompt": "Judge."}],
    "termination_condition": {"type": "evaluation_bound", "value": {"criteria": "Good.", "max_review_rounds": 2}},
}
ITEMS = (
    "$schema: workflow/v2.0\nname: items\nversion: 1.0.0\nexecution: {provider: scripted, model: m}\n"
    'loops:\n  - {name: each, workflow: draft, mode: iterate, items: \'["a", "b"]\', max_iterations: 5, '
    "with: {topic: tea, before: ''}}\n"
)
WRITER = (
    "name: Writer\npersona: You write.\nprovider: openai\nloopEnabled: true\nmaxIterations: 5\n"
    "loopCriteria: {type: manual, value: ''}\n"
)
AWAY = CALLEE.replace("draft", "away").replace("scripted", "away").replace("{{", "").replace("}}", "")
#: Its last step has a server, which is a program that somebody has to agree to.
TOOLS = (
    DEVELOP.replace("develop_it", "tools")
    .replace('"Report on', '"Tell of')
    .replace("needs:", "servers: [things], needs:")
)
THINGS = {"things": {"command": [sys.executable, "-S", mcp_server.FILE]}}
CASES = "tests:\n  - {name: one, vars: {input: x}, assert: [{type: contains, value: report}]}\n"
#: One safe fix, one that needs review, and one of the profile `pedantic`.
FAULTY = (
    "$schema: workflow/v2.0\nname: faulty\nversion: 1.0.0\ndescription: x\n"
    "execution: {provider: ollama, model: llama3.2, logging: normal, timeout: 9s}\n"
    "steps:\n  - {name: write, timeout: 9s, run: 'Write of {{input}}'}\n"
    "loops:\n  - name: polish\n    workflow: draft\n    until: 'The output {{loop.output}} has a title'\n"
)


@pytest.fixture(scope="module")
def commands(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Commands]:
    """A project whose engine runs, and in it `faulty/`, a folder of its own with something to mend."""
    base = tmp_path_factory.mktemp("wired")
    root, data = base / "project", base / "data"
    for folder in (root / "loops", base / "faulty", base / "other", base / "kept"):
        folder.mkdir(parents=True)
    (root / "draft.yaml").write_text(CALLEE)
    (root / "develop.yaml").write_text(DEVELOP)
    (root / "develop.answers.yaml").write_text(ANSWERS)
    (root / "tried.yaml").write_text(DEVELOP.replace("develop_it", "tried"))
    (root / "tried.answers.yaml").write_text(ANSWERS)
    (root / "tried.cases.yaml").write_text(CASES)
    (root / "keyless.yaml").write_text(DEVELOP.replace("develop_it", "keyless").replace("scripted", "openai"))
    (root / "keyless.cases.yaml").write_text(CASES)
    (root / "away.yaml").write_text(AWAY)
    (root / "until_away.yaml").write_text(DEVELOP.replace("develop_it", "until_away").replace("scripted", "away"))
    (root / "tools.yaml").write_text(TOOLS)
    (root / "tools.answers.yaml").write_text(ANSWERS)
    (root / "tools.cases.yaml").write_text(CASES)
    away = "providers:\n  away: {kind: openai, baseUrl: 'http://localhost:9/v1'}\n"
    (root / ".loop-ls.yaml").write_text(f"{away}servers: {json.dumps(THINGS)}\n")
    (root / "items.yaml").write_text(ITEMS)
    (root / "items.answers.yaml").write_text("answers:\n  - say: a draft\n")
    (root / "writer.assistant.yaml").write_text(WRITER)
    (root / "loops" / "pair.json").write_text(json.dumps(PAIR))
    (base / "faulty" / "faulty.yaml").write_text(FAULTY)
    (base / "kept" / ".loop-ls.yaml").write_text("engine: {dataDir: held}\n")
    with pytest.MonkeyPatch.context() as patched, engine_of(root, data):
        patched.setenv("LOOP_LS_DATA_DIR", str(data))
        patched.setenv("XDG_STATE_HOME", str(base / "state"))
        patched.setenv("NO_COLOR", "1")
        patched.delenv("LOOP_LS_STAGE", raising=False)
        yield Commands(root)


@pytest.fixture(autouse=True)
def _nobody_has_agreed(commands: Commands) -> None:
    forget(commands)


def forget(commands: Commands) -> None:
    """What somebody has agreed to so far."""
    (commands.root.parent / "data" / "consents.json").unlink(missing_ok=True)


@pytest.fixture(scope="module")
def finished(commands: Commands) -> str:
    """The id of a run that met its condition in iteration 3."""
    return str(commands("run", "develop.yaml", "--input", "ships", "--json").json["runId"])


# -- the options that many commands have --------------------------------------------------------------

#: What else has to be said, by command.
_NEEDED = {
    "run": ("develop.yaml",),
    "enhance": ("develop.yaml",),
    "test": ("tried.yaml",),
    "test-until": ("develop.yaml", "--loop", "develop", "--output", "x"),
    "runs diff": ("{run}", "1", "2"),
    "runs compare": ("{run}", "{run}"),
    "runs note": ("{run}", "mind the tide"),
    "runs answer": ("{run}", "resume"),
    "runs restore": ("{run}", "--iteration", "1"),
    "runs import": ("run.json",),
    "engine token create": ("--user", "ada"),
    "engine token revoke": ("nobody",),
    "estimate": ("develop.yaml",),
    "preview": ("develop.yaml",),
    "convert": ("loops/pair.json", "--to", "workflow"),
    "demo": ("--into", "../demo"),
    "ui": ("--no-browser",),
}
_WITH_ID = re.compile(r"runs (?!list|import|diff|compare|note|restore|inbox|answer)\w+")
_OWN_FOLDER = re.compile("engine (token|repair)|doctor|check|fix|estimate|preview|definitions|convert")


def words_of(command: str, run: str = "abc") -> tuple[str, ...]:
    named = ("{run}",) if _WITH_ID.fullmatch(command) else _NEEDED.get(command, ())
    return (*command.split(), *(word.replace("{run}", run) for word in named))


def having(option: str) -> list[str]:
    return [name.rpartition(" ")[0] for name in OPTIONS if name.endswith(f" {option}")]


ASKING = {option: [one for one in having(option) if not _OWN_FOLDER.match(one)] for option in ("--root", "--data-dir")}


def test_the_engine_of_the_named_data_folder_is_asked(commands: Commands, tmp_path: Path) -> None:
    wrong = {}
    (commands.root / "run.json").write_text("{}")
    with commands.nobody_there():
        for command in ASKING["--data-dir"]:
            said = commands(*words_of(command), "--data-dir", str(tmp_path))
            if said.looked_in[:1] != (tmp_path.resolve(),):
                wrong[command] = said
    assert wrong == {}
    assert len(ASKING["--data-dir"]) > 15


def test_the_engine_of_the_named_root_is_asked(commands: Commands, monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = {}
    monkeypatch.delenv("LOOP_LS_DATA_DIR")
    other = commands.root.parent / "other"
    with commands.nobody_there():
        for command in ASKING["--root"]:
            words = [
                str(commands.root / word) if word in ("develop.yaml", "tried.yaml") else word
                for word in words_of(command)
            ]
            said = commands(*words, "--root", str(commands.root), folder=other)
            if said.looked_in[:1] != (data_folder(commands.root),):
                wrong[command] = said
    assert wrong == {}
    assert data_folder(commands.root) != data_folder(other)


@pytest.mark.parametrize("setting", ["", "data"], ids=["usual", "named by a setting"])
@pytest.mark.parametrize("words", [("runs",), ("engine", "status"), ("engine", "start"), ("mcp",), ("run", "x.yaml")])
def test_the_engine_of_a_folder_is_that_of_its_project(
    commands: Commands, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], setting: str
) -> None:
    """Or its runs would stand in no list beside the others, and spend the money of the project once more."""
    monkeypatch.delenv("LOOP_LS_DATA_DIR")
    below = tmp_path / "one" / "deep"
    below.mkdir(parents=True)
    (below / "x.yaml").write_text((commands.root / "develop.yaml").read_text())
    written = f"engine: {{dataDir: {setting}}}\n" if setting else "limits: {maxIterations: 3}\n"
    (tmp_path / ".loop-ls.yaml").write_text(written)
    with commands.nobody_there():
        said = commands(*words, "--root", str(below), folder=below)
    assert said.looked_in[:1] == (tmp_path / setting if setting else data_folder(tmp_path),), said


def test_with_json_one_object_is_printed_and_without_it_none(commands: Commands, finished: str) -> None:
    wrong = {}
    commands("runs", "export", finished, "--into", "run.json")
    for command in having("--json"):
        if command in ("enhance", "engine stop", "runs delete", "runs events"):
            continue  # below, or what they do is done once
        words = words_of(command, finished)
        told, plain = commands(*words, "--json"), commands(*words)
        if not isinstance(told.json, dict) or isinstance(plain.json, dict):
            wrong[command] = (told, plain)
    assert {name: one for name, one in wrong.items() if name != "runs export"} == {}


def test_a_file_may_ask_for_as_much_as_the_option_verbose(commands: Commands) -> None:
    """`execution.logging`, seen in what a run prints."""
    path = commands.root / "loud.yaml"
    path.write_text(DEVELOP.replace("develop_it", "loud").replace("model: m}", "model: m, logging: verbose}"))
    (commands.root / "loud.answers.yaml").write_text(ANSWERS)
    assert "Condition evaluation" in commands("run", "loud.yaml", "--input", "x").err
    assert "Condition evaluation" not in commands("run", "develop.yaml", "--input", "x").err


def test_a_fork_is_agreed_to_in_its_command(commands: Commands) -> None:
    """`--yes`, where nobody has agreed to the run before."""
    run = str(commands("run", "tools.yaml", "--input", "x", "--json", "--yes").json["runId"])
    fork = ("runs", "fork", run, "--iteration", "3", "--json", "--detach")
    forget(commands)
    assert commands(*fork).json["code"] == "consent_required"
    assert commands(*fork, "--yes").json["ok"]


def test_the_endpoint_of_a_judge_is_agreed_to_in_the_command(commands: Commands) -> None:
    """`test-until --yes`."""
    until = ("test-until", "until_away.yaml", "--loop", "develop", "--output", "x", "--json")
    assert commands(*until).json["code"] == "consent_required"
    assert commands(*until, "--yes").json.get("code") != "consent_required"


@pytest.mark.parametrize("verb", ["approve", "reject"])
def test_a_question_is_chosen_by_its_loop(commands: Commands, verb: str) -> None:
    run = str(commands("run", "writer.assistant.yaml", "--input", "x", "--mock", "--json", "--detach").json["runId"])
    deadline = time.monotonic() + 60
    while (state := commands("runs", "status", run, "--json").json["state"])["status"] != "waiting_approval":
        assert time.monotonic() < deadline, state
    other = commands("runs", verb, run, "--loop", "nothing")
    assert other.status == 2
    assert commands("runs", "status", run, "--json").json["state"]["status"] == "waiting_approval"
    assert commands("runs", verb, run, "--loop", state["pendingApproval"]["loopId"]).status == 0


# -- the others, one by one ----------------------------------------------------------------------------

Sees = Callable[[Commands, Said], object]


class Option(NamedTuple):
    """A call with the option; without it `there` is seen. `{run}` stands for a run that has ended."""

    name: str
    words: tuple[str, ...]
    sees: Sees
    here: object
    there: object
    without: tuple[str, ...] | None = None
    folder: str = "project"


def status(commands: Commands, said: Said) -> object:
    return said.status


def first_fact(*path: str) -> Sees:
    """What the first fact of the run says; `refused` where there is no run."""

    def sees(commands: Commands, said: Said) -> object:
        run = (said.json or {}).get("runId")
        if run is None:
            return "refused"
        found: Any = json.loads(commands("runs", "events", run, "--json").out.splitlines()[0])
        for name in path:
            found = found.get(name) if isinstance(found, dict) else None
        return found

    return sees


def printed(*path: str) -> Sees:
    def sees(commands: Commands, said: Said) -> object:
        found = said.json
        for name in path:
            found = found.get(name) if isinstance(found, dict) else None
        return found

    return sees


def tells(text: str) -> Sees:
    return lambda commands, said: text in said.out + said.err


def holds(file: str, text: str = "") -> Sees:
    """Whether this file was written, with the text in it. It is taken away."""

    def sees(commands: Commands, said: Said) -> object:
        path = commands.root / file
        found = path.is_file() and text in path.read_text()
        path.unlink(missing_ok=True)
        return found

    return sees


def begun(text: str) -> Sees:
    """Whether the folder `begun` has a first loop with this text in it. It is taken away."""

    def sees(commands: Commands, said: Said) -> object:
        folder = commands.root.parent / "begun"
        loop = folder / "first_loop.yaml"
        found = loop.is_file() and text in loop.read_text()
        shutil.rmtree(folder, ignore_errors=True)
        return found

    return sees


def made(commands: Commands, said: Said) -> object:
    """Whether the folder `made` has something in it. It is taken away."""
    folder = commands.root / "made"
    found = folder.is_dir() and any(folder.iterdir())
    shutil.rmtree(folder, ignore_errors=True)
    return found


def mended(text: str) -> Sees:
    """Whether the faulty file now holds this. It is put back."""

    def sees(commands: Commands, said: Said) -> object:
        path = commands.root.parent / "faulty" / "faulty.yaml"
        found = text in path.read_text()
        path.write_text(FAULTY)
        return found

    return sees


def kept(commands: Commands, said: Said) -> object:
    """Whether the data folder that the settings of `kept/` name was used. It is taken away."""
    folder = commands.root.parent / "kept" / "held"
    found = folder.is_dir()
    shutil.rmtree(folder, ignore_errors=True)
    return found


def of_newest(*path: str) -> Sees:
    """What the first fact of the run says that began last."""

    def sees(commands: Commands, said: Said) -> object:
        found: Any = json.loads(commands("runs", "events", "--json").out.splitlines()[0])
        for name in path:
            found = found.get(name)
        return found

    return sees


def fixed_as(name: str) -> Sees:
    """Whether the faulty file was mended under this name. It is put back."""

    def sees(commands: Commands, said: Said) -> object:
        assert mended("logging: info")(commands, said)
        return said.out.startswith(f"{name}:")

    return sees


def starts(commands: Commands, said: Said) -> object:
    """Whether nothing is left to be agreed to."""
    return "allow it with `--yes`" not in said.out + said.err


def same_as(*words: str) -> Sees:
    """Whether these words give the same run once more."""
    return lambda commands, said: commands(*words).json["runId"] == said.json["runId"]


UNTIL = ("test-until", "develop.yaml", "--loop", "develop", "--output", "x", "--json")
TO_ITS_END = ("enhance", "develop.yaml", "--input", "x", "--mock", "--json")
ENHANCE = ("--input", "x", "--mock", "--json", "--detach")
RUN = ("run", "develop.yaml", "--input", "ships", "--json")
MOCK = ("--input", "x", "--mock", "--json")
ROWS = (
    Option("run --workflow", ("run", "--workflow", "develop_it", *MOCK), first_fact("name"), "develop_it", "refused"),
    Option("run --loop", (*RUN, "--loop", "develop"), printed("output"), "draft three", "the report"),
    Option("run --input", RUN, first_fact("input"), "ships", "refused"),
    Option("run --goal", ("run", "pair", "--goal", "Reach it.", "--mock", "--json"), first_fact("goal"), "Reach it.",
           "refused"),
    Option("run --param", (*RUN, "--param", "topic=tea"), first_fact("parameters"), {"topic": "tea"}, {}),
    Option("run --max-iterations", (*RUN, "--loop", "develop", "--max-iterations", "1"), printed("iteration"), 1, 3),
    Option("run --item", ("run", "items.yaml", "--loop", "each", "--input", "x", "--json", "--item", "2"),
           first_fact("plan", "item"), 2, None),
    Option("run --end-at", (*RUN, "--end-at", "develop"), printed("output"), "draft three", "the report"),
    Option("run --budget-usd", ("run", "develop.yaml", *MOCK, "--budget-usd", "2"), first_fact("limits", "budgetUsd"),
           2.0, None),
    Option("run --max-tokens", ("run", "develop.yaml", *MOCK, "--max-tokens", "90000"),
           first_fact("limits", "maxTokens"), 90000, None),
    Option("run --max-time", ("run", "develop.yaml", *MOCK, "--max-time", "10m"), first_fact("limits", "wallClock"),
           600.0, None),
    Option("run --provider", (*RUN, "--model", "m", "--provider", "scripted"), first_fact("plan", "instead"),
           {"provider": "scripted", "model": "m"}, {"model": "m"}, (*RUN, "--model", "m")),
    Option("run --model", (*RUN, "--model", "large"), first_fact("plan", "instead"), {"model": "large"}, None),
    Option("enhance --provider", ("enhance", "develop.yaml", *ENHANCE, "--provider", "nobody"), status, 2, 0),
    Option("enhance --model", ("enhance", "develop.yaml", *ENHANCE, "--model", "large"),
           first_fact("plan", "instead"), {"model": "large"}, None),
    Option("test --provider", ("test", "tried.yaml", "--provider", "nobody"), tells("Unknown provider"), True,
           False),
    Option("test --model", ("test", "tried.yaml", "--model", "large", "--json"), of_newest("plan", "instead"),
           {"model": "large"}, None),
    Option("test --mock", ("test", "keyless.yaml", "--mock"), lambda commands, said: said.status == 2, False, True),
    Option("test --budget-usd", ("test", "tried.yaml", "--budget-usd", "2"), of_newest("limits", "budgetUsd"), 2.0,
           None),
    Option("test --yes", ("test", "tools.yaml", "--yes"), starts, True, False),
    Option("enhance --yes", ("enhance", "tools.yaml", "--input", "x", "--detach", "--yes"), starts, True, False),
    Option("estimate --provider", ("estimate", "keyless.yaml", "--provider", "groqq"), tells("did you mean `groq`"),
           True, False),
    Option("estimate --model", ("estimate", "keyless.yaml", "--model", "gpt-4o", "--json"),
           lambda commands, said: said.json["usd"] is not None, True, False),
    Option("run --mock", ("run", "develop.yaml", "--input", "x", "--json", "--mock"), first_fact("mock"), True, False),
    Option("run --detach", (*RUN, "--detach"), first_fact("detach"), True, False),
    Option("run --verbose", ("run", "develop.yaml", "--input", "x", "--verbose"), tells("Condition evaluation"), True,
           False),
    Option("run --idempotency-key", (*RUN, "--idempotency-key", "k"), same_as(*RUN, "--idempotency-key", "k"), True,
           False),
    # To its end: while one loop of a file runs, a second one is refused with the id of the first.
    Option("enhance --idempotency-key", (*TO_ITS_END, "--idempotency-key", "e"),
           same_as(*TO_ITS_END, "--idempotency-key", "e"), True, False),
    Option("enhance --verbose", ("enhance", "develop.yaml", "--input", "x", "--mock", "--verbose"),
           tells("Condition evaluation"), True, False),
    Option("enhance --workflow", ("enhance", "--workflow", "nothing"), tells("unknown workflow `nothing`"), True,
           False),
    Option("run --yes", ("run", "away.yaml", "--input", "x", "--json", "--detach", "--yes"), printed("code"), None,
           "consent_required"),
    *(Option(f"enhance {option}", ("enhance", "develop.yaml", *ENHANCE, option, value), first_fact(*path), here, there)
      for option, value, path, here, there in (
          ("--param", "topic=tea", ("parameters",), {"topic": "tea"}, {}),
          ("--max-iterations", "1", ("limits", "maxIterations"), 1, 3),
          ("--budget-usd", "2", ("limits", "budgetUsd"), 2.0, None),
          ("--max-tokens", "90000", ("limits", "maxTokens"), 90000, None),
          ("--max-time", "10m", ("limits", "wallClock"), 600.0, None),
      )),
    Option("enhance --input", ("enhance", "develop.yaml", *ENHANCE), first_fact("input"), "x", "refused"),
    Option("enhance --mock", ("enhance", "keyless.yaml", "--input", "x", "--json", "--detach", "--mock"),
           first_fact("mock"), True, "refused"),
    Option("enhance --detach", ("enhance", "draft.yaml", "--param", "topic=t", "--param", "before=", "--mock",
           "--json", "--detach"), first_fact("detach"), True, False),
    Option("test-until --loop", UNTIL, printed("ok"), True, None),
    Option("test-until --output", UNTIL, printed("ok"), True, None),
    Option("test-until --run", ("test-until", "develop.yaml", "--loop", "develop", "--run", "{run}", "--json"),
           lambda commands, said: len((said.json or {}).get("verdicts", ())), 3, 0),
    Option("test-until --times", (*UNTIL, "--times", "2"), lambda commands, said: len(said.json["verdicts"]), 2, 1),
    Option("test-until --mock", ("test-until", "keyless.yaml", "--loop", "develop", "--output", "x", "--mock",
           "--json"), printed("ok"), True, False),
    Option("runs --status", ("runs", "--status", "cancelled", "--json"),
           lambda commands, said: len(said.json["runs"]) > 0, False, True),
    Option("runs list --status", ("runs", "list", "--status", "cancelled", "--json"),
           lambda commands, said: len(said.json["runs"]) > 0, False, True),
    Option("runs --limit", ("runs", "--limit", "1", "--json"), lambda commands, said: len(said.json["runs"]) == 1,
           True, False),
    Option("runs list --limit", ("runs", "list", "--limit", "1", "--json"),
           lambda commands, said: len(said.json["runs"]) == 1, True, False),
    Option("runs fork --iteration", ("runs", "fork", "{run}", "--json", "--iteration", "9"), status, 2, 0),
    Option("runs fork --loop", ("runs", "fork", "{run}", "--iteration", "3", "--json", "--loop", "nothing"), status,
           2, 0),
    Option("runs fork --at", ("runs", "fork", "{run}", "--json", "--at", "nowhere"), status, 2, 0),
    Option("runs fork --prompt", ("runs", "fork", "{run}", "--json", "--prompt", "x"), status, 2, 0),
    Option("runs fork --detach", ("runs", "fork", "{run}", "--iteration", "3", "--json", "--detach"),
           printed("exitCode"), None, 0),
    Option("runs fork --verbose", ("runs", "fork", "{run}", "--iteration", "3", "--verbose"),
           tells("Condition evaluation"), True, False),
    Option("runs replay --detach", ("runs", "replay", "{run}", "--json", "--detach"), printed("exitCode"), None, 0),
    Option("runs replay --verbose", ("runs", "replay", "{run}", "--verbose"), tells("Condition evaluation"), True,
           False),
    Option("runs diff --loop", ("runs", "diff", "{run}", "1", "2", "--loop", "nothing"), status, 2, 0),
    Option("runs export --into", ("runs", "export", "{run}", "--into", "kept.json"), holds("kept.json", "draft three"),
           True, False),
    Option("fix --enable", ("fix", "--enable", "pedantic", "."), mended("{name: write, run:"), True, False,
           folder="faulty"),
    Option("fix --root", ("fix", ".", "--root", "{base}"), fixed_as("faulty/faulty.yaml"), True, False,
           folder="faulty"),
    Option("fix --disable", ("fix", "--disable", "WF110", "."), mended("logging: info"), False, True, folder="faulty"),
    Option("fix --diff", ("fix", "--diff", "."), mended("logging: info"), False, True, folder="faulty"),
    Option("fix --unsafe", ("fix", "--unsafe", "."), mended("The output has a title"), True, False, folder="faulty"),
    Option("check --disable", ("check", "--disable", "WF110", "--format", "json", "."), tells("WF110"), False, True,
           folder="faulty"),
    Option("check --format", ("check", "--format", "json", "."), lambda commands, said: said.json is not None, True,
           False, folder="faulty"),
    Option("check --level", ("check", "--level", "error", "--format", "json", "."),
           lambda commands, said: '"information"' in said.out or '"hint"' in said.out or '"warning"' in said.out,
           False, True, folder="faulty"),
    Option("schema --into", ("schema", "--into", "made"), made, True, False),
    Option("explain --list", ("explain", "--list"), tells("WF110"), True, False),
    Option("explain --markdown", ("explain", "WF110", "--markdown"), tells("# WF110"), True, False),
    Option("estimate --loop", ("estimate", "develop.yaml", "--loop", "nothing"), status, 2, 0),
    Option("estimate --root", ("estimate", "{base}/project/draft.yaml", "--root", "{base}/other"), status, 2, 0),
    Option("preview --target", ("preview", "develop.yaml", "--target", "nothing"), status, 2, 0),
    Option("preview --input", ("preview", "develop.yaml", "--input", "ships"), tells("about ships"), True, False),
    Option("preview --param", ("preview", "draft.yaml", "--param", "topic=tea"), tells("about tea"), True, False),
    Option("preview --root", ("preview", "{base}/project/draft.yaml", "--root", "{base}/other"), status, 2, 0),
    Option("definitions --root", ("definitions", "--root", "{base}/other"), tells("develop_it"), False, True),
    Option("convert --into", ("convert", "loops/pair.json", "--to", "workflow", "--into", "made"), made, True,
           False),
    Option("convert --root", ("convert", "{base}/project/loops/pair.json", "--to", "workflow", "--into", "made",
           "--root", "{base}/other"), made, False, True),
    Option("convert --to", ("convert", "loops/pair.json", "--into", "made", "--to", "workflow"), made, True, False),
    Option("convert --loop", ("convert", "develop.yaml", "--to", "role-loop", "--loop", "nothing"), status, 2, 0),
    Option("init --into", ("init", "--into", "{base}/begun"), begun(""), True, False),
    Option("init --provider", ("init", "--into", "{base}/begun", "--provider", "ollama"), begun("ollama"), True, False),
    Option("new --into", ("new", "workflow", "fresh", "--into", "fresh"), holds("fresh/fresh.yaml"), True, False),
    Option("new --provider", ("new", "workflow", "fresh", "--into", "fresh", "--provider", "ollama"),
           holds("fresh/fresh.yaml", "ollama"), True, False),
    Option("new --model", ("new", "workflow", "fresh", "--into", "fresh", "--provider", "ollama", "--model", "tiny"),
           holds("fresh/fresh.yaml", "tiny"), True, False),
    Option("engine token create --user", ("engine", "token", "create", "--user", "ada", "--json"), printed("user"),
           "ada", None),
    Option("engine token create --role", ("engine", "token", "create", "--user", "ada", "--role", "viewer", "--json"),
           printed("role"), "viewer", "editor"),
    Option("engine token create --data-dir", ("engine", "token", "create", "--user", "bo", "--data-dir", "made"),
           made, True, False),
    *(Option(f"engine token {verb} --data-dir", ("engine", "token", verb, *more, "--data-dir", "made"), made, True,
             False) for verb, more in (("list", ()), ("revoke", ("nobody",)))),
    *(Option(f"engine repair {option}", ("engine", "repair", option, folder), tells("No journal found in"), True,
             False) for option, folder in (("--data-dir", "{base}/none"), ("--root", "{base}/kept"))),
    *(Option(f"engine token {verb} --root", ("engine", "token", verb, *more, "--root", "{base}/kept"), kept, True,
             False) for verb, more in (("list", ()), ("revoke", ("nobody",)), ("create", ("--user", "cy")))),
    Option("doctor --data-dir", ("doctor", "--json", "--data-dir", "{base}/away"),
           lambda commands, said: said.json["dataFolder"].endswith("away"), True, False),
    Option("doctor --root", ("doctor", "--json", "--root", "{base}/other"),
           lambda commands, said: said.json["root"].endswith("other"), True, False),
)  # fmt: skip


@pytest.mark.parametrize("row", [pytest.param(row, id=row.name) for row in ROWS])
def test_an_option_changes_what_its_command_does(row: Option, commands: Commands, finished: str) -> None:
    assert row.here != row.there, "such a row could not fail"
    folder = commands.root.parent / row.folder
    base = str(commands.root.parent)
    with_ = tuple(word.replace("{run}", finished).replace("{base}", base) for word in row.words)
    without = row.without if row.without is not None else _left_out(row.name, with_)
    plain = commands(*without, folder=folder)  # first: what is agreed to once stays so
    assert row.sees(commands, plain) == row.there, plain
    told = commands(*with_, folder=folder)
    assert row.sees(commands, told) == row.here, told


def _left_out(name: str, words: tuple[str, ...]) -> tuple[str, ...]:
    """The words without the option and its value."""
    action: argparse.Action = OPTIONS[name]
    at = next(place for place, word in enumerate(words) if word in action.option_strings)
    return words[:at] + words[at + (1 if action.nargs == 0 else 2) :]
