"""FI-DP as printed: slates with full information, by k ordered experts redrawn every round.

    in round t = 1 … T:
        every copy i = 1 … k draws an item a_i with probability ∝ exp(η · its sum of the item's
        gains so far)
        show {a_1, …, a_k} and see f_t, the visitor's value of every set
        with S = {a_1, …, a_{i−1}}, copy i adds the gain f_t(S + a) − f_t(S) of every item a to its
        sums

An item that an earlier copy has drawn gains 0, copies may draw the same item (it is shown once),
and the first slate is k independent uniform draws. In `run`, f_t(S) is the probability that the
visitor clicks an item of S.

Symbols     η the rate, k the slots, T the horizon, f_t a visitor; n items
Printed     η = ε/(k√(32 T ln(k/δ))): each copy is one of discreet/papers/printed/hedge.py at
            (ε/k, δ/k). Any private expert may replace Hedge: that of
            discreet/papers/printed/tree_expert.py, at ε/k, makes the algorithm pure ε
Verdict     private as printed, with more noise than needed (ε = 0.078 where 1 is claimed)
Sound       the largest rate that (ε, δ) allows, `sound_rate`
Runtime     O(k·n) per redraw, and per type of visitor in a block
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
    """Return the printed η = ε/(k√(32 T ln(k/δ))).

    >>> f"{rate(1.0, 1e-6, 5, 100_000):.7f}"
    '0.0000285'
    """
    return hedge.rate(epsilon / slots, delta / slots, horizon)


@cache
def epsilon_spent(epsilon: float, delta: float, slots: int, horizon: int) -> float:
    """Return the ε of the printed draws, of all copies for every visitor, at this δ.

    A visitor moves a copy's sums by changes in [−1, 1], so a draw has range b = 2η and costs b²/8
    of zCDP. The T·k draws cost ε²/(64 k ln(k/δ)) in all, for every horizon.

    >>> f"{epsilon_spent(1.0, 1e-6, 5, 100_000):.3f}"
    '0.078'
    """
    draw_range = 2 * rate(epsilon, delta, slots, horizon)
    return epsilon_of(horizon * slots * draw_range**2 / 8, delta)


def sound_rate(epsilon: float, delta: float, slots: int, horizon: int) -> float:
    """Return the largest η that (ε, δ) allows for the k(T − 1) draws after the first slate.

    Each draw has range 2η; the first slate does not depend on data.

    >>> f"{sound_rate(1.0, 1e-6, 5, 100_000):.6f}"
    '0.000312'
    """
    return hedge.sound_rate(epsilon, delta, slots * (horizon - 1) + 1)


def regret_bound(items: int, slots: int, horizon: int, eta: float) -> float:
    """Bound of Theorem 6 on the (1 − 1/e)-regret: k(ηT + ln|U|/η).

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
    """FI-DP, one round at a time: `act` returns a set, `observe` takes f_t.

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
        """Draw one item from every copy, in their order."""
        self._drawn = np.array([copy.draw(self._generator) for copy in self.copies], dtype=np.int64)
        return self._drawn

    def observe(self, function: SetValue) -> None:
        """Feed copy i the gains f(S + a) − f(S), where S are the items of the copies before it."""
        for place, copy in enumerate(self.copies):
            copy.feed(self.gains(function, self._drawn[:place]))

    def gains(self, function: SetValue, before: Integers) -> Floats:
        """Gain of each item on top of the set `before`; an item of the set gains 0."""
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
    """Run FI-DP on a stream of set functions with values in [0, `bound`], fixed or adaptive.

    With expert="tree" the guarantee is pure: `delta` is ignored, and printed noise is sound.

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
    """Return the rate of the draws and their guarantee."""
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
    """Run FI-DP in a world of visitors and return the value earned over time.

    Parameters
    ----------
    block
        Number of visitors who see the same slate: 1 is as printed. A longer block has the same rate
        and fewer draws: it is faster, at least as private, and earns hardly less while there are
        many blocks.
    report
        Called with the number of visitors of each piece when the piece is done.

    Examples
    --------
    >>> world = World.drawn(2000, items=20, seed=1)
    >>> earned = run(world, 3, 1.0, 1e-6, block=10)
    >>> bool(abs(world.share(earned.value, 3)) < 0.2)
    True
    >>> earned.guarantee
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
    """Play some blocks of visitors: draw a slate per block, update `sums`, return the value."""
    slots, items = sums.shape
    slate = np.empty(slots, np.int64)
    weights = np.empty(items)
    unseen = np.empty(items)
    counts = np.zeros(chances.shape[0], np.int64)
    earned = 0.0
    for first in range(0, types.size, block):
        for slot in range(slots):
            weigh(sums[slot], rate, weights)
            slate[slot] = draw(weights)
        # Visitors of one type gain the same from the same slate: each type is processed once, with
        # its count.
        block_types = types[first : first + block]
        for kind in block_types:
            counts[kind] += 1
        for kind in block_types:
            if counts[kind] > 0:
                earned += _add_gains(chances[kind], counts[kind], slate, sums, unseen)
                counts[kind] = 0
    return earned


@compiled
def _add_gains(
    chances: Floats, visitors: int, slate: Integers, sums: Floats, unseen: Floats
) -> float:
    """Add to `sums` each item's gain on top of the earlier copies; return the slate's value.

    `unseen` is scratch space: the click probabilities of the items that are not yet in the slate.
    """
    unseen[:] = chances
    missed = 1.0  # probability that a visitor clicks none of the items drawn so far
    for slot in range(slate.size):
        for item in range(unseen.size):
            sums[slot, item] += visitors * missed * unseen[item]
        missed *= 1 - unseen[slate[slot]]
        unseen[slate[slot]] = 0.0  # a drawn item gains nothing more, even if drawn again
    return visitors * (1 - missed)
