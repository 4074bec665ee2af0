"""Models behind one port: the only part of the engine that imports httpx."""

from loop_ls.engine.providers.mock import MOCK
from loop_ls.engine.providers.models import Providers, RunModels
from loop_ls.engine.providers.script import Script, ScriptFault, read_script

__all__ = ["MOCK", "Providers", "RunModels", "Script", "ScriptFault", "read_script"]
