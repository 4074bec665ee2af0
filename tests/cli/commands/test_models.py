"""A run against a server that speaks like a provider: consent, keys, faults, exact calls."""

from __future__ import annotations

import json
from typing import Any

from tests.cli.conftest import ANSWERS, CALLEE, DEVELOP, CliProject

KEY = "sk-test-0123456789abcdef"


def flow(project: CliProject) -> None:
    project.write("draft.yaml", CALLEE.replace("scripted", "openai").replace("model: m", "model: gpt-4o-mini"))
    text = DEVELOP.replace("scripted", "openai").replace("model: m", "model: gpt-4o-mini")
    project.write("develop.yaml", text.partition("steps:")[0])


def env(llmock: Any) -> dict[str, str]:
    return {"OPENAI_BASE_URL": llmock.base_url("openai"), "OPENAI_API_KEY": KEY}


def test_where_texts_go_is_agreed_to_once(alone: CliProject, llmock: Any) -> None:
    flow(alone)
    refused = alone.call("run", "develop.yaml", "--input", "ships", **env(llmock))
    assert refused.returncode == 2
    assert "127.0.0.1" in refused.stderr and "OPENAI_API_KEY" in refused.stderr and "--yes" in refused.stderr
    assert KEY not in refused.stderr
    assert llmock.requests == []
    llmock.reply("draft one").reply("NO").reply("draft two").reply("YES")
    done = alone.call("run", "develop.yaml", "--input", "ships", "--yes", **env(llmock))
    assert (done.returncode, done.stdout) == (0, "draft two\n"), done.stderr
    llmock.reply("draft one").reply("YES")
    again = alone.call("run", "develop.yaml", "--input", "ships", **env(llmock))
    assert again.returncode == 0, "the permission is remembered"
    assert len(llmock.requests) == 6
    assert KEY not in (alone.data / "engine.log").read_text("utf-8")


def test_faults_on_the_way_are_survived_or_said(alone: CliProject, llmock: Any) -> None:
    flow(alone)
    llmock.fail(500, retry_after=0.05).reply("draft one").rate_limit(retry_after=0.1).reply("YES")
    done = alone.call("run", "develop.yaml", "--input", "ships", "--yes", "--json", **env(llmock))
    assert json.loads(done.stdout)["reason"] == "condition_met"
    llmock.fail(401, times=None, message=f"Incorrect API key provided: {KEY}")
    refused = alone.call("run", "develop.yaml", "--input", "ships", "--yes", **env(llmock))
    assert refused.returncode == 4
    assert "OPENAI_API_KEY" in refused.stderr
    assert KEY not in refused.stderr
    shown = alone.call("runs", "show", "--json", json.loads(alone.call("runs", "--json").stdout)["runs"][0]["runId"])
    assert KEY not in shown.stdout


def test_half_an_answer_is_not_judged(alone: CliProject, llmock: Any) -> None:
    flow(alone)
    llmock.truncate(after_chunks=3, times=None).reply("one two three four five six", times=None)
    done = alone.call("run", "develop.yaml", "--input", "ships", "--yes", **env(llmock))
    assert done.returncode == 4
    assert "was cut" in done.stderr
    assert len(llmock.requests) == 1


def test_the_scripted_twin_needs_no_consent(alone: CliProject) -> None:
    alone.write("develop.answers.yaml", ANSWERS)
    assert alone.call("run", "develop.yaml", "--input", "ships").returncode == 0
