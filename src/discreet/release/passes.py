"""Fused passes: compiled loops that compute, clip, quantise and add people's vectors at once.

Computing every person's vector first and clipping it afterwards was measured seven times slower. So
a pass is made for a law, a function that it calls for each person: the slope of a loss, or the
weights of gains. Laws are stated beside the losses and the gains. The pass bounds by itself what it
adds, whatever the law returns. Compiled code keeps no state, and every argument of a law is written
anew for each person, so one person's numbers cannot enter those of another.

The last arguments of each pass are the norm (1, 2 or 0 for l_∞), `unit` (steps per length of 1),
`limit` (the largest norm of a row before rounding, in steps) and the sum. `Rows` passes them in, so
a pass obeys the bound that `Rows` states; tests/release/test_passes.py feeds every pass hostile
laws and hostile single people and measures the integers.

Guarantee   docs/guarantees/aggregators.md, Lemma 5
"""

from collections.abc import Callable
from functools import cache
from typing import TypeAlias

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.compiled import called_by_kernels, compiled, compiled_sums

Slope: TypeAlias = Callable[[float, float, float], float]
"""Returns ℓ′ of a margin and a target; the last argument is the parameter of the loss."""
ClassSlopes: TypeAlias = Callable[[Floats, float], None]
"""Overwrites the margins of one sample, one per class, by the derivatives in them."""
SlateWeights: TypeAlias = Callable[[Floats, float, Floats], None]
"""Writes a table of weights, from one person's numbers for the items of a slate and a parameter.

The first row has a factor per slot for the person's numbers for all items that are not in the
slate. Each of the others has what one item of the slate adds per slot.
"""

LARGEST = 1e60
"""Factors of a person's numbers are smaller than this. Numbers whose squares underflow are below
10⁻¹⁵⁰, so all that a measured norm misses is far below one step."""


@compiled_sums
def product(first: Floats, second: Floats) -> float:
    """Return ⟨first, second⟩, over the length of the first vector."""
    total = 0.0
    for place in range(first.size):
        total += first[place] * second[place]
    return total


@compiled_sums
def squares_and_product(vector: Floats, other: Floats) -> tuple[float, float]:
    """Return ‖vector‖² and ⟨vector, other⟩, computed in one loop."""
    squares = 0.0
    product = 0.0
    for place in range(vector.size):
        squares += vector[place] * vector[place]
        product += vector[place] * other[place]
    return squares, product


@compiled
def length_of(vector: Floats, root: float, scale: float, more: float, order: float) -> float:
    """Return the l_order norm of scale · vector extended by the number `more`; 0 means l_∞.

    `root` is the l₂ norm of the vector itself.
    """
    if order == 2.0:
        length: float = np.sqrt((scale * root) ** 2 + more * more)
        return length
    largest = abs(more)
    total = abs(more)
    for place in range(vector.size):
        value = abs(scale * vector[place])
        largest = max(largest, value)
        total += value
    if order == 1.0 or not np.isfinite(total):
        return total
    if order == 0.0 or largest == 0.0:
        return largest
    powers: float = (abs(more) / largest) ** order
    for place in range(vector.size):
        powers += (abs(scale * vector[place]) / largest) ** order
    mean: float = powers ** (1.0 / order)
    return largest * mean


@cache
def gradient_pass(slope: Slope) -> Callable[..., None]:
    """Return the pass that adds gradients s·x of samples x; `slope` returns s, a number."""
    law = called_by_kernels(slope)

    @compiled
    def add_gradients(
        features: Floats,
        targets: Floats,
        shares: Floats,
        here: Floats,
        before: Floats,
        weight: float,
        parameter: float,
        dual: float,
        feature_bound: float,
        target_bound: float,
        constant: float,
        worth: float,
        norm: int,
        unit: float,
        limit: float,
        total: Floats,
    ) -> None:
        """Add every sample's gradient, clipped and quantised, to `total`, in integer steps.

        Features are scaled to an l_dual norm of at most `feature_bound` and the target is clipped
        to ±`target_bound`; with `constant` ≠ 0 that number is one more feature. The gradient is
        (s + weight·(s − s′))·x with s the slope at `here` and s′ at `before`, times `worth` and the
        sample's share (0 to 1). A length of 1 is `unit` steps. Before rounding, the gradient is
        scaled down if its l₁, l₂ or l_∞ (0) norm exceeds `limit`, which leaves room for rounding
        each entry by at most ½ (docs/guarantees/aggregators.md, Lemma 5). Samples that are not
        finite, or whose slopes or norms are not or overflow, add nothing.
        """
        size: int = features.shape[1]
        for row in range(features.shape[0]):
            sample = features[row]
            squares, margin = squares_and_product(sample, here)
            root = np.sqrt(squares)
            length = length_of(sample, root, 1.0, 0.0, dual)
            if not (np.isfinite(squares) and np.isfinite(length) and np.isfinite(targets[row])):
                continue
            if not np.isfinite(shares[row]):
                continue
            shrink = 1.0 if length <= feature_bound else feature_bound / length
            more: float = constant * here[size] if constant != 0.0 else 0.0
            target = min(target_bound, max(-target_bound, targets[row]))
            factor = law(margin * shrink + more, target, parameter)
            if weight != 0.0:
                more = constant * before[size] if constant != 0.0 else 0.0
                earlier = product(sample, before) * shrink + more
                factor += weight * (factor - law(earlier, target, parameter))
            factor *= unit * worth * min(1.0, max(0.0, shares[row]))
            scale = factor * shrink
            more = factor * constant
            length = length_of(sample, root, scale, more, norm)
            if not (np.isfinite(length) and abs(scale) < LARGEST):
                continue
            if length > limit:
                scale *= limit / length
                more *= limit / length
            for place in range(size):
                total[place] += np.floor(scale * sample[place] + 0.5)
            if constant != 0.0:
                total[size] += np.floor(more + 0.5)

    return add_gradients


