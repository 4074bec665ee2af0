"""A session with several workflow files, and its features asked by name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.server.support.flows import DRAFT, HEAD, LOOP
from tests.server.support.raw import RawClient

Json = dict[str, Any]

#: `flow` and `other` call `draft`; the emoji is two units of UTF-16, one code point, four bytes.
OTHER = HEAD.format(name="other") + (
    "# A comment\n# of two lines\n"
    "steps:\n"
    "  - name: call\n"
    "    template:\n"
    "      name: draft\n"
    '      with: {topic: "😀 {{input}}", before: ""}\n'
    "  - name: last\n"
    "    needs: [call]\n"
    '    run: "call said 😀: {{call}}"\n'
    "    timeout: 5400s\n"
)

CAPABILITIES: Json = {
    "general": {"positionEncodings": ["utf-16"]},
    "workspace": {
        "workspaceEdit": {"documentChanges": True, "changeAnnotationSupport": {}},
        "fileOperations": {"willRename": True},
        "inlayHint": {"refreshSupport": True},
        "semanticTokens": {"refreshSupport": True},
        "codeLens": {"refreshSupport": True},
    },
    "textDocument": {
        "rename": {"prepareSupport": True},
        "inlayHint": {"resolveSupport": {"properties": ["tooltip"]}},
        "codeAction": {
            "dataSupport": True,
            "resolveSupport": {"properties": ["edit"]},
            "codeActionLiteralSupport": {"codeActionKind": {"valueSet": ["quickfix"]}},
        },
    },
}


class Full:
    """`flow`, `draft` and `other` are open; places are found by what is written there."""

    def __init__(self, client: RawClient, folder: Path, capabilities: Json | None = None) -> None:
        self.client, self.folder = client, folder
        self.texts = {"flow": LOOP, "draft": DRAFT, "other": OTHER}
        for name, text in self.texts.items():
            (folder / f"{name}.yaml").write_text(text)
        self.capabilities = client.begin(CAPABILITIES if capabilities is None else capabilities, folder)["capabilities"]
        for name, text in self.texts.items():
            client.open(self.uri(name), text)

    def uri(self, name: str) -> str:
        return (self.folder / f"{name}.yaml").as_uri()

    def name_of(self, uri: str) -> str:
        return uri.rpartition("/")[2].removesuffix(".yaml")

    def place(self, name: str, piece: str, skip: int = 0) -> Json:
        """The first unit of `piece`, in units of UTF-16."""
        text = self.texts[name]
        at = -1
        for _ in range(skip + 1):
            at = text.index(piece, at + 1)
        before = text[:at]
        column = before.rpartition("\n")[2]
        return {"line": before.count("\n"), "character": len(column.encode("utf-16-le")) // 2}

    def about(self, name: str, piece: str | None = None, skip: int = 0) -> Json:
        params: Json = {"textDocument": {"uri": self.uri(name)}}
        return params if piece is None else {**params, "position": self.place(name, piece, skip)}

    def ask(self, method: str, params: Json) -> Any:
        answer = self.client.ask(method, params)
        assert "error" not in answer, answer
        return answer["result"]

    def slice(self, name: str, found: Json) -> str:
        """What stands in a range."""
        lines = self.texts[name].split("\n")
        start, end = found["start"], found["end"]
        assert start["line"] == end["line"], found
        units = lines[start["line"]].encode("utf-16-le")
        return units[start["character"] * 2 : end["character"] * 2].decode("utf-16-le")

    def edited(self, name: str, edits: list[Json]) -> str:
        """A text of this session after edits on single or whole lines."""
        lines = self.texts[name].split("\n")
        for edit in sorted(edits, key=lambda e: (e["range"]["start"]["line"], e["range"]["start"]["character"]))[::-1]:
            start, end = edit["range"]["start"], edit["range"]["end"]
            head = lines[start["line"]].encode("utf-16-le")[: start["character"] * 2].decode("utf-16-le")
            tail = lines[end["line"]].encode("utf-16-le")[end["character"] * 2 :].decode("utf-16-le")
            lines[start["line"] : end["line"] + 1] = (head + edit["newText"] + tail).split("\n")
        return "\n".join(lines)
