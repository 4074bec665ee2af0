"""The one table of keys of a role-loop definition.

The value of a termination condition has a shape of its own for every type; `VALUES` leads there.
Which texts, numbers and placeholders a value may be is said in `formats.common.json_types`.
"""

from __future__ import annotations

from types import MappingProxyType

from loop_ls.formats.common.key_table import Advice, Key, Shape, Type, shape

#: Types of a termination condition, the ones that people need most first.
EVALUATION, ITERATIONS, GOAL, TIME, MANUAL, TOOL = TERMINATIONS = (
    "evaluation_bound",
    "iteration_bound",
    "goal_bound",
    "time_bound",
    "manual",
    "tool_bound",
)

#: How the last stage's answer becomes a verdict.
APPROVAL_MODES = ("keyword", "verdict_line", "llm")

OPERATORS = (">=", ">", "<=", "<", "==", "!=")

#: Keys whose number may be written as a text: they are often filled in from a parameter.
LIMITS = frozenset({"max_iterations", "max_rework_attempts", "max_review_rounds", "threshold"})


def _renamed(name: str, *written: str) -> dict[str, Advice]:
    return {word: Advice(f"did you mean `{name}`?", (name,), rename=True) for word in written}


ROLE = shape(
    "role stage",
    "an entry of `roles`",
    "One stage: a role's turn in every iteration. Stages run in sequence.",
    Key(
        "role",
        Type.TEXT,
        "The role that takes this turn. It decides what the stage may do and how many steps it gets.",
        required=True,
        offers="roles",
        inherits=("name",),
    ),
    Key("name", Type.TEXT, "Name of the stage in progress and history.", default="the role"),
    Key(
        "prompt",
        Type.TEXT,
        "What the stage must do. The goal, earlier stages and the outcomes of earlier iterations are included.",
        required=True,
        interpolated=True,
    ),
    Key("order", Type.INTEGER, "Position of the stage. Used only if every stage has one.", default="its position"),
    Key("skills", Type.TEXTS, "Skills available to the stage.", offers="skills"),
    Key(
        "max_iterations",
        Type.INTEGER,
        "Maximum model calls of this stage in one turn, at most 100. Not the iterations of the loop.",
        default="the cap of the role",
    ),
    Key(
        "requires_artifact_from",
        Type.INTEGER,
        "The index of an earlier stage, from 0. If that stage left no artifact in this iteration, this one fails.",
        minimum=0,
    ),
    Key("gate", Type.BOOLEAN, "Treats this stage as a judge.", default="false"),
    Key(
        "artifact_required",
        Type.BOOLEAN,
        "Blocks the loop if this stage ends without an artifact.",
        default="false",
    ),
    Key("memory_required", Type.BOOLEAN, "Records a note if this stage stored no memory.", default="false"),
    wrong=_renamed("prompt", "instructions", "instruction", "task", "text")
    | _renamed("role", "agent", "persona")
    | _renamed("name", "label", "title")
    | _renamed("max_iterations", "max_steps")
    | _renamed("requires_artifact_from", "requires_artifact", "artifact_from"),
)

PARAMETER = shape(
    "parameter",
    "an entry of `parameters`",
    "A value that can be passed when the loop starts; use it as `{{name}}` anywhere in the definition.",
    Key("name", Type.TEXT, "Name used inside the braces: lowercase letters, digits and `_`.", required=True),
    Key("description", Type.TEXT, "What the value is for.", required=True),
    Key("required", Type.BOOLEAN, "Whether a value must be passed at the start.", default="true"),
    Key(
        "default",
        Type.ANY,
        "Value if none is passed. An optional parameter needs one, even an empty string.",
    ),
    wrong=_renamed("default", "value")
    | {"type": Advice("the value of a parameter is always a string"), "optional": Advice("use `required` instead")},
)

_LIMIT = "Maximum iterations."

EVALUATION_VALUE = shape(
    "evaluation",
    "the value of `evaluation_bound`",
    "The last stage judges every iteration; its approval ends the loop.",
    Key("criteria", Type.TEXT, "What the judge looks for. Every stage reads it.", required=True, interpolated=True),
    Key("max_review_rounds", Type.INTEGER, "Maximum rounds.", default="5", minimum=1),
    wrong=_renamed("max_review_rounds", "max_rounds", "rounds", "max_iterations")
    | _renamed("criteria", "termination_criteria", "acceptance_criteria"),
)

