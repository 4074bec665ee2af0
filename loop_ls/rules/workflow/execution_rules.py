"""`execution`: who is asked, how much at a time, and what the log says."""

from __future__ import annotations

from collections.abc import Iterator

from loop_ls.formats.common.did_you_mean import nearest
from loop_ls.formats.common.typed_mapping import Field
from loop_ls.rules.docs.phrases import did_you_mean, listed, shortened
from loop_ls.rules.engine.context import Draft, Site, entry_span, value_span
from loop_ls.rules.engine.finding import Fix, Severity, Tier
from loop_ls.rules.engine.registry import also, rule
from loop_ls.rules.fixes import builders


@rule("WF107", "pair-beside-chain", Severity.WARNING, on=("execution", "step"), local=True, about="providers")
def pair_beside_chain(site: Site) -> Iterator[Draft]:
    """`provider` or `model` together with `providers`.

    The failover chain takes precedence, so the single provider and model are never used.

    Bad::
        execution:
          provider: ollama
          model: llama3.2
          providers:
            - {provider: openai, model: gpt-4o}
        steps:
          - {name: greet, run: "Greet {{input}}"}
    Good::
        execution:
          providers:
            - {provider: ollama, model: llama3.2}
            - {provider: openai, model: gpt-4o}
        steps:
          - {name: greet, run: "Greet {{input}}"}
    """
    chain = site.block.get("providers")
    if chain is None or not (chain.value or chain.faults):
        return
    written = [field for field in site.own_fields() if field.key.name in ("provider", "model")]
    if written:
        first = min(written, key=lambda field: field.entry.key.span.start)
        message = f"`providers` takes precedence, so this `{first.key.name}` is never used"
        yield site.found(first.entry.key.span, message)


@rule("WF108", "half-a-provider", Severity.ERROR, on="provider", local=True, missing=True)
def half_a_provider(site: Site) -> Iterator[Draft]:
    """Entry of a failover chain without `provider` or `model`.

    Bad::
        execution:
          providers:
            - {provider: openai, model: gpt-4o}
            - provider: anthropic
        steps:
          - {name: greet, run: "Greet {{input}}"}
    Good::
        execution:
          providers:
            - {provider: openai, model: gpt-4o}
            - {provider: anthropic, model: claude-sonnet-4}
        steps:
          - {name: greet, run: "Greet {{input}}"}
    """
    lacking = lacks(site, "provider", "model")
    if lacking:
        yield site.found(entry_span(site.block), f"Missing {listed(lacking, 'and')} in this entry of `providers`")


def lacks(site: Site, *keys: str) -> list[str]:
    """Of texts that have to be there those that are missing, empty or nothing but blanks."""
    return [key for key in keys if not site.block.meant(key) or is_blank(site.block.text(key))]


def is_blank(text: str | None) -> bool:
    return text is not None and not text.strip()


def missing_or_empty(site: Site, key: str) -> str:
    """How to say that a value is missing: whether its key is."""
    return f"Empty `{key}`" if site.block.has(key) else f"Missing `{key}`"


def outside_its_list(site: Site, name: str, severity: Severity | None = None) -> Iterator[Draft]:
    """The value of a key with a closed list that is not on the list."""
    field = site.own(name)
    if field is None or field.empty or not isinstance(field.value, str) or field.value in field.key.choices:
        return
    choices = field.key.choices
    message = f"Unknown `{name}` `{shortened(field.value)}`; expected {listed(choices)}"
    message += did_you_mean(field.value, choices)
    yield site.found(value_span(field), message, severity, fixes=nearest_choice(site, field, field.value))


#: What some documents call a value that is on the list.
_MEANT = {("logging", "normal"): "info"}


def nearest_choice(site: Site, field: Field, value: str) -> tuple[Fix, ...]:
    better = _MEANT.get((field.key.name, value.casefold())) or nearest(value, field.key.choices)
    if better is None or field.scalar is not field.node:
        return ()
    return (builders.reword(site.piece, field.span, better),)


