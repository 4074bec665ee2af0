"""Starts of workflow files: what refuses them, and what their first fact holds."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from loop_ls.client.consent import agreed
from loop_ls.engine.core.errors import Refused
from loop_ls.engine.core.plan import Plan, read_plan
from loop_ls.engine.core.ports import ModelFailure
from loop_ls.engine.core.preparer import Prepared, Problem
from loop_ls.engine.core.price_table import Price, known_price
from loop_ls.engine.core.start_request import read_request
from loop_ls.engine.money.pricing import price_of
from loop_ls.engine.starting.workflow import WorkflowPreparer
from loop_ls.index.document import Document
from loop_ls.index.workspace import Workspace
from loop_ls.testing.models import ScriptedModels
from loop_ls.text.hash import hash_of

HEAD = """
$schema: "workflow/v2.0"
name: {name}
version: "1.0.0"
description: for tests
execution: {{provider: {provider}, model: m}}
"""
MAIN = """
loops:
  - name: develop
    workflow: cycle
    with: {goal: "{{plan}}", previous: "{{loop.last.output}}"}
    max_iterations: 5
    until: "The review says PASS"
steps:
  - name: plan
    run: "Plan {{input}}"
  - name: aside
    run: "Talk about {{topic}}"
  - name: report
    needs: [develop]
    run: "Report {{develop}}"
"""
CYCLE = """
steps:
  - name: write
    run: "Write {{goal}}, better than {{previous}}"
