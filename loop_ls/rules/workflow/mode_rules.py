"""What single step modes need: template, embeddings, consensus, rag."""

from __future__ import annotations

import re
from collections.abc import Iterator

from loop_ls.rules.docs.phrases import listed, shortened
from loop_ls.rules.engine.context import Draft, Site, entry_span, value_span
from loop_ls.rules.engine.finding import Severity, Tier
from loop_ls.rules.engine.registry import rule
from loop_ls.rules.engine.tracked_view import View
from loop_ls.rules.workflow.execution_rules import lacks, missing_or_empty, outside_its_list
from loop_ls.text.pattern import pattern

_REASONS = pattern(
    r"\b(?:explain\w*|reason(?:s|ing)?|justif\w+|why|describe\w*|elaborate|discuss\w*|rationale|analy[sz]e\w*"
    r"|summari[sz]e\w*|in detail|comment on|list the|with evidence)\b",
    re.IGNORECASE,
)


@rule("WF205", "template-without-name", Severity.ERROR, on="template", local=True, missing=True)
def template_without_name(site: Site) -> Iterator[Draft]:
    """Template without the workflow to call.

    Bad::
        steps:
          - name: improve
            template:
              with: {input: "{{input}}"}
    Good::
        steps:
          - name: improve
            template:
              name: draft
              with: {input: "{{input}}"}
        #- draft.yaml
        steps:
          - {name: write, run: "Improve {{input}}"}
    """
    if lacks(site, "name"):
        yield site.found(site.label, f"{missing_or_empty(site, 'name')} in `template`: set the workflow to call")


@rule("WF207", "embeddings-without-input", Severity.ERROR, on="embeddings", local=True, missing=True)
def embeddings_without_input(site: Site) -> Iterator[Draft]:
    """`embeddings` with neither `input` nor `input_file`.

    Bad::
        steps:
          - name: vectors
            embeddings: {chunk_strategy: sentence}
    Good::
        steps:
          - name: vectors
            embeddings: {chunk_strategy: sentence, input: "{{input}}"}
    """
    given = [field for key in ("input", "input_file") if (field := site.block.get(key)) is not None]
    if all(field.empty for field in given):
        yield site.found(site.label, "Missing `input` or `input_file` in `embeddings`")


@rule("WF208", "input-beside-file", Severity.WARNING, on="embeddings", local=True)
def input_beside_file(site: Site) -> Iterator[Draft]:
    """`embeddings` with both `input` and `input_file`: the file takes precedence.

    Bad::
        steps:
          - name: vectors
            embeddings: {input: "{{input}}", input_file: notes.txt}
    Good::
        steps:
          - name: vectors
            embeddings: {input_file: notes.txt}
    """
    field, file = site.own("input"), site.block.get("input_file")
    if field is not None and not field.empty and file is not None and not file.empty:
        yield site.found(field.entry.key.span, "`input_file` takes precedence, so this `input` is never used")


@rule("WF801", "consensus-without-prompt", Severity.ERROR, on="consensus", local=True, missing=True)
def consensus_without_prompt(site: Site) -> Iterator[Draft]:
    """Consensus without a prompt.

    Bad::
        steps:
          - name: verdict
            consensus:
              executions:
                - {provider: ollama, model: llama3.2}
                - {provider: openai, model: gpt-4o}
              require: majority
    Good::
        steps:
          - name: verdict
            consensus:
              prompt: "Is {{input}} safe? Answer YES or NO."
              executions:
                - {provider: ollama, model: llama3.2}
                - {provider: openai, model: gpt-4o}
              require: majority
    """
    if lacks(site, "prompt"):
        yield site.found(site.label, f"{missing_or_empty(site, 'prompt')} in `consensus`")


@rule("WF802", "too-few-executions", Severity.ERROR, on="consensus", local=True, missing=True)
def too_few_executions(site: Site) -> Iterator[Draft]:
    """Consensus of fewer than two models.

    Bad::
        steps:
          - name: verdict
            consensus:
              prompt: "Is {{input}} safe? Answer YES or NO."
              executions:
                - {provider: ollama, model: llama3.2}
              require: majority
    Good::
        steps:
          - name: verdict
            consensus:
              prompt: "Is {{input}} safe? Answer YES or NO."
              executions:
                - {provider: ollama, model: llama3.2}
                - {provider: openai, model: gpt-4o}
              require: majority
    """
    field = site.block.get("executions")
    if field is None:
        yield site.found(site.label, "Missing `executions` in `consensus`: list at least two models")
        return
    if not field.entry.merged and not field.faults and len(site.block.blocks("executions")) < 2:
        yield site.found(field.entry.key.span, "`consensus` needs at least two `executions`")


