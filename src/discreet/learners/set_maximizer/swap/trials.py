"""Which exchanges of one slot are worth trying, and how often: priced before a block, from released values.

Around the anchor slate S, item a in slot j instead of s_j would gain d_ja more. Trying it V times costs −V·d
at most, and may show that it is better: with σ the standard deviation by which the belief would move,

    net(V) = 0.1 · H · σ·(φ(u) + u·Φ(u)) + V·d        u = d/σ, H rounds left to profit in

Exchanges are taken in the order of their net worth a round, while it is positive and they fit half the block.

References  Frazier, Powell, Dayanik (2008), "A Knowledge-Gradient Policy for Sequential Information
            Collection"
"""

from dataclasses import dataclass

import numpy as np

from discreet.arrays import Floats, Integers, Mask
from discreet.learners.set_maximizer.swap.belief import COMPANY, Belief, Gains
from discreet.learners.worth_trying import doubling_sizes, worth_trying

__all__ = ["Anchor", "Trials", "climbed", "priced"]

PATIENCE = 0.1
"""The part of the rounds left that a discovery is credited with: others may find it too, or a better one."""
WIDER = 1.25
"""How much more uncertain exchanges are taken to be that were never tried in this company."""
MOST_TRIED = 0.5
DOUBLINGS = 24


@dataclass(frozen=True)
class Anchor:
    """A slate and what all items are believed to gain behind the rest of it, one row a slot."""

    slate: Integers
    gains: Gains

    @classmethod
    def of(cls, belief: Belief, slate: Integers) -> "Anchor":
        """The belief around a slate."""
        return cls(slate, belief.gains([np.delete(slate, slot) for slot in range(len(slate))]))

    @property
    def own(self) -> Floats:
        """What the shown items gain behind the rest."""
        return np.asarray(self.gains.means[np.arange(len(self.slate)), self.slate])

    @property
    def own_variances(self) -> Floats:
        return np.asarray(self.gains.variances[np.arange(len(self.slate)), self.slate])

    @property
    def better(self) -> Floats:
        """How much more each exchange would gain."""
        return np.asarray(self.gains.means - self.own[:, None])


def climbed(belief: Belief, slate: Integers, living: Mask, *, steps: int, caution: float) -> Anchor:
    """The slate after at most so many exchanges, each better by `caution` standard deviations."""
    anchor = Anchor.of(belief, slate)
    for _ in range(steps):
        doubt = np.sqrt(anchor.gains.variances + anchor.own_variances[:, None])
        better = anchor.better - caution * doubt
        better[:, anchor.slate] = -1.0
        better[:, ~living] = -1.0
        slot, item = np.unravel_index(int(better.argmax()), better.shape)
        if better[slot, item] <= 0:
            break
        changed = anchor.slate.copy()
        changed[slot] = item
        anchor = Anchor.of(belief, changed)
    return anchor


@dataclass(frozen=True)
class Trials:
    """Exchanges to be tried: a slot, an item and a number of rounds each."""

    slots: Integers
    items: Integers
    rounds: Integers


def priced(
    belief: Belief,
    anchor: Anchor,
    living: Mask,
    *,
    rounds: int,
    most: float,
    ahead: float,
    reward_variance: float | None,
    noise_variance: float,
) -> Trials:
    """What to try in a block of so many rounds, with `ahead` rounds after it to profit in.

    At most `most` visitors see a trial.
    `reward_variance` is that of the reward of a slate; None for clicks, whose variance follows from the gain.
    """
    by_clicks = reward_variance is None
    better, variances = anchor.better, anchor.gains.variances
    rest = [np.delete(anchor.slate, slot) for slot in range(len(anchor.slate))]
    remaining = np.array([belief.remaining(others) for others in rest])
    interest = np.maximum(belief.interest, 0.5 * belief.centre)
    usual = (COMPANY * remaining[:, None] * interest) ** 2
    doubt = variances * (1 + WIDER * np.minimum(1, variances / usual))
    if not by_clicks:
        doubt = doubt + anchor.own_variances[:, None]
    chances = np.clip(anchor.gains.means, 0.2 * belief.centre, 0.5)
    single = chances * (1 - chances) if reward_variance is None else np.full(better.shape, reward_variance)
    first, most = 16 if by_clicks else 64, min(MOST_TRIED * rounds, most)
    prices = worth_trying(
        better,
        better,
        doubt,
        variance=single,
        noise=noise_variance,
        later=PATIENCE * ahead,
        sizes=doubling_sizes(first, most / 4, DOUBLINGS),
    )
    allowed = np.tile(living, (len(anchor.slate), 1))
    allowed[:, anchor.slate] = False
    chosen = prices.best_within(most, allowed)
    slots, items = np.divmod(chosen.trials, belief.items)
    return Trials(slots, items, chosen.rounds)