"""


class PartlyBrokenModels(ScriptedModels):
    """Models of which some cannot be asked."""

    def __init__(self, *broken: str) -> None:
        super().__init__()
        self.broken = broken

    def problem(self, name: str) -> ModelFailure | None:
        if name in self.broken:
            return ModelFailure("missing_key", f"Provider `{name}` has no key.", "Set its variable.")
        return None


class StartProject:
    """A workspace on the disk, a data folder, and a preparer over both."""

    def __init__(self, folder: Path) -> None:
        self.root, self.data = folder / "project", folder / "data"
        self.data.mkdir(parents=True)
        self.root.mkdir()
        self.errors: dict[str, list[Problem]] = {}
        self.checked: list[str] = []
        self.broken: tuple[str, ...] = ()
        self.environ: dict[str, str] = {}
        self.preparer = WorkflowPreparer(self.data, self.validate, self.environ)
        self.write("main.yaml", MAIN)
        self.write("cycle.yaml", CYCLE)

    def write(self, path: str, text: str, provider: str = "ollama") -> str:
        whole = HEAD.format(name=Path(path).stem, provider=provider) + textwrap.dedent(text)
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(whole)
        return whole

    def settings(self, text: str) -> None:
        (self.root / ".loop-ls.yaml").write_text(textwrap.dedent(text))

    def validate(self, workspace: Workspace, documents: Sequence[Document]) -> list[list[Problem]]:
        names = [Path(document.path).name for document in documents]
        self.checked += names
        return [self.errors.get(name, []) for name in names]

    async def start(self, path: str = "main.yaml", **others: Any) -> Prepared:
        given = {"input": "a tool", "parameters": {"topic": "weather"}, **others}
        request = read_request({"root": str(self.root), "path": str(self.root / path), **given})
        return await self.preparer.prepare(request, lambda plan: PartlyBrokenModels(*self.broken))

    async def refused(self, path: str = "main.yaml", **others: Any) -> Refused:
        with pytest.raises(Refused) as refused:
            await self.start(path, **others)
        return refused.value

    async def plan(self, **others: Any) -> Plan:
        prepared = await self.start(**others)
        return read_plan("r", json.loads(json.dumps(prepared.started.fact()[1])), prepared.texts.__getitem__)


@pytest.fixture
def project(tmp_path: Path) -> StartProject:
    return StartProject(tmp_path)


def loop(name: str) -> dict[str, str]:
    return {"kind": "loop", "name": name}


def step(name: str) -> dict[str, str]:
    return {"kind": "step", "name": name}


async def test_a_parameter_that_the_file_does_not_read_is_told(project: StartProject) -> None:
    project.write("one.yaml", "steps: [{name: write, run: 'About {{topic}}: {{input}}'}]\n")
    given = {"topic": "rain", "topik": "snow", "n": "3"}
    told = (await project.start("one.yaml", parameters=given)).more["warnings"]
    assert told == [
        "one.yaml does not read the parameter `topik`; did you mean `topic`?",
        "one.yaml does not read the parameter `n`.",
    ]
    assert "warnings" not in (await project.start("one.yaml", parameters={"topic": "rain"})).more


async def test_the_first_fact_holds_all_that_the_run_needs(project: StartProject) -> None:
    project.write("other.yaml", CYCLE)
    plan = await project.plan()
    assert set(plan.texts) == {"main.yaml", "cycle.yaml"}
    assert plan.texts["cycle.yaml"] == (project.root / "cycle.yaml").read_text()
    assert dict(plan.keys) == {"main": "main.yaml", "cycle": "cycle.yaml"}
    assert (plan.name, plan.path, plan.elements, plan.input) == ("main", "main.yaml", None, "a tool")


async def test_texts_are_named_by_their_hash(project: StartProject) -> None:
    prepared = await project.start()
    text = (project.root / "main.yaml").read_text()
    assert prepared.started.files["main.yaml"] == hash_of(text)
    assert prepared.texts[hash_of(text)] == text
    assert text not in str(prepared.started.fact())


async def test_a_loop_runs_what_it_depends_on_and_nothing_after_it(project: StartProject) -> None:
    plan = await project.plan(target=loop("develop"), parameters={})
    assert plan.elements == ("develop", "plan")
    prepared = await project.start(target=loop("develop"), parameters={}, maxIterations=3)
    assert prepared.started.limits == {
        "maxIterations": 3,
        "criterion": {"type": "condition", "value": "The review says PASS"},
    }


async def test_a_step_reaches_only_what_it_needs(project: StartProject) -> None:
    project.errors["cycle.yaml"] = [Problem("WF201", "no name", 3)]
    plan = await project.plan(target=step("plan"), parameters={})
    assert (plan.elements, set(plan.texts)) == (("plan",), {"main.yaml"})
    assert (await project.refused(target=step("report"))).code == "file_has_errors"


async def test_a_file_that_is_not_there_is_refused_before_its_folder_is_looked_through(
    project: StartProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    def looked_through(root: str) -> None:
        raise AssertionError(root)

    monkeypatch.setattr("loop_ls.engine.starting.folder.candidates", looked_through)
    assert (await project.refused("none.yaml")).code == "not_found"


async def test_targets_that_are_not_there_or_something_else_are_refused(project: StartProject) -> None:
    assert (await project.refused(target=loop("nothing"))).code == "not_found"
    assert (await project.refused(target=loop("plan"))).message == "`plan` is a step, not a loop."
    assert (await project.refused("none.yaml")).code == "not_found"
    (project.root / "notes.yaml").write_text("a: 1\n")
    assert (await project.refused("notes.yaml")).code == "bad_argument"


async def test_a_folder_of_outputs_that_is_not_the_projects_own_is_refused_before_the_start(
    project: StartProject,
) -> None:
    project.settings("outputsDir: /tmp\n")
    refused = await project.refused()
    assert (refused.code, "`outputsDir` cannot be `/tmp`" in refused.message) == ("file_has_errors", True)
    project.settings("outputsDir: out\n")
    await project.start()
    (project.root / ".loop-ls.yaml").unlink()
    assert (await project.refused(settings={"outputsDir": "../else"})).code == "file_has_errors"


async def test_WB_044_a_file_with_an_error_is_refused_by_naming_it(project: StartProject) -> None:
    project.errors["main.yaml"] = [Problem("WF403", "`max_iterations` is missing", 9), Problem("WF006", "x", 11)]
    refused = await project.refused()
    assert refused.message == "main.yaml has 2 errors: line 9, WF403: `max_iterations` is missing"
    assert [each["line"] for each in refused.details["findings"]] == [9, 11]


async def test_WB_044_an_error_in_a_called_file_counts_too(project: StartProject) -> None:
    project.errors["cycle.yaml"] = [Problem("WF203", "nothing to do", 7)]
    assert (await project.refused()).details["path"] == "cycle.yaml"


async def test_a_file_that_is_not_there_is_refused_without_looking_through_its_folder(
    project: StartProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The folder may be `/`."""
    walked: list[str] = []
    monkeypatch.setattr(
        "loop_ls.engine.starting.folder.candidates", lambda folder: (walked.append(folder) or (), False)
    )
    assert (await project.refused("none.yaml")).code == "not_found"
    assert walked == []


