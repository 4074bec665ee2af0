"""Findings as LSP diagnostics, written as JSON once and kept for as long as the finding stays the same."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from loop_ls import rules
from loop_ls.index.disk.uris import uri_of
from loop_ls.rules.engine.finding import Severity
from loop_ls.server.rpc.raw_json import Written, written
from loop_ls.text.invariant import invariant
from loop_ls.text.json_value import JsonObject

if TYPE_CHECKING:
    from loop_ls.rules.engine.finding import Finding, Related
    from loop_ls.server.capabilities import ClientFacts
    from loop_ls.server.documents.position_mapping import PositionMapping

#: More is no help to anybody, and editors slow down.
MOST = 500
#: Places that explain a finding, where the editor cannot show them apart.
_MOST_RELATED = 5
_TAGS = {"unnecessary": 1, "deprecated": 2}
SOURCE = "loop-ls"
RUN_SOURCE = "loop-run"

#: The places of another document, None where it is not known.
PlacesOf = Callable[[str], "PositionMapping | None"]


class Setting(NamedTuple):
    """Where findings are shown: the document, and what the client can show."""

    uri: str
    places: PositionMapping
    places_of: PlacesOf
    client: ClientFacts
    source: str = SOURCE


class Diagnostics:
    """Those of one document. The checker hands out the same finding until it moves or changes."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[Finding, Written]] = {}
        self._mark = 0

    def written(self, findings: Sequence[Finding], setting: Setting) -> list[Written]:
        """At most `MOST`, the most serious ones, in the order of the file, and one that tells of the rest."""
        shown = most_serious(findings)
        known = self._known if setting.places.mark == self._mark else {}
        kept: dict[int, tuple[Finding, Written]] = {}
        found: list[Written] = []
        for finding in shown:
            entry = known.get(id(finding))
            if entry is None or entry[0] is not finding:
                entry = (finding, written(diagnostic(finding, setting)))
            invariant(partial(_fits, entry, setting), "a finding that stays is written as it was")
            if not finding.related:  # the text around a related place may change without the finding
                kept[id(finding)] = entry
            found.append(entry[1])
        self._known, self._mark = kept, setting.places.mark
        if len(shown) < len(findings):
            found.append(written(_rest(len(findings) - len(shown), setting.source)))
        return found


def _fits(entry: tuple[Finding, Written], setting: Setting) -> bool:
    return entry[1] == written(diagnostic(entry[0], setting))


def _rest(count: int, source: str) -> JsonObject:
    return {
        "range": {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 0}},
        "severity": int(Severity.INFORMATION),
        "source": source,
        "message": f"{count} less severe findings are not shown; `loop-ls check` lists all of them.",
    }


def most_serious(findings: Sequence[Finding], most: int = MOST) -> Sequence[Finding]:
    if len(findings) <= most:
        return findings
    room, limit = most - 1, 0
    counts = Counter(finding.severity for finding in findings)
    for severity in sorted(counts):
        limit = severity
        if counts[severity] > room:
            break
        room -= counts[severity]
    kept = []
    for finding in findings:
        if finding.severity < limit:
            kept.append(finding)
        elif finding.severity == limit and room:
            room -= 1
            kept.append(finding)
    return kept


def diagnostic(finding: Finding, setting: Setting) -> JsonObject:
    uri, places, places_of, client, source = setting
    found: JsonObject = {
        "range": places.range(finding.span),
        "severity": int(finding.severity),
        "code": finding.rule,
        "source": source,
        "message": finding.message,
    }
    if client.code_description and (page := page_of(finding.rule)):
        found["codeDescription"] = {"href": page}
    if client.diagnostic_tags and finding.tags:
        found["tags"] = sorted(_TAGS[tag] for tag in finding.tags if tag in _TAGS)
    if failure := finding.data.get("failure"):
        found["data"] = failure
    if finding.related:
        if client.related_information:
            found["relatedInformation"] = [
                related for one in finding.related if (related := _related(one, uri, places, places_of)) is not None
            ]
        else:
            found["message"] = "\n".join([finding.message, *_told(finding.related)])
    return found


@lru_cache(maxsize=512)
def page_of(rule: str) -> str:
    """The page of a rule, a file beside the rules: nothing is fetched. Empty where it has none."""
    page = Path(rules.__file__).with_name("pages") / f"{rule}.md"
    return uri_of(page) if page.is_file() else ""


def _related(related: Related, uri: str, places: PositionMapping, places_of: PlacesOf) -> JsonObject | None:
    there = places if related.uri is None or related.uri == uri else places_of(related.uri)
    if there is None:
        return None
    return {
        "location": {"uri": related.uri or uri, "range": there.range(related.span)},
        "message": related.message,
    }


def _told(related: Sequence[Related]) -> list[str]:
    """Related places as lines of the message, for editors that show nothing else."""
    lines = [f"  line {one.span.start.line + 1}: {one.message}" for one in related[:_MOST_RELATED]]
    if len(related) > _MOST_RELATED:
        lines.append(f"  and {len(related) - _MOST_RELATED} more")
    return lines
