"""Items by number or by label: as settings have them, and in masks."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from discreet import require
from discreet.arrays import Mask
from discreet.engine.labels import Label as Label
from discreet.engine.labels import Labels
from discreet.errors import ConfigError


def labelled(items: Any, what: str = "items") -> tuple[int, tuple[Label, ...] | None]:
    """How many items there are, and their labels if they have any: texts or whole numbers, as they
    are.

    >>> labelled(3), labelled(["tea", "milk"]), labelled([101, 205])
    ((3, None), (2, ('tea', 'milk')), (2, (101, 205)))
    """
    items = require.plain(items)
    if isinstance(items, int) and not isinstance(items, bool):
        return require.whole(what, items), None
    unordered = isinstance(items, set | frozenset | Mapping)
    if isinstance(items, str | bytes) or unordered or not isinstance(items, Iterable):
        raise ConfigError(
            f"{what} must be a whole number or a list of labels, got {require.shown(items)}"
        )
    labels = tuple(require.plain(label) for label in items)
    fine = [isinstance(label, str | int) and not isinstance(label, bool) for label in labels]
    if not labels or not all(fine):
        raise ConfigError(f"{what} must be texts or whole numbers, at least one")
    if len({str(label) for label in labels}) != len(labels):
        raise ConfigError(f"{what} must be different from each other")
    return len(labels), labels


def with_labels(given: dict[str, Any], count: str, names: str = "labels") -> dict[str, Any]:
    """Return settings in which a list of labels in place of a number has become both.

    >>> with_labels({"items": ["tea", "milk"], "slots": 1}, "items")
    {'items': 2, 'slots': 1, 'labels': ('tea', 'milk')}
    """
    if count not in given or isinstance(require.plain(given[count]), int):
        return given
    number, labels = labelled(given[count], count)
    return given | {count: number, names: labels}


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


def mask_of(available: Any, labels: Labels, room: int) -> Any:
    """A mask of candidates where `available` lists some of them by label; anything else as it is.

    One list of labels is a mask for all rounds, a list of lists has one mask per round. A name that
    nobody knows is refused.

    >>> mask_of(["tea", "soap"], Labels(("tea", "milk", "soap"), "slate"), 4)
    array([ True, False,  True, False])
    """
    if isinstance(available, np.ndarray) and available.dtype.kind not in "OUSiu":
        return available
    if isinstance(available, str | bytes | Mapping) or not isinstance(available, Iterable):
        return available
    entries = list(available)
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
            raise ConfigError(
                "available must have one list of items, or one mask, per round"
            ) from None
    return masks


def with_room(mask: Any, count: int, room: int) -> Any:
    """A mask of the items that there are, with a no for each that may still come; anything else as
    it is.

    >>> with_room([True, False], 2, 4)
    array([ True, False, False, False])
    """
    try:
        known = np.asarray(mask)
    except ValueError:  # rows of different lengths: refused where masks are checked
        return mask
    if count == room or known.shape[-1:] != (count,):
        return mask
    return np.concatenate(
        [known, np.zeros((*known.shape[:-1], room - count), dtype=known.dtype)], axis=-1
    )


def masks_of_people(available: Any, labels: Labels | None, room: int, people: int) -> Mask:
    """Masks where they are personal: one for all rounds, or one row per person, each read by
    itself.

    The form of the whole, which is the operator's, says which: a tuple, a set or an array of one
    dimension is one mask for all; a list, a table or a frame has one entry per person. Whoever
    brings something else than a yes or no for each candidate, or a list of labels, has a row of no.
    In a table that is not boolean, because of one entry perhaps, each cell is read by itself.

    >>> arms = Labels(("low", "high"), "one")
    >>> masks_of_people([["low"], ["none"], [False, True]], arms, 2, 3)
    array([[ True, False],
           [False, False],
           [False,  True]])
    >>> masks_of_people(("high",), arms, 2, 3)
    array([False,  True])
    """
    available = available.to_numpy() if hasattr(available, "to_numpy") else available
    table = available if isinstance(available, np.ndarray) else None
    one_for_all = isinstance(available, tuple | set | frozenset) or (
        table is not None and table.ndim == 1 and table.dtype.kind != "O"
    )
    if one_for_all:
        mask = _mask_of_person(available, labels, room)
        if mask is not None and mask.any():
            return mask
    elif (
        isinstance(available, list | np.ndarray)
        and len(available) == people
        and (table is None or table.ndim == 1 or table.shape[1] == room or labels is not None)
    ):
        if table is not None and table.dtype.kind == "b" and table.shape == (people, room):
            return table.copy()
        masks = np.zeros((people, room), dtype=np.bool_)
        for row, entry in zip(masks, available, strict=True):
            mask = _mask_of_person(entry, labels, room, from_table=table is not None)
            if mask is not None:
                row[:] = mask
        return masks
    raise ConfigError(
        f"available must be a list with one mask of {room} arms per round, or one mask for all "
        "rounds, "
        "a tuple or an array with yes at least once"
    )


SPELT = {"True": True, "1": True, "1.0": True, "(1+0j)": True}
SPELT |= {"False": False, "0": False, "0.0": False, "0j": False}
"""How yes and no read in a table that one entry made one of texts or numbers."""


def _mask_of_person(
    entry: Any, labels: Labels | None, room: int, *, from_table: bool = False
) -> Mask | None:
    """One person's mask, as yes and no or by labels; None if it is neither."""
    try:
        entry = entry.tolist() if isinstance(entry, np.ndarray) else entry
        if not isinstance(entry, list | tuple | set | frozenset):
            return None
        values = list(map(require.plain, entry))
        if len(values) == room and not _lists_labels(values):
            return np.array(values, dtype=np.bool_)
        spelt = [SPELT.get(str(value)) for value in values] if from_table else [None]
        if len(values) == room and None not in spelt:
            return np.array(spelt, dtype=np.bool_)
        return None if labels is None else _mask(values, labels, room)
    except Exception:  # whatever a person's entry raises is theirs alone
        return None


def _is_list(entry: Any) -> bool:
    return isinstance(entry, Iterable) and not isinstance(entry, str | bytes)


def _lists_labels(entry: Any) -> bool:
    """Whether this is a list of labels rather than a mask."""
    return not all(isinstance(part, bool | np.bool_) for part in entry)


def _mask(listed: Sequence[Any], labels: Labels, room: int) -> Mask:
    mask = np.zeros(room, dtype=np.bool_)
    for label in map(require.plain, listed):
        if (
            isinstance(label, bool)
            or not isinstance(label, str | int)
            or label not in labels.numbers
        ):
            raise ConfigError(
                f"available lists {require.shown(label)}, which is none of the labels"
            )
        number = labels.numbers[label]
        if mask[number]:  # as in a mask of zeros and ones, which is no list of labels
            raise ConfigError(
                f"available lists {require.shown(label)} twice: a mask must be made of True and "
                "False"
            )
        mask[number] = True
    return mask
