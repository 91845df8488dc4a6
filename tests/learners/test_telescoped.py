"""If these fail, a telescoped path tells more about somebody than it is charged for."""

from collections.abc import Callable
from itertools import permutations, product
from math import log, sqrt
from typing import Any

import numpy as np
import pytest

from discreet import ConfigError, Privacy, SetSelector
from discreet.arrivals import ClickModel, FacilityLocation
from discreet.arrivals.chains import PresentChain
from discreet.domains import Knapsack, UniformMatroid
from discreet.learners.set_selector.sampled import LEVELS
from discreet.release.gathering import HeldRows
from discreet.release.gathering.gain_path import GainPath
from discreet.release.sampled import RATE_UNIT
from discreet.release.telescoped import TelescopedPath

ORDERS = (1.05, 1.5, 2.0, 3.0, 6.0, 12.0, 25.0, 60.0, 200.0)
Person = Callable[[tuple[int, ...]], float]


def cost(here: np.ndarray, there: np.ndarray) -> float:
    """The largest D_α/α of two laws, given as logarithms, over some orders and both directions."""
    found = 0.0
    for one, two in ((here, there), (there, here)):
        for order in ORDERS:
            total = np.logaddexp.reduce(order * one + (1 - order) * two)
            found = max(found, float(total) / (order - 1) / order)
    return found


def log_law(base: dict[frozenset[int], np.ndarray], person: Person, eta: float, steps: int) -> np.ndarray:
    """Of every path of `steps` of four items: other people's scores may be anything at every set."""
    found = []
    for path in permutations(range(4), steps):
        likelihood = 0.0
        for place, item in enumerate(path):
            before = path[:place]
            left = [each for each in range(4) if each not in before]
            gains = np.array([person((*before, each)) - person(before) for each in left])
            scores = eta * (base[frozenset(before)][left] + gains)
            likelihood += float(scores[left.index(item)] - np.logaddexp.reduce(scores))
        found.append(likelihood)
    return np.array(found)


def subsets() -> list[frozenset[int]]:
    return [frozenset(np.flatnonzero(row).tolist()) for row in product((0, 1), repeat=4)]


@pytest.mark.parametrize(("rate", "steps"), [(600, 2), (600, 3), (2500, 3), (9000, 3), (2500, 4)], ids=str)
def test_no_pair_of_people_costs_more_than_the_charge(rate: int, steps: int) -> None:
    """People of three kinds beside arbitrary others, all paths enumerated."""
    generator, path = np.random.default_rng(rate + steps), TelescopedPath(rate, steps)

    def somebody(kind: int) -> Person:
        row = generator.random(4)
        liked = row < 0.5
        if kind == 0:
            return lambda chosen: float(liked[list(chosen)].any())
        if kind == 1:
            return lambda chosen: float(row[list(chosen)].max(initial=0.0))
        return lambda chosen: float(1 - np.prod(1 - row[list(chosen)]))

    for trial in range(24):
        spread = (0.0, 1.0, 3.0, 10.0)[trial % 4]
        base = {chosen: generator.normal(size=4) * spread for chosen in subsets()}
        pair = [log_law(base, somebody(int(generator.integers(3))), path.exponent, steps) for _ in range(2)]
        assert cost(*pair) <= path.charge.amount


def test_the_charge_is_nearly_reached() -> None:
    """Two people who wait for different items, beside others who make it as bad as can be found."""
    from scipy.optimize import minimize

    path = TelescopedPath(600, 2)

    def found(scores: np.ndarray) -> float:
        first, neither, mine_served, theirs_served = scores.reshape(4, 2)
        after = {0: mine_served, 1: theirs_served, 2: neither, 3: neither}
        base = {frozenset(): np.array([*first, 0.0, 0.0])}
        base |= {frozenset([item]): np.array([*pair, 0.0, 0.0]) for item, pair in after.items()}
        return cost(*(log_law(base, person, path.exponent, 2) for person in (_waits_for(0), _waits_for(1))))

    best = minimize(
        lambda scores: -found(scores), np.full(8, 5.0), method="Nelder-Mead", options={"maxfev": 400}
    )
    assert 0.98 * path.charge.amount < -best.fun <= path.charge.amount
    assert path.charge.amount < 0.64 * path.exponent**2  # k draws that are composed cost η²


def _waits_for(item: int) -> Person:
    return lambda chosen: float(item in chosen)


