"""What this product's engine is made of: the only place that knows all parts at once.

The engine may not know the rules of the checker; what of them keeps a file from being run is passed
in here.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from loop_ls.app.catalogue import catalogue
from loop_ls.app.file_checks import ProjectChecks
from loop_ls.app.loop_systems import SYSTEMS, EngineParts, preparers
from loop_ls.app.on_demand import OnDemand
from loop_ls.engine.assistants.disconnect_teardown import grace_of
from loop_ls.engine.core.plan import Program
from loop_ls.engine.core.preparer import Preparer, Problem
from loop_ls.engine.process.engine_process import Options
from loop_ls.engine.protection import kept
from loop_ls.engine.providers import Providers
from loop_ls.engine.retention.run_documents import remover
from loop_ls.engine.retention.run_retention import RetentionPolicy
from loop_ls.engine.roles.records.records import Records
from loop_ls.engine.runners.model_adapter import with_agents
from loop_ls.engine.runs.secret_mask import RunSecrets
from loop_ls.engine.service import Engine
from loop_ls.engine.starting.by_format import ByFormat
from loop_ls.formats.settings.model import EngineSettings
from loop_ls.index.disk.discovery import load_settings
from loop_ls.index.document import Document
from loop_ls.index.workspace import Workspace


def build(
    folder: Path,
    providers: Providers,
    root: Path | None = None,
    database: str | None = None,
    secrets: RunSecrets | None = None,
    takes_runs: bool = True,
) -> Engine:
    """`root` is the workspace of starts that name none. `database`: the PostgreSQL that several engines
    and workers share; None: SQLite in the folder. `secrets` are shared with whoever writes the log.
    `takes_runs`: it brings some of their runs to an end."""
    secrets = secrets or RunSecrets(os.environ)
    secrets.keyring = providers.keys.from_keyring
    records = Records(folder, time.time, database)
    known = secrets.of
    parts = EngineParts(
        folder, records, validate, lambda run_id: engine.facts_of(run_id), lambda plan: known(plan).forms
    )
    preparer = ByFormat(OnDemand({name: partial(make, parts) for name, make in preparers().items()}))
    programs = OnDemand({name: partial(one.program, parts) for name, one in SYSTEMS.items()})
    engine = _engine(folder, providers, preparer, programs, root, database, secrets, takes_runs)
    engine.forgotten += [records.forget, remover(folder), kept.remover(folder)]
    engine.records = records
    engine.closing.append(records.close)
    return engine


def _engine(
    folder: Path,
    providers: Providers,
    preparer: Preparer,
    programs: Mapping[str, Program],
    root: Path | None,
    database: str | None,
    secrets: RunSecrets,
    takes_runs: bool,
) -> Engine:
    settings = load_settings(str(root))[0].engine if root else EngineSettings()
    models = with_agents(providers.for_plan)
    keep = RetentionPolicy(settings.keep_runs, settings.keep_days)
    if database is not None:
        from loop_ls.engine.durable.workers import PostgresWorkers
        from loop_ls.engine.journal.postgres import PostgresStorage

        return Engine(
            folder,
            programs,
            models,
            preparer,
            storage=lambda: PostgresStorage(database, folder),
            home=root,
            keep=keep,
            workers=lambda storage: PostgresWorkers(storage, providers, takes_runs),
            mask_of=secrets.of,
        )
    return Engine(folder, programs, models, preparer, home=root, keep=keep, mask_of=secrets.of)


def validate(workspace: Workspace, documents: Sequence[Document]) -> list[list[Problem]]:
    """The errors of each document, as the checker finds them."""
    from loop_ls.rules.engine.checker import Checker
    from loop_ls.rules.engine.finding import Severity

    checker = Checker()
    return [
        [
            Problem(finding.rule, finding.message, finding.span.start.line + 1)
            for finding in checker.findings(workspace, document)
            if finding.severity is Severity.ERROR
        ]
        for document in documents
    ]


def options(port: int | None, idle: float | None, root: Path) -> Options:
    """How the process behaves: the command line, else the environment (its two variables are honoured
    as their document means them), else the settings of the project."""
    settings = load_settings(str(root))[0].engine
    limit = grace_of(os.environ, settings.teardown_on_disconnect, settings.teardown_grace_ms)
    return Options(
        port=port or settings.port or 0,
        idle=idle,
        grace=limit,
        shutdown_grace=settings.shutdown_grace_ms / 1000,
        catalogue=catalogue(root),
        file_checks=ProjectChecks(root),
    )


def log_manner(args: argparse.Namespace, root: Path) -> tuple[str, str]:
    """Format and level of the log: the command line, else the environment, else the settings."""
    engine = load_settings(str(root))[0].raw.get("engine") or {}
    form = args.log_format or os.environ.get("LOOP_LS_LOG_FORMAT") or engine.get("logFormat")
    level = args.log_level or os.environ.get("LOOP_LS_LOG_LEVEL") or engine.get("logLevel")
    return str(form or "text"), str(level or "warning")
