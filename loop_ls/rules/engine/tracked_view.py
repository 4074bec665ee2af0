"""What a rule may ask about the rest of the file and about other files, and a record of the answers.

A rule that looks beyond its own piece asks through a `View`. Every question is kept with its answer
and with a topic, so that after an edit only those rules run again whose topic changed and who would
be answered differently now (see `rules.engine.checker`). Answers are small values: no element of another
piece hides in one unless the question is about places.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Set
from typing import TYPE_CHECKING, Any, TypeVar, cast

from loop_ls.formats.common.typed_mapping import Pair
from loop_ls.formats.workflow.placeholder_syntax import producers
from loop_ls.index.element import Definition, Element, StrayBraces, Use
from loop_ls.index.top_level import Top
from loop_ls.rules.engine import queries as q
from loop_ls.rules.engine.call_facts import Callee, Callers, Circle
from loop_ls.rules.engine.queries import Known, QueryContext
from loop_ls.text.fault import Fault

if TYPE_CHECKING:
    from loop_ls.index.element import Reference
    from loop_ls.syntax.incremental.piece import Piece
    from loop_ls.syntax.nodes import Node

A = TypeVar("A")

#: What a change can be about. Names and keys of the file are topics of their own: ("name", "draft").
Topic = Hashable

GRAPH: Topic = "graph"
OUTSIDE: Topic = "outside"
NAMES: Topic = "names"
LAST: Topic = "last"
MODELS: Topic = "models"
PIECES: Topic = "pieces"
SHAPE: Topic = "shape"
ODD: Topic = "odd"
FAULTS: Topic = "faults"
CYCLES: Topic = "cycles"
SETTINGS: Topic = "settings"


#: By kind of topic: the rules (by `id` of their checks) that have ever asked about it, in any piece.
Askers = dict[str, set[int]]


def kind_of(topic: Topic) -> str:
    """What a topic is about: `name` of ("name", "draft")."""
    return topic if isinstance(topic, str) else cast(tuple[str, str], topic)[0]


class View:
    """One rule's, or one element's, sight of the world. Whoever runs several rules says which of them asks: `asker`."""

    __slots__ = ("_answers", "_askers", "_world", "asker", "count")

    def __init__(self, world: QueryContext, askers: Askers | None = None) -> None:
        self._world: QueryContext | None = world
        self._answers: dict[Topic, dict[tuple[Any, ...], Any]] = {}
        self._askers = askers
        self.asker = 0
        self.count = 0  # of the questions

    def enter(self, world: QueryContext, topics: Iterable[Topic]) -> None:
        """See another world, in which only these topics changed: what is known of the others holds."""
        self._world = world
        for topic in topics:
            self._answers.pop(topic, None)

    @property
    def topics(self) -> Set[Topic]:
        return self._answers.keys()

    def still_true(self, world: QueryContext, topics: Iterable[Topic]) -> bool:
        """Whether the questions about these topics would get the same answers in another world."""
        return all(
            key[0](world, *key[1:]) == answer for topic in topics for key, answer in self._answers[topic].items()
        )

    def leave(self) -> None:
        """Let go of the world: its document is an old version soon."""
        self._world = None

    def _ask(self, topic: Topic, question: Callable[..., A], *about: Any) -> A:
        if self._askers is not None:
            kind = topic if topic.__class__ is str else topic[0]  # type: ignore[index] # `kind_of`, asked very often
            self._askers[kind].add(self.asker)
        answers = self._answers.get(topic)
        if answers is None:
            answers = self._answers[topic] = {}
        key = (question, *about)
        if key in answers:
            return cast(A, answers[key])
        assert self._world is not None, "a rule asks only while it runs"
        self.count += 1
        answer = answers[key] = question(self._world, *about)
        return answer

    # -- names of this file -----------------------------------------------------------------------

    def known(self, name: str) -> Known | None:
        """What a name means here: the first step, loop or accumulated output that is called so."""
        return self._ask(("name", name), q.known, name)

    def producer(self, variable: str) -> Known | None:
        """The step or loop whose result a variable is: `x`, `step.x`, `x.results`."""
        for name in producers(variable):
            found = self.known(name)
            if found is not None:
                return found
        return None

    def places(self, name: str) -> tuple[Definition, ...]:
        """Every definition of a name, with places."""
        return self._ask(("place", name), q.places, name)

    def near_name(self, name: str) -> str | None:
        """The name of a step or loop that was probably meant."""
        return self._ask(NAMES, q.near_name, name)

    def near_variable(self, name: str) -> str | None:
        """The simple variable that was probably meant: names, accumulated outputs, `input`."""
        return self._ask(NAMES, q.near_variable, name)

    def is_mentioned(self, name: str, by_others_than: Element) -> bool:
        """Whether another element uses or needs this name."""
        return self._ask(("mentions", name), q.is_mentioned, name, by_others_than)

    def is_used(self, name: str) -> bool:
        """Whether any element reads the result of this name; waiting for it does not count."""
        return self._ask(("mentions", name), q.is_used, name)

    def first_use(self, name: str) -> tuple[Element, Use] | None:
        """The first use of a variable in the file, with its place."""
        return self._ask(("users", name), q.first_use, name)

    def only_in_until(self, name: str) -> bool:
        """Whether a variable is used in conditions of loops and nowhere else."""
        return self._ask(("users", name), q.only_in_until, name)

    def parameters(self) -> tuple[str, ...]:
        """The names that this file expects from its callers, in order of first use."""
        return self._ask("parameters", q.parameters)

    # -- the file as a whole ----------------------------------------------------------------------

    def faults(self) -> tuple[Fault, ...]:
        """What is wrong with the document as a whole; places absolute."""
        return self._ask(FAULTS, q.faults)

    def root_kind(self) -> str:
        return self._ask(FAULTS, q.root_kind)

    # -- head -------------------------------------------------------------------------------------

    def top(self, name: str) -> Top | None:
        """A top-level key with its place; of a repeated one the first."""
        return self._ask(("top", name), q.top, name)

    def tops(self) -> tuple[Top, ...]:
        return self._ask(PIECES, q.tops)

    def expects(self, name: str) -> bool:
        """Whether a top-level key is there, or an unknown one that probably means it."""
        return self._ask(PIECES, q.expects, name)

    def has_entries(self) -> bool:
        """Whether `steps` or `loops` has an entry, in whatever state."""
        return self._ask(SHAPE, q.has_entries)

    def odd_items(self) -> tuple[tuple[Piece, Node], ...]:
        """Entries of `steps` and `loops` that are no mappings."""
        return self._ask(ODD, q.odd_items)

    def blank_items(self) -> tuple[Piece, ...]:
        """Entries of `steps` and `loops` with nothing behind the dash."""
        return self._ask(SHAPE, q.blank_items)

    def empty_sections(self) -> tuple[Top, ...]:
        """`steps:` and `loops:` with nothing behind the colon and nothing below it."""
        return self._ask(SHAPE, q.empty_sections)

    def stem(self) -> str | None:
        """The name of the file without its ending; None for a text that is no file."""
        return self._ask(PIECES, q.stem)

    def default(self, name: str) -> Any:
        """The value of a key of `execution`, None where it is absent or faulty."""
        return self._ask(("execution", name), q.default, name)

    def settles_models(self) -> bool:
        """Whether `execution` names a provider and a model for every step."""
        return self._ask(("top", "execution"), q.settles_models)

    def without_model(self) -> tuple[tuple[Element, tuple[str, ...]], ...]:
        """The steps that ask a model and have no provider or no model, with what they lack."""
        return self._ask(MODELS, q.without_model)

    def chain(self) -> tuple[str, ...]:
        """The providers that `execution` names."""
        return self._ask(("top", "execution"), q.chain)

    def providers_that_inherit_temperature(self) -> tuple[str, ...]:
        """The providers of steps and votes that take their temperature from `execution`."""
        return self._ask(MODELS, q.providers_that_inherit_temperature)

    def strays(self, name: str) -> tuple[StrayBraces, ...]:
        """Placeholders in a top-level key in which nothing is filled in."""
        return self._ask(("top", name), q.strays, name)

    def constants(self) -> tuple[Pair, ...]:
        """The entries of `env`."""
        return self._ask(("top", "env"), q.constants)

    def is_read(self, name: str) -> bool:
        """Whether any element uses a variable, as `env.KEY`."""
        return self._ask(("mentions", name), q.is_read, name)

    def misspelt_constants(self) -> frozenset[str]:
        """The constants that unknown ones are taken for."""
        return self._ask(("mentions", "env"), q.misspelt_constants)

    def is_provider(self, name: str) -> bool:
        return self._ask(SETTINGS, q.is_provider, name)

    def provider_names(self) -> tuple[str, ...]:
        return self._ask(SETTINGS, q.provider_names)

    def judge_is_local(self) -> bool:
        """Whether conditions that name their text are decided by looking, without a model."""
        return self._ask(SETTINGS, q.judge_is_local)

    def judge_has_model(self) -> bool:
        """Whether the setting `judge` names a model."""
        return self._ask(SETTINGS, q.judge_has_model)

    def has_default_store(self) -> bool:
        """Whether the settings say where a `rag` step searches that names nothing."""
        return self._ask(SETTINGS, q.has_default_store)

    def has_server(self, name: str) -> bool:
        """Whether the settings have a server of that name."""
        return self._ask(SETTINGS, q.has_server, name)

    def most_iterations(self) -> int | None:
        """The limit of the project on the iterations of any loop."""
        return self._ask(SETTINGS, q.most_iterations)

    def models_of(self, provider: str) -> tuple[str, ...]:
        """The models that the settings list for a provider."""
        return self._ask(SETTINGS, q.models_of, provider)

    def has_env(self, name: str) -> bool:
        return self._ask("env", q.has_env, name)

    def near_env(self, name: str) -> str | None:
        return self._ask("env", q.near_env, name)

    # -- order ------------------------------------------------------------------------------------

    def depends_explicitly(self, element: Element, name: str) -> bool:
        """Whether `needs` of steps and the references of loops lead from an element to a name."""
        return self._ask(GRAPH, q.depends_explicitly, element, name)

    def waits_for(self, name: str, element: Element) -> bool:
        """Whether what is called so starts after an element. Where that reads it, both stand in a cycle (WF303)."""
        return self._ask(GRAPH, q.waits_for, name, element)

    def loops_before(self, element: Element) -> tuple[Known, ...]:
        """The loops that are finished before an element starts."""
        return self._ask(GRAPH, q.loops_before, element)

    def third_loop(self, element: Element) -> str | None:
        """The loop that a step waits for only because it uses `loop.iteration` or `loop.output`."""
        return self._ask(GRAPH, q.third_loop, element)

    def loop_is_read(self, loop: Element) -> bool:
        """Whether a later step reads this loop through `loop.iteration` and its kin."""
        return self._ask(GRAPH, q.loop_is_read, loop)

    def cycles(self) -> tuple[tuple[Element, ...], ...]:
        return self._ask(CYCLES, q.cycles)

    def gives_result(self, element: Element) -> bool:
        """Whether this is the step, or without steps the loop, whose result is that of the file."""
        return self._ask(LAST, q.gives_result, element)

    def has_steps(self) -> bool:
        return self._ask(SHAPE, q.has_steps)

    # -- other files ------------------------------------------------------------------------------

    def callee(self, reference: Reference) -> Callee:
        """What is known of the workflow that a reference means."""
        return self._ask(OUTSIDE, q.callee, reference.text)

    def is_self(self, key: str) -> bool:
        """Whether a reference would call this very file."""
        return self._ask(OUTSIDE, q.callee, key).is_caller

    def errors_of(self, key: str) -> int:
        """How many errors another workflow has of its own (WF609)."""
        return self._ask(OUTSIDE, q.errors_of, key)

    def callers(self) -> Callers:
        return self._ask(OUTSIDE, q.callers)

    def circle(self, element: Element) -> Circle | None:
        """The way from a call back to this file."""
        return self._ask(OUTSIDE, q.circle, element)

    def innermost_runs(self, element: Element) -> int | None:
        """How often the innermost of nested refine loops runs at most; None in a circle."""
        return self._ask(OUTSIDE, q.innermost_runs, element)

    def twin(self) -> str | None:
        """The path of the earlier file with the same key."""
        return self._ask(OUTSIDE, q.twin)

    def lacks_skill(self, name: str) -> bool:
        """Whether a workspace that has skills has none of this name."""
        return self._ask(OUTSIDE, q.lacks_skill, name)

    def file_exists(self, path: str) -> bool:
        """Whether a path leads to a file, from the folder of this file or from that of the workspace."""
        return self._ask(OUTSIDE, q.file_exists, path)
