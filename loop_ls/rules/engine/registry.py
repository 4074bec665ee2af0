"""The list of rules: every rule is a small function with a code, a name, a severity and a page.

The page is the docstring: a title line, an explanation, and one bad and one good example that the
tests run. Nothing here runs a rule; see `rules.engine.checker`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field
from functools import cached_property
from importlib import import_module
from typing import Any, Literal

from loop_ls.formats.file_format import Format
from loop_ls.formats.registry import ASSISTANT, DECLARED_CHECKS, ROLE_FILE, ROLE_LOOP, SETTINGS, TEST_CASES, WORKFLOW
from loop_ls.rules.engine.finding import Severity, Tier
from loop_ls.text.record import equal_record

Profile = Literal["compat", "pedantic"]

#: What a function looks at. A word in small letters is the name of a shape (`formats.workflow.keys`):
#: the function sees every block of it. LOCAL ones see nothing but their piece of the text.
Run = Callable[..., Iterable[Any]]


@equal_record
class FormatRules:
    """The rules of a file format. `modules` register them when they are imported, in the order of the specification,
    which is when there is a file of the format. `series` begins each of their codes. `syntax` is the code and the
    name of the rule that tells what cannot be read, `conflict` the code of the one that tells of a merge conflict."""

    series: str
    modules: tuple[str, ...]
    syntax: tuple[str, str]
    conflict: str


@equal_record
class Rule:
    """What people know about a rule. `missing` rules speak of things that are not there, and so stay
    silent in a file that cannot be read in full."""

    code: str
    name: str
    severity: Severity
    profile: Profile | None
    fixes: frozenset[Tier]
    missing: bool
    doc: str = field(repr=False)

    @cached_property
    def page(self) -> Page:
        return read_page(self.doc)

    @property
    def title(self) -> str:
        return self.page.title


@equal_record
class Page:
    title: str
    text: str
    bad: str
    good: str


@equal_record
class Check:
    """One function of a rule. A rule may have several: for other places, or for a profile only.

    `replaces`: while its profile is on it stands for the functions of the default profile. `about`:
    one of these traits has to be there (see `rules.engine.prefilter`); empty: the function looks for itself.
    """

    rule: Rule
    run: Run
    on: tuple[str, ...]
    profile: Profile | None
    replaces: bool
    local: bool
    missing: bool
    about: tuple[str, ...] = ()


def _modules(format_: Format, *names: str) -> tuple[str, ...]:
    return tuple(f"loop_ls.rules.{format_}.{name}" for name in names)


_OF_FORMAT: dict[Format, FormatRules] = {
    WORKFLOW: FormatRules(
        "WF",
        _modules(
            WORKFLOW,
            *("file_rules", "yaml_rules", "head_rules", "execution_rules", "number_rules", "step_rules", "mode_rules"),
            *("condition_rules", "needs_rules", "loop_rules", "loop_use_rules", "variable_rules"),
            *("loop_variable_rules", "text_rules", "reference_rules", "quality_rules", "limit_rules"),
            *("provider_rules",),
        ),
        ("WF001", "syntax"),
        "WF010",
    ),
    ROLE_LOOP: FormatRules(
        "RL",
        _modules(ROLE_LOOP, "role_loop_rules", "role_termination_rules", "role_parameter_rules"),
        ("RL001", "json"),
        "RL001",
    ),
    ASSISTANT: FormatRules(
        "AL",
        _modules(ASSISTANT, "assistant_rules", "criteria_rules", "pattern_rules"),
        ("AL001", "syntax"),
        "AL001",
    ),
    ROLE_FILE: FormatRules("RO", _modules(ROLE_FILE, "role_file_rules"), ("RO001", "syntax"), "RO001"),
    SETTINGS: FormatRules("LS", _modules(SETTINGS, "settings_rules"), ("LS001", "syntax"), "LS001"),
    **dict.fromkeys(
        (DECLARED_CHECKS, TEST_CASES),
        FormatRules(
            "CK",
            _modules(DECLARED_CHECKS, "check_rules", "case_rules"),
            ("CK001", "syntax"),
            "CK001",
        ),
    ),
}

RULES: dict[str, Rule] = {}
CHECKS: list[Check] = []


def rule(
    code: str,
    name: str,
    severity: Severity,
    *,
    on: str | tuple[str, ...],
    local: bool = False,
    profile: Profile | None = None,
    fixes: tuple[Tier, ...] = (),
    missing: bool = False,
    about: str | tuple[str, ...] = (),
) -> Callable[[Run], Run]:
    """Register a rule and its first function; the docstring is its page."""

    def register(run: Run) -> Run:
        assert code not in RULES, f"{code} is registered twice"
        RULES[code] = Rule(code, name, severity, profile, frozenset(fixes), missing, run.__doc__ or "")
        return _add(Check(RULES[code], run, _places(on), profile, False, local, missing, _places(about)))

    return register


def also(
    code: str,
    *,
    on: str | tuple[str, ...],
    local: bool = False,
    profile: Profile | None = None,
    replaces: bool = False,
    missing: bool = False,
    about: str | tuple[str, ...] = (),
) -> Callable[[Run], Run]:
    """One more function of a rule that is registered already."""

    def register(run: Run) -> Run:
        home = RULES[code]
        absent = missing or home.missing
        return _add(Check(home, run, _places(on), profile or home.profile, replaces, local, absent, _places(about)))

    return register


def _places(on: str | tuple[str, ...]) -> tuple[str, ...]:
    return (on,) if isinstance(on, str) else on


def _add(check: Check) -> Run:
    CHECKS.append(check)
    return check.run


def register(format_: Format, rules: FormatRules) -> None:
    """Give a file format its rules."""
    _OF_FORMAT[format_] = rules


def unregister(format_: Format) -> None:
    """Forget the rules of a format."""
    gone = _OF_FORMAT.pop(format_)
    for code in [code for code in RULES if code.startswith(gone.series)]:
        del RULES[code]
    CHECKS[:] = [check for check in CHECKS if check.rule.code in RULES]


def rules_of(format_: Format) -> FormatRules:
    """The rules of a format. A look-alike is judged by those of workflows."""
    return _OF_FORMAT.get(format_) or _OF_FORMAT[WORKFLOW]


def conflict_codes() -> frozenset[str]:
    """The codes that tell of a merge conflict in a file of any format."""
    return frozenset(one.conflict for one in _OF_FORMAT.values())


def syntax_codes() -> frozenset[str]:
    """The codes that tell of what cannot be read in a file of any format."""
    return frozenset(one.syntax[0] for one in _OF_FORMAT.values())


def load(format_: Format) -> None:
    """Import the rules of a format."""
    for module in rules_of(format_).modules:
        import_module(module)


def all_rules() -> Mapping[str, Rule]:
    """Every rule by code: the formats in the order of their registration, each in the order of its specification."""
    for format_ in _OF_FORMAT:
        load(format_)
    series = [one.series for one in _OF_FORMAT.values()]
    return dict(sorted(RULES.items(), key=lambda item: (_place_in(series, item[0]), item[0])))


def _place_in(series: Sequence[str], code: str) -> int:
    return next(place for place, one in enumerate(series) if code.startswith(one))


def read_page(doc: str) -> Page:
    """A docstring taken apart: title, text, and the blocks behind `Bad::` and `Good::`."""
    from inspect import cleandoc  # slow to import, and only pages need it
    from textwrap import dedent

    title, _, rest = cleandoc(doc).partition("\n\n")
    rest = f"\n{rest}"
    text, _, examples = rest.partition("\nBad::\n")
    bad, _, good = examples.partition("\nGood::\n")
    return Page(" ".join(title.split()), text.strip(), dedent(bad).strip("\n"), dedent(good).strip("\n"))
