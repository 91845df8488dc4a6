"""The people of a selection: their number, their partitions, and who reads these.

    rows, a list of records               quantised and held on this machine
    a frame, a stream, an iterator        read once, in batches, quantised and held
    callables                             called one by one, on this machine
    files, `Partitions`, lists of these   read where they are; held if local and small enough

The kind of a list follows from the types in it, never from the data of a person. Arrays in a list
are records (one ragged row would make the array of a partition look like a record), and so are
texts of any content. Files in a list are `Path`s; `Partitions.of` takes arrays and texts as
partitions, too. Files and partitions are read once before the budget is spent, to count people and
to make sure that all can be read.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np

from discreet import require
from discreet.arrays import Floats
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
from discreet.records.kinds import is_table
from discreet.records.paths import files_at
from discreet.release.aggregators.partitions import HeldPart, Part, Runner, in_place, split

HELD_BYTES = 2**28
"""The size up to which partitions are held on this machine; larger ones are read at every step."""
MOST_NUMBERS = 2**31
"""The largest number of held numbers of people in one array."""


@dataclass(frozen=True)
class Partitions:
    """People in partitions that are read, or made, on the machine that works on them.

    Parameters
    ----------
    count
        The number of partitions.
    read
        A function that returns the people of the partition with a number from 0: rows, a frame, or
        the path of a file. For a cluster it must be possible to pickle it. It must return the same
        people at every call, on every machine.

    Examples
    --------
    >>> import numpy as np
    >>> from discreet import Partitions
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
                "read must be a function that returns the people of the partition of a number"
            )

    @classmethod
    def of(cls, parts: Iterable[Any]) -> "Partitions":
        """Return these arrays of rows, frames or paths of files, each as one partition."""
        listed = _Listed(tuple(require.listed("partitions", parts)))
        return cls(len(listed.parts), listed)


@dataclass(frozen=True, eq=False)
class _Listed:
    """Partitions in memory, or paths of files."""

    parts: tuple[Any, ...] = field(repr=False)

    def __call__(self, number: int) -> Any:
        return self.parts[number]


@dataclass(frozen=True, eq=False)
class PartitionedPeople:
    """People in partitions; `enter` runs tasks on `parts`, `run` on the parts of `staying`."""

    count: int
    parts: Sequence[Any]
    enter: Runner
    run: Runner
    is_held: bool
    """Whether `staying` reads the rows, and holds them on this machine."""

    def staying(self) -> Sequence[Part]:
        """Return the partitions as every step of a path reads them."""
        if not self.is_held:
            return self.parts
        held: list[Part] = []
        for part, values in zip(self.parts, self.enter(whole, self.parts), strict=True):
            held += split(values, part.first)
        return held


def partitioned_people(
    people: Any, reader: RecordReader, run: Runner, *, is_local: bool, has_cells: bool
) -> PartitionedPeople:
    """Return the people in partitions, counted; `ConfigError` if some cannot be read."""
    sources = _sources(people)
    if sources is not None:
        return _checked(sources, reader, run, is_local)
    is_tabular = is_table(people)
    if hasattr(people, "__next__") and not is_tabular:
        is_tabular, people = _peeked(people)
        if not is_tabular and has_cells:
            empty = np.zeros((0, reader.width))
            people = np.concatenate([empty, *_chunks_of_numbers(people, reader)])
    if not has_cells and (is_tabular or isinstance(people, Iterator)):
        return _read_once(reader.chunks(people) if is_tabular else _chunks(people), reader, run)
    rows = _in_memory(reader.rows(people))
    if len(rows) * (reader.width + 1) > MOST_NUMBERS:
        raise ConfigError(
            f"{len(rows)} people with {reader.width} numbers do not fit into memory: "
            "give them in partitions"
        )
    unnamed = replace(reader, columns=None)  # these rows have no columns any more
    part = SourcePart(Source(rows), unnamed, 0, len(rows), None)
    return _nonempty(PartitionedPeople(len(rows), [part], in_place, run, is_held=True))


def _nonempty(partitioned: PartitionedPeople) -> PartitionedPeople:
    """Return the people; refuse an empty selection."""
    if not partitioned.count:
        raise ConfigError("there are no people to choose for: give at least one record")
    return partitioned


def _in_memory(rows: Any) -> Any:
    """Return records as an array or a list."""
    if isinstance(rows, np.ndarray) and rows.ndim:
        return rows
    return _listed_people(rows, "people must be one record each: an array, a frame, or a list")


# --- partitions -----------------------------------------------------------------------------------