async def test_WB_049_a_file_that_is_not_called_does_not_count(project: StartProject) -> None:
    (project.root / "broken.yaml").write_text('$schema: "workflow/v2.0"\nname: broken\nsteps: [\n')
    await project.start()
    assert project.checked == ["main.yaml", "cycle.yaml"]


async def test_WB_045_repeated_blocks_run_joined(project: StartProject) -> None:
    project.write("twice.yaml", 'steps:\n  - {name: a, run: "A"}\nsteps:\n  - {name: b, run: "{{a}}"}\n')
    project.errors["twice.yaml"] = [Problem("WF005", "`steps` is written twice", 9)]
    await project.start("twice.yaml")


async def test_WB_047_any_other_repeated_key_is_refused(project: StartProject) -> None:
    project.write("twice.yaml", 'steps:\n  - {name: a, run: "A", run: "B"}\n')
    project.errors["twice.yaml"] = [Problem("WF005", "`run` is written twice", 8)]
    assert (await project.refused("twice.yaml")).code == "file_has_errors"


async def test_WB_059_a_cycle_is_refused_and_its_path_is_named(project: StartProject) -> None:
    project.write("ring.yaml", 'steps:\n  - {name: a, run: "{{b}}"}\n  - {name: b, run: "{{a}}"}\n')
    refused = await project.refused("ring.yaml")
    assert refused.code == "file_has_errors"
    assert "`a` → `b` → `a`" in refused.message


async def test_what_nobody_supplies_is_asked_for_by_name(project: StartProject) -> None:
    refused = await project.refused(input=None, parameters={})
    assert (refused.code, refused.details) == ("input_required", {"names": ["input", "topic"]})
    assert (await project.refused(parameters={})).details == {"names": ["topic"]}
    assert (await project.refused(target=loop("develop"), input=None)).details == {"names": ["input"]}
    await project.start(target=step("plan"), input="", parameters={})


async def test_unsaved_texts_of_the_editor_are_what_runs(project: StartProject) -> None:
    changed = project.write("cycle.yaml", CYCLE.replace("Write", "Draft"))
    project.write("cycle.yaml", CYCLE)
    texts = {str(project.root / "cycle.yaml"): changed, "/elsewhere/x.yaml": "y"}
    plan = await project.plan(texts=texts)
    assert plan.texts["cycle.yaml"] == changed
    new = {str(project.root / "new.yaml"): changed.replace("name: cycle", "name: new")}
    assert set((await project.plan(path="new.yaml", texts=new, parameters={"goal": "", "previous": ""})).texts) == {
        "new.yaml"
    }


async def test_a_file_that_changed_is_read_again(project: StartProject) -> None:
    await project.start()
    project.write("moved.yaml", CYCLE.replace("Write", "Draft"))
    (project.root / "cycle.yaml").unlink()
    renamed = (project.root / "moved.yaml").read_text().replace("name: moved", "name: cycle")
    (project.root / "moved.yaml").write_text(renamed)
    assert dict((await project.plan()).keys)["cycle"] == "moved.yaml"


async def test_WB_105_the_workflow_in_the_callers_folder_wins(project: StartProject) -> None:
    project.write("deep/cycle.yaml", CYCLE.replace("Write", "Dig"))
    project.write("deep/main.yaml", MAIN)
    assert dict((await project.plan(path="deep/main.yaml")).keys)["deep/cycle"] == "deep/cycle.yaml"


