"""The same experiment again and again, with other seeds or settings, on all cores."""

from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from typing import Any

from discreet.lab.progress import Bar, silent

__all__ = ["repeat"]


def repeat(
    experiment: Callable[..., Any],
    tasks: Sequence[tuple[Any, ...]],
    *,
    label: str,
    bar: Bar = silent,
    workers: int = 2,
) -> list[Any]:
    """The results of `experiment(*task)` for every task, in their order.

    `experiment` is a function of a module. With one worker everything runs in this process.

    >>> repeat(divmod, [(7, 2), (9, 4)], label="dividing", workers=1)
    [(3, 1), (2, 1)]
    """
    results: list[Any] = [None] * len(tasks)
    with bar(label, len(tasks)) as report:
        if workers == 1:
            for place, task in enumerate(tasks):
                results[place] = experiment(*task)
                report(1)
            return results
        with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
            places = {pool.submit(experiment, *task): place for place, task in enumerate(tasks)}
            for future in as_completed(places):
                results[places[future]] = future.result()
                report(1)
    return results
