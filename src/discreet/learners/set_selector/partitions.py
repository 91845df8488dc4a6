"""All people of a selection: how many there are, in which parts, and who asks the parts.

    rows, a frame, a list of records          quantised and held on this machine
    an iterator of records                    read once, quantised and held
    callables                                 asked one by one, on this machine
    files, `Partitions`, lists of these       read where they are; held if that is here and there is room

Which of these a list is follows from the types in it, never from what a person brought. Arrays in a
list are records (one ragged row would make a partition's array look like one), and so are texts,
whatever they say; files in a list are `Path`s, and `Partitions.of` takes all of these for
partitions. Files and partitions are read once to count people and to see that all can be read,
before anything is spent.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from discreet import require
from discreet.errors import ConfigError, DiscreetError, StateError
from discreet.feedback import as_rows
from discreet.functions.chains import PersonFunction
from discreet.functions.sets import SetFunction
from discreet.learners.set_selector.records import (
    CHUNK,
    PartitionCheck,
    RecordReader,
    Source,
    SourcePart,
    batches,
    whole,
)
from discreet.release.aggregators.partitions import HeldPart, Part, Runner, in_place, split

HELD_BYTES = 2**28
"""Partitions are held on this machine up to this size, and read again at every step beyond it."""
MOST_NUMBERS = 2**31
"""So many numbers of people who came in one array can be held."""


@dataclass(frozen=True)
class Partitions:
    """People in partitions that are read, or made, where the work is done.

    `read(number)` gives the people of one partition: rows, a frame, or the path of a file. For a
    cluster it must be possible to pickle it, and it must give the same whenever and wherever it is
    called.

    >>> halves = Partitions(2, lambda number: np.full((3, 2), number))
    >>> halves.read(1).tolist()
    [[1, 1], [1, 1], [1, 1]]
    >>> Partitions.of([np.zeros((3, 2)), np.ones((4, 2))]).count
    2
    """

    count: int
    read: Callable[[int], Any] = field(repr=False)

    def __post_init__(self) -> None:
        require.whole("count", self.count)
        if not callable(self.read):
            raise ConfigError(
                "read must be a function that gives the people of the partition of a number"
            )

    @classmethod
    def of(cls, parts: Iterable[Any]) -> "Partitions":
        """Each of these is a partition: arrays of rows, frames, paths of files."""
        given = _Given(tuple(require.listed("partitions", parts)))
        return cls(len(given.parts), given)


@dataclass(frozen=True, eq=False)
class _Given:
    """Partitions that are there already."""

    parts: tuple[Any, ...] = field(repr=False)

    def __call__(self, number: int) -> Any:
        return self.parts[number]


@dataclass(frozen=True, eq=False)
class PartitionedPeople:
    """People in parts: `enter` asks them as they came, `run` once they are held."""

    count: int
    parts: Sequence[Any]
    enter: Runner
    run: Runner
    is_held: bool
    """Whether rows are to be held on this machine."""

    def staying(self) -> Sequence[Part]:
        """The parts as a path of choices asks them, again and again."""
        if not self.is_held:
            return self.parts
        held: list[Part] = []
        for part, values in zip(self.parts, self.enter(whole, self.parts), strict=True):
            held += split(values, part.first)
        return held


def partitioned_people(
    people: Any, reader: RecordReader, run: Runner, *, is_local: bool, has_cells: bool
) -> PartitionedPeople:
    """The people, counted; `ConfigError` if some cannot be read."""
    sources = _sources(people)
    if sources is not None:
        return _checked(sources, reader, run, is_local)
    if hasattr(people, "__next__"):
        if not has_cells:
            return _read_once(people, reader, run)
        people = np.concatenate([np.zeros((0, reader.width)), *_chunks_of_numbers(people, reader)])
    rows = _in_memory(reader.rows(people))
    if len(rows) * (reader.width + 1) > MOST_NUMBERS:
        raise ConfigError(
            f"{len(rows)} people with {reader.width} numbers do not fit into memory: "
            "give them in partitions"
        )
    unnamed = replace(reader, columns=None)  # they are rows by now
    part = SourcePart(Source(rows), unnamed, 0, len(rows), None)
    return _some(PartitionedPeople(len(rows), [part], in_place, run, is_held=True))


def _some(partitioned: PartitionedPeople) -> PartitionedPeople:
    if not partitioned.count:
        raise ConfigError("there are no people to choose for")
    return partitioned


def _in_memory(rows: Any) -> Any:
    if isinstance(rows, np.ndarray) and rows.ndim:
        return rows
    return _everyone(rows, "people must be one record each: an array, a frame, or a list")


# --- partitions -----------------------------------------------------------------------------------


def _sources(people: Any) -> list[Source] | None:
    """Where each partition is; None if people did not come in partitions."""
    if isinstance(people, str | Path):
        # By its full path: a worker may stand in another folder.
        return [Source(Path(people).absolute(), Path(people).name)]
    if isinstance(people, Partitions):
        if isinstance(people.read, _Given):  # each is sent by itself
            return _sources_of(people.read.parts)
        return [Source(number, make=people.read) for number in range(people.count)]
    if isinstance(people, list | tuple) and people and all(map(_is_partition, people)):
        return _sources_of(people)
    return None


def _sources_of(parts: Sequence[Any]) -> list[Source]:
    found: list[Source] = []
    for part in parts:
        several = isinstance(part, str | Path | Partitions)
        found += (_sources(part) or []) if several else [Source(part)]
    return found


def _is_partition(part: Any) -> bool:
    """By its type alone; a text in a list is a person's record, whatever it says."""
    return isinstance(part, Path | Partitions) or (
        hasattr(part, "to_numpy") and hasattr(part, "columns")
    )


