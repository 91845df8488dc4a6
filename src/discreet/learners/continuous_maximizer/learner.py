"""The learner that chooses sets, or points of a polytope, for a stream of people.

This file has the public API; each mode has a file beside it.

Guarantee   docs/guarantees/continuous.md
"""

from collections.abc import Sequence
from typing import ClassVar, Literal

import numpy as np

from discreet.budget.privacy import Privacy
from discreet.domains import SetDomain
from discreet.functions.continuous import ContinuousFunctions, Multilinear
from discreet.learners.base import Checkpoint, JournalLike, Learner, Modes
from discreet.learners.constructor import constructor
from discreet.learners.continuous_maximizer.boosted import Boosted
from discreet.learners.continuous_maximizer.disjoint_sets import DisjointSets
from discreet.learners.continuous_maximizer.quota_sets import QuotaSets, is_slate
from discreet.learners.continuous_maximizer.settings import ContinuousMaximizerSettings
from discreet.learners.labels import Label, Slates
from discreet.learners.streams import Stream


class ContinuousMaximizer(Learner[np.ndarray | list[Label], Slates]):
    """Choose sets under quotas or a budget, or points between them, under differential privacy.

    The function of each person is monotone with diminishing returns. Value is compared with the
    best fixed point, up to a factor of 1 − 1/e.

    Guarantee: docs/guarantees/continuous.md. Privacy assumes nothing about the stream.

    Runtime: O(items) per person (six gradients); one noise vector per block, some 150 blocks.

    Parameters
    ----------
    domain
        The feasible sets, or mixtures of sets: a matroid or `Knapsack` of discreet.domains.
    horizon
        Number of people.
    privacy
        The guarantee to keep. With `delta=0` it is pure, and costs much more value.
    function
        Meaning of a row, from discreet.functions: `Multilinear(family)` for the value of sets
        under a built-in family, `Multilinear(SampledSets(callable, numbers))` for any other set
        function; for amounts `BudgetAllocation()`, `ConcaveOfLinear(curve)`, `Quadratic()`, or
        `Gradient(callable, numbers)`.
    labels
        Names of the items: sets are then lists of labels. Points stay numbers, one per item.
    play
        "set": a feasible set per round. "point": an amount of each item per round.
    stream
        Assumption for value; privacy assumes nothing. "iid" chooses sets from disjoint, doubling
        blocks: it yields more value if people are alike over time, and is pure; for `Multilinear`
        of a built-in family. "drifting": tastes may drift, change a few times or alternate. Neither
        holds against a stream that reacts to decisions or is timed to the blocks:
        docs/understand/streams.md has the measured values.
    bound
        Largest length of a person's gradient; longer ones are clipped. "auto" releases a typical
        length from the first hundredth of people (more if ε is small), who take part in no other
        release.
    block
        Number of people who see the same decision; "auto": some 150 blocks, which grow.
    seed
        Makes a run reproducible, and its guarantee void: for simulations.
    journal, checkpoint
        `journal`: a file in which every release is committed before it is shown. `checkpoint`: the
        number of answers, or the time (a `timedelta`), after which the open block is saved there
        too. Without a checkpoint, a kill loses the open block.

    Examples
    --------
    >>> import numpy as np
    >>> from discreet import ContinuousMaximizer, Privacy
    >>> from discreet.domains import PartitionMatroid
    >>> shelves = PartitionMatroid((0, 0, 0, 1, 1, 1), (1, 1))    # one item from each of two
    >>> shop = ContinuousMaximizer(shelves, 5000, Privacy(1.0, 1e-6), seed=1)
    >>> likes = np.random.default_rng(0).random((5000, 6)) < [0.1, 0.6, 0.1, 0.1, 0.1, 0.5]
    >>> sets = shop.replay(likes.astype(float))
    >>> sets[-1].tolist()
    [1, 5]

    References
    ----------
    Zhang et al. (2022), "Stochastic Continuous Submodular Maximization: Boosting via Non-oblivious
    Function". Perez-Salazar, Cummings (2021), Algorithm 4; Sadeghi, Fazel (2021), DPMFW.
    """

    settings_type = ContinuousMaximizerSettings
    modes: ClassVar[Modes] = {
        "disjoint-sets": DisjointSets,  # sets, "iid"
        "quota-sets": QuotaSets,  # sets of a fixed number of items, "drifting"
        "vertex": Boosted,  # other sets; points of many items if noise is large
        "euclidean": Boosted,  # points of functions of amounts
    }

    @classmethod
    def choose(cls, settings: ContinuousMaximizerSettings) -> str:
        if settings.stream == "iid":
            return "disjoint-sets"
        is_quota = settings.play == "set" and settings.bound == "auto" and is_slate(settings)
        return "quota-sets" if is_quota else "vertex"

    @constructor
    def __init__(
        self,
        domain: SetDomain,
        horizon: int,
        privacy: Privacy,
        *,
        function: ContinuousFunctions | type[ContinuousFunctions] = Multilinear,
        labels: Sequence[Label] | None = None,
        play: Literal["set", "point"] = "set",
        stream: Stream = "drifting",
        bound: float | Literal["auto"] = "auto",
        block: int | Literal["auto"] = "auto",
        seed: int | None = None,
        journal: JournalLike = None,
        checkpoint: Checkpoint = None,
    ) -> None:
        """Arguments are fields of the settings, except `journal` and `checkpoint`."""
