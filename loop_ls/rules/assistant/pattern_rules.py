"""Assistant files: the pattern of a `regex` criterion."""

from __future__ import annotations

from collections.abc import Iterator

from loop_ls.formats.assistant.keys import REGEX
from loop_ls.formats.common.json_types import text_of
from loop_ls.formats.common.regex_check import always_matches, found_in, is_explosive
from loop_ls.formats.common.regex_dialect import difference
from loop_ls.rules.assistant.criteria_values import patterns, values
from loop_ls.rules.engine.context import Draft
from loop_ls.rules.engine.finding import Fix, Severity, Tier
from loop_ls.rules.engine.object_view import ObjectView
from loop_ls.rules.engine.registry import rule
from loop_ls.rules.fixes.json import set_text


@rule("AL009", "empty-pattern", Severity.ERROR, on="assistant")
def empty_pattern(view: ObjectView) -> Iterator[Draft]:
    """Empty pattern.

    It matches every output, so the loop ends after one iteration.

    Bad::
        #- fixer.assistant.yaml
        name: Fixer
        persona: You repair failing tests.
        maxBudgetUsd: 0.5
        loopEnabled: true
        loopCriteria: {type: regex, value: ""}
    Good::
        #- fixer.assistant.yaml
        name: Fixer
        persona: You repair failing tests.
        maxBudgetUsd: 0.5
        loopEnabled: true
        loopCriteria: {type: regex, value: all green}
    """
    yield from map(view.of_flaw, view.flaws("AL009"))


@rule("AL010", "always-matches", Severity.WARNING, on="assistant")
def always(view: ObjectView) -> Iterator[Draft]:
    """Pattern that matches the empty string.

    Every part of it is optional, so it matches every output and the loop ends after one iteration.

    Bad::
        #- fixer.assistant.yaml
        name: Fixer
        persona: You repair failing tests.
        maxBudgetUsd: 0.5
        loopEnabled: true
        loopCriteria: {type: regex, value: "(all green)?"}
    Good::
        #- fixer.assistant.yaml
        name: Fixer
        persona: You repair failing tests.
        maxBudgetUsd: 0.5
        loopEnabled: true
        loopCriteria: {type: regex, value: "(all )?green"}
    """
    for value, source in patterns(view):
        if always_matches(source):
            yield value.found(
                "The pattern matches every output, even an empty one, so the loop ends after the first iteration"
            )


@rule("AL011", "invalid-regex", Severity.ERROR, on="assistant")
def broken_regex(view: ObjectView) -> Iterator[Draft]:
    """Invalid pattern.

    It never matches, so the loop runs to its last iteration. JavaScript syntax is accepted where it can be
    translated.

    Bad::
        #- fixer.assistant.yaml
        name: Fixer
        persona: You repair failing tests.
        maxBudgetUsd: 0.5
        loopEnabled: true
        loopCriteria: {type: regex, value: "all (green"}
    Good::
        #- fixer.assistant.yaml
        name: Fixer
        persona: You repair failing tests.
        maxBudgetUsd: 0.5
        loopEnabled: true
        loopCriteria: {type: regex, value: "all (green|passing)"}
    """
    yield from map(view.of_flaw, view.flaws("AL011"))


@rule("AL012", "regex-dialect", Severity.INFORMATION, on="assistant", fixes=(Tier.SAFE,))
def regex_dialect(view: ObjectView) -> Iterator[Draft]:
    """Pattern that JavaScript and Python read differently.

    loop-ls uses Python's syntax and translates JavaScript syntax that Python rejects. RondoFlow runs
    JavaScript.

    Bad::
        #- fixer.assistant.yaml
        name: Fixer
        persona: You repair failing tests.
        maxBudgetUsd: 0.5
        loopEnabled: true
        loopCriteria: {type: regex, value: "(?<colour>green)"}
    Good::
        #- fixer.assistant.yaml
        name: Fixer
        persona: You repair failing tests.
        maxBudgetUsd: 0.5
        loopEnabled: true
        loopCriteria: {type: regex, value: "(green)"}
    """
    for value, source in patterns(view):
        said = difference(value.text)
        if said is not None:
            translate: tuple[Fix, ...] = ()
            if value.scalar is not None and difference(source) is None:
                translate = (set_text(value.piece, value.scalar, source, f"Use Python syntax: `{source}`"),)
            yield value.found(said, *translate)


@rule("AL013", "regex-delimiters", Severity.WARNING, on="assistant", fixes=(Tier.REVIEW,))
def regex_delimiters(view: ObjectView) -> Iterator[Draft]:
    """Pattern between slashes, which are read as part of it.

    Patterns ignore case anyway; other flags are not supported.

    Bad::
        #- fixer.assistant.yaml
        name: Fixer
        persona: You repair failing tests.
        maxBudgetUsd: 0.5
        loopEnabled: true
        loopCriteria: {type: regex, value: /all green/i}
    Good::
        #- fixer.assistant.yaml
        name: Fixer
        persona: You repair failing tests.
        maxBudgetUsd: 0.5
        loopEnabled: true
        loopCriteria: {type: regex, value: all green}
    """
    for value in values(view, REGEX):
        body, slash, flags = value.text[1:].rpartition("/")
        if value.text[:1] == "/" and slash and body and all(flag in "dgimsuvy" for flag in flags):
            strip: tuple[Fix, ...] = ()
            if value.scalar is not None:
                strip = (set_text(value.piece, value.scalar, body, "Remove the slashes", Tier.REVIEW),)
            yield value.found("The slashes are read as part of the pattern; remove them", *strip)


@rule("AL014", "regex-echo-risk", Severity.INFORMATION, on="assistant")
def regex_echo_risk(view: ObjectView) -> Iterator[Draft]:
    """Pattern that matches the persona.

    An assistant that repeats its instructions ends its loop. Use a word that the persona does not contain, or a pattern
    that matches a whole line.

    Bad::
        #- fixer.assistant.yaml
        name: Fixer
        persona: You repair failing tests. Say ALL GREEN when they pass.
        maxBudgetUsd: 0.5
        loopEnabled: true
        loopCriteria: {type: regex, value: all green}
    Good::
        #- fixer.assistant.yaml
        name: Fixer
        persona: You repair failing tests. Say ALL GREEN when they pass, on the last line.
        maxBudgetUsd: 0.5
        loopEnabled: true
        loopCriteria: {type: regex, value: '\\nall green$'}
    """
    for value, source in patterns(view):
        persona = text_of(value.one.node("persona"))
        if persona is None or is_explosive(source) or always_matches(source):
            continue
        if found_in(source, persona):
            yield value.found("The persona already contains this text, so an assistant that repeats it ends its loop")


@rule("AL015", "regex-catastrophic", Severity.WARNING, on="assistant")
def regex_catastrophic(view: ObjectView) -> Iterator[Draft]:
    """Nested repetition that can match in exponentially many ways.

    On some outputs the search takes too long; it is then abandoned and the loop continues.

    Bad::
        #- fixer.assistant.yaml
        name: Fixer
        persona: You repair failing tests.
        maxBudgetUsd: 0.5
        loopEnabled: true
        loopCriteria: {type: regex, value: "^(g+)+!$"}
    Good::
        #- fixer.assistant.yaml
        name: Fixer
        persona: You repair failing tests.
        maxBudgetUsd: 0.5
        loopEnabled: true
        loopCriteria: {type: regex, value: "^g+!$"}
    """
    for value, source in patterns(view):
        if is_explosive(source):
            message = "Nested repetition: on some outputs the search takes too long and is abandoned"
            yield value.found(message)