def _checked(
    sources: list[Source], reader: RecordReader, run: Runner, is_local: bool
) -> PartitionedPeople:
    key = os.urandom(16)
    try:
        found = run(PartitionCheck(reader, key), sources)
    except StateError:
        raise
    except DiscreetError as error:
        raise ConfigError(f"{error} (nothing was spent)") from None
    counts = [int(count) for count, _ in found]
    firsts = np.concatenate([[0], np.cumsum(counts)]).tolist()
    parts = [
        SourcePart(source, reader, first, count, int(check), key)
        for source, first, (count, check) in zip(sources, firsts, found, strict=False)
    ]
    total = sum(counts)
    fits = 2 * (reader.width + 1) * total <= HELD_BYTES
    return _some(PartitionedPeople(total, parts, run, run, is_held=is_local and fits))


# --- read once ------------------------------------------------------------------------------------


def _chunks(people: Iterator[Any]) -> Iterator[list[Any]]:
    while True:
        try:
            chunk = list(islice(people, CHUNK))
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # its text may hold a person's data
            kind = type(error).__name__
            raise ConfigError(
                f"the iterator of people stopped ({kind}): nothing was spent"
            ) from None
        if not chunk:
            return
        yield chunk


def _everyone(people: Any, otherwise: str) -> list[Any]:
    """All at once; `ConfigError` with this text if there is nothing to go through."""
    if isinstance(people, str | bytes):
        raise ConfigError(otherwise)
    try:
        each = iter(people)
    except Exception:
        raise ConfigError(otherwise) from None
    return [person for chunk in _chunks(each) for person in chunk]


def _chunks_of_numbers(people: Iterator[Any], reader: RecordReader) -> Iterator[Any]:
    for chunk in _chunks(people):
        for batch in batches(chunk):
            yield as_rows(batch, reader.width)


def _read_once(people: Iterator[Any], reader: RecordReader, run: Runner) -> PartitionedPeople:
    parts: list[HeldPart] = []
    count = 0
    for chunk in _chunks(people):
        parts.append(HeldPart(reader.quantised(chunk), count))
        count += len(chunk)
    return _some(PartitionedPeople(count, parts, in_place, run, is_held=False))


# --- callables ------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Callables:
    """People who bring callables: they stay in this process, where what they said is remembered."""

    people: Any = field(repr=False)

    def pieces(self) -> Iterator[tuple[int, Any]]:
        """All of them at once."""
        yield 0, self.people


def callables_of(people: Any) -> PartitionedPeople:
    """People who bring a callable each; whoever brings something else is worth nothing."""
    everyone = _everyone(people, "people must be one callable each, in a list")
    voices = np.empty(len(everyone), dtype=object)
    for place, person in enumerate(everyone):
        voices[place] = PersonFunction(_function_of(person))
    return _some(
        PartitionedPeople(len(everyone), [_Callables(voices)], in_place, in_place, is_held=False)
    )


def _function_of(person: Any) -> Any:
    function = person.value if isinstance(person, SetFunction) else person
    return function if callable(function) else None
