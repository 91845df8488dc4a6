"""If these fail, more is chosen than a budget pays for, or money is left lying about."""

from dataclasses import dataclass
from itertools import chain, combinations
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog, minimize

from discreet.domains import Knapsack, UniformMatroid
from discreet.engine.settings import Settings
from discreet.errors import ConfigError
from discreet.optim.constraints import Constraint, Polytope, Priced, onto_budget

ITEMS = 7
SETS = list(chain.from_iterable(combinations(range(ITEMS), size) for size in range(ITEMS + 1)))


def random_bag(seed: int, rows: int) -> Knapsack:
    """Some items free, some too dear."""
    generator = np.random.default_rng(seed)
    costs = generator.choice([0.0, 0.1, 0.2, 0.3, 0.7, 1.5], size=(rows, ITEMS))
    costs[:, 0] = 0.3
    return Knapsack(costs if rows > 1 else costs[0], [0.6] * rows if rows > 1 else 0.6)  # type: ignore[arg-type]


BAGS = [random_bag(seed, rows) for seed in range(5) for rows in (1, 2, 3)]


def costs_of(bag: Knapsack) -> np.ndarray:
    return np.atleast_2d(np.array(bag.costs))


def feasible(bag: Knapsack) -> list[tuple[int, ...]]:
    return [
        chosen
        for chosen in SETS
        if (costs_of(bag)[:, list(chosen)].sum(axis=1) <= 0.6 + 1e-12).all()
    ]


@pytest.mark.parametrize("bag", BAGS, ids=repr)
def test_exactly_what_the_budgets_pay_for_may_be_chosen(bag: Knapsack) -> None:
    sets = feasible(bag)
    assert [chosen for chosen in SETS if bag.contains(chosen)] == sets  # 0.1 + 0.2 + 0.3 is 0.6
    for chosen in sets:
        there = [
            item not in chosen and tuple(sorted((*chosen, item))) in sets for item in range(ITEMS)
        ]
        assert bag.extensions(chosen).tolist() == there
    most = max(map(len, sets))
    assert bag.rank == most if len(costs_of(bag)) == 1 else bag.rank >= most
    assert not bag.contains([0, 0])
    assert not bag.contains([ITEMS])


@pytest.mark.parametrize("bag", BAGS, ids=repr)
def test_the_best_set_found_is_worth_its_stated_part_of_the_best(
    bag: Knapsack, crowd: np.random.Generator
) -> None:
    shares = []
    for _ in range(20):
        weights = crowd.normal(size=ITEMS) * crowd.choice([0.1, 1.0, 5.0], size=ITEMS)
        found = bag.best(weights)
        best = max(weights[list(chosen)].sum() for chosen in feasible(bag))
        assert bag.contains(found)
        assert weights[found].sum() >= best / (2 * len(costs_of(bag))) - 1e-12
        shares.append(weights[found].sum() / best if best else 1.0)
    assert np.mean(shares) > 0.9
    assert bag.best(np.full(ITEMS, -1.0)) == []


@pytest.mark.parametrize("bag", BAGS, ids=repr)
def test_the_linear_oracle_solves_the_linear_program(
    bag: Knapsack, crowd: np.random.Generator
) -> None:
    tops = (costs_of(bag) <= 0.6).all(axis=0)
    bounds = [(0, float(top)) for top in tops]
    for _ in range(5):
        weights = crowd.normal(size=ITEMS)
        found = bag.vertex(weights)
        budgets = np.full(len(costs_of(bag)), 0.6)
        reference = linprog(-weights, costs_of(bag), budgets, bounds=bounds)
        assert bag.is_inside(found)
        assert weights @ found == pytest.approx(-reference.fun, abs=1e-9)
    assert not bag.is_inside(np.full(ITEMS, -0.01))
    assert not bag.is_inside(np.full(ITEMS, 1.01))
    assert bag.is_inside(np.zeros(ITEMS))
    if not tops.all():
        assert not bag.is_inside(0.01 * ~tops)  # a set never holds it, so neither does a mixture
    for chosen in feasible(bag):
        assert bag.is_inside(np.isin(np.arange(ITEMS), chosen).astype(float))


@pytest.mark.parametrize("bag", BAGS[::3], ids=repr)
def test_projections_are_the_nearest_points_for_one_budget(
    bag: Knapsack, crowd: np.random.Generator
) -> None:
    tops = (costs_of(bag)[0] <= 0.6).astype(float)
    for _ in range(6):
        point = crowd.normal(size=ITEMS) * 2
        found = bag.project(point)
        assert bag.is_inside(found)
        reference = minimize(
            lambda x, point=point: ((x - point) ** 2).sum(),
            found * 0.9,
            jac=lambda x, point=point: 2 * (x - point),
            bounds=[(0, top) for top in tops],
            constraints=[{"type": "ineq", "fun": lambda x: 0.6 - costs_of(bag)[0] @ x}],
            method="SLSQP",
            options={"ftol": 1e-12},
        )
        assert found == pytest.approx(reference.x, abs=1e-5)


