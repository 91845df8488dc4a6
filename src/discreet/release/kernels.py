"""Compiled kernels: exact samplers, integer weights, clipping, one step of the Toeplitz sum.

They use integers only, except where a person's floats are clipped and quantised to integers. All
kernels are in this one file, because Numba's cache does not notice a change of a callee in another
file. Each kernel has a plain Python reference in the tests.

Importing this module imports Numba; the rest of the library does so on first use. A source of
random bits is a pair (address, state): the C function that returns the next random 64-bit integer,
and its argument.

Guarantee   docs/guarantees/noise.md (samplers), docs/guarantees/selection.md (weights),
            docs/guarantees/aggregators.md (clipping), docs/guarantees/sums.md (Toeplitz step)
References  Canonne, Kamath, Steinke (2020), Algorithms 1–3
            Lemire (2019), "Fast Random Integer Generation in an Interval"
"""

from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic
from numpy.typing import NDArray

from discreet.arrays import Floats, Integers, Mask, Word
from discreet.compiled import compiled

if TYPE_CHECKING:
    from numba.core.base import BaseContext
    from numba.core.types import Type
    from numba.core.typing import Context, Signature

    Lowering = tuple[
        Signature, Callable[[BaseContext, ir.IRBuilder, Signature, list[ir.Value]], ir.Value]
    ]
    """The signature of an instruction, and the function that generates its code."""


# --- instructions that Numba lacks: a call by address, and the high half of a product -------------
def instruction(
    lower: "Callable[[Context, Type, Type], Lowering]",
) -> Callable[[Word, Word], Word]:
    """Return a function of two 64-bit integers that kernels can call, from its lowering."""
    function: Callable[[Word, Word], Word] = intrinsic(lower)
    return function


@instruction
def next_word(typing: "Context", address: "Type", state: "Type") -> "Lowering":
    """Return the next random 64-bit integer of the source (address, state)."""

    def generate(
        context: "BaseContext",
        builder: ir.IRBuilder,
        signature: "Signature",
        arguments: list[ir.Value],
    ) -> ir.Value:
        pointer = ir.IntType(8).as_pointer()
        source = ir.FunctionType(ir.IntType(64), [pointer]).as_pointer()
        return builder.call(
            builder.inttoptr(arguments[0], source), [builder.inttoptr(arguments[1], pointer)]
        )

    return types.uint64(types.uint64, types.uint64), generate


@instruction
def multiply_high(typing: "Context", left: "Type", right: "Type") -> "Lowering":
    """Return ⌊left · right / 2⁶⁴⌋ of two unsigned 64-bit integers."""

    def generate(
        context: "BaseContext",
        builder: ir.IRBuilder,
        signature: "Signature",
        arguments: list[ir.Value],
    ) -> ir.Value:
        wide = ir.IntType(128)
        product = builder.mul(builder.zext(arguments[0], wide), builder.zext(arguments[1], wide))
        return builder.trunc(builder.lshr(product, ir.Constant(wide, 64)), ir.IntType(64))

    return types.uint64(types.uint64, types.uint64), generate


# --- exact samplers -------------------------------------------------------------------------------
@compiled
def below(number: Word, address: Word, state: Word) -> Word:
    """Return a uniform integer in 0 … number − 1 (Lemire: rejection, never modulo)."""
    word = next_word(address, state)
    low = word * number
    if low < number:
        biased = (np.uint64(0) - number) % number
        while low < biased:
            word = next_word(address, state)
            low = word * number
    return multiply_high(word, number)


@compiled
def succeeds_below_one(numerator: Word, denominator: Word, address: Word, state: Word) -> bool:
    """Return True with probability exp(−numerator/denominator), for a ratio of at most 1.

    The method is von Neumann's series. The k-th trial needs denominator · k < 2⁶⁴. With
    denominators up to 2⁵³ that could fail first at k = 2048, which is reached with probability
    1/2047!, less than 10⁻⁵⁸⁰⁰.
    """
    trial = np.uint64(1)
    while below(denominator * trial, address, state) < numerator:
        trial += np.uint64(1)
    odd: bool = (trial & np.uint64(1)) == np.uint64(1)
    return odd