@pytest.mark.parametrize("prices", [[1.0, 1.0, 1.0], [0.3, 1.0, 0.7]], ids=str)
@pytest.mark.parametrize("lovers", [0, 3, 40])
def test_the_integers_that_are_drawn_from_keep_to_the_charge(prices: list[float], lovers: int) -> None:
    """The shipped gathering, with prices: all pairs of extreme rows, two draws of three items."""
    path = TelescopedPath(900, 2)
    others = np.tile([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]], (lovers, 1))

    def law(row: tuple[float, ...]) -> np.ndarray:
        rows = np.concatenate([others, [row]])
        held = HeldRows((len(rows), 4))
        people = held.empty()
        held.add(people, np.arange(len(rows)), np.concatenate([np.ones((len(rows), 1)), rows], axis=1))
        found = []
        for chosen in permutations(range(3), 2):
            walk = GainPath(people, PresentChain(FacilityLocation()), np.array(prices), LEVELS)
            walk.begin(np.ones(len(rows), dtype=bool))
            likelihood = 0.0
            for place, item in enumerate(chosen):
                scores = path.exponent * walk.scores() / LEVELS
                left = [each for each in range(3) if each not in chosen[:place]]
                likelihood += float(scores[item] - np.logaddexp.reduce(scores[left]))
                walk.take(item)
            found.append(likelihood)
        return np.array(found)

    laws = [law(row) for row in (*product((0.0, 1.0), repeat=3), (0.5, 1.0, 0.3))]
    assert max(cost(one, two) for one in laws for two in laws) <= path.charge.amount


def test_what_is_charged_falls_from_composed_draws_towards_one_draw() -> None:
    """c_k from an independent sketch (maxima over grids of probabilities), within the slack of the orders."""
    known = {1: 0.500, 2: 0.625, 3: 0.696, 5: 0.809, 8: 1.082, 10: 1.278, 15: 1.779, 20: 2.284}
    for steps, factor in known.items():
        path = TelescopedPath(500, steps)
        assert (
            factor * 0.995 <= path.charge.amount / path.exponent**2 <= min(steps / 2, factor * 1.012) + 1e-9
        )


@pytest.mark.parametrize("steps", [1, 2, 12])
@pytest.mark.parametrize("rho", [1e-5, 0.0244, 0.5])
def test_the_rate_is_the_sharpest_that_the_budget_pays_for(rho: float, steps: int) -> None:
    path = TelescopedPath.for_budget(rho, steps=steps)
    assert path.charge.amount <= rho < TelescopedPath(path.rate + 1, steps).charge.amount
    assert path.exponent >= sqrt(2 * rho / steps) - 2 / RATE_UNIT
    assert path.error(300) == pytest.approx(steps * log(300) / path.exponent)


def test_a_selector_chooses_along_a_telescoped_path() -> None:
    generator = np.random.default_rng(0)
    likes = (generator.random((3000, 6)) < [0.5, 0.1, 0.45, 0.05, 0.05, 0.05]).astype(float)
    for domain in (UniformMatroid(6, 2), Knapsack((1.0,) * 6, 2.0)):
        selector = SetSelector(
            domain, Privacy(1.0, 1e-6), function=ClickModel, method="telescoped", report=0.2, seed=1
        )
        chosen = selector.fit(likes)
        assert (sorted(chosen.items), chosen.method) == ([0, 2], "telescoped")
        assert chosen.guarantee.epsilon_spent <= 1
        assert chosen.value is not None
        assert abs(chosen.value[0] - likes[:, [0, 2]].max(axis=1).sum()) < 6 * chosen.value[1]  # α < 1e-6


def test_for_many_people_auto_prefers_it_and_without_a_delta_it_is_refused() -> None:
    def method(people: int, **privacy: Any) -> str:
        from dataclasses import replace

        selector = SetSelector(UniformMatroid(300, 10), Privacy(1.0, **privacy), function=ClickModel)
        return SetSelector.problem_for(replace(selector.settings, people=people)).method

    assert method(10**6, delta=1e-6) == "telescoped"
    assert method(10**3, delta=1e-6) == "sampled"
    assert method(10**6) == "sampled"
    pure = SetSelector(UniformMatroid(3, 2), Privacy(1.0), function=ClickModel, method="telescoped")
    with pytest.raises(ConfigError, match="need delta > 0"):
        pure.fit(np.ones((5, 3)))
    with pytest.raises(ConfigError, match="use method='sampled'"):
        TelescopedPath.for_budget(0.02, steps=1000)
