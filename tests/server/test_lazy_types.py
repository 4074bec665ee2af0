"""Classes that are built on first use are the same as those that are built up front."""

from __future__ import annotations

import json
import subprocess
import sys

#: Structures and writes a bit of everything; prints what came out.
PROGRAM = """
import json, sys
if sys.argv[1] == "lazy":
    from loop_ls.server import lazy_types
    assert lazy_types.load() is True
    assert lazy_types.load() is False
from lsprotocol import types as t
from lsprotocol.converters import get_converter
from cattrs.errors import ClassValidationError
import attrs
c = get_converter()
out = []
at = {"line": 1, "character": 2}
changes = [{"range": {"start": at, "end": at}, "text": "x"}, {"text": "all"}]
params = {"textDocument": {"uri": "file:///a", "version": 3}, "contentChanges": changes}
message = {"jsonrpc": "2.0", "method": "textDocument/didChange", "params": params}
change = c.structure(message, t.DidChangeTextDocumentNotification)
out.append(c.unstructure(change))
out.append([type(one).__name__ for one in change.params.content_changes])
out.append(repr(change.params.text_document))
words = t.MarkupContent(t.MarkupKind.Markdown, "x")
item = t.CompletionItem(label="a", kind=t.CompletionItemKind.Field, documentation=words)
out.append(c.unstructure(t.CompletionList(is_incomplete=False, items=[item])))
out.append(c.unstructure(t.ServerCapabilities(hover_provider=True)))
out.append(t.Position(1, 2) < t.Position(2, 0))
out.append(t.Position(1, 2) == t.Position(1, 2))
out.append(t.Range(t.Position(0, 0), t.Position(0, 1)) == t.Range(t.Position(0, 0), t.Position(0, 1)))
out.append([f.name for f in attrs.fields(t.CodeAction)])
for bad in ({"jsonrpc": "2.0", "id": 1, "method": "textDocument/hover", "params": {"position": 1}},):
    try:
        c.structure(bad, t.HoverRequest)
        out.append("no error")
    except ClassValidationError as error:
        out.append(type(error).__name__)
try:
    t.Position(line=-1, character=0)
    out.append("no error")
except ValueError as error:
    out.append(str(error))
everything = 0
for cls in t.ALL_TYPES_MAP.values():
    if isinstance(cls, type) and attrs.has(cls):
        everything += len(attrs.fields(cls))
out.append(everything)
print(json.dumps(out, default=str))
"""


def run(how: str) -> object:
    done = subprocess.run([sys.executable, "-c", PROGRAM, how], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_lazy_classes_behave_like_eager_ones() -> None:
    assert run("lazy") == run("eager")


def test_another_release_is_imported_in_the_ordinary_way() -> None:
    program = """
from loop_ls.server import lazy_types
lazy_types.CHECKED = ("1999.0.0",)
assert lazy_types.load() is False
from lsprotocol import types
assert types.Position(1, 2).line == 1
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


def test_a_surprise_falls_back_to_the_ordinary_import() -> None:
    program = """
import attrs
from loop_ls.server import lazy_types
def broken(*args, **kwargs):
    raise RuntimeError("the release does something new")
lazy_types._Shop.remember = broken
define = attrs.define
assert lazy_types.load() is False
assert attrs.define is define
from lsprotocol import types
assert types.Position(1, 2).line == 1
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert "ordinary way" in done.stderr
