"""Progress bars of long calls: on a console while `shown` lasts, otherwise none.

    from discreet import progress

    with progress.shown():
        model.observe_stream("sales.parquet")

A bar counts rows, rounds, passes or tasks, which are public; it tells nothing of any value.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from rich.console import Console

Shown = TypeVar("Shown")

Report = Callable[[float], object]
"""A function to call with the number of people, tasks or seconds of work just done."""
Bar = Callable[[str, int | None], AbstractContextManager[Report]]
"""A function that opens a progress bar with a label, up to a total; None if it is not known."""


@contextmanager
def _silent(label: str, total: int | None) -> Iterator[Report]:
    """Ignore all progress reports."""
    yield lambda count: None


def _bars_on(console: "Console") -> Bar:
    """Return progress bars on this console, which disappear when they are closed.

    A bar that is opened inside another one is shown below it. A file gets no bars, and no blank
    lines in their place. An error of the console stops nothing: bars open inside releases, too.
    """
    from rich.progress import Progress  # on first use: learners import this module

    is_seen = console.is_terminal or console.is_jupyter
    progress = Progress(console=console, transient=True, disable=not is_seen)

    @contextmanager
    def bar(label: str, total: int | None) -> Iterator[Report]:
        is_first = not progress.tasks
        task = _tried(progress.add_task, label, total=total)
        if is_first:
            _tried(progress.start)
        try:
            yield lambda count: _tried(progress.advance, task, count)
        finally:
            _tried(progress.remove_task, task)
            if is_first:
                _tried(progress.stop)

    return bar


def _tried(show: Callable[..., Shown], *arguments: Any, **named: Any) -> Shown | None:
    """Call a function that writes to a console; None if that fails."""
    try:
        return show(*arguments, **named)
    except (Exception, SystemExit):  # Rich ends the process where a pipe is closed
        return None


_shown: ContextVar[Bar] = ContextVar("bars", default=_silent)
"""The bars of long calls in this thread."""


@contextmanager
def shown(console: "Console | None" = None) -> Iterator[None]:
    """Show a progress bar for each long call of this thread, while the context lasts.

    Long calls are `replay`, `observe_stream`, `warm_start`, `check` and `warm_up`, and `fit` of
    selectors and estimators. As a decorator, `@shown()` shows those of a function.

    Parameters
    ----------
    console
        A console of Rich; None: standard error.

    Examples
    --------
    >>> from discreet import Hedge, Privacy, progress
    >>> hedge = Hedge(["tea", "milk"], horizon=1000, privacy=Privacy(1.0), seed=1)
    >>> with progress.shown():
    ...     decisions = hedge.replay([[0.2, 0.7]] * 1000)
    """
    from rich.console import Console

    with _set(_bars_on(Console(stderr=True) if console is None else console)):
        yield


def hidden() -> AbstractContextManager[None]:
    """Show no progress bars of this thread while the context lasts, as inside a small task."""
    return _set(_silent)


@contextmanager
def _set(bars: Bar) -> Iterator[None]:
    token = _shown.set(bars)
    try:
        yield
    finally:
        _shown.reset(token)


def bar(label: str, total: int | None) -> AbstractContextManager[Report]:
    """Open the progress bar of a long call, if bars are shown."""
    return _shown.get()(label, total)