@rule("WF803", "half-an-execution", Severity.ERROR, on="consensus execution", local=True, missing=True)
def half_an_execution(site: Site) -> Iterator[Draft]:
    """Execution of a consensus without `provider` or `model`; it does not inherit them.

    Bad::
        steps:
          - name: verdict
            consensus:
              prompt: "Is {{input}} safe? Answer YES or NO."
              executions:
                - {provider: ollama}
                - {provider: openai, model: gpt-4o}
              require: majority
    Good::
        steps:
          - name: verdict
            consensus:
              prompt: "Is {{input}} safe? Answer YES or NO."
              executions:
                - {provider: ollama, model: llama3.2}
                - {provider: openai, model: gpt-4o}
              require: majority
    """
    lacking = lacks(site, "provider", "model")
    if lacking:
        message = f"Missing {listed(lacking, 'and')} in this execution; a consensus does not inherit them"
        yield site.found(entry_span(site.block), message)


@rule("WF804", "unknown-requirement", Severity.ERROR, on="consensus", local=True, missing=True, fixes=(Tier.SAFE,))
def unknown_requirement(site: Site) -> Iterator[Draft]:
    """Consensus whose `require` is missing, or not `unanimous`, `2/3` or `majority`.

    Bad::
        steps:
          - name: verdict
            consensus:
              prompt: "Is {{input}} safe? Answer YES or NO."
              executions:
                - {provider: ollama, model: llama3.2}
                - {provider: openai, model: gpt-4o}
              require: most
    Good::
        steps:
          - name: verdict
            consensus:
              prompt: "Is {{input}} safe? Answer YES or NO."
              executions:
                - {provider: ollama, model: llama3.2}
                - {provider: openai, model: gpt-4o}
              require: majority
    """
    field = site.block.get("require")
    if field is None or field.empty:
        choices = listed(site.block.shape.keys["require"].choices)
        span = site.label if field is None else field.entry.key.span
        yield site.found(span, f"{missing_or_empty(site, 'require')} in `consensus`; expected {choices}")
        return
    yield from outside_its_list(site, "require")


@rule("WF805", "equal-executions", Severity.WARNING, on="consensus", local=True)
def equal_executions(site: Site) -> Iterator[Draft]:
    """Duplicate provider and model in a consensus.

    The same model asked twice agrees with itself, and mcp-cli counts both as one vote.

    Bad::
        steps:
          - name: verdict
            consensus:
              prompt: "Is {{input}} safe? Answer YES or NO."
              executions:
                - {provider: ollama, model: llama3.2}
                - {provider: ollama, model: llama3.2}
              require: unanimous
    Good::
        steps:
          - name: verdict
            consensus:
              prompt: "Is {{input}} safe? Answer YES or NO."
              executions:
                - {provider: ollama, model: llama3.2}
                - {provider: openai, model: gpt-4o}
              require: unanimous
    """
    seen: dict[tuple[str, str], int] = {}
    for number, block in enumerate(site.block.blocks("executions"), 1):
        provider, model = block.text("provider"), block.text("model")
        if not provider or not model:
            continue
        first = seen.setdefault((provider, model), number)
        if first != number:
            yield site.found(
                entry_span(block), f"Duplicate execution: entry {first} already has `{provider}` and `{model}`"
            )


@rule("WF806", "reasons-never-agree", Severity.INFORMATION, on="consensus", local=True, profile="pedantic")
def reasons_never_agree(site: Site) -> Iterator[Draft]:
    """Consensus that asks for an explanation.

    Votes are whole answers. Two explanations are never worded the same, so the models never agree.

    Bad::
        execution:
          providers: [{provider: ollama, model: llama3.2}, {provider: openai, model: gpt-4o}]
        steps:
          - name: verdict
            consensus:
              prompt: "Is {{input}} safe? Answer YES or NO and explain why."
              executions:
                - {provider: ollama, model: llama3.2}
                - {provider: openai, model: gpt-4o}
              require: unanimous
    Good::
        execution:
          providers: [{provider: ollama, model: llama3.2}, {provider: openai, model: gpt-4o}]
        steps:
          - name: verdict
            consensus:
              prompt: "Is {{input}} safe? Answer with one word, YES or NO."
              executions:
                - {provider: ollama, model: llama3.2}
                - {provider: openai, model: gpt-4o}
              require: unanimous
    """
    field = site.own("prompt")
    if field is None:
        return
    found = _REASONS.search(site.block.text("prompt") or "")
    if found:
        message = f"`{shortened(found[0])}` asks for an explanation, and explanations never match word for word"
        yield site.found(value_span(field), message)


@rule("WF808", "warm-vote", Severity.HINT, on="consensus execution", local=True, profile="pedantic")
def warm_vote(site: Site) -> Iterator[Draft]:
    """Temperature above 0.3 in a consensus: the same model may vote differently each time.

    Bad::
        execution:
          providers: [{provider: ollama, model: llama3.2}, {provider: openai, model: gpt-4o}]
        steps:
          - name: verdict
            consensus:
              prompt: "Is {{input}} safe? Answer YES or NO."
              executions:
                - {provider: ollama, model: llama3.2, temperature: 0.8}
                - {provider: openai, model: gpt-4o}
              require: unanimous
    Good::
        execution:
          providers: [{provider: ollama, model: llama3.2}, {provider: openai, model: gpt-4o}]
        steps:
          - name: verdict
            consensus:
              prompt: "Is {{input}} safe? Answer YES or NO."
              executions:
                - {provider: ollama, model: llama3.2, temperature: 0}
                - {provider: openai, model: gpt-4o}
              require: unanimous
    """
    field, value = site.own("temperature"), site.block.number("temperature")
    if field is not None and value is not None and value > 0.3:
        yield site.found(value_span(field), "Use a temperature of 0.3 or less for more consistent votes")


