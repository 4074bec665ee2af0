"""One provider and model in place of all that a file names, and what is left as it is."""

from __future__ import annotations

from loop_ls.engine.context.model_targets import embedding_target, step_targets
from loop_ls.formats.common.target import Target
from loop_ls.formats.workflow.model import Consensus, Embeddings, Step, Workflow
from loop_ls.formats.workflow.one_model import OneModel, one_model
from loop_ls.formats.workflow.read import read_workflow

FILE = """\
$schema: "workflow/v2.0"
name: report
version: 1.0.0
execution: {providers: [{provider: openai, model: gpt-4o}, {provider: groq, model: llama}]}
steps:
  - {name: usual, run: "Say {{input}}"}
  - {name: own, provider: anthropic, model: claude, run: "Say {{usual}}"}
  - {name: half, model: mini, run: "Say {{own}}"}
  - {name: chain, providers: [{provider: groq, model: a}, {provider: ollama, model: b}], run: "Say {{half}}"}
  - {name: vectors, embeddings: {input: "{{chain}}"}}
  - name: vote
    consensus:
      prompt: "Say {{chain}}"
      require: unanimous
      executions: [{provider: openai, model: a}, {provider: groq, model: b}]
"""


def read() -> Workflow:
    found = read_workflow(FILE)
    assert isinstance(found, Workflow), found
    return found


def asked(workflow: Workflow) -> dict[str, tuple[Target, ...]]:
    return {one.name: step_targets(one, workflow.execution) for one in workflow.steps if isinstance(one.mode, str)}


def mode_of(workflow: Workflow, name: str) -> Step:
    return next(one for one in workflow.steps if one.name == name)


def test_a_provider_and_a_model_take_the_place_of_all_others() -> None:
    found = OneModel("deepseek-chat", "deepseek").workflow(read())
    assert set(asked(found).values()) == {(Target("deepseek", "deepseek-chat"),)}


def test_a_model_alone_is_asked_of_whatever_provider_comes_first() -> None:
    assert asked(OneModel("large").workflow(read())) == {
        "usual": (Target("openai", "large"),),
        "own": (Target("anthropic", "large"),),
        "half": (Target("openai", "large"),),
        "chain": (Target("groq", "large"),),
    }


def test_vectors_and_votes_stay_what_they_are() -> None:
    before, after = read(), OneModel("deepseek-chat", "deepseek").workflow(read())
    vectors, changed = mode_of(before, "vectors"), mode_of(after, "vectors")
    assert isinstance(vectors.mode, Embeddings)
    assert isinstance(changed.mode, Embeddings)
    target = embedding_target(vectors.mode, vectors, before.execution)
    assert target == embedding_target(changed.mode, changed, after.execution) == Target("openai", "gpt-4o")
    assert isinstance(mode_of(after, "vote").mode, Consensus)
    assert mode_of(after, "vote") == mode_of(before, "vote")


def test_it_is_read_from_a_run_as_it_was_written() -> None:
    for one in (OneModel("large"), OneModel("large", "groq")):
        assert one_model(one.wire()) == one
    assert one_model(None) is None
