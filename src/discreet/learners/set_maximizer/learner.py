"""The learner that chooses k of n items to show to each visitor.

This file has the public API; each mode has a file or a folder beside it. The default mode for
clicks and rewards is in incumbent_search/.

Guarantee   docs/guarantees/sets.md
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, Literal

from discreet import require
from discreet.budget.privacy import Privacy
from discreet.engine.tickets import Decision
from discreet.errors import ConfigError, StateError
from discreet.functions.sets import ClickModel, SetFunction, SetFunctions
from discreet.learners.base import Checkpoint, JournalLike, Learner, Modes, guarded
from discreet.learners.constructor import constructor
from discreet.learners.labels import Label, Slate, Slates, label_of
from discreet.learners.set_maximizer.catalogue import Change
from discreet.learners.set_maximizer.disjoint_greedy import DisjointGreedy
from discreet.learners.set_maximizer.gain_sum import GainSum
from discreet.learners.set_maximizer.incumbent_search import IncumbentSearch
from discreet.learners.set_maximizer.incumbent_search.events import LOG_COMES_FIRST
from discreet.learners.set_maximizer.incumbent_search.log import Logged
from discreet.learners.set_maximizer.ordered_experts import OrderedExperts
from discreet.learners.set_maximizer.settings import SetMaximizerSettings
from discreet.learners.streams import Stream
from discreet.limits import MOST_ROUNDS
from discreet.progress import bar
from discreet.records.kinds import recognised

if TYPE_CHECKING:
    from discreet.learners.log_adapter import OfAnotherPolicy
    from discreet.records.check import Check


OF_PREFERENCES: dict[str, str] = {
    "drifting": "gain-sum",
    "iid": "disjoint-greedy",
    "adversarial": "ordered-experts",
}
"""The mode for whole preferences, by the assumption about the stream."""


class SetMaximizer(Learner[Decision, Slates]):
    """Choose `slots` of `items` to show in each round, under differential privacy.

    The learner looks for a slate whose items complement each other. Feedback is the shown item that
    a visitor clicked (`feedback="clicks"`), a reward of the whole slate ("bandit"), or the
    visitor's whole preferences ("full").

    Guarantee: docs/guarantees/sets.md. Privacy assumes nothing about the stream; value is compared
    with the best fixed set, up to a factor of 1 − 1/e.

    Masks (`available`) must be public: items in stock, items that are allowed at this hour. A mask
    must not depend on the visitor or on earlier answers, because the counts that masks change are
    not protected.

    Runtime: O(slots · items) per visitor; `replay` and `observe_many` process many visitors in one
    compiled pass.

    Parameters
    ----------
    items
        Number of items, or their labels (texts or whole numbers). With labels, slates, clicks,
        masks and scores use labels; `tickets.numbers` has the positions.
    slots
        Number of items to show.
    horizon
        Number of visitors.
    privacy
        The guarantee to keep. With `delta=0` it is pure, and costs much more value.
    feedback
        Kind of feedback that `observe` takes. "full": a row for `function`, or any callable on
        integer arrays. "bandit": a reward between 0 and `bound`. "clicks": the first shown item
        that was clicked (by its label if items have labels), or None.
    stream
        Assumption for value; privacy assumes nothing. "drifting": tastes may drift, change a few
        times or alternate. "iid": visitors are alike over time; the learner learns faster. Neither
        holds against a stream that reacts to slates or is timed to the blocks. "adversarial", for
        whole preferences: an adversary may choose each visitor after seeing all earlier slates.
        docs/understand/streams.md lists the measured values.
    function
        Meaning of a row: ClickModel (default), FacilityLocation, ConcaveOverModular,
        WeightedCoverage(covers), or `SetFunction` if visitors bring callables.
    bound
        Largest value of a callable or a reward; values are divided by it. Rows lie in [0, 1]
        already.
    explore
        Bandit and clicks: largest share of visitors who may see a trial, a slate other than the
        best known one. "auto" sets no limit, and weighs the cost of trials against their expected
        benefit.
    block
        Number of visitors who see the same slate at first; blocks grow (whole preferences of
        "drifting" streams: all blocks have this length).
    max_items
        Largest number of items ever, including those that `add_item` adds; by default `items`.
        Masks and rows have one entry for each of them.
    report
        Bandit and clicks: share of the budget, up to ½, for `report()`: the mean reward of each
        block's visitors, or the share of them who clicked on a shown item.
    seed
        Makes a run reproducible, and its guarantee void: for simulations.
    journal, checkpoint
        `journal`: a file in which every release is committed before it is shown. `checkpoint`: the
        number of answers, or the time (a `timedelta`), after which the open block is saved there
        too. Without a checkpoint, a kill loses the open block.

    Examples
    --------
    >>> import numpy as np
    >>> from discreet import Privacy, SetMaximizer
    >>> both = Privacy(1.0, 1e-6)
    >>> goods = ["tea", "milk", "soap", "rope"]
    >>> shop = SetMaximizer(goods, slots=2, horizon=4000, privacy=both, seed=1)
    >>> mood = np.random.default_rng(0).choice([0.05, 0.9], size=(4000, 4), p=[0.7, 0.3])
    >>> slates = shop.replay(mood * [1.0, 0.8, 0.3, 0.2])
    >>> slates[-1].tolist()
    ['tea', 'milk']

    Most sites see clicks only:

    >>> site = SetMaximizer(20, 3, horizon=1000, privacy=both, feedback="clicks", stream="iid")
    >>> slate = site.act()                  # three items to show
    >>> site.observe(int(slate[1]))         # the one that was clicked, or None

    References
    ----------
    Streeter, Golovin (2008), "An Online Algorithm for Maximizing Submodular Functions".
    Perez-Salazar, Cummings (2021), "Differentially Private Online Submodular Maximization".
    """

    settings_type = SetMaximizerSettings
    modes: ClassVar[Modes] = {
        "gain-sum": GainSum,  # whole preferences, "drifting"
        "disjoint-greedy": DisjointGreedy,  # whole preferences, "iid"
        "ordered-experts": OrderedExperts,  # whole preferences, "adversarial"
        "incumbent-search": IncumbentSearch,  # clicks and rewards
    }

    @classmethod
    def choose(cls, settings: SetMaximizerSettings) -> str:
        if settings.feedback != "full":
            return "incumbent-search"
        return OF_PREFERENCES[settings.stream]

    @constructor
    def __init__(
        self: "SetMaximizer[Slate]",
        items: int | Slate,
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
        """Arguments are fields of `SetMaximizerSettings`, except `journal` and `checkpoint`."""

    @property
    def active(self) -> list[Label]:
        """The items that may be shown now."""
        view = self._engine.view
        names: list[Label] = view.phase.mode.active_names(view.public.catalogue)
        return names

    @property
    def pending(self) -> list[Label]:
        """The items that may be shown from the next block on, but not before."""
        view = self._engine.view  # once: another thread may add an item meanwhile
        names: list[Label] = view.phase.mode.pending_names(view.public.catalogue)
        return names

    # --- public events ----------------------------------------------------------------------------

    def add_item(self, label: Label | None = None) -> Label:
        """Add an item, or bring a retired one back, and return its label (or number).

        This is a public event, like `retire` and `extend`: whether and when it happens must not
        depend on the behaviour of visitors. The item may be shown from the next block on.

        Parameters
        ----------
        label
            Label of the item; None adds the next number if items have no labels.

        Raises
        ------
        ConfigError
            If the item is active already, or `max_items` is reached.
        StateError
            If no later block would learn about the item.

        Guarantee: docs/guarantees/sets.md, Theorem 5.

        Examples
        --------
        >>> from discreet import Privacy, SetMaximizer
        >>> shop = SetMaximizer(
        ...     ["tea", "milk"], 1, 1000, Privacy(1.0), feedback="clicks", max_items=3
        ... )
        >>> shop.add_item("soap")
        'soap'
        >>> shop.active, shop.pending
        (['tea', 'milk'], ['soap'])
        """
        return self.change(add=[label])[0]

    def retire(self, label: Label) -> None:
        """Stop showing an item, from the next round on, unless it is added again.

        This is a public event: whether and when it happens must not depend on the behaviour of
        visitors.

        Guarantee: docs/guarantees/sets.md, Theorem 5.
        """
        self.change(retire=[label])

    def extend(self, rounds: int) -> None:
        """Extend the horizon by a number of rounds; for clicks and rewards.

        The limit of `contributions` rounds per person holds for all rounds together, those before
        included. Each release reads its own visitors, so no visitor pays twice.

        Guarantee: docs/guarantees/sets.md, Theorem 5.
        """
        self.change(extend=require.whole("rounds", rounds))

    @guarded
    def change(
        self, *, add: Sequence[Label | None] = (), retire: Sequence[Label] = (), extend: int = 0
    ) -> list[Label]:
        """Apply several public events at once, all or none, and return the labels of added items.

        The order is: more rounds, new items, retired items.

        Parameters
        ----------
        add, retire
            Labels of items; None adds an item without a label.
        extend
            Number of further rounds.

        Returns
        -------
        list
            The labels of the added items, or their numbers if items have no labels.

        Guarantee: docs/guarantees/sets.md, Theorem 5.
        """
        self._engine.commit_pending_event(
            self._rounds.state()
        )  # new numbers depend on all earlier events
        rounds = require.whole("rounds", extend, 0, MOST_ROUNDS - (self.horizon or 0))
        added = _listed("add", add)
        retired = _listed("retire", retire)
        names_before = self.labels or []
        self._engine.note(Change(rounds, added, retired), self._rounds.state())
        names = self.labels or []
        new_numbers = iter(range(len(names_before), len(names)))
        known = {str(name): name for name in names}
        return [next(new_numbers) if label is None else known[str(label)] for label in added]

    @property
    def log_rows(self) -> int:
        """Number of rows of the warm-start log; 0 without one."""
        return self._engine.view.log_rows

    @guarded
    def warm_start(
        self, rows: object, propensity: object = "uniform", *, least_propensity: float | None = None
    ) -> None:
        """Learn from a log of another policy, once, before the first visitor.

        The log is read by one release of its own, for the whole ε (less the share of a `report`).
        Its people pay for that release only: **they must be others than the visitors of the
        horizon**. A person who may be in both takes part twice: count rows and rounds together in
        `contributions`. The clock stays at 0, and the log shortens the screening.

        For clicks and rewards. Value depends on correct propensities; privacy does not. A row
        without a valid slate, answer or propensity adds nothing, and the number of such rows is not
        published.

        Parameters
        ----------
        rows
            One `(slate, answer)` per person: the labels of the shown items, in order; and the first
            click (an item, a list of several, or None), or the reward of the slate. Places after
            the first `slots` do not count. Or a table with the columns `slate`, and `click` or
            `reward`.
        propensity
            "uniform": slates were drawn uniformly from all items. Otherwise one entry per row, the
            probability that the shown items stood at their positions: one number for all positions,
            or one per position; for a table, the name of the column.
        least_propensity
            Smaller propensities count as this number, so the weight of a row is at most its
            inverse; noise grows with that inverse. It is public: choose it without a look at the
            log.

        Raises
        ------
        ConfigError
            If an argument that is no personal data is invalid, or feedback is "full".
        StateError
            If a visitor or a log came before.

        Guarantee: docs/guarantees/sets.md, Theorem 7.

        Examples
        --------
        >>> from discreet import Privacy, SetMaximizer
        >>> goods = ["tea", "milk", "soap"]
        >>> shop = SetMaximizer(
        ...     goods, 2, 10_000, Privacy(1.0), feedback="clicks", stream="iid", seed=1
        ... )
        >>> rows = [(["soap", "tea"], "tea"), (["milk", "soap"], None), (["tea", "milk"], "tea")]
        >>> shop.warm_start(rows * 200, "uniform")
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
            raise StateError(LOG_COMES_FIRST)
        with bar("log", None):
            found, rows = recognised(rows)
            if found:
                others = self._log_of_table(rows, propensity, least_propensity)
                rows, propensity = others.rows, others.propensity
            logged = Logged.checked(rows, propensity, least_propensity, len(self.active))
            self._engine.admit(logged.event, logged, self._rounds.state())

    def _log_of_table(
        self, table: object, propensity: object, least: float | None
    ) -> "OfAnotherPolicy":
        """Return the log of another policy that a table holds."""
        log = _about_log(propensity, least)
        reader = self._reader(table, log=log, of="checks")
        return reader.adapter.of_another_policy(reader.whole(), reader.columns)

    def check(
        self,
        rows: object,
        *,
        persons: object = None,
        propensity: object = None,
        least_propensity: float | None = None,
    ) -> "Check":
        """Return how many rows cannot be read, and by which rule; it opens and spends nothing.

        The result is NOT private: see `Learner.check`.

        Parameters
        ----------
        rows, persons
            As for `Learner.check`.
        propensity, least_propensity
            For a table of slates of another policy, as for `warm_start`.
        """
        from discreet.learners.log_reader import check_for

        log = None if propensity is None else _about_log(propensity, least_propensity)
        return check_for(self, rows, persons, log)

    def replay(self, rows: object, *, persons: object = None) -> Slates:
        """Return the slate of each visitor of a log of whole preferences, and learn from it."""
        if self.settings.feedback != "full":
            raise StateError(
                "replay needs feedback='full': rewards and clicks depend on what was shown; "
                "use open_many and close_many"
            )
        return super().replay(rows, persons=persons)


def _about_log(propensity: object, least: float | None) -> dict[str, object]:
    """Return the keys about a table of slates of another policy, as a run's TOML has them."""
    if not isinstance(propensity, str):  # not shown: propensities of rows are people's data
        raise ConfigError('propensity of a table must be a column, or "uniform"')
    return {"propensity": propensity} | ({} if least is None else {"least_propensity": least})


def _listed(what: str, labels: object) -> list[Label | None]:
    """Return labels in their normal form; None stands for an item without a name."""
    return [None if label is None else label_of(label) for label in require.listed(what, labels)]
