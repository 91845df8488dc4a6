"""Who asks the parts of the people: threads of this machine, or a Dask cluster. Imported on use.

Everything runs behind `concurrent.futures.Executor`, so a task is a function of a part and nothing
else: no noise, no randomness of its own, no memory. An executor may run it twice, or again
elsewhere after a worker was lost; answers are kept by the number of the part, so that everybody
counts once.

A task never raises: a cluster would write what it was called with into its logs. What went wrong
comes back as a value, without anybody's data in it.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

from discreet import require
from discreet.arrays import Integers
from discreet.errors import ConfigError, DiscreetError, StateError
from discreet.functions.person import reading
from discreet.release.aggregators.partitions import Runner

PATIENCE = "10s"
"""How long a cluster may take to answer the first call."""


@dataclass(frozen=True)
class _Failure:
    """Why a part could not be asked: a text of ours, or the kind of a foreign error."""

    says: str


@reading()
def _attempted(task: Callable[[Any], Integers], part: Any) -> Integers | _Failure:
    """What runs on a worker."""
    try:
        return task(part)
    except DiscreetError as error:  # names fields and rules, never values
        return _Failure(str(error))
    except KeyboardInterrupt:
        raise
    except (
        BaseException
    ) as error:  # its text may hold a person's data; a library in Rust panics with others
        return _Failure(f"it cannot be read ({type(error).__name__})")


@dataclass(frozen=True)
class Workers:
    """Asks parts through an executor; a `Runner` for `HeldRows`."""

    executor: Executor

    def __call__(self, task: Callable[[Any], Integers], parts: Sequence[Any]) -> list[Integers]:
        """One answer a part, in their order; an error names the first part that has none."""
        futures = {
            number: self.executor.submit(_attempted, task, part)
            for number, part in enumerate(parts)
        }
        answers: dict[int, Integers] = {}
        try:
            for number, future in futures.items():
                answers[number] = _answer(number, parts[number], future.result)
        finally:
            for future in futures.values():
                future.cancel()  # those that are not needed any more
        return [answers[number] for number in range(len(parts))]


def _answer(number: int, part: Any, result: Callable[[], Any]) -> Integers:
    name = getattr(part, "name", "")
    which = f"partition {number} ({name})" if name else f"partition {number}"
    try:
        found = result()
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise StateError(
            f"{which} was lost with its workers ({type(error).__name__}): see that they stay up"
        ) from None
    if isinstance(found, _Failure):
        raise ConfigError(f"{which}: {found.says}")
    answer: Integers = found
    return answer


@contextmanager
def workers(engine: Any) -> Iterator[Runner]:
    """The runner for an `engine`: None (threads), a Dask client, a cluster's address, or an
    executor.
    """
    if engine is None:
        with ThreadPoolExecutor(os.cpu_count() or 1) as threads:
            yield _here_if_single(Workers(threads))
        return
    with executor_of(engine) as executor:
        yield Workers(executor)


@contextmanager
def executor_of(engine: Any) -> Iterator[Executor]:
    """The executor of a Dask client or of a cluster's address; an executor of one's own stays
    open.
    """
    check_engine(engine)
    if isinstance(engine, str):
        with _client(engine) as client, client.get_executor(pure=False) as executor:
            yield executor
    elif hasattr(engine, "get_executor"):
        with engine.get_executor(pure=False) as executor:
            yield executor
    else:
        yield engine


def check_engine(engine: Any) -> None:
    """Refuse what cannot be an engine; whether a cluster answers is found out when people are
    read.
    """
    is_client = hasattr(engine, "get_executor") and not isinstance(engine, type)
    is_address = isinstance(engine, str) and ":" in engine
    if not (engine is None or is_client or is_address or isinstance(engine, Executor)):
        raise ConfigError(
            "engine must be None, a Dask client or an address such as tcp://host:8786, "
            f"got {require.shown(engine)}"
        )


def _here_if_single(many: Workers) -> Runner:
    """One part needs no thread of its own."""

    def run(task: Callable[[Any], Integers], parts: Sequence[Any]) -> list[Integers]:
        if len(parts) > 1:
            return many(task, parts)
        return [_answer(0, part, partial(_attempted, task, part)) for part in parts]

    return run


def _client(address: str) -> Any:
    try:
        from distributed import Client
    except ImportError:
        raise ConfigError("a cluster needs Dask: pip install 'discreet[scale]'") from None
    try:
        return Client(address, timeout=PATIENCE, set_as_default=False)
    except (OSError, ValueError) as error:
        raise ConfigError(f"no cluster answers at {address} ({type(error).__name__})") from None