GOAL_VALUE = shape(
    "goal",
    "the value of `goal_bound`",
    "A model is asked after every iteration whether the goal is reached.",
    Key("goal_prompt", Type.TEXT, "What else counts as reached, apart from the goal itself.", interpolated=True),
    Key("max_iterations", Type.INTEGER, _LIMIT, required=True, minimum=1),
    wrong=_renamed("goal_prompt", "goal", "criteria") | _renamed("max_iterations", "max_review_rounds", "rounds"),
)

TOOL_VALUE = shape(
    "tool",
    "the value of `tool_bound`",
    "A tool measures every iteration; the loop ends when its number is good enough.",
    Key("tool", Type.TEXT, "The tool that provides the number.", required=True),
    Key("arguments", Type.ARGUMENTS, "Arguments of the tool."),
    Key("operator", Type.TEXT, "Comparison operator.", required=True, choices=OPERATORS),
    Key("threshold", Type.NUMBER, "Number to compare with.", required=True),
    Key("max_iterations", Type.INTEGER, _LIMIT, required=True, minimum=1),
)

#: The shape of `value`, for the types that take an object.
VALUES = MappingProxyType({EVALUATION: EVALUATION_VALUE, GOAL: GOAL_VALUE, TOOL: TOOL_VALUE})

TERMINATION = shape(
    "termination condition",
    "`termination_condition`",
    "When the loop ends.",
    Key(
        "type",
        Type.TEXT,
        "What ends the loop: the approval of the last stage, a number of iterations, a model that checks "
        "the goal, a time, only a person, or a number from a tool.",
        required=True,
        choices=TERMINATIONS,
    ),
    Key(
        "value",
        Type.ANY,
        "Value for the type: `criteria` and `max_review_rounds`, a number of iterations, `goal_prompt` and "
        "`max_iterations`, seconds or a date. `manual` takes none.",
    ),
    Key("max_iterations", Type.INTEGER, "Accepted instead of `value` with `iteration_bound`.", minimum=1),
    Key(
        "hard",
        Type.BOOLEAN,
        "With `time_bound`: stops before the next stage once the time is up, instead of finishing the iteration.",
        default="false",
    ),
)

APPROVAL = shape(
    "approval",
    "`approval`",
    "How the answer of the last stage is turned into a verdict.",
    Key(
        "mode",
        Type.TEXT,
        "`keyword` looks for words of approval and rejection, `verdict_line` uses the last line that "
        "starts with one, `llm` asks a model.",
        default="keyword",
        choices=APPROVAL_MODES,
    ),
    Key("signals", Type.TEXTS, "More words that mean approval, such as `approve`."),
)

DEFINITION = shape(
    "role loop",
    "a role-loop definition",
    "A list of roles that take turns until a condition ends the loop.",
    Key("name", Type.TEXT, "Name to start the loop by: lowercase letters, digits, `-` and `_`.", required=True),
    Key("description", Type.TEXT, "One line that says what the loop is for.", required=True),
    Key("parameters", Type.BLOCKS, "Values that can be passed at the start.", shape=PARAMETER),
    Key("roles", Type.BLOCKS, "The stages, in running order.", required=True, shape=ROLE),
    Key(
        "termination_condition",
        Type.BLOCK,
        "When the loop ends. Default: after a single iteration.",
        required=True,
        shape=TERMINATION,
    ),
    Key("approval", Type.BLOCK, APPROVAL.text, shape=APPROVAL),
    Key(
        "max_rework_attempts",
        Type.INTEGER,
        "How many rounds in a row a model may reject (`approval.mode: llm`) before the loop is blocked.",
        default="3",
    ),
    Key("version", Type.INTEGER, "Version of the definition, maintained by the program that stores it.", default="1"),
    Key("on_question", Type.TEXT, "Used by older programs; ignored.", idle=True),
    wrong=_renamed("termination_condition", "termination", "until", "stop_condition", "exit_condition")
    | _renamed("roles", "stages", "steps", "agents")
    | _renamed("parameters", "params", "inputs", "arguments"),
)

#: Every shape by name, for completion, hover and the schema.
ROLE_LOOP_SHAPES: dict[str, Shape] = {
    one.name: one
    for one in (DEFINITION, ROLE, PARAMETER, TERMINATION, EVALUATION_VALUE, GOAL_VALUE, TOOL_VALUE, APPROVAL)
}
