"""Completion in role loops, assistants and settings: asks the module of the format, in YAML or JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from loop_ls.features.answers import About, Completions, Item, ItemKind
from loop_ls.features.complete.items.keys import keys
from loop_ls.features.complete.items.known_models import known_models
from loop_ls.features.complete.items.models import skill_names
from loop_ls.features.complete.items.values import values
from loop_ls.features.complete.object_files.assistant_snippets import ASSISTANTS, JSON
from loop_ls.features.complete.object_files.json_items import keys as json_keys
from loop_ls.features.complete.object_files.json_items import texts, whole
from loop_ls.features.complete.object_files.json_items import values as json_values
from loop_ls.features.complete.quoting import as_text
from loop_ls.features.complete.render import flow_mapping, item, mapping, without_stops
from loop_ls.features.complete.request import Listing, spots_of
from loop_ls.features.complete.shapes import Meaning, meaning_of
from loop_ls.features.complete.style import Style, style_of
from loop_ls.features.docs.assistant import CRITERIA_DETAILS
from loop_ls.features.lookup.json_cursor import JsonSpot, json_spot
from loop_ls.features.spot.place import Spot, Where
from loop_ls.formats.assistant import keys as tables
from loop_ls.formats.checks.keys import CASE
from loop_ls.formats.checks.parts import checks_in
from loop_ls.formats.checks.target import Places
from loop_ls.formats.common.key_table import Key, Shape, Type
from loop_ls.formats.common.providers import PROVIDERS
from loop_ls.formats.registry import DECLARED_CHECKS
from loop_ls.formats.role_loop.roles import OF_CLAUDE
from loop_ls.formats.settings.enhance import INHERIT
from loop_ls.formats.settings.keys import ENHANCED
from loop_ls.formats.settings.model import Settings
from loop_ls.index.checked_file import places_beside, places_in
from loop_ls.index.disk.skill_files import skill_path
from loop_ls.index.document import Document
from loop_ls.index.workspace import Workspace
from loop_ls.text.position import Position, Span
from loop_ls.text.record import record

#: The key beside a model that names its provider, where it is not `provider`.
_PROVIDER_OF = {"plannerModel": "plannerProvider"}
_VALUES = {"regex": ("DONE|COMPLETE", "^all tests pass"), "test_pass": ("npm test", "pytest -q", "make check")}


def _assistant_models() -> tuple[str, ...]:
    """Tiers, then the models of the service that assistants run on."""
    return (*tables.TIERS, *(model for model, _ in known_models("anthropic")))


def complete_object(
    workspace: Workspace,
    document: Document,
    at: Position,
    settings: Settings,
    root: Shape,
    listing: Listing | None = None,
) -> Completions:
    """By the key table `root` of the file's format."""
    names = _Names(settings, workspace, listing)
    if document.path.endswith(".json"):
        spot = json_spot(document.text, at)
        return Completions(spot.word, tuple(_in_json(spot, root, names)))
    return _in_yaml(workspace, document, at, settings, root, names)


@record
class _Names:
    """What is there to be named by a list."""

    settings: Settings
    workspace: Workspace
    listing: Listing | None

    def of(self, key: Key) -> Iterable[tuple[str, str]]:
        """Names that may stand in the list of this key, each with a detail."""
        match key.offers:
            case "servers":
                return ((name, "configured") for name in self.settings.servers)
            case "skills":
                return ((name, skill_path(name)) for name in skill_names(self.workspace, self.listing))
            case _ if key.name == "allowedTools":
                return ((name, "") for name in tables.TOOLS)
            case _ if key.name == "tools":
                return OF_CLAUDE.items()
            case _:
                return ()


# -- YAML -----------------------------------------------------------------------------------------


def _in_yaml(
    workspace: Workspace, document: Document, at: Position, settings: Settings, root: Shape, names: _Names
) -> Completions:
    style = style_of(document.text.lines)
    spots = [_with_tops(document, spot) for spot in spots_of(document, at, style)]
    if not spots:
        return Completions(Span(at, at))
    span = spots[0].word
    items: list[Item] = []
    for number, spot in enumerate(spots):
        asked = _Asked(workspace, document, settings, spot, style, root, number == 0, names)
        for one in asked.items():
            own = None if spot.word == span else spot.word
            items.append(replace(one, sort=f"{number}{one.sort}", span=own) if number else one)
    return Completions(span, tuple(items))


