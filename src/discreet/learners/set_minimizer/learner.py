"""Which set of items costs least, visitor after visitor.

This file says what the learner is; how it learns is in the files beside it, one a mode.

Guarantee   docs/guarantees/costs.md
"""

from collections.abc import Sequence
from typing import Any, ClassVar, Literal

from discreet.arrays import Floats
from discreet.budget.privacy import Privacy
from discreet.errors import StateError
from discreet.functions.costs import CostFunctions
from discreet.functions.sets import SetFunction
from discreet.learners.base import Checkpoint, JournalLike, Learner, Modes
from discreet.learners.constructor import constructor
from discreet.learners.labels import Label
from discreet.learners.set_minimizer.gradients import Gradients
from discreet.learners.set_minimizer.pairwise_search import PairwiseSearch
from discreet.learners.set_minimizer.settings import SetMinimizerSettings
from discreet.learners.streams import Stream


class SetMinimizer(Learner):
    """Choose the set of least cost, round after round, without giving any visitor away.

    Which optional checks to switch off, which complements to bundle, which pixels belong together:
    every visitor has a submodular cost of any set, possibly negative, and the set is chosen before
    it is seen. Nothing about the size of the set is fixed.

    Guarantee: docs/guarantees/costs.md. Privacy assumes nothing; value compares with the best fixed
    set, for submodular costs.

    Masks (`available`) must be public: what is in stock, what the law allows at this hour. Never a
    mask that depends on the visitor or on earlier answers: the counts that masks change are not
    protected.

    Runtime: O(items + numbers in a row) a visitor with a built-in function, items + 1 calls of a
    callable.

    Parameters
    ----------
    items
        How many there are, or their labels: with labels sets are lists of labels.
    horizon
        How many visitors.
    privacy
        What is asked for; with `delta=0` the guarantee is pure and costs much more value.
    feedback
        What `observe` takes. "full": a row for `function`, or a callable on integer arrays.
        "bandit": the cost of the set that was chosen, a number.
    function
        What a row means: a family of discreet.functions such as `MinusModular(GraphCut(edges))`.
        None: visitors bring callables (`discreet.functions.check_set_function(f, items,
        monotone=False)` tries whether one is submodular).
    bound
        Costs lie between −bound and bound: callables and numbers are clipped to it, and everyone's
        influence is limited accordingly.
    stream
        What value may assume; privacy assumes nothing. "drifting": tastes may drift, change a few
        times or alternate. "iid", for bandit feedback: visitors are alike over time; most trials
        come early. Neither holds against a stream that reacts to sets or is timed to the blocks.
        "adversarial", for whole costs: whoever makes the stream may have seen every set before this
        visitor's. docs/streams.md has what each keeps.
    explore
        Bandit: the largest share of visitors who may meet a trial, a set other than the one
        believed to be cheapest; "auto" sets no limit and balances trials against what they may
        find.
    block
        How many visitors meet the same point; for bandit feedback, the length of the first block
        after the screening.
    report
        Bandit: the share of the budget, up to ½, that pays for `report()`: the mean cost of the
        sets that each block's visitors were given.
    seed, journal, checkpoint
        As for `SetMaximizer`.

    Examples
    --------
    >>> import numpy as np
    >>> from discreet import Privacy, SetMinimizer
    >>> from discreet.functions import GraphCut, MinusModular
    >>> items = ["phone", "case", "tripod", "bag"]
    >>> together = MinusModular(GraphCut(((0, 1), (2, 3))))      # phone – case, tripod – bag
    >>> both = Privacy(1.0, 1e-6)
    >>> shop = SetMinimizer(items, horizon=4000, privacy=both, function=together, seed=1)
    >>> moods = np.random.default_rng(0).random((4000, 6))
    >>> bundles = shop.replay(moods * [0.3, 0.3, 0.4, 0.0, -0.3, 0.0])    # two cuts, then four benefits
    >>> shop.act()
    ['phone', 'case']

    When only the cost of the chosen set is known:

    >>> site = SetMinimizer(items=10, horizon=100_000, privacy=both, feedback="bandit")
    >>> chosen = site.act()
    >>> site.observe(-0.2)

    References
    ----------
    Hazan, Kale (2012), "Online Submodular Minimization".
    Cardoso, Cummings (2019), "Differentially Private Online Submodular Minimization".
    """

    settings_type = SetMinimizerSettings
    modes: ClassVar[Modes] = {
        "gradients": Gradients,  # whole cost functions; as stiff as released totals call for
        # the same, as stiff as the worst stream might call for: where noise is large
        "bound": Gradients,
        "pairs": PairwiseSearch,  # the cost of the chosen set alone
    }

    @constructor
    def __init__(
        self,
        items: int | Sequence[Label],
        horizon: int,
        privacy: Privacy,
        *,
        feedback: Literal["full", "bandit"] = "full",
        function: CostFunctions | type[CostFunctions | SetFunction] | None = None,
        bound: float = 1.0,
        stream: Stream = "drifting",
        explore: float | Literal["auto"] = "auto",
        block: int | Literal["auto"] = "auto",
        report: float = 0.0,
        seed: int | None = None,
        journal: JournalLike = None,
        checkpoint: Checkpoint = None,
    ) -> None:
        """Each argument is a field of `SetMinimizerSettings`, but for `journal` and
        `checkpoint`.
        """

    @property
    def point(self) -> Floats:
        """How likely each item is to be chosen: the newest released point of the cube."""
        point: Floats = self._engine.view.learning.public.point
        return point.copy()

    def replay(self, rows: Any, *, persons: Any = None) -> Any:
        """Feed a log of cost functions and give each visitor's set.

        With labels a list of lists; without, one row of numbers per visitor, filled up with −1.
        """
        if self.settings.feedback != "full":
            raise StateError(
                "replay needs feedback='full': the cost depends on what was chosen; "
                "use open_many and close_many"
            )
        return super().replay(rows, persons=persons)
