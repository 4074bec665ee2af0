"""Whole elements to insert: steps by mode, loops, a consensus, a whole workflow.

Each is written once as a tree with tab stops; `render` puts it into the style of the file.
"""

from __future__ import annotations

from dataclasses import dataclass

from loop_ls.features.complete.render import Items, Pairs, Prose


@dataclass(frozen=True, slots=True)
class Snippet:
    label: str
    detail: str
    pairs: Pairs
    words: str = ""  # further words to find it by


_UNTIL = '"The ${4:output} says ${5:DONE}"'

STEPS = (
    Snippet("step", "one model call", [("name", "${1:step_name}"), ("run", Prose("$0"))], "run prompt"),
    Snippet(
        "template step",
        "calls another workflow once",
        [
            ("name", "${1:step_name}"),
            ("template", [("name", "${2:workflow}"), ("with", [("input", '"{{${3:input}\\}\\}"')])]),
        ],
    ),
    Snippet(
        "loop step",
        "repeats another workflow; can have needs and if",
        [
            ("name", "${1:step_name}"),
            ("loop", [("workflow", "${2:workflow}"), ("max_iterations", "${3:5}"), ("until", _UNTIL)]),
        ],
    ),
    Snippet(
        "consensus step",
        "asks two models the same question",
        [
            ("name", "${1:step_name}"),
            (
                "consensus",
                [
                    ("prompt", Prose("${2:Answer YES or NO: }$0")),
                    (
                        "executions",
                        Items(
                            (
                                [("provider", "${3:provider}"), ("model", "${4:model}")],
                                [("provider", "${5:provider}"), ("model", "${6:model}")],
                            )
                        ),
                    ),
                    ("require", "${7:unanimous}"),
                ],
            ),
        ],
        "vote executions",
    ),
    Snippet(
        "rag step",
        "searches a vector store",
        [
            ("name", "${1:step_name}"),
            ("rag", [("query", '"{{${2:input}\\}\\}"'), ("server", "${3:server}"), ("top_k", "${4:5}")]),
        ],
        "search",
    ),
    Snippet(
        "embeddings step",
        "turns text into vectors",
        [
            ("name", "${1:step_name}"),
            (
                "embeddings",
                [
                    ("provider", "${2:openai}"),
                    ("model", "${3:text-embedding-3-small}"),
                    ("input", '"{{${4:input}\\}\\}"'),
                ],
            ),
        ],
        "vectors",
    ),
)

LOOPS = (
    Snippet(
        "loop",
        "minimal: repeats a workflow until a condition is met",
        [
            ("name", "${1:loop_name}"),
            ("workflow", "${2:workflow}"),
            ("max_iterations", "${3:5}"),
            ("until", _UNTIL),
        ],
        "minimal refine",
    ),
    Snippet(
        "complete loop",
        "with arguments, failure policy and history",
        [
            ("name", "${1:loop_name}"),
            ("workflow", "${2:workflow}"),
            (
                "with",
                [
                    ("${6:task}", '"{{${7:input}\\}\\}"'),
                    ("previous", '"{{loop.last.output\\}\\}"'),
                    ("iteration", '"{{loop.iteration\\}\\}"'),
                ],
            ),
            ("max_iterations", "${3:5}"),
            ("until", _UNTIL),
            ("on_failure", "${8:halt}"),
            ("accumulate", "${1:loop_name}_history"),
        ],
        "refine with accumulate on_failure",
    ),
    Snippet(
        "iterate loop",
        "runs a workflow once per item of a list",
        [
            ("name", "${1:loop_name}"),
            ("workflow", "${2:workflow}"),
            ("mode", "iterate"),
            ("items", '"{{${3:input}\\}\\}"'),
            ("max_iterations", "${4:100}"),
            ("on_failure", "${5:continue}"),
            ("accumulate", "${1:loop_name}_results"),
        ],
        "items for each",
    ),
)

_HEAD: Pairs = [
    ("\\$schema", "workflow/v2.0"),
    ("name", "${1:workflow_name}"),
    ("version", "1.0.0"),
    ("description", "${2:What it does}"),
    ("execution", [("provider", "${3:anthropic}"), ("model", "${4:claude-sonnet-4-6}")]),
]

FILES = (
    Snippet(
        "workflow",
        "a workflow file with one step",
        [*_HEAD, ("steps", Items(([("name", "${5:answer}"), ("run", '"${6:Answer}: {{input\\}\\}$0"')],)))],
        "new file schema",
    ),
    Snippet(
        "workflow with a loop",
        "a workflow file that refines until a condition is met",
        [
            *_HEAD,
            (
                "loops",
                Items(
                    (
                        [
                            ("name", "${5:refine}"),
                            ("workflow", "${6:workflow}"),
                            ("with", [("task", '"{{input\\}\\}"'), ("previous", '"{{loop.last.output\\}\\}"')]),
                            ("max_iterations", "${7:5}"),
                            ("until", '"The output says ${8:DONE}"'),
                        ],
                    )
                ),
            ),
        ],
        "new file schema loop",
    ),
)

#: The entries of other lists of mappings, by shape.
ENTRIES: dict[str, tuple[Snippet, ...]] = {
    "step": STEPS,
    "loop": LOOPS,
    "provider": (
        Snippet(
            "provider and model",
            "one entry of the failover chain",
            [("provider", "${1:provider}"), ("model", "${2:model}")],
        ),
    ),
    "consensus execution": (
        Snippet(
            "provider and model",
            "a model that votes",
            [("provider", "${1:provider}"), ("model", "${2:model}")],
        ),
    ),
}
