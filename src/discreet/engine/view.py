"""A view: a problem between two releases, which is a phase with all that follows from it.

From the statistics of the block follow its aggregators, its step, its state and its release; from
the phase, decisions and answers. It never changes: the engine makes a new one for every release.

Guarantee   docs/guarantees/engine.md
"""

from typing import TYPE_CHECKING, Any, final

import numpy as np

from discreet.engine import readings
from discreet.engine.declarations import GROWING, Stored
from discreet.engine.flat_state import Published
from discreet.engine.labels import Label, Labels
from discreet.engine.phase import Phase
from discreet.engine.phases import Adaptive, Measured, Scheduled
from discreet.engine.plan import State, Step
from discreet.engine.request import Batch, Block
from discreet.engine.statistics import Occasion, Released, Report
from discreet.errors import StateError
from discreet.release.aggregators import Aggregate, Aggregator
from discreet.release.door import Door

if TYPE_CHECKING:
    from discreet.engine.problem import Problem


@final
class View:
    """A problem during one of its blocks.

    Guarantee: docs/guarantees/engine.md.
    """

    __slots__ = (
        "at",
        "decide",
        "events",
        "form",
        "measured",
        "phase",
        "problem",
        "public",
        "states",
    )

    def __init__(
        self, problem: "Problem", phase: Phase[Any], states: dict[str, State], measured: Measured
    ) -> None:
        self.problem = problem
        self.phase = phase
        self.public = phase.public
        self.at = phase.at
        self.events = phase.events
        self.form = self.events.decisions
        """The form of decisions, with the candidates that there are now."""
        self.states = states
        """Public state of the statistics, by their names."""
        self.measured = measured
        """The statistics of this block."""
        self.decide = phase.decide
        """Returns the decisions of many rounds at once, one per row."""

    @property
    def index(self) -> int:
        """Index of the release that ends this block."""
        return self.at.index

    @property
    def begin(self) -> int:
        """First round of this block."""
        return self.at.begin

    # --- the plan ---------------------------------------------------------------------------------

    @property
    def step(self) -> Step | None:
        """Rounds of this block and charge of its release; None after the last release."""
        plan = self.problem.plan
        if plan.steps is not None:
            return plan.steps(self.at.index)
        phases = self.problem.mode.phases
        horizon = self.horizon
        assert isinstance(phases, Adaptive)
        assert horizon is not None
        return phases.step(self.public.phase, self.measured, self.at.index, horizon - self.at.begin)

    @property
    def _rounds(self) -> int:
        """Rounds of this block, which a release ends; a step would calculate its charge, too."""
        phases = self.problem.mode.phases
        if isinstance(phases, Scheduled):
            return phases.schedule.end(self.at.index) - self.at.begin
        horizon = self.horizon
        assert horizon is not None
        return phases.rounds(self.public.phase, horizon - self.at.begin)

    @property
    def horizon(self) -> int | None:
        """Number of rounds planned so far; None without end."""
        return self.events.horizon(self.problem.plan.horizon)

    @property
    def end(self) -> int | None:
        """The round before which the next release is made, or the horizon after the last one."""
        step = self.step
        return self.horizon if step is None else self.at.begin + step.rounds

    # --- state ------------------------------------------------------------------------------------

    def layout(self) -> tuple[Published[Any], State]:
        """Return public and hidden state with the names, dtypes and shapes of this block."""
        mode = self.problem.mode
        phases = mode.phases
        has_rounds = mode.questions.in_rounds
        if isinstance(phases, Scheduled) and has_rounds and self.begin != phases.begin(self.index):
            raise StateError("the schedule has no such release")
        states, hidden = phases.layout(self.at.index)
        public = self.public
        shape = public.shape(mode, self.at.index) if isinstance(public, Stored) else mode.first
        return Published(shape, states), hidden

    def check_state(self) -> None:
        """Raise if a state that was read from a file is one that no release can have produced."""
        if isinstance(self.public, Stored):
            self.public.check(self.problem.mode)

    @property
    def growing(self) -> GROWING:
        """Names of all arrays whose number of rows changes, those of statistics included."""
        own = self.public.growing if isinstance(self.public, Stored) else ()
        of_statistics = (
            tuple(f"{each.name}.{key}" for key in each.growing)
            for each in self.problem.mode.phases.statistics
            if each.growing
        )
        return (*own, *of_statistics)

    # --- a round ----------------------------------------------------------------------------------

    @property
    def labels(self) -> Labels | None:
        """The translation of decisions into labels; None if decisions stay numbers."""
        return self.form.labels

    def names(self) -> list[Label] | None:
        """Return the labels of the candidates (their numbers if unlabelled); None without any."""
        candidates = self.form.candidates
        return None if candidates is None else list(candidates)

    def count_masks(self, counts: State, rounds: np.ndarray, request: Any) -> State:
        """Return the mask counts after rounds with masks; `counts` is {} before the first one."""
        masks = self.phase.masks
        if masks is None:
            return counts
        counts = counts or masks.start()
        masks.add(counts, rounds, request)
        return counts

    def no_mask_counts(self) -> State:
        """Return the mask counts before the first round with a mask."""
        masks = self.phase.masks
        return {} if masks is None else masks.start()

    # --- from people to the next state ------------------------------------------------------------

    def aggregators(self) -> dict[str, Aggregator]:
        """Return the aggregators of this block, by name."""
        return self.measured.aggregators(self.at.number)

    def empty_block(self) -> Block:
        """Return the aggregates of nobody."""
        block: dict[str, Aggregate] = {}
        for name, aggregator in self.aggregators().items():
            block[name] = aggregator.empty()
        return block

    def count(self, block: Block, batch: Batch) -> None:
        """Read the feedback of a batch, and add it to the block."""
        phase = self.phase
        batch.decide = self.decide
        answers = phase.read(batch)
        for statistic in self.measured.beside:
            statistic.gather(self.at.number, block, answers)
        phase.gather(block, answers)

    def release(
        self, mask_counts: State, hidden: State, block: Block, door: Door
    ) -> tuple[Published[Any], State]:
        """Return the public and the hidden state after this block, from what the door returns.

        Parameters
        ----------
        mask_counts
            What `count_masks` has counted; {} if no round had a mask.
        hidden
            The hidden state after the release before.
        block
            The aggregates of this block, by the names of `aggregators`.
        door
            The one way from aggregates to released values.
        """
        at = Occasion(self.at.number, self.at.begin, self._rounds)
        results = {}
        states = self.states.copy()
        hidden = hidden.copy()
        for statistic in self.measured.all:
            name = statistic.name
            results[name], public, own = statistic.release(
                at, states.get(name, {}), hidden.get(name, {}), block[name], door
            )
            if public:
                states[name] = public
            if own:
                hidden[name] = own
        learned = self.phase.update(Released(results, mask_counts))
        return Published(learned, states), hidden

    def after(self, event: Any) -> Published[Any]:
        """Return the whole public state after a public event."""
        return Published(self.events.noted(event), self.states)

    # --- readings ---------------------------------------------------------------------------------

    def report(self) -> readings.Report:
        """Return what decisions have earned so far, if the setting `report` pays for it."""
        for statistic in self.problem.mode.phases.statistics:
            if isinstance(statistic, Report):
                return statistic.read(self.states[statistic.name])
        if self.problem.settings.earns:
            raise StateError(
                "no budget was set aside for a report: make the learner with report=0.1, say"
            )
        raise StateError(
            "this learner reports nothing: see the `report` setting of those that see rewards"
        )
