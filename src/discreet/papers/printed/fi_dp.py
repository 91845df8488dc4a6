"""Slates from whole preferences as printed ("FI-DP"): k ordered private experts, redrawn every
round.

    in round t = 1 … T:
        every copy i = 1 … k draws an item a_i with probability ∝ exp(η · its sum of the item's
        gains so far) show {a_1, …, a_k} and see f_t, the visitor's value of every set with S =
        {a_1, …, a_{i−1}}, copy i adds the gain f_t(S + a) − f_t(S) of every item a to its sums

So an item that an earlier copy has drawn gains 0, copies may draw the same item (it is shown once),
and the first slate is k independent uniform draws. Here f_t(S) is the chance that the visitor
clicks something in S.

Symbols     η the rate, k the slots, T the horizon, f_t a visitor; n items
Printed     η = ε/(k√(32 T ln(k/δ))): each copy is one of discreet/papers/printed/hedge.py at (ε/k, δ/k)
            Any private expert may stand in for Hedge: that of
            discreet/papers/printed/tree_expert.py, at ε/k, makes it pure ε
Sound       the largest rate that (ε, δ) allows, `sound_rate`; printed is sound too, and far more careful
Runtime     O(k·n) a redraw, and for every type of visitor in a block
References  Perez-Salazar, Cummings (2021), "Differentially Private Online Submodular Maximization",
            Algorithm 2
"""

from collections.abc import Sequence
from functools import cache
from math import ceil
from typing import Literal

import numpy as np

from discreet import require
from discreet.arrays import Floats, Integers
from discreet.budget.conversion import epsilon_of
from discreet.compiled import compiled
from discreet.papers.printed import hedge
from discreet.papers.printed.arguments import checked
from discreet.papers.printed.episode import Arrivals, Episode, SetValue, meet, value_of
from discreet.papers.printed.hedge import Expert, HedgeExpert, draw, weigh
from discreet.papers.printed.pieces import PIECES, run_in_pieces
from discreet.papers.printed.promise import Noise, promise
from discreet.papers.printed.tree_expert import TreeExpert, tree_epsilon_spent
from discreet.papers.printed.verdict import Verdict
from discreet.progress import Report
from discreet.simulate.problems.display import Run, World

Kind = Literal["hedge", "tree"]


def rate(epsilon: float, delta: float, slots: int, horizon: int) -> float:
    """The printed η = ε/(k√(32 T ln(k/δ))).

    >>> f"{rate(1.0, 1e-6, 5, 100_000):.7f}"
    '0.0000285'
    """
    return hedge.rate(epsilon / slots, delta / slots, horizon)


@cache
def epsilon_spent(epsilon: float, delta: float, slots: int, horizon: int) -> float:
    """What drawing all copies for every visitor, as printed, really costs at this delta.

    A visitor moves a copy's sums by changes in [−1, 1], so a draw has range b = 2η and costs b²/8
    of zCDP. There are T·k draws: ε²/(64 k ln(k/δ)) in all, whatever the horizon.

    >>> f"{epsilon_spent(1.0, 1e-6, 5, 100_000):.3f}"
    '0.078'
    """
    draw_range = 2 * rate(epsilon, delta, slots, horizon)
    return epsilon_of(horizon * slots * draw_range**2 / 8, delta)


def sound_rate(epsilon: float, delta: float, slots: int, horizon: int) -> float:
    """The largest η that (ε, δ) allows: k(T − 1) draws after the free first ones, of range 2η each.

    >>> f"{sound_rate(1.0, 1e-6, 5, 100_000):.6f}"
    '0.000312'
    """
    return hedge.sound_rate(epsilon, delta, slots * (horizon - 1) + 1)


def regret_bound(items: int, slots: int, horizon: int, eta: float) -> float:
    """Theorem 6's k(ηT + ln|U|/η), of the (1 − 1/e)-regret.

    >>> round(regret_bound(100, 5, 100_000, rate(1.0, 1e-6, 5, 100_000)))
    808873
    """
    return slots * hedge.regret_bound(items, horizon, eta)


VERDICT = Verdict(
    private=True,
    text="kT draws of range 2η cost ε²/(64 k ln(k/δ)) of zCDP, whatever the horizon",
    epsilon=epsilon_spent(1.0, 1e-6, 5, 100_000),
)


