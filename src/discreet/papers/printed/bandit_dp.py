"""BanditDP as printed: slates with bandit feedback, by k experts redrawn after explorations.

    draw a first set S = {a_1, …, a_k}, one item from each copy
    in round t = 1 … T, with probability γ, explore:
        choose a copy i and an item a uniformly, show {a_1, …, a_{i−1}, a} and see the reward
        copy i adds the reward to its sum of a
        every copy draws again, an item with probability ∝ exp(η · its sum)
    else show S once more, and learn nothing

In `run` a reward is 1 if the visitor clicks a shown item, and else 0.

Symbols     η the rate, γ the exploration, k the slots, n = |U| the items, T the horizon
Printed     γ = k((16 n ln n)²/T)^(1/3), clipped to 1 here; η = ε/(k√(64 γ T ln(k/δ))): each copy is
            one of discreet/papers/printed/hedge.py at (ε/k, δ/k) with 2γT draws. The probability of
            more than 2γT redraws is at most e^(−2γ²T) by Hoeffding's inequality, where the text has
            e^(−8γ²T); with the printed γ, γ²T ≥ 62·k²T^(1/3), Theorem 7's δ holds either way
Verdict     private as printed, with more noise than needed (ε = 0.011 where 1 is claimed): with
            γ = 1, as in all practice, there are at most T < 2γT redraws
Sound       after ⌈2γT⌉ redraws the set is frozen and learning ends (`cap`); η is the largest that
            (ε, δ) allows: a person changes one sum of one copy, so a draw has range η
Runtime     O(k log n) per round, O(n) per reward; memory O(k·n)
References  Perez-Salazar, Cummings (2021), "Differentially Private Online Submodular Maximization",
            Algorithm 3; its Appendices B.1 and B.2 are
            discreet/papers/printed/bandit_dp_variants.py
"""

from collections.abc import Callable
from functools import cache
from math import ceil, exp, inf, log, sqrt
from typing import NamedTuple

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.budget.conversion import epsilon_of
from discreet.compiled import compiled
from discreet.papers.printed import hedge
from discreet.papers.printed.arguments import checked
from discreet.papers.printed.episode import Arrivals, Episode, meet
from discreet.papers.printed.hedge import HedgeExpert, draw, weigh
from discreet.papers.printed.pieces import PIECES, run_in_pieces
from discreet.papers.printed.promise import Noise, promise
from discreet.papers.printed.verdict import Verdict
from discreet.progress import Report
from discreet.simulate.problems.display import Run, World


def printed_exploration(items: int, slots: int, horizon: int) -> float:
    """Return the printed γ = k((16 n ln n)²/T)^(1/3), at most 1.

    With 100 items and 5 slots it is 1 until T ≈ 7·10⁹.

    >>> printed_exploration(100, 5, 10**6)
    1.0
    >>> round(printed_exploration(100, 5, 10**11), 2)
    0.41
    """
    return float(min(1.0, slots * ((16 * items * log(max(items, 2))) ** 2 / horizon) ** (1 / 3)))


def rate(epsilon: float, delta: float, slots: int, horizon: int, exploration: float) -> float:
    """Return the printed η = ε/(k√(64 γ T ln(k/δ))).

    >>> f"{rate(1.0, 1e-6, 5, 100_000, exploration=1.0):.7f}"
    '0.0000201'
    """
    return hedge.rate(epsilon / slots, delta / slots, 2 * exploration * horizon)


def most_redraws(horizon: int, exploration: float) -> int:
    """Return the number of redraws, ⌈2γT⌉, after which sound runs freeze the set.

    It is at most T − 1: a redraw after the last round would not be seen.

    >>> most_redraws(1000, 0.1), most_redraws(1000, 1.0)
    (200, 999)
    """
    return min(horizon - 1, ceil(2 * exploration * horizon))


def sound_rate(epsilon: float, delta: float, redraws: int) -> float:
    """Return the largest η that (ε, δ) allows for this number of redraws per copy.

    A person feeds one sum of one copy, so only the redraws of that copy depend on them: R redraws
    cost R·η²/8 of zCDP. The first draw of a copy does not depend on data.

    >>> f"{sound_rate(1.0, 1e-6, 100_000):.5f}"
    '0.00140'
    """
    return 2 * hedge.sound_rate(epsilon, delta, redraws + 1)


@cache
def epsilon_spent(redraws: int, eta: float, delta: float) -> float:
    """Return the ε of this number of redraws at rate η, at this δ; a person is in one copy's sums.

    >>> f"{epsilon_spent(100_000, rate(1.0, 1e-6, 5, 100_000, exploration=1.0), 1e-6):.3f}"
    '0.011'
    """
    return epsilon_of(redraws * eta**2 / 8, delta)


