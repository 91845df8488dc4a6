"""If these fail, items are not drawn with the probabilities of the point, or sets do not fit."""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import pytest

from discreet.arrays import Floats
from discreet.domains import (
    GraphicMatroid,
    Knapsack,
    LaminarMatroid,
    OracleMatroid,
    PartitionMatroid,
    UniformMatroid,
)
from discreet.engine.coins import Coin
from discreet.errors import ConfigError
from discreet.optim.rounding import (
    Matroid,
    UniformCoin,
    rounded_knapsack,
    rounded_point,
    swap_rounded,
)

Draw = Callable[[UniformCoin], list[int]]
Law = dict[tuple[int, ...], float]
"""The probability of each drawn set."""


class Branch(float):
    """A toss with a scripted outcome, which reports the probability of that outcome to its coin."""

    coin: "ScriptedCoin"

    def __lt__(self, chance: float) -> bool:
        return self.coin.falls(float(chance))


class ScriptedCoin:
    """A coin whose tosses follow the script, and are True afterwards."""

    def __init__(self, script: list[bool]) -> None:
        self.script = script
        self.tossed: list[bool] = []
        self.probability = 1.0

    def uniform(self) -> float:
        toss = Branch(0.0)
        toss.coin = self
        return toss

    def falls(self, probability: float) -> bool:
        """Return the scripted outcome, and multiply in its probability."""
        place = len(self.tossed)
        outcome = self.script[place] if place < len(self.script) else True
        self.tossed.append(outcome)
        self.probability *= probability if outcome else 1 - probability
        return outcome


def law(draw: Draw) -> Law:
    """Return the exact law of the drawn set, by enumeration of all outcomes of the tosses."""
    drawn: Law = {}
    scripts: list[list[bool]] = [[]]
    while scripts:
        script = scripts.pop()
        coin = ScriptedCoin(script)
        chosen = tuple(draw(coin))
        drawn[chosen] = drawn.get(chosen, 0.0) + coin.probability
        scripts += [[*coin.tossed[:place], False] for place in range(len(script), len(coin.tossed))]
    assert sum(drawn.values()) == pytest.approx(1.0)
    return drawn


def marginals(drawn: Law, items: int) -> Floats:
    """Return the probability that each item is drawn."""
    total = np.zeros(items)
    for chosen, probability in drawn.items():
        total += probability * np.isin(np.arange(items), chosen)
    return total


def clicks(chosen: Sequence[int], chances: Floats) -> float:
    """Return a submodular value: the probability of a click, averaged over cells."""
    return float(np.mean(1 - np.prod(1 - chances[:, list(chosen)], axis=1)))


def expected_clicks(drawn: Law, chances: Floats) -> float:
    """Return the expected value of the drawn set."""
    return sum(probability * clicks(chosen, chances) for chosen, probability in drawn.items())


def independent_clicks(point: Floats, chances: Floats) -> float:
    """Return the expected value if every item were chosen independently."""
    return float(np.mean(1 - np.prod(1 - chances * point, axis=1)))


SWAPPED: list[Matroid] = [
    UniformMatroid(5, 2),
    PartitionMatroid((0, 0, 0, 1, 1), (2, 1)),
    LaminarMatroid(((0, 1, 2, 3), (0, 1), (2, 3)), (3, 2, 2), 5),
    GraphicMatroid(((0, 1), (1, 2), (2, 0), (2, 3), (3, 0))),
    OracleMatroid(5, lambda chosen: len(chosen) <= 3 and not {0, 1, 2} <= set(chosen)),
]


@pytest.mark.parametrize("matroid", SWAPPED, ids=lambda matroid: type(matroid).__name__)
def test_swap_rounding_draws_bases_with_exactly_the_given_marginals(
    matroid: Matroid, generator: np.random.Generator
) -> None:
    chances = generator.random((4, 5))
    for _ in range(5):
        bases = [matroid.best(generator.normal(size=5)) for _ in range(3)]
        weights = generator.dirichlet(np.ones(3)).tolist()
        point = np.zeros(5)
        for basis, weight in zip(bases, weights, strict=True):
            point[basis] += weight

        drawn = law(partial(swap_rounded, matroid, bases, weights))

        assert all(matroid.contains(chosen) and len(chosen) == matroid.rank for chosen in drawn)
        assert marginals(drawn, 5) == pytest.approx(point)
        assert expected_clicks(drawn, chances) >= independent_clicks(point, chances) - 1e-12


