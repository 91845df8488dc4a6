"""If these fail, fast algorithms choose something else than plain greedy would, or swaps make it
worse.
"""

from itertools import chain, combinations
from typing import Any

import numpy as np
import pytest

from discreet.domains import (
    GraphicMatroid,
    Knapsack,
    LaminarMatroid,
    PartitionMatroid,
    UniformMatroid,
)
from discreet.errors import ConfigError
from discreet.optim.greedy import choose_facilities, improved_by_swaps, lazy_greedy

ITEMS = 12
CONSTRAINTS: list[Any] = [
    UniformMatroid(ITEMS, 4),
    PartitionMatroid(tuple(item % 3 for item in range(ITEMS)), (1, 2, 1)),
    LaminarMatroid((tuple(range(8)), (0, 1, 2), (4, 5)), (3, 1, 1), ITEMS),
    GraphicMatroid(tuple((item % 5, (3 * item + 1) % 5) for item in range(ITEMS))),
    Knapsack(tuple(1.0 + item % 4 for item in range(ITEMS)), 7.0),
    Knapsack((tuple(1.0 + item % 4 for item in range(ITEMS)), (1.0,) * ITEMS), (9.0, 4.0)),
]


def facilities(worths: np.ndarray, weights: np.ndarray, chosen: Any) -> float:
    return float(weights @ worths[:, list(chosen)].max(axis=1, initial=0.0))


def gains_by(value: Any) -> Any:
    """Gains as differences of values, and a count of how many were asked for."""

    def gains_of(chosen: list[int], items: np.ndarray) -> np.ndarray:
        gains_of.asked += len(items)  # type: ignore[attr-defined]
        return np.array([value([*chosen, int(item)]) - value(chosen) for item in items])

    gains_of.asked = 0  # type: ignore[attr-defined]
    return gains_of


def plain_greedy(gains_of: Any, constraint: Any, factors: np.ndarray) -> list[int]:
    chosen: list[int] = []
    while (allowed := constraint.extensions(chosen)).any():
        scores = np.where(allowed, gains_of(chosen, np.arange(constraint.items)) * factors, -1.0)
        chosen.append(int(np.argmax(scores)))
    return chosen


@pytest.mark.parametrize(
    "constraint", CONSTRAINTS, ids=lambda constraint: type(constraint).__name__
)
@pytest.mark.parametrize("price", ["density", "quartile"])
def test_lazy_greedy_chooses_what_plain_greedy_chooses_and_asks_less(
    constraint: Any, price: Any, crowd: np.random.Generator
) -> None:
    factors = constraint.factors(price) if isinstance(constraint, Knapsack) else np.ones(ITEMS)
    for _ in range(4):
        worths = crowd.integers(0, 5, size=(10, ITEMS)).astype(float)  # exact sums, many ties
        lazy, plain = (
            gains_by(lambda chosen, w=worths: facilities(w, np.ones(10), chosen)) for _ in range(2)
        )
        chosen = lazy_greedy(lazy, constraint, price=price)
        assert chosen == plain_greedy(plain, constraint, factors)
        assert constraint.contains(chosen)
        assert not constraint.extensions(chosen).any()
        assert lazy.asked <= plain.asked
        assert lazy_greedy(lazy, constraint, chosen=chosen[:2], price=price) == chosen


@pytest.mark.parametrize(
    "constraint", CONSTRAINTS, ids=lambda constraint: type(constraint).__name__
)
def test_swaps_never_worsen_and_leave_no_swap_that_helps(
    constraint: Any, crowd: np.random.Generator
) -> None:
    improved = 0
    for _ in range(4):
        worths, weights = crowd.random((15, ITEMS)) ** 3, crowd.random(15)

        def worth(chosen: Any, worths: Any = worths, weights: Any = weights) -> float:
            return facilities(worths, weights, chosen)

        start = constraint.best(-worths.sum(axis=0)) or [0]  # a bad one
        swapped = improved_by_swaps(gains_by(worth), constraint, start)
        chosen = choose_facilities(worths, weights, constraint)
        greedy = lazy_greedy(gains_by(worth), constraint)
        assert worth(swapped) >= worth(start)
        improved += worth(swapped) > worth(start) + 1e-9
        assert worth(chosen) >= worth(greedy) - 1e-12
        for found in (swapped, chosen):
            assert constraint.contains(found)
            for slot in range(len(found)):
                rest = [*found[:slot], *found[slot + 1 :]]
                for item in np.flatnonzero(constraint.extensions(rest)):
                    assert worth([*rest, int(item)]) <= worth(found) * (1 + 1e-8)
        assert (
            worth(choose_facilities(worths, weights, constraint, limit=0)) >= worth(greedy) - 1e-12
        )
    assert improved


def test_what_is_chosen_is_nearly_the_best_of_all_sets(crowd: np.random.Generator) -> None:
    sets = list(chain.from_iterable(combinations(range(ITEMS), size) for size in range(6)))
    for constraint in CONSTRAINTS:
        worths, weights = crowd.random((15, ITEMS)) ** 3, crowd.random(15)
        best = max(
            facilities(worths, weights, chosen) for chosen in sets if constraint.contains(chosen)
        )
        chosen = choose_facilities(worths, weights, constraint)
        assert facilities(worths, weights, chosen) >= 0.97 * best


def test_one_dear_item_that_is_worth_more_than_many_cheap_ones_is_found() -> None:
    bag = Knapsack((1.0, 100.0), 100.0)
    assert lazy_greedy(
        gains_by(lambda chosen: facilities(np.array([[2.0, 90.0]]), np.ones(1), chosen)), bag
    ) == [0]
    assert choose_facilities([[2.0, 90.0]], [1.0], bag) == [1]


def test_noisy_weights_below_0_are_no_trouble() -> None:
    worths = np.array([[1.0, 1.0, 0.0], [0.0, 0.5, 1.0], [0.0, 0.0, 0.9]])
    weights = np.array([1.0, 1.0, -5.0])
    assert choose_facilities(worths, weights, UniformMatroid(3, 2)) == [1, 2]
    assert choose_facilities(worths, np.zeros(3), UniformMatroid(3, 2)) == [0, 1]


@pytest.mark.parametrize(
    ("worths", "weights", "said"),
    [
        (np.ones((2, 3)), np.ones(3), "a row for each of the weights"),
        (np.ones((2, 4)), np.ones(2), "a column for each of the 3 items"),
        (np.full((2, 3), np.nan), np.ones(2), "finite"),
        (np.ones((2, 3)), np.array([1.0, np.inf]), "finite"),
    ],
)
def test_tables_that_do_not_fit_are_refused(worths: Any, weights: Any, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        choose_facilities(worths, weights, UniformMatroid(3, 1))
    with pytest.raises(ConfigError, match="limit"):
        choose_facilities(np.ones((2, 3)), np.ones(2), UniformMatroid(3, 1), limit=-1)