async def test_a_callee_that_does_not_exist_is_refused(project: StartProject) -> None:
    (project.root / "cycle.yaml").unlink()
    refused = await project.refused()
    assert (refused.code, "cycle" in refused.message) == ("not_found", True)


async def test_a_start_is_refused_when_nobody_can_be_asked(project: StartProject) -> None:
    project.broken = ("ollama",)
    refused = await project.refused()
    assert refused.code == "provider_unavailable"
    assert refused.message.endswith("provider `ollama` has no key.")
    assert refused.hint == "Set its variable."
    two = "[{provider: ollama, model: m}, {provider: lmstudio, model: m}]"
    project.write("chain.yaml", f"steps:\n  - {{name: a, run: A, providers: {two}}}\n")
    await project.start("chain.yaml")


async def test_the_models_of_a_vote_are_shown_before_they_are_asked(project: StartProject) -> None:
    vote = "prompt: x, require: majority, executions: [{provider: openai, model: m}, {provider: ollama, model: m}]"
    project.write("vote.yaml", f"steps:\n  - {{name: vote, consensus: {{{vote}}}}}\n")
    refused = await project.refused("vote.yaml")
    assert refused.code == "consent_required"
    assert [each["host"] for each in refused.details["endpoints"]] == ["api.openai.com"]
    await project.start("vote.yaml", consent=agreed(project.data, refused.details))
    await project.start("vote.yaml")


async def test_whom_a_start_names_is_asked_judged_priced_and_agreed_to(project: StartProject) -> None:
    acme = "providers: {acme: {baseUrl: 'https://acme.dev/v1', defaultModel: big}}\n"
    project.settings(f"limits: {{budgetUsd: 1}}\n{acme}")
    started = {"provider": "acme"}
    assert "`big` of `acme`, whose price is unknown" in (await project.refused(**started)).message
    project.settings(acme)
    asked = await project.refused(**started)
    assert (asked.code, asked.details["capabilities"]) == ("consent_required", ["sends data to acme.dev"])
    consent = agreed(project.data, asked.details)
    plan = await project.plan(**started, consent=consent)
    assert plan.details["instead"] == {"provider": "acme", "model": "big"}
    assert "instead" not in (await project.plan()).details


async def test_a_provider_that_nobody_knows_is_refused_with_the_nearest_one(project: StartProject) -> None:
    refused = await project.refused(provider="olama", model="m")
    assert (refused.code, refused.message) == (
        "bad_argument",
        "Unknown provider `olama`; did you mean `ollama`?",
    )


async def test_a_variable_of_the_environment_is_shown_before_it_goes_anywhere(project: StartProject) -> None:
    text = project.write("leak.yaml", 'env: {K: "${MY_SECRET}"}\nsteps:\n  - {name: a, run: "{{env.K}}"}\n', "openai")
    assert "MY_SECRET" in text
    refused = await project.refused("leak.yaml")
    assert [each["variable"] for each in refused.details["endpoints"]] == ["MY_SECRET", "OPENAI_API_KEY"]


async def test_a_mock_run_needs_no_provider_and_no_consent(project: StartProject) -> None:
    project.write("paid.yaml", CYCLE, "openai")
    project.broken = ("openai",)
    prepared = await project.start("paid.yaml", mock=True, parameters={"goal": "", "previous": ""})
    assert prepared.started.mock


async def test_nobody_to_judge_is_refused_before_anything_is_paid(project: StartProject) -> None:
    bare = (project.root / "main.yaml").read_text().replace("execution: {provider: ollama, model: m}", "")
    (project.root / "main.yaml").write_text(bare)
    called = (project.root / "cycle.yaml").read_text().replace("execution: {provider: ollama, model: m}", "")
    (project.root / "cycle.yaml").write_text(called)
    assert (await project.refused()).code == "provider_unavailable"


