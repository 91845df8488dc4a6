"""Which items there are: they come and go while visitors come, as public events that cost nothing.

Settings say how many items there may ever be; the public state says who lives. An item that is retired is
never shown again, from the next question on: until the block ends, as if masks forbade it. One that is added,
or comes back, is shown from the next block on. Whether and when must not depend on anyone's answers.

    living       may be shown now
    began        lived when this block began
    announced    may be shown from the next block on
    gone         how many were retired that this block was going to show
    added        names of the items that were not there at the start
    turns        how many blocks are over

Guarantee   docs/guarantees/sets.md, Theorem 5
"""

import json
from typing import Any

import numpy as np

from discreet.arrays import Mask
from discreet.errors import ConfigError
from discreet.learners.labels import Label, names_by_number
from discreet.learners.set_maximizer.settings import SetMaximizerSettings
from discreet.turn.plan import State
from discreet.turn.questions import all_leave_some

__all__ = ["added", "first_catalogue", "joined", "names_of", "next_catalogue", "retired"]


def first_catalogue(settings: SetMaximizerSettings) -> State:
    """The items that are there when nobody has come yet."""
    living = np.arange(settings.room) < settings.items
    masks = {"living": living, "began": living.copy(), "announced": living.copy()}
    return masks | {"gone": 0, "added": "[]", "turns": 0}


def next_catalogue(public: State) -> State:
    """What the next block begins with."""
    return {
        "living": public["announced"].copy(),
        "began": public["announced"].copy(),
        "announced": public["announced"],
        "gone": 0,
        "added": public["added"],
        "turns": public["turns"] + 1,
    }


def joined(public: State, available: Mask | None) -> Mask | None:
    """What may be shown now, if somebody asks with this mask."""
    living: Mask = public["living"]
    if available is None:
        return living if public["gone"] else None
    if np.count_nonzero(living) == len(living):
        return available
    found: Mask = available & living
    if not all_leave_some(found):
        raise ConfigError("available must leave at least one item that is not retired")
    return found


def names_of(settings: SetMaximizerSettings, public: State) -> list[Any]:
    """The items' names by number, those of retired and of later ones included."""
    return [*names_by_number(settings.items, settings.labels), *json.loads(public["added"])]


def added(settings: SetMaximizerSettings, public: State, label: Label | None) -> State:
    """The public state with one more item, or with one that comes back; None is the next number."""
    names, announced = names_of(settings, public), public["announced"].copy()
    known = [str(name) for name in names]
    if label is None and settings.labels is not None:
        raise ConfigError("this learner's items have names: give one")
    if label is not None and settings.labels is None and str(label) not in known:
        raise ConfigError("this learner's items have numbers: leave out the name of a new one")
    label = len(names) if label is None else label
    if str(label) in known:
        item = known.index(str(label))
        if announced[item]:
            raise ConfigError(f"there is an item {label!r} already")
        announced[item] = True
        return public | {"announced": announced}
    if len(names) >= settings.room:
        raise ConfigError(
            f"there is room for {settings.room} items, retired ones included: "
            "give a larger max_items from the start"
        )
    announced[len(names)] = True
    return public | {"announced": announced, "added": json.dumps([*json.loads(public["added"]), label])}


def retired(settings: SetMaximizerSettings, public: State, label: Label | None) -> State:
    """The public state without an item."""
    known = [str(name) for name in names_of(settings, public)]
    item = known.index(str(label)) if str(label) in known else -1
    if item < 0 or not public["announced"][item]:
        raise ConfigError(f"there is no item {label!r}, or it is retired already")
    living, announced = public["living"].copy(), public["announced"].copy()
    was_shown = bool(living[item])
    living[item] = announced[item] = False
    if min(living.sum(), announced.sum()) < settings.slots:
        raise ConfigError(
            f"{settings.slots} slots need as many items: add one, and let its block begin, before you retire "
            f"{label!r}"
        )
    return public | {"living": living, "announced": announced, "gone": public["gone"] + was_shown}
