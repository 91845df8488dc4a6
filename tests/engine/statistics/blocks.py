"""Blocks of people for one statistic alone, without a learner around it."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from discreet.budget.privacy import Charge
from discreet.engine.plan import State
from discreet.engine.statistics import Occasion, Statistic
from discreet.release.aggregators import Aggregate
from discreet.release.door import Door
from discreet.release.randomness import seeded_bits

Add = Callable[[Any, Aggregate], None]
"""A function that adds people to the aggregate of a block by its aggregator."""


class After(NamedTuple):
    """The result of a release, and the state after it."""

    result: Any
    public: State
    hidden: State


class Costing(NamedTuple):
    """A mechanism of this price, which draws nothing."""

    charge: Charge


def nobody(aggregator: Any, aggregate: Aggregate) -> None:
    """Add nobody."""


def one_row(row: np.ndarray) -> Add:
    """Return a function that adds one person with this row."""

    def add(aggregator: Any, aggregate: Aggregate) -> None:
        aggregator.add(aggregate, row[None])

    return add


def next_release(
    statistic: Statistic[Any, Any],
    number: int,
    public: State,
    hidden: State,
    add: Add = nobody,
    rounds: int = 10,
) -> After:
    """Make one release, for which its planned charge is reserved; bits follow from its number."""
    aggregator = statistic.aggregator_at(number)
    aggregate = aggregator.empty()
    add(aggregator, aggregate)
    door = Door(seeded_bits(7, number), statistic.charge(number), number)
    occasion = Occasion(number, number * rounds, rounds)
    return After(*statistic.release(occasion, public, hidden, aggregate, door))


def releases(statistic: Statistic[Any, Any], adds: Sequence[Add]) -> list[After]:
    """Release one block after the other, each with the people that a function adds."""
    made: list[After] = []
    public, hidden = statistic.start()
    for number, add in enumerate(adds):
        made.append(next_release(statistic, number, public, hidden, add))
        _, public, hidden = made[-1]
    return made


def exact(charge: Charge) -> Fraction:
    """Return the amount as an exact number."""
    return Fraction(charge.amount)


def added_up(charges: Sequence[Charge]) -> Fraction:
    """Return the exact sum of amounts."""
    return sum(map(exact, charges), start=Fraction(0))
