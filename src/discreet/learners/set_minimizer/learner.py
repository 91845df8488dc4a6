"""Private online submodular minimisation: the public class `SetMinimizer`.

The modes are in the files beside this one.

Guarantee   docs/guarantees/costs.md
"""

from typing import ClassVar, Literal

from discreet.arrays import Floats
from discreet.budget.privacy import Privacy
from discreet.engine.tickets import Decision
from discreet.errors import StateError
from discreet.functions.costs import CostFunctions
from discreet.functions.sets import SetFunction
from discreet.learners.base import Checkpoint, JournalLike, Learner, Modes
from discreet.learners.constructor import constructor
from discreet.learners.labels import Slate, Slates
from discreet.learners.set_minimizer.gradients import Gradients
from discreet.learners.set_minimizer.pairwise_search import PairwiseSearch
from discreet.learners.set_minimizer.settings import SetMinimizerSettings
from discreet.learners.streams import Stream


class SetMinimizer(Learner[Decision, Slates]):
    """Choose a set of least cost for each visitor, with differential privacy for the visitors.

    Examples are which optional checks to switch off, which complements to bundle, and which pixels
    belong together. Every visitor has a submodular cost of any set, possibly negative, and the set
    is chosen before the cost is seen. The size of the set is not fixed.

    Guarantee: docs/guarantees/costs.md. Privacy assumes nothing; value compares with the best fixed
    set, for submodular costs.

    Masks (`available`) must be public: what is in stock, or what the law allows at this hour. A
    mask must never depend on the visitor or on earlier answers, because mask counts are not
    protected.

    Runtime: O(items + numbers in a row) per visitor with a built-in function, items + 1 calls of a
    callable.

    Parameters
    ----------
    items
        Number of items, or their labels; with labels, sets are lists of labels.
    horizon
        Number of visitors.
    privacy
        The guarantee, a `Privacy`; with `delta=0` it is pure and costs much more value.
    feedback
        What `observe` takes. "full": a row for `function`, or a callable on integer arrays.
        "bandit": the cost of the chosen set, a number.
    function
        The meaning of a row: a family of discreet.functions such as
        `MinusModular(GraphCut(edges))`. None: visitors bring callables
        (`discreet.functions.check_set_function(f, items, monotone=False)` tests whether one is
        submodular).
    bound
        Largest absolute cost: costs are clipped to the interval from −bound to bound.
    stream
        What value may assume; privacy assumes nothing. "drifting": tastes may drift, change a few
        times or alternate. "iid", for bandit feedback: visitors are alike over time; most trials
        come early. Neither holds against a stream that reacts to sets or is timed to the blocks.
        "adversarial", for whole costs: an adversary may have seen every set before this visitor's.
        docs/understand/streams.md lists the value that each retains.
    explore
        Bandit: largest share of visitors with a trial, a set other than the incumbent. "auto" sets
        no limit and balances the cost of trials against their expected improvement.
    block
        Number of visitors between two releases; for bandit feedback, the length of the first block
        after the screening.
    report
        Bandit: share of the budget, up to ½, that pays for `report()`: the mean cost of the chosen
        sets per block.
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
    >>> bundles = shop.replay(moods * [0.3, 0.3, 0.4, 0.0, -0.3, 0.0])   # cuts, then benefits
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
        # Whole cost functions, with a regularisation that adapts to released totals:
        "gradients": Gradients,
        # Whole cost functions, with a regularisation for the worst stream, if noise is large:
        "bound": Gradients,
        "pairwise-search": PairwiseSearch,  # the cost of the chosen set alone
    }

    @classmethod
    def choose(cls, settings: SetMinimizerSettings) -> str:
        return "gradients" if settings.feedback == "full" else "pairwise-search"

    @constructor
    def __init__(
        self: "SetMinimizer[Slate]",
        items: int | Slate,
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
        """Arguments are fields of `SetMinimizerSettings`, but for `journal` and `checkpoint`."""

    @property
    def point(self) -> Floats:
        """Probability that each item is chosen: the newest released point of the cube."""
        point: Floats = self._engine.view.public.point
        return point.copy()

    def replay(self, rows: object, *, persons: object = None) -> Slates:
        """Feed a log of cost functions, and return the set of each visitor.

        Sets are a list of lists of labels; without labels, one row of numbers per visitor, padded
        with −1.

        Parameters
        ----------
        rows
            One cost function per visitor: a row for `function`, or a callable.
        persons
            As for `open_many`.
        """
        if self.settings.feedback != "full":
            raise StateError(
                "replay needs feedback='full', because costs depend on the chosen set: "
                "use open_many and close_many"
            )
        return super().replay(rows, persons=persons)
