"""Who is asked: providers and models of steps, and the constants of `env`."""

from __future__ import annotations

from collections.abc import Iterator

from loop_ls.formats.common.did_you_mean import nearest
from loop_ls.formats.common.providers import PROVIDERS
from loop_ls.formats.common.typed_mapping import Block
from loop_ls.rules.docs.phrases import counted, did_you_mean, listed, shortened
from loop_ls.rules.engine.context import UNNECESSARY, Draft, Site, draft, node_span, value_span
from loop_ls.rules.engine.finding import Severity, Tier
from loop_ls.rules.engine.queries import votes_without_temperature
from loop_ls.rules.engine.registry import also, rule
from loop_ls.rules.engine.tracked_view import View
from loop_ls.rules.fixes import builders
from loop_ls.rules.workflow.text_rules import not_filled


@rule("WF106", "no-model", Severity.ERROR, on="document", missing=True)
def no_model(view: View) -> Iterator[Draft]:
    """Model step without a provider or model.

    A step inherits missing values from `execution`.

    Bad::
        execution: {temperature: 0.2}
        steps:
          - {name: greet, run: "Greet {{input}}"}
    Good::
        execution: {provider: ollama, model: llama3.2, temperature: 0.2}
        steps:
          - {name: greet, run: "Greet {{input}}"}
    """
    top = view.top("execution")
    if top is not None and top.field is not None and top.field.faults:
        return
    lacking = () if view.settles_models() else view.without_model()  # most files have a model for all
    if not lacking:
        return
    element, missing = lacking[0]
    what = listed(missing, "and")
    if top is None or len(lacking) == 1:
        more = f" (and {counted(len(lacking) - 1, 'more step')})" if len(lacking) > 1 else ""
        message = f"Missing {what} for `{shortened(element.name)}`{more}; set it here or in `execution`"
        yield draft(element.piece, element.label_span, message)
        return
    yield draft(top.piece, top.entry.key.span, f"Missing {what} for {counted(len(lacking), 'step')}")


@rule("WF109", "lone-half", Severity.WARNING, on="step")
def lone_half(site: Site, view: View) -> Iterator[Draft]:
    """Only `provider` or only `model` on a step while `execution` has a failover chain.

    It is unclear which entry of the chain it should change, so the chain stays unchanged.

    Bad::
        execution:
          providers: [{provider: ollama, model: llama3.2}, {provider: openai, model: gpt-4o}]
        steps:
          - {name: greet, model: gpt-4o-mini, run: "Greet {{input}}"}
    Good::
        execution:
          providers: [{provider: ollama, model: llama3.2}, {provider: openai, model: gpt-4o}]
        steps:
          - {name: greet, provider: openai, model: gpt-4o-mini, run: "Greet {{input}}"}
    """
    found = _lone(site)
    if found is not None and view.default("providers"):
        message = f"`{found}` alone has no effect while `execution` has `providers`; set both `provider` and `model`"
        yield site.found(site.block.fields[found].entry.key.span, message)


def _lone(site: Site) -> str | None:
    """The one of `provider` and `model` that a step has without the other and without a chain."""
    block = site.block
    if block.has("providers"):
        return None
    written = [key for key in ("provider", "model") if block.meant(key)]
    if len(written) != 1 or site.own(written[0]) is None or block.fields[written[0]].empty:
        return None
    return written[0]


@also("WF109", on="step", profile="compat")
def lone_half_anywhere(site: Site, view: View) -> Iterator[Draft]:
    found = _lone(site)
    if found is not None and not view.default("providers"):
        message = f"mcp-cli ignores `{found}` without its counterpart"
        yield site.found(site.block.fields[found].entry.key.span, message, Severity.INFORMATION)


@rule("WF116", "constant-not-filled", Severity.INFORMATION, on="document")
def constant_not_filled(view: View) -> Iterator[Draft]:
    """Placeholder in a value of `env`: constants do not support variables.

    Bad::
        env: {GREETING: "Hello {{input}}"}
        steps:
          - {name: greet, run: "Say {{env.GREETING}}"}
    Good::
        env: {GREETING: Hello}
        steps:
          - {name: greet, run: "Say {{env.GREETING}} to {{input}}"}
    """
    top = view.top("env")
    told: set[int] = set()
    for stray in view.strays("env"):
        if top is not None and stray.island.name is not None and id(stray.scalar) not in told:
            told.add(id(stray.scalar))
            message = f"`{{{{{stray.island.name}}}}}` stays as text: constants do not support variables"
            yield draft(top.piece, node_span(stray.scalar), message)


@also("WF509", on="document")
def placeholder_in_head(view: View) -> Iterator[Draft]:
    for top in view.tops():
        if top.name in ("env", "steps", "loops") or view.top(top.name) is not top:
            continue
        for stray in view.strays(top.name):
            if stray.island.name is not None:
                yield draft(top.piece, stray.island.span, not_filled(stray.key.name, stray.island))


