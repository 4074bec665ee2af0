"""Files that change behind a client that watches none: seen soon, and never edited where something else stands."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from loop_ls.index.document import Document
from loop_ls.server.documents.disk_sweep import DiskSweep
from loop_ls.server.documents.folders import Folder
from loop_ls.text.lines import Text
from loop_ls.text.position import Position, Span
from tests.server.support.flows import DRAFT, LOOP
from tests.server.support.raw import LIMIT, RawClient

Json = dict[str, Any]

ON_TOP = "# one\n# two\n# three\n"


@pytest.fixture
def clients(tmp_path: Path) -> Iterator[Callable[[], RawClient]]:
    with ExitStack() as stack:
        yield lambda: stack.enter_context(RawClient(env={"LOOP_LS_DATA_DIR": str(tmp_path / "data")}))


def started(client: RawClient, folder: Path, name: str) -> str:
    """The URI of a file that the client has open, in a workspace whose files are all read."""
    client.begin({"workspace": {"workspaceEdit": {"documentChanges": True}}}, folder)
    path = folder / name
    client.open(path.as_uri(), path.read_text())
    symbols(client, "write")
    return path.as_uri()


def symbols(client: RawClient, query: str) -> list[str]:
    return [one["name"] for one in client.ask("workspace/symbol", {"query": query})["result"]]


def rewrite(path: Path, text: str) -> None:
    """As another program does it: a file of its own takes the place of the old one."""
    other = path.with_suffix(".new")
    other.write_text(text)
    os.replace(other, path)


def rename(client: RawClient, uri: str, word: str, new: str) -> Json:
    lines = uri_path(uri).read_text().split("\n")
    line = next(at for at, text in enumerate(lines) if word in text)
    at = {"line": line, "character": lines[line].index(word) + 1}
    return client.ask("textDocument/rename", {"textDocument": {"uri": uri}, "position": at, "newName": new})


def uri_path(uri: str) -> Path:
    return Path(uri.removeprefix("file://"))


def applied(answer: Json) -> dict[str, str]:
    """The texts of the edited files on the disk with the edits made, by name."""
    found = {}
    for change in answer["result"]["documentChanges"]:
        path = uri_path(change["textDocument"]["uri"])
        text = Text.of(path.read_text())
        for edit in sorted(change["edits"], key=lambda one: str(one["range"]), reverse=True):
            places = [Position(edit["range"][end]["line"], edit["range"][end]["character"]) for end in ("start", "end")]
            text = text.edit(Span(*places), edit["newText"])
        found[path.name] = str(text)
    return found


@pytest.mark.parametrize("watched", [False, True])
def test_two_clients_rename_in_files_that_the_other_one_and_an_agent_rewrite(
    clients: Callable[[], RawClient], folder: Path, watched: bool
) -> None:
    """Also where the client watches files and its event is not here yet."""
    first, second = clients(), clients()
    if watched:
        first.begin(
            {
                "workspace": {
                    "didChangeWatchedFiles": {"dynamicRegistration": True},
                    "workspaceEdit": {"documentChanges": True},
                }
            },
            folder,
        )
        asked = first.wait(lambda m: m.get("method") == "client/registerCapability")
        first.send({"jsonrpc": "2.0", "id": asked["id"], "result": None})
        flow = (folder / "flow.yaml").as_uri()
        first.open(flow, LOOP)
        symbols(first, "write")
    else:
        flow = started(first, folder, "flow.yaml")
    draft = started(second, folder, "draft.yaml")
    rewrite(folder / "draft.yaml", ON_TOP + DRAFT)
    # `topic` is a parameter of the file that nobody has open in the first client.
    edited = applied(rename(first, flow, "topic:", "theme"))
    assert edited == {
        "flow.yaml": LOOP.replace("topic:", "theme:"),
        "draft.yaml": ON_TOP + DRAFT.replace("{{topic}}", "{{theme}}"),
    }
    for name, text in edited.items():
        rewrite(folder / name, text)
    # The second client has the callee open as it was; its caller was changed by the first one.
    second.change(draft, 2, {"text": edited["draft.yaml"]})
    again = applied(rename(second, draft, "theme", "matter"))
    assert again == {name: text.replace("theme", "matter") for name, text in edited.items()}


def test_a_file_is_looked_at_again_whose_time_and_size_were_set_back(tmp_path: Path) -> None:
    """As `cp -p`, `rsync -t` and checkouts do."""
    file = tmp_path / "flow.yaml"
    file.write_text("name: one\n")
    stamp = file.stat()
    sweep = DiskSweep(lambda _: ())
    folder = Folder(tmp_path.as_uri(), tmp_path, None)
    folder.put(Document.open(file.as_uri(), "name: one\n"))
    sweep.learn([str(file)])
    assert sweep.changed([folder]) == set()
    file.write_text("name: two\n")
    os.utime(file, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    assert sweep.changed([folder]) == {str(file)}


def test_a_use_that_came_behind_our_back_is_renamed_too(clients: Callable[[], RawClient], folder: Path) -> None:
    client = clients()
    draft = started(client, folder, "draft.yaml")
    rewrite(folder / "new.yaml", LOOP.replace("name: flow", "name: new"))
    assert set(applied(rename(client, draft, "topic", "theme"))) == {"draft.yaml", "flow.yaml", "new.yaml"}


def test_a_file_of_the_same_size_and_time_is_compared_before_it_is_edited(
    clients: Callable[[], RawClient], folder: Path
) -> None:
    client = clients()
    flow = started(client, folder, "flow.yaml")
    path = folder / "draft.yaml"
    status = path.stat()
    with path.open("r+") as file:
        file.write(
            DRAFT.replace("name: write\n    run: ", 'run: "a"\n  - run: ')
            .replace("Write about", "About", 1)
            .ljust(len(DRAFT), "\n")
        )
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    text = path.read_text()
    assert applied(rename(client, flow, "topic:", "theme"))["draft.yaml"] == text.replace("{{topic}}", "{{theme}}")


def test_moving_a_file_edits_its_callers_as_they_are_now(clients: Callable[[], RawClient], folder: Path) -> None:
    client = clients()
    started(client, folder, "draft.yaml")
    rewrite(folder / "flow.yaml", ON_TOP + LOOP)
    (folder / "sub").mkdir()
    files = [{"oldUri": (folder / "draft.yaml").as_uri(), "newUri": (folder / "sub" / "draft.yaml").as_uri()}]
    answer = client.ask("workspace/willRenameFiles", {"files": files})
    assert applied(answer) == {"flow.yaml": ON_TOP + LOOP.replace("workflow: draft", "workflow: sub/draft")}


def until(wanted: Callable[[], bool]) -> None:
    end = time.monotonic() + LIMIT
    while not wanted():
        assert time.monotonic() < end, "nothing came in time"


def test_changed_new_and_deleted_files_and_folders_are_seen_without_being_told_of(
    clients: Callable[[], RawClient], folder: Path
) -> None:
    client = clients()
    started(client, folder, "flow.yaml")
    rewrite(folder / "draft.yaml", DRAFT.replace("name: write", "name: rewritten"))
    until(lambda: symbols(client, "rewritten") == ["rewritten"])
    (folder / "sub").mkdir()
    (folder / "sub" / "more.yaml").write_text(DRAFT.replace("name: write", "name: fresh"))
    until(lambda: symbols(client, "fresh") == ["fresh"])
    (folder / "sub").rename(folder / ".gone")
    until(lambda: symbols(client, "fresh") == [])
    (folder / "draft.yaml").unlink()
    until(lambda: symbols(client, "rewritten") == [])
