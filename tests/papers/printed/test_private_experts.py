"""If these fail, slates are compared with an unprinted algorithm, on streams of any kind."""

from collections import defaultdict
from itertools import product
from math import exp, log, sqrt

import numpy as np
import pytest

from discreet.arrays import Integers
from discreet.budget.privacy import Privacy
from discreet.papers.printed import bandit_dp, bandit_dp_variants, fi_dp, hedge, tree_expert
from discreet.papers.printed.bandit_dp import BanditDp
from discreet.papers.printed.episode import SetValue
from discreet.papers.printed.tree_expert import TreeExpert

from .law import clicked, redrawn

pytestmark = pytest.mark.filterwarnings(
    "ignore::discreet.papers.printed.promise.PrintedNoiseWarning"
)

ITEMS, SLOTS, ROUNDS = 4, 2, 12


def clicks(row: np.ndarray) -> SetValue:
    return lambda chosen: clicked(row, tuple(chosen.tolist()))


def stream(seed: int = 0) -> list[SetValue]:
    generator = np.random.default_rng(seed)
    return [clicks(generator.random(ITEMS)) for _ in range(ROUNDS)]


def weighted(generator: np.random.Generator, sums: np.ndarray, eta: float) -> int:
    weights = np.exp(eta * (sums - sums.max()))
    return int(generator.choice(ITEMS, p=weights / weights.sum()))


def test_fi_dp_shows_the_sets_of_the_printed_box() -> None:
    functions, epsilon, delta = stream(), 500.0, 1e-6
    eta = epsilon / (SLOTS * sqrt(32 * ROUNDS * log(SLOTS / delta)))
    generator = np.random.default_rng([2, 5])
    sums, expected = np.zeros((SLOTS, ITEMS)), []
    for function in functions:
        drawn = [weighted(generator, copy, eta) for copy in sums]
        expected.append(sorted(set(drawn)))
        for slot in range(SLOTS):
            before = set(drawn[:slot])
            for item in range(ITEMS):
                with_item = function(np.array(sorted(before | {item}), dtype=np.int64))
                sums[slot, item] += with_item - function(np.array(sorted(before), dtype=np.int64))
    episode = fi_dp.play(functions, ITEMS, SLOTS, ROUNDS, epsilon, delta, noise="printed", seed=2)
    assert [shown.tolist() for shown in episode.sets] == expected


@pytest.mark.parametrize("scheme", ["printed", "every round", "presampled"])
def test_bandits_show_the_sets_of_the_printed_boxes(scheme: str) -> None:
    functions, epsilon, delta, gamma = stream(), 500.0, 1e-6, 0.4
    seeds = {"printed": [2, 6], "every round": [2, 7], "presampled": [2, 8]}
    generator = np.random.default_rng(seeds[scheme])
    draws = {"printed": 2 * gamma * ROUNDS, "every round": float(ROUNDS)}
    coins = None
    if scheme == "presampled":
        coins = generator.random(ROUNDS) < gamma
        draws[scheme] = float(coins.sum() + 1)
    eta = epsilon / (SLOTS * sqrt(32 * draws[scheme] * log(SLOTS / delta)))
    sums, expected = np.zeros((SLOTS, ITEMS)), []
    current = [weighted(generator, copy, eta) for copy in sums]
    for time, function in enumerate(functions):
        explores = bool(coins[time]) if coins is not None else generator.random() < gamma
        if explores:
            slot, item = int(generator.integers(SLOTS)), int(generator.integers(ITEMS))
            shown = sorted({*current[:slot], item})
            sums[slot, item] += function(np.array(shown, dtype=np.int64))
        else:
            shown = sorted(set(current))
        expected.append(shown)
        if explores or scheme == "every round":
            current = [weighted(generator, copy, eta) for copy in sums]
    play = {
        "printed": bandit_dp.play,
        "every round": bandit_dp_variants.play_every_round,
        "presampled": bandit_dp_variants.play_presampled,
    }[scheme]
    episode = play(
        functions, ITEMS, SLOTS, ROUNDS, epsilon, delta, noise="printed", exploration=gamma, seed=2
    )
    assert [shown.tolist() for shown in episode.sets] == expected


def test_copies_draw_first_items_independently_and_may_agree() -> None:
    firsts = [
        tuple(fi_dp.play(stream()[:1], ITEMS, SLOTS, 1, 1.0, 1e-6, seed=seed).sets[0].tolist())
        for seed in range(200)
    ]
    assert {len(first) for first in firsts} == {1, 2}


