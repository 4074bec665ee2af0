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
    """An empty pattern, which is found in every output: the loop ends after one iteration.

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
    """A pattern that is found in every output, because it is found in nothing.

    Every part of it may be left out, so the loop ends after one iteration.

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
            yield value.found("the pattern is found in every output, also in an empty one: the first iteration ends it")


@rule("AL011", "invalid-regex", Severity.ERROR, on="assistant")
def broken_regex(view: ObjectView) -> Iterator[Draft]:
    """A pattern that does not compile.

    It is never found, so the loop runs to its last iteration. Spellings of JavaScript are understood
    where they can be translated.

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
    """A pattern that JavaScript and Python read differently.

    Here patterns are Python's; spellings of JavaScript that Python refuses are translated. The original
    program runs JavaScript.

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
                translate = (set_text(value.piece, value.scalar, source, f"Write it as Python does: `{source}`"),)
            yield value.found(said, *translate)


@rule("AL013", "regex-delimiters", Severity.WARNING, on="assistant", fixes=(Tier.REVIEW,))
def regex_delimiters(view: ObjectView) -> Iterator[Draft]:
    """A pattern between slashes, which are taken for part of it.

    Letter case is ignored anyway; other flags do not exist.

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
            yield value.found("the slashes are taken for part of the pattern; write it without them", *strip)


@rule("AL014", "regex-echo-risk", Severity.INFORMATION, on="assistant")
def regex_echo_risk(view: ObjectView) -> Iterator[Draft]:
    """A pattern that is found in the persona.

    An assistant that repeats its instructions ends its loop. Ask for a word that the persona does not
    spell, or for a line that consists of it.

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
            yield value.found("the persona contains this already: an assistant that repeats it ends its loop")


@rule("AL015", "regex-catastrophic", Severity.WARNING, on="assistant")
def regex_catastrophic(view: ObjectView) -> Iterator[Draft]:
    """A repetition in a repetition that can be taken apart in endlessly many ways.

    On some outputs the search takes time without end; it is then given up, and the loop goes on.

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
            message = "a repetition repeats another one; on some outputs the search never ends, and is given up"
            yield value.found(message)
