"""What a block of exchanges says: the belief after it, and whether the anchor earns what it used to."""

from dataclasses import dataclass

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.learners.set_maximizer.swap.belief import Belief
from discreet.learners.set_maximizer.swap.trials import Anchor

__all__ = ["After", "Found", "after_exchanges"]

ALARM = 5.0
"""So many standard deviations off are no chance."""
NEWEST = 0.2
"""The least weight of the newest block in what the anchor is known to earn."""


@dataclass(frozen=True)
class Found:
    """Released sums and public views of each cell (slot, item) around an anchor; and the noise's variance."""

    anchor: Anchor
    sums: Floats
    views: Floats
    noise: float

    @property
    def means(self) -> Floats:
        return np.asarray(self.sums / np.maximum(self.views, 1.0))

    def variances(self, single: Floats | float) -> Floats:
        """Of these means, if one visitor's answer varies by `single`."""
        views = np.maximum(self.views, 1.0)
        return np.asarray(single / views + self.noise / views**2)


@dataclass(frozen=True)
class After:
    """The belief after a block, whether it was a surprise, and what the anchor is known to earn."""

    belief: Belief
    surprised: bool
    reference: Floats
    level: float


def after_exchanges(belief: Belief, found: Found, reference: Floats, level: float | None) -> After:
    """`level` is what a slate earns, of which the variance of rewards follows; None for clicks."""
    if level is None:
        return _after_clicks(belief, found, reference)
    return _after_rewards(belief, found, reference, level)


def _after_clicks(belief: Belief, found: Found, reference: Floats) -> After:
    """Each cell is the share of visitors who clicked the last place, behind the others."""
    anchor, slate = found.anchor, found.anchor.slate
    chances = np.clip(anchor.gains.means, 0.2 * belief.centre, 0.5)
    means, variances = found.means, found.variances(chances * (1 - chances))
    slots = np.arange(len(slate))
    shown = found.views[slots, slate] > 0
    off = (means[slots, slate] - anchor.own) ** 2 / (variances[slots, slate] + 2 * anchor.own_variances)
    surprised = bool(off[shown].sum() > ALARM**2 + len(slate))
    for slot in slots:
        others = np.delete(slate, slot)
        belief = belief.with_cells(others, means[slot], variances[slot], found.views[slot] > 0)
    return After(belief, surprised, reference, 0.5)


def _after_rewards(belief: Belief, found: Found, reference: Floats, level: float) -> After:
    """Each cell is the mean reward of a whole slate: what counts is how it differs from the anchor's."""
    slate = found.anchor.slate
    means, variances = found.means, found.variances(level * (1 - level))
    place = 0, int(slate[0])
    if found.views[place] <= 0:  # under masks the anchor may never have been shown
        return After(belief, False, reference, level)
    base, doubt = float(means[place]), float(variances[place])
    level = float(np.clip(base, 1e-3, 1 - 1e-3))
    surprised, reference = _compared(reference, base, doubt)
    for slot in range(len(slate)):
        tried = np.flatnonzero(found.views[slot] > 0)
        tried = tried[tried != slate[slot]]
        if len(tried):
            belief = _with_differences(
                belief, found, slot, tried, means[slot, tried] - base, doubt, variances
            )
    return After(belief, surprised, reference, level)


def _with_differences(
    belief: Belief,
    found: Found,
    slot: int,
    tried: Integers,
    differences: Floats,
    doubt: float,
    variances: Floats,
) -> Belief:
    """Differences say what items gain once the anchor's own item is known; and the other way round."""
    anchor, own = found.anchor, int(found.anchor.slate[slot])
    prior, prior_variance = float(anchor.own[slot]), float(anchor.own_variances[slot])
    noise = variances[slot, tried] + doubt
    from_others = anchor.gains.variances[slot, tried] + noise
    says = anchor.gains.means[slot, tried] - differences
    precision = float((1 / from_others).sum())
    estimate = float((says / from_others).sum()) / precision
    total = 1 / prior_variance + precision
    level = (prior / prior_variance + estimate * precision) / total
    means, spreads = np.zeros(belief.items), np.ones(belief.items)
    seen = np.zeros(belief.items, dtype=np.bool_)
    means[tried], spreads[tried], seen[tried] = level + differences, noise + 0.5 / total, True
    # What was never shown, because masks forbade it, tells nothing, though it stands in the anchor.
    is_known = bool((belief.precisions[:, own] > 0).any())
    means[own], spreads[own], seen[own] = estimate, 1 / precision, is_known
    return belief.with_cells(np.delete(anchor.slate, slot), means, spreads, seen)


def _compared(reference: Floats, base: float, doubt: float) -> tuple[bool, Floats]:
    """Whether the anchor earns something else than before, and the running mean of what it earns."""
    known, variance = float(reference[0]), float(reference[1])
    if variance < 0:
        return False, np.array([base, doubt])
    surprised = (base - known) ** 2 > ALARM**2 * (doubt + variance)
    weight = max(variance / (variance + doubt), NEWEST)
    mixed = (1 - weight) * known + weight * base
    return bool(surprised), np.array([mixed, (1 - weight) ** 2 * variance + weight**2 * doubt])
