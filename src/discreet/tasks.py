"""Repetitions of an experiment with other seeds or settings, in parallel and resumable."""

import json
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from hashlib import blake2b
from multiprocessing import get_context
from pathlib import Path
from typing import Any, TypeVar

from discreet import __version__
from discreet.progress import bar, hidden

Result = TypeVar("Result")


class ResultStore:
    """A file of results, one JSON line per task, from which a stopped run continues.

    A result is valid for the same experiment, the same task and the same version of discreet. A
    task whose line was cut off by a kill is run again.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._known: dict[str, object] = {}
        *lines, last = path.read_bytes().split(b"\n") if path.exists() else [b""]
        self._torn = last != b""
        """Whether the last line has no line end, which the next result must add first."""
        for line in (*lines, last):
            try:
                entry = json.loads(line)
                self._known[entry["task"]] = entry["result"]
            except (ValueError, KeyError, TypeError, RecursionError):
                continue

    @staticmethod
    def key(experiment: Callable[..., object], task: tuple[object, ...]) -> str:
        """Return the key of a result; the task must be serialisable as JSON."""
        name = f"{experiment.__module__}.{experiment.__qualname__}"
        described = f"{name} {__version__} {json.dumps(task)}"
        return blake2b(described.encode(), digest_size=16).hexdigest()

    def find(self, key: str) -> tuple[bool, Any]:
        """Return whether there is a result, and the result."""
        return key in self._known, self._known.get(key)

    def keep(self, key: str, result: object) -> None:
        """Append a result to the file, as a line of its own."""
        self._known[key] = result
        self._path.parent.mkdir(parents=True, exist_ok=True)
        begin = "\n" if self._torn else ""
        self._torn = False
        with self._path.open("a") as file:
            file.write(begin + json.dumps({"task": key, "result": result}) + "\n")


def repeat(
    experiment: Callable[..., Result],
    tasks: Sequence[tuple[object, ...]],
    *,
    label: str,
    workers: int = 2,
    store: ResultStore | None = None,
    executor: Executor | None = None,
) -> list[Result]:
    """Return the results of `experiment(*task)` for all tasks, in their order.

    Parameters
    ----------
    experiment
        A function of a module, which other processes can import.
    tasks
        The arguments of each call.
    label
        The name of the progress bar.
    workers
        The number of processes; 1 runs everything in this process.
    store
        Results of earlier runs, which are not computed again. Tasks and results must then be
        serialisable as JSON.
    executor
        Runs the calls instead of processes of this machine, on a cluster for example.

    Examples
    --------
    >>> repeat(divmod, [(7, 2), (9, 4)], label="dividing", workers=1)
    [(3, 1), (2, 1)]
    """
    results: dict[int, Result] = {}
    if store is not None:
        for place, task in enumerate(tasks):
            done, result = store.find(store.key(experiment, task))
            if done:
                results[place] = result
    waiting = [place for place in range(len(tasks)) if place not in results]
    with bar(label, len(tasks)) as report:
        report(len(tasks) - len(waiting))
        left = [tasks[place] for place in waiting]
        for number, result in as_finished(experiment, left, workers=workers, executor=executor):
            place = waiting[number]
            results[place] = result
            if store is not None:
                store.keep(store.key(experiment, tasks[place]), result)
            report(1)
    return [results[place] for place in range(len(tasks))]


def as_finished(
    experiment: Callable[..., Result],
    tasks: Sequence[tuple[object, ...]],
    *,
    workers: int,
    executor: Executor | None,
) -> Iterator[tuple[int, Result]]:
    """Yield the places of tasks and their results, in the order in which they finish.

    The parameters are those of `repeat`. Progress bars inside an experiment are hidden.
    """
    if executor is None and (workers == 1 or len(tasks) < 2):
        for place, task in enumerate(tasks):
            with hidden():
                result = experiment(*task)
            yield place, result
        return
    with _pool(executor, workers) as pool:
        futures = {pool.submit(experiment, *task): place for place, task in enumerate(tasks)}
        for future in as_completed(futures):
            yield futures[future], future.result()


@contextmanager
def _pool(executor: Executor | None, workers: int) -> Iterator[Executor]:
    """Yield the caller's executor, which stays open, or new processes, which are closed."""
    if executor is not None:
        yield executor
        return
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        yield pool
