"""The door: the only object that turns secret aggregates into public results, for a charge.

A door is made for one release, with the charge that was reserved for it. Each method pays before it
draws random bits; a charge that was not reserved cannot be spent. An aggregate carries its own
sensitivity and a mechanism computes its own price, so callers of a door state neither.

Guarantee   docs/guarantees/engine.md, Theorem 1
"""

from collections.abc import Callable

import numpy as np

from discreet.arrays import Floats, Integers, Mask
from discreet.budget.ledger import units_of
from discreet.budget.privacy import Charge
from discreet.errors import BudgetError, ConfigError
from discreet.release.aggregators.base import Aggregate, Aggregator
from discreet.release.aggregators.gain_path import GainPath
from discreet.release.noise import CalibratedNoise, Noise
from discreet.release.randomness import RandomBits
from discreet.release.sampled_path import RATE_UNIT, SampledPath, SecretCoins
from discreet.release.selection import INTEGER_SLACK, Selection, checked_candidates
from discreet.release.sums.prefix_sum import PrefixSum, State


class Door:
    """Noise and selections for one release, up to the reserved charge.

    Parameters
    ----------
    bits
        The source of random bits.
    reserved
        The charge that the ledger has booked for this release.
    index
        The number of this release, from 0 on.

    Examples
    --------
    >>> from discreet.budget.privacy import pure
    >>> from discreet.release.aggregators import OneChoice
    >>> from discreet.release.noise import DiscreteLaplace
    >>> from discreet.release.randomness import seeded_bits
    >>> import numpy as np
    >>> choices = OneChoice(1)
    >>> visits = choices.empty()
    >>> choices.add(visits, np.zeros(500, dtype=np.int64))
    >>> door = Door(seeded_bits(1, 0), pure(0.1), index=0)
    >>> door.add_noise(DiscreteLaplace(10), visits)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    discreet.errors.BudgetError: the next draw costs 0.1 (pure) and 0.1 (pure) is left of ...
    >>> door.add_noise(DiscreteLaplace(11), visits)
    array([483])
    """

    def __init__(self, bits: RandomBits, reserved: Charge, index: int) -> None:
        self.index = index
        """The number of this release, from 0 on."""
        self.opened = False
        """Whether anything has been drawn."""
        self._bits = bits
        self._measure = reserved.measure
        self._left = units_of(reserved)
        self._stepped: set[int] = set()

    def add_noise(self, noise: Noise, aggregate: Aggregate) -> Integers:
        """Return the aggregated integers with exact noise added.

        Guarantee   docs/guarantees/noise.md, Theorems 1 and 2
        """
        aggregator = _checked(aggregate).aggregator
        values = aggregate.values
        self._pay(noise.charge(aggregator.sensitivity(noise.norm)))
        return self.noised(noise, values.reshape(-1)).reshape(values.shape)

    def release(self, once: CalibratedNoise[Aggregator], aggregate: Aggregate) -> Floats:
        """Return the aggregate with calibrated noise added, in the units of people's numbers."""
        steps = self.add_noise(once.noise, aggregate)
        return np.asarray(steps * aggregate.aggregator.grid, dtype=np.float64)

    def select(
        self, selection: Selection, aggregate: Aggregate, available: Mask | None = None
    ) -> int:
        """Return one candidate, drawn by the exponential mechanism with the aggregate as scores.

        Guarantee   docs/guarantees/selection.md, Theorem 1
        """
        scores = self._scores(selection, aggregate)
        available = checked_candidates(scores, available)
        self._pay(selection.charge(self._measure))
        return self.draw(selection, scores, available)

    def select_in_slots(
        self, selection: Selection, aggregate: Aggregate, available: Mask, *, draws: int
    ) -> Integers:
        """Return `draws` different candidates per row of a table of scores, one row per slot.

        Replacing one person moves one row by the span, or two rows by half of it each, so all rows
        together cost as much as one. All draws are paid before the first one. `available` must have
        at least `draws` candidates in every row.

        Guarantee   docs/guarantees/selection.md, Theorem 3
        """
        if not _checked(aggregate).aggregator.is_by_slots:
            raise ConfigError(
                "selections in slots need an aggregator with one slot per person: use ChosenRows"
            )
        if selection.rate * selection.span < 2 * INTEGER_SLACK:
            raise ConfigError("the rate of this selection is below its rounding: raise epsilon")
        table = self._scores(selection, aggregate)
        _check_slots(table, available, draws)
        self._pay(selection.charge(self._measure) * draws)
        chosen = np.empty((len(table), draws), dtype=np.int64)
        for slot, scores in enumerate(table):
            remaining = available[slot].copy()
            for place in range(draws):
                candidate = self.draw(selection, scores, remaining)
                chosen[slot, place] = candidate
                remaining[candidate] = False
        return chosen

    def select_path(
        self,
        sampled: SampledPath,
        path: GainPath,
        extensions: Callable[[list[int]], Mask],
    ) -> list[int]:
        """Return up to `sampled.steps` items, drawn one after another among the sampled people.

        `extensions(chosen)` returns the mask of items that may come next. It must be a function of
        public data only.

        Guarantee   docs/guarantees/selection.md, Theorem 4
        """
        if path.people * path.levels * sampled.rate >= 2**62:
            raise ConfigError(
                f"{path.people} people are too many for exact draws: select from parts of them"
            )
        self._pay(sampled.charge)
        path.begin(self.coins(sampled.keep))
        unit = RATE_UNIT * path.levels
        chosen: list[int] = []
        while len(chosen) < sampled.steps and (mask := extensions(chosen)).any():
            item = self.draw_exactly(sampled.rate, unit, path.scores(), mask)
            chosen.append(item)
            path.take(item)
        return chosen

    def prefix(
        self, sums: PrefixSum, public: State, hidden: State, aggregate: Aggregate
    ) -> tuple[State, State]:
        """Return the public and hidden state of a running sum after its next prefix.

        A running sum takes one step per release, because the charge of a step relies on the steps
        before it.

        Guarantee   docs/guarantees/sums.md
        """
        if _checked(aggregate).aggregator != sums.aggregator:
            raise ConfigError("a running sum takes aggregates of its own aggregator only")
        if id(sums) in self._stepped:
            raise BudgetError(
                "a running sum takes one step per release: plan another release for the next step"
            )
        self._pay(sums.charge(hidden["steps"]))
        self._stepped.add(id(sums))
        addend = aggregate.values.reshape(-1).copy()  # hidden state must not change with later adds
        return sums.step(public, hidden, addend, self.noised)

    def shut(self) -> None:
        """Refuse all later draws: the release is made, or given up."""
        self._left = -1

    # --- the draws themselves, after payment; audits override these -------------------------------

    def noised(self, noise: Noise, exact: Integers) -> Integers:
        """Return integers with noise added; the caller has paid for it."""
        return exact + noise.draw(exact.size, self._bits)

    def draw(self, selection: Selection, scores: Integers, available: Mask) -> int:
        """Return one selected candidate; the caller has paid for it."""
        return selection.draw(scores, self._bits, available)

    def coins(self, keep: int) -> SecretCoins:
        """Return secret coins with a new key, one coin per person; the caller has paid for them."""
        return SecretCoins(self._bits.key(), keep)

    def draw_exactly(self, rate: int, unit: int, scores: Integers, available: Mask) -> int:
        """Return a candidate with probability ∝ exp(rate · score / unit), exactly.

        The caller has paid for the path that this draw belongs to.
        """
        from discreet.release import kernels

        mask = checked_candidates(scores, available)
        bits = self._bits
        return int(
            kernels.draw_rejecting(
                scores, mask, np.uint64(rate), np.uint64(unit), bits.address, bits.state
            )
        )

    def _scores(self, selection: Selection, aggregate: Aggregate) -> Integers:
        """The values of an aggregate whose span is the one that the selection is calibrated for."""
        if _checked(aggregate).aggregator.span != selection.span:
            raise ConfigError(
                "the span of the aggregator differs from that of the selection: calibrate it anew"
            )
        return aggregate.values

    def _pay(self, charge: Charge) -> None:
        """Take the charge from what is reserved, or raise before anything is drawn."""
        due = units_of(charge)
        if charge.measure != self._measure or due > self._left:
            if self._left < 0:
                raise BudgetError("this door is shut: it draws for one release, and not after it")
            left = self._left / units_of(Charge(self._measure, 1.0))
            raise BudgetError(
                f"the next draw costs {charge.amount:.3g} ({charge.measure}) and {left:.3g} "
                f"({self._measure}) is left of this release's charge: reserve it in the plan"
            )
        self._left -= due
        self.opened = True


def _check_slots(table: Integers, available: Mask, draws: int) -> None:
    """Raise if a row of the table has fewer than `draws` available candidates."""
    shaped = table.ndim == 2 and available.shape == table.shape and available.dtype == np.bool_
    if not shaped or (available.sum(axis=1) < draws).any():
        raise ConfigError(f"every slot must have {draws} available candidates")
    for scores, mask in zip(table, available, strict=True):
        checked_candidates(scores, mask)


def _checked(aggregate: object) -> Aggregate:
    """The argument, if it is an aggregate; a `ConfigError` otherwise."""
    if not isinstance(aggregate, Aggregate):
        raise ConfigError(
            f"the door takes aggregates only, not {type(aggregate).__name__}: use an aggregator"
        )
    return aggregate