@cache
def class_gradient_pass(slopes: ClassSlopes) -> Callable[..., None]:
    """Return the pass that adds gradients s ⊗ x of samples x; `slopes` computes s, per class."""
    law = called_by_kernels(slopes)

    @compiled
    def add_class_gradients(
        features: Floats,
        targets: Floats,
        shares: Floats,
        here: Floats,
        dual: float,
        feature_bound: float,
        constant: float,
        worth: float,
        norm: int,
        unit: float,
        limit: float,
        total: Floats,
    ) -> None:
        """Add every sample's gradient of one margin per class to `total`, in integer steps.

        `here` and `total` are classes × numbers, the constant last. The whole matrix of a sample is
        scaled down to `limit` before rounding (docs/guarantees/aggregators.md, Lemma 5).
        """
        classes, width = total.shape
        size = features.shape[1]
        slopes = np.empty(classes)
        for row in range(features.shape[0]):
            sample = features[row]
            squares = product(sample, sample)
            root = np.sqrt(squares)
            length = length_of(sample, root, 1.0, 0.0, dual)
            if not (np.isfinite(squares) and np.isfinite(length) and np.isfinite(shares[row])):
                continue
            shrink = 1.0 if length <= feature_bound else feature_bound / length
            for place in range(classes):
                slopes[place] = product(sample, here[place]) * shrink
                if width > size:
                    slopes[place] += constant * here[place, size]
            law(slopes, targets[row])
            worst = 0.0
            sizes = 0.0
            spread = 0.0
            for place in range(classes):
                worst = max(worst, abs(slopes[place]))
                sizes += abs(slopes[place])
                spread += slopes[place] * slopes[place]
            factor = unit * worth * min(1.0, max(0.0, shares[row]))
            scale = factor * shrink
            more = factor * constant if width > size else 0.0
            # The norm of an outer product is the product of the norms, for all three norms.
            across = np.sqrt(spread) if norm == 2 else sizes if norm == 1 else worst
            along = length_of(sample, root, scale, more, norm)
            length = along * across
            # If some slopes are NaN, the largest may still be finite; their sum is not.
            if not (np.isfinite(length) and max(abs(scale), along) < LARGEST and sizes < LARGEST):
                continue
            if length > limit:
                scale *= limit / length
                more *= limit / length
            for place in range(classes):
                slope = slopes[place]
                for column in range(size):
                    total[place, column] += np.floor(slope * scale * sample[column] + 0.5)
                if width > size:
                    total[place, size] += np.floor(slope * more + 0.5)

    return add_class_gradients


@cache
def slate_pass(weigh: SlateWeights) -> Callable[..., None]:
    """Return the pass that adds each person's numbers, once per slot, times what `weigh` writes."""
    law = called_by_kernels(weigh)

    @compiled
    def add_slate_gains(
        rows: Floats,
        slate: Integers,
        parameter: float,
        norm: int,
        unit: float,
        limit: float,
        total: Floats,
    ) -> None:
        """Add each person's table, clipped and quantised, to `total`, in integer steps.

        `total` and a person's table are slots × items. Each row of the table is the person's
        numbers, from 0 to 1, times one factor, except for the items of the slate. Before rounding,
        the table is scaled down if its l₂ norm exceeds `limit`, which leaves room for rounding each
        entry by at most ½ (docs/guarantees/aggregators.md, Lemma 5). A person whose numbers are out
        of range, or whose weights are negative, not finite or overflow, adds nothing. `norm` is 2
        here.
        """
        slots, items = total.shape
        others = np.empty(items)
        shown = np.empty(slots)
        table = np.empty((1 + slots, slots))
        for row in range(rows.shape[0]):
            chances = True
            for item in range(items):
                others[item] = rows[row, item]
                chances &= others[item] >= 0.0 and others[item] <= 1.0
            if not chances:
                continue  # a row that is not made of probabilities adds nothing
            for slot in range(slots):
                shown[slot] = others[slate[slot]]
            for slot in range(slots):  # items of the slate have weights of their own
                others[slate[slot]] = 0.0
            squares = 0.0
            for item in range(items):
                squares += others[item] * others[item]
            table[:] = 0.0
            law(shown, parameter, table)
            length = 0.0
            fine = unit < LARGEST
            for place in range(slots + 1):
                times = squares if place == 0 else 1.0
                for slot in range(slots):
                    weight = table[place, slot]
                    fine &= weight >= 0.0 and weight < LARGEST
                    length += weight * weight * times
            length = np.sqrt(length) * unit
            if not (fine and np.isfinite(length)):
                continue
            factor = unit if length <= limit else unit * (limit / length)
            for slot in range(slots):
                scale = factor * table[0, slot]
                for item in range(items):
                    total[slot, item] += np.floor(scale * others[item] + 0.5)
                for place in range(slots):
                    total[slot, slate[place]] += np.floor(factor * table[place + 1, slot] + 0.5)

    return add_slate_gains