def _sources(people: Any) -> list[Source] | None:
    """Return the source of each partition; None if people are not in partitions."""
    if isinstance(people, str | Path):
        # The full path: a worker may have another working directory.
        return [Source(path.absolute(), path.name) for path in files_at(people)]
    if isinstance(people, Partitions):
        if isinstance(people.read, _Listed):  # each is sent separately
            return _sources_of(people.read.parts)
        return [Source(number, make=people.read) for number in range(people.count)]
    if isinstance(people, list | tuple) and people and all(map(_is_partition, people)):
        return _sources_of(people)
    return None


def _sources_of(parts: Sequence[Any]) -> list[Source]:
    """Return the sources of partitions, with nested `Partitions` expanded."""
    sources: list[Source] = []
    for part in parts:
        is_nested = isinstance(part, str | Path | Partitions)
        sources += (_sources(part) or []) if is_nested else [Source(part)]
    return sources


def _is_partition(part: Any) -> bool:
    """Whether an entry of a list is a partition, by its type alone; a text is a record."""
    return isinstance(part, Path | Partitions) or is_table(part)


def _checked(
    sources: list[Source], reader: RecordReader, run: Runner, is_local: bool
) -> PartitionedPeople:
    """Return the people of these sources, after all were read once."""
    key = os.urandom(16)
    try:
        checks = run(PartitionCheck(reader, key), sources)
    except StateError:
        raise
    except DiscreetError as error:
        raise ConfigError(f"{error} (nothing was spent)") from None
    counts = [int(count) for count, _ in checks]
    firsts = np.concatenate([[0], np.cumsum(counts)]).tolist()
    parts = [
        SourcePart(source, reader, first, count, int(check), key)
        for source, first, (count, check) in zip(sources, firsts, checks, strict=False)
    ]
    total = sum(counts)
    fits = 2 * (reader.width + 1) * total <= HELD_BYTES
    return _nonempty(PartitionedPeople(total, parts, run, run, is_held=is_local and fits))


# --- iterators ------------------------------------------------------------------------------------


def _chunks(people: Iterator[Any], size: int = CHUNK) -> Iterator[list[Any]]:
    """Split an iterator into lists; an error in it is refused without its text."""
    while True:
        try:
            chunk = list(islice(people, size))
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # its text may contain the data of a person
            kind = type(error).__name__
            raise ConfigError(
                f"the iterator of people stopped ({kind}): repair it, nothing was spent"
            ) from None
        if not chunk:
            return
        yield chunk


def _listed_people(people: Any, message: str) -> list[Any]:
    """Return all people as a list; `ConfigError` with this message if they are not iterable."""
    if isinstance(people, str | bytes):
        raise ConfigError(message)
    try:
        iterator = iter(people)
    except Exception:
        raise ConfigError(message) from None
    return [person for chunk in _chunks(iterator) for person in chunk]


def _chunks_of_numbers(people: Iterator[Any], reader: RecordReader) -> Iterator[Floats]:
    """Return the records of an iterator as rows of numbers, some thousands at a time."""
    for chunk in _chunks(people):
        for batch in batches(chunk):
            yield as_rows(batch, reader.width)


def _peeked(people: Iterator[Any]) -> tuple[bool, Iterator[Any]]:
    """Return whether an iterator yields frames, and the iterator with its first entry."""
    first = next(_chunks(people, 1), [])
    if not (first and is_table(first[0])):
        return False, chain(first, people)
    return True, chain(first, chain.from_iterable(_chunks(people, 1)))


def _read_once(chunks: Iterator[Any], reader: RecordReader, run: Runner) -> PartitionedPeople:
    """Return the people of a table or an iterator, quantised and held."""
    parts: list[HeldPart] = []
    count = 0
    for chunk in chunks:
        parts.append(HeldPart(reader.quantised(chunk), count))
        count += len(chunk)
    return _nonempty(PartitionedPeople(count, parts, in_place, run, is_held=False))


# --- callables ------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Callables:
    """People with callables, who stay in this process, where the returned values are stored."""

    people: Any = field(repr=False)

    def pieces(self) -> Iterator[tuple[int, Any]]:
        """Return all people as one piece."""
        yield 0, self.people


def callables_of(people: Any) -> PartitionedPeople:
    """Return people with one callable each; to a person without one, every set is worth 0."""
    listed = _listed_people(people, "people must be one callable each, in a list")
    functions = np.empty(len(listed), dtype=object)
    for place, person in enumerate(listed):
        functions[place] = PersonFunction(_function_of(person))
    parts = [_Callables(functions)]
    return _nonempty(PartitionedPeople(len(listed), parts, in_place, in_place, is_held=False))


def _function_of(person: Any) -> Any:
    """Return the callable of a person; None without one."""
    function = person.value if isinstance(person, SetFunction) else person
    return function if callable(function) else None
