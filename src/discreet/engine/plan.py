"""Plans: when data is released, and the charge of each release.

`steps(index)` returns the step that ends with release `index`. Where released values decide how
long a block is, the view of that block returns its step (discreet/engine/view.py). A step never
changes once its block has begun, and the total is fixed before the first person arrives.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from discreet.budget.ledger import Spending
from discreet.budget.privacy import Charge, Privacy, pure, zcdp
from discreet.engine.codec import fingerprint

State = dict[str, Any]
"""A flat dictionary of arrays, numbers and texts."""


@dataclass(frozen=True)
class Step:
    """A block of rounds and the release at its end.

    `charge` is the privacy loss that the release adds for the person who loses most; releases of
    different `cohort`s read disjoint sets of people.
    """

    rounds: int
    charge: Charge
    cohort: int | None = None


@dataclass(frozen=True)
class Plan:
    """All steps of a learner, and the total privacy loss of one person."""

    steps: Callable[[int], Step | None] | None
    """The step that ends with release `index`; None after the last release.

    The field itself is None where released values decide how long a block is.
    """
    total: Spending
    horizon: int | None
    releases: int | None
    """Number of releases (None: without end)."""
    constants: tuple[object, ...] = ()
    """Everything that the state depends on besides the settings: levels, noise, coefficients."""

    @property
    def calibration(self) -> str:
        """Hash of the constants: state of another calibration must not be reinterpreted."""
        return fingerprint(self.total, self.constants)


def paid_by_cohorts(privacy: Privacy, charges: list[Charge], *, blocks: int = 0) -> Spending:
    """Return the total spending if disjoint cohorts of people pay these charges.

    `blocks` is the number of releases, if each reads one block of rounds of its own: rounds that
    name their person then cost less (`Privacy.times`).
    """
    amounts = {}
    for measure in ("pure", "zcdp"):
        of_measure = (charge.amount for charge in charges if charge.measure == measure)
        amounts[measure] = max(of_measure, default=0.0)
    return Spending(
        pure(0.0) if privacy.pure else zcdp(0.0),
        pure=amounts["pure"],
        zcdp=amounts["zcdp"],
        blocks=blocks if privacy.keyed else 0,
    )
