"""When data is released and what each release costs: known in advance, up to what released values
decide.

`steps(index)` gives the step that ends with release `index`. Where released values decide how long
a block is, the view of that block gives it (discreet/engine/view.py). It never changes inside a
step, and the total is fixed before the first person arrives.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from discreet.budget.ledger import Spending
from discreet.budget.privacy import Charge, Privacy, pure, zcdp
from discreet.engine.codec import fingerprint
from discreet.engine.schedule import Schedule

State = dict[str, Any]
"""A flat dictionary of arrays, numbers and texts."""


@dataclass(frozen=True)
class Step:
    """A block of rounds and the release at its end.

    `charge` is what the release adds to the account of the person who pays most; releases of
    different `cohort`s read different people.
    """

    rounds: int
    charge: Charge
    cohort: int | None = None


@dataclass(frozen=True)
class Plan:
    """All steps of a learner, and what anyone pays in the end."""

    steps: Callable[[int], Step | None] | None
    """The step before release `index`; None if there is none: what is decided then stays.

    Not given where released values decide how long a block is.
    """
    total: Spending
    horizon: int | None
    releases: int | None
    """How many releases there will be (None: without end)."""
    facts: dict[str, object] = field(default_factory=dict)
    """What a person planning with this learner would like to know: public numbers only."""
    constants: tuple[object, ...] = ()
    """All that state depends on besides the settings: levels, noise, coefficients, measures of
    cohorts.
    """

    @classmethod
    def scheduled(
        cls,
        schedule: Schedule,
        charge: Callable[[int], Charge],
        total: Spending,
        *,
        cohort: Callable[[int], int | None] = lambda index: None,
        facts: dict[str, object],
        constants: tuple[object, ...],
    ) -> "Plan":
        """The plan whose steps a schedule fixes once and for all."""

        def step(index: int) -> Step | None:
            if schedule.releases is not None and index >= schedule.releases:
                return None
            begin = schedule.end(index - 1) if index else 0
            return Step(schedule.end(index) - begin, charge(index), cohort(index))

        return cls(step, total, schedule.horizon, schedule.releases, facts, (schedule, *constants))

    @property
    def calibration(self) -> str:
        """A hash of the constants: state that was calibrated differently must not be
        reinterpreted.
        """
        return fingerprint(self.total, self.constants)


def paid_by_cohorts(privacy: Privacy, charges: list[Charge], *, blocks: int = 0) -> Spending:
    """What is spent if each of these charges is paid by other people.

    `blocks` says how many releases there are, if each reads one block of rounds of its own: then
    rounds that name their person cost less (`Privacy.times`).
    """
    amounts = {
        measure: max(
            (charge.amount for charge in charges if charge.measure == measure), default=0.0
        )
        for measure in ("pure", "zcdp")
    }
    return Spending(
        pure(0.0) if privacy.pure else zcdp(0.0),
        pure=amounts["pure"],
        zcdp=amounts["zcdp"],
        blocks=blocks if privacy.keyed else 0,
    )
