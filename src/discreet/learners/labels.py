"""Items by number or by label, in settings and in masks."""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np

from discreet import require
from discreet.arrays import Integers, Mask
from discreet.engine.labels import Label as Label
from discreet.engine.labels import Labels
from discreet.entries import entries_of, listed, plain_entry, whole_in
from discreet.errors import ConfigError
from discreet.records.samples import cells_in, opened

if TYPE_CHECKING:  # the standard library's type variables have defaults from Python 3.13 on
    from typing_extensions import TypeVar

    Item = TypeVar("Item", bound=Label, default=int)
    Slate = TypeVar("Slate", bound=list[Any] | Integers, default=Integers)
else:
    from typing import TypeVar

    Item = TypeVar("Item")
    Slate = TypeVar("Slate")
"""Types of decisions, which follow from what a constructor is given.

Item     one candidate: the type of the labels, or int if candidates have no labels
Slate    several: the type of the list of labels, or an array of numbers without labels
"""

Slates = np.ndarray | Any
"""Decisions of many rounds: an array, but a list of lists if labelled sets differ in size."""


def labelled(items: object, what: str = "items") -> tuple[int, tuple[Label, ...] | None]:
    """Return the number of items and their labels; None for items without labels.

    Labels are texts or whole numbers.

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
    are_labels = [isinstance(label, str | int) and not isinstance(label, bool) for label in labels]
    if not labels or not all(are_labels):
        raise ConfigError(f"{what} must be texts or whole numbers, at least one")
    if len({str(label) for label in labels}) != len(labels):
        raise ConfigError(f"{what} must be different from each other")
    return len(labels), labels


def with_labels(given: dict[str, object], by_label: Mapping[str, str]) -> dict[str, object]:
    """Return settings in which a list of labels, given as a number of items, has become both.

    `by_label` has the settings that may be given so, each with the field of the labels.

    >>> with_labels({"items": ["tea", "milk"], "slots": 1}, {"items": "labels"})
    {'items': 2, 'slots': 1, 'labels': ('tea', 'milk')}
    """
    for count, names in by_label.items():
        if count in given and not isinstance(require.plain(given[count]), int):
            number, labels = labelled(given[count], count)
            given = given | {count: number, names: labels}
    return given


def label_of(item: object, what: str = "items") -> Label:
    """Return one label as settings have it.

    >>> label_of("tea"), label_of(np.int64(101))
    ('tea', 101)
    """
    _, labels = labelled([item], what)
    assert labels is not None
    return labels[0]


def names_by_number(count: int, labels: tuple[Label, ...] | None) -> list[Label]:
    """Return the candidates' labels by number; their numbers if they have no labels."""
    return list(range(count)) if labels is None else list(labels)


def mask_of(available: object, labels: Labels, room: int) -> object:
    """Return the mask that lists of labels stand for; anything else unchanged.

    One list of labels is a mask for all rounds; a list of lists has one mask per round. An unknown
    label is refused.

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


def with_room(mask: object, count: int, room: int) -> object:
    """Return a mask of `count` items extended by False to `room` items; anything else unchanged.

    The room is for items that may be added later.

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


def masks_of_people(available: object, labels: Labels | None, room: int, people: int) -> Mask:
    """Return personal masks: one for all rounds, or one row per person, each read by itself.

    The outer type, which the operator chooses, decides: a tuple, a set or an array of one dimension
    is one mask for all; a list, a table or a frame has one entry per person. An entry that is
    neither one boolean per candidate nor a list of labels becomes a row of False. In a table that
    is not boolean, perhaps because of one entry, each cell is read by itself.

    >>> arms = Labels(("low", "high"), "one")
    >>> masks_of_people([["low"], ["none"], [False, True]], arms, 2, 3)
    array([[ True, False],
           [False, False],
           [False,  True]])
    >>> masks_of_people(("high",), arms, 2, 3)
    array([False,  True])
    """
    # In an array or a series, one entry may have turned those of others into another type.
    converted = not isinstance(available, list)
    available = entries_of(available)
    if _is_one_for_all(available):
        mask = _mask_of_person(available, labels, room)
        if mask is not None and mask.any():
            return mask
    elif _has_one_per_person(available, labels, room, people):
        return _masks_by_row(available, labels, room, converted)
    raise ConfigError(
        f"available must be a list with one mask of {room} arms per round, or one mask for all "
        "rounds, a tuple or an array with yes at least once"
    )


