"""Items by number or by name."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from discreet import require
from discreet.errors import ConfigError

__all__ = ["Label", "label_of", "labelled", "labels_of"]

Label = str | int


def labelled(items: Any, what: str = "items") -> tuple[int, tuple[Label, ...] | None]:
    """How many items there are, and their labels if they have any: texts or whole numbers, as they are.

    >>> labelled(3), labelled(["tea", "milk"]), labelled([101, 205])
    ((3, None), (2, ('tea', 'milk')), (2, (101, 205)))
    """
    if isinstance(items, int | np.integer) and not isinstance(items, bool):
        return require.whole(what, items), None
    if isinstance(items, str | bytes) or not isinstance(items, Iterable):
        raise ConfigError(f"{what} must be a whole number or a list of labels, got {items!r}")
    labels = tuple(require.plain(label) for label in items)
    fine = [isinstance(label, str | int) and not isinstance(label, bool) for label in labels]
    if not labels or not all(fine):
        raise ConfigError("labels must be texts or whole numbers, at least one")
    if len({str(label) for label in labels}) != len(labels):
        raise ConfigError("labels must be different from each other")
    return len(labels), labels


def label_of(item: Any, what: str = "items") -> Label:
    """One label as it is kept.

    >>> label_of("tea"), label_of(np.int64(101))
    ('tea', 101)
    """
    _, labels = labelled([item], what)
    assert labels is not None
    return labels[0]


def labels_of(items: int, labels: tuple[Label, ...] | None) -> Any:
    """The items' names, to be indexed with a set; their numbers if they have no names."""
    if labels is None:
        return np.arange(items)
    mixed = len({type(label) for label in labels}) > 1
    return np.array(labels, dtype=object if mixed else None)
