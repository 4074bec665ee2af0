"""What the chosen part of a workflow needs besides models: MCP servers, stores, and who makes vectors for them.

Looked at before the start, so that a wrong name, a key in a file or a program that nobody agreed to is told
before anything is paid.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from loop_ls.engine.bodies.tools import servers_of
from loop_ls.engine.capabilities.values import Endpoint, Program
from loop_ls.engine.context.model_targets import step_targets
from loop_ls.engine.context.workflow_library import Library
from loop_ls.engine.core.addresses import address_fault, host_of
from loop_ls.engine.core.errors import Refused
from loop_ls.engine.core.ports import Failure
from loop_ls.engine.retrieval import Store, read_store, searches
from loop_ls.engine.runners.resolve import is_agent
from loop_ls.engine.runs.preflight import chosen
from loop_ls.engine.tools import Server, read_servers
from loop_ls.engine.tools.servers import server_program
from loop_ls.formats.common.secret import is_secret, names_secret, takes_from_environment
from loop_ls.formats.workflow.model import Rag, Step, Target
from loop_ls.text.json_value import Json, as_object


@dataclass(frozen=True, slots=True)
class Needs:
    """`asked` are the makers of vectors, each with the step that searches."""

    servers: tuple[Server, ...] = ()
    stores: tuple[Store, ...] = ()
    asked: tuple[tuple[str, tuple[Target, ...]], ...] = ()

    def programs(self, root: str) -> list[Program]:
        return [server_program(server, root) for server in self.servers if server.kind == "stdio"]

    def places(self, environ: Mapping[str, str]) -> list[Endpoint]:
        """Where texts would go, and which variables with them."""
        found = [one for server in self.servers if server.kind != "stdio" for one in server_endpoints(server)]
        for store in self.stores:
            if store.database:
                url = _database_shown(environ.get(store.database, "")) or store.written
                found.append(Endpoint(store.name, url, store.database, store.written, reads=store.table))
        return found


def server_endpoints(server: Server) -> list[Endpoint]:
    """Where texts for a server go, with each variable that goes there too."""
    return [Endpoint(server.name, server.url, variable, server.url) for variable in server.variables or ("",)]


def _database_shown(value: str) -> str:
    """Of the address of a database its host: the rest of the variable, whatever it holds, is nobody's business."""
    scheme = value.partition("://")[0]
    return f"{scheme}://{host_of(value)}" if scheme.startswith("postgres") and host_of(value) else ""


def needs(
    library: Library, reached: Iterable[str], elements: frozenset[str] | None, settings: Mapping[str, Json]
) -> Needs:
    """Raises `Refused` for what is not there, and for a key that stands in a file."""
    known = as_object(settings.get("servers"))
    _no_agents(library, reached, elements, settings)
    try:
        found = list(_stores(library, reached, elements, settings))
        stores = tuple(dict.fromkeys(store for _, store in found))
        names = [*_servers(library, reached, elements, known), *(store.server for store in stores if store.server)]
        servers = tuple(read_servers(known, names))
    except Failure as failure:
        raise Refused("bad_argument", _sentence(failure.message), _sentence(failure.hint)) from failure
    for server in servers:
        _sound(server)
    asked = tuple((f"`{step}`", (Target(store.provider, store.model),)) for step, store in found if store.provider)
    return Needs(servers, stores, asked)


def of_servers(known: Mapping[str, Json], names: Iterable[str]) -> Needs:
    """The same of servers alone. Raises `Refused`."""
    try:
        servers = tuple(read_servers(known, names))
    except Failure as failure:
        raise Refused("bad_argument", _sentence(failure.message), _sentence(failure.hint)) from failure
    for server in servers:
        _sound(server)
    return Needs(servers)


def _steps(library: Library, reached: Iterable[str], elements: frozenset[str] | None) -> Iterator[tuple[str, Step]]:
    for number, key in enumerate(reached):
        for element in chosen(library.workflow(key), elements if number == 0 else None):
            if isinstance(element, Step):
                yield key, element


def _no_agents(
    library: Library, reached: Iterable[str], elements: frozenset[str] | None, settings: Mapping[str, Json]
) -> None:
    """An agent brings its own tools. Raises `Refused` where it would be offered those of a server."""
    known, providers = as_object(settings.get("servers")), as_object(settings.get("providers"))
    for key, step in _steps(library, reached, elements):
        execution = library.workflow(key).execution
        if isinstance(step.mode, str) and servers_of(step, execution, known):
            for target in step_targets(step, execution):
                if is_agent(target.provider, providers):
                    told = (
                        f"`{step.name}` uses `{target.provider}`, an agent with its own tools, which does not support"
                    )
                    hint = "Remove `servers` from the step, and configure them in the agent itself."
                    raise Refused("bad_argument", f"{told} `servers`.", hint)


def _servers(
    library: Library, reached: Iterable[str], elements: frozenset[str] | None, known: Mapping[str, Json]
) -> Iterator[str]:
    """Only `run` steps have tools."""
    for key, step in _steps(library, reached, elements):
        if isinstance(step.mode, str):
            yield from servers_of(step, library.workflow(key).execution, known)


def _stores(
    library: Library, reached: Iterable[str], elements: frozenset[str] | None, settings: Mapping[str, Json]
) -> Iterator[tuple[str, Store]]:
    for _, step in _steps(library, reached, elements):
        if isinstance(step.mode, Rag):
            store = read_store(
                as_object(settings.get("rag")), as_object(settings.get("servers")), step.mode.server, step.name
            )
            searches(store, step.mode.strategies, step.name)
            yield step.name, store


def _sound(server: Server) -> None:
    """Its address is one, and no key stands in it. Raises `Refused`."""
    if server.kind != "stdio" and (fault := address_fault(server.url)):
        hint = "Use the form `https://host/path`, and `${NAME}` for keys under `headers`."
        raise Refused("bad_argument", f"`servers.{server.name}.url` {fault}.", hint)
    _no_keys(server)


def _no_keys(server: Server) -> None:
    """What is written for a server goes to the record of the run, and keys may not."""
    written = [
        *(("env", *each) for each in server.env.items()),
        *(("headers", *each) for each in server.headers.items()),
    ]
    for section, name, value in written:
        if is_secret(value) or (names_secret(name) and value and not takes_from_environment(value)):
            raise _key_in_file(f"servers.{server.name}.{section}.{name}", name)
    if any(map(is_secret, (*server.argv, server.url))):
        raise _key_in_file(f"servers.{server.name}", "NAME")


def _key_in_file(where: str, name: str) -> Refused:
    variable = name.upper().replace("-", "_")
    return Refused(
        "bad_argument",
        f"`{where}` contains a key; never put keys in files.",
        f"Set it in the environment of the engine, and use `${{{variable}}}` here.",
    )


def _sentence(text: str) -> str:
    return text if not text or text.endswith((".", "?")) else f"{text}."
