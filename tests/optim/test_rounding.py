"""If these fail, sets are not drawn as often as the point says, or do not fit."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

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
from discreet.optim.rounding import rounded_knapsack, rounded_point, swap_rounded

Draw = Callable[[Any], list[int]]


class Branch(float):
    """A toss that falls as a script says, and remembers how likely that was."""

    coin: "ScriptedCoin"

    def __lt__(self, chance: float) -> bool:
        return self.coin.falls(float(chance))


class ScriptedCoin:
    """Every toss of a draw follows the script, then goes on with True."""

    def __init__(self, script: list[bool]) -> None:
        self.script, self.tossed, self.probability = script, list[bool](), 1.0

    def uniform(self) -> float:
        toss = Branch(0.0)
        toss.coin = self
        return toss

    def falls(self, chance: float) -> bool:
        fallen = self.script[len(self.tossed)] if len(self.tossed) < len(self.script) else True
        self.tossed.append(fallen)
        self.probability *= chance if fallen else 1 - chance
        return fallen


def law(draw: Draw) -> dict[tuple[int, ...], float]:
    """The exact law of what is drawn: every way in which the tosses can fall."""
    found: dict[tuple[int, ...], float] = {}
    scripts: list[list[bool]] = [[]]
    while scripts:
        script = scripts.pop()
        coin = ScriptedCoin(script)
        chosen = tuple(draw(coin))
        found[chosen] = found.get(chosen, 0.0) + coin.probability
        scripts += [[*coin.tossed[:place], False] for place in range(len(script), len(coin.tossed))]
    assert sum(found.values()) == pytest.approx(1.0)
    return found


def marginals(drawn: dict[tuple[int, ...], float], items: int) -> np.ndarray:
    return sum(chance * np.isin(np.arange(items), chosen) for chosen, chance in drawn.items())  # type: ignore[return-value]


def clicks(chosen: Any, chances: np.ndarray) -> float:
    """A submodular value: the chance of any click, averaged over cells."""
    return float(np.mean(1 - np.prod(1 - chances[:, list(chosen)], axis=1)))


def independent_clicks(point: np.ndarray, chances: np.ndarray) -> float:
    """Its expectation if every item were chosen independently."""
    return float(np.mean(1 - np.prod(1 - chances * point, axis=1)))


SWAPPED: list[Any] = [
    UniformMatroid(5, 2),
    PartitionMatroid((0, 0, 0, 1, 1), (2, 1)),
    LaminarMatroid(((0, 1, 2, 3), (0, 1), (2, 3)), (3, 2, 2), 5),
    GraphicMatroid(((0, 1), (1, 2), (2, 0), (2, 3), (3, 0))),
    OracleMatroid(5, lambda chosen: len(chosen) <= 3 and not {0, 1, 2} <= set(chosen)),
]


@pytest.mark.parametrize("matroid", SWAPPED, ids=lambda matroid: type(matroid).__name__)
def test_swap_rounding_draws_bases_with_exactly_the_given_marginals(
    matroid: Any, crowd: np.random.Generator
) -> None:
    chances = crowd.random((4, 5))
    for _ in range(5):
        bases = [matroid.best(crowd.normal(size=5)) for _ in range(3)]
        weights = crowd.dirichlet(np.ones(3)).tolist()
        drawn = law(
            lambda coin, bases=bases, weights=weights: swap_rounded(matroid, bases, weights, coin)
        )
        point = sum(w * np.isin(np.arange(5), b) for b, w in zip(bases, weights, strict=True))
        assert all(matroid.contains(chosen) and len(chosen) == matroid.rank for chosen in drawn)
        assert marginals(drawn, 5) == pytest.approx(point)
        value = sum(chance * clicks(chosen, chances) for chosen, chance in drawn.items())
        assert value >= independent_clicks(point, chances) - 1e-12


def test_swap_rounding_of_one_basis_or_of_weights_of_0_tosses_nothing() -> None:
    matroid = UniformMatroid(5, 2)
    assert law(lambda coin: swap_rounded(matroid, [[3, 1]], [1.0], coin)) == {(1, 3): 1.0}
    assert law(lambda coin: swap_rounded(matroid, [[0, 1], [2, 3]], [0.0, 1.0], coin)) == {
        (2, 3): 1.0
    }


@pytest.mark.parametrize(
    ("bases", "weights", "said"),
    [
        ([[0, 1]], [0.5], "add up to 1"),
        ([[0, 1]], [0.5, 0.5], "one a basis"),
        ([], [], "one a basis"),
        ([[0, 1], [1, 2]], [1.5, -0.5], "not negative"),
        ([[0, 1], [1]], [0.5, 0.5], "feasible sets of 2 items"),
        ([[0, 1], [1, 7]], [0.5, 0.5], "feasible sets of 2 items"),
    ],
)
def test_what_is_no_mixture_of_bases_is_refused(bases: Any, weights: Any, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        swap_rounded(UniformMatroid(5, 2), bases, weights, Coin(bytes(16), 0))


def test_what_is_no_matroid_is_noticed_when_no_partner_is_found() -> None:
    wrong = OracleMatroid(4, lambda chosen: set(chosen) <= {0, 1} or set(chosen) <= {2, 3})
    with pytest.raises(ConfigError, match="no bases of a matroid"):
        swap_rounded(wrong, [[0, 1], [2, 3]], [0.5, 0.5], Coin(bytes(16), 0))


POINTS: list[tuple[Any, np.ndarray]] = [
    (UniformMatroid(5, 2), np.array([0.3, 0.7, 0.2, 0.8, 0.0])),
    (UniformMatroid(5, 3), np.array([0.3, 0.7, 0.25, 0.85, 0.1])),  # adds up to 2.2
    (UniformMatroid(5, 2), np.array([1.0, 0.0, 1.0, 0.0, 0.0])),
    (PartitionMatroid((0, 1, 0, 1, 0), (1, 1)), np.array([0.5, 0.25, 0.3, 0.5, 0.2])),
]


@pytest.mark.parametrize(("matroid", "point"), POINTS)
def test_rounding_keeps_marginals_and_the_number_of_items(
    matroid: Any, point: np.ndarray, crowd: np.random.Generator
) -> None:
    drawn = law(lambda coin: rounded_point(matroid, point, coin))
    assert marginals(drawn, 5) == pytest.approx(point)
    for chosen in drawn:
        assert matroid.contains(chosen)
        for part, _ in matroid.parts:
            inside = len({*part.tolist()} & {*chosen})
            assert np.floor(point[part].sum() + 1e-9) <= inside <= np.ceil(point[part].sum() - 1e-9)
    chances = crowd.random((4, 5))
    value = sum(chance * clicks(chosen, chances) for chosen, chance in drawn.items())
    assert value >= independent_clicks(point, chances) - 1e-12


NESTED = LaminarMatroid(((0, 1, 2, 3), (0, 1)), (2, 1), 6)
WITHOUT_QUOTAS: list[tuple[Any, np.ndarray]] = [
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


@pytest.mark.parametrize(("matroid", "point"), WITHOUT_QUOTAS)
def test_rounding_keeps_marginals_and_fits_in_every_matroid(
    matroid: Any, point: np.ndarray, crowd: np.random.Generator
) -> None:
    drawn = law(lambda coin: rounded_point(matroid, point, coin))
    assert marginals(drawn, len(point)) == pytest.approx(point)
    assert all(matroid.contains(chosen) for chosen in drawn)
    chances = crowd.random((4, len(point)))
    value = sum(chance * clicks(chosen, chances) for chosen, chance in drawn.items())
    assert value >= independent_clicks(point, chances) - 1e-9


def test_nested_quotas_are_met_by_sums_rounded_up_or_down() -> None:
    for chosen in law(lambda coin: rounded_point(NESTED, WITHOUT_QUOTAS[0][1], coin)):
        assert len({0, 1, 2, 3} & {*chosen}) in (1, 2)  # of 1.6
        assert len({0, 1} & {*chosen}) in (0, 1)  # of 0.75


def test_a_quota_holds_although_the_point_is_over_it_by_a_rounding_error() -> None:
    point = np.array([0.5 + 4e-10, 0.5 + 4e-10, 1.0])
    assert all(
        len(chosen) == 2
        for chosen in law(lambda coin: rounded_point(UniformMatroid(3, 2), point, coin))
    )


ROWS = np.array([[0.3, 0.7, 0.2, 0.0, 0.6], [0.5, 0.1, 0.0, 0.0, 0.4]])


@pytest.mark.parametrize("rows", [1, 2])
def test_knapsack_rounding_fits_and_loses_fewer_items_than_there_are_budgets(
    rows: int, crowd: np.random.Generator
) -> None:
    bag = Knapsack(ROWS if rows > 1 else ROWS[0], (1.0, 1.0) if rows > 1 else 1.0)  # type: ignore[arg-type]
    chances = crowd.random((4, 5))
    for _ in range(6):
        point = np.mean([bag.vertex(crowd.random(5)) for _ in range(4)], axis=0)
        drawn = law(lambda coin, point=point: rounded_knapsack(bag, point, coin))
        assert all(bag.contains(chosen) for chosen in drawn)
        found = marginals(drawn, 5)
        assert (found <= point + 1e-9).all()
        assert (point - found).sum() < rows
        assert found[3] == pytest.approx(point[3])  # what is free always fits
        if (
            rows == 1
        ):  # with room for the dearest item nothing is lost, nor what submodularity promises
            lower = point * 0.3
            drawn = law(lambda coin, lower=lower: rounded_knapsack(bag, lower, coin))
            assert marginals(drawn, 5) == pytest.approx(lower)
            value = sum(chance * clicks(chosen, chances) for chosen, chance in drawn.items())
            assert value >= independent_clicks(lower, chances) - 1e-12


@pytest.mark.parametrize(
    "draw",
    [
        lambda coin: rounded_point(UniformMatroid(3, 1), np.ones(3), coin),
        lambda coin: rounded_point(UniformMatroid(3, 1), np.zeros(2), coin),
        lambda coin: rounded_point(UniformMatroid(3, 1), np.array([np.nan, 0.0, 0.0]), coin),
        lambda coin: rounded_knapsack(Knapsack((1.0, 1.0), 1.0), np.ones(2), coin),
    ],
)
def test_points_outside_are_refused(draw: Draw) -> None:
    with pytest.raises(ConfigError, match="only points of the domain"):
        draw(Coin(bytes(16), 0))


@pytest.mark.statistical
def test_public_coins_draw_the_same_set_everywhere_and_each_item_as_often_as_it_should_be() -> None:
    """Four standard deviations for each of eight items: α = 5e-4. Catches a share that is wrong
    by 0.05.
    """
    matroid = UniformMatroid(8, 3)
    point = np.array([0.9, 0.1, 0.4, 0.6, 0.25, 0.35, 0.3, 0.1])
    key, rounds = b"sixteen byte key", 2000
    drawn = [rounded_point(matroid, point, Coin(key, number)) for number in range(rounds)]
    assert drawn[:20] == [rounded_point(matroid, point, Coin(key, number)) for number in range(20)]
    shares = np.mean([np.isin(np.arange(8), chosen) for chosen in drawn], axis=0)
    assert (np.abs(shares - point) < 4 * np.sqrt(point * (1 - point) / rounds)).all()
