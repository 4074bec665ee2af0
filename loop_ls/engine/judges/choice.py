"""Who decides an `until`: the `judge` setting, or the models that the workflows themselves use.

In order: the setting `judge`, the calling workflow's own `execution`, the callee's, the setting
`assist`. With `judge: {local: true}` a condition that names the text to look for needs nobody; one
that takes judgement goes to the model that the same setting names, and to no other: a run that was
promised to make no judge's call is refused instead.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from loop_ls.engine.context.model_targets import execution_targets
from loop_ls.engine.core.ports import Failure
from loop_ls.formats.workflow.local_condition import LocalCondition, read_local
from loop_ls.formats.workflow.model import Execution, Loop, Target
from loop_ls.text.json_value import Json, as_object


@dataclass(frozen=True, slots=True)
class JudgeSettings:
    """The settings `judge` and `assist`."""

    judge: tuple[Target, ...] = ()
    local: bool = False
    assist: tuple[Target, ...] = ()
    impossible: bool = False

    @staticmethod
    def of(settings: Mapping[str, Json]) -> JudgeSettings:
        judge = as_object(settings.get("judge"))
        assist = _target(as_object(settings.get("assist")))
        return JudgeSettings(_target(judge), judge.get("local") is True, assist, judge.get("impossible") is True)

    def asking(self, targets: tuple[Target, ...], timeout: float | None = None) -> Choice:
        """That models decide, by the answers which these settings offer them."""
        return Choice(targets=targets, timeout=timeout, impossible=self.impossible)


@dataclass(frozen=True, slots=True)
class Choice:
    """Who decides: `local`, else the targets in order. `timeout` is the limit of one question; `impossible`: whether
    IMPOSSIBLE is an answer to it."""

    local: LocalCondition | None = None
    targets: tuple[Target, ...] = ()
    timeout: float | None = None
    impossible: bool = False


def choose_judge(loop: Loop, caller: Execution, callee: Execution, settings: JudgeSettings) -> Choice:
    """Who decides this loop's `until`. Raises `Failure` (a refusal) when nobody can."""
    local = read_local(loop.until or "") if settings.local else None
    if local is not None:
        return Choice(local=local)
    if settings.judge:
        return settings.asking(settings.judge)
    if settings.local:
        raise Failure(
            "bad_argument",
            f"`until` of `{loop.name}` needs a model to judge it, but `judge.local` is set and no judge "
            "model is configured",
            "name the text to look for, e.g. The output says PASS; or add `provider` and `model` to `judge`",
        )
    if targets := execution_targets(caller):
        return settings.asking(targets, caller.timeout)
    if targets := execution_targets(callee):
        return settings.asking(targets, callee.timeout)
    if settings.assist:
        return settings.asking(settings.assist)
    raise Failure(
        "provider_unavailable",
        f"no model to judge `until` of `{loop.name}`: neither its workflow nor the called one sets one",
        "add `execution` with `provider` and `model` to the workflow, or the setting `judge`",
    )


def _target(setting: Mapping[str, Json]) -> tuple[Target, ...]:
    provider, model = setting.get("provider"), setting.get("model")
    return (Target(str(provider), str(model)),) if provider and model else ()
