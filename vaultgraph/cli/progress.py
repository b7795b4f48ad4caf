"""A progress bar on a terminal's stderr while a vault is built; nothing where stderr is no terminal.

The only part of the command line that draws; rich is imported when a bar is really shown.
"""

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager

Progress = Callable[[str, int, int], None]  # phase, done, total

_WORDS = {"open": "opening", "read": "reading notes", "link": "linking"}


@contextmanager
def progress_bar() -> Generator[Progress | None, None, None]:
    """A progress function that draws a bar while the block runs; None where there is no terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich import progress as bars  # noqa: PLC0415 -- only drawn on a terminal
    from rich.console import Console  # noqa: PLC0415 -- as above

    columns = (
        bars.TextColumn("{task.description}"),
        bars.BarColumn(),
        bars.MofNCompleteColumn(),
        bars.TimeElapsedColumn(),
    )
    with bars.Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("building", total=None)

        def report(phase: str, done: int, total: int) -> None:
            bar.update(task, description=_WORDS.get(phase, phase), completed=done, total=total or None)

        yield report
