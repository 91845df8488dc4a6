"""If these fail, fast algorithms choose something else than plain greedy would, or swaps make it worse."""

from itertools import chain, combinations
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from discreet.decide.greedy import (
    choose_clicks,
    choose_facilities,
    improved_by_swaps,
    lazy_coverage,
    lazy_facilities,
    lazy_greedy,
)
from discreet.domains import GraphicMatroid, Knapsack, LaminarMatroid, PartitionMatroid, UniformMatroid
from discreet.errors import ConfigError

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


def clicks(worths: np.ndarray, weights: np.ndarray, chosen: Any) -> float:
    return float(weights @ (1 - np.prod(1 - worths[:, list(chosen)], axis=1)))


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


@pytest.mark.parametrize("constraint", CONSTRAINTS, ids=lambda constraint: type(constraint).__name__)
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


@pytest.mark.parametrize("constraint", CONSTRAINTS, ids=lambda constraint: type(constraint).__name__)
@pytest.mark.parametrize(("value", "choose"), [(facilities, choose_facilities), (clicks, choose_clicks)])
def test_swaps_never_worsen_and_leave_no_swap_that_helps(
    constraint: Any, value: Any, choose: Any, crowd: np.random.Generator
) -> None:
    improved = 0
    for _ in range(4):
        worths, weights = crowd.random((15, ITEMS)) ** 3, crowd.random(15)

        def worth(chosen: Any, worths: Any = worths, weights: Any = weights) -> float:
            return value(worths, weights, chosen)

        start = constraint.best(-worths.sum(axis=0)) or [0]  # a bad one
        swapped = improved_by_swaps(gains_by(worth), constraint, start)
        chosen = choose(worths, weights, constraint)
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
        assert worth(choose(worths, weights, constraint, limit=0)) >= worth(greedy) - 1e-12
    assert improved


@pytest.mark.parametrize(("value", "choose"), [(facilities, choose_facilities), (clicks, choose_clicks)])
def test_what_is_chosen_is_nearly_the_best_of_all_sets(
    value: Any, choose: Any, crowd: np.random.Generator
) -> None:
    sets = list(chain.from_iterable(combinations(range(ITEMS), size) for size in range(6)))
    for constraint in CONSTRAINTS:
        worths, weights = crowd.random((15, ITEMS)) ** 3, crowd.random(15)
        best = max(value(worths, weights, chosen) for chosen in sets if constraint.contains(chosen))
        assert value(worths, weights, choose(worths, weights, constraint)) >= 0.97 * best


def test_one_dear_item_that_is_worth_more_than_many_cheap_ones_is_found() -> None:
    bag = Knapsack((1.0, 100.0), 100.0)
    assert lazy_greedy(
        gains_by(lambda chosen: facilities(np.array([[2.0, 90.0]]), np.ones(1), chosen)), bag
    ) == [0]
    assert choose_facilities([[2.0, 90.0]], [1.0], bag) == [1]
    assert choose_clicks([[0.02, 0.9]], [1.0], bag) == [1]


def test_noisy_weights_below_0_and_certain_clicks_are_no_trouble() -> None:
    worths = np.array([[1.0, 1.0, 0.0], [0.0, 0.5, 1.0], [0.0, 0.0, 0.9]])
    weights = np.array([1.0, 1.0, -5.0])
    assert choose_facilities(worths, weights, UniformMatroid(3, 2)) == [1, 2]
    assert choose_clicks(worths, weights, UniformMatroid(3, 2)) == [1, 2]
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
    for choose in (choose_facilities, choose_clicks):
        with pytest.raises(ConfigError, match=said):
            choose(worths, weights, UniformMatroid(3, 1))
    with pytest.raises(ConfigError, match="limit"):
        choose_facilities(np.ones((2, 3)), np.ones(2), UniformMatroid(3, 1), limit=-1)


# --- compiled


def test_the_compiled_facilities_are_those_of_plain_greedy(crowd: np.random.Generator) -> None:
    for rows, columns, picks in ((40, 700, 9), (30, 5, 30), (1, 1, 1)):
        table = crowd.integers(-1, 8, size=(rows, columns)).astype(float)  # exact sums, many ties
        covered, expected = np.zeros(columns), []
        for _ in range(picks):
            gains = np.maximum(table - covered, 0).sum(axis=1)
            gains[expected] = -1.0
            expected.append(int(np.argmax(gains)))
            covered = np.maximum(covered, table[expected[-1]])
        assert lazy_facilities(table, picks) == expected
    similar = crowd.random((120, 300)).astype(np.float32)
    chosen = lazy_facilities(similar, 10)
    uniform = lazy_greedy(
        gains_by(lambda s: facilities(similar.T.astype(float), np.ones(300), s)), UniformMatroid(120, 10)
    )
    assert similar[chosen].max(axis=0).sum() == pytest.approx(similar[uniform].max(axis=0).sum(), rel=1e-5)


@pytest.mark.parametrize("weighted", [False, True])
def test_the_compiled_coverage_is_that_of_plain_greedy(weighted: bool, crowd: np.random.Generator) -> None:
    covers = csr_matrix(crowd.random((60, 200)) < 0.05)
    weights = crowd.integers(0, 4, size=200).astype(float) if weighted else np.ones(200)
    left, expected = weights.copy(), []
    for _ in range(25):
        gains = covers @ left
        gains[expected] = -1.0
        expected.append(int(np.argmax(gains)))
        left[covers[expected[-1]].indices] = 0.0
    found = lazy_coverage(covers.indptr, covers.indices, 25, weights if weighted else None)
    assert found == expected


def test_items_that_cover_nothing_come_last() -> None:
    assert lazy_coverage([0, 0, 1, 1], [0], 3) == [1, 0, 2]
    assert lazy_coverage([0, 0, 0], [], 2) == [0, 1]


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: lazy_facilities(np.ones(3), 1), "must be a table"),
        (lambda: lazy_facilities(np.ones((3, 2)), 4), "picks must be a whole number, between 1 and 3, got 4"),
        (lambda: lazy_coverage([0, 1], [0], 2), "picks"),
        (lambda: lazy_coverage([0], [], 1), "starts must rise"),
        (lambda: lazy_coverage([0, 2, 1], [0], 1), "starts must rise"),
        (lambda: lazy_coverage([0, 2], [0], 1), "starts must rise"),
        (lambda: lazy_coverage([0, 1], [-1], 1), "numbered from 0"),
        (lambda: lazy_coverage([0, 1], [3], 1, np.ones(3)), "weights be one"),
        (lambda: lazy_coverage([0, 1], [0], 1, [-1.0]), "weights be one"),
    ],
)
def test_wrong_arrays_are_refused_before_a_kernel_reads_beyond_them(call: Any, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        call()
