"""The live picture of a run on a terminal. Redrawn a few times a second, whatever the stream does."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.text import Text

from loop_ls.cli.watch.model import Part, Watched, mark, said
from loop_ls.cli.watch.words import last_line, loop_ending
from loop_ls.contract.amounts import clock, count, money
from loop_ls.contract.run_view.parts import Row, message_of
from loop_ls.report.terminal_text import first_line, fitted

PICTURES_A_SECOND = 8
BAR = 18
#: Rounds shown of one loop: the first, and the last ones.
ROUNDS = 12

_MARKS = {
    "YES": ("YES", "bold green"),
    "NO": ("NO", "yellow"),
    "?": ("?", "magenta"),
    "failed": ("✗", "bold red"),
    "": ("…", "cyan"),
}
_STATES = {
    "done": ("✓", "green"),
    "limit": ("◼", "yellow"),
    "failed": ("✗", "bold red"),
    "skipped": ("–", "dim"),
    "running": ("●", "cyan"),
}


class LivePicture:
    """Draws `watched` until it is closed; the last picture stays on the screen."""

    def __init__(self, console: Console, watched: Watched, hint: Callable[[], str] = lambda: "") -> None:
        self._console, self._watched, self._hint = console, watched, hint
        self._live = Live(
            console=console,
            get_renderable=self.picture,
            refresh_per_second=PICTURES_A_SECOND,
            redirect_stdout=False,
            redirect_stderr=False,
            vertical_overflow="ellipsis",
        )

    def __enter__(self) -> LivePicture:
        self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._live.stop()

    @contextmanager
    def put_aside(self) -> Iterator[None]:
        """Nothing is drawn while a person is asked."""
        self._live.stop()
        try:
            yield
        finally:
            self._live.start()

    def say(self, line: str, style: str = "") -> None:
        """A line that stays, above the picture."""
        self._console.print(Text(line, style=style), soft_wrap=True)

    def picture(self) -> RenderableType:
        width = self._console.width
        lines: list[Text] = [self._head()]
        for part in self._watched.parts.values():
            lines += self._part(part, width)
        lines += [Text(f" ! {fitted(note, width - 3)}", "yellow") for note in self._watched.notes[-3:]]
        if hint := self._hint():
            lines.append(Text(f" {fitted(hint, width - 1)}", "dim"))
        return Group(*lines)

    def _head(self) -> Text:
        watched = self._watched
        head = Text(f" {watched.name}", "bold")
        state = "stopping…" if watched.stopping else (watched.until or "paused") if watched.paused else ""
        for told, style in (
            (state, "bold yellow"),
            (money(watched.view.usd), "green"),
            (count(watched.view.tokens, "token") if watched.view.tokens else "", "dim"),
            (clock(1000 * watched.elapsed), "dim"),
        ):
            if told:
                head.append("   ")
                head.append(told, style)
        return head

    def _part(self, part: Part, width: int) -> list[Text]:
        sign, style = _STATES["limit" if part.reason == "max_iterations" else part.state]
        line = Text("   ")
        line.append(f"{sign} ", style)
        line.append(part.name, "bold" if part.is_loop else "")
        if not part.is_loop:
            told = self._heard() if part.state == "running" else "" if self._ends_with(part) else first_line(part.text)
            line.append(f"   {fitted(told, max(8, width - len(part.name) - 9))}", "dim")
            return [line]
        number = part.rounds[-1].number if part.rounds else 0
        if part.state == "running":
            line.append(f"  iteration {number}/{part.limit or '?'}  ")
            line.append_text(_bar(number, part.limit))
        else:
            line.append(f"  {loop_ending(part.reason, number, part.failed)[2:]}", style)
        return [line, *(self._round(part, each, width) for each in _shown(part.rounds))]

    def _ends_with(self, part: Part) -> bool:
        """Whether the run ended for the reason for which this failed: it is told in whole below the picture."""
        end = self._watched.end
        return part.state == "failed" and end is not None and part.text in message_of(end.get("error"))

    def _round(self, part: Part, one: Row | None, width: int) -> Text:
        if one is None:
            return Text("         ⋮", "dim")
        known = mark(one)
        settled = not known and part.state != "running" and one.status == "completed"  # nobody judges it
        sign, style = _STATES["done"] if settled else _MARKS[known]
        line = Text(f"     {one.number:>3}  ")
        line.append(f"{sign:<4}", style)
        running = one is part.rounds[-1] and part.state == "running" and not known
        price = money(one.total_usd)
        room = width - 16 - len(price)
        told = self._heard() if running and not one.output else first_line(said(one))
        if one.attempt > 1:
            told = f"(attempt {one.attempt}) {told}"
        line.append(fitted(told, max(8, room)), "" if known or settled else "cyan")
        if price and not running:
            line.append(f"  {price}", "dim")
        return line

    def _heard(self) -> str:
        if self._watched.waiting:
            return self._watched.waiting
        streaming = self._watched.streaming
        if streaming is None:
            return f"{self._watched.doing}…" if self._watched.doing else ""
        place, text = streaming
        step = place.rpartition("/")[2].partition(":")[0]
        return f"{step}: {last_line(text)}" if "/" in place else last_line(text)


def _shown(rounds: Sequence[Row]) -> list[Row | None]:
    """All rounds, or the first and the last ones with a gap between."""
    if len(rounds) <= ROUNDS:
        return list(rounds)
    return [rounds[0], None, *rounds[-(ROUNDS - 2) :]]


def _bar(number: int, limit: int | None) -> Text:
    """How much of the limit is used; a round that runs counts half."""
    if not limit:
        return Text("")
    done = min(BAR, round(BAR * max(0.0, number - 0.5) / limit))
    return Text("━" * done, "cyan").append("━" * (BAR - done), "grey30")
