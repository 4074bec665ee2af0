"""The engine as seen by other processes: the language server and the command line use this.

Importing this room is cheap: httpx is loaded when a client connects, never before.
"""

from loop_ls.client.engine_location import EngineUnavailable, data_folder
from loop_ls.client.launch import connect, find
from loop_ls.client.session import Control, EngineClient

__all__ = ["Control", "EngineClient", "EngineUnavailable", "connect", "data_folder", "find"]
