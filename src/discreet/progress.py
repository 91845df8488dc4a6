"""Progress reports of long computations, shown as a bar on a console or not at all."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

from rich.console import Console
from rich.progress import Progress

Report = Callable[[float], object]
"""A function to call with the number of people, tasks or seconds of work just done."""
Bar = Callable[[str, int], AbstractContextManager[Report]]
"""A function that opens a progress bar with a label, up to a total."""


@contextmanager
def silent(label: str, total: int) -> Iterator[Report]:
    """Ignore all progress reports."""
    yield lambda count: None


def bars_on(console: Console) -> Bar:
    """Return progress bars on this console, which disappear when they are full."""

    @contextmanager
    def bar(label: str, total: int) -> Iterator[Report]:
        with Progress(console=console, transient=True) as progress:
            task = progress.add_task(label, total=total)
            yield lambda count: progress.advance(task, count)

    return bar