def test_an_item_of_the_prefix_gains_nothing() -> None:
    learner = fi_dp.FiDp([hedge.HedgeExpert(3, 1.0)] * 2, np.random.default_rng(0))
    gains = learner.gains(lambda chosen: len(chosen) / 3, np.array([1]))
    assert gains == pytest.approx([1 / 3, 0.0, 1 / 3])


def law_of_sets(
    functions: list[SetValue], eta: float, slots: int, items: int
) -> dict[tuple[tuple[int, ...], ...], float]:
    """Return the exact law of all draws of FI-DP."""
    states = {((), ((0.0,) * items,) * slots): 1.0}
    for function in functions:
        after: dict[object, float] = defaultdict(float)
        for (history, sums), chance in states.items():
            for slate, drawn in redrawn(sums, eta).items():
                gained = []
                for slot, copy in enumerate(sums):
                    before = np.unique(np.array(slate[:slot], dtype=np.int64))
                    here = function(before)
                    gained.append(
                        tuple(
                            old + function(np.union1d(before, [item])) - here
                            for item, old in enumerate(copy)
                        )
                    )
                after[(*history, slate), tuple(gained)] += chance * drawn
        states = dict(after)  # type: ignore[arg-type]
    law: dict[tuple[tuple[int, ...], ...], float] = defaultdict(float)
    for (history, _), chance in states.items():
        law[history] += chance
    return law


def test_fi_dp_is_as_private_as_its_verdict_states_by_enumeration() -> None:
    """Three rounds, two copies, two items; a person who wants one item now wants the other."""
    eta, rounds = 0.7, 3
    first, second = clicks(np.array([1.0, 0.0])), clicks(np.array([0.0, 1.0]))
    others = [clicks(np.array([0.4, 0.6]))] * (rounds - 1)
    one = law_of_sets([first, *others], eta, 2, 2)
    other = law_of_sets([second, *others], eta, 2, 2)
    assert sum(one.values()) == pytest.approx(1.0)
    # Two copies are drawn twice after the first person; each draw of range 2η costs (2η)²/8.
    charge = 2 * (rounds - 1) * (2 * eta) ** 2 / 8
    for alpha in (1.5, 2.0, 4.0, 16.0):
        moment = sum(one[key] ** alpha * other[key] ** (1 - alpha) for key in one)
        assert log(moment) / (alpha - 1) / alpha <= charge
    worst = max(abs(log(one[key] / other[key])) for key in one)
    assert 0.3 * 2 * (rounds - 1) * 2 * eta < worst <= 2 * (rounds - 1) * 2 * eta


def test_rates() -> None:
    rho = Privacy(1.0, 1e-6).budget.rho
    assert hedge.sound_rate(1.0, 1e-6, 101) == pytest.approx(sqrt(2 * rho / 100))
    assert fi_dp.sound_rate(1.0, 1e-6, 5, 101) == pytest.approx(sqrt(2 * rho / 500))
    assert bandit_dp.sound_rate(1.0, 1e-6, 100) == pytest.approx(sqrt(8 * rho / 100))
    assert (
        hedge.sound_rate(1.0, 0.0, 101)
        == fi_dp.sound_rate(1.0, 0.0, 1, 101)
        == pytest.approx(1 / 200)
    )
    assert bandit_dp.sound_rate(1.0, 0.0, 100) == pytest.approx(1 / 100)
    assert bandit_dp_variants.presampled_rate(2.0, 1e-6, 5, 99) == pytest.approx(
        2 / (5 * sqrt(3200 * log(5e6)))
    )
    assert hedge.sound_rate(1.0, 1e-6, 10**5) > hedge.rate(1.0, 1e-6, 10**5)


