"""The web for stages with full access: one page at a time, public addresses only."""

from __future__ import annotations

from loop_ls.engine.providers.fetch import NotFetched, fetch
from loop_ls.engine.roles.tools.tool import Arguments, Refusal, RoleTool, shortened, spec, text


def web_tools() -> list[RoleTool]:
    async def run(given: Arguments) -> str:
        try:
            return shortened(await fetch(text(given, "url").strip()))
        except NotFetched as error:
            raise Refusal(str(error)) from None

    return [RoleTool(spec("web_fetch", "Read a page of the web as text.", url="Its address."), run)]
