"""A turn: the moment at which secret becomes public, as one record.

Everything a learner is lies in its newest turn: what was released (`public`), what was held back (`secret`), what was paid
(`ledger`). `Plan` says in advance when turns come and what they cost.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

from discreet.release.ledger import Ledger
from discreet.release.privacy import Charge
from discreet.release.schedule import Schedule

__all__ = ["Asked", "Batch", "Plan", "Ticket", "Turn"]

State = dict[str, Any]
"""A flat dictionary of arrays and integers."""


@dataclass(frozen=True)
class Plan:
    """When data is released, and the charge of each release: all known before the first person arrives.

    `charge(index)` is what release `index` adds to the account of the person who pays most. Releases of different
    `cohort(index)` read different people. `total` bounds what anyone pays in the end.
    """

    schedule: Schedule
    charge: Callable[[int], Charge]
    total: Charge
    cohort: Callable[[int], int | None] = lambda index: None
    facts: dict[str, Any] = field(default_factory=dict)
    """What a person planning with this learner would like to know: public numbers only."""
    constants: str = ""
    """Everything that state depends on, in full: levels, noise, coefficients."""

    @property
    def calibration(self) -> str:
        """A hash of the schedule and the constants."""
        return blake2b(f"{self.schedule!r} {self.total!r} {self.constants}".encode(), digest_size=16).hexdigest()


@dataclass(frozen=True)
class Asked:
    """What came with the question: context and which candidates were available."""

    context: Any = None
    available: Any = None


@dataclass(frozen=True)
class Ticket:
    """One round in flight: hand it back to `close` together with the feedback."""

    round: int
    index: int
    decision: Any


@dataclass(frozen=True)
class Batch:
    """Feedback of some rounds of one block, on its way to `digest`.

    `single` feedback comes from one `close`: it is refused if it is wrong, and the round stays open. Otherwise `feedback`
    holds one entry or row a round, and people whose entries are not finite count as zero.
    """

    index: int
    rounds: range | list[int]
    feedback: Any
    single: bool = False
    asked: dict[int, Asked] = field(default_factory=dict)
    """What came with the questions of those rounds that were asked one by one."""


@dataclass(frozen=True)
class Turn:
    """A learner's whole state, right after release number `index` − 1 (or, saved in between, some rounds later).

    `rounds` are the rounds before the current block; `clock` those opened so far; `waiting` those without feedback yet.
    """

    identity: str
    """Drawn when the learner was made; its copies share it."""
    kind: str
    config: dict[str, Any]
    config_hash: str
    calibration: str
    """A hash of the plan's constants: state calibrated by another version must not be reinterpreted."""
    epoch: int
    index: int
    rounds: int
    clock: int
    waiting: dict[int, Asked]
    public: State
    secret: State
    ledger: Ledger
    coin_key: bytes
    failed: bool = False
    """A release broke after its noise was drawn: drawing again would condition the noise, so nothing may follow."""
