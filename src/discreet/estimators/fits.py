"""Counts the fits of estimators that were cloned from each other, and what they cost together."""

import warnings
from dataclasses import dataclass, field
from typing import Self

from discreet.budget.guarantee import Guarantee
from discreet.budget.together import together


@dataclass(eq=False)
class Fits:
    """All fits of an estimator and of its clones, in this process.

    A grid search or a cross-validation clones an estimator for each fit; each fit spends the whole
    budget.
    """

    guarantees: list[Guarantee] = field(default_factory=list)

    def add(self, guarantee: Guarantee) -> str:
        """Count a fit, and return a sentence that states what all fits cost together.

        The second, fourth, eighth … fit also warns, so a search of many fits warns a few times
        only.
        """
        self.guarantees.append(guarantee)
        count = len(self.guarantees)
        if count == 1:
            return (
                "This is the guarantee of this fit: every other fit of the same people adds to it."
            )
        whole = together(*self.guarantees)
        at = f" at delta = {whole.delta:.3g}" if whole.delta else ""
        cost = f"{count} fits on the same people cost together epsilon = {whole.epsilon:.3g}{at}"
        if count & (count - 1) == 0:
            warnings.warn(f"{cost}: guarantee_ is that of one fit", stacklevel=6)
        return f"This is the guarantee of this fit: {cost}."

    def remove(self, guarantee: Guarantee) -> None:
        """Forget a fit that read nobody; another thread may have added others since."""
        self.guarantees = [other for other in self.guarantees if other is not guarantee]

    def __deepcopy__(self, memo: dict[int, object]) -> Self:
        return self  # a copy spends on the same people, too
