"""Base class of both modes of the contextual bandit: preparations, then one running total.

    releases 0 … p − 1      preparations, each with the whole budget for its own block of people
    releases p, p + 1, …    second moments and moments of every arm, through one running total

The clock fixes the block of a person before they come. Every release may also report the mean
reward of its people, for a share of the budget: with separate noise in the preparations, then
through a running total beside that of the moments.

Guarantee   docs/guarantees/contextual.md, Theorem 1
"""

from abc import abstractmethod
from functools import cached_property
from typing import Any, ClassVar, Generic, TypeVar

from discreet.budget.privacy import Charge
from discreet.engine.declarations import DecisionForm, Promise
from discreet.engine.mode import Mode
from discreet.engine.phases import Run, Scheduled
from discreet.engine.schedule import ListedBlocks, growing_blocks
from discreet.engine.statistics import Measures, Report, RunningTotal, Units
from discreet.engine.statistics.report import EARNED
from discreet.learners.answers import Entry
from discreet.learners.contextual_bandit.arms import Arms
from discreet.learners.contextual_bandit.phase import ContextualPhase
from discreet.learners.contextual_bandit.public import Published
from discreet.learners.contextual_bandit.questions import ContextQuestions
from discreet.learners.contextual_bandit.settings import ContextualBanditSettings
from discreet.learners.streams import ALIKE
from discreet.release.aggregators import Aggregator, Moments
from discreet.release.aggregators.rounded import Rounded

Kind = TypeVar("Kind", bound=Aggregator)


class ContextualMode(Mode, Generic[Published]):
    """Base class of the modes of the contextual bandit."""

    promise = Promise(
        "contextual.md",
        assumes=f"{ALIKE} and rewards about linear in the context",
        notion="joint DP",
        neighbours="replace the context, the mask and the reward of one round",
    )
    answer = Entry(float("nan"))
    settings: ContextualBanditSettings

    growth: ClassVar[float]
    """Factor by which blocks grow after the preparations."""
    preparing: ClassVar[tuple[type[ContextualPhase[Any]], ...]]
    """The phases of the preparations, in order; the last one may be left out."""
    regressing: ClassVar[type[ContextualPhase[Any]]]
    """The phase of all blocks after the preparations."""

    @cached_property
    def questions(self) -> ContextQuestions:
        return ContextQuestions(self.settings.slots, settings=self.settings)

    @cached_property
    def decisions(self) -> DecisionForm:
        return self.form_of(Arms.first(self.settings.arms))

    def form_of(self, arms: Arms) -> DecisionForm:
        """Return the form of decisions among these arms."""
        form = self._forms.get(arms.added)
        if form is None:
            labels = arms.labels(self.settings)
            has_labels = self.settings.labels is not None
            form = DecisionForm("one", 1, labels.names, labels if has_labels else None)
            self._forms = {arms.added: form}
        return form

    @cached_property
    def _forms(self) -> dict[str, DecisionForm]:
        """The newest form, by the labels of the arms that were added."""
        return {}

    def check(self) -> None:
        for aggregator in (*self.rounded, self.moments.aggregator):
            aggregator.unit  # noqa: B018  refuses grids that are too coarse

    # --- abstract properties ------------------------------------------------------------------

    @property
    @abstractmethod
    def preparation(self) -> tuple[int, ...]:
        """The number of rounds of each preparation."""

    @property
    @abstractmethod
    def prepared(self) -> tuple[Measures, ...]:
        """What each preparation measures."""

    @property
    @abstractmethod
    def first_block(self) -> float:
        """The number of rounds of the first block after the preparations, if `block` is "auto"."""

    @property
    @abstractmethod
    def learned_from(self) -> int:
        """The index of the first block that plays arms by released scores."""

    @property
    @abstractmethod
    def width(self) -> int:
        """The number of entries of a mapped context."""

    @property
    @abstractmethod
    def rounded(self) -> list[Rounded]:
        """The aggregators of the preparations whose grids may be too coarse."""

    @property
    @abstractmethod
    def first(self) -> Published:
        """The public state before the first round."""

    # --- the plan -----------------------------------------------------------------------------

    @cached_property
    def budget(self) -> Charge:
        """The share of the budget for learning; the rest pays for the report."""
        return self.settings.privacy.budget * (1 - self.settings.report)

    @cached_property
    def schedule(self) -> ListedBlocks:
        settings = self.settings
        rounds = settings.rounds
        first = self.first_block if settings.block == "auto" else settings.block
        blocks = growing_blocks(rounds - sum(self.preparation), first, self.growth)
        return ListedBlocks(rounds, (*self.preparation, *blocks))

    @cached_property
    def moments(self) -> RunningTotal[Moments]:
        """The running total of second moments and moments of every arm."""
        aggregator = Moments.of(self.settings.slots, self.width)
        return self._total("moments", aggregator, 1 - self.settings.report)

    def _total(self, name: str, aggregator: Kind, share: float) -> RunningTotal[Kind]:
        """Return a running total over all blocks after the preparations."""
        return RunningTotal(
            name,
            aggregator,
            self.regressions,
            self.settings.privacy,
            people=max(self.regressions.lengths, default=1),
            disjoint=False,
            share=share,
        )

    @cached_property
    def regressions(self) -> ListedBlocks:
        """The blocks after the preparations."""
        return ListedBlocks(self.settings.rounds, self.schedule.lengths[len(self.preparation) :])

    @cached_property
    def phases(self) -> Scheduled:
        rounds = self.settings.rounds
        runs = []
        for phase, length, measures in zip(
            self.preparing, self.preparation, self.prepared, strict=False
        ):
            blocks = ListedBlocks(rounds, (length,))
            runs.append(Run(phase, blocks, (*measures, *self.report_of_block)))
        later = Run(self.regressing, self.regressions, (self.moments, *self.report_of_total))
        return Scheduled((*runs, later), rounds)

    @property
    def facts(self) -> dict[str, object]:
        return {
            "method": "screen" if self.settings.screens else "ridge",
            "why": self.settings.why,
            "releases": self.schedule.releases,
            "noise_in_people": self.moments.noise,
        }

    # --- the report ---------------------------------------------------------------------------

    @cached_property
    def units(self) -> Units:
        """The units of rewards: relative to the middle of their range, in half ranges."""
        settings = self.settings
        return Units(low=-1.0, high=1.0, scale=settings.half_range, zero=settings.middle)

    @cached_property
    def report_of_block(self) -> tuple[Report, ...]:
        """The report of a preparation; none without a share of the budget for it."""
        share = self.settings.report
        if not share:
            return ()
        return (Report.of_blocks(self.settings.privacy.budget * share, self.units),)

    @cached_property
    def report_of_total(self) -> tuple[Report, ...]:
        """The report of later blocks; none without a share of the budget for it."""
        share = self.settings.report
        if not share:
            return ()
        return (Report(self.units, self._total(EARNED, self.units.number, share)),)
