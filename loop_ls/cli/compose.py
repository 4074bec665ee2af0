"""What this product's engine is made of: the only place that knows all parts at once.

The engine may not know the rules of the checker; what of them keeps a file from being run is passed
in here.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from loop_ls.engine.bodies.workflow import WorkflowProgram
from loop_ls.engine.durable.dbos_owner import DbosOwner
from loop_ls.engine.process import Options
from loop_ls.engine.providers import Providers
from loop_ls.engine.service import Engine
from loop_ls.engine.starting.prepare import Problem
from loop_ls.engine.starting.workflow import WorkflowPreparer
from loop_ls.index.document import Document
from loop_ls.index.workspace import Workspace

GRACE_MS = 60_000


def build(folder: Path, providers: Providers) -> Engine:
    preparer = WorkflowPreparer(folder, validate)
    return Engine(folder, {"workflow": WorkflowProgram()}, providers.door, preparer, DbosOwner(folder, patience=0.5))


def validate(workspace: Workspace, documents: Sequence[Document]) -> list[list[Problem]]:
    """The errors of each document, as the checker finds them."""
    from loop_ls.rules.check import Checker
    from loop_ls.rules.finding import Severity

    checker = Checker()
    return [
        [
            Problem(finding.rule, finding.message, finding.span.start.line + 1)
            for finding in checker.findings(workspace, document)
            if finding.severity is Severity.ERROR
        ]
        for document in documents
    ]


def options(port: int | None, idle: float | None) -> Options:
    """How the process behaves. The two variables are honoured as their document means them."""
    on = os.environ.get("RONDOFLOW_TEARDOWN_ON_DISCONNECT", "1").strip().lower() not in ("0", "false")
    try:
        grace = max(0, int(os.environ.get("RONDOFLOW_TEARDOWN_GRACE_MS", GRACE_MS))) / 1000
    except ValueError:
        grace = GRACE_MS / 1000
    return Options(port=port or 0, idle=idle, grace=grace if on else None)
