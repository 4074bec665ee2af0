"""What a run may cost before it is started: model calls at least and at most, money where it is known.

Calls are those of `index.calls`: retries aside, which are told in words. Money needs a price of
every model that may be asked; how long prompts and answers get is assumed, and the reasons say so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from loop_ls.contract.amounts import count
from loop_ls.features.estimate.answers import Dollars, Estimate, Price, PriceOf
from loop_ls.features.estimate.declared_checks import told_of_checks
from loop_ls.features.estimate.script_price import script_price
from loop_ls.features.language_support import support_of
from loop_ls.formats.common.providers import PROVIDERS
from loop_ls.formats.common.target import Target
from loop_ls.formats.settings.price import price_faults
from loop_ls.formats.workflow.one_model import OneModel
from loop_ls.index.calls import NONE, Calls, CallTable, asks_judge, element_calls, most_iterations
from loop_ls.index.disk.discovery import read_text
from loop_ls.index.document import Document
from loop_ls.index.effective import effective
from loop_ls.index.element import Element
from loop_ls.index.workspace import Workspace
from loop_ls.text.json_value import Json

#: Tokens that a call is taken to send, and to get back where `max_tokens` does not say.
TOKENS_IN, TOKENS_OUT = 2_000, 1_000
_MILLION = 1_000_000
#: The provider that follows a script without any settings.
SCRIPTED = "scripted"


def estimate(
    workspace: Workspace,
    document: Document,
    element: Element | None = None,
    price: PriceOf | None = None,
    assistant: str | None = None,
) -> Estimate:
    """Of a whole workflow, or of a step or loop with what it depends on; of a role loop as a whole; of one
    `assistant` of a file, or of all."""
    found = support_of(document).estimate(workspace, document, element, price, assistant)
    if element is not None or not (told := told_of_checks(workspace, document)):
        return found
    return replace(found, why=f"{found.why} {told}".strip())


def estimate_of_workflow(
    workspace: Workspace,
    document: Document,
    element: Element | None = None,
    price: PriceOf | None = None,
    instead: OneModel | None = None,
) -> Estimate:
    """`instead`: whom the run asks in place of those that its files name."""
    chosen = run_with(document, element)
    calls = _once(workspace, document, chosen)
    asked = _Asked(workspace, instead)
    for one in chosen:
        asked.take(document, one)
    known = price or price_of(workspace, document)
    usd, said = _money(asked, calls, known)
    why = (*_reasons(workspace, document, chosen), *said)
    if element is None:
        return _in_rounds(workspace, document, Estimate(calls, usd, " ".join(why)), known)
    return Estimate(calls, usd, " ".join(why))


def run_calls(workspace: Workspace, document: Document, once: CallTable | None = None) -> Calls:
    """The calls that `estimate` tells of a run of a workflow; rounds and plans of an enhance loop included. Lenses
    tell the same."""
    calls = (once or CallTable(workspace, document)).whole()
    from loop_ls.features.estimate.enhance import knobs_of, with_rounds

    own = knobs_of(workspace, document)
    return calls if own is None else with_rounds(own, calls, None, lambda: None)[0]


def _once(workspace: Workspace, document: Document, chosen: tuple[Element, ...]) -> Calls:
    calls = NONE
    for one in chosen:
        calls = calls.plus(element_calls(workspace, document, one))
    return calls


def _in_rounds(workspace: Workspace, document: Document, once: Estimate, price: PriceOf) -> Estimate:
    """A run of a workflow whose switch is on is an enhance loop."""
    from loop_ls.features.estimate.enhance import knobs_of, planner_of, with_rounds

    own = knobs_of(workspace, document)
    if own is None:
        return once
    planner = planner_of(workspace, document, own)

    def plan() -> float | None:
        found = None if planner is None else price(planner)
        return None if found is None else (found[0] * TOKENS_IN + found[1] * TOKENS_OUT) / _MILLION

    calls, usd, told = with_rounds(own, once.calls, once.usd, plan)
    return Estimate(calls, None if usd is None else Dollars(*usd), f"{told} {once.why}".strip())


def estimate_of_role_loop(workspace: Workspace, document: Document, price: PriceOf) -> Estimate:
    from loop_ls.features.estimate.role_loop import calls_of

    calls, why, targets, unnamed = calls_of(workspace, document)
    asked = _Asked(workspace)
    asked.targets, asked.unnamed = dict.fromkeys(targets), unnamed
    usd, said = _money(asked, calls, price)
    return Estimate(calls, usd, " ".join((*why, *said)))


def estimate_of_assistants(workspace: Workspace, document: Document, name: str | None) -> Estimate:
    from loop_ls.features.estimate.assistant import estimate_of

    calls, usd, why = estimate_of(document, workspace.settings, name)
    return Estimate(calls, None if usd is None else Dollars(*usd), " ".join(why))


def run_with(document: Document, element: Element | None) -> tuple[Element, ...]:
    """The elements that a run of this target runs: all, or what it depends on and itself (protocol 2)."""
    if element is None:
        return tuple(document.elements)
    own = document.position(element)
    wanted = sorted({*document.graph.dependencies(own), own})
    return tuple(document.elements[index] for index in wanted)


def price_of(workspace: Workspace, document: Document) -> PriceOf:
    """Prices of the settings, and of scripts; models on this machine cost nothing."""
    raw = workspace.settings.raw.get("providers")

    def price(target: Target) -> Price:
        own = raw.get(target.provider) if isinstance(raw, dict) else None
        said = own.get("price") if isinstance(own, dict) else None
        if said is not None:
            return None if any(price_faults(said)) else (float(said["input"]), float(said["output"]))
        kind = own.get("kind") if isinstance(own, dict) else None
        if kind == "scripted" or (kind is None and target.provider == SCRIPTED):
            return price_of_script(workspace, document, own if isinstance(own, dict) else {})
        if kind == "local":
            return 0.0, 0.0
        known = PROVIDERS.get(target.provider)
        return (0.0, 0.0) if known is not None and known.local else None

    return price


def price_of_script(workspace: Workspace, document: Document, own: Mapping[str, Json]) -> tuple[float, float]:
    """Of a scripted provider with these settings: what its script says, which is mostly nothing."""
    root = workspace.roots.workspace

    def read(path: str) -> str | None:
        inside = not path.startswith("/") and ".." not in path.split("/")
        text = read_text(f"{root}/{path}") if inside else None
        return None if text is None else str(text)

    return script_price(own, document.path.removeprefix(f"{root}/"), read) or (0.0, 0.0)


# -- why ------------------------------------------------------------------------------------------


def _reasons(workspace: Workspace, document: Document, chosen: tuple[Element, ...]) -> Iterator[str]:
    for one in chosen:
        found = element_calls(workspace, document, one)
        name = one.name or "an element without name"
        if found.most is None:
            yield f"`{name}` has no maximum number of calls{_unbounded(workspace, document, one)}."
        elif one.loop is not None and one.loop_mode is not None:
            limit = most_iterations(workspace, one)
            what = "item" if one.loop_mode == "iterate" else "iteration"
            judged = ", including the judge" if asks_judge(workspace, one) else ""
            yield f"`{name}`: at most {count(limit or 0, what)}, {count(found.most, 'call')} in total{judged}."
        elif found.most > 1:
            yield f"`{name}`: at most {count(found.most, 'call')}."
    retried = [one for one in chosen if effective(document, one).on_failure.value == "retry"]
    if retried:
        tries = max(effective(document, one).max_retries.value for one in retried)
        more = count(tries, "time")
        yield f"After failures {_names(retried)} may be retried up to {more} each; these calls are not counted."


def _unbounded(workspace: Workspace, document: Document, element: Element) -> str:
    if element.loop is not None and not element.loop.has("max_iterations"):
        return ": it has no `max_iterations`"
    if element.reference is not None and workspace.callee(document, element.reference) is None:
        return f": unknown workflow `{element.reference.text}`"
    return ": it calls workflows that may call it again or that have no limit"


def _names(elements: list[Element]) -> str:
    names = [f"`{one.name}`" for one in elements[:3]]
    return ", ".join(names) + (" and others" if len(elements) > 3 else "")


# -- who is asked ---------------------------------------------------------------------------------


#: Modes whose models a start does not exchange.
_OWN_MODELS = ("consensus", "embeddings")


class _Asked:
    """Every model that a run may ask, and the longest answer that one may give."""

    def __init__(self, workspace: Workspace, instead: OneModel | None = None) -> None:
        self._workspace, self._instead = workspace, instead
        self.targets: dict[Target, None] = {}
        self.longest: int | None = 0
        self.unnamed = False
        self._seen: set[str] = set()

    def take(self, document: Document, element: Element) -> None:
        given = effective(document, element)
        if element.mode != "template" and (element.loop is None or element.loop_mode == "refine"):
            own = [
                one for block in element.block.walk() for one in _written(block.text("provider"), block.text("model"))
            ]
            if self._instead is not None and element.mode not in _OWN_MODELS:
                own = list(self._instead.chain(given.models.chain or tuple(own)))
            else:
                own += given.models.chain
            self.targets |= dict.fromkeys(own)
            self.unnamed |= not own
            tokens = given.max_tokens.value
            self.longest = None if tokens is None or self.longest is None else max(self.longest, tokens)
        callee = self._workspace.callee(document, element.reference)
        if callee is not None and callee.uri not in self._seen:
            self._seen.add(callee.uri)
            for one in callee.elements:
                self.take(callee, one)


def _written(provider: str | None, model: str | None) -> tuple[Target, ...]:
    return (Target(provider, model),) if provider and model else ()


def _money(asked: _Asked, calls: Calls, price: PriceOf) -> tuple[Dollars | None, tuple[str, ...]]:
    """From the cheapest model for the fewest calls to the dearest for the most."""
    if calls.most == 0:
        return Dollars(0.0, 0.0), ("No model is called.",)
    if asked.unnamed:
        return None, ("Unknown price: some calls have no provider and model.",)
    prices = {target: price(target) for target in asked.targets}
    unknown = [target for target, found in prices.items() if found is None]
    if unknown:
        names = ", ".join(f"`{one.provider}` `{one.model}`" for one in unknown[:3])
        return None, (f"Unknown price for {names}; set `providers.<name>.price` in `.loop-ls.yaml`.",)
    known = [found for found in prices.values() if found is not None]
    costs = [(sent * TOKENS_IN + got * (asked.longest or TOKENS_OUT)) / _MILLION for sent, got in known]
    if max(costs, default=0.0) == 0:
        return Dollars(0.0, 0.0), ("All models run on this machine, so there is no cost.",)
    if calls.most is None:
        return None, ()
    answer = "as long as `max_tokens` allows" if asked.longest else f"{TOKENS_OUT} tokens long"
    said = f"Assumed per call: {TOKENS_IN} input tokens and an answer that is {answer}."
    return Dollars(min(costs) * calls.least, max(costs) * calls.most), (said,)
