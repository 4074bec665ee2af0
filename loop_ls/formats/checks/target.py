"""What a check looks at, as the key `on` spells it, and what the loop file beside has of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from loop_ls.formats.checks.model import Target, TargetKind
from loop_ls.formats.common.did_you_mean import nearest
from loop_ls.text.record import equal_record


def target_of(written: str, every: bool = False) -> Target | None:
    """What a text behind `on` names; None: nothing."""
    kind, dot, name = written.partition(".")
    match kind:
        case "result" | "run" if not dot:
            return Target("run" if kind == "run" else "result")
        case "step" | "stage" as named if name:
            return Target(named, name)
        case "loop" if name:
            return Target("loop", name, every)
        case _:
            return None


#: The variable of a test case, and of the texts of checks, that is the text a run is started with.
INPUT = "input"


@equal_record
class Missing:
    """What a loop file does not have: a sentence, and how `on` is spelt right."""

    told: str
    better: str | None = None


@equal_record
class Places:
    """What checks of one loop file may look at besides its result and its run: names by the kind of place. A kind that
    is not there is none of this format. `needs` are the variables that a start has to be given, `reads` all that it
    makes something of."""

    loop_file: str
    names: Mapping[TargetKind, Sequence[str]]
    needs: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()

    def missing(self, target: Target) -> Missing | None:
        """None: it is there, or names nothing."""
        if not target.name:
            return None
        names = self.names.get(target.kind)
        if names is None:
            return self._of_other_kind(target)
        if target.name in names:
            return None
        near = nearest(target.name, names)
        guess = f"; did you mean `{near}`?" if near else ""
        told = f"`{self.loop_file}` has no {target.kind} `{target.name}`{guess}"
        return Missing(told, f"{target.kind}.{near}" if near else None)

    def _of_other_kind(self, target: Target) -> Missing:
        own: TargetKind = "stage" if target.kind == "step" else "step"
        names = self.names.get(own)
        if names is None:
            return Missing(f"`{self.loop_file}` has no {target.kind}s; write `result`", "result")
        told = f"`{self.loop_file}` has {own}s, no {target.kind}s"
        return Missing(f"{told}; write `{own}.{target.name}`", f"{own}.{target.name}" if target.name in names else None)

    @property
    def part(self) -> TargetKind:
        """What the parts are called of which some may give verdicts."""
        return "stage" if "stage" in self.names else "step"

    @property
    def parts(self) -> Sequence[str]:
        return self.names.get(self.part, ())

    @property
    def written(self) -> tuple[str, ...]:
        """Everything that `on` may say."""
        return ("result", *(f"{kind}.{name}" for kind, names in self.names.items() for name in names), "run")
