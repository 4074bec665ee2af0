"""The texts of the product that people read, by surface, and the turns of phrase that they avoid."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]

#: surface -> the folders and files whose texts it shows.
SURFACES: dict[str, tuple[str, ...]] = {
    "rules": ("loop_ls/rules",),
    "hovers": ("loop_ls/features", "loop_ls/index"),
    "command line": ("loop_ls/cli", "loop_ls/client", "loop_ls/app", "loop_ls/report"),
    "keys": ("loop_ls/formats", "schemas"),
    "engine": ("loop_ls/engine", "loop_ls/contract"),
    "server": ("loop_ls/server", "loop_ls/syntax", "loop_ls/text"),
    "VS Code": ("vscode-client",),
    "documentation": ("README.md", "CHANGELOG.md", "docs"),
}
_SKIPPED = (
    "vscode-client/test/",
    "vscode-client/scripts/",
    "docs/dev/",
    "/node_modules/",
    "/dist/",
    "/_build/",
    "/out/",
)

#: turn of phrase -> what an English developer tool says instead, or why it is avoided.
AVOIDED: dict[str, str] = {
    r"(?<!there )(?<!There )\b(?:is|are|was|were|be) no\b(?! (?:longer|more|less))": "`is not a ...` or `unknown ...`",
    r"\b(?:is|are|was|were) none\b": "`is not one of ...`",
    r"\b(?:goes|go|going|went) on\b": "continue",
    r"\bmend(?:s|ed|ing)?\b": "fix",
    r"\banew\b": "again",
    r"\b(?:no|some)body\b": "the passive, or who it is",
    r"(?<!-)\bbesides?\b(?!-)": "next to, also, with",
    r"\b(?:stands?|stood) (?:in|behind|beside|there|here|at|under|below|above|alone)\b": "is in, comes after",
    r"\bhand(?:s|ed|ing)? (?:\S+ ){0,3}over\b|\bhand(?:s|ed|ing)? on\b": "pass",
    r"\bto begin with\b": "starter",
    r"\bwould be one\b": "`for example`",
    r"(?:^|[;:,.] )[Ss]ay (?:what|which|how|when|who|after|in)\b": "the imperative of what to do: set, add, name",
    r"\bis called so\b": "`no step named ...`",
    r"\bha(?:s|ve) to be\b": "must be",
    r"\ball the same\b": "anyway, still",
    r"\bat the latest\b|\bat the most\b": "at most",
    r"\bbehind (?:the|a) (?:dash|name|keyword|program)\b": "after",
    r"\bpass(?:es|ed)? over\b": "skip",
    r"\btak(?:e|es|en) for\b|\bhold(?:s|ing)? \S+ for\b": "read as, treated as",
    r"\bno verb\b|\bsign of life\b|\bin vain\b|\bwhat became of\b|\bthe talk between\b": "current words",
    r"\b[Ii]t is told\b|\bis told (?:when|with)\b|\bare told\b": "reported",
    r"\bthan there (?:is|are)\b|\bthan what there is\b": "than the current one",
    r"\bin force\b": "applies",
    r"\bby itself\b": "automatically",
    r"\bThe most [a-z]+(?: [a-z]+)? (?:of|in|at|that|from)\b": "`Maximum ...`",
    r"\bsmall letters\b": "lowercase letters",
    r"\bback-ticks?\b": "backtick",
    r"\bby now\b": "now",
    r"\bif need be\b": "if needed",
    r"\bwho(?:ever)? (?:comes|answers|hears) (?:second|first|a)\b": "a second answer, users who",
    r"\blets? (?:one|another) \S+ in,": "sign in",
    r"(?<!before )\b(?:[Aa]|such a) start (?:shows|is|asks|says|without)\b": "the run, before a run",
}
_AVOIDED = {re.compile(phrase, re.IGNORECASE): better for phrase, better in AVOIDED.items()}

_WORDS = re.compile(r"[A-Za-z]{2,}")
_TS_STRING = re.compile(r"'((?:[^'\\\n]|\\.)*)'|\"((?:[^\"\\\n]|\\.)*)\"|`((?:[^`\\]|\\.)*)`")
_CODE_FENCE = re.compile(r"^(?:```|~~~).*?^(?:```|~~~)", re.MULTILINE | re.DOTALL)


class Text(NamedTuple):
    place: str
    text: str


def texts_of(surface: str) -> list[Text]:
    """Everything that the surface shows to people, as far as its files hold it."""
    found: list[Text] = []
    for name in SURFACES[surface]:
        top = ROOT / name
        for path in [top] if top.is_file() else sorted(top.rglob("*")):
            place = path.relative_to(ROOT).as_posix()
            if path.is_file() and not any(part in f"/{place}" for part in _SKIPPED):
                found += [Text(f"{place}:{line}", text) for line, text in _texts(path) if _is_sentence(text)]
    return found


def avoided_in(text: str) -> list[str]:
    """The turns of phrase of the text, each with what to write instead."""
    return [f"{found.group()!r}: {better}" for phrase, better in _AVOIDED.items() if (found := phrase.search(text))]


def _texts(path: Path) -> Iterator[tuple[int, str]]:
    match path.suffix:
        case ".py":
            yield from _of_python(path.read_text("utf-8"))
        case ".ts" | ".tsx":
            yield from _of_typescript(path.read_text("utf-8"))
        case ".json" if path.name not in ("package-lock.json", "tsconfig.json"):
            yield from ((1, text) for text in _of_json(json.loads(path.read_text("utf-8"))))
        case ".md":
            yield from _of_markdown(path.read_text("utf-8"))
        case _:
            return


def _is_sentence(text: str) -> bool:
    """More than one word, and neither SQL nor a list of capitals that a rule looks for."""
    words = _WORDS.findall(re.sub(r"\{[^{}]*\}", "", text))
    return (
        len(words) > 1 and " " in text.strip() and not text.lstrip().startswith(_SQL) and any(map(str.islower, words))
    )


_SQL = ("SELECT ", "INSERT ", "UPDATE ", "DELETE ", "CREATE ", "ALTER ", "DROP ", "WITH ", "LOCK ", "NOTIFY ", "(?")


def _of_python(source: str) -> Iterator[tuple[int, str]]:
    """String literals that are neither docstrings, assertions nor pieces of an f-string; placeholders as `{}`."""
    tree = ast.parse(source)
    passed: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            passed.add(id(node.value))
        if isinstance(node, ast.JoinedStr):
            passed.update(id(part) for part in node.values)
        if isinstance(node, ast.Assert):
            passed.add(id(node.msg))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "AssertionError":
            passed.update(map(id, node.args))
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr) and id(node) not in passed:
            yield (
                node.lineno,
                "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values),
            )
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in passed:
            yield node.lineno, node.value


def _of_typescript(source: str) -> Iterator[tuple[int, str]]:
    code = re.sub(r"(?m)^\s*(?://|/?\*).*$", "", source)
    for found in _TS_STRING.finditer(code):
        yield (
            code.count("\n", 0, found.start()) + 1,
            re.sub(r"\$\{[^{}]*\}", "{}", next(filter(None, found.groups()), "")),
        )


def _of_json(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _of_json(part)


def _of_markdown(source: str) -> Iterator[tuple[int, str]]:
    """Its sentences, without code."""
    prose = _CODE_FENCE.sub(lambda found: "\n" * found.group().count("\n"), source)
    for paragraph in re.finditer(r"(?:^[^\n]*\S[^\n]*\n?)+", prose, re.MULTILINE):
        line = prose.count("\n", 0, paragraph.start()) + 1
        for sentence in re.split(r"(?<=[.!?:])\s+(?=[A-Z*`])|\n(?=[-*|#>\d])", paragraph.group()):
            yield line, " ".join(sentence.split())
