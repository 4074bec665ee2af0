"""Classes of lsprotocol that are built on first use are the same; where that cannot be, all are built at once."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest

#: Every class with its members, as JSON.
ALL_CLASSES = """
import attrs, json, re
from lsprotocol import types, _hooks
_hooks._resolve_forward_references()
print(json.dumps({
    name: [
        [m.name, str(m.type), repr(m.default), re.sub(' at 0x[0-9a-f]+', '', repr(m.validator))]
        for m in attrs.fields(cls)
    ]
    for name, cls in sorted(types.ALL_TYPES_MAP.items()) if isinstance(cls, type) and attrs.has(cls)
}))
"""
LEAN = "from loop_ls.server.rpc.lean_import import import_lean\nprint(import_lean())\n"
PLAIN = "print(None)\n"
#: Messages that are rare and messages that nest deeply, there and back.
ROUND_TRIP = """
import json
from lsprotocol import types as lsp
from lsprotocol import converters
one = converters.get_converter()
rename = {"textDocument": {"uri": "file:///a"}, "position": {"line": 1, "character": 2}, "newName": "b"}
edit = {"documentChanges": [{"textDocument": {"uri": "file:///a", "version": 3}, "edits": [
    {"range": {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 1}}, "newText": "x"}]}]}
begin = {"capabilities": {"textDocument": {"hover": {"contentFormat": ["markdown"]}}}, "processId": None,
    "rootUri": "file:///a", "workspaceFolders": [{"uri": "file:///a", "name": "a"}]}
for given, shape in ((rename, lsp.RenameParams), (edit, lsp.WorkspaceEdit), (begin, lsp.InitializeParams)):
    made = one.structure(given, shape)
    assert type(made) is shape, made
    back = one.unstructure(made)
    assert {**back, **given} == back, (given, back)
assert lsp.Position(1, 2) < lsp.Position(2, 0) and lsp.Position(1, 2) == lsp.Position(1, 2)
print(json.dumps(one.unstructure(lsp.ShowMessageParams(lsp.MessageType.Warning, "hi"))))
"""


def said(program: str) -> list[Any]:
    """What a process of its own prints, line by line."""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, env=os.environ, check=False
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) if line.startswith(("{", '"')) else line for line in done.stdout.splitlines()]


def test_all_classes_are_what_they_are_when_built_at_once() -> None:
    lean, plain = said(LEAN + ALL_CLASSES), said(PLAIN + ALL_CLASSES)
    assert (lean[0], plain[0]) == ("True", "None")
    assert len(lean[1]) > 400
    assert lean[1] == plain[1]


def test_messages_go_through_the_converter_and_come_back() -> None:
    assert said(LEAN + ROUND_TRIP) == ["True", {"type": 2, "message": "hi"}]


@pytest.mark.parametrize(
    "before",
    [
        "import loop_ls.server.rpc.lean_import as it\nit._TRIED['lsprotocol'] = '1999.'\n",
        "import loop_ls.server.rpc.lean_import as it\nit.ModuleType = None\n",
        "import lsprotocol.types\n",
    ],
    ids=["another version", "a fault on the way", "imported already"],
)
def test_what_is_not_as_it_was_tried_is_imported_as_it_is(before: str) -> None:
    assert said(before + LEAN + ROUND_TRIP) == ["False", {"type": 2, "message": "hi"}]


def test_nothing_is_left_of_the_modules_that_stood_in() -> None:
    program = LEAN + "import cattrs, pygls.protocol\nprint(cattrs.Converter, pygls.protocol.LanguageServerProtocol)"
    assert said(program) == [
        "True",
        "<class 'cattrs.converters.Converter'> <class 'pygls.protocol.language_server.LanguageServerProtocol'>",
    ]
