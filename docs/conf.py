"""Configuration of the documentation: `python -m sphinx -n -W docs docs/_build`."""

import shutil
from pathlib import Path

project = "loop-ls"
author = "the loop-ls authors"
extensions = ["myst_parser"]
html_theme = "furo"
html_title = "loop-ls"
exclude_patterns = ["_build"]
myst_enable_extensions = ["deflist"]
myst_heading_anchors = 3
suppress_warnings = ["myst.header", "misc.highlighting_failure"]
html_show_sphinx = False

#: Each rule has one page, which `loop-ls explain` prints too; the site takes a copy of it.
_RULES = Path(__file__).parents[1] / "loop_ls" / "rules" / "pages"
_HERE = Path(__file__).parent / "reference"
for _page in _RULES.glob("[A-Z]*.md"):
    shutil.copyfile(_page, _HERE / _page.name)