def _with_tops(document: Document, spot: Spot) -> Spot:
    """The keys of other pieces count as written, too."""
    if spot.path or spot.where is not Where.KEY:
        return spot
    parts = document.whole.parts
    names = [*parts.keys, *(stray.unknown.entry.key.text for stray in parts.strays)]
    return replace(spot, written={**{name: "" for name in names if name != spot.text}, **spot.written})


class _Asked:
    """One spot of a YAML file."""

    def __init__(
        self,
        workspace: Workspace,
        document: Document,
        settings: Settings,
        spot: Spot,
        style: Style,
        root: Shape,
        first: bool,
        names: _Names,
    ) -> None:
        self.names = names
        self.workspace, self.document, self.settings = workspace, document, settings
        self.spot, self.style, self.root, self.first = spot, style, root, first
        self.meaning: Meaning = meaning_of(spot.path, root)

    def items(self) -> Iterator[Item]:
        spot, key, shape = self.spot, self.meaning.key, self.meaning.shape
        match spot.where:
            case Where.KEY if shape is not None:
                yield from self._keys(shape)
            case Where.KEY if key is not None and key.name == "rules":
                yield from self._rules()
            case Where.KEY if key is not None and shape is None and not self.meaning.inside:
                yield from self._names(key)
            case Where.VALUE if key is not None and (not self.meaning.inside or key.type is Type.TEXT_MAP):
                yield from self._values(key)
            case Where.ITEM if key is not None:
                yield from self._entries(key, spot)
            case Where.BELOW if key is not None:
                yield from self._below(key, shape)
            case _:
                return

    def _keys(self, shape: Shape) -> Iterator[Item]:
        spot = self.spot
        alone = shape.name == "assistant file" and not spot.written
        if alone and not spot.text and self.first:
            yield from self._whole(spot)
        if shape.name == "assistant file" and tables.LIST in spot.written:
            return  # nothing else stands beside it
        hidden = _hidden(shape, spot)
        for one in keys(shape, spot, self.style):
            if (alone or shape.name != "assistant file" or one.label != tables.LIST) and one.label not in hidden:
                yield one

    def _whole(self, spot: Spot) -> Iterator[Item]:
        for place, snippet in enumerate(ASSISTANTS):
            if spot.flow:
                text = flow_mapping(snippet.pairs)
            elif spot.dash:
                text = item(snippet.pairs, spot.column, self.style)
            else:
                text = mapping(snippet.pairs, spot.column, self.style)
            plain = without_stops(text)
            words = f"{snippet.label} {snippet.words}"
            about = ("snippet", plain)
            label, lead = snippet.label, spot.lead
            yield Item(
                label, ItemKind.SNIPPET, lead + plain, lead + text, snippet.detail, f"{place:02}", words, about=about
            )

    def _rules(self) -> Iterator[Item]:
        from loop_ls.rules.engine.registry import all_rules

        rules = all_rules().values()
        for place, rule in enumerate(one for one in rules if one.code not in self.spot.written):
            text = rule.code if self.spot.colon else f"{rule.code}: "
            words = f"{rule.code} {rule.name}"
            detail, about = rule.name, ("rule", rule.code)
            yield Item(
                rule.code,
                ItemKind.KEY,
                self.spot.lead + text,
                None,
                detail,
                f"{place:03}",
                words,
                again=True,
                about=about,
            )

    def _names(self, key: Key) -> Iterator[Item]:
        """Names that somebody chose elsewhere: the workflows that may be improved, the variables of a loop file."""
        names: Iterable[str] = ()
        detail = ""
        if key.shape is ENHANCED:
            names, detail = sorted(self.workspace.keys), "workflow"
        elif key is CASE.keys["vars"] and (places := places_beside(self.workspace, self.document)) is not None:
            names, detail = places.reads, "variable"
        for place, name in enumerate(names):
            if name not in self.spot.written:
                text = as_text(name, self.spot) + ("" if self.spot.colon else ": ")
                yield Item(name, ItemKind.KEY, self.spot.lead + text, None, detail, f"{place:03}")

    def _values(self, key: Key) -> Iterator[Item]:
        owner = meaning_of(self.spot.path[:-1], self.root).shape
        name = owner.name if owner is not None else ""
        yield from self._texts(self._words(name, key), ItemKind.VALUE)
        if key.type in (Type.TEXTS, Type.TEXT_OR_TEXTS) and not self.spot.text:
            for one in self._entries(key, self.spot):
                yield replace(one, text=f"[{one.text}]", snippet=None)
        for one in values(key, self.spot, name):
            detail = CRITERIA_DETAILS.get(one.label, one.detail) if name == "loop criteria" else one.detail
            yield replace(one, detail=detail, about=("value", name, key.name, one.label))

    def _words(self, owner: str, key: Key) -> Iterable[tuple[str, str, About]]:
        """Texts that suit a key without being all there are."""
        match (owner, key.name):
            case ("assistant" | "assistant file", "model"):
                return [
                    (name, "tier" if name in tables.TIERS else "", ("model", "anthropic", name))
                    for name in _assistant_models()
                ]
            case ("loop criteria", "value"):
                type_ = self.spot.written.get("type", "")
                return [(text, "example", ()) for text in _VALUES.get(type_, ())]
            case ("check", "on") if (places := places_beside(self.workspace, self.document)) is not None:
                return [(text, "", ()) for text in places.written]
            case _ if key.offers == "providers":
                names = dict.fromkeys([*self.settings.providers, *PROVIDERS])
                return [
                    *_inherited(owner, key),
                    *(
                        (name, "configured" if name in self.settings.providers else "", ("provider", name))
                        for name in names
                    ),
                ]
            case _ if key.offers == "models":
                return [*_inherited(owner, key), *self._models(_PROVIDER_OF.get(key.name, "provider"))]
            case _:
                return ()

    def _models(self, provider_key: str) -> list[tuple[str, str, About]]:
        provider = self.spot.written.get(provider_key, "")
        configured = self.settings.providers.get(provider)
        names = [*(configured.models if configured else ()), *(model for model, _ in known_models(provider))]
        return [(name, provider, ("model", provider, name)) for name in dict.fromkeys(names)]

    def _entries(self, key: Key, spot: Spot) -> Iterator[Item]:
        if key.type is Type.BLOCKS and key.shape is not None:
            if key.shape is tables.ASSISTANT:
                yield from self._whole(spot)
            if self.first and not spot.flow:
                gap = self.style.gap
                lead = f"{spot.lead}-{' ' * (gap - 1)}" if spot.dash else spot.lead
                inner = replace(spot, column=spot.column + gap, lead=lead) if spot.dash else spot
                for one in keys(key.shape, inner, self.style):
                    yield replace(one, sort=f"k{one.sort}")
        elif key.offers == "elements" and (places := places_beside(self.workspace, self.document)) is not None:
            yield from self._listed(((name, places.part) for name in places.parts), spot)
        elif key is ENHANCED.keys["verifiers"] and (enhanced := self._enhanced()) is not None:
            yield from self._listed(((name, enhanced.part) for name in enhanced.parts), spot)
        elif key is CASE.keys["without"]:
            yield from self._listed(((name, "check") for name in self._checks_beside()), spot)
        elif key is ENHANCED.keys["files"]:
            yield from self._listed(((path, "workflow") for path in _workflow_files(self.workspace)), spot)
        elif key.name == "workflowRoots":
            yield from self._listed(((name, "holds workflows") for name in _folders(self.workspace)), spot)
        else:
            yield from self._listed(self.names.of(key), spot)

    def _enhanced(self) -> Places | None:
        """What the workflow has whose settings are written."""
        path = self.spot.path
        key = path[path.index("workflows") + 1] if "workflows" in path[:-1] else ""
        document = self.workspace.by_key(key)
        return None if document is None else places_in(document)

    def _checks_beside(self) -> Iterator[str]:
        """The names of the checks that apply to every test case; those without a name have their type."""
        document = self.workspace.beside(self.document, DECLARED_CHECKS)
        yield from () if document is None else (one.key for one in checks_in(document.whole.parts))

    def _listed(self, words: Iterable[tuple[str, str]], spot: Spot) -> Iterator[Item]:
        dash = "- " if spot.dash else ""
        for place, (word, detail) in enumerate(words):
            if word not in spot.items:
                text = spot.lead + dash + as_text(word, spot)
                yield Item(word, ItemKind.VALUE, text, None, detail, f"{place:03}")

    def _texts(self, words: Iterable[tuple[str, str, About]], kind: ItemKind) -> Iterator[Item]:
        for place, (word, detail, about) in enumerate(words):
            text = self.spot.lead + as_text(word, self.spot)
            yield Item(word, kind, text, None, detail, f"v{place:03}", about=about)

    def _below(self, key: Key, shape: Shape | None) -> Iterator[Item]:
        named = key.type is Type.BLOCK_MAP and self.meaning.inside  # below a name that somebody chose
        match key.type:
            case Type.BLOCK | Type.BLOCK_MAP if shape is not None and (named or key.type is Type.BLOCK):
                yield from keys(shape, self.spot, self.style)
            case Type.BLOCKS | Type.TEXTS | Type.TEXT_OR_TEXTS:
                yield from self._entries(key, self._dashed())
            case Type.TEXT_MAP if key.name == "rules":
                yield from self._rules()
            case Type.BLOCK_MAP:
                yield from self._names(key)
            case Type.TEXT_MAP | Type.ARGUMENTS:
                return
            case _:
                yield from self._values(key)

    def _dashed(self) -> Spot:
        spot = self.spot
        if spot.owner is None:
            return replace(spot, dash=True)
        column = spot.owner + self.style.dash
        return replace(spot, dash=True, column=column, lead=" " * (column - spot.word.start.column))


