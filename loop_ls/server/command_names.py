"""The commands that the server announces. What they do stands in `commands`, which is imported later."""

from __future__ import annotations

COMMANDS = (
    "loopLs.run",
    "loopLs.stop",
    "loopLs.pause",
    "loopLs.resume",
    "loopLs.approve",
    "loopLs.runs",
    "loopLs.status",
    "loopLs.events",
    "loopLs.history",
    "loopLs.delete",
    "loopLs.fork",
    "loopLs.replay",
    "loopLs.testUntil",
    "loopLs.definitions",
    "loopLs.previewPrompt",
    "loopLs.estimate",
    "loopLs.enhance.start",
    "loopLs.enhance.continue",
    "loopLs.enhance.skipEdits",
    "loopLs.enhance.stop",
    "loopLs.enhance.status",
    "loopLs.enhance.timeline",
    "loopLs.enhance.revert",
    "loopLs.enhance.feedback",
    "loopLs.enhance.enable",
    "loopLs.enhance.setup",
    "loopLs.engine.status",
    "loopLs.engine.restart",
)
