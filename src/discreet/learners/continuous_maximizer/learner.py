"""Which set, or which point of a polytope, is worth most, decided anew as people come.

This file says what the learner is; how it learns is in the files beside it, one a mode.

Guarantee   docs/guarantees/continuous.md
"""

from collections.abc import Sequence
from typing import ClassVar, Literal

from discreet.budget.privacy import Privacy
from discreet.domains import SetDomain
from discreet.functions.continuous import ContinuousFunctions, Multilinear
from discreet.learners.base import Checkpoint, JournalLike, Learner, Modes
from discreet.learners.constructor import constructor
from discreet.learners.continuous_maximizer.boosted import Boosted
from discreet.learners.continuous_maximizer.disjoint_sets import DisjointSets
from discreet.learners.continuous_maximizer.quota_sets import QuotaSets
from discreet.learners.continuous_maximizer.settings import ContinuousMaximizerSettings
from discreet.learners.labels import Label
from discreet.learners.streams import Stream


class ContinuousMaximizer(Learner):
    """Choose sets under quotas or a budget, or points between them, without giving anyone away.

    Everybody's function is monotone with diminishing returns; the learner keeps close to the best
    fixed point for all of them, up to 1 − 1/e.

    Guarantee: docs/guarantees/continuous.md. Privacy assumes nothing.

    Runtime: O(items) a person (six gradients); one noise vector a block, some 150 blocks.

    Parameters
    ----------
    domain
        Which sets, or mixtures of sets, may be decided: a matroid or `Knapsack` of
        discreet.domains.
    horizon
        How many people.
    privacy
        What is asked for; with `delta=0` the guarantee is pure and costs much more.
    function
        What a row means, of discreet.functions: `Multilinear(family)` (a set is worth what the
        family says; of any other set function `Multilinear(SampledSets(callable, numbers))`); for
        amounts `BudgetAllocation()`, `ConcaveOfLinear(curve)`, `Quadratic()`, or
        `Gradient(callable, numbers)`.
    labels
        The items' names: sets are then lists of labels. Points stay numbers, one per item.
    play
        "set": a feasible set each round. "point": how much of each item.
    stream
        "iid" chooses sets from fresh data, in doubling blocks: worth more if people are alike over
        time, and pure; for `Multilinear` of a built-in family. "drifting": tastes may drift, change
        a few times or alternate. Neither holds against a stream that reacts to decisions or is
        timed to the blocks: docs/streams.md has what is kept. Privacy assumes nothing.
    bound
        The longest a person's gradient may be; longer ones are scaled down. "auto" releases a
        typical length from the first hundredth of people (more if ε is small), who pay for that and
        for nothing else.
    block
        How many people see the same decision; "auto": some 150 blocks, which grow.
    seed, journal, checkpoint
        As for `SetMaximizer`.

    Examples
    --------
    >>> import numpy as np
    >>> from discreet import ContinuousMaximizer, Privacy
    >>> from discreet.domains import PartitionMatroid
    >>> shelves = PartitionMatroid((0, 0, 0, 1, 1, 1), (1, 1))          # one item from each of two shelves
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
        "fresh": DisjointSets,  # sets, "iid"
        "slates": QuotaSets,  # sets of a fixed number of items, "drifting"
        "vertex": Boosted,  # other sets; points of many items, where noise hides what lies between
        "euclidean": Boosted,  # points of functions of amounts
    }

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
        """Each argument is a field of `ContinuousMaximizerSettings`, but for `journal` and
        `checkpoint`.
        """