@compiled
def succeeds(numerator: Word, denominator: Word, address: Word, state: Word) -> bool:
    """Return True with probability exp(−numerator/denominator), for any ratio."""
    one = np.uint64(1)
    while numerator > denominator:
        if not succeeds_below_one(one, one, address, state):
            return False
        numerator -= denominator
    return succeeds_below_one(numerator, denominator, address, state)


@compiled
def laplace(scale: Word, address: Word, state: Word) -> np.int64:
    """Return one discrete Laplace variable: P(x) ∝ exp(−|x|/scale)."""
    one = np.uint64(1)
    while True:
        part = below(scale, address, state)
        while not succeeds_below_one(part, scale, address, state):
            part = below(scale, address, state)
        wholes = np.uint64(0)
        while succeeds_below_one(one, one, address, state):
            wholes += one
        size = np.int64(part + scale * wholes)
        if next_word(address, state) & one:
            return size
        if size != 0:  # zero must not count with both signs
            return -size


@compiled
def gaussian(sigma: Word, address: Word, state: Word) -> np.int64:
    """Return one discrete Gaussian variable: P(x) ∝ exp(−x²/2σ²), for σ ≤ 2²⁶.

    The method is rejection from the discrete Laplace law of scale σ. Candidates farther than 2³¹
    from σ are rejected outright, so that squares fit 64 bits: each has an acceptance probability
    under exp(−512), hence a total variation distance under 2⁻⁷³⁸ from the ideal law.
    """
    limit = np.uint64(1) << np.uint64(31)
    while True:
        candidate = laplace(sigma, address, state)
        size = np.uint64(abs(candidate))
        distance = size - sigma if size > sigma else sigma - size
        if distance < limit and succeeds(
            distance * distance, np.uint64(2) * sigma * sigma, address, state
        ):
            return candidate


@compiled
def fill_laplace(scale: Word, out: Integers, address: Word, state: Word) -> None:
    """Fill `out` with independent discrete Laplace variables."""
    for place in range(out.size):
        out[place] = laplace(scale, address, state)


@compiled
def fill_gaussian(sigma: Word, out: Integers, address: Word, state: Word) -> None:
    """Fill `out` with independent discrete Gaussian variables."""
    for place in range(out.size):
        out[place] = gaussian(sigma, address, state)


@compiled
def draw_rejecting(
    scores: Integers, available: Mask, rate: Word, unit: Word, address: Word, state: Word
) -> np.int64:
    """Return an available candidate with probability ∝ exp(rate · score / unit), exactly.

    A candidate is proposed uniformly and accepted with probability exp(−rate · gap / unit), where
    gap is its distance from the best score. No weight is rounded or raised to a floor.
    """
    candidates = np.flatnonzero(available)
    best = scores[candidates[0]]
    for place in candidates:
        best = max(best, scores[place])
    while True:
        proposed: np.int64 = candidates[np.int64(below(np.uint64(candidates.size), address, state))]
        gap = np.uint64(best - scores[proposed])
        if succeeds(gap * rate, unit, address, state):
            return proposed


# --- selection: integer weights and draws ---------------------------------------------------------
TOP = 100
"""The weight of the best candidate is 2^TOP."""
FLOOR = 40
"""The weight of an available candidate is at least 2^FLOOR."""
RATE_BITS = 57
"""Rates are whole multiples of 2^−RATE_BITS."""
EXPONENTIAL_ERROR = 2.0**-49
"""Proven bound on the relative error of `exponential`."""


def _exact_exponentials() -> NDArray[Word]:
    """⌊2⁶³ · exp(−i/128)⌋ for i = 0 … 89, from exact fractions."""
    table = []
    for step in range(90):
        ratio = Fraction(step, 128)
        term = total = Fraction(1)
        for order in range(1, 40):
            term *= -ratio / order
            total += term
        table.append(int(total * 2**63))
    return np.array(table, dtype=np.uint64)


_EXPONENTIALS = _exact_exponentials()
LN2 = np.uint64(int(sum(Fraction(2**57, order * 2**order) for order in range(1, 80))))
"""⌊ln 2 · 2⁵⁷⌋"""


