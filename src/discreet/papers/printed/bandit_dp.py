"""Slates from rewards only as printed ("BanditDP"): k ordered private experts, redrawn after
explorations.

    draw a first set S = {a_1, …, a_k}, one item from each copy
    in round t = 1 … T, with probability γ, explore:
        choose a copy i and an item a uniformly, show {a_1, …, a_{i−1}, a} and see the reward
        copy i adds the reward to its sum of a
        every copy draws again, an item with probability ∝ exp(η · its sum)
    else show S once more, and learn nothing

Here a reward is 1 if the visitor clicks something of what is shown, and else 0.

Symbols     η the rate, γ the exploration, k the slots, n = |U| the items, T the horizon
Printed     γ = k((16 n ln n)²/T)^(1/3), clipped to 1 here; η = ε/(k√(64 γ T ln(k/δ))): each copy is one of
            discreet/papers/printed/hedge.py at (ε/k, δ/k) with 2γT draws More than 2γT redraws have
            a chance of at most e^(−2γ²T) by Hoeffding's inequality, where the text has e^(−8γ²T);
            with the printed γ, γ²T ≥ 62·k²T^(1/3), Theorem 7's δ holds either way
Sound       after ⌈2γT⌉ redraws the set is frozen and nothing more is learned (`cap`); η is the largest that
            (ε, δ) allows: a person changes one sum of one copy, so a draw has range η With γ = 1,
            as in all practice, there are at most T < 2γT redraws, and printed is sound as well.
Runtime     O(k log n) a round, O(n) a reward; memory O(k·n)
References  Perez-Salazar, Cummings (2021), "Differentially Private Online Submodular Maximization",
            Algorithm 3; its Appendices B.1 and B.2 are
            discreet/papers/printed/bandit_dp_variants.py
"""

from collections.abc import Callable
from functools import cache
from math import ceil, exp, inf, log, sqrt

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
    """The printed γ = k((16 n ln n)²/T)^(1/3), at most 1: with 100 items and 5 slots it is 1 until
    T ≈ 7·10⁹.

    >>> printed_exploration(100, 5, 10**6)
    1.0
    >>> round(printed_exploration(100, 5, 10**11), 2)
    0.41
    """
    return float(min(1.0, slots * ((16 * items * log(max(items, 2))) ** 2 / horizon) ** (1 / 3)))


def rate(epsilon: float, delta: float, slots: int, horizon: int, exploration: float) -> float:
    """The printed η = ε/(k√(64 γ T ln(k/δ))).

    >>> f"{rate(1.0, 1e-6, 5, 100_000, exploration=1.0):.7f}"
    '0.0000201'
    """
    return hedge.rate(epsilon / slots, delta / slots, 2 * exploration * horizon)


def most_redraws(horizon: int, exploration: float) -> int:
    """⌈2γT⌉, after which sound runs freeze the set; the one after the last round would not be seen.

    >>> most_redraws(1000, 0.1), most_redraws(1000, 1.0)
    (200, 999)
    """
    return min(horizon - 1, ceil(2 * exploration * horizon))


def sound_rate(epsilon: float, delta: float, redraws: int) -> float:
    """The largest η that (ε, δ) allows if every copy is redrawn at most so often after its first
    draw.

    A person feeds one sum of one copy, so only that copy's redraws tell about them: R·η²/8 of zCDP.

    >>> f"{sound_rate(1.0, 1e-6, 100_000):.5f}"
    '0.00140'
    """
    return 2 * hedge.sound_rate(epsilon, delta, redraws + 1)


@cache
def epsilon_spent(redraws: int, eta: float, delta: float) -> float:
    """What so many redraws at a rate η really cost at this delta (a person is in one copy's sums
    only).

    >>> f"{epsilon_spent(100_000, rate(1.0, 1e-6, 5, 100_000, exploration=1.0), 1e-6):.3f}"
    '0.011'
    """
    return epsilon_of(redraws * eta**2 / 8, delta)


def calibrated(
    noise: Noise, epsilon: float, delta: float, redraws: int, printed_rate: Callable[[], float]
) -> tuple[float, str]:
    """The rate, and what it promises if every copy is redrawn at most so often after its first
    draw.

    >>> calibrated("sound", 1.0, 0.0, 100, lambda: 0.001)
    (0.01, 'sound noise: DP with ε = 1 (simulated: seeded, in floating point)')
    """
    eta = printed_rate() if noise == "printed" else sound_rate(epsilon, delta, redraws)
    return eta, promise(noise, epsilon, delta, lambda: epsilon_spent(redraws, eta, delta))


