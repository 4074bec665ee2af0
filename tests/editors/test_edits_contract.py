"""What Neovim makes of edits: the contract that the editor of the enhance laboratory keeps."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

from tests.editors.conftest import needed
from tests.engine.enhance.editor_contract import CASES

SCRIPT = """
local found = {}
for _, case in ipairs(vim.json.decode(io.open(os.getenv("ASKED")):read("*a"))) do
  local buffer = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_lines(buffer, 0, -1, false, vim.split(case.before:sub(1, -2), "\\n"))
  vim.lsp.util.apply_text_edits(case.edits, buffer, "utf-16")
  local lines = vim.api.nvim_buf_get_lines(buffer, 0, -1, false)
  table.insert(found, table.concat(lines, "\\n") .. "\\n")
end
io.open(os.getenv("TOLD"), "w"):write(vim.json.encode(found))
"""


def test_neovim_applies_edits_as_the_contract_says(tmp_path: Path) -> None:
    script, asked, told = (tmp_path / name for name in ("apply.lua", "cases.json", "told.json"))
    script.write_text(SCRIPT)
    asked.write_text(json.dumps([case._asdict() for case in CASES]))
    command = [needed("LOOP_LS_NEOVIM"), "--headless", "-u", "NONE", "-c", f"luafile {script}", "-c", "qa!"]
    environment = {**os.environ, "ASKED": str(asked), "TOLD": str(told)}
    done = subprocess.run(
        command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60
    )
    assert told.exists(), done.stderr
    # A buffer without a file keeps the empty line that some versions put behind its last one.
    found = [text.rstrip("\n") + "\n" for text in json.loads(told.read_text())]
    assert found == [case.after for case in CASES]
