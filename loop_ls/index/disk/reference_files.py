"""Reads `config.yaml` of a project, and the files that it includes, as a layer of settings.

What cannot be read, lies outside of the folder or is no mapping is left out: a broken file of another tool
is no reason to refuse ours (D44).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from loop_ls.formats.common.plain_value import plain
from loop_ls.formats.settings import reference_config as reference
from loop_ls.syntax.tree import read_yaml
from loop_ls.text.json_value import Json, as_object
from loop_ls.text.lines import Text

#: Reads a file; None for what is no text.
Read = Callable[[str], Text | None]

#: More files of one kind than this are a mistake in the glob.
MOST_FILES = 500


def layer(folder: str, config: str, read: Read) -> dict[str, Json]:
    """The settings that the file `config` of this folder stands for; empty where there is none."""
    main = _values(folder, config, read)
    if not main:
        return {}
    return _Project(folder, main, read).settings()


class _Project:
    def __init__(self, folder: str, main: Mapping[str, Json], read: Read) -> None:
        self._folder, self._main, self._read = folder, main, read
        self._includes = as_object(main.get("includes"))

    def settings(self) -> dict[str, Json]:
        more = self._settings_file()
        found: dict[str, Json] = {
            "providers": self._providers(more),
            "servers": self._servers(),
            "rag": reference.rag(
                as_object(more.get("rag") or self._main.get("rag")), self._named("rag", "server_name")
            ),
        }
        outputs = as_object(more.get("skills") or self._main.get("skills")).get("outputs_dir")
        if isinstance(outputs, str) and outputs:
            found["outputsDir"] = outputs
        return {name: value for name, value in found.items() if value}

    def _settings_file(self) -> dict[str, Json]:
        path = self._includes.get("settings")
        return _values(self._folder, path, self._read) if isinstance(path, str) and _inside(path) else {}

    def _providers(self, more: Mapping[str, Json]) -> dict[str, Json]:
        found: dict[str, Json] = {}
        for main in (self._main, more):
            for interface, name, config in _by_interface(main.get("ai")):
                found[name] = reference.provider(interface, config, name)
        for interface, name, config in self._described("providers"):
            found[name] = reference.provider(interface, config, name)
        for name, ours in self._embedders(more):
            found[name] = {**ours, **as_object(found.get(name))}
        return found

    def _embedders(self, more: Mapping[str, Json]) -> Iterator[tuple[str, Mapping[str, Json]]]:
        for main in (self._main, more):
            for interface, name, config in _by_interface(main.get("embeddings")):
                yield name, reference.embedder(interface, config, name)
        for interface, name, config in self._described("embeddings"):
            yield name, reference.embedder(interface, config, name)

    def _described(self, kind: str) -> Iterator[tuple[str, str, Mapping[str, Json]]]:
        for values in self._files(kind):
            name = values.get("provider_name")
            if isinstance(name, str) and name:
                yield str(values.get("interface_type")), name, as_object(values.get("config"))

    def _servers(self) -> dict[str, Json]:
        inline = as_object(self._main.get("servers"))
        every = {str(name): as_object(each) for name, each in inline.items()} | self._named("servers", "server_name")
        return {name: entry for name, config in every.items() if (entry := reference.server(config))}

    def _named(self, kind: str, key: str) -> dict[str, Mapping[str, Json]]:
        found = ((values.get(key), values.get("config")) for values in self._files(kind))
        return {name: as_object(config) for name, config in found if isinstance(name, str) and name}

    def _files(self, kind: str) -> Iterator[dict[str, Json]]:
        """The values of all files that one glob of `includes` finds, in path order."""
        glob = self._includes.get(kind)
        if not isinstance(glob, str) or not _inside(glob):
            return
        try:
            paths = sorted(Path(self._folder).glob(glob))[:MOST_FILES]
        except (OSError, ValueError, NotImplementedError):
            return
        for path in paths:
            yield _values(self._folder, path.relative_to(self._folder).as_posix(), self._read)


def _by_interface(section: Json) -> Iterator[tuple[str, str, Mapping[str, Json]]]:
    """Providers of a single file: below their interface."""
    for interface, each in as_object(as_object(section).get("interfaces")).items():
        for name, config in as_object(as_object(each).get("providers")).items():
            yield str(interface), str(name), as_object(config)


def _values(folder: str, path: str, read: Read) -> dict[str, Json]:
    text = read(f"{folder}/{path}")
    if text is None:
        return {}
    tree = read_yaml(text)
    return {piece.key.text: plain(piece.node) for piece in tree.pieces if piece.key is not None}


def _inside(glob: str) -> bool:
    return not glob.startswith(("/", "~")) and ".." not in glob.replace("\\", "/").split("/") and ":" not in glob