def regret_bound(
    items: int, slots: int, horizon: int, epsilon: float, delta: float, exploration: float
) -> float:
    """Lemmas 2 and 3: k·E[r_i] + γT, as the proof of Theorem 8 adds them up, with its e^(−8γ²T).

    >>> bound = regret_bound(100, 5, 10**6, 1.0, 1e-6, 1.0)
    >>> bound > 10**6                                                # there are T to lose
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
    """The algorithm, one round at a time: `act` shows a set, `observe_value` takes what it was
    worth.

    Coins are thrown as rounds come, so that memory is O(k·n), unless `explore_at` names the rounds
    that explore (Appendix B.2). `redraws_always` redraws after every round (Appendix B.1). After
    `cap` redraws the set stays what it is.

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
        """The current set; or, exploring, its first items and one more that is drawn uniformly."""
        self._tried = None
        if self._explores() and self.redraws < self._cap:
            slot = int(self._generator.integers(len(self.copies)))
            item = int(self._generator.integers(self._items))
            self._tried = (slot, item)
            self.explorations += 1
            return np.append(self._set[:slot], item)
        return self._set

    def observe_value(self, value: float) -> None:
        """What was shown was worth so much: told to the copy that explored, as it is."""
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
    """Every set that the algorithm shows, for any stream of set functions with values in [0,
    `bound`].

    The stream may be adaptive.

    >>> episode = play([lambda chosen: float(2 in chosen)] * 50, 4, 2, 50, 1.0, 1e-6, exploration=0.5)
    >>> len(episode.sets), max(len(shown) for shown in episode.sets)
    (50, 2)
    """
    gamma, eta, cap, guarantee = _settled(noise, items, slots, horizon, epsilon, delta, exploration)
    learner = BanditDp(items, slots, eta, gamma, np.random.default_rng([seed, 6]), cap=cap)
    return meet(learner, arrivals, horizon, guarantee, bound=bound)


def _settled(
    noise: Noise,
    items: int,
    slots: int,
    horizon: int,
    epsilon: float,
    delta: float,
    exploration: float | None,
) -> tuple[float, float, int, str]:
    """γ, η, how many redraws there may be, and what that promises."""
    gamma = printed_exploration(items, slots, horizon) if exploration is None else exploration
    cap = horizon if noise == "printed" else most_redraws(horizon, gamma)
    eta, guarantee = calibrated(
        noise, epsilon, delta, cap, lambda: rate(epsilon, delta, slots, horizon, gamma)
    )
    return gamma, eta, cap, guarantee


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
    """What the algorithm earns from a world of visitors. `report(visitors)` is called as they pass.

    `exploration` replaces the printed γ, also in the rate.

    >>> world = World.drawn(2000, items=20, seed=1)
    >>> earned = run(world, 3, 1.0, 1e-6).value
    >>> bool(world.share(earned, 3) < 0)  # every round explores, and mostly with less than a whole slate
    True
    """
    horizon, items = len(world.types), world.chances.shape[1]
    gamma, eta, most, guarantee = _settled(
        noise, items, slots, horizon, epsilon, delta, exploration
    )
    left = np.array([most])
    sums = np.zeros((slots, items))
    weights = np.empty((slots, items))
    slate = np.empty(slots, dtype=np.int64)
    piece = ceil(horizon / PIECES)
    _start(seed, eta, sums, weights, slate)
    return run_in_pieces(
        world.types,
        piece,
        lambda types: _learn(types, world.chances, eta, gamma, left, sums, weights, slate),
        report,
        guarantee,
    )


# Below: compiled. `weights` are added up along each copy's items.


@compiled
def _start(seed: int, rate: float, sums: Floats, weights: Floats, slate: Integers) -> None:
    """The first set."""
    np.random.seed(seed)
    for slot in range(slate.size):
        weigh(sums[slot], rate, weights[slot])
        slate[slot] = draw(weights[slot])


@compiled
def _learn(
    types: Integers,
    chances: Floats,
    rate: float,
    exploration: float,
    left: Integers,
    sums: Floats,
    weights: Floats,
    slate: Integers,
) -> float:
    """Some rounds: updates redraws left, sums, their weights and the slate, returns what was
    earned.
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
        slate[slot] = item  # in its own place, for all of the slate is drawn again below
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
    """The chance that a visitor clicks something of what is shown, an item counted once."""
    missed = 1.0
    for place in range(shown.size):
        repeated = False
        for earlier in range(place):
            if shown[earlier] == shown[place]:
                repeated = True
        if not repeated:
            missed *= 1 - chances[shown[place]]
    return 1 - missed