@compiled
def exponential(units: Word) -> tuple[Word, Word]:
    """Return exp(−units / 2⁵⁷) as (mantissa, halvings): mantissa · 2^(−62 − halvings).

    `units` must be below 2⁶³.
    """
    halvings = units // LN2
    rest = units - halvings * LN2
    fine = (rest & np.uint64((1 << 50) - 1)) << np.uint64(7)  # in 2⁻⁶⁴, less than 2⁻⁷
    one = np.uint64(1 << 63)
    # 1 − f(1 − f/2(1 − f/3(1 − f/4(1 − f/5(1 − f/6)))))
    series = one - multiply_high(fine, one) // np.uint64(6)
    series = one - multiply_high(fine, series) // np.uint64(5)
    series = one - multiply_high(fine, series) // np.uint64(4)
    series = one - multiply_high(fine, series) // np.uint64(3)
    series = one - multiply_high(fine, series) // np.uint64(2)
    series = one - multiply_high(fine, series)
    return multiply_high(_EXPONENTIALS[rest >> np.uint64(50)], series), halvings


@compiled
def weight_of(gap: Word, rate: Word) -> tuple[Word, Word]:
    """Return max(2^FLOOR, ⌊2^TOP · exp(−rate · gap / 2⁵⁷)⌋) as (high, low) 64-bit halves."""
    lightest = np.uint64(1 << FLOOR)
    zero = np.uint64(0)
    if gap > np.uint64((1 << 63) - 1) // rate:
        return zero, lightest
    mantissa, halvings = exponential(gap * rate)
    if halvings <= np.uint64(TOP - 62):
        shift = np.uint64(TOP - 62) - halvings
        return mantissa >> np.uint64(1) >> (np.uint64(63) - shift), mantissa << shift
    shift = halvings - np.uint64(TOP - 62)
    low = mantissa >> shift if shift < np.uint64(64) else zero
    return zero, max(low, lightest)


@compiled
def fill_weights(
    scores: Integers, available: Mask, rate: Word, high: NDArray[Word], low: NDArray[Word]
) -> None:
    """Fill in the weights of all candidates; unavailable ones get 0 and are not in the maximum."""
    best = np.int64(-(1 << 63))
    for candidate in range(scores.size):
        if available[candidate] and scores[candidate] > best:
            best = scores[candidate]
    for candidate in range(scores.size):
        if available[candidate]:
            gap = np.uint64(best) - np.uint64(scores[candidate])
            high[candidate], low[candidate] = weight_of(gap, rate)
        else:
            high[candidate] = np.uint64(0)
            low[candidate] = np.uint64(0)


@compiled
def below_wide(high: Word, low: Word, address: Word, state: Word) -> tuple[Word, Word]:
    """Return a uniform 128-bit integer below (high, low), as (high, low); high > 0."""
    mask = high
    for shift in (1, 2, 4, 8, 16, 32):
        mask |= mask >> np.uint64(shift)
    while True:
        first = next_word(address, state) & mask
        second = next_word(address, state)
        if first < high or (first == high and second < low):
            return first, second


@compiled
def draw_weighted(high: NDArray[Word], low: NDArray[Word], address: Word, state: Word) -> int:
    """Return one candidate, with probability proportional to its weight."""
    total_high = np.uint64(0)
    total_low = np.uint64(0)
    for candidate in range(high.size):
        total_low += low[candidate]
        total_high += high[candidate] + np.uint64(total_low < low[candidate])
    rest_high, rest_low = below_wide(total_high, total_low, address, state)
    for candidate in range(high.size):
        if rest_high < high[candidate] or (
            rest_high == high[candidate] and rest_low < low[candidate]
        ):
            return candidate
        borrow = np.uint64(rest_low < low[candidate])
        rest_low -= low[candidate]
        rest_high -= high[candidate] + borrow
    return -1  # not reached: the draw is below the total