def test_bounds_by_hand() -> None:
    assert hedge.regret_bound(10, 100, 0.1) == pytest.approx(10 + log(10) / 0.1)
    assert fi_dp.regret_bound(10, 3, 100, 0.1) == pytest.approx(30 + 30 * log(10))
    assert bandit_dp.regret_bound(10, 2, 10**4, 1.0, 1e-6, 0.5) == pytest.approx(
        2 * 16 * 4 * 10 * log(10) * sqrt(10**4 * log(2e6)) / sqrt(0.5)
        + 2 * 40 * 10**4 * exp(-2 * 10**4)
        + 5000
    )
    whole = bandit_dp_variants.presampled_bound(10, 2, 10**4, 1.0, 1e-6, 0.25)
    assert whole == pytest.approx(8 * 8 * 10 * log(10) * sqrt(log(2e6)) * 200 + 2500)
    for bound, best in (
        (bandit_dp_variants.every_round_bound, bandit_dp_variants.every_round_exploration),
        (bandit_dp_variants.presampled_bound, bandit_dp_variants.presampled_exploration),
    ):
        gamma = best(10, 2, 10**12, 1.0, 1e-6)
        around = [bound(10, 2, 10**12, 1.0, 1e-6, gamma * factor) for factor in (0.9, 1.0, 1.1)]
        assert gamma < 1
        assert around[1] == min(around)


def test_sound_bandits_stop_redrawing_at_their_cap() -> None:
    learner = BanditDp(ITEMS, SLOTS, 1.0, 1.0, np.random.default_rng(1), cap=3)
    shown = []
    for _ in range(10):
        shown.append(tuple(learner.act().tolist()))
        learner.observe_value(1.0)
    assert learner.redraws == learner.explorations == 3
    assert len(set(shown[3:])) == 1


def test_presampled_rounds_and_no_others_explore() -> None:
    learner = BanditDp(
        ITEMS, SLOTS, 1.0, 0.5, np.random.default_rng(1), explore_at=np.array([1, 4])
    )
    explored = []
    for time in range(6):
        before = learner.explorations
        learner.act()
        learner.observe_value(0.5)
        explored += [time] * (learner.explorations - before)
    assert explored == [1, 4]


def test_values_beyond_one_count_as_one() -> None:
    learner = BanditDp(1, 1, 1.0, 1.0, np.random.default_rng(1))
    learner.act()
    learner.observe_value(1e9)
    assert learner.copies[0].sums.tolist() == [1.0]


def test_the_tree_expert_follows_the_projected_mean_of_its_points() -> None:
    """With negligible noise w_{t+1} minimises −⟨v, w⟩ + (H/2)Σ‖w − w_τ‖² over the simplex."""
    expert = TreeExpert(3, 8, 1e12, stiffness=0.5)
    points, total = [expert.chances], np.zeros(3)
    generator = np.random.default_rng(1)
    for _ in range(5):
        gains = generator.random(3)
        total += gains
        expert.feed(gains)

        def worth(point: np.ndarray, total: np.ndarray = total) -> float:
            return float(
                -total @ point + 0.25 * sum(((point - past) ** 2).sum() for past in points)
            )

        found = worth(expert.chances)
        grid = [
            np.array([a, b, 1 - a - b])
            for a, b in product(np.linspace(0, 1, 41), repeat=2)
            if a + b <= 1
        ]
        assert found <= min(worth(point) for point in grid) + 1e-9
        points.append(expert.chances)


def test_fi_dp_with_tree_experts_needs_no_delta_and_learns() -> None:
    functions = [clicks(np.array([0.0, 0.0, 1.0, 0.0]))] * 60
    episode = fi_dp.play(functions, ITEMS, 1, 60, 1e5, 0.0, expert="tree")
    assert episode.values[-20:].mean() > 0.9
    assert tree_expert.printed_stiffness(4, 100, 2.0) == pytest.approx(
        sqrt(4 * log(100) ** 2.5 / 200)
    )


def test_gains_of_one_person_move_tree_experts_by_at_most_the_printed_bound() -> None:
    """g and g′ in [0, 1]^n differ by at most √n, which the noise covers."""
    corners = [np.array(corner, dtype=float) for corner in product((0.0, 1.0), repeat=4)]
    farthest = max(float(np.linalg.norm(one - other)) for one in corners for other in corners)
    assert farthest == sqrt(4)


def test_adversaries_may_react_to_shown_sets() -> None:
    seen: list[int] = []

    def adversary(shown: list[Integers]) -> SetValue:
        seen.append(len(shown))
        last = shown[-1] if shown else np.zeros(0, dtype=np.int64)
        return lambda chosen: float(len(np.setdiff1d(chosen, last)) > 0)

    fi_dp.play(adversary, ITEMS, SLOTS, 10, 1.0, 1e-6)
    bandit_dp.play(adversary, ITEMS, SLOTS, 10, 1.0, 1e-6)
    assert seen == [*range(10), *range(10)]
