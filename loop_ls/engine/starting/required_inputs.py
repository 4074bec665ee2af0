"""What the chosen part of a workflow asks of its start: inputs, models that can be asked, and their prices."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from loop_ls.engine.core.errors import Refused
from loop_ls.engine.core.plan import ModelAccess
from loop_ls.engine.core.ports import ModelFailure
from loop_ls.engine.core.price_table import Price
from loop_ls.formats.common.did_you_mean import nearest
from loop_ls.formats.common.target import Target
from loop_ls.index.document import Document

#: Under this name the answers of a mock run are looked for before it starts.
MOCKED = "mock"


def missing_inputs(
    document: Document, elements: frozenset[str] | None, given: str | None, parameters: Mapping[str, str]
) -> list[str]:
    """`input` and the parameters that these elements use and that nobody supplies, in order of use."""
    free = {name for name in document.parameters if name not in parameters}
    if given is None:
        free.add("input")
    used = (
        use.path[0]
        for element in document.elements
        if elements is None or element.name in elements
        for use in element.uses
    )
    return list(dict.fromkeys(name for name in used if name in free))


def require_inputs(missing: list[str], fields: Sequence[Mapping[str, str]] = ()) -> None:
    """Raises `Refused(input_required)` with the names, and what is known of them for whoever asks a person."""
    if missing:
        listed = ", ".join(f"`{name}`" for name in missing)
        details = {"names": missing, **({"fields": list(fields)} if fields else {})}
        raise Refused("input_required", f"The run needs {listed}.", "Pass a value for each.", details)


def unread_parameters(names: Iterable[str], read: Sequence[str], path: str) -> list[str]:
    """A sentence for each parameter of a start that the file does not read: a slip is seldom seen in the outputs."""
    unknown = [name for name in names if name not in read]
    meant = [nearest(name, read) for name in unknown]
    return [
        f"{path} does not read the parameter `{name}`" + (f"; did you mean `{near}`?" if near else ".")
        for name, near in zip(unknown, meant, strict=True)
    ]


def require_prices(asked: Iterable[tuple[str, tuple[Target, ...]]], price: Callable[[Target], Price | None]) -> None:
    """Raises `Refused`: under a cap on dollars every call needs a price, else the cap would not hold."""
    for who, targets in asked:
        for target in targets:
            if price(target) is None:
                model = f"`{target.model}`" if target.model else "the default model"
                told = f"{who} uses {model} of `{target.provider}`, whose price is unknown"
                raise Refused(
                    "bad_argument",
                    f"{told}, so `limits.budgetUsd` cannot be enforced.",
                    f"Set `providers.{target.provider}.price`, e.g. {{input: 3, output: 15}}, or use"
                    " `limits.maxTokens` instead.",
                    {"provider": target.provider, "model": target.model},
                )


def require_models(
    asked: Iterable[tuple[str, tuple[Target, ...]]], problem: Callable[[str], ModelFailure | None]
) -> None:
    """Raises `Refused(provider_unavailable)` for the first chain of which nobody can be asked."""
    for who, targets in asked:
        problems = [problem(target.provider) for target in targets]
        first = problems[0] if problems else None
        if first is not None and all(problems):
            told = f"{who} cannot use its model: {_lowered(first.message)}"
            raise Refused("provider_unavailable", told, first.hint, {"provider": targets[0].provider})
        if not targets:
            raise Refused(
                "provider_unavailable",
                f"{who} has no provider and model, and neither does `execution`.",
                "Add `provider` and `model` to `execution`.",
            )


def require_mock(access: ModelAccess) -> None:
    """A mock run asks nobody, and needs all the same answers that can be read. Raises `Refused`."""
    if (problem := access.problem(MOCKED)) is not None:
        raise Refused("file_has_errors", problem.message, problem.hint)


def _lowered(sentence: str) -> str:
    return sentence[:1].lower() + sentence[1:] if sentence[:2].istitle() else sentence