async def test_settings_of_the_project_are_recorded_without_anything_secret(project: StartProject) -> None:
    project.settings(
        """
        judge: {provider: ollama, model: judge}
        rules: {WF103: off}
        providers:
          mine: {kind: openai, baseUrl: "https://example.test/${MY_KEY}/v1", apiKeyEnv: MY_KEY}
        """
    )
    project.environ["MY_KEY"] = "sk-very-secret"
    prepared = await project.start()
    assert prepared.started.settings == {
        "judge": {"provider": "ollama", "model": "judge"},
        "providers": {
            "mine": {"kind": "openai", "baseUrl": "https://example.test/${MY_KEY}/v1", "apiKeyEnv": "MY_KEY"}
        },
    }
    project.settings("providers: {mine: {kind: openai, baseUrl: 'https://me:secret@example.test/v1'}}")
    refused = await project.refused()
    assert refused.message.startswith("`providers.mine.baseUrl` contains a user name or a password")
    assert "secret" not in refused.message
    assert "secret" not in str(prepared)


async def test_the_narrower_of_two_caps_holds_and_stands_in_the_first_fact(project: StartProject) -> None:
    project.settings("limits: {budgetUsd: 5, wallClock: 10m, maxTokens: 900}")
    prepared = await project.start(limits={"budgetUsd": 0.5, "wallClock": "1h"})
    assert prepared.started.limits == {"budgetUsd": 0.5, "wallClock": 600, "maxTokens": 900}


async def test_a_cap_on_dollars_needs_the_price_of_every_model(project: StartProject) -> None:
    project.settings("""
        limits: {budgetUsd: 5}
        judge: {provider: deepseek, model: nobody-knows}
    """)
    project.environ["DEEPSEEK_API_KEY"] = "sk-0123456789abcdef"
    refused = await project.refused()
    assert refused.code == "bad_argument"
    assert "nobody-knows" in refused.message and "providers.deepseek.price" in refused.hint


async def test_a_turn_of_codex_costs_what_the_table_says_of_its_model(project: StartProject) -> None:
    project.settings("limits: {budgetUsd: 5}\njudge: {provider: codex, model: nobody-knows}")
    refused = await project.refused()
    assert (refused.code, "`nobody-knows` of `codex`, whose price is unknown" in refused.message) == (
        "bad_argument",
        True,
    )
    project.settings("limits: {budgetUsd: 5}\njudge: {provider: codex, model: gpt-5}")
    assert (await project.refused()).code == "consent_required"
    assert price_of("codex", "gpt-5", {}, {}) == known_price("openai", "gpt-5")
    assert price_of("codex", "", {}, {}) is None, "which model it asks is in its own settings"
    assert price_of("codex", "gpt-5", {"codex": {"price": {"input": 1, "output": 2}}}, {}) == Price(1.0, 2.0)


@pytest.mark.parametrize(
    "limits", [3, {"budgetUSD": 1}, {"budgetUsd": 0}, {"budgetUsd": True}, {"maxTokens": 1.5}, {"wallClock": "soon"}]
)
async def test_UP_44_a_cap_that_is_misspelt_refuses_the_start(project: StartProject, limits: Any) -> None:
    assert (await project.refused(limits=limits)).code == "bad_argument"


async def test_the_projects_ceiling_bounds_what_a_start_may_ask(project: StartProject) -> None:
    project.settings("limits: {maxIterations: 3}")
    prepared = await project.start(target=loop("develop"), maxIterations=9)
    assert prepared.started.limits["maxIterations"] == 3


def test_requests_that_make_no_sense_are_refused(tmp_path: Path) -> None:
    good = {"root": str(tmp_path), "path": str(tmp_path / "a.yaml")}
    for wrong in (
        *([], {}, {"path": 3}, {**good, "root": "/nowhere"}, {**good, "path": "/etc/passwd"}),
        *({**good, "path": f"{tmp_path}/../x.yaml"}, {**good, "target": {"kind": "loop"}}, {**good, "target": 1}),
        *({**good, "target": {"kind": "galaxy", "name": "x"}}, {**good, "maxIterations": 0}, {**good, "input": 1}),
        *(
            {**good, "maxIterations": True},
            {**good, "parameters": []},
            {**good, "target": {"kind": "assistant", "name": 3}},
        ),
    ):
        with pytest.raises(Refused) as refused:
            read_request(wrong)
        assert refused.value.code == "bad_argument"