class FiDp:
    """The algorithm, one round at a time: `act` shows a set, `observe` takes f_t.

    >>> likes_two = lambda chosen: float(np.isin([0, 2], chosen) @ [0.6, 0.4])
    >>> learner = FiDp([HedgeExpert(3, 5.0), HedgeExpert(3, 5.0)], np.random.default_rng(1))
    >>> for _ in range(20):
    ...     shown = learner.act()
    ...     learner.observe(likes_two)
    >>> sorted(learner.act().tolist())
    [0, 2]
    """

    def __init__(self, copies: Sequence[Expert], generator: np.random.Generator) -> None:
        self.copies = copies
        self._generator = generator
        self._drawn: Integers = np.zeros(0, dtype=np.int64)

    def act(self) -> Integers:
        """One item from every copy, in their order."""
        self._drawn = np.array([copy.draw(self._generator) for copy in self.copies], dtype=np.int64)
        return self._drawn

    def observe(self, function: SetValue) -> None:
        """Copy i is fed f(S + a) − f(S) of every item a, S being what the copies before it have
        drawn.
        """
        for place, copy in enumerate(self.copies):
            copy.feed(self.gains(function, self._drawn[:place]))

    def gains(self, function: SetValue, before: Integers) -> Floats:
        """What every item adds: an item that is there already adds 0."""
        here = value_of(function, before)
        items = range(self._items)
        return np.array([value_of(function, [*before, item]) - here for item in items])

    @property
    def _items(self) -> int:
        return len(self.copies[0].chances)


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
    expert: Kind = "hedge",
    bound: float = 1.0,
    seed: int = 0,
) -> Episode:
    """Every set that the algorithm shows, for any stream of set functions with values in [0,
    `bound`].

    The stream may be adaptive.

    With expert="tree" it is pure: `delta` is not needed, and printed noise is sound.

    >>> counts = [lambda chosen: len(chosen) / 4] * 10
    >>> episode = play(counts, 4, 2, 10, 1.0, 1e-6)
    >>> [len(shown) for shown in episode.sets] == (4 * episode.values).tolist()
    True
    """
    copies: list[Expert]
    if require.one_of("expert", expert, ("hedge", "tree")) == "tree":
        copies = [
            TreeExpert(items, horizon, epsilon / slots, seed=seed + copy) for copy in range(slots)
        ]
        guarantee = promise(noise, epsilon, 0.0, lambda: tree_epsilon_spent(epsilon, horizon))
    else:
        eta, guarantee = _calibrated(noise, epsilon, delta, slots, horizon)
        copies = [HedgeExpert(items, eta) for _ in range(slots)]
    return meet(
        FiDp(copies, np.random.default_rng([seed, 5])), arrivals, horizon, guarantee, bound=bound
    )


def _calibrated(
    noise: Noise, epsilon: float, delta: float, slots: int, horizon: int
) -> tuple[float, str]:
    """The rate, and what it promises."""
    eta = (rate if noise == "printed" else sound_rate)(epsilon, delta, slots, horizon)
    return eta, promise(
        noise, epsilon, delta, lambda: epsilon_spent(epsilon, delta, slots, horizon)
    )


@checked
def run(
    world: World,
    slots: int,
    epsilon: float,
    delta: float,
    *,
    noise: Noise = "sound",
    block: int = 1,
    seed: int = 0,
    report: Report | None = None,
) -> Run:
    """What the algorithm earns from a world of visitors. `report(visitors)` is called as they pass.

    A slate is kept for `block` visitors: 1 is as printed. A longer block has the same rate and
    fewer draws: it is faster, at least as private, and as long as there are many blocks it hardly
    earns less.

    >>> world = World.drawn(2000, items=20, seed=1)
    >>> found = run(world, 3, 1.0, 1e-6, block=10)
    >>> bool(abs(world.share(found.value, 3)) < 0.2)
    True
    >>> found.guarantee
    'sound noise: DP with ε = 1, δ = 1e-06 (simulated: seeded, in floating point)'
    """
    horizon = len(world.types)
    eta, guarantee = _calibrated(noise, epsilon, delta, slots, horizon)
    sums = np.zeros((slots, world.chances.shape[1]))
    piece = block * ceil(horizon / (block * PIECES))  # whole blocks
    _seed(seed)
    return run_in_pieces(
        world.types,
        piece,
        lambda types: _learn(types, world.chances, eta, block, sums),
        report,
        guarantee,
    )


# Below: compiled.


@compiled
def _seed(seed: int) -> None:
    np.random.seed(seed)


@compiled
def _learn(types: Integers, chances: Floats, rate: float, block: int, sums: Floats) -> float:
    """Some blocks of visitors: draws a slate for each, adds gains to the sums, returns what was
    earned.
    """
    slots, items = sums.shape
    slate = np.empty(slots, np.int64)
    weights = np.empty(items)
    fresh = np.empty(items)
    counts = np.zeros(chances.shape[0], np.int64)
    earned = 0.0
    for first in range(0, types.size, block):
        for slot in range(slots):
            weigh(sums[slot], rate, weights)
            slate[slot] = draw(weights)
        # Visitors of one type gain the same from the same slate, so each type is met once, with its
        # count.
        block_types = types[first : first + block]
        for kind in block_types:
            counts[kind] += 1
        for kind in block_types:
            if counts[kind] > 0:
                earned += _add_gains(chances[kind], counts[kind], slate, sums, fresh)
                counts[kind] = 0
    return earned


@compiled
def _add_gains(
    chances: Floats, visitors: int, slate: Integers, sums: Floats, fresh: Floats
) -> float:
    """Adds what each item gains on top of the copies before; returns what the slate earned."""
    fresh[:] = chances
    missed = 1.0  # the chance that a visitor clicks nothing of what the copies so far have drawn
    for slot in range(slate.size):
        for item in range(fresh.size):
            sums[slot, item] += visitors * missed * fresh[item]
        missed *= 1 - fresh[slate[slot]]
        fresh[slate[slot]] = (
            0.0  # from here on it gains nothing, and shows nothing new if drawn again
        )
    return visitors * (1 - missed)