def _inherited(owner: str, key: Key) -> list[tuple[str, str, About]]:
    """`inherit`, where that is a word of its own."""
    return [(INHERIT, "default", ("key", owner, key.name))] if key.default == INHERIT else []


def _workflow_files(workspace: Workspace) -> list[str]:
    """Paths of workflows below the workspace."""
    root = f"{workspace.roots.workspace}/"
    return sorted(
        one.path.removeprefix(root)
        for one in workspace.documents.values()
        if one.is_workflow and one.path.startswith(root)
    )


def _folders(workspace: Workspace) -> list[str]:
    """Folders of the workspace with workflows in them, outermost ones."""
    root = f"{workspace.roots.workspace}/"
    inside = (one.path.removeprefix(root) for one in workspace.documents.values() if one.is_workflow)
    return sorted({path.partition("/")[0] for path in inside if "/" in path and not path.startswith("/")})


# -- JSON -----------------------------------------------------------------------------------------


def _in_json(spot: JsonSpot, root: Shape, names: _Names) -> Iterator[Item]:
    if spot.comma is not None and spot.comma == spot.word.start and spot.word.empty:
        return
    if spot.full:
        return
    if not spot.path and spot.where == "value":
        yield whole("assistant: until tests pass", JSON, "repeats until a command succeeds", spot, 0)
        return
    if spot.where == "item":
        if spot.path == (tables.LIST,):
            yield whole("assistant: until tests pass", JSON, "repeats until a command succeeds", spot, 0)
        elif (listed := meaning_of(spot.path, root).key) is not None:
            yield from texts(names.of(listed), spot)
        return
    shape = meaning_of(spot.path if spot.where == "key" else spot.path[:-1], root).shape
    if shape is None:
        return
    if spot.where == "key":
        if tables.LIST not in spot.written or shape is not root:
            hidden = {*_hidden(shape, spot), *([tables.LIST] if spot.written else [])}
            yield from (one for one in json_keys(shape, spot) if one.label not in hidden)
        return
    key = shape.keys.get(spot.path[-1])
    if key is not None and key.name == "model":
        yield from texts(((name, "") for name in _assistant_models()), spot)
    elif key is not None and shape.name == tables.CRITERIA.name and key.name == "type":
        for one in json_values(key, spot):
            about = ("value", shape.name, key.name, one.label)
            yield replace(one, detail=CRITERIA_DETAILS[one.label], about=about)
    elif key is not None:
        yield from json_values(key, spot)


def _hidden(shape: Shape, spot: Spot | JsonSpot) -> frozenset[str]:
    """Keys of a criterion that its type does not look at."""
    if shape.name != tables.CRITERIA.name:
        return frozenset()
    match spot.written.get("type"):
        case tables.REGEX:
            return frozenset({"argv", "timeoutSeconds", "cwd", "includeOutput"})
        case tables.TEST_PASS:
            return frozenset({"lastLine"})
        case tables.MANUAL | tables.CAP_ONLY:
            return frozenset({"value", "argv", "timeoutSeconds", "cwd", "includeOutput", "lastLine", "inARow"})
        case _:
            return frozenset()