def test_a_long_projection_is_where_bisection_ends(crowd: np.random.Generator) -> None:
    point, costs, tops = crowd.normal(size=500) * 3, crowd.random(500), crowd.random(500)
    low, high = 0.0, 1e3
    for _ in range(200):
        price = (low + high) / 2
        over = costs @ np.clip(point - price * costs, 0, tops) > 20.0
        low, high = (price, high) if over else (low, price)
    found = onto_budget(point, costs, 20.0, tops)
    assert found == pytest.approx(np.clip(point - high * costs, 0, tops), abs=1e-9)
    assert costs @ found == pytest.approx(20.0)


def test_several_budgets_are_not_projected_onto_and_the_refusal_says_so() -> None:
    with pytest.raises(ConfigError, match="one budget only"):
        BAGS[1].project(np.zeros(ITEMS))


def test_factors_make_gains_comparable_and_never_larger() -> None:
    bag = Knapsack((8.0, 1.0, 2.0, 4.0, 0.0, 99.0, 2.0), 10.0)
    assert bag.factors("density").tolist() == [1 / 8, 1.0, 1 / 2, 1 / 4, 1.0, 1 / 20, 1 / 2]
    # Of 1, 2, 2, 4 and 8 the lower quartile is 2: what costs less gains nothing by it.
    assert bag.factors("quartile").tolist() == [1 / 4, 1.0, 1.0, 1 / 2, 1.0, 1 / 10, 1.0]
    assert Knapsack((0.0, 0.0), 1.0).factors("density").tolist() == [1.0, 1.0]
    with pytest.raises(ConfigError, match="price must be one of density, quartile"):
        bag.factors("free")  # type: ignore[arg-type]


def test_a_knapsack_offers_what_it_can_do() -> None:
    bag = BAGS[0]
    assert isinstance(bag, Constraint)
    assert isinstance(bag, Polytope)
    assert isinstance(bag, Priced)
    assert bag.dimension == bag.items == ITEMS


@dataclass(frozen=True, kw_only=True)
class BagSettings(Settings):
    domain: UniformMatroid | Knapsack


@pytest.mark.parametrize("bag", BAGS[:3], ids=repr)
def test_a_knapsack_is_the_same_in_a_file(bag: Knapsack) -> None:
    settings = BagSettings(epsilon=1.0, delta=1e-6, domain=bag)
    again = BagSettings.from_toml(settings.to_toml())
    assert again == settings
    assert again.hash == settings.hash
    assert again.domain.rank == bag.rank


def test_a_knapsack_is_read_from_toml_with_whole_numbers() -> None:
    text = 'epsilon = 1.0\ndelta = 1e-6\n[domain]\nkind = "Knapsack"\ncosts = [3, 2]\nbudget = 4'
    assert BagSettings.from_toml(text).domain == Knapsack((3.0, 2.0), 4.0)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Knapsack((), 1.0), "items must be a whole number, between 1"),
        (lambda: Knapsack(((), ()), (1.0, 1.0)), "items"),
        (lambda: Knapsack((1.0, -0.5), 1.0), "costs must be numbers between 0 and 1e[+]150, got -0.5"),
        (lambda: Knapsack((1.0, float("nan")), 1.0), "costs must be numbers"),
        (lambda: Knapsack((1.0, float("inf")), 1.0), "costs must be numbers"),
        (lambda: Knapsack((1.0, "two"), 1.0), r"costs\[1\]"),
        (lambda: Knapsack((1.0, (1.0, 2.0)), 1.0), "not some of each"),
        (lambda: Knapsack(((1.0,), (1.0, 2.0)), (1.0, 1.0)), r"rows of equal length, got lengths \[1, 2\]"),
        (lambda: Knapsack((1.0,), 0.0), "budget must be a number"),
        (lambda: Knapsack((1.0,), -1.0), "budget must be a number"),
        (lambda: Knapsack((1.0,), float("inf")), "budget must be a number"),
        (lambda: Knapsack((1.0,), (1.0, 1.0)), "one number a row of costs, 1, got 2"),
        (lambda: Knapsack(((1.0,), (1.0,)), 1.0), "one number a row of costs, 2, got 1"),
        (lambda: Knapsack((2.0, 3.0), 1.0), "nothing can be chosen: every item is dearer"),
        (lambda: Knapsack(((2.0, 0.0), (0.0, 2.0)), (1.0, 1.0)), "nothing can be chosen"),
    ],
)  # fmt: skip
def test_what_is_no_knapsack_is_refused_in_one_line(make: Any, said: str) -> None:
    with pytest.raises(ConfigError, match=said) as refusal:
        make()
    assert "\n" not in str(refusal.value)


def test_extreme_costs_do_not_overflow() -> None:
    bag = Knapsack((1e150, 1e-150, 5e-151), 1e-150)
    assert bag.rank == 1
    assert bag.best(np.array([9.0, 2.0, 1.5])) == [1]
    assert bag.vertex(np.array([9.0, 1.0, 1.0])) == pytest.approx([0.0, 0.5, 1.0])
