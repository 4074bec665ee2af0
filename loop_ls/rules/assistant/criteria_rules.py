"""Assistant files: the criterion that ends a loop early, its type and its command."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

from loop_ls.formats.assistant.keys import LONGEST, LONGEST_OTHER, REGEX, TEST_PASS
from loop_ls.formats.assistant.problems import VALUELESS
from loop_ls.formats.common.json_types import kind_of, text_of
from loop_ls.formats.common.shell_words import has_quotes, program, shell_syntax
from loop_ls.rules.assistant.criteria_values import Value, commands, judged, values
from loop_ls.rules.docs.phrases import shortened
from loop_ls.rules.engine.context import UNNECESSARY, Draft, draft
from loop_ls.rules.engine.finding import Fix, Severity, Tier
from loop_ls.rules.engine.object_view import ObjectView
from loop_ls.rules.engine.registry import rule
from loop_ls.rules.fixes import builders
from loop_ls.rules.fixes.json import drop_key, replace_entry
from loop_ls.rules.role_loop.role_loop_rules import reworded
from loop_ls.syntax.nodes import Alias, Scalar

# -- type and value -------------------------------------------------------------------------------


@rule("AL005", "unknown-type", Severity.ERROR, on="assistant", fixes=(Tier.SAFE,))
def unknown_type(view: ObjectView) -> Iterator[Draft]:
    """Unknown criterion type (case-sensitive).

    Such a criterion never ends the loop.

    Bad::
        #- fixer.assistant.yaml
        name: Fixer
        persona: You repair failing tests.
        maxBudgetUsd: 0.5
        loopEnabled: true
        loopCriteria: {type: regexp, value: all green}
    Good::
        #- fixer.assistant.yaml
        name: Fixer
        persona: You repair failing tests.
        maxBudgetUsd: 0.5
        loopEnabled: true
        loopCriteria: {type: regex, value: all green}
    """
    for placed in view.flaws("AL005"):
        yield view.of_flaw(placed, *reworded(placed))


@rule("AL006", "missing-type", Severity.ERROR, on="assistant")
def missing_type(view: ObjectView) -> Iterator[Draft]:
    """Criterion without a type.

    It never ends the loop, whatever `value` says.

    Bad::
        #- fixer.assistant.yaml
        name: Fixer
        persona: You repair failing tests.
        maxBudgetUsd: 0.5
        loopEnabled: true
        loopCriteria: {value: all green}
    Good::
        #- fixer.assistant.yaml
        name: Fixer
        persona: You repair failing tests.
        maxBudgetUsd: 0.5
        loopEnabled: true
        loopCriteria: {type: regex, value: all green}
    """
    yield from map(view.of_flaw, view.flaws("AL006"))


@rule("AL007", "value-not-string", Severity.ERROR, on="assistant", fixes=(Tier.SAFE,))
def value_not_string(view: ObjectView) -> Iterator[Draft]:
    """Criterion value that is not a string.

    A number needs quotes to be a pattern; without them the criterion never ends the loop.

    Bad::
        #- fixer.assistant.yaml
        name: Fixer
        persona: You repair failing tests.
        maxBudgetUsd: 0.5
        loopEnabled: true
        loopCriteria: {type: regex, value: 42}
    Good::
        #- fixer.assistant.yaml
        name: Fixer
        persona: You repair failing tests.
        maxBudgetUsd: 0.5
        loopEnabled: true
        loopCriteria: {type: regex, value: "42"}
    """
    for placed in view.flaws("AL007"):
        at, piece = placed.flaw.at, placed.piece
        quote: tuple[Fix, ...] = ()
        if isinstance(at, Scalar) and piece is not None:
            quote = (builders.quote(piece, at.span),)
        yield view.of_flaw(placed, *quote)


@rule("AL008", "value-missing", Severity.WARNING, on="assistant")
def value_missing(view: ObjectView) -> Iterator[Draft]:
    """Criterion without its pattern or command.

    The loop then runs to its last iteration.

    Bad::
        #- fixer.assistant.yaml
        name: Fixer
        persona: You repair failing tests.
        maxBudgetUsd: 0.5
        loopEnabled: true
        loopCriteria: {type: regex}
    Good::
        #- fixer.assistant.yaml
        name: Fixer
        persona: You repair failing tests.
        maxBudgetUsd: 0.5
        loopEnabled: true
        loopCriteria: {type: regex, value: all green}
    """
    for _, piece, block, type_, at in judged(view, REGEX, TEST_PASS):
        value = block.get("value")
        if value is None and (block.meant("value") or (type_ == TEST_PASS and block.meant("argv"))):
            continue
        if value is None or kind_of(value.node) == "null":
            what = "a pattern" if type_ == REGEX else "a command"
            message = f"Missing `value`: `{type_}` needs {what}, or nothing ends the loop early"
            yield draft(piece, at, message)


@rule("AL020", "unused-value", Severity.HINT, on="assistant", fixes=(Tier.SAFE,))
def unused_value(view: ObjectView) -> Iterator[Draft]:
    """Value that the criterion type ignores.

    Bad::
        #- fixer.assistant.yaml
        name: Fixer
        persona: You repair failing tests.
        maxBudgetUsd: 0.5
        loopEnabled: true
        loopCriteria: {type: max_iterations, value: all green}
    Good::
        #- fixer.assistant.yaml
        name: Fixer
        persona: You repair failing tests.
        maxBudgetUsd: 0.5
        loopEnabled: true
        loopCriteria: {type: max_iterations}
    """
    for value in values(view):
        if value.type in VALUELESS and value.text:
            field = value.block.fields["value"]
            drop = (drop_key(value.piece, value.block, field.entry),) if not field.entry.merged else ()
            yield value.found(f"`{value.type}` ignores `value`", *drop, tags=UNNECESSARY)


@rule("AL026", "length", Severity.WARNING, on="assistant")
def length(view: ObjectView) -> Iterator[Draft]:
    """Value that is longer than RondoFlow accepts.

    RondoFlow accepts patterns of up to 500 characters and other values of up to 200. loop-ls accepts longer
    ones.

    Bad::
        #- fixer.assistant.yaml
        name: Fixer
        persona: You repair failing tests.
        maxBudgetUsd: 0.5
        loopEnabled: true
        loopCriteria:
          type: test_pass
          value: python3 -c pass aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb
    Good::
        #- fixer.assistant.yaml
        name: Fixer
        persona: You repair failing tests.
        maxBudgetUsd: 0.5
        loopEnabled: true
        loopCriteria:
          type: test_pass
          value: python3 run_tests.py
    """  # noqa: E501
    for value in values(view):
        most = LONGEST.get(value.type, LONGEST_OTHER)
        if len(value.text) > most:
            yield value.found(f"`value` has {len(value.text)} characters; RondoFlow accepts at most {most}")


# -- commands -------------------------------------------------------------------------------------


@rule("AL016", "empty-command", Severity.ERROR, on="assistant")
def empty_command(view: ObjectView) -> Iterator[Draft]:
    """Empty command, which never succeeds.

    Bad::
        #- fixer.assistant.yaml
        name: Fixer
        persona: You repair failing tests.
        maxBudgetUsd: 0.5
        loopEnabled: true
        loopCriteria: {type: test_pass, value: " "}
    Good::
        #- fixer.assistant.yaml
        name: Fixer
        persona: You repair failing tests.
        maxBudgetUsd: 0.5
        loopEnabled: true
        loopCriteria: {type: test_pass, value: python3 run_tests.py}
    """
    yield from map(view.of_flaw, view.flaws("AL016"))


@rule("AL017", "shell-syntax", Severity.WARNING, on="assistant")
def shell(view: ObjectView) -> Iterator[Draft]:
    """Command that uses shell syntax.

    It runs without a shell: the command is split at spaces and every word is passed literally. Move what
    you need to a script.

    Bad::
        #- fixer.assistant.yaml
        name: Fixer
        persona: You repair failing tests.
        maxBudgetUsd: 0.5
        loopEnabled: true
        loopCriteria: {type: test_pass, value: python3 build.py && python3 run_tests.py}
    Good::
        #- fixer.assistant.yaml
        name: Fixer
        persona: You repair failing tests.
        maxBudgetUsd: 0.5
        loopEnabled: true
        loopCriteria: {type: test_pass, value: python3 build_and_test.py}
    """
    for value in commands(view):
        said = shell_syntax(value.text)
        if said is not None:
            yield value.found(f"The command runs without a shell, so {said} is passed literally; move it to a script")


@rule("AL018", "quoted-argument", Severity.WARNING, on="assistant", fixes=(Tier.REVIEW,))
def quoted_argument(view: ObjectView) -> Iterator[Draft]:
    """Command with quotes, which are passed literally.

    The command is split at spaces, even inside quotes. List the exact arguments in `argv`.

    Bad::
        #- fixer.assistant.yaml
        name: Fixer
        persona: You repair failing tests.
        maxBudgetUsd: 0.5
        loopEnabled: true
        loopCriteria: {type: test_pass, value: 'python3 run_tests.py -k "a or b"'}
    Good::
        #- fixer.assistant.yaml
        name: Fixer
        persona: You repair failing tests.
        maxBudgetUsd: 0.5
        loopEnabled: true
        loopCriteria: {type: test_pass, argv: [python3, run_tests.py, -k, a or b]}
    """
    for value in commands(view):
        if has_quotes(value.text):
            message = "Quotes are passed literally and do not group words; use `argv`"
            yield value.found(message, *_as_words(value))


def _as_words(value: Value) -> tuple[Fix, ...]:
    """The words that a shell would make of it, as a list."""
    field = value.block.fields["value"]
    if field.entry.merged or isinstance(field.node, Alias) or shell_syntax(value.text) is not None:
        return ()
    try:
        words = shlex.split(value.text)
    except ValueError:
        return ()
    return (replace_entry(value.piece, field.entry, "argv", words, "List the exact arguments in `argv`"),)


@rule("AL019", "command-not-found", Severity.INFORMATION, on="assistant")
def command_not_found(view: ObjectView) -> Iterator[Draft]:
    """Command whose program is not on the PATH or in its working folder.

    It may exist where the loop will run; until then the command never succeeds.

    Bad::
        #- fixer.assistant.yaml
        name: Fixer
        persona: You repair failing tests.
        maxBudgetUsd: 0.5
        loopEnabled: true
        loopCriteria: {type: test_pass, value: no-such-test-runner --all}
    Good::
        #- fixer.assistant.yaml
        name: Fixer
        persona: You repair failing tests.
        maxBudgetUsd: 0.5
        loopEnabled: true
        loopCriteria: {type: test_pass, value: python3 run_tests.py}
    """
    for value in commands(view):
        first = program(value.text)
        if first is not None and not _exists(view, value, first):
            message = f"`{shortened(first)}` is not on the PATH or in the folder where the command runs"
            yield value.found(message)


def _exists(view: ObjectView, value: Value, first: str) -> bool:
    cwd = value.block.get("cwd")
    folder = Path(view.workspace.roots.workspace, (None if cwd is None else text_of(cwd.node)) or "")
    try:
        return shutil.which(first) is not None or (folder / first).exists()
    except (OSError, ValueError):
        return False
