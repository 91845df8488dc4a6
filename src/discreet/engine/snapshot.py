"""Snapshots: a learner's whole state as one record, as journals and state files store it.

A snapshot holds what was released (`public`), what is held back (`hidden`, `block`), what was
spent (`ledger`), and which rounds are open.
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Floats, Integers, Mask
from discreet.budget.ledger import Ledger
from discreet.engine.formats import PRESENT
from discreet.engine.plan import State


@dataclass(frozen=True, eq=False)
class OpenRounds:
    """Rounds that wait for feedback, and their requests: one row per round, or one mask for all.

    >>> OpenRounds.of(np.array([3, 4, 5, 9])).edges
    array([ 3,  6,  9, 10])
    """

    edges: Integers
    """Begin and end of each run of consecutive rounds, in ascending order."""
    context: Floats | None = field(default=None, repr=False)
    available: Mask | None = None

    @classmethod
    def of(
        cls, rounds: Integers, context: Floats | None = None, available: Mask | None = None
    ) -> "OpenRounds":
        """Return the record of these rounds, which are in ascending order."""
        begins = np.flatnonzero(np.diff(rounds, prepend=rounds[0] - 2) != 1)
        ends = np.append(begins[1:], len(rounds)) - 1
        edges = np.stack([rounds[begins], rounds[ends] + 1], axis=1)
        return cls(edges.reshape(-1), context, available)

    @property
    def rounds(self) -> Integers:
        """The numbers of all rounds, in ascending order."""
        runs = self.edges.reshape(-1, 2).tolist()
        return np.concatenate([np.arange(begin, end) for begin, end in runs])


@dataclass(frozen=True)
class RoundsState:
    """The clock, the open rounds, and the mask counts of the current block."""

    clock: int = 0
    open: tuple[OpenRounds, ...] = ()
    mask_counts: State = field(default_factory=dict)
    people: "PeopleState | None" = field(default=None, repr=False)
    """The people who have opened rounds in this block, if rounds named their person."""


@dataclass(frozen=True, eq=False)
class PeopleState:
    """Digests of the people who have opened rounds in this block, and the silent rounds."""

    key: bytes = field(repr=False)
    """Secret key of the digests: 16 bytes, drawn for this block alone."""
    digests: NDArray[np.uint8] = field(repr=False)
    """One row of 16 bytes per person."""
    silent: Integers = field(repr=False)
    """Rounds whose feedback adds nothing: later ones of a person, and those without a name."""


@dataclass(frozen=True)
class Snapshot:
    """A learner's whole state, after release `index` − 1 or some rounds later."""

    identity: str
    """Drawn when the learner was made; its copies share it."""
    kind: str
    settings: dict[str, object]
    settings_hash: str
    calibration: str
    """Hash of the plan's constants: state of another calibration must not be reinterpreted.

    `formats.TRANSLATED` if an upgrader has made it one of the present calibration.
    """
    epoch: int
    """Number of times that the state was loaded."""
    index: int
    """Number of releases so far, which is the index of the next one."""
    begin: int
    """First round of the current block."""
    public: State
    hidden: State = field(repr=False)
    block: dict[str, np.ndarray] = field(repr=False)
    """Integers aggregated since the last release, by the name of their aggregator."""
    ledger: Ledger
    coin_key: bytes
    rounds: RoundsState = field(default_factory=RoundsState)
    failed: bool = False
    """Whether a release raised after its noise was drawn; no further release is possible then.

    A second draw would be conditioned on that failure.
    """
    revision: int = 0
    """Number of public events so far."""
    version: str = str(PRESENT)
    """The version of discreet that wrote it."""
