"""The door: the only object that turns secret into public, and only what was aggregated, for a fee.

A door is made for one turn, with the charge that was reserved for it. Each passage pays before a
random word is drawn; what was not reserved cannot be spent. What was aggregated says how far a
person can move it, and mechanisms know their own prices, so nobody who uses a door states either.

Guarantee   docs/guarantees/engine.md, Theorem 1
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from discreet.arrays import Floats, Integers, Mask
from discreet.budget.ledger import units_of
from discreet.budget.privacy import Charge
from discreet.errors import BudgetError, ConfigError
from discreet.release.aggregators.base import Aggregate
from discreet.release.aggregators.gain_path import GainPath
from discreet.release.noise import CalibratedNoise, Noise
from discreet.release.randomness import RandomBits
from discreet.release.sampled_path import RATE_UNIT, SampledPath, SecretCoins
from discreet.release.selection import INTEGER_SLACK, Selection, checked_candidates
from discreet.release.sums.prefix_sum import PrefixSum, State


class Door:
    """Noise and selections for one turn, up to the reserved charge.

    >>> from discreet.budget.privacy import pure
    >>> from discreet.release.aggregators import OneChoice
    >>> from discreet.release.noise import DiscreteLaplace
    >>> from discreet.release.randomness import seeded_bits
    >>> import numpy as np
    >>> choices = OneChoice(1)
    >>> visits = choices.empty()
    >>> choices.add(visits, np.zeros(500, dtype=np.int64))
    >>> door = Door(seeded_bits(1, 0), pure(0.1), index=0)
    >>> door.add_noise(DiscreteLaplace(10), visits)
    Traceback (most recent call last):
    discreet.errors.BudgetError: this turn has 0.1 (pure) left and the next draw costs 0.1 (pure): plan it
    >>> door.add_noise(DiscreteLaplace(11), visits)
    array([483])
    """

    def __init__(self, bits: RandomBits, reserved: Charge, index: int) -> None:
        self.index = index
        """Which release this is."""
        self.opened = False
        """Whether anything has been drawn."""
        self._bits = bits
        self._measure = reserved.measure
        self._left = units_of(reserved)
        self._stepped: set[int] = set()

    def add_noise(self, noise: Noise, aggregate: Aggregate) -> Integers:
        """What was aggregated, with exact noise."""
        aggregator, values = _genuine(aggregate).aggregator, aggregate.values
        self._pay(noise.charge(aggregator.sensitivity(noise.norm)))
        return self.noised(noise, values.reshape(-1)).reshape(values.shape)

    def release(self, once: CalibratedNoise[Any], aggregate: Aggregate) -> Floats:
        """What was aggregated, with the noise of one release, in the units that people's numbers
        have.
        """
        return np.asarray(
            self.add_noise(once.noise, aggregate) * aggregate.aggregator.grid, dtype=np.float64
        )

    def select(
        self, selection: Selection, aggregate: Aggregate, available: Mask | None = None
    ) -> int:
        """One candidate, by the exponential mechanism, with what was aggregated as scores."""
        scores = self._scores(selection, aggregate)
        available = checked_candidates(scores, available)
        self._pay(selection.charge(self._measure))
        return self.draw(selection, scores, available)

    def select_in_slots(
        self, selection: Selection, aggregate: Aggregate, available: Mask, *, draws: int
    ) -> Integers:
        """So many different candidates in every row of a table; one row of them a slot.

        A person moves one row by the span, or two rows by half of it each, so all rows together
        cost what one does (docs/guarantees/selection.md, Theorem 3); all draws are paid before the
        first. `available` has at least as many candidates in every row.
        """
        if not _genuine(aggregate).aggregator.is_by_slots:
            raise ConfigError("selections in slots need what is gathered in one slot a person")
        if selection.rate * selection.span < 2 * INTEGER_SLACK:
            raise ConfigError("this selection is too blunt for its integers: raise epsilon")
        table = self._scores(selection, aggregate)
        shaped = table.ndim == 2 and available.shape == table.shape and available.dtype == np.bool_
        if not shaped or (available.sum(axis=1) < draws).any():
            raise ConfigError(f"every slot must have {draws} available candidates")
        for scores, mask in zip(table, available, strict=True):
            checked_candidates(scores, mask)
        self._pay(selection.charge(self._measure) * draws)
        chosen = np.empty((len(table), draws), dtype=np.int64)
        for slot, scores in enumerate(table):
            left = available[slot].copy()
            for place in range(draws):
                chosen[slot, place] = self.draw(selection, scores, left)
                left[chosen[slot, place]] = False
        return chosen

    def select_path(
        self,
        sampled: SampledPath,
        path: GainPath,
        extensions: Callable[[list[int]], Mask],
    ) -> list[int]:
        """Up to `sampled.steps` items, one after another, among people who are kept by a coin.

        `extensions(chosen)` says which items may come next, if any; it must not read anyone's data.
        """
        if path.people * path.levels * sampled.rate >= 2**62:
            raise ConfigError(
                f"{path.people} people are too many for exact draws: select from parts of them"
            )
        self._pay(sampled.charge)
        path.begin(self.coins(sampled.keep))
        chosen: list[int] = []
        while len(chosen) < sampled.steps and (mask := extensions(chosen)).any():
            chosen.append(
                self.draw_exactly(sampled.rate, RATE_UNIT * path.levels, path.scores(), mask)
            )
            path.take(chosen[-1])
        return chosen

    def prefix(
        self, sums: PrefixSum, public: State, hidden: State, aggregate: Aggregate
    ) -> tuple[State, State]:
        """The next prefix of a running sum, as new public and kept state.

        One step a turn: the fee of a step counts on those of the steps before it.
        """
        if _genuine(aggregate).aggregator != sums.aggregator:
            raise ConfigError("a running sum takes what its own gathering added up")
        if id(sums) in self._stepped:
            raise BudgetError(
                "a running sum takes one step a turn: plan another release for the next"
            )
        self._pay(sums.charge(hidden["steps"]))
        self._stepped.add(id(sums))
        addend = aggregate.values.reshape(
            -1
        ).copy()  # what is kept must not change with later answers
        return sums.step(public, hidden, addend, self.noised)

    # --- the draws themselves, paid for by now; an audit stands in for them -----------------------

    def noised(self, noise: Noise, exact: Integers) -> Integers:
        """Integers plus the noise of a passage that was paid."""
        return exact + noise.draw(exact.size, self._bits)

    def draw(self, selection: Selection, scores: Integers, available: Mask) -> int:
        """A selection that was paid."""
        return selection.draw(scores, self._bits, available)

    def coins(self, keep: int) -> SecretCoins:
        """Secret coins of a passage that was paid, one a person, with a key of its own."""
        return SecretCoins(self._bits.key(), keep)

    def draw_exactly(self, rate: int, unit: int, scores: Integers, available: Mask) -> int:
        """A draw of a path that was paid: with probability ∝ exp(rate · score / unit), exactly."""
        from discreet.release import kernels

        mask = checked_candidates(scores, available)
        bits = self._bits
        return int(
            kernels.draw_rejecting(
                scores, mask, np.uint64(rate), np.uint64(unit), bits.address, bits.state
            )
        )

    def _scores(self, selection: Selection, aggregate: Aggregate) -> Integers:
        if _genuine(aggregate).aggregator.span != selection.span:
            raise ConfigError(
                "a selection takes what it was calibrated for: the span of the gathering differs"
            )
        return aggregate.values

    def _pay(self, charge: Charge) -> None:
        due = units_of(charge)
        if charge.measure != self._measure or due > self._left:
            left = self._left / units_of(Charge(self._measure, 1.0))
            raise BudgetError(
                f"this turn has {left:.3g} ({self._measure}) left and the next draw costs "
                f"{charge.amount:.3g} ({charge.measure}): plan it"
            )
        self._left -= due
        self.opened = True


def _genuine(aggregate: object) -> Aggregate:
    if not isinstance(aggregate, Aggregate):
        raise ConfigError(
            f"the door takes what was gathered, not {type(aggregate).__name__}: use a gathering"
        )
    return aggregate
