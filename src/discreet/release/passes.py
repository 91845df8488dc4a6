"""Fused passes: compiled loops that compute, clip, quantise and add people's vectors at once.

Computing every person's vector first and clipping it afterwards was measured seven times slower.
The last arguments of each pass are the norm (1, 2 or 0 for l_∞), `unit` (steps per length of 1),
`limit` (the largest norm of a row before rounding, in steps) and the sum. `Rows.add_through` passes
them in, so a pass obeys the bound that `Rows` states; tests/release/test_passes.py feeds every pass
hostile single people and measures the integers.

Guarantee   docs/guarantees/aggregators.md, Lemma 5
"""

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.compiled import compiled, compiled_sums


@compiled
def add_click_gains(
    rows: Floats,
    slate: Integers,
    steepness: float,
    norm: int,
    unit: float,
    limit: float,
    total: Floats,
) -> None:
    """Add each visitor's gains over every prefix of the slate to `total`, in steps.

    `total` is slots × items. An item with gains g_1 ≥ … ≥ g_k adds their sum over √k, then the
    drops g_i − g_{i+1} times `steepness`. For an item that is already before a slot, the gain is
    that over the *other* items before it, as if the item were not in the slate. A visitor whose
    numbers, stacked over slots and items, are longer than `limit` steps is scaled down to it.
    `limit` leaves room for rounding each entry by at most ½, so the integers obey the bound
    (docs/guarantees/aggregators.md, Lemma 5). `norm` is 2 here.
    """
    slots, items = total.shape
    others = np.empty(items)
    gains = np.empty(slots)
    weights = np.empty(slots)
    own = np.empty((slots, slots))
    for row in range(rows.shape[0]):
        chances = True
        for item in range(items):
            others[item] = rows[row, item]
            chances &= others[item] >= 0.0 and others[item] <= 1.0
        if not chances:
            continue  # a row that is not made of probabilities adds nothing
        for shown in range(slots):  # shown items have gains of their own; all others share theirs
            others[slate[shown]] = 0.0
        squares = 0.0
        length = 0.0
        for item in range(items):
            squares += others[item] * others[item]
        for shown in range(-1, slots):
            for slot in range(slots):
                gains[slot] = 1.0 if shown < 0 else rows[row, slate[shown]]
                for before in range(slot):
                    if before != shown:
                        gains[slot] *= 1.0 - rows[row, slate[before]]
            for slot in range(slots):
                stacked = steepness * max(gains[slot - 1] - gains[slot], 0.0)
                if slot == 0:
                    stacked = 0.0
                    for other in range(slots):
                        stacked += gains[other]
                    stacked /= np.sqrt(slots)
                if shown < 0:
                    weights[slot] = stacked
                    length += stacked * stacked * squares
                else:
                    own[slot, shown] = stacked
                    length += stacked * stacked
        length = np.sqrt(length) * unit
        factor = unit if length <= limit else unit * (limit / length)
        for slot in range(slots):
            scale = factor * weights[slot]
            for item in range(items):
                total[slot, item] += np.floor(scale * others[item] + 0.5)
            for shown in range(slots):
                total[slot, slate[shown]] += np.floor(factor * own[slot, shown] + 0.5)


@compiled
def slope(code: int, parameter: float, margin: float, target: float) -> float:
    """Return ℓ′ of the loss with this code in discreet/losses.py."""
    if code == 0:
        return 2.0 * (margin - target)
    if code == 1:
        chance: float = 0.5 * (1.0 + np.tanh(0.5 * margin))
        return chance - target
    if code == 2:
        return min(parameter, max(-parameter, margin - target))
    if code == 3:
        return margin - target
    expected: float = np.exp(min(margin, 30.0))
    return expected - target


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


