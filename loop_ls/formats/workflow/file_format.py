"""The workflow as a file format, and the look-alike: a file with the sections of one that does not say it is one."""

from __future__ import annotations

from loop_ls.formats.file_format import FileFormat

WORKFLOW = FileFormat("workflow", "workflow", target="workflow")
LOOKALIKE = FileFormat("lookalike", "look-alike of a workflow")
