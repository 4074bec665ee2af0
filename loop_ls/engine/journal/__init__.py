"""The append-only record of all runs: facts and answers under logical keys, written first and shown second."""

from loop_ls.engine.journal.journal import Journal, Page, When, weight
from loop_ls.engine.journal.refusal import JournalRefused
from loop_ls.engine.journal.serialization import plain, plain_text
from loop_ls.engine.journal.sqlite import SqliteStorage
from loop_ls.engine.journal.storage import END, Entry, Row, RunRow, Storage

__all__ = [
    "END",
    "Entry",
    "Journal",
    "JournalRefused",
    "Page",
    "Row",
    "RunRow",
    "SqliteStorage",
    "Storage",
    "When",
    "plain",
    "plain_text",
    "weight",
]
