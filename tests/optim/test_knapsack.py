"""If these fail, a set exceeds its budget, or leaves a budget unused."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain, combinations
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog, minimize

from discreet.arrays import Floats, Mask
from discreet.domains import Knapsack, UniformMatroid
from discreet.engine.settings import Settings
from discreet.errors import ConfigError
from discreet.optim.constraints import Constraint, Polytope, Priced, onto_budget

TEXT: Any = "two"
ITEMS = 7
SETS = list(chain.from_iterable(combinations(range(ITEMS), size) for size in range(ITEMS + 1)))


def random_bag(seed: int, rows: int) -> Knapsack:
    """Return a knapsack in which some items are free, and some cost more than the budget."""
    generator = np.random.default_rng(seed)
    costs = generator.choice([0.0, 0.1, 0.2, 0.3, 0.7, 1.5], size=(rows, ITEMS))
    costs[:, 0] = 0.3
    return Knapsack(costs if rows > 1 else costs[0], [0.6] * rows if rows > 1 else 0.6)  # type: ignore[arg-type]


BAGS = [random_bag(seed, rows) for seed in range(5) for rows in (1, 2, 3)]


every_bag = pytest.mark.parametrize("bag", BAGS, ids=repr)


def costs_of(bag: Knapsack) -> Floats:
    """Return the costs as a matrix, one row per budget."""
    return np.atleast_2d(np.array(bag.costs, dtype=np.float64))


def affordable(bag: Knapsack) -> Mask:
    """Return which items fit alone."""
    return np.asarray((costs_of(bag) <= 0.6).all(axis=0))


def feasible(bag: Knapsack) -> list[tuple[int, ...]]:
    """Return all sets that fit, by their definition."""
    costs = costs_of(bag)
    return [chosen for chosen in SETS if (costs[:, list(chosen)].sum(axis=1) <= 0.6 + 1e-12).all()]


@every_bag
def test_exactly_the_sets_that_fit_the_budgets_may_be_chosen(bag: Knapsack) -> None:
    sets = feasible(bag)
    assert [chosen for chosen in SETS if bag.contains(chosen)] == sets  # 0.1 + 0.2 + 0.3 is 0.6
    for chosen in sets:
        expected = [
            item not in chosen and tuple(sorted((*chosen, item))) in sets for item in range(ITEMS)
        ]
        assert bag.extensions(chosen).tolist() == expected
    most = max(map(len, sets))
    assert bag.rank == most if len(costs_of(bag)) == 1 else bag.rank >= most
    assert not bag.contains([0, 0])
    assert not bag.contains([ITEMS])


@every_bag
def test_the_best_set_is_worth_at_least_its_stated_share(
    bag: Knapsack, generator: np.random.Generator
) -> None:
    shares = []
    for _ in range(20):
        weights = generator.normal(size=ITEMS) * generator.choice([0.1, 1.0, 5.0], size=ITEMS)
        chosen = bag.best(weights)
        largest = max(weights[list(other)].sum() for other in feasible(bag))
        assert bag.contains(chosen)
        assert weights[chosen].sum() >= largest / (2 * len(costs_of(bag))) - 1e-12
        shares.append(weights[chosen].sum() / largest if largest else 1.0)
    assert np.mean(shares) > 0.9
    assert bag.best(np.full(ITEMS, -1.0)) == []


@every_bag
def test_the_linear_oracle_solves_the_linear_program(
    bag: Knapsack, generator: np.random.Generator
) -> None:
    fits_alone = affordable(bag)
    bounds = [(0, float(fits)) for fits in fits_alone]
    budgets = np.full(len(costs_of(bag)), 0.6)
    for _ in range(5):
        weights = generator.normal(size=ITEMS)
        vertex = bag.vertex(weights)
        reference = linprog(-weights, costs_of(bag), budgets, bounds=bounds)
        assert bag.is_inside(vertex)
        assert weights @ vertex == pytest.approx(-reference.fun, abs=1e-9)
    assert not bag.is_inside(np.full(ITEMS, -0.01))
    assert not bag.is_inside(np.full(ITEMS, 1.01))
    assert bag.is_inside(np.zeros(ITEMS))
    if not fits_alone.all():
        # No set holds these items, so no mixture does.
        assert not bag.is_inside(np.where(fits_alone, 0.0, 0.01))
    for chosen in feasible(bag):
        assert bag.is_inside(np.isin(np.arange(ITEMS), chosen).astype(float))


@pytest.mark.parametrize("bag", BAGS[::3], ids=repr)
def test_projections_are_the_nearest_points_for_one_budget(
    bag: Knapsack, generator: np.random.Generator
) -> None:
    for _ in range(6):
        point = generator.normal(size=ITEMS) * 2
        nearest = bag.project(point)
        assert bag.is_inside(nearest)
        reference = minimize(
            lambda x, point=point: ((x - point) ** 2).sum(),
            nearest * 0.9,
            jac=lambda x, point=point: 2 * (x - point),
            bounds=[(0, float(fits)) for fits in affordable(bag)],
            constraints=[{"type": "ineq", "fun": lambda x: 0.6 - costs_of(bag)[0] @ x}],
            method="SLSQP",
            options={"ftol": 1e-12},
        )
        assert nearest == pytest.approx(reference.x, abs=1e-5)


def test_a_projection_of_many_items_equals_one_by_bisection(generator: np.random.Generator) -> None:
    point = generator.normal(size=500) * 3
    costs = generator.random(500)
    tops = generator.random(500)
    low, high = 0.0, 1e3
    for _ in range(200):
        price = (low + high) / 2
        over = costs @ np.clip(point - price * costs, 0, tops) > 20.0
        low, high = (price, high) if over else (low, price)
    nearest = onto_budget(point, costs, 20.0, tops)
    assert nearest == pytest.approx(np.clip(point - high * costs, 0, tops), abs=1e-9)
    assert costs @ nearest == pytest.approx(20.0)


def test_projections_onto_several_budgets_are_refused() -> None:
    with pytest.raises(ConfigError, match="one budget only"):
        BAGS[1].project(np.zeros(ITEMS))


def test_factors_compare_gains_per_cost_and_are_at_most_1() -> None:
    bag = Knapsack((8.0, 1.0, 2.0, 4.0, 0.0, 99.0, 2.0), 10.0)
    assert bag.factors("density").tolist() == [1 / 8, 1.0, 1 / 2, 1 / 4, 1.0, 1 / 20, 1 / 2]
    # The lower quartile of 1, 2, 2, 4 and 8 is 2: items below it have no further advantage.
    assert bag.factors("quartile").tolist() == [1 / 4, 1.0, 1.0, 1 / 2, 1.0, 1 / 10, 1.0]
    assert Knapsack((0.0, 0.0), 1.0).factors("density").tolist() == [1.0, 1.0]
    with pytest.raises(ConfigError, match="price must be one of density, quartile"):
        bag.factors("free")  # type: ignore[arg-type]


def test_a_knapsack_satisfies_its_protocols() -> None:
    bag = BAGS[0]
    assert isinstance(bag, Constraint)
    assert isinstance(bag, Polytope)
    assert isinstance(bag, Priced)
    assert bag.dimension == bag.items == ITEMS


@dataclass(frozen=True, kw_only=True)
class BagSettings(Settings):
    domain: UniformMatroid | Knapsack


@pytest.mark.parametrize("bag", BAGS[:3], ids=repr)
def test_a_knapsack_is_read_back_from_toml(bag: Knapsack) -> None:
    settings = BagSettings(epsilon=1.0, delta=1e-6, domain=bag)
    again = BagSettings.from_toml(settings.to_toml())
    assert again == settings
    assert again.hash == settings.hash
    assert again.domain.rank == bag.rank


def test_a_knapsack_is_read_from_toml_with_whole_numbers() -> None:
    text = 'epsilon = 1.0\ndelta = 1e-6\n[domain]\nkind = "Knapsack"\ncosts = [3, 2]\nbudget = 4'
    assert BagSettings.from_toml(text).domain == Knapsack((3.0, 2.0), 4.0)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Knapsack((), 1.0), "items must be a whole number, between 1"),
        (lambda: Knapsack(((), ()), (1.0, 1.0)), "items"),
        (lambda: Knapsack((1.0, -0.5), 1.0), "numbers between 0 and 1e[+]150, got -0.5"),
        (lambda: Knapsack((1.0, float("nan")), 1.0), "costs must be numbers"),
        (lambda: Knapsack((1.0, float("inf")), 1.0), "costs must be numbers"),
        (lambda: Knapsack((1.0, TEXT), 1.0), r"costs\[1\]"),
        (lambda: Knapsack((1.0, (1.0, 2.0)), 1.0), "not both"),
        (lambda: Knapsack(((1.0,), (1.0, 2.0)), (1.0, 1.0)), r"equal length, got lengths \[1, 2\]"),
        (lambda: Knapsack((1.0,), 0.0), "budget must be a number"),
        (lambda: Knapsack((1.0,), -1.0), "budget must be a number"),
        (lambda: Knapsack((1.0,), float("inf")), "budget must be a number"),
        (lambda: Knapsack((1.0,), (1.0, 1.0)), "one number per row of costs, 1, got 2"),
        (lambda: Knapsack(((1.0,), (1.0,)), 1.0), "one number per row of costs, 2, got 1"),
        (lambda: Knapsack((2.0, 3.0), 1.0), "nothing can be chosen: every item costs more"),
        (lambda: Knapsack(((2.0, 0.0), (0.0, 2.0)), (1.0, 1.0)), "nothing can be chosen"),
    ],
)  # fmt: skip
def test_impossible_knapsacks_are_refused_in_one_line(
    make: Callable[[], Knapsack], message: str
) -> None:
    with pytest.raises(ConfigError, match=message) as refusal:
        make()
    assert "\n" not in str(refusal.value)


def test_extreme_costs_do_not_overflow() -> None:
    bag = Knapsack((1e150, 1e-150, 5e-151), 1e-150)
    assert bag.rank == 1
    assert bag.best(np.array([9.0, 2.0, 1.5])) == [1]
    assert bag.vertex(np.array([9.0, 1.0, 1.0])) == pytest.approx([0.0, 0.5, 1.0])
