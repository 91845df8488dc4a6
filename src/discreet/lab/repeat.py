"""The same experiment with many seeds, on all cores, with a progress bar."""

from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from typing import Any

from rich.console import Console
from rich.progress import Progress

__all__ = ["repeat"]


def repeat(
    experiment: Callable[..., Any], tasks: Sequence[tuple[Any, ...]], *, label: str, console: Console, workers: int = 2
) -> list[Any]:
    """The results of `experiment(*task)` for every task, in their order. `experiment` is a function of a module."""
    results: list[Any] = [None] * len(tasks)
    with (
        Progress(console=console, transient=True) as progress,
        ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool,
    ):
        bar = progress.add_task(label, total=len(tasks))
        futures = {pool.submit(experiment, *task): place for place, task in enumerate(tasks)}
        for future in as_completed(futures):
            results[futures[future]] = future.result()
            progress.advance(bar)
    return results