def calibrated(
    noise: Noise, epsilon: float, delta: float, redraws: int, printed_rate: Callable[[], float]
) -> tuple[float, str]:
    """Return the rate and its guarantee for at most this number of redraws per copy.

    >>> calibrated("sound", 1.0, 0.0, 100, lambda: 0.001)
    (0.01, 'sound noise: DP with ε = 1 (simulated: seeded, in floating point)')
    """
    eta = printed_rate() if noise == "printed" else sound_rate(epsilon, delta, redraws)
    return eta, promise(noise, epsilon, delta, lambda: epsilon_spent(redraws, eta, delta))


def regret_bound(
    items: int, slots: int, horizon: int, epsilon: float, delta: float, exploration: float
) -> float:
    """Regret bound k·E[r_i] + γT of Lemmas 2 and 3, as in the proof of Theorem 8.

    It contains the e^(−8γ²T) of the text; the largest possible regret is T.

    >>> bound = regret_bound(100, 5, 10**6, 1.0, 1e-6, 1.0)
    >>> bound > 10**6
    True
    """
    gamma = exploration
    learning = (
        slots**2 * items * log(items) * sqrt(horizon * log(slots / delta)) / (epsilon * sqrt(gamma))
    )
    unlucky = slots * items / gamma * horizon * exp(-8 * gamma**2 * horizon)
    return slots * (16 * learning + unlucky) + gamma * horizon


VERDICT = Verdict(
    private=True,
    text="even redraws in all rounds cost ε²/(512 k²γ ln(k/δ)) of zCDP: within the claim for γ ≥ "
    "0.006",
    epsilon=epsilon_spent(100_000, rate(1.0, 1e-6, 5, 100_000, exploration=1.0), 1e-6),
)


class BanditDp:
    """BanditDP, one round at a time: `act` returns a set, `observe_value` takes its value.

    Each round draws its own coin, so that memory is O(k·n), unless `explore_at` names the rounds
    that explore (Appendix B.2). `redraws_always` redraws after every round (Appendix B.1). After
    `cap` redraws the set is frozen.

    >>> learner = BanditDp(3, 1, 50.0, 1.0, np.random.default_rng(1))
    >>> for _ in range(30):
    ...     learner.observe_value(float(2 in learner.act()))
    >>> learner.copies[0].chances.round(2)
    array([0., 0., 1.])
    """

    def __init__(
        self,
        items: int,
        slots: int,
        eta: float,
        exploration: float,
        generator: np.random.Generator,
        *,
        redraws_always: bool = False,
        explore_at: Integers | None = None,
        cap: int | None = None,
    ) -> None:
        self.copies = [HedgeExpert(items, eta) for _ in range(slots)]
        self.explorations = 0
        self.redraws = 0
        self._items = items
        self._exploration = exploration
        self._generator = generator
        self._always = redraws_always
        self._explore_at = None if explore_at is None else set(explore_at.tolist())
        self._cap = inf if cap is None else cap
        self._round = 0
        self._tried: tuple[int, int] | None = None
        self._set = self._drawn()

    def act(self) -> Integers:
        """Return the current set, or an exploration: its first items and one drawn uniformly."""
        self._tried = None
        if self._explores() and self.redraws < self._cap:
            slot = int(self._generator.integers(len(self.copies)))
            item = int(self._generator.integers(self._items))
            self._tried = (slot, item)
            self.explorations += 1
            return np.append(self._set[:slot], item)
        return self._set

    def observe_value(self, value: float) -> None:
        """Take the value of the shown set; if the round explored, feed it to that copy."""
        if self._tried is not None:
            slot, item = self._tried
            self.copies[slot].sums[item] += min(1.0, max(0.0, value))
        if self._tried is not None or (self._always and self.redraws < self._cap):
            self._set = self._drawn()
            self.redraws += 1
        self._round += 1

    def _explores(self) -> bool:
        if self._explore_at is not None:
            return self._round in self._explore_at
        return bool(self._generator.random() < self._exploration)

    def _drawn(self) -> Integers:
        return np.array([copy.draw(self._generator) for copy in self.copies], dtype=np.int64)