def masks_in(table: object, labels: Labels | None, room: int) -> np.ndarray:
    """Return the masks of a table, one per row: the columns of the labels, or all in order.

    Each cell stays an object of its own, so that one of them does not decide how others are read.
    """
    source = opened(table)
    names = source.columns if labels is None else [str(label) for label in labels.names]
    cells = cells_in(source, names)
    later = max(room - len(names), 0)
    masks = np.pad(cells, ((0, 0), (0, later)), constant_values=False)
    are_booleans = all(type(cell) is bool for cell in masks.flat)
    return masks.astype(np.bool_) if are_booleans else masks


def _is_one_for_all(available: object) -> bool:
    """Return whether `available` is one mask for all rounds, by its outer type."""
    if isinstance(available, np.ndarray):
        return available.ndim == 1 and available.dtype.kind != "O"
    return isinstance(available, tuple | set | frozenset)


def _has_one_per_person(
    available: object, labels: Labels | None, room: int, people: int
) -> TypeGuard[list[object] | np.ndarray]:
    """Return whether `available` is a list or table with one entry per person."""
    if not isinstance(available, list | np.ndarray) or len(available) != people:
        return False
    if isinstance(available, list) or available.ndim == 1:
        return True
    return available.shape[1] == room or labels is not None


def _masks_by_row(
    available: list[object] | np.ndarray, labels: Labels | None, room: int, converted: bool
) -> Mask:
    """Return one mask per person; a row of False for an entry that cannot be read."""
    masks = np.zeros((len(available), room), dtype=np.bool_)
    table = available if isinstance(available, np.ndarray) else None
    if table is not None and table.dtype.kind == "b" and table.shape == masks.shape:
        return table.copy()
    for row, entry in zip(masks, available, strict=True):
        mask = _mask_of_person(entry, labels, room, converted=converted)
        if mask is not None:
            row[:] = mask
    return masks


SPELT = {"True": True, "1": True, "1.0": True, "(1+0j)": True}
SPELT |= {"False": False, "0": False, "0.0": False, "0j": False}
SPELT |= {"true": True, "false": False}
SPELT |= {str(text.encode()): value for text, value in SPELT.items()}
"""Booleans as they read where one entry turned all into texts, bytes or numbers."""


def _mask_of_person(
    entry: object, labels: Labels | None, room: int, *, converted: bool = False
) -> Mask | None:
    """Return one person's mask, from booleans or labels; None if the entry is neither."""
    try:
        entry = listed(entry) if isinstance(entry, np.ndarray) else entry
        if not isinstance(entry, list | tuple | set | frozenset):
            return None
        values = list(map(require.plain, entry))
        if len(values) == room and not _lists_labels(values):
            return np.array(values, dtype=np.bool_)
        spelt = [SPELT.get(str(value)) for value in values] if converted else [None]
        if len(values) == room and None not in spelt:
            return np.array(spelt, dtype=np.bool_)
        if labels is None:
            return None
        parts = [_label(part, labels) for part in entry] if converted else values
        return _mask(parts, labels, room)
    except Exception:  # an error of one person's entry must not reach anyone else
        return None


def _label(part: object, labels: Labels) -> object:
    """Return the label that a cell of an array or a series stands for; what else it is, if none."""
    plain = plain_entry(part)
    whole = whole_in(plain) if isinstance(plain, str) and plain not in labels.numbers else None
    if whole is None and isinstance(plain, str) and plain not in labels.numbers:
        with suppress(ValueError):  # a whole number beside a float and a text
            return plain_entry(float(plain))
    return plain if whole is None else whole


def _is_list(entry: object) -> bool:
    return isinstance(entry, Iterable) and not isinstance(entry, str | bytes)


def _lists_labels(entry: Iterable[object]) -> bool:
    """Return whether this is a list of labels rather than a mask."""
    return not all(isinstance(part, bool | np.bool_) for part in entry)


def _mask(listed: Iterable[object], labels: Labels, room: int) -> Mask:
    """Return the mask of the listed labels; refuse unknown and repeated ones."""
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
        if mask[number]:  # probably a mask of zeros and ones
            raise ConfigError(
                f"available lists {require.shown(label)} twice: a mask must be made of True and "
                "False"
            )
        mask[number] = True
    return mask
