"""Which k of n items to show, visitor after visitor.

This file says what the learner is; how it learns is in the files beside it, one a mode.

Guarantee   docs/guarantees/sets.md
"""

from collections.abc import Sequence
from typing import Any, ClassVar, Literal

from discreet import require
from discreet.budget.privacy import Privacy
from discreet.errors import ConfigError, StateError
from discreet.functions.sets import ClickModel, SetFunction, SetFunctions
from discreet.learners.base import Checkpoint, JournalLike, Learner, Modes, guarded
from discreet.learners.constructor import constructor
from discreet.learners.labels import Label, label_of
from discreet.learners.set_maximizer.catalogue import Change
from discreet.learners.set_maximizer.disjoint_greedy import DisjointGreedy
from discreet.learners.set_maximizer.gain_sum import GainSum
from discreet.learners.set_maximizer.incumbent_search import IncumbentSearch
from discreet.learners.set_maximizer.incumbent_search.log import Logged
from discreet.learners.set_maximizer.ordered_experts import OrderedExperts
from discreet.learners.set_maximizer.settings import SetMaximizerSettings
from discreet.learners.streams import Stream
from discreet.limits import MOST_ROUNDS


class SetMaximizer(Learner):
    """Choose the best `slots` of `items`, round after round, without giving any visitor away.

    Each slot learns what complements the slots before it, from as much as a site gets to see: which
    shown item a visitor clicked (`feedback="clicks"`), only whether the slate was worth something
    ("bandit"), or the visitor's whole preferences ("full").

    Guarantee: docs/guarantees/sets.md. Privacy assumes nothing; value compares with the best fixed
    set, up to
    1 − 1/e.

    Masks (`available`) must be public: what is in stock, what the law allows at this hour. Never a
    mask that depends on the visitor or on earlier answers: the counts that masks change are not
    protected.

    Runtime: O(slots · items) a visitor; `replay` and `observe_many` take many at once in one
    compiled pass.

    Parameters
    ----------
    items
        How many there are, or their labels (texts or whole numbers). With labels everything speaks
        labels: slates, clicks, masks, scores; `tickets.numbers` has the positions.
    slots
        How many to show.
    horizon
        How many visitors.
    privacy
        What is asked for; with `delta=0` the guarantee is pure and costs much more value.
    feedback
        What `observe` takes. "full": a row for `function`, or any callable on integer arrays.
        "bandit": a reward between 0 and `bound`. "clicks": the first shown item that was clicked
        (by its label if items have labels), or None.
    stream
        What value may assume; privacy assumes nothing. "drifting": tastes may drift, change a few
        times or alternate. "iid": visitors are alike over time; learns faster. Neither holds
        against a stream that reacts to slates or is timed to the blocks. "adversarial", for whole
        preferences: whoever makes the stream may have seen every slate before this visitor's.
        docs/streams.md has what each keeps.
    function
        What a row means: ClickModel (default), FacilityLocation, ConcaveOverModular,
        WeightedCoverage(covers), or `SetFunction` if visitors bring callables.
    bound
        The most a callable or a reward may be worth; values are divided by it. Rows lie in [0, 1]
        already.
    explore
        Bandit and clicks: the largest share of visitors who may see a trial, a slate other than the
        best one known; "auto" sets no limit and balances trials against what they may find.
    block
        How many visitors see the same slate at first; blocks grow (whole preferences of "drifting"
        streams: all blocks).
    max_items
        How many items there may ever be, with those that `add_item` adds; by default `items`. Masks
        and rows have one entry for each of them.
    report
        Bandit and clicks: the share of the budget, up to ½, that pays for `report()`: the mean
        reward of each block's visitors, or the share of them who clicked on a shown item.
    seed
        Makes a run reproducible, and its guarantee void: for simulations.
    journal, checkpoint
        A file in which every release is committed before it is shown; and after how many answers,
        or how much time (a `timedelta`), what came in since the last release is saved there too.
        Without a checkpoint a kill loses the open block.

    Examples
    --------
    >>> import numpy as np
    >>> from discreet import Privacy, SetMaximizer
    >>> both = Privacy(1.0, 1e-6)
    >>> shop = SetMaximizer(["tea", "milk", "soap", "rope"], slots=2, horizon=4000, privacy=both, seed=1)
    >>> mood = np.random.default_rng(0).choice([0.05, 0.9], size=(4000, 4), p=[0.7, 0.3])
    >>> slates = shop.replay(mood * [1.0, 0.8, 0.3, 0.2])
    >>> slates[-1].tolist()
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
    modes: ClassVar[Modes] = {
        "sum": GainSum,  # whole preferences, "drifting"
        "fresh": DisjointGreedy,  # whole preferences, "iid"
        "experts": OrderedExperts,  # whole preferences, "adversarial"
        "swap": IncumbentSearch,  # clicks and rewards
    }

    @constructor
    def __init__(
        self,
        items: int | Sequence[Label],
        slots: int,
        horizon: int,
        privacy: Privacy,
        *,
        feedback: Literal["full", "bandit", "clicks"] = "full",
        stream: Stream = "drifting",
        function: SetFunctions | type[SetFunctions | SetFunction] | None = ClickModel,
        bound: float = 1.0,
        explore: float | Literal["auto"] = "auto",
        block: int | Literal["auto"] = "auto",
        max_items: int | None = None,
        report: float = 0.0,
        seed: int | None = None,
        journal: JournalLike = None,
        checkpoint: Checkpoint = None,
    ) -> None:
        """Each argument is a field of `SetMaximizerSettings`, but for `journal` and
        `checkpoint`.
        """

    @property
    def active(self) -> list[Any]:
        """The items that may be shown now."""
        view = self._engine.view.learning
        names: list[Any] = view.problem.living_names(view.public.catalogue)
        return names

    @property
    def pending(self) -> list[Any]:
        """The items that may be shown from the next block on, and not yet."""
        view = self._engine.view.learning  # once: another thread may add an item meanwhile
        names: list[Any] = view.problem.pending_names(view.public.catalogue)
        return names

    # --- public events ----------------------------------------------------------------------------

    def add_item(self, label: Label | None = None) -> Label:
        """Add an item, or bring a retired one back, and give its label, or its number if items have
        none.

        A public event, like `retire` and `extend`: whether and when must not depend on what
        visitors did. The item is shown from the next block on, as often as it is worth trying.
        `max_items` says how many there may ever be.
        """
        return self.change(add=[label])[0]

    def retire(self, label: Label) -> None:
        """Never show this item again, from the next question on, unless it is added again."""
        self.change(retire=[label])

    def extend(self, rounds: int) -> None:
        """Plan so many more rounds.

        Their visitors are new people: nobody takes part in more than `contributions` rounds in all,
        those before included. Each release reads its own visitors, so nothing is paid twice. For
        clicks and rewards.
        """
        self.change(extend=require.whole("rounds", rounds))

    @guarded
    def change(
        self, *, add: Sequence[Label | None] = (), retire: Sequence[Label] = (), extend: int = 0
    ) -> list[Label]:
        """Several of these events at once, all or none: more rounds, new items, retired ones, in
        this order.

        Gives the labels of what was added, numbers if items have none; None adds an item without a
        label.
        """
        self._engine.settle(self._rounds.state())  # numbers follow from all events before
        more = require.whole("rounds", extend, 0, MOST_ROUNDS - (self.horizon or 0))
        before, added = self.labels or [], _listed("add", add)
        self._engine.note(Change(more, added, _listed("retire", retire)), self._rounds.state())
        names = self.labels or []
        unnamed = iter(range(len(before), len(names)))
        known = {str(name): name for name in names}
        return [next(unnamed) if label is None else known[str(label)] for label in added]

    @property
    def log_rows(self) -> int:
        """How many rows the log had that this learner was warm-started with; 0 without one."""
        return self._engine.view.log_rows

    @guarded
    def warm_start(
        self, rows: Any, propensity: Any = "uniform", *, least_propensity: float | None = None
    ) -> None:
        """Learn from a log of another policy, once, before the first visitor.

        The log is read by one release of its own, for the whole ε (but for a `report`). Its people
        pay for that, and not for what follows: **they must be others than the visitors of the
        horizon**. Whoever may be in both takes part twice: count rows and rounds together in
        `contributions`. The clock stays at 0, and screening is shorter by the log.

        For clicks and rewards. Value rests on what is said of the chances, privacy does not: a row
        with no proper slate, answer or chance adds nothing, and how many did is nobody's to know.

        Parameters
        ----------
        rows
            One `(slate, answer)` a person: the items that were shown, by their labels, in order;
            and the first click, an item or None (several: a list), or the reward of the slate.
            Places after the first `slots` do not count.
        propensity
            "uniform": slates were drawn uniformly from all items. Or one entry a row, the chance
            with which the shown items stood where they stood: a number for all places, or one for
            each.
        least_propensity
            Chances below count as this, so a row weighs at most one over it. Public: chosen without
            a look at the log. Noise grows with one over it.

        Guarantee: docs/guarantees/sets.md, Theorem 7.

        Examples
        --------
        >>> from discreet import Privacy, SetMaximizer
        >>> shop = SetMaximizer(
        ...     ["tea", "milk", "soap"], 2, 10_000, Privacy(1.0), feedback="clicks", stream="iid", seed=1
        ... )
        >>> log = [(["soap", "tea"], "tea"), (["milk", "soap"], None), (["tea", "milk"], "tea")] * 200
        >>> shop.warm_start(log, "uniform")
        >>> shop.releases, shop.clock, shop.decision["slate"][0]
        (1, 0, 'tea')
        """
        if self.settings.feedback == "full":
            raise ConfigError(
                f"warm_start is for feedback = 'clicks' or 'bandit', got {self.settings.feedback!r}"
            )
        if self.settings.keyed:
            raise ConfigError(
                "rows of a log do not name their person: make the learner without keyed"
            )
        if self.clock:
            raise StateError(
                "a warm start comes once, before the first visitor: go on with visitors"
            )
        logged = Logged.checked(rows, propensity, least_propensity, len(self.active))
        self._engine.admit(logged.event, logged, self._rounds.state())

    def replay(self, rows: Any, *, persons: Any = None) -> Any:
        """Feed a log of whole preferences and give each visitor's slate."""
        if self.settings.feedback != "full":
            raise StateError(
                "replay needs feedback='full': rewards and clicks depend on what was shown; "
                "use open_many and close_many"
            )
        return super().replay(rows, persons=persons)


def _listed(what: str, labels: Any) -> list[Label | None]:
    """Labels as they are kept; None for an item without a name."""
    return [None if label is None else label_of(label) for label in require.listed(what, labels)]
