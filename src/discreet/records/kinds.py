"""Kinds of tables, told apart by their types alone, without importing the libraries of any."""

from collections.abc import Iterator
from itertools import chain, islice
from pathlib import Path


def is_table(value: object) -> bool:
    """Whether a value is a frame, a lazy frame, or a stream of Arrow batches with named columns."""
    if type(value).__name__ == "LazyFrame" or is_pandas(value):
        return True
    has_names = hasattr(value, "columns") or hasattr(value, "schema")
    return hasattr(type(value), "__arrow_c_stream__") and has_names


def is_pandas(value: object) -> bool:
    """Whether a value is a frame of pandas."""
    return type(value).__module__.startswith("pandas") and type(value).__name__ == "DataFrame"


def recognised(value: object) -> tuple[bool, object]:
    """Return whether a value is a table rather than rows of people, and the value itself.

    Tables are frames, streams, `Path`s, and iterators whose first entry is a frame. Such an
    iterator is returned with that entry. Lists, arrays and texts are rows: people bring them, and
    operators bring tables.
    """
    if isinstance(value, Path) or is_table(value):
        return True, value
    if not isinstance(value, Iterator):
        return False, value
    first = list(islice(value, 1))
    return bool(first) and is_table(first[0]), chain(first, value)
