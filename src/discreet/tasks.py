"""The same experiment again and again, with other seeds or settings, on all cores; resumable
where asked.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from hashlib import blake2b
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from discreet import __version__
from discreet.progress import Bar, silent


class ResultStore:
    """Results of tasks that were done before, one JSON line each: a run that was stopped goes on.

    A result counts for the same experiment, the same task and the same version of discreet. A line
    that a kill cut short is done again.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._known: dict[str, Any] = {}
        *lines, last = path.read_bytes().split(b"\n") if path.exists() else [b""]
        self._torn = last != b""
        """Whether the last line has no end: what is added must not become a part of it."""
        for line in (*lines, last):
            try:
                entry = json.loads(line)
                self._known[entry["task"]] = entry["result"]
            except (ValueError, KeyError, TypeError, RecursionError):
                continue

    @staticmethod
    def key(experiment: Callable[..., Any], task: tuple[Any, ...]) -> str:
        """What a result is kept under; a task is made of plain data."""
        named = (
            f"{experiment.__module__}.{experiment.__qualname__} {__version__} {json.dumps(task)}"
        )
        return blake2b(named.encode(), digest_size=16).hexdigest()

    def find(self, key: str) -> tuple[bool, Any]:
        """Whether there is a result, and the result."""
        return key in self._known, self._known.get(key)

    def keep(self, key: str, result: Any) -> None:
        """Add a result, at once, as a line of its own."""
        self._known[key] = result
        self._path.parent.mkdir(parents=True, exist_ok=True)
        begin, self._torn = "\n" if self._torn else "", False
        with self._path.open("a") as file:
            file.write(begin + json.dumps({"task": key, "result": result}) + "\n")


def repeat(
    experiment: Callable[..., Any],
    tasks: Sequence[tuple[Any, ...]],
    *,
    label: str,
    bar: Bar = silent,
    workers: int = 2,
    store: ResultStore | None = None,
    executor: Executor | None = None,
) -> list[Any]:
    """The results of `experiment(*task)` for every task, in their order.

    `experiment` is a function of a module. With one worker everything runs in this process; with an
    `executor` (of a cluster, say) wherever that has it run. With `store`, tasks are plain data,
    results too, and what was done before is not done again.

    >>> repeat(divmod, [(7, 2), (9, 4)], label="dividing", workers=1)
    [(3, 1), (2, 1)]
    """
    results: list[Any] = [None] * len(tasks)
    waiting = []
    for place, task in enumerate(tasks):
        done, result = (False, None) if store is None else store.find(store.key(experiment, task))
        results[place] = result
        if not done:
            waiting.append(place)
    with bar(label, len(tasks)) as report:
        report(len(tasks) - len(waiting))
        for place, result in _computed(experiment, tasks, waiting, workers, executor):
            results[place] = result
            if store is not None:
                store.keep(store.key(experiment, tasks[place]), result)
            report(1)
    return results


def _computed(
    experiment: Callable[..., Any],
    tasks: Sequence[tuple[Any, ...]],
    places: list[int],
    workers: int,
    executor: Executor | None,
) -> Iterator[tuple[int, Any]]:
    """Places and their results, as they come."""
    if executor is None and (workers == 1 or len(places) < 2):
        for place in places:
            yield place, experiment(*tasks[place])
        return
    with _pool(executor, workers) as pool:
        futures = {pool.submit(experiment, *tasks[place]): place for place in places}
        for future in as_completed(futures):
            yield futures[future], future.result()


@contextmanager
def _pool(executor: Executor | None, workers: int) -> Iterator[Executor]:
    """Somebody's own executor, which stays open, or processes of ours."""
    if executor is not None:
        yield executor
        return
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        yield pool
