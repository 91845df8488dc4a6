"""A private running sum, released again and again: the public class `RunningSum`.

Guarantee   docs/guarantees/sums.md
"""

from typing import ClassVar

from discreet.arrays import Floats
from discreet.budget.privacy import Privacy
from discreet.engine.people import name_of
from discreet.engine.request import EMPTY_REQUEST
from discreet.feedback import one_row
from discreet.learners.base import Checkpoint, JournalLike, Learner, Modes, guarded
from discreet.learners.constructor import constructor
from discreet.learners.running_sum.prefixes import Prefixes
from discreet.learners.running_sum.settings import RunningSumSettings


class RunningSum(Learner[Floats, Floats]):
    """Release the noisy sum of all people's vectors so far, after every person or block.

    Each person adds one vector. The noise grows only with the logarithm of the number of releases,
    because each release reuses the noise of those before.

    Guarantee: docs/guarantees/sums.md, Theorems 2 and 3.

    Runtime: one or two exact noise vectors per release; state of at most 17 vectors, whatever the
    horizon.

    Parameters
    ----------
    dimension
        Length of a person's vector.
    horizon
        Number of people; None if it is unknown (somewhat more noise).
    privacy
        The guarantee, a `Privacy`; `delta=0` gives a pure guarantee and much more noise.
    bound, norm
        Largest length of a person's vector, in the l₁, l₂ (default) or l_∞ norm (1, 2, "inf").
        Longer vectors are clipped.
    nonnegative
        Whether negative entries are clipped to zero. This reduces the noise by a factor √2, or 2
        for single numbers.
    block
        Number of people between two releases.
    seed, journal, checkpoint
        As for `SetMaximizer`.

    Examples
    --------
    >>> from discreet import Privacy, RunningSum
    >>> both = Privacy(1.0, 1e-6)
    >>> clicks = RunningSum(
    ...     dimension=1, horizon=1000, privacy=both, bound=1.0, nonnegative=True, seed=1
    ... )
    >>> for person in range(1000):
    ...     total = clicks.add([1.0])
    >>> total.round(1), round(clicks.standard_deviation, 1)
    (array([994.1]), 14.8)

    References
    ----------
    Dwork, Naor, Pitassi, Rothblum (2010), "Differential Privacy under Continual Observation".
    Fichtenberger, Henzinger, Upadhyay (2023), "Constant Matters".
    Dvijotham et al. (2024), "Efficient and Near-Optimal Noise Generation for Streaming Differential
    Privacy".
    """

    settings_type = RunningSumSettings
    modes: ClassVar[Modes] = {  # the one with the least noise is taken
        "disjoint": Prefixes,  # every block is noised by itself: few releases
        "honaker": Prefixes,  # a binary tree: δ = 0
        "toeplitz": Prefixes,  # a factorisation of the sums: δ > 0
    }

    @constructor
    def __init__(
        self,
        dimension: int,
        horizon: int | None,
        privacy: Privacy,
        *,
        bound: float,
        norm: float | str = 2,
        nonnegative: bool = False,
        block: int = 1,
        seed: int | None = None,
        journal: JournalLike = None,
        checkpoint: Checkpoint = None,
    ) -> None:
        """Each argument is a field of `RunningSumSettings`, but for `journal` and `checkpoint`."""

    @guarded
    def add(self, vector: object, *, person: object = None) -> Floats:
        """Add one person's vector and return the newest total.

        This is `open`, `close` and `release_if_due` in one call.

        Parameters
        ----------
        vector
            `dimension` numbers.
        person
            As for `open`.
        """
        name = name_of(person, keyed=self._keyed)
        row = one_row(vector, self.settings.dimension)[0]  # refused before the clock ticks
        ticket = self._rounds.open(EMPTY_REQUEST, name)
        self._closed(ticket, row)
        self._rounds.release_if_due()
        return self.total

    @property
    def total(self) -> Floats:
        """The newest released total."""
        total: Floats = self._engine.view.public.total
        return total.copy()

    @property
    def standard_deviation(self) -> float:
        """Standard deviation of the noise of each coordinate of the newest total."""
        prefixes: Prefixes = self._engine.view.phase.mode
        return prefixes.total.standard_deviation(self.releases)
