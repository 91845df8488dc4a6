"""The door: the only object that turns secret into public, and it takes its fee first.

A door is made for one turn, with the charge that was reserved for it. Each passage pays before a random word is drawn; what
was not reserved cannot be spent. Mechanisms know their own prices, so nobody who uses a door states one.

Guarantee   docs/guarantees/turn.md, Theorem 1
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from discreet.errors import BudgetError, ConfigError
from discreet.release.arrays import Integers, Mask
from discreet.release.ledger import units_of
from discreet.release.noise import Noise
from discreet.release.privacy import Charge
from discreet.release.randomness import Words
from discreet.release.selection import Selection, SelectionTree, checked_candidates
from discreet.release.sums import PrefixSum

__all__ = ["Door"]


class Door:
    """Noise and selections for one turn, up to the reserved charge.

    >>> from discreet.release.noise import DiscreteLaplace
    >>> from discreet.release.privacy import pure
    >>> from discreet.release.randomness import seeded_words
    >>> import numpy as np
    >>> door = Door(seeded_words(1, 0), pure(0.1), index=0)
    >>> door.add_noise(DiscreteLaplace(10), np.array([500]), sensitivity=1)
    Traceback (most recent call last):
    discreet.errors.BudgetError: this turn has 0.1 (pure) left and the next draw costs 0.1 (pure): plan it
    >>> door.add_noise(DiscreteLaplace(11), np.array([500]), sensitivity=1)
    array([483])
    """

    def __init__(self, words: Words, reserved: Charge, index: int) -> None:
        self.index = index
        """Which release this is."""
        self.opened = False
        """Whether anything has been drawn."""
        self._words = words
        self._measure = reserved.measure
        self._left = units_of(reserved)
        self._stepped: set[int] = set()

    def add_noise(self, noise: Noise, values: Integers, *, sensitivity: float) -> Integers:
        """The values with exact noise; one person can move them by at most `sensitivity` in the noise's norm."""
        if values.dtype != np.int64:
            raise ConfigError(f"noise is added to int64 arrays only, got {values.dtype}: quantise at the entrance")
        self._pay(noise.charge(sensitivity))
        return values + noise.draw(values.size, self._words).reshape(values.shape)

    def select(self, selection: Selection, scores: Integers, available: Mask | None = None) -> int:
        """One candidate, by the exponential mechanism."""
        available = checked_candidates(scores, available)
        self._pay(selection.charge(self._measure))
        return selection.draw(scores, self._words, available)

    def select_side_by_side(self, selection: Selection, tables: list[Integers]) -> list[int]:
        """One candidate from each table, where a person can move the scores of one table only, and it is public which.

        Then nobody pays for more than one of the draws: one charge for all.
        """
        for scores in tables:
            checked_candidates(scores, None)
        self._pay(selection.charge(self._measure))
        return [selection.draw(scores, self._words) for scores in tables]

    def select_from(self, tree: SelectionTree) -> int:
        """One candidate of a large set, with the same law and price."""
        self._pay(tree.selection.charge(self._measure))
        return tree.draw(self._words)

    def select_basis(self, selection: Selection, scores: Integers, extensions: Callable[[list[int]], Mask], rank: int) -> list[int]:
        """A basis of a matroid of this rank, by successive draws, all paid before the first."""
        checked_candidates(scores, None)
        self._pay(selection.charge(self._measure) * rank)
        return selection.draw_basis(scores, self._words, extensions, rank)

    def prefix(
        self, sums: PrefixSum, public: dict[str, Any], secret: dict[str, Any], addend: Integers
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """The next prefix of a running sum, as new public and secret state. One step a turn: later steps lean on earlier fees."""
        if id(sums) in self._stepped:
            raise BudgetError("a running sum takes one step a turn: plan another release for the next")
        self._pay(sums.charge(secret["steps"]))
        self._stepped.add(id(sums))
        return sums.step(public, secret, addend, self._words)

    def _pay(self, charge: Charge) -> None:
        due = units_of(charge)
        if charge.measure != self._measure or due > self._left:
            left = self._left / units_of(Charge(self._measure, 1.0))
            raise BudgetError(
                f"this turn has {left:.3g} ({self._measure}) left and the next draw costs {charge.amount:.3g} ({charge.measure}): plan it"
            )
        self._left -= due
        self.opened = True