@rule("WF807", "validate-needs-success", Severity.WARNING, on="step", local=True, about="consensus")
def validate_needs_success(site: Site) -> Iterator[Draft]:
    """Consensus step with `validate` in its name whose prompt never asks for `SUCCESS`.

    mcp-cli fails such a step unless the models answer exactly `SUCCESS`.

    Bad::
        steps:
          - name: validate_plan
            consensus:
              prompt: "Is {{input}} safe? Answer YES or NO."
              executions:
                - {provider: ollama, model: llama3.2}
                - {provider: openai, model: gpt-4o}
              require: unanimous
    Good::
        steps:
          - name: validate_plan
            consensus:
              prompt: "Is {{input}} safe? Answer SUCCESS or FAIL."
              executions:
                - {provider: ollama, model: llama3.2}
                - {provider: openai, model: gpt-4o}
              require: unanimous
    """
    name, consensus = site.block.text("name") or "", site.block.block("consensus")
    if "validate" not in name.casefold() or consensus is None:
        return
    prompt = consensus.text("prompt")
    if prompt and "success" not in prompt.casefold():
        message = f"mcp-cli expects exactly `SUCCESS` from `{shortened(name)}`, but the prompt never asks for it"
        yield site.found(site.label, message)


@rule("WF811", "rag-without-query", Severity.ERROR, on="rag", local=True, missing=True)
def rag_without_query(site: Site) -> Iterator[Draft]:
    """`rag` without `query`.

    Bad::
        steps:
          - name: find
            rag: {server: pgvector}
    Good::
        steps:
          - name: find
            rag: {server: pgvector, query: "{{input}}"}
    """
    if lacks(site, "query"):
        yield site.found(site.label, f"{missing_or_empty(site, 'query')} in `rag`")


@rule("WF812", "rag-without-server", Severity.WARNING, on="rag", missing=True)
def rag_without_server(site: Site, view: View) -> Iterator[Draft]:
    """`rag` without `server`, and no default in the settings: a run of the step is refused.

    The default is `rag.server`, or the only entry of `rag.stores`. Set `server` on the step if other programs, such as
    mcp-cli, run the file.

    Bad::
        steps:
          - name: find
            rag: {query: "{{input}}"}
    Good::
        steps:
          - name: find
            rag: {server: pgvector, query: "{{input}}"}
    """
    if lacks(site, "server") and not view.has_default_store():
        told = (
            f"{missing_or_empty(site, 'server')} in `rag`, and the settings have no default: set `rag.server` "
            "there, or here"
        )
        yield site.found(site.label, told)


@rule("WF813", "unknown-rag-choice", Severity.ERROR, on="rag", local=True, fixes=(Tier.SAFE,))
def unknown_rag_choice(site: Site) -> Iterator[Draft]:
    """`output_format` that fails the search, or a `fusion` that is read as `weighted`.

    Bad::
        steps:
          - name: find
            rag: {server: pgvector, query: "{{input}}", output_format: xml}
    Good::
        steps:
          - name: find
            rag: {server: pgvector, query: "{{input}}", output_format: text}
    """
    for name, severity in (("output_format", None), ("fusion", Severity.WARNING)):
        if (name, site.block.text(name)) != ("fusion", "average"):
            yield from outside_its_list(site, name, severity)


@rule("WF821", "unknown-chunk-strategy", Severity.ERROR, on="embeddings", local=True, fixes=(Tier.SAFE,))
def unknown_chunk_strategy(site: Site) -> Iterator[Draft]:
    """Unknown `chunk_strategy`. Some documents list `semantic` and `sliding`; both fail.

    Bad::
        steps:
          - name: vectors
            embeddings: {input: "{{input}}", chunk_strategy: semantic}
    Good::
        steps:
          - name: vectors
            embeddings: {input: "{{input}}", chunk_strategy: paragraph}
    """
    yield from outside_its_list(site, "chunk_strategy")


@rule("WF822", "unknown-embedding-format", Severity.ERROR, on="embeddings", local=True, fixes=(Tier.SAFE,))
def unknown_embedding_format(site: Site) -> Iterator[Draft]:
    """Unknown `encoding_format` or `output_format` of embeddings.

    Bad::
        steps:
          - name: vectors
            embeddings: {input: "{{input}}", encoding_format: hex}
    Good::
        steps:
          - name: vectors
            embeddings: {input: "{{input}}", encoding_format: base64}
    """
    for name, severity in (("encoding_format", None), ("output_format", Severity.WARNING)):
        yield from outside_its_list(site, name, severity)
