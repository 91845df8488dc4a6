"""If these fail, fast algorithms choose other sets than plain greedy, or swaps lose value."""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import chain, combinations

import numpy as np
import pytest

from discreet.arrays import Floats, Integers
from discreet.domains import (
    GraphicMatroid,
    Knapsack,
    LaminarMatroid,
    PartitionMatroid,
    UniformMatroid,
)
from discreet.errors import ConfigError
from discreet.optim.constraints import Constraint, Price
from discreet.optim.greedy import choose_facilities, improved_by_swaps, lazy_greedy

ITEMS = 12
CONSTRAINTS: list[Constraint] = [
    UniformMatroid(ITEMS, 4),
    PartitionMatroid(tuple(item % 3 for item in range(ITEMS)), (1, 2, 1)),
    LaminarMatroid((tuple(range(8)), (0, 1, 2), (4, 5)), (3, 1, 1), ITEMS),
    GraphicMatroid(tuple((item % 5, (3 * item + 1) % 5) for item in range(ITEMS))),
    Knapsack(tuple(1.0 + item % 4 for item in range(ITEMS)), 7.0),
    Knapsack((tuple(1.0 + item % 4 for item in range(ITEMS)), (1.0,) * ITEMS), (9.0, 4.0)),
]


every_constraint = pytest.mark.parametrize(
    "constraint", CONSTRAINTS, ids=lambda constraint: type(constraint).__name__
)


def facilities(worths: Floats, weights: Floats, chosen: Sequence[int]) -> float:
    """Return Σ over cells of weight · largest worth of a chosen item."""
    return float(weights @ worths[:, list(chosen)].max(axis=1, initial=0.0))


class Gains:
    """Gains as differences of values, with a count of the evaluated items."""

    def __init__(self, value: Callable[[list[int]], float]) -> None:
        self.value = value
        self.evaluated = 0

    def __call__(self, chosen: list[int], items: Integers) -> Floats:
        self.evaluated += len(items)
        value = self.value
        return np.array([value([*chosen, int(item)]) - value(chosen) for item in items])


def plain_greedy(gains_of: Gains, constraint: Constraint, factors: Floats) -> list[int]:
    """Return the choice of greedy without a heap."""
    chosen: list[int] = []
    while (allowed := constraint.extensions(chosen)).any():
        scores = np.where(allowed, gains_of(chosen, np.arange(constraint.items)) * factors, -1.0)
        chosen.append(int(np.argmax(scores)))
    return chosen


@every_constraint
@pytest.mark.parametrize("price", ["density", "quartile"])
def test_lazy_greedy_chooses_what_plain_greedy_chooses_with_fewer_evaluations(
    constraint: Constraint, price: Price, generator: np.random.Generator
) -> None:
    factors = constraint.factors(price) if isinstance(constraint, Knapsack) else np.ones(ITEMS)
    for _ in range(4):
        worths = generator.integers(0, 5, size=(10, ITEMS)).astype(float)  # exact sums, many ties
        lazy = Gains(partial(facilities, worths, np.ones(10)))
        plain = Gains(partial(facilities, worths, np.ones(10)))

        chosen = lazy_greedy(lazy, constraint, price=price)

        assert chosen == plain_greedy(plain, constraint, factors)
        assert constraint.contains(chosen)
        assert not constraint.extensions(chosen).any()
        assert lazy.evaluated <= plain.evaluated
        assert lazy_greedy(lazy, constraint, chosen=chosen[:2], price=price) == chosen


@every_constraint
def test_swaps_never_lose_value_and_leave_no_swap_that_helps(
    constraint: Constraint, generator: np.random.Generator
) -> None:
    improved = 0
    for _ in range(4):
        worths = generator.random((15, ITEMS)) ** 3
        weights = generator.random(15)
        value = partial(facilities, worths, weights)
        start = constraint.best(-worths.sum(axis=0)) or [0]  # a bad one

        swapped = improved_by_swaps(Gains(value), constraint, start)
        chosen = choose_facilities(worths, weights, constraint)
        without_swaps = choose_facilities(worths, weights, constraint, limit=0)

        greedy = lazy_greedy(Gains(value), constraint)
        assert value(swapped) >= value(start)
        improved += value(swapped) > value(start) + 1e-9
        assert value(chosen) >= value(greedy) - 1e-12
        assert value(without_swaps) >= value(greedy) - 1e-12
        for picks in (swapped, chosen):
            assert constraint.contains(picks)
            for slot in range(len(picks)):
                rest = [*picks[:slot], *picks[slot + 1 :]]
                for item in np.flatnonzero(constraint.extensions(rest)):
                    assert value([*rest, int(item)]) <= value(picks) * (1 + 1e-8)
    assert improved


def test_the_choice_is_nearly_the_best_of_all_sets(generator: np.random.Generator) -> None:
    sets = list(chain.from_iterable(combinations(range(ITEMS), size) for size in range(6)))
    for constraint in CONSTRAINTS:
        worths = generator.random((15, ITEMS)) ** 3
        weights = generator.random(15)
        feasible = [chosen for chosen in sets if constraint.contains(chosen)]
        best = max(facilities(worths, weights, chosen) for chosen in feasible)
        chosen = choose_facilities(worths, weights, constraint)
        assert facilities(worths, weights, chosen) >= 0.97 * best


def test_one_item_that_is_worth_more_than_many_cheap_ones_is_found() -> None:
    bag = Knapsack((1.0, 100.0), 100.0)
    worths = np.array([[2.0, 90.0]])
    assert lazy_greedy(Gains(partial(facilities, worths, np.ones(1))), bag) == [0]
    assert choose_facilities(worths, [1.0], bag) == [1]


def test_noisy_weights_below_0_count_as_0() -> None:
    worths = np.array([[1.0, 1.0, 0.0], [0.0, 0.5, 1.0], [0.0, 0.0, 0.9]])
    weights = np.array([1.0, 1.0, -5.0])
    assert choose_facilities(worths, weights, UniformMatroid(3, 2)) == [1, 2]
    assert choose_facilities(worths, np.zeros(3), UniformMatroid(3, 2)) == [0, 1]


@pytest.mark.parametrize(
    ("worths", "weights", "message"),
    [
        (np.ones((2, 3)), np.ones(3), "one row per weight"),
        (np.ones((2, 4)), np.ones(2), "one column for each of the 3 items"),
        (np.full((2, 3), np.nan), np.ones(2), "finite"),
        (np.ones((2, 3)), np.array([1.0, np.inf]), "finite"),
    ],
)
def test_tables_of_the_wrong_shape_are_refused(
    worths: Floats, weights: Floats, message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        choose_facilities(worths, weights, UniformMatroid(3, 1))


def test_a_negative_limit_is_refused() -> None:
    with pytest.raises(ConfigError, match="limit"):
        choose_facilities(np.ones((2, 3)), np.ones(2), UniformMatroid(3, 1), limit=-1)
