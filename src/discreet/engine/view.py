"""A view: a problem between two releases, which is a phase with all that follows from it.

From the statistics of the block follow its aggregators, its step, its state and its release; from
the phase, decisions and answers. It never changes: the engine makes a new one for every release.

Guarantee   docs/guarantees/engine.md
"""

from typing import TYPE_CHECKING, Any, Literal, final

import numpy as np

from discreet.engine import readings
from discreet.engine.declarations import GROWING, Promise, Stored
from discreet.engine.flat_state import Published
from discreet.engine.labels import Label, Labels
from discreet.engine.phase import Phase
from discreet.engine.phases import Adaptive, Measured, Scheduled
from discreet.engine.plan import State, Step
from discreet.engine.request import Batch, Block, Request
from discreet.engine.statistics import Occasion, Released, Report
from discreet.errors import ConfigError, StateError
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
        "_step",
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
        self.form = problem.mode.decisions if self.events is None else self.events.decisions
        """The form of decisions, with the candidates that there are now."""
        self.states = states
        """Public state of the statistics, by their names."""
        self.measured = measured
        """The statistics of this block."""
        self._step: Step | Literal["unknown"] | None = "unknown"
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
        if isinstance(self._step, str):
            self._step = self._planned_step()
        return self._step

    def _planned_step(self) -> Step | None:
        plan = self.problem.plan
        if plan.steps is not None:
            return plan.steps(self.at.index)
        phases = self.problem.mode.phases
        horizon = self.horizon
        assert isinstance(phases, Adaptive)
        assert horizon is not None
        return phases.step(self.public.phase, self.measured, self.at.index, horizon - self.at.begin)

    @property
    def horizon(self) -> int | None:
        """Number of rounds planned so far; None without end."""
        planned = self.problem.plan.horizon
        return planned if self.events is None else self.events.horizon(planned)

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
        number = self.at.number
        return {each.name: each.aggregator_at(number) for each in self.measured.all}

    def empty_block(self) -> Block:
        """Return the aggregates of nobody."""
        number = self.at.number
        block: dict[str, Aggregate] = {}
        for statistic in self.measured.all:
            block[statistic.name] = statistic.aggregator_at(number).empty()
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
        step = self.step
        at = Occasion(self.at.number, self.at.begin, 0 if step is None else step.rounds)
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

    # --- public events ----------------------------------------------------------------------------

    def admitted(self, request: Request) -> Request:
        """Return the request, restricted to what public events allow now."""
        return request if self.events is None else self.events.admitted(request)

    def refuse_next(self, request: Request) -> None:
        """Raise if this request would be refused after the release that is due."""
        if self.events is not None:
            self.events.refuse_next(request)

    def after(self, event: Any) -> Published[Any]:
        """Return the whole public state after a public event."""
        if self.events is None:
            raise ConfigError(f"{type(self.problem.mode).__name__} takes no public events")
        return Published(self.events.noted(event), self.states)

    @property
    def promise(self) -> Promise:
        """What is promised after these events."""
        return self.problem.promise if self.events is None else self.events.promise

    @property
    def log_rows(self) -> int:
        """Number of rows of the warm-start log that was read before the first round."""
        return 0 if self.events is None else self.events.log_rows

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
