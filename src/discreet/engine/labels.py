"""Labels: the users' names of candidates. Modes compute with numbers; learners translate.

Guarantee   none is needed: labels are public, and a translation reads nothing else
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from discreet.arrays import Integers

Label = str | int
Decides = Literal["one", "slate", "set"]
"""Kind of decision: one candidate, one candidate per slot, or a set of any size."""


@dataclass(frozen=True, eq=False)
class Labels:
    """The labels of all candidates, and the translation of decisions into labels and back.

    >>> shop = Labels(("tea", "milk", "soap"), "slate")
    >>> shop.single(np.array([2, 0])), shop.many(np.array([[2, 0], [1, 2]])).tolist()
    (['soap', 'tea'], [['soap', 'tea'], ['milk', 'soap']])
    >>> shop.many(np.array([[2, 0], [1, -1]]))
    [['soap', 'tea'], ['milk']]
    """

    names: tuple[Label, ...]
    decides: Decides

    @cached_property
    def numbers(self) -> dict[Label, int]:
        """The candidates' numbers by label."""
        return {label: number for number, label in enumerate(self.names)}

    @cached_property
    def _array(self) -> np.ndarray:
        """The labels as an array: of integers if all are integers, otherwise of objects."""
        whole = all(isinstance(label, int) and abs(label) < 2**63 for label in self.names)
        array = np.empty(len(self.names), dtype=np.int64 if whole else object)
        array[:] = self.names
        return array

    def single(self, decision: Integers | np.int64) -> Label | list[Label]:
        """Return the decision of one round: a label, or a list of labels."""
        return self._set(decision) if isinstance(decision, np.ndarray) else self.names[decision]

    def _set(self, decision: Integers) -> list[Label]:
        return [self.names[number] for number in decision.tolist() if number >= 0]

    def many(self, decisions: Integers) -> np.ndarray | list[list[Label]]:
        """Return one decision per round: an array of labels, or lists if sets differ in size."""
        if self.decides == "one":
            return self._array[decisions]
        if self.decides == "slate" and (not decisions.size or decisions[:, -1].min() >= 0):
            return self._array[decisions]  # −1 (no item) comes at the end of a row only
        return [self._set(row) for row in decisions]

    def table(self, decisions: Sequence[Any]) -> Integers:
        """Return decisions by number, sets padded with −1: the inverse of `many`."""
        if self.decides == "one":
            return np.array([self.numbers[label] for label in decisions], dtype=np.int64)
        table = np.full((len(decisions), max(map(len, decisions), default=0)), -1)
        for row, decision in zip(table, decisions, strict=True):
            row[: len(decision)] = [self.numbers[label] for label in decision]
        return table

    def as_plain(self) -> dict[str, object]:
        """Return the labels as strings and lists, for a message or a file."""
        return {"names": list(self.names), "decides": self.decides}

    @classmethod
    def from_plain(cls, plain: dict[str, Any]) -> "Labels":
        """Return the labels that `as_plain` has described."""
        return cls(tuple(plain["names"]), plain["decides"])