@rule("WF110", "unknown-log-level", Severity.ERROR, on="execution", local=True, fixes=(Tier.SAFE,))
def unknown_log_level(site: Site) -> Iterator[Draft]:
    """Unknown `logging` level.

    The levels are `error`, `warn`, `info`, `step` (or `steps`), `debug`, `verbose` and `noisy`. Some
    documents mention `normal`, which is rejected; use `info`.

    Bad::
        execution:
          provider: ollama
          model: llama3.2
          logging: normal
        steps:
          - {name: greet, run: "Greet {{input}}"}
    Good::
        execution:
          provider: ollama
          model: llama3.2
          logging: info
        steps:
          - {name: greet, run: "Greet {{input}}"}
    """
    yield from _logging(site, None)


@also("WF110", on="step", local=True)
def unknown_log_level_of_a_step(site: Site) -> Iterator[Draft]:
    yield from _logging(site, Severity.WARNING)


def _logging(site: Site, severity: Severity | None) -> Iterator[Draft]:
    yield from outside_its_list(site, "logging", severity)


@rule("WF111", "unknown-error-policy", Severity.ERROR, on="execution", local=True, fixes=(Tier.SAFE,))
def unknown_error_policy(site: Site) -> Iterator[Draft]:
    """Unknown `on_error`.

    Bad::
        execution:
          provider: ollama
          model: llama3.2
          on_error: abort_all
        steps:
          - {name: greet, run: "Greet {{input}}"}
    Good::
        execution:
          provider: ollama
          model: llama3.2
          on_error: cancel_all
        steps:
          - {name: greet, run: "Greet {{input}}"}
    """
    yield from outside_its_list(site, "on_error")


@rule("WF112", "workers-out-of-range", Severity.ERROR, on="execution", local=True)
def workers_out_of_range(site: Site) -> Iterator[Draft]:
    """Number of workers outside 0 to 100.

    Bad::
        execution:
          provider: ollama
          model: llama3.2
          parallel: true
          max_workers: 101
        steps:
          - {name: greet, run: "Greet {{input}}"}
    Good::
        execution:
          provider: ollama
          model: llama3.2
          parallel: true
          max_workers: 10
        steps:
          - {name: greet, run: "Greet {{input}}"}
    """
    field, workers = site.own("max_workers"), site.block.integer("max_workers")
    if field is not None and workers is not None and not 0 <= workers <= 100:
        yield site.found(value_span(field), "`max_workers` must be from 0 to 100 (0 means the default, 3)")


@rule("WF113", "workers-without-parallel", Severity.ERROR, on="execution", local=True, fixes=(Tier.SAFE,))
def workers_without_parallel(site: Site) -> Iterator[Draft]:
    """Workers without `parallel: true`.

    Steps then run one after the other, and mcp-cli rejects the workflow.

    Bad::
        execution:
          provider: ollama
          model: llama3.2
          max_workers: 4
        steps:
          - {name: greet, run: "Greet {{input}}"}
    Good::
        execution:
          provider: ollama
          model: llama3.2
          parallel: true
          max_workers: 4
        steps:
          - {name: greet, run: "Greet {{input}}"}
    """
    field, workers = site.own("max_workers"), site.block.integer("max_workers")
    parallel = site.block.get("parallel")
    if (
        field is None
        or workers is None
        or workers <= 0
        or (parallel is not None and (parallel.value or parallel.faults))
    ):
        return
    yield site.found(
        field.entry.key.span,
        "`max_workers` needs `parallel: true`",
        fixes=(
            builders.set_key(site.piece, site.block, "parallel", "true", "Set `parallel: true`"),
            builders.remove_key(site.piece, site.block, field.entry),
        ),
    )


@rule("WF120", "no-failover", Severity.HINT, on="execution", local=True, profile="pedantic")
def no_failover(site: Site) -> Iterator[Draft]:
    """Single provider: when it fails, so does the workflow.

    Bad::
        execution:
          provider: ollama
          model: llama3.2
        steps:
          - {name: greeting, run: "Greet {{input}}"}
    Good::
        execution:
          providers:
            - {provider: ollama, model: llama3.2}
            - {provider: openai, model: gpt-4o}
        steps:
          - {name: greeting, run: "Greet {{input}}"}
    """
    field = site.own("provider")
    if field is not None and not site.block.has("providers"):
        yield site.found(field.entry.key.span, "A single `provider` has no failover; list several in `providers`")
