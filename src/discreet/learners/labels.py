"""Items by number or by label: as settings have them, and in masks."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from discreet import require
from discreet.arrays import Mask
from discreet.errors import ConfigError
from discreet.turn.labels import Label, Labels

__all__ = ["Label", "label_of", "labelled", "mask_of", "names_by_number"]


def labelled(items: Any, what: str = "items") -> tuple[int, tuple[Label, ...] | None]:
    """How many items there are, and their labels if they have any: texts or whole numbers, as they are.

    >>> labelled(3), labelled(["tea", "milk"]), labelled([101, 205])
    ((3, None), (2, ('tea', 'milk')), (2, (101, 205)))
    """
    items = require.plain(items)
    if isinstance(items, int) and not isinstance(items, bool):
        return require.whole(what, items), None
    unordered = isinstance(items, set | frozenset | Mapping)
    if isinstance(items, str | bytes) or unordered or not isinstance(items, Iterable):
        raise ConfigError(f"{what} must be a whole number or a list of labels, got {require.shown(items)}")
    labels = tuple(require.plain(label) for label in items)
    fine = [isinstance(label, str | int) and not isinstance(label, bool) for label in labels]
    if not labels or not all(fine):
        raise ConfigError(f"{what} must be texts or whole numbers, at least one")
    if len({str(label) for label in labels}) != len(labels):
        raise ConfigError(f"{what} must be different from each other")
    return len(labels), labels


def label_of(item: Any, what: str = "items") -> Label:
    """One label as it is kept.

    >>> label_of("tea"), label_of(np.int64(101))
    ('tea', 101)
    """
    _, labels = labelled([item], what)
    assert labels is not None
    return labels[0]


def names_by_number(count: int, labels: tuple[Label, ...] | None) -> list[Label]:
    """The candidates' labels by number; their numbers if they have no labels."""
    return list(range(count)) if labels is None else list(labels)


def mask_of(available: Any, labels: Labels, room: int, *, people: int | None = None) -> Any:
    """A mask of candidates where `available` lists some of them by label; anything else as it is.

    One list of labels is a mask for all rounds, a list of lists has one mask per round. A name that nobody
    knows is refused. Where masks are personal, a list with one entry for each of the `people` is read entry
    by entry, and an unknown name makes its own person's entry None: nobody else's round depends on it.

    >>> shop = Labels(("tea", "milk", "soap"), "slate")
    >>> mask_of(["tea", "soap"], shop, 4)
    array([ True, False,  True, False])
    >>> mask_of([["tea"], ["ink"], [False, True, False, True]], shop, 4, people=3)
    [array([ True, False, False, False]), None, [False, True, False, True]]
    """
    if isinstance(available, np.ndarray) and available.dtype.kind not in "OUSiu":
        return available
    if isinstance(available, str | bytes | Mapping) or not isinstance(available, Iterable):
        return available
    entries = list(available)
    if people is not None and len(entries) == people:
        return [_mask_of_person(entry, labels, room) for entry in entries]
    if not any(_is_list(entry) for entry in entries):
        return _mask(entries, labels, room) if _lists_labels(entries) else available
    if not any(_is_list(entry) and _lists_labels(entry) for entry in entries):
        return available
    masks = np.zeros((len(entries), room), dtype=np.bool_)
    for row, entry in zip(masks, entries, strict=True):
        try:
            row[:] = _mask(list(entry), labels, room) if _lists_labels(entry) else np.asarray(entry)
        except ConfigError:
            raise
        except (TypeError, ValueError):
            raise ConfigError("available must have one list of items, or one mask, per round") from None
    return masks


def _mask_of_person(entry: Any, labels: Labels, room: int) -> Any:
    """One person's mask: by label, or as it is; None if it lists what is no label."""
    try:
        return _mask(list(entry), labels, room) if _is_list(entry) and _lists_labels(entry) else entry
    except Exception:
        return None


def _is_list(entry: Any) -> bool:
    return isinstance(entry, Iterable) and not isinstance(entry, str | bytes)


def _lists_labels(entry: Any) -> bool:
    """Whether this is a list of labels rather than a mask."""
    return not all(isinstance(part, bool | np.bool_) for part in entry)


def _mask(listed: Sequence[Any], labels: Labels, room: int) -> Mask:
    mask = np.zeros(room, dtype=np.bool_)
    for label in map(require.plain, listed):
        if isinstance(label, bool) or not isinstance(label, str | int) or label not in labels.numbers:
            raise ConfigError(f"available lists {label!r}, which is none of the labels")
        number = labels.numbers[label]
        if mask[number]:  # as in a mask of zeros and ones, which is no list of labels
            raise ConfigError(f"available lists {label!r} twice: a mask must be made of True and False")
        mask[number] = True
    return mask
