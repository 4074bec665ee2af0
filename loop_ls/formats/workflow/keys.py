"""The one table of keys of a workflow file.

Validation, completion, hover and the published schema read nothing else. The shapes of single
step modes and of loops stand in modules of their own and are reached through here.
"""

from __future__ import annotations

from loop_ls.formats.common.key_table import Key, Shape, Type, shape
from loop_ls.formats.workflow import key_advice
from loop_ls.formats.workflow.loop_keys import LOOP, STEP_LOOP
from loop_ls.formats.workflow.mode_keys import CONSENSUS, CONSENSUS_EXECUTION, EMBEDDINGS, RAG, TEMPLATE

__all__ = [
    "CONSENSUS",
    "CONSENSUS_EXECUTION",
    "EMBEDDINGS",
    "EXECUTION",
    "LOOP",
    "MODES",
    "PROVIDER",
    "RAG",
    "SHAPES",
    "STEP",
    "STEP_LOOP",
    "TEMPLATE",
    "WORKFLOW",
]

#: `$schema` of a workflow file.
SCHEMA = "workflow/v2.0"

#: What a step may do; exactly one of these keys has to be there.
MODES = ("run", "template", "loop", "consensus", "rag", "embeddings")

_LOGGING = ("info", "error", "warn", "step", "steps", "debug", "verbose", "noisy")
_UNSENT = "mcp-cli reads this but never sends it."
_TOOL_ROUNDS = "Maximum rounds of tool calls per step. Not the iterations of a loop, which are set in the loop."

PROVIDER = shape(
    "provider",
    "an entry of `providers`",
    "One entry of the failover chain. The entries are tried in order; the first answer counts.",
    Key("provider", Type.TEXT, "Provider to use.", required=True, offers="providers"),
    Key("model", Type.TEXT, "Model to use.", required=True, offers="models"),
    wrong=key_advice.PROVIDER,
    closed=True,
)

EXECUTION = shape(
    "execution",
    "`execution`",
    "Defaults for every step of this file. A called workflow uses its own.",
    Key("provider", Type.TEXT, "Provider for steps.", offers="providers"),
    Key("model", Type.TEXT, "Model for steps.", offers="models"),
    Key(
        "providers",
        Type.BLOCKS,
        "A failover chain, tried in order until one answers. Takes precedence over `provider` and `model`.",
        shape=PROVIDER,
    ),
    Key(
        "servers",
        Type.TEXTS,
        "MCP servers whose tools steps may use; `skills` is built in.",
        offers="servers",
        reference="mcp-cli offers all connected tools to every step.",
    ),
    Key(
        "skills",
        Type.TEXTS,
        "Skills for steps: the model gets `skills/NAME/SKILL.md` of each before its prompt.",
        offers="skills",
        reference="mcp-cli enables the skills service but does not limit it to this list.",
    ),
    Key(
        "temperature",
        Type.NUMBER,
        "Sampling temperature: 0 is the most consistent, 2 the most varied.",
        default="0.7",
        minimum=0,
        maximum=2,
        reference=_UNSENT,
    ),
    Key(
        "max_tokens",
        Type.INTEGER,
        "Maximum length of an answer, in tokens.",
        default="4096",
        minimum=1,
        reference=_UNSENT,
    ),
    Key(
        "timeout",
        Type.DURATION,
        "Timeout of one model call.",
        default="the provider's limit",
        positive=True,
        reference="mcp-cli does not enforce it.",
    ),
    Key("max_iterations", Type.INTEGER, _TOOL_ROUNDS, default="10", minimum=1),
    Key(
        "parallel",
        Type.BOOLEAN,
        "Runs steps that do not depend on each other at the same time.",
        default="false",
        reference="mcp-cli may start a step before the step it needs has ended.",
    ),
    Key(
        "max_workers",
        Type.INTEGER,
        "How many steps run at the same time with `parallel: true`; 0 means the default.",
        default="3",
        minimum=0,
        maximum=100,
    ),
    Key(
        "on_error",
        Type.TEXT,
        "What happens when a step fails: `cancel_all` stops everything, `complete_running` lets running "
        "steps finish, `continue` runs the rest, `halt` is the same as `cancel_all`.",
        default="cancel_all",
        choices=("cancel_all", "complete_running", "continue", "halt"),
        reference="With `parallel: true` mcp-cli stops at the first failure under every policy.",
    ),
    Key(
        "logging",
        Type.TEXT,
        "How much `loop-ls run` prints: `debug`, `verbose` and `noisy` print each evaluation of a condition, as "
        "`--verbose` does.",
        default="info",
        choices=_LOGGING,
    ),
    Key("no_color", Type.BOOLEAN, "Accepted, but has no effect: set the variable `NO_COLOR`.", idle=True),
    wrong=key_advice.ANYWHERE,
    closed=True,
)