@compiled
def add_gradients(
    features: Floats,
    targets: Floats,
    shares: Floats,
    here: Floats,
    before: Floats,
    weight: float,
    code: int,
    parameter: float,
    dual: float,
    feature_bound: float,
    low: float,
    high: float,
    constant: float,
    worth: float,
    norm: int,
    unit: float,
    limit: float,
    total: Floats,
) -> None:
    """Add every sample's gradient, clipped and quantised, to `total`, in integer steps.

    Features are scaled to an l_dual norm of at most `feature_bound` and the target is clipped to
    [low, high]; with `constant` ≠ 0 that number is one more feature. The gradient is
    (s + weight·(s − s′))·x with s the slope at `here` and s′ at `before`, times `worth` and the
    sample's share (0 to 1). A length of 1 is `unit` steps. Before rounding, the gradient is scaled
    down if its l₁, l₂ or l_∞ (0) norm exceeds `limit`, which leaves room for rounding each entry by
    at most ½ (docs/guarantees/aggregators.md, Lemma 5). Samples that are not finite, or whose norms
    overflow, add nothing.
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
        target = min(high, max(low, targets[row]))
        factor = slope(code, parameter, margin * shrink + more, target)
        if weight != 0.0:
            more = constant * before[size] if constant != 0.0 else 0.0
            earlier = product(sample, before) * shrink + more
            factor += weight * (factor - slope(code, parameter, earlier, target))
        factor *= unit * worth * min(1.0, max(0.0, shares[row]))
        scale = factor * shrink
        more = factor * constant
        length = length_of(sample, root, scale, more, norm)
        if not (np.isfinite(length) and np.isfinite(scale)):
            continue
        if length > limit:
            scale *= limit / length
            more *= limit / length
        for place in range(size):
            total[place] += np.floor(scale * sample[place] + 0.5)
        if constant != 0.0:
            total[size] += np.floor(more + 0.5)


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
    """Add every sample's gradient of the multinomial loss to `total`, in integer steps.

    The gradient is (probabilities − e_class) ⊗ x, one row of coefficients per class. `here` and
    `total` are classes × numbers, the constant last. A target is the number of a class; a sample
    with another target adds nothing. The whole matrix of a sample is scaled down to `limit` before
    rounding (docs/guarantees/aggregators.md, Lemma 5).
    """
    classes, width = total.shape
    size = features.shape[1]
    chances = np.empty(classes)
    for row in range(features.shape[0]):
        sample = features[row]
        target = targets[row]
        squares = product(sample, sample)
        root = np.sqrt(squares)
        length = length_of(sample, root, 1.0, 0.0, dual)
        if not (np.isfinite(squares) and np.isfinite(length) and np.isfinite(shares[row])):
            continue
        if not (target >= 0.0 and target < classes and target == np.floor(target)):
            continue
        shrink = 1.0 if length <= feature_bound else feature_bound / length
        largest = -np.inf
        for place in range(classes):
            chances[place] = product(sample, here[place]) * shrink
            if width > size:
                chances[place] += constant * here[place, size]
            largest = max(largest, chances[place])
        whole = 0.0
        for place in range(classes):
            chances[place] = np.exp(chances[place] - largest)
            whole += chances[place]
        worst = 0.0
        sizes = 0.0
        spread = 0.0
        for place in range(classes):
            chances[place] = chances[place] / whole - (1.0 if place == target else 0.0)
            worst = max(worst, abs(chances[place]))
            sizes += abs(chances[place])
            spread += chances[place] * chances[place]
        factor = unit * worth * min(1.0, max(0.0, shares[row]))
        scale = factor * shrink
        more = factor * constant if width > size else 0.0
        # The norm of an outer product is the product of the norms, for all three norms.
        across = np.sqrt(spread) if norm == 2 else sizes if norm == 1 else worst
        length = length_of(sample, root, scale, more, norm) * across
        # If some probabilities are NaN, the largest may still be finite; their sum is not.
        if not (np.isfinite(length) and np.isfinite(scale) and np.isfinite(sizes)):
            continue
        if length > limit:
            scale *= limit / length
            more *= limit / length
        for place in range(classes):
            chance = chances[place]
            for column in range(size):
                total[place, column] += np.floor(chance * scale * sample[column] + 0.5)
            if width > size:
                total[place, size] += np.floor(chance * more + 0.5)