def test_a_request_may_name_its_file_by_uri_and_its_parameters_as_they_come(tmp_path: Path) -> None:
    request = read_request({"root": str(tmp_path), "uri": f"file://{tmp_path}/a%20b.yaml", "parameters": {"n": 3}})
    assert (request.path, request.parameters, request.input) == ("a b.yaml", {"n": "3"}, None)


async def test_files_are_checked_among_all_that_they_can_call(project: StartProject) -> None:
    """Else a rule would miss the callee of an element that is not even run."""
    project.write("other.yaml", CYCLE)
    two = MAIN + '  - {name: more, template: {name: other, with: {goal: "{{plan}}", previous: ""}}}\n'
    project.write("main.yaml", two)
    seen: list[set[str | None]] = []

    def validate(workspace: Workspace, documents: Sequence[Document]) -> list[list[Problem]]:
        seen.append({document.name for document in workspace.documents.values()})
        return [[] for _ in documents]

    project.preparer = WorkflowPreparer(project.data, validate)
    await project.start(target=step("plan"), parameters={})
    assert seen[0] == {"main", "cycle", "other"}


@pytest.mark.parametrize(("levels", "starts"), [(16, True), (17, False), (40, False)])
async def test_calls_that_are_too_deep_are_refused_before_the_start_in_one_sentence(
    project: StartProject, levels: int, starts: bool
) -> None:
    for number in range(levels):
        project.write(f"w{number}.yaml", f"steps: [{{name: s, template: {{name: w{number + 1}}}}}]")
    project.write(f"w{levels}.yaml", "steps: [{name: s, run: Do}]")
    if starts:
        assert (await project.start("w0.yaml")).started.name == "w0"
        return
    refused = await project.refused("w0.yaml")
    assert refused.code == "file_has_errors"
    assert refused.message == "`w0` calls workflows 17 levels deep, down to `w17`; the limit is 16 levels"


LOOP = "loops: [{{name: l, mode: iterate, items: '[1]', workflow: {0}, max_iterations: 1}}]"
BLOCK = "steps: [{{name: s, loop: {{workflow: {0}, max_iterations: 1, until: x}}}}]"
MIXED = "steps: [{{name: s, template: {{name: {0}}}}}]\n" + LOOP.replace("name: l,", "name: second,")


@pytest.mark.parametrize("calls", [LOOP, BLOCK, MIXED], ids=["loops", "loops of steps", "both"])
async def test_calls_of_loops_are_counted_as_deep_as_those_of_steps(project: StartProject, calls: str) -> None:
    for number in range(17):
        project.write(f"w{number}.yaml", calls.format(f"w{number + 1}"))
    project.write("w17.yaml", "steps: [{name: s, run: Do}]")
    assert (await project.start("w1.yaml")).started.name == "w1"
    refused = await project.refused("w0.yaml")
    assert refused.message == "`w0` calls workflows 17 levels deep, down to `w17`; the limit is 16 levels"


@pytest.mark.parametrize("value", [0, -1, float("nan"), float("inf"), 10**400, "1", True, None, [1]])
@pytest.mark.parametrize("name", ["budgetUsd", "maxTokens", "wallClock", "unchanged"])
def test_a_cap_that_is_no_amount_is_refused_in_words(tmp_path: Path, name: str, value: Any) -> None:
    (tmp_path / "main.yaml").touch()
    with pytest.raises(Refused) as refused:
        read_request({"root": str(tmp_path), "path": str(tmp_path / "main.yaml"), "limits": {name: value}})
    assert refused.value.answer()["code"] == "bad_argument"
    assert f"`limits.{name}`" in refused.value.message