STEP = shape(
    "step",
    "a step",
    "One piece of work. Its name becomes a variable with its result.",
    Key("name", Type.TEXT, "The name of the step. It becomes a variable with the result.", required=True),
    Key(
        "needs",
        Type.TEXTS,
        "Steps and loops that must finish first.",
        offers="elements",
        reference="With `parallel: true` mcp-cli rejects the name of a loop here.",
    ),
    Key(
        "if",
        Type.TEXT,
        "The step is skipped when this is false: empty, `0` or `false`, or a comparison such as `{{x}} == 'yes'`.",
        default="always",
        interpolated=True,
        unknown="false",
        reference="mcp-cli does not compare: `${{ x == \"v\" }}` is always false there, `{{x}} == 'v'` always true.",
    ),
    Key(
        "run",
        Type.TEXT,
        "Prompt for one model call, with tools if servers or skills are set. The answer is the result.",
        interpolated=True,
    ),
    Key("template", Type.BLOCK, "Calls another workflow once.", shape=TEMPLATE),
    Key("loop", Type.BLOCK, "Calls another workflow repeatedly.", shape=STEP_LOOP),
    Key("consensus", Type.BLOCK, "Asks several models and compares their answers.", shape=CONSENSUS),
    Key("rag", Type.BLOCK, "Searches a vector store.", shape=RAG),
    Key("embeddings", Type.BLOCK, "Turns texts into vectors.", shape=EMBEDDINGS),
    Key(
        "provider",
        Type.TEXT,
        "The provider of this step. Without `model` the model of `execution` is used.",
        inherits=("execution",),
        offers="providers",
        reference="mcp-cli ignores `provider` without `model`.",
    ),
    Key(
        "model",
        Type.TEXT,
        "The model of this step. Without `provider` the provider of `execution` is used.",
        inherits=("execution",),
        offers="models",
        reference="mcp-cli ignores `model` without `provider`.",
    ),
    Key(
        "providers",
        Type.BLOCKS,
        "A failover chain for this step, tried in order. Takes precedence over `provider` and `model`.",
        shape=PROVIDER,
        inherits=("execution",),
    ),
    Key(
        "temperature",
        Type.NUMBER,
        "Sampling temperature: 0 is the most consistent, 2 the most varied.",
        default="0.7",
        minimum=0,
        maximum=2,
        inherits=("execution",),
        reference=_UNSENT,
    ),
    Key(
        "max_tokens",
        Type.INTEGER,
        "Maximum length of an answer, in tokens.",
        minimum=1,
        inherits=("execution",),
        reference=_UNSENT,
    ),
    Key(
        "timeout",
        Type.DURATION,
        "Timeout of one model call of this step.",
        default="the provider's limit",
        positive=True,
        inherits=("execution",),
        reference="mcp-cli does not enforce it.",
    ),
    Key("max_iterations", Type.INTEGER, _TOOL_ROUNDS, default="10", minimum=1, inherits=("execution",)),
    Key(
        "servers",
        Type.TEXTS,
        "MCP servers whose tools this step may use, instead of those in `execution`.",
        inherits=("execution",),
        offers="servers",
        reference="mcp-cli adds them to those of `execution`.",
    ),
    Key(
        "skills",
        Type.TEXTS,
        "Skills of this step (`skills/NAME/SKILL.md`), instead of those in `execution`.",
        inherits=("execution",),
        offers="skills",
    ),
    Key(
        "on_failure",
        Type.TEXT,
        "What happens when the step fails: `halt` fails the workflow, `continue` proceeds with an empty "
        "result, `retry` tries again.",
        default="halt",
        choices=("halt", "continue", "retry"),
        inherits=("execution.on_error",),
        reference="mcp-cli supports it only for `run` steps and treats `retry` as `halt`.",
    ),
    Key(
        "max_retries",
        Type.INTEGER,
        "Maximum retries of a failed step with `on_failure: retry`.",
        default="3 with `on_failure: retry`",
        minimum=0,
        reference="mcp-cli ignores it.",
    ),
    Key(
        "execution_order",
        Type.INTEGER,
        "Of the steps that are ready, the lowest number runs first; `needs` takes precedence.",
        reference="mcp-cli ignores it.",
    ),
    Key(
        "logging",
        Type.TEXT,
        "Accepted, but has no effect: `logging` of `execution` counts.",
        choices=_LOGGING,
        inherits=("execution",),
        idle=True,
    ),
    Key("no_color", Type.BOOLEAN, "Accepted, but has no effect.", inherits=("execution",), idle=True),
    Key("input", Type.ANY, "Accepted, but has no effect: pass values with `with`.", idle=True),
    wrong=key_advice.STEP,
    one_of=MODES,
    closed=True,
)

WORKFLOW = shape(
    "workflow",
    "a workflow",
    "A workflow file: steps and loops that prompt models and call other workflows.",
    Key("$schema", Type.TEXT, "Makes this file a workflow.", required=True, choices=(SCHEMA,)),
    Key(
        "name",
        Type.TEXT,
        "Name that callers use. The file name does not matter; by convention both are the same, in snake_case.",
        required=True,
    ),
    Key("version", Type.TEXT, "The version of this workflow, as MAJOR.MINOR.PATCH.", required=True),
    Key("description", Type.TEXT, "What the workflow does; shown in lists and to models that may call it as a tool."),
    Key("execution", Type.BLOCK, "Defaults for every step: provider, model and limits.", shape=EXECUTION),
    Key(
        "env",
        Type.TEXT_MAP,
        "Constants, read as `{{env.KEY}}`. `${NAME}` inserts a variable of the process environment. "
        "Called workflows do not see them.",
        reference="mcp-cli does not expand `${NAME}`.",
    ),
    Key("steps", Type.BLOCKS, "The steps. The last one in the list gives the result of the workflow.", shape=STEP),
    Key(
        "loops",
        Type.BLOCKS,
        "Loops that call another workflow repeatedly.",
        shape=LOOP,
        reference="mcp-cli rejects a file with loops but no steps.",
    ),
    wrong=key_advice.TOP,
    closed=True,
)

#: Every shape by name.
SHAPES: dict[str, Shape] = {
    one.name: one
    for one in (
        *(WORKFLOW, EXECUTION, PROVIDER, STEP, TEMPLATE, LOOP, STEP_LOOP),
        *(CONSENSUS, CONSENSUS_EXECUTION, RAG, EMBEDDINGS),
    )
}