# --- clipping: a person's floats become bounded integers ------------------------------------------
@compiled
def admit_rows(
    rows: Floats,
    norm: int,
    levels: float,
    scale: float,
    nonnegative: bool,
    whole: Integers,
    total: Integers,
) -> None:
    """Clip, quantise and add each row to `total`; a row that is not finite adds nothing.

    `norm` is 1, 2 or 0 (every coordinate by itself). The bound holds for the INTEGER row: if
    rounding exceeded it, the row is shrunk towards zero, which ends because every non-zero entry
    loses at least one. `whole` is scratch space.
    """
    for row in range(rows.shape[0]):
        largest = 0.0
        finite = True
        for place in range(rows.shape[1]):
            value = rows[row, place]
            if not np.isfinite(value):
                finite = False
                break
            if nonnegative and value < 0.0:
                value = 0.0
            largest = max(largest, abs(value))
        if not finite or largest == 0.0:
            continue
        length = 0.0  # in units of the largest entry, so that squares cannot overflow
        if norm == 0:
            shrink = 1.0
        else:
            for place in range(rows.shape[1]):
                value = abs(rows[row, place]) / largest
                if nonnegative and rows[row, place] < 0.0:
                    value = 0.0
                length += value if norm == 1 else value * value
            length = length if norm == 1 else np.sqrt(length)
            shrink = min(1.0, levels / scale / largest / length)
        for place in range(rows.shape[1]):
            value = max(-levels, min(levels, rows[row, place] * shrink * scale))
            if nonnegative and value < 0.0:
                value = 0.0
            whole[place] = np.int64(np.floor(value + 0.5))
        if norm != 0:
            enforce_norm(whole, norm, np.int64(levels))
        for place in range(rows.shape[1]):
            total[place] += whole[place]


@compiled
def fill_steps(
    numbers: Floats, low: float, high: float, scale: float, least: int, most: int, out: Integers
) -> None:
    """Fill `out` with numbers clipped to [low, high], in steps between `least` and `most`.

    Numbers that are not finite count as zero.
    """
    for place in range(numbers.size):
        value = numbers[place]
        if not np.isfinite(value):
            value = 0.0
        value = max(low, min(high, value))
        out[place] = max(least, min(most, int(np.floor(value * scale + 0.5))))


@compiled
def enter_steps(cells: Integers, steps: Integers, total: Integers) -> bool:
    """Add each person's steps to their cells, or return False if a person names a cell twice.

    In that case nothing is added.
    """
    people, copies = cells.shape
    for person in range(people):
        for place in range(1, copies):
            for before in range(place):
                if cells[person, place] >= 0 and cells[person, place] == cells[person, before]:
                    return False
    for person in range(people):
        for place in range(copies):
            cell = cells[person, place]
            if 0 <= cell < total.size:
                total[cell] += steps[person]
    return True


@compiled
def enter_rows(rows: Floats, slots: Integers, levels: float, total: Integers) -> None:
    """Add each person's row of numbers in [−1, 1] to their slot, in whole steps.

    Rows with a slot out of range are left out; numbers that are not finite count as zero.
    """
    for row in range(rows.shape[0]):
        slot = slots[row]
        if slot < 0 or slot >= total.shape[0]:
            continue
        for place in range(rows.shape[1]):
            number = rows[row, place]
            if np.isfinite(number):
                total[slot, place] += np.int64(np.floor(min(1.0, max(-1.0, number)) * levels + 0.5))


@compiled
def add_path_gains(
    worths: Floats, reached: Integers, prices: Floats, levels: float, total: Integers
) -> None:
    """Add each person's gain by each item, in whole steps times the item's price.

    `worths` are people × items, in [0, 1]; `reached` is in steps. Prices are at most 1, and each
    product is rounded down.

    Guarantee   docs/guarantees/aggregators.md, Lemma 11
    """
    for person in range(worths.shape[0]):
        for item in range(worths.shape[1]):
            worth = worths[person, item]
            if worth > 0.0:  # not for NaN
                gain = np.int64(np.floor(min(1.0, worth) * levels)) - reached[person]
                if gain > 0:
                    total[item] += np.int64(np.floor(gain * prices[item]))


