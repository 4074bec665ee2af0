"""A provider and model in place of those that files name: what a start says for one run.

Everybody who would ask a model of a step or of `execution` asks this one, judges included unless the settings name one.
Voters of a consensus and whoever makes vectors stay: a vote of one model is none, and vectors of two models cannot
be compared.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, replace

from loop_ls.formats.common.providers import DEFAULT_MODELS
from loop_ls.formats.common.target import Target
from loop_ls.formats.workflow.model import Consensus, Element, Embeddings, Execution, Step, Workflow
from loop_ls.text.json_value import Json, JsonObject, as_object, text_field


@dataclass(frozen=True, slots=True)
class OneModel:
    """`provider` None: the model is another one of whatever provider the files name first."""

    model: str
    provider: str | None = None

    def of(self, target: Target) -> Target:
        return Target(self.provider or target.provider, self.model)

    def chain(self, targets: tuple[Target, ...]) -> tuple[Target, ...]:
        """One of the others would be asked where this one fails, which nobody wants who names it."""
        return tuple(self.of(one) for one in targets[:1])

    def workflow(self, found: Workflow) -> Workflow:
        elements = tuple(self._element(one, found.execution) for one in found.elements)
        return replace(found, execution=self._execution(found.execution), elements=elements)

    def wire(self) -> JsonObject:
        return {"model": self.model, **({"provider": self.provider} if self.provider else {})}

    def _execution(self, execution: Execution) -> Execution:
        if self.provider is None and execution.providers:
            return replace(execution, providers=self.chain(execution.providers))
        return replace(execution, provider=self.provider or execution.provider, model=self.model, providers=())

    def _element(self, element: Element, execution: Execution) -> Element:
        match element:
            case Step(mode=Embeddings() as mode):
                return replace(element, mode=_as_before(mode, element, execution))
            case Step(mode=Consensus()):
                return element
            case Step():
                providers = () if self.provider else self.chain(element.providers)
                provider = None if self.provider else element.provider
                return replace(element, provider=provider, model=provider and self.model, providers=providers)
            case _:
                return element


def _as_before(mode: Embeddings, step: Step, execution: Execution) -> Embeddings:
    """With the names that `execution` would have given."""
    first = next(iter(execution.providers), Target("", ""))
    provider = mode.provider or step.provider or execution.provider or first.provider or None
    model = mode.model or step.model or execution.model or first.model or None
    return replace(mode, provider=provider, model=model)


def one_model(told: Json) -> OneModel | None:
    """As a run has recorded it."""
    given = as_object(told)
    model = text_field(given, "model")
    return OneModel(model, text_field(given, "provider") or None) if model else None


@dataclass(eq=False)
class NoModel(Exception):
    """Nobody knows whom somebody has named: one sentence, and what to do."""

    message: str
    hint: str


def chosen_model(provider: str | None, model: str | None, settings: Mapping[str, Json]) -> OneModel | None:
    """Whom somebody names in place of all that files name; `settings` is the section `providers`. Raises `NoModel`."""
    if provider is None:
        return OneModel(model) if model else None
    own = as_object(settings.get(provider))
    if provider not in DEFAULT_MODELS and not (own.get("kind") or own.get("baseUrl")):
        raise unknown_provider(provider, settings)
    found = model or text_field(own, "defaultModel") or DEFAULT_MODELS.get(provider)
    if not found:
        raise NoModel(f"`{provider}` has no default model, and none is set.", "Set one with `--model`.")
    return OneModel(found, provider)


def unknown_provider(name: str, settings: Mapping[str, Json]) -> NoModel:
    names = sorted({*DEFAULT_MODELS, *settings})
    near = difflib.get_close_matches(name, names, n=1)
    guess = f"; did you mean `{near[0]}`?" if near else "."
    hint = (
        f"Known providers: {', '.join(names)}; add others under `providers` in .loop-ls.yaml, with `kind` and "
        "`baseUrl`."
    )
    return NoModel(f"Unknown provider `{name}`{guess}", hint)
