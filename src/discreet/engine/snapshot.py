"""A turn: the moment at which secret becomes public, as one record.

Everything a learner is lies in its newest turn: what was released (`public`), what is held back
(`hidden`, `block`), what was paid (`ledger`), and which rounds are open.
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Floats, Integers, Mask
from discreet.budget.ledger import Ledger
from discreet.engine.plan import State


@dataclass(frozen=True, eq=False)
class OpenRounds:
    """Rounds that wait for feedback, and what came with their questions: one row per round, or one
    mask.

    >>> OpenRounds.of(np.array([3, 4, 5, 9])).edges
    array([ 3,  6,  9, 10])
    """

    edges: Integers
    """Where each run of neighbouring rounds begins and ends, in ascending order."""
    context: Floats | None = field(default=None, repr=False)
    available: Mask | None = None

    @classmethod
    def of(
        cls, rounds: Integers, context: Floats | None = None, available: Mask | None = None
    ) -> "OpenRounds":
        """These rounds, in ascending order."""
        begins = np.flatnonzero(np.diff(rounds, prepend=rounds[0] - 2) != 1)
        ends = np.append(begins[1:], len(rounds)) - 1
        edges = np.stack([rounds[begins], rounds[ends] + 1], axis=1)
        return cls(edges.reshape(-1), context, available)

    @property
    def rounds(self) -> Integers:
        """All of them, in ascending order."""
        runs = self.edges.reshape(-1, 2).tolist()
        return np.concatenate([np.arange(begin, end) for begin, end in runs])


@dataclass(frozen=True)
class RoundsState:
    """Where the clock stands, which rounds are open, and what masks have changed so far in this
    block.
    """

    clock: int = 0
    open: tuple[OpenRounds, ...] = ()
    mask_counts: State = field(default_factory=dict)
    people: "PeopleState | None" = field(default=None, repr=False)
    """Who has opened rounds in this block, if rounds named their person."""


@dataclass(frozen=True, eq=False)
class PeopleState:
    """Digests of the people who have opened rounds in this block, and their rounds that do not
    count.
    """

    key: bytes = field(repr=False)
    """Of the digests: 16 bytes, secret, drawn for this block alone."""
    digests: NDArray[np.uint8] = field(repr=False)
    """One row of 16 bytes a person."""
    silent: Integers = field(repr=False)
    """Rounds whose feedback adds nothing: a person's second ones, and those of nobody knows
    whom.
    """


@dataclass(frozen=True)
class Snapshot:
    """A learner's whole state, right after release `index` − 1; saved in between, some rounds
    later.
    """

    identity: str
    """Drawn when the learner was made; its copies share it."""
    kind: str
    settings: dict[str, object]
    settings_hash: str
    calibration: str
    """A hash of the plan's constants: state calibrated by another version must not be
    reinterpreted.
    """
    epoch: int
    index: int
    begin: int
    """The rounds before the current block."""
    public: State
    hidden: State = field(repr=False)
    block: dict[str, np.ndarray] = field(repr=False)
    """Integers aggregated since the last release, by the name of their aggregator."""
    ledger: Ledger
    coin_key: bytes
    rounds: RoundsState = field(default_factory=RoundsState)
    failed: bool = False
    """A release broke after its noise was drawn: drawing again would condition it, so nothing
    may follow.
    """
    revision: int = 0
    """How many public events have changed what is public."""