@compiled
def take_path_gains(worths: Floats, reached: Integers, levels: float) -> None:
    """Update the value that each person has reached by an item with these `worths`, in steps."""
    for person in range(worths.size):
        worth = worths[person]
        if worth > 0.0:
            reached[person] = max(reached[person], np.int64(np.floor(min(1.0, worth) * levels)))


@compiled
def hold_rows(rows: Floats, places: Integers, full: float, held: NDArray[np.uint16]) -> None:
    """Write rows of numbers in [0, 1] to their places in `held`, in whole steps.

    Places out of range are left out; numbers that are not finite count as zero.
    """
    for row in range(rows.shape[0]):
        if 0 <= places[row] < held.shape[0]:
            for column in range(rows.shape[1]):
                value = rows[row, column]
                if not np.isfinite(value):
                    value = 0.0
                held[places[row], column] = np.uint16(
                    np.floor(max(0.0, min(1.0, value)) * full + 0.5)
                )


@compiled
def enforce_norm(whole: Integers, norm: int, levels: np.int64) -> None:
    """Shrink an integer vector towards zero until its norm is at most `levels`."""
    limit = levels if norm == 1 else levels * levels
    while True:
        length = np.int64(0)
        for place in range(whole.size):
            length += abs(whole[place]) if norm == 1 else whole[place] * whole[place]
        if length <= limit:
            return
        ratio = limit / length if norm == 1 else np.sqrt(limit / length)
        ratio = min(ratio, 1.0 - 2.0**-50)
        for place in range(whole.size):
            whole[place] = np.int64(whole[place] * ratio)  # towards zero


# --- one step of the Toeplitz sum -----------------------------------------------------------------
@compiled
def multiply_shift(value: np.int64, factor: np.int64, shift: np.int64) -> np.int64:
    """Return ⌊value · factor / 2^shift⌋ for |value| < 2⁶², 0 ≤ factor < 2³² and shift ≥ 32."""
    low = (np.uint64(value & np.int64(0xFFFFFFFF)) * np.uint64(factor)) >> np.uint64(32)
    return ((value >> np.int64(32)) * factor + np.int64(low)) >> (shift - np.int64(32))


@compiled
def toeplitz_step(
    buffers: Integers,
    addend: Integers,
    decay: Integers,
    decay_shift: Integers,
    weight: Integers,
    weight_shift: Integers,
    fraction: Integers,
    output_fraction: np.int64,
    out: Integers,
) -> None:
    """Set out = addend + round(Σ ω_b · buffer_b), then buffer_b ← λ_b · buffer_b + addend.

    Buffer b counts in units of 2^−fraction_b; λ_b = 1 − decay_b / 2^decay_shift_b, and ω_b ·
    2^output_fraction = weight_b / 2^(weight_shift_b − fraction_b). Every rounding is a floor of an
    exact product.
    """
    half = np.int64(1) << (output_fraction - np.int64(1))
    out[:] = half
    for buffer in range(buffers.shape[0]):
        factor = weight[buffer]
        shift = weight_shift[buffer]
        loss = decay[buffer]
        loss_shift = decay_shift[buffer]
        for place in range(addend.size):
            value = buffers[buffer, place]
            out[place] += multiply_shift(value, factor, shift)
            buffers[buffer, place] = (
                value
                - multiply_shift(value, loss, loss_shift)
                + (addend[place] << fraction[buffer])
            )
    for place in range(addend.size):
        out[place] = addend[place] + (out[place] >> output_fraction)


@compiled
def toeplitz_undo(
    buffers: Floats,
    released: Integers,
    rate: Floats,
    weight: Floats,
    newest: Floats,
    faded: Floats,
) -> None:
    """Set newest = released − Σ ω_b · buffer_b and faded_b = λ_b · buffer_b + newest.

    This is post-processing of noisy integers, in floats; `rate` is λ.
    """
    for place in range(released.size):
        newest[place] = released[place]
    for buffer in range(buffers.shape[0]):
        for place in range(released.size):
            newest[place] -= weight[buffer] * buffers[buffer, place]
    for buffer in range(buffers.shape[0]):
        for place in range(released.size):
            faded[buffer, place] = rate[buffer] * buffers[buffer, place] + newest[place]
