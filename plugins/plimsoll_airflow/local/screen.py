"""Show progress: a live picture on a terminal, a pure function of the progress, or an occasional line in a log."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import get_args

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from plimsoll.domain.attempt.status import CampaignProgress, CellProgress, CellStateName
from plimsoll.domain.text.wording import plural

LINE_EVERY_S = 5.0
MOST_FAILURES = 5
BAR_WIDTH = 40
_PLANNING = "planning the campaign"


Screen = Callable[[CampaignProgress | None], None]
"""Shows the newest progress, which is None while the campaign is being planned."""


class PlainScreen:
    """A view that prints a line when something has changed, at most every LINE_EVERY_S."""

    def __init__(self, console: Console) -> None:
        self._console = console
        # Long enough ago that the first line is printed at once, even where the clock has just begun at 0
        self._shown, self._at = "", -LINE_EVERY_S

    def show(self, progress: CampaignProgress | None) -> None:
        line = _PLANNING if progress is None else progress_line(progress)
        now = time.monotonic()
        if line != self._shown and now - self._at >= LINE_EVERY_S:
            self._console.print(line, markup=False, highlight=False, soft_wrap=True)
            self._shown, self._at = line, now


@contextmanager
def open_screen(console: Console) -> Iterator[Screen]:
    """Open the screen that suits the console. Its last content stays visible."""
    if not console.is_terminal:
        yield PlainScreen(console).show
        return
    with Live(console=console, auto_refresh=False) as live:
        yield lambda now: live.update(Text(_PLANNING) if now is None else progress_view(now), refresh=True)


def progress_view(progress: CampaignProgress) -> RenderableType:
    run = progress.of_run()
    head = Text.assemble((progress.title, "bold"), f"   {progress.campaign_id}")
    bar = Table.grid(padding=(0, 1))
    measured = ProgressBar(total=len(run.cells), completed=_done(run), width=BAR_WIDTH, complete_style="green")
    bar.add_row(measured, Text(_summary(progress)))
    lines: list[RenderableType] = [head, bar]
    if running := _in_state(progress, "running"):
        lines.append(_running_table(running))
    lines.extend(_failure_lines(_in_state(progress, "invalid", "failed")))
    return Group(*lines)


def progress_line(progress: CampaignProgress) -> str:
    running = [f"{cell.cell.id} {_running_words(cell)}" for cell in _in_state(progress, "running")]
    return "; ".join([_summary(progress), *running])


def clock(seconds: float | None) -> str:
    """Return seconds as clock time: `0:45`, `12:05`, `2:30:00`; `?` if unknown."""
    if seconds is None:
        return "?"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


def _summary(progress: CampaignProgress) -> str:
    """Return the counts of the run's requested cells, and of the whole campaign where it has more."""
    run = progress.of_run()
    counts = [(run.count(state), state) for state in get_args(CellStateName)]
    details = ", ".join(f"{count} {state}" for count, state in counts if count) or "none asked for"
    requested = " asked for" if len(run.cells) < len(progress.cells) else ""
    cells = f"{plural(len(run.cells), 'cell')}{requested}"
    spent = f", {progress.spent} spent" if progress.spent else ""
    done = f"{_done(run)} of {cells} done ({details}), {_ending(run)}{spent}"
    valid = progress.count("met", "missed")
    return f"{done}; {valid} of {len(progress.cells)} of the campaign are valid" if requested else done


def _ending(progress: CampaignProgress) -> str:
    if not progress.count("waiting", "running"):
        return "measuring is over"
    over = f"longer than expected, by {clock(progress.seconds_over)}" if progress.seconds_over else ""
    # Nobody knows yet for which cells the results of this round will ask
    left = f"about {clock(progress.seconds_left)} left{' in this round' if progress.in_rounds else ''}"
    return over if progress.seconds_left is None and over else ", ".join(filter(None, (left, over)))


def _done(progress: CampaignProgress) -> int:
    return progress.count("met", "missed", "invalid", "failed", "not-needed")


def _in_state(progress: CampaignProgress, *states: str) -> list[CellProgress]:
    return [cell for cell in progress.cells if cell.state in states]


def _running_table(cells: Sequence[CellProgress]) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for heading in ("cell", "attempt", "phase"):
        table.add_column(heading)
    for heading in ("achieved", "attempted", "left"):
        table.add_column(heading, justify="right")
    for cell in cells:
        table.add_row(*(Text(text) for text in _running_row(cell)))
    return table


def _running_row(cell: CellProgress) -> tuple[str, ...]:
    now = cell.progress
    return (
        cell.cell.id,
        str(cell.attempt or ""),
        f"{now.phase} {now.note}".rstrip() if now else "starting",
        _rate(now.achieved_ops_s if now else None),
        # Rows are populated as fast as they go, not at the load's rate
        "" if now and now.phase == "populate" else _rate(cell.cell.load_ops_s),
        _left(cell),
    )


def _left(cell: CellProgress) -> str:
    """Return the time until the load ends, or by how much the phase takes longer than was estimated; empty: neither."""
    if cell.seconds_over:
        return f"{clock(cell.seconds_over)} longer than expected"
    now = cell.progress
    return clock(now.seconds_left) if now and now.seconds_left else ""


def _running_words(cell: CellProgress) -> str:
    now = cell.progress
    if now is None:
        return "starting"
    attempted = "" if now.phase == "populate" else f" of {_rate(cell.cell.load_ops_s)}"
    achieved = f" {_rate(now.achieved_ops_s)}{attempted}" if now.achieved_ops_s else ""
    left = f", {words}{'' if cell.seconds_over else ' left'}" if (words := _left(cell)) else ""
    note = f": {now.note}" if now.note else ""
    return f"{now.phase}{achieved}{left}{note}"


def _failure_lines(cells: Sequence[CellProgress]) -> list[Text]:
    lines = [
        Text(f"{cell.cell.id} {cell.state}: {cell.reason or 'its task log says why'}", style="red")
        for cell in cells[-MOST_FAILURES:]
    ]
    if len(cells) > MOST_FAILURES:
        lines.insert(0, Text(f"… {len(cells) - MOST_FAILURES} more", style="red"))
    return lines


def _rate(ops_s: float | None) -> str:
    return "" if ops_s is None else f"{ops_s:,.0f} ops/s"
