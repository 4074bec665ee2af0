"""The question that a judge of `until` gets, word for word: what the engine asks and what editors show."""

from __future__ import annotations

#: What is added where the setting `judge.impossible` is on.
_THIRD_ANSWER = "\nAnswer with IMPOSSIBLE and repeat the condition word for word if no further try can meet it."


def until_question(condition: str, output: str, impossible: bool = False) -> str:
    """The question of a refine loop, exactly as the guide words it (D07). `impossible`: with the third answer.

    Quotes in the condition are not escaped and the output is inserted whole and unchanged.
    """
    return (
        f'Evaluate this condition: "{condition}"\n'
        "\n"
        "Output to evaluate:\n"
        f"{output}\n"
        "\n"
        "Answer with YES if condition is met, NO if not met."
        f"{_THIRD_ANSWER if impossible else ''}"
    )
