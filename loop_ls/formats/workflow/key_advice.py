"""Advice for keys that people write in workflow files although they do not exist.

Only words; which shape uses which advice is said where the shapes are.
"""

from __future__ import annotations

from loop_ls.formats.common.key_table import Advice

#: Keys of other dialects that have no counterpart anywhere.
ANYWHERE = {
    "inputs": Advice(
        "workflows do not declare inputs: put constants in `env` and arguments in `with`, or pass "
        "parameters with `--param`"
    ),
    "outputs": Advice("workflows do not declare outputs: use the name of a step as the variable with its result"),
    "output": Advice("results need no key: use the name of a step or loop as the variable with its result"),
}

_RETRY = Advice("use `on_failure: retry` and `max_retries`", ("max_retries",))

LOOP = ANYWHERE | {
    "workfow": Advice("did you mean `workflow`?", ("workflow",), rename=True),
    "max_iteration": Advice("did you mean `max_iterations`?", ("max_iterations",), rename=True),
    "pass_env": Advice("pass values by name in `with`", ("with",)),
    "input": Advice(
        "`input` exists only on steps: use `items` for a list, or `with` to pass values",
        ("with", "items"),
    ),
    "execution": Advice("`execution` exists only at top level"),
    "condition": Advice("use `until` for the condition that ends a loop", ("until",), rename=True),
    "template": Advice("use `workflow` for the workflow to repeat", ("workflow",)),
    "on_error": Advice("use `on_failure` in a loop; `on_error` belongs to `execution`", ("on_failure",), rename=True),
    "retry": _RETRY,
    "retries": _RETRY,
}

TOP_LOOP = LOOP | {
    "needs": Advice("loops do not need `needs`: they wait for every step and loop whose variables they use"),
    "if": Advice("only steps support `if`: put the loop into a step with `loop:` to make it conditional"),
}

STEP_LOOP = LOOP | {
    "name": Advice("a loop inside a step has the name of its step"),
    "needs": Advice("`needs` belongs to the step around the loop"),
    "if": Advice("`if` belongs to the step around the loop"),
}

STEP = ANYWHERE | {
    "output_var": Advice("use the name of the step as the variable with its result"),
    "for_each": Advice("use `loop:` with `mode: iterate` and `items`", ("loop",)),
    "item_name": Advice("use `loop:` with `mode: iterate`: the callee reads the item as `{{item}}`"),
    "condition": Advice("use `if`", ("if",), rename=True),
    "on_error": Advice("use `on_failure` in a step; `on_error` belongs to `execution`", ("on_failure",), rename=True),
    "prompt": Advice("use `run` for the prompt of a step", ("run",), rename=True),
    "llm": Advice("use `run` for the prompt of a step", ("run",)),
    "execution": Advice("`execution` exists only at top level; set the same keys directly on the step"),
    "with": Advice("put arguments inside `template` or `loop`"),
    "workflow": Advice(
        "call a workflow once with `template: {name: ...}`, repeatedly with `loop:`", ("template", "loop")
    ),
    "depends_on": Advice("use `needs`", ("needs",), rename=True),
    "retry": _RETRY,
    "retries": _RETRY,
}

TOP = ANYWHERE | {
    "variables": Advice("put constants in `env`", ("env",), rename=True),
    "provider": Advice("put provider and model under `execution`", ("execution",)),
    "model": Advice("put provider and model under `execution`", ("execution",)),
}

TEMPLATE = ANYWHERE | {
    "workflow": Advice("use `name` for the workflow to call", ("name",), rename=True),
    "steps": Advice("a template calls another workflow by `name`", ("name",)),
    "input": Advice("put arguments under `with`", ("with",)),
}

EMBEDDINGS = ANYWHERE | {
    "texts": Advice("use `input`", ("input",), rename=True),
}

CONSENSUS_EXECUTION = ANYWHERE | {
    "servers": Advice("consensus models have no tools: `servers` belongs to a step"),
    "skills": Advice("consensus models have no tools: `skills` belongs to a step"),
}

_ONE_PLACE = "entries of `providers` support only `provider` and `model`: set `{0}` on the step or in `execution`"
PROVIDER = ANYWHERE | {name: Advice(_ONE_PLACE.format(name)) for name in ("temperature", "max_tokens", "timeout")}
