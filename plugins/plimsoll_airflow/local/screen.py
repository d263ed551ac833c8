"""Show progress: a live picture on a terminal, an occasional line in a log."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from rich.console import Console
from rich.live import Live
from rich.text import Text

from plimsoll.domain.progress import CampaignProgress
from plimsoll_airflow.local.view import progress_line, progress_view

LINE_EVERY_S = 5.0


class Screen(Protocol):
    """A view of the newest progress, which is None while the campaign is being planned."""

    def show(self, progress: CampaignProgress | None) -> None:
        """Show the progress."""


class LiveScreen:
    """A picture that is redrawn in place."""

    def __init__(self, live: Live) -> None:
        self._live = live

    def show(self, progress: CampaignProgress | None) -> None:
        """Redraw."""
        self._live.update(Text("planning the campaign") if progress is None else progress_view(progress), refresh=True)


class PlainScreen:
    """A view that prints a line when something has changed, at most every LINE_EVERY_S."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._shown, self._at = "", -LINE_EVERY_S

    def show(self, progress: CampaignProgress | None) -> None:
        """Print a line if it is due."""
        line = "planning the campaign" if progress is None else progress_line(progress)
        now = time.monotonic()
        if line != self._shown and now - self._at >= LINE_EVERY_S:
            self._console.print(line, markup=False, highlight=False, soft_wrap=True)
            self._shown, self._at = line, now


@contextmanager
def open_screen(console: Console) -> Iterator[Screen]:
    """Open the screen that suits the console. Its last content stays visible."""
    if not console.is_terminal:
        yield PlainScreen(console)
        return
    with Live(console=console, auto_refresh=False) as live:
        yield LiveScreen(live)
