"""Models behind one port: the only part of the engine that imports httpx."""

from loop_ls.engine.providers.models import Providers, RunModels
from loop_ls.engine.providers.scripted.mock import MOCK
from loop_ls.engine.providers.scripted.script import Script, ScriptFault, read_script

__all__ = ["MOCK", "Providers", "RunModels", "Script", "ScriptFault", "read_script"]