@rule("WF117", "unread-constant", Severity.HINT, on="document", missing=True)
def unread_constant(view: View) -> Iterator[Draft]:
    """Unused constant in `env`.

    Bad::
        env: {TONE: friendly, LENGTH: short}
        steps:
          - {name: greet, run: "Greet {{input}} in a {{env.TONE}} way"}
    Good::
        env: {TONE: friendly}
        steps:
          - {name: greet, run: "Greet {{input}} in a {{env.TONE}} way"}
    """
    top = view.top("env")
    if top is None:
        return
    for pair in view.constants():
        read = view.is_read(f"env.{pair.name}") or pair.name in view.misspelt_constants()
        if not pair.entry.merged and not read:
            message = f"Unused constant `{{{{env.{shortened(pair.name)}}}}}`"
            yield draft(top.piece, pair.entry.key.span, message, tags=UNNECESSARY)


_ASKING = ("execution", "provider", "step", "embeddings", "consensus execution")


@rule("WF901", "unknown-provider", Severity.INFORMATION, on=_ASKING, fixes=(Tier.SAFE,))
def unknown_provider(site: Site, view: View) -> Iterator[Draft]:
    """Unknown provider.

    The list of providers is open: add yours to `providers` in `.loop-ls.yaml`.

    Bad::
        execution: {provider: antropic, model: claude-sonnet-4}
        steps:
          - {name: greet, run: "Greet {{input}}"}
    Good::
        execution: {provider: anthropic, model: claude-sonnet-4}
        steps:
          - {name: greet, run: "Greet {{input}}"}
    """
    field = site.own("provider")
    name = site.block.text("provider")
    if field is None or not name or view.is_provider(name):
        return
    better = nearest(name, view.provider_names())
    hint = f"; did you mean `{better}`?" if better else ""
    message = f"Unknown provider `{shortened(name)}`{hint}"
    fix = (builders.reword(site.piece, field.span, better),) if better else ()
    yield site.found(value_span(field), message, fixes=fix)


@rule("WF902", "unknown-model", Severity.HINT, on=_ASKING, profile="pedantic")
def unknown_model(site: Site, view: View) -> Iterator[Draft]:
    """Unknown model of a known provider.

    Bad::
        execution:
          providers: [{provider: openai, model: gpt-4oh}, {provider: ollama, model: llama3.2}]
        steps:
          - {name: greeting, run: "Greet {{input}}"}
    Good::
        execution:
          providers: [{provider: openai, model: gpt-4o}, {provider: ollama, model: llama3.2}]
        steps:
          - {name: greeting, run: "Greet {{input}}"}
    """
    field, model = site.own("model"), site.block.text("model")
    provider = site.block.text("provider")
    if provider is None and site.block.shape.name == "step":
        provider = view.default("provider")
    if field is None or not model or provider not in PROVIDERS:
        return
    known = PROVIDERS[provider]
    models = (*known.models, *known.embeddings, *view.models_of(provider))
    if model not in models:
        message = f"Unknown `{provider}` model `{shortened(model)}`{did_you_mean(model, models)}"
        yield site.found(value_span(field), message)


@rule(
    "WF903",
    "too-hot-for-anthropic",
    Severity.INFORMATION,
    on=("execution", "step", "consensus execution"),
    about="temperature",
)
def too_hot_for_anthropic(site: Site, view: View) -> Iterator[Draft]:
    """Temperature above 1 for `anthropic`, which accepts 0 to 1.

    Bad::
        execution: {provider: anthropic, model: claude-sonnet-4, temperature: 1.5}
        steps:
          - {name: greet, run: "Greet {{input}}"}
    Good::
        execution: {provider: anthropic, model: claude-sonnet-4, temperature: 1}
        steps:
          - {name: greet, run: "Greet {{input}}"}
    """
    field, value = site.own("temperature"), site.block.number("temperature")
    if field is not None and value is not None and value > 1 and "anthropic" in _asked(site, view):
        yield site.found(value_span(field), "Temperature must be from 0 to 1 for `anthropic`")


def _asked(site: Site, view: View) -> tuple[str, ...]:
    """The providers that a temperature is for: its own place's, and those of places that inherit it."""
    own = _named(site.block)
    match site.block.shape.name:
        case "execution":
            return (*own, *view.providers_that_inherit_temperature())
        case "step":
            return (*(own or view.chain()), *votes_without_temperature(site.block))
        case _:
            return own


def _named(block: Block) -> tuple[str, ...]:
    texts = [link.text("provider") for link in block.blocks("providers")] or [block.text("provider")]
    return tuple(filter(None, texts))
