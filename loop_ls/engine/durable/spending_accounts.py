"""What projects have spent and set aside, in the database that several engines share (`money.shared_ledger`).

`loop_ls.write` adds each call to these accounts in the transaction that writes it, so a crash in between leaves no
gap between the record and the account.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

from loop_ls.engine.journal.postgres import ours
from loop_ls.engine.journal.postgres_connection import PostgresConnection
from loop_ls.engine.journal.refusal import JournalRefused
from loop_ls.engine.journal.serialization import LONG
from loop_ls.engine.money.caps import Caps
from loop_ls.engine.money.ledger import Cost
from loop_ls.engine.money.shared_ledger import Account, AccountAnswer
from loop_ls.text.hash import hash_of

#: Seconds that a change is offered to a database that is away.
PATIENCE = 60.0
HOLD = "select * from loop_ls.hold(%s, %s, %s, %s, %s, %s::jsonb, %s, %s)"
SETTLE = "select loop_ls.settle(%s, %s, %s, %s, %s, %s, %s), pg_notify('loop_ls', 'place ' || %s)"


class PostgresAccounts:
    """`changed_at` gives the event that is set when a notification names this place. `close` when no call goes on."""

    def __init__(self, url: str, changed_at: Callable[[str], asyncio.Event]) -> None:
        self._line, self._changed_at = PostgresConnection(url), changed_at
        self._threads = ThreadPoolExecutor(1, "accounts")

    async def hold(
        self, account: Account, caps: Caps, name: str, wanted: Sequence[Cost] | None
    ) -> AccountAnswer | None:
        asking = asyncio.get_running_loop().run_in_executor(self._threads, self._hold, account, caps, name, wanted)
        try:
            return await asyncio.shield(asking)
        except asyncio.CancelledError:
            self.settle(account, name, None)  # the same thread: after it was set aside
            raise

    async def again(self, account: Account, caps: Caps) -> AccountAnswer | None:
        return await asyncio.get_running_loop().run_in_executor(
            self._threads, self._hold, account, caps, None, [Cost()]
        )

    def _hold(
        self, account: Account, caps: Caps, name: str | None, wanted: Sequence[Cost] | None
    ) -> AccountAnswer | None:
        asked = None if wanted is None else json.dumps([[each.usd, each.tokens] for each in wanted])
        whose = (_name(account.project), account.daily, account.run, account.claim)
        try:
            found = self._line.ask(
                lambda db: db.execute(HOLD, (*whose, name, asked, caps.usd, caps.tokens)).fetchone(), 0.0
            )
        except JournalRefused as refused:
            if refused.code == "unreachable":
                return None
            raise ours(refused) from refused.__cause__
        choice, usd, tokens, taken_usd, taken_tokens, busy = found
        return AccountAnswer(choice, Cost(usd, tokens), Cost(taken_usd, taken_tokens), busy)

    def settle(self, account: Account, name: str, paid: Cost | None) -> None:
        whose = (_name(account.project), account.daily, account.run, account.claim)
        cost: tuple[object, ...] = (None, None) if paid is None else (paid.usd, paid.tokens)
        with suppress(RuntimeError):  # closed: the claims on our runs end, and what was set aside with them
            self._threads.submit(self._settle, (*whose, name, *cost, _place(account)))

    def _settle(self, values: tuple[object, ...]) -> None:
        with suppress(JournalRefused):
            self._line.ask(lambda db: db.execute(SETTLE, values).fetchone(), PATIENCE)

    def changed(self, account: Account) -> asyncio.Event:
        return self._changed_at(_place(account))

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)
        self._line.close()


def _name(project: str) -> str:
    """As the first fact of its runs has it."""
    return project if len(project) < LONG else hash_of(project)


def _place(account: Account) -> str:
    return hashlib.sha256(f"{account.project} {account.daily}".encode()).hexdigest()[:24]
