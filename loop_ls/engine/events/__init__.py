"""The facts of a run: their kinds, how one travels, what they fold to, and why runs end."""

from loop_ls.contract.endings import ENDED, Reason, Status, exit_code, status_of
from loop_ls.engine.events.event import Event, utc
from loop_ls.engine.events.state import RunState, fold

__all__ = ["ENDED", "Event", "Reason", "RunState", "Status", "exit_code", "fold", "status_of", "utc"]