@checked
def play(
    arrivals: Arrivals,
    items: int,
    slots: int,
    horizon: int,
    epsilon: float,
    delta: float,
    *,
    noise: Noise = "sound",
    exploration: float | None = None,
    bound: float = 1.0,
    seed: int = 0,
) -> Episode:
    """Run BanditDP on a stream of set functions with values in [0, `bound`], fixed or adaptive.

    >>> stream = [lambda chosen: float(2 in chosen)] * 50
    >>> episode = play(stream, 4, 2, 50, 1.0, 1e-6, exploration=0.5)
    >>> len(episode.sets), max(len(shown) for shown in episode.sets)
    (50, 2)
    """
    plan = _plan(noise, items, slots, horizon, epsilon, delta, exploration)
    generator = np.random.default_rng([seed, 6])
    learner = BanditDp(items, slots, plan.rate, plan.exploration, generator, cap=plan.cap)
    return meet(learner, arrivals, horizon, plan.guarantee, bound=bound)


class _Plan(NamedTuple):
    """Constants of a run and its guarantee."""

    exploration: float
    """γ"""
    rate: float
    """η"""
    cap: int
    """Largest number of redraws."""
    guarantee: str


def _plan(
    noise: Noise,
    items: int,
    slots: int,
    horizon: int,
    epsilon: float,
    delta: float,
    exploration: float | None,
) -> _Plan:
    """Return γ, η, the largest number of redraws, and their guarantee."""
    gamma = printed_exploration(items, slots, horizon) if exploration is None else exploration
    cap = horizon if noise == "printed" else most_redraws(horizon, gamma)
    eta, guarantee = calibrated(
        noise, epsilon, delta, cap, lambda: rate(epsilon, delta, slots, horizon, gamma)
    )
    return _Plan(gamma, eta, cap, guarantee)


@checked
def run(
    world: World,
    slots: int,
    epsilon: float,
    delta: float,
    *,
    noise: Noise = "sound",
    exploration: float | None = None,
    seed: int = 0,
    report: Report | None = None,
) -> Run:
    """Run BanditDP in a world of visitors and return the value earned over time.

    `exploration` replaces the printed γ, also in the rate. `report` is called with the number of
    visitors of each piece when the piece is done.

    With γ = 1 every round explores, mostly with less than a whole slate:

    >>> world = World.drawn(2000, items=20, seed=1)
    >>> earned = run(world, 3, 1.0, 1e-6).value
    >>> bool(world.share(earned, 3) < 0)
    True
    """
    horizon = len(world.types)
    items = world.chances.shape[1]
    plan = _plan(noise, items, slots, horizon, epsilon, delta, exploration)
    eta = plan.rate
    gamma = plan.exploration
    left = np.array([plan.cap])
    sums = np.zeros((slots, items))
    weights = np.empty((slots, items))
    slate = np.empty(slots, dtype=np.int64)
    piece = ceil(horizon / PIECES)
    _start(seed, eta, sums, weights, slate)
    return run_in_pieces(
        world.types,
        piece,
        lambda types: play_rounds(types, world.chances, eta, gamma, left, sums, weights, slate),
        report,
        plan.guarantee,
    )


# Below: compiled. `weights` are cumulative along each copy's items.


@compiled
def _start(seed: int, rate: float, sums: Floats, weights: Floats, slate: Integers) -> None:
    """Seed the generator, then write the initial weights and the first set."""
    np.random.seed(seed)
    for slot in range(slate.size):
        weigh(sums[slot], rate, weights[slot])
        slate[slot] = draw(weights[slot])


@compiled
def play_rounds(
    types: Integers,
    chances: Floats,
    rate: float,
    exploration: float,
    left: Integers,
    sums: Floats,
    weights: Floats,
    slate: Integers,
) -> float:
    """Play some rounds and return the earned value.

    `left` (the redraws left), `sums`, `weights` and `slate` are updated in place.
    """
    slots, items = sums.shape
    earned = 0.0
    for kind in types:
        if np.random.random() >= exploration or left[0] < 1:
            earned += _worth(chances[kind], slate)
            continue
        left[0] -= 1
        slot = np.random.randint(slots)
        item = np.random.randint(items)
        slate[slot] = item  # in place, since the whole slate is drawn again below
        worth = _worth(chances[kind], slate[: slot + 1])
        earned += worth
        if np.random.random() < worth:
            sums[slot, item] += 1.0
            weigh(sums[slot], rate, weights[slot])
        for copy in range(slots):
            slate[copy] = draw(weights[copy])
    return earned


@compiled
def _worth(chances: Floats, shown: Integers) -> float:
    """Probability that a visitor clicks a shown item; a repeated item counts once."""
    missed = 1.0
    for place in range(shown.size):
        repeated = False
        for earlier in range(place):
            if shown[earlier] == shown[place]:
                repeated = True
        if not repeated:
            missed *= 1 - chances[shown[place]]
    return 1 - missed
