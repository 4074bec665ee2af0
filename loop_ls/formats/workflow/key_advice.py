"""Advice for keys that people write in workflow files although they do not exist.

Only words; which shape uses which advice is said where the shapes are.
"""

from __future__ import annotations

from loop_ls.formats.common.key_table import Advice

#: Keys of other dialects that have no counterpart anywhere.
ANYWHERE = {
    "inputs": Advice("a workflow has no list of inputs: constants go into `env`, arguments into `with`"),
    "outputs": Advice("a workflow has no list of outputs: the name of a step is the variable with its result"),
    "output": Advice("a result needs no key: the name of a step or loop is the variable with its result"),
}

_RETRY = Advice("write `on_failure: retry`, and how often in `max_retries`", ("max_retries",))

LOOP = ANYWHERE | {
    "workfow": Advice("the key is `workflow`", ("workflow",), rename=True),
    "max_iteration": Advice("the key is `max_iterations`", ("max_iterations",), rename=True),
    "pass_env": Advice("hand values over by name in `with`", ("with",)),
    "input": Advice(
        "`input` exists on steps only: use `items` to go through a list, or `with` to hand values over",
        ("with", "items"),
    ),
    "execution": Advice("`execution` exists at top level only"),
    "condition": Advice("the condition that ends a loop is `until`", ("until",), rename=True),
    "template": Advice("a loop names what it repeats in `workflow`", ("workflow",)),
    "on_error": Advice("a loop says `on_failure`; `on_error` belongs to `execution`", ("on_failure",), rename=True),
    "retry": _RETRY,
    "retries": _RETRY,
}

TOP_LOOP = LOOP | {
    "needs": Advice("a loop has no `needs`: it waits for every step and loop whose variables it uses"),
    "if": Advice("only a step can have `if`: put the loop into a step with `loop:` to make it conditional"),
}

STEP_LOOP = LOOP | {
    "name": Advice("a loop inside a step takes the name of its step"),
    "needs": Advice("`needs` belongs to the step around the loop"),
    "if": Advice("`if` belongs to the step around the loop"),
}

STEP = ANYWHERE | {
    "output_var": Advice("the name of the step is the variable with its result"),
    "for_each": Advice("use `loop:` with `mode: iterate` and `items`", ("loop",)),
    "item_name": Advice("use `loop:` with `mode: iterate`: the callee reads the item as `{{item}}`"),
    "condition": Advice("the key is `if`", ("if",), rename=True),
    "on_error": Advice("a step says `on_failure`; `on_error` belongs to `execution`", ("on_failure",), rename=True),
    "prompt": Advice("the prompt of a step is `run`", ("run",), rename=True),
    "llm": Advice("the prompt of a step is `run`", ("run",)),
    "execution": Advice("`execution` exists at top level only; a step sets the same keys directly"),
    "with": Advice("arguments stand inside `template` or `loop`"),
    "workflow": Advice(
        "call a workflow once with `template: {name: ...}`, repeatedly with `loop:`", ("template", "loop")
    ),
    "depends_on": Advice("the key is `needs`", ("needs",), rename=True),
    "retry": _RETRY,
    "retries": _RETRY,
}

TOP = ANYWHERE | {
    "variables": Advice("constants go into `env`", ("env",), rename=True),
    "provider": Advice("provider and model stand under `execution`", ("execution",)),
    "model": Advice("provider and model stand under `execution`", ("execution",)),
}

TEMPLATE = ANYWHERE | {
    "workflow": Advice("the called workflow is `name`", ("name",), rename=True),
    "steps": Advice("a template calls another workflow by `name`", ("name",)),
    "input": Advice("arguments stand under `with`", ("with",)),
}

EMBEDDINGS = ANYWHERE | {
    "texts": Advice("the key is `input`", ("input",), rename=True),
}

CONSENSUS_EXECUTION = ANYWHERE | {
    "servers": Advice("a consensus asks models without tools: `servers` belongs to a step"),
    "skills": Advice("a consensus asks models without tools: `skills` belongs to a step"),
}

_ONE_PLACE = "an entry of `providers` holds `provider` and `model` only: set `{0}` on the step or in `execution`"
PROVIDER = ANYWHERE | {name: Advice(_ONE_PLACE.format(name)) for name in ("temperature", "max_tokens", "timeout")}
