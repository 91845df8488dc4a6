"""Executors that read partitions of people: local threads, or a Dask cluster. Imported on use.

Everything runs behind `concurrent.futures.Executor`, so a task is a function of a partition and
nothing else: no noise, no randomness of its own, no memory. An executor may run it twice, or again
elsewhere after a worker was lost; answers are stored by the number of the partition, so that
everyone counts once.

A task never raises: a cluster would write its arguments into its logs. An error comes back as a
value without any person's data.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from discreet import require
from discreet.arrays import Integers
from discreet.errors import ConfigError, DiscreetError, StateError
from discreet.functions.person import reading
from discreet.progress import bar
from discreet.release.aggregators.partitions import Runner

Part = TypeVar("Part")

PATIENCE = "10s"
"""Time limit for a cluster's answer to the first call."""


@dataclass(frozen=True)
class _Failure:
    """Why a partition could not be read: a text of ours, or the type of a foreign error."""

    reason: str


@reading()
def _attempted(task: Callable[[Part], Integers], part: Part) -> Integers | _Failure:
    """Return the task's answer, or its failure as a value: the function that workers run."""
    try:
        return task(part)
    except DiscreetError as error:  # names fields and rules, never values
        return _Failure(str(error))
    except KeyboardInterrupt:
        raise
    # The text of a foreign error may hold a person's data; libraries in Rust panic with
    # exceptions that are no `Exception`.
    except BaseException as error:
        return _Failure(f"it cannot be read ({type(error).__name__})")


@dataclass(frozen=True)
class Workers:
    """A `Runner` for `HeldRows` that reads partitions through an executor."""

    executor: Executor

    def __call__(self, task: Callable[[Part], Integers], parts: Sequence[Part]) -> list[Integers]:
        """Return one answer per partition, in order; an error names the first that has none."""
        futures = {
            number: self.executor.submit(_attempted, task, part)
            for number, part in enumerate(parts)
        }
        answers: dict[int, Integers] = {}
        try:
            with bar("partitions", len(parts)) as report:
                for number, future in futures.items():
                    answers[number] = _answer(number, parts[number], future.result)
                    report(1)
        finally:
            for future in futures.values():
                future.cancel()  # after an error the others are not needed
        return [answers[number] for number in range(len(parts))]


def _answer(number: int, part: object, result: Callable[[], Integers | _Failure]) -> Integers:
    """Return the result of one partition, or raise an error that names the partition."""
    name = getattr(part, "name", "")
    which = f"partition {number} ({name})" if name else f"partition {number}"
    try:
        answer = result()
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise StateError(
            f"{which} was lost with its workers ({type(error).__name__}): see that they stay up"
        ) from None
    if isinstance(answer, _Failure):
        raise ConfigError(f"{which}: {answer.reason}")
    return answer


@contextmanager
def workers(engine: object) -> Iterator[Runner]:
    """Yield the runner for an `engine`.

    It is None (threads), a Dask client, a cluster's address, or an executor.
    """
    if engine is None:
        with ThreadPoolExecutor(os.cpu_count() or 1) as threads:
            yield _here_if_single(Workers(threads))
        return
    with executor_of(engine) as executor:
        yield Workers(executor)


@contextmanager
def executor_of(engine: object) -> Iterator[Executor]:
    """Yield the executor of a Dask client or a cluster's address; a given executor stays open."""
    check_engine(engine)
    if isinstance(engine, str):
        with _client(engine) as client, client.get_executor(pure=False) as executor:
            yield executor
    elif hasattr(engine, "get_executor"):
        with engine.get_executor(pure=False) as executor:
            yield executor
    else:
        assert isinstance(engine, Executor)
        yield engine


def check_engine(engine: object) -> None:
    """Refuse a value that cannot be an engine.

    Whether a cluster answers turns out only when people are read.
    """
    is_client = hasattr(engine, "get_executor") and not isinstance(engine, type)
    is_address = isinstance(engine, str) and ":" in engine
    if not (engine is None or is_client or is_address or isinstance(engine, Executor)):
        raise ConfigError(
            "engine must be None, a Dask client or an address such as tcp://host:8786, "
            f"got {require.shown(engine)}"
        )


def _here_if_single(many: Workers) -> Runner:
    """Return a runner that reads a single partition in this thread."""

    def run(task: Callable[[Part], Integers], parts: Sequence[Part]) -> list[Integers]:
        if len(parts) > 1:
            return many(task, parts)
        return [_answer(0, part, partial(_attempted, task, part)) for part in parts]

    return run


def _client(address: str) -> Any:
    """Return a Dask client for a cluster's address."""
    try:
        from distributed import Client
    except ImportError:
        raise ConfigError("a cluster needs Dask: pip install 'discreet[scale]'") from None
    try:
        return Client(address, timeout=PATIENCE, set_as_default=False)
    except (OSError, ValueError) as error:
        raise ConfigError(f"no cluster answers at {address} ({type(error).__name__})") from None
