"""Who watches: long computations report how far they are, to a bar on a console or to nobody."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

from rich.console import Console
from rich.progress import Progress

Report = Callable[[float], object]
"""Is told how many more people, tasks or seconds of work have passed."""
Bar = Callable[[str, int], AbstractContextManager[Report]]
"""Opens a bar with a label, up to a total."""


@contextmanager
def silent(label: str, total: int) -> Iterator[Report]:
    """Nobody watches."""
    yield lambda count: None


def bars_on(console: Console) -> Bar:
    """Bars that vanish when they are full."""

    @contextmanager
    def bar(label: str, total: int) -> Iterator[Report]:
        with Progress(console=console, transient=True) as progress:
            task = progress.add_task(label, total=total)
            yield lambda count: progress.advance(task, count)

    return bar