def test_swap_rounding_of_one_basis_or_of_weights_of_0_needs_no_toss() -> None:
    matroid = UniformMatroid(5, 2)
    of_one = law(partial(swap_rounded, matroid, [[3, 1]], [1.0]))
    of_zero = law(partial(swap_rounded, matroid, [[0, 1], [2, 3]], [0.0, 1.0]))
    assert of_one == {(1, 3): 1.0}
    assert of_zero == {(2, 3): 1.0}


@pytest.mark.parametrize(
    ("bases", "weights", "message"),
    [
        ([[0, 1]], [0.5], "add up to 1"),
        ([[0, 1]], [0.5, 0.5], "one per basis"),
        ([], [], "one per basis"),
        ([[0, 1], [1, 2]], [1.5, -0.5], "not negative"),
        ([[0, 1], [1]], [0.5, 0.5], "feasible sets of 2 items"),
        ([[0, 1], [1, 7]], [0.5, 0.5], "feasible sets of 2 items"),
    ],
)
def test_wrong_mixtures_of_bases_are_refused(
    bases: list[list[int]], weights: list[float], message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        swap_rounded(UniformMatroid(5, 2), bases, weights, Coin(bytes(16), 0))


def test_an_oracle_of_no_matroid_is_refused_when_no_partner_is_found() -> None:
    wrong = OracleMatroid(4, lambda chosen: set(chosen) <= {0, 1} or set(chosen) <= {2, 3})
    with pytest.raises(ConfigError, match="no bases of a matroid"):
        swap_rounded(wrong, [[0, 1], [2, 3]], [0.5, 0.5], Coin(bytes(16), 0))


POINTS: list[tuple[UniformMatroid | PartitionMatroid, Floats]] = [
    (UniformMatroid(5, 2), np.array([0.3, 0.7, 0.2, 0.8, 0.0])),
    (UniformMatroid(5, 3), np.array([0.3, 0.7, 0.25, 0.85, 0.1])),  # adds up to 2.2
    (UniformMatroid(5, 2), np.array([1.0, 0.0, 1.0, 0.0, 0.0])),
    (PartitionMatroid((0, 1, 0, 1, 0), (1, 1)), np.array([0.5, 0.25, 0.3, 0.5, 0.2])),
]


@pytest.mark.parametrize(("matroid", "point"), POINTS)
def test_rounding_preserves_marginals_and_the_number_of_items_per_group(
    matroid: UniformMatroid | PartitionMatroid, point: Floats, generator: np.random.Generator
) -> None:
    drawn = law(partial(rounded_point, matroid, point))
    assert marginals(drawn, 5) == pytest.approx(point)
    for chosen in drawn:
        assert matroid.contains(chosen)
        for part, _ in matroid.parts:
            count = len({*part.tolist()} & {*chosen})
            expected = point[part].sum()
            assert np.floor(expected + 1e-9) <= count <= np.ceil(expected - 1e-9)
    chances = generator.random((4, 5))
    assert expected_clicks(drawn, chances) >= independent_clicks(point, chances) - 1e-12


NESTED = LaminarMatroid(((0, 1, 2, 3), (0, 1)), (2, 1), 6)
POINTS_OF_OTHERS: list[tuple[Matroid, Floats]] = [
    (NESTED, np.array([0.3, 0.45, 0.5, 0.35, 0.2, 0.9])),
    (NESTED, np.array([0.5, 0.5, 0.75, 0.25, 0.0, 1.0])),
    (GraphicMatroid(((0, 1), (1, 2), (2, 0), (2, 3), (3, 3))), np.array([0.6, 0.5, 0.4, 0.3, 0.0])),
    (GraphicMatroid(((0, 1), (1, 2), (2, 0), (2, 3), (3, 0))), np.array([0.8, 0.7, 0.5, 0.5, 0.5])),
    (
        OracleMatroid(4, lambda chosen: len(chosen) <= 2 and chosen != [0, 1]),
        np.array([0.4, 0.5, 0.5, 0.6]),
    ),
    (OracleMatroid(3, lambda chosen: len(chosen) <= 1), np.zeros(3)),
]


@pytest.mark.parametrize(("matroid", "point"), POINTS_OF_OTHERS)
def test_rounding_preserves_marginals_and_is_feasible_in_every_matroid(
    matroid: Matroid, point: Floats, generator: np.random.Generator
) -> None:
    drawn = law(partial(rounded_point, matroid, point))
    assert marginals(drawn, len(point)) == pytest.approx(point)
    assert all(matroid.contains(chosen) for chosen in drawn)
    chances = generator.random((4, len(point)))
    assert expected_clicks(drawn, chances) >= independent_clicks(point, chances) - 1e-9


def test_nested_sets_hold_their_sums_rounded_up_or_down() -> None:
    for chosen in law(partial(rounded_point, NESTED, POINTS_OF_OTHERS[0][1])):
        assert len({0, 1, 2, 3} & {*chosen}) in (1, 2)  # the sum is 1.6
        assert len({0, 1} & {*chosen}) in (0, 1)  # the sum is 0.75


def test_a_quota_holds_although_the_point_is_over_it_by_a_rounding_error() -> None:
    point = np.array([0.5 + 4e-10, 0.5 + 4e-10, 1.0])
    drawn = law(partial(rounded_point, UniformMatroid(3, 2), point))
    assert all(len(chosen) == 2 for chosen in drawn)


COSTS = (0.3, 0.7, 0.2, 0.0, 0.6)
BAGS = {
    1: Knapsack(COSTS, 1.0),
    2: Knapsack((COSTS, (0.5, 0.1, 0.0, 0.0, 0.4)), (1.0, 1.0)),
}
"""Knapsacks by their number of budgets."""


@pytest.mark.parametrize("rows", [1, 2])
def test_knapsack_rounding_fits_and_loses_fewer_items_than_there_are_budgets(
    rows: int, generator: np.random.Generator
) -> None:
    bag = BAGS[rows]
    for _ in range(6):
        point = np.mean([bag.vertex(generator.random(5)) for _ in range(4)], axis=0)
        drawn = law(partial(rounded_knapsack, bag, point))
        assert all(bag.contains(chosen) for chosen in drawn)
        shares = marginals(drawn, 5)
        assert (shares <= point + 1e-9).all()
        assert (point - shares).sum() < rows
        assert shares[3] == pytest.approx(point[3])  # a free item always fits


def test_knapsack_rounding_loses_nothing_with_room_for_the_largest_item(
    generator: np.random.Generator,
) -> None:
    bag = BAGS[1]
    chances = generator.random((4, 5))
    for _ in range(6):
        point = np.mean([bag.vertex(generator.random(5)) for _ in range(4)], axis=0) * 0.3
        drawn = law(partial(rounded_knapsack, bag, point))
        assert marginals(drawn, 5) == pytest.approx(point)
        assert expected_clicks(drawn, chances) >= independent_clicks(point, chances) - 1e-12


@pytest.mark.parametrize(
    "draw",
    [
        lambda coin: rounded_point(UniformMatroid(3, 1), np.ones(3), coin),
        lambda coin: rounded_point(UniformMatroid(3, 1), np.zeros(2), coin),
        lambda coin: rounded_point(UniformMatroid(3, 1), np.array([np.nan, 0.0, 0.0]), coin),
        lambda coin: rounded_knapsack(Knapsack((1.0, 1.0), 1.0), np.ones(2), coin),
    ],
)
def test_points_outside_the_domain_are_refused(draw: Draw) -> None:
    with pytest.raises(ConfigError, match="only points of the domain"):
        draw(Coin(bytes(16), 0))


@pytest.mark.statistical
def test_public_coins_draw_a_reproducible_set_with_the_right_marginals() -> None:
    """Four standard deviations for each of eight items: α = 5e-4.

    The test catches a probability that is wrong by 0.05.
    """
    matroid = UniformMatroid(8, 3)
    point = np.array([0.9, 0.1, 0.4, 0.6, 0.25, 0.35, 0.3, 0.1])
    key, rounds = b"sixteen byte key", 2000
    drawn = [rounded_point(matroid, point, Coin(key, number)) for number in range(rounds)]
    assert drawn[:20] == [rounded_point(matroid, point, Coin(key, number)) for number in range(20)]
    shares = np.mean([np.isin(np.arange(8), chosen) for chosen in drawn], axis=0)
    assert (np.abs(shares - point) < 4 * np.sqrt(point * (1 - point) / rounds)).all()
