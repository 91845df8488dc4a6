"""Which k of n items to show, visitor after visitor.

This file says what the learner is; how it learns is in the files beside it, one a mode.

Guarantee   docs/guarantees/sets.md
"""

from collections.abc import Sequence
from typing import Any, Literal

from discreet.arrivals.set_functions import AnyFunction, ClickModel, SetFunction
from discreet.budget.privacy import Privacy
from discreet.errors import StateError
from discreet.learners.labels import Label, labelled, labels_of
from discreet.learners.learner import Checkpoint, JournalLike, Learner, privacy_settings
from discreet.learners.set_maximizer.exploration import Exploration
from discreet.learners.set_maximizer.fresh_greedy import FreshGreedy
from discreet.learners.set_maximizer.hedge_expert import HedgeExpert
from discreet.learners.set_maximizer.settings import SetMaximizerSettings
from discreet.learners.set_maximizer.sum_expert import SumExpert
from discreet.learners.set_maximizer.swap import Swap

__all__ = ["SetMaximizer"]


class SetMaximizer(Learner):
    """Choose the best `slots` of `items`, round after round, without giving any visitor away.

    Each slot learns what complements the slots before it, from as much as a site gets to see: which shown
    item a visitor clicked (`feedback="clicks"`), only whether the slate was worth something ("bandit"), or
    the visitor's whole preferences ("full").

    Guarantee: docs/guarantees/sets.md. Privacy assumes nothing; value compares with the best fixed set, up to
    1 − 1/e.

    Runtime: O(slots · items) a visitor; `replay` and `observe_many` take many at once in one compiled pass.

    Parameters
    ----------
    items
        How many there are, or their labels (texts or whole numbers): `learner.labels[slate]` names a slate.
    slots
        How many to show.
    horizon
        How many visitors.
    privacy
        What is asked for; with `delta=0` the guarantee is pure and costs much more value.
    feedback
        What `observe` takes. "full": a row for `function`, or any callable on integer arrays. "bandit": a
        reward between 0 and `bound`. "clicks": the first shown item that was clicked (by its label if items
        have labels), or None.
    stream
        "any": nothing is assumed. "iid": visitors are alike over time; learns faster, from each visitor once.
    function
        What a row means: ClickModel (default), FacilityLocation, ConcaveOverModular,
        WeightedCoverage(covers), or `SetFunction` if visitors bring callables.
    bound
        The most a callable or a reward may be worth; values are divided by it. Rows lie in [0, 1] already.
    expert
        Whole preferences, "any" stream: "sum" (default for delta > 0) or "hedge" (default for delta = 0).
        Clicks and rewards: "swap" (default: screens all items, then exchanges single slots), or for "any"
        streams "exploration" (tries every item in every slot: slower, with a proven bound on regret).
    explore
        Bandit and clicks: the share of rounds spent on trying items (swap: on screening); "auto" balances it.
    block
        How many visitors see the same slate at first; blocks grow ("any" and whole preferences: all blocks).
    seed
        Makes a run reproducible, and its guarantee void: for simulations.
    journal, checkpoint
        A file in which every release is committed before it is shown; and after how many answers, or how much
        time (a `timedelta`), what came in since the last release is saved there too. Without a checkpoint a
        kill loses the open block.

    Examples
    --------
    >>> import numpy as np
    >>> from discreet import Privacy, SetMaximizer
    >>> both = Privacy(1.0, 1e-6)
    >>> shop = SetMaximizer(["tea", "milk", "soap", "rope"], slots=2, horizon=4000, privacy=both, seed=1)
    >>> mood = np.random.default_rng(0).choice([0.05, 0.9], size=(4000, 4), p=[0.7, 0.3])
    >>> slates = shop.replay(mood * [1.0, 0.8, 0.3, 0.2])
    >>> [str(label) for label in shop.labels[slates[-1]]]
    ['tea', 'milk']

    Most sites see clicks only:

    >>> site = SetMaximizer(20, slots=3, horizon=1000, privacy=both, feedback="clicks", stream="iid")
    >>> slate = site.act()                  # three items to show
    >>> site.observe(int(slate[1]))         # the one that was clicked, or None

    References
    ----------
    Streeter, Golovin (2008), "An Online Algorithm for Maximizing Submodular Functions".
    Perez-Salazar, Cummings (2021), "Differentially Private Online Submodular Maximization".
    """

    settings_type = SetMaximizerSettings
    modes = (SumExpert, HedgeExpert, FreshGreedy, Swap, Exploration)

    def __init__(
        self,
        items: int | Sequence[Label],
        slots: int,
        horizon: int,
        privacy: Privacy,
        *,
        feedback: Literal["full", "bandit", "clicks"] = "full",
        stream: Literal["any", "iid"] = "any",
        function: Any = ClickModel,
        bound: float = 1.0,
        expert: Literal["auto", "hedge", "sum", "swap", "exploration"] = "auto",
        explore: float | Literal["auto"] = "auto",
        block: int | Literal["auto"] = "auto",
        seed: int | None = None,
        journal: JournalLike = None,
        checkpoint: Checkpoint = None,
    ) -> None:
        count, labels = labelled(items)
        function = AnyFunction() if function is None or function is SetFunction else function
        settings = SetMaximizerSettings(
            **privacy_settings(privacy),
            horizon=horizon,
            seed=seed,
            items=count,
            slots=slots,
            labels=labels,
            feedback=feedback,
            stream=stream,
            function=function,
            bound=bound,
            expert=expert,
            explore=explore,
            block=block,
        )
        super().__init__(settings, journal, checkpoint)

    @property
    def labels(self) -> Any:
        """The items' names, to be indexed with a slate."""
        return labels_of(self.settings.items, self.settings.labels)

    def replay(self, rows: Any, *, persons: Any = None) -> Any:
        """Feed a log of whole preferences and give each visitor's slate."""
        if self.settings.feedback != "full":
            raise StateError(
                "replay needs feedback='full': rewards and clicks depend on what was shown; "
                "use open_many and close_many"
            )
        return super().replay(rows, persons=persons)
