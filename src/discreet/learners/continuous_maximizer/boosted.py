"""One boosted copy: a noisy running total of gradients averaged along the way to the point, and its
leader.

    h_t = ∫₀¹ e^(z−1) · ∇f_t(z·x_t) dz        (six nodes; concave functions: ∇f_t(x_t))
    x   = argmax over the domain of ⟨v, x⟩     v the noisy total of all h        ("vertex")
    x   = argmax of ⟨v, x⟩ − stiffness · ½‖x − middle‖²                          ("euclidean")

    look     lengths of gradients are counted, and released as a bound; none if a bound is given
    climb    gradients are added up, and the point follows their total (places.py)

Any linear learner that is fed h instead of the gradient has (1 − 1/e)-regret. The noised leader
plays a vertex of the domain; of a matroid that is a set, so nothing needs rounding. The Euclidean
one stands between vertices, for functions of amounts that are best where amounts are mixed.
Gradients are non-negative and clipped to a length, in units of a bound that is given, or released
from the first people's lengths.

Guarantee   docs/guarantees/continuous.md, Theorems 1 and 2
Runtime     O(6·n) a person, one noise vector a block
References  Zhang et al. (2022), "Stochastic Continuous Submodular Maximization: Boosting via Non-oblivious
            Function"; Kalai, Vempala (2005), "Efficient algorithms for online decision problems"
"""

from dataclasses import dataclass, replace
from functools import cached_property
from math import sqrt
from typing import Any

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.engine.coins import Coins
from discreet.engine.flat_state import of_flat
from discreet.engine.plan import Plan, State, paid_by_cohorts
from discreet.engine.readings import Scores
from discreet.engine.request import Block
from discreet.engine.schedule import ListedBlocks
from discreet.learners.continuous_maximizer.mode import People, PointMode, PointView
from discreet.learners.continuous_maximizer.places import Gradients, MixedPlace, VertexPlace
from discreet.learners.one_release import OneRelease
from discreet.learners.running_total import RunningTotal
from discreet.release.aggregators import Aggregator, OneChoice, Rows
from discreet.release.door import Door
from discreet.release.noise import CalibratedNoise

NODES, WEIGHTS = np.polynomial.legendre.leggauss(6)
NODES = (NODES + 1) / 2
WEIGHTS = WEIGHTS / 2 * np.exp(NODES - 1)
"""Of ∫₀¹ e^(z−1)·g(z) dz."""


@dataclass(frozen=True)
class Tuning:
    """The tuned constants of this mode; no record says what chose those without a benchmark."""

    bins: int = 24
    """Number of bins in which lengths of gradients are counted, a factor of √2 apart."""
    least_hidden: float = 0.04
    """Share of noise above which a vertex is better than a point between vertices, if items are
    many (benchmarks/ways.py)."""
    most_hidden: float = 0.3
    """Share of noise above which a point that hardly moves is better again (benchmarks/ways.py)."""
    many: int = 20
    """Items per item of a basis from which on items are many (benchmarks/ways.py)."""
    usual_clip: float = 0.7
    """Clip from ε = 1 on, in median lengths of gradients at 0."""
    least_clip: float = 0.55
    """Clip for the smallest ε, in median lengths of gradients at 0."""


TUNED = Tuning()


@dataclass(frozen=True, eq=False)
class Public:
    """All that releases have produced."""

    bound: float
    """Length to which gradients are clipped."""
    gradient: State
    """What the running total of gradients publishes."""
    total: Floats
    """The newest total, in the functions' own units."""
    variance: float
    """Variance of each of its numbers."""
    place: VertexPlace | MixedPlace

    @property
    def point(self) -> Floats:
        """How much of each item is decided."""
        return self.place.point


# --- the phases -----------------------------------------------------------------------------------


class BoostedView(PointView[Public]):
    """A block of boosted gradients, or of their lengths."""

    problem: "Boosted"

    def scores(self, context: Any) -> Scores:
        """Return the total gradient of each item."""
        total = self.public.total
        return Scores(total.copy(), np.full(len(total), sqrt(self.public.variance)))


class Look(BoostedView):
    """The first block, if no bound is given: only lengths of gradients at 0 are counted."""

    def aggregators(self) -> dict[str, Aggregator]:
        lengths = self.problem.lengths
        return {lengths.name: lengths.aggregator}

    def gather(self, block: Block, answers: People) -> None:
        lengths, nowhere = self.problem.lengths, np.zeros(self.settings.domain.items)
        with np.errstate(all="ignore"):  # a warning would tell about a person
            for rows in answers.parts():
                gradients = self.settings.function.gradients(rows, nowhere)
                lengths.aggregator.add(lengths.of(block), self._bins(gradients))

    def _bins(self, gradients: Floats) -> Integers:
        """Return the bin of each gradient's length: 0 for the longest, −1 for none at all."""
        norm = 1 if self.settings.privacy.pure else 2
        lengths = (
            np.linalg.norm(np.maximum(gradients, 0.0), ord=norm, axis=1) / self.problem.longest**2
        )
        bins = np.floor(-2 * np.log2(lengths))
        last = TUNED.bins - 1
        return np.where(lengths > 0, np.clip(np.nan_to_num(bins), 0, last), -1).astype(np.int64)

    def release(
        self, mask_counts: State, hidden: State, block: Block, door: Door
    ) -> tuple[Public, State]:
        bound = self._typical(self.problem.lengths.drawn(block, door))
        return replace(self.public, bound=bound), hidden

    def _typical(self, counts: Floats) -> float:
        """Return a bound from noisy counts: some of the median of bins that stand out from the
        noise.
        """
        noise = self.problem.lengths.calibrated.standard_deviation
        least = min(2 * noise, float(counts.max()))
        seen = np.where(counts >= least, np.maximum(counts, 0.0), 0.0)
        falling = np.cumsum(seen)
        middle = int(np.searchsorted(falling, falling[-1] / 2)) if falling[-1] > 0 else 0
        privacy = self.settings.privacy
        # The more noise, the more it pays to count typical people in full and to cut the others.
        more = (TUNED.usual_clip - TUNED.least_clip) * min(
            1.0, privacy.epsilon / privacy.contributions
        )
        usual = TUNED.least_clip + more
        return float(usual * self.problem.longest**2 * 2 ** (-(middle + 0.5) / 2))


class Climb(BoostedView):
    """A block whose gradients are added up."""

    def aggregators(self) -> dict[str, Aggregator]:
        gradient = self.problem.gradient
        return {gradient.name: gradient.aggregator}

    def gather(self, block: Block, answers: People) -> None:
        gradient = self.problem.gradient
        with np.errstate(all="ignore"):  # a warning would tell about a person
            for rows in answers.parts():
                gradient.aggregator.add(gradient.of(block), self._boosted(rows) / self.public.bound)

    def _boosted(self, rows: Floats) -> Floats:
        """Return each person's gradient, averaged along the way to the point."""
        function, point = self.settings.function, self.public.point
        if function.is_concave:
            return function.gradients(rows, point)
        total = np.zeros((len(rows), len(point)))
        for node, weight in zip(NODES, WEIGHTS, strict=True):
            total += weight * function.gradients(rows, node * point)
        return total

    def release(
        self, mask_counts: State, hidden: State, block: Block, door: Door
    ) -> tuple[Public, State]:
        public = self.public
        total = self.problem.gradient.next(public.gradient, hidden, block, door)
        gradients = Gradients(total, public.bound, before=public.total)
        place = public.place.next(self.settings.domain, gradients)
        after = Public(public.bound, total.public, gradients.values, gradients.variance, place)
        return after, total.hidden


# --- the mode -------------------------------------------------------------------------------------


class Boosted(PointMode):
    """Sets or points of a matroid or a knapsack, from one running total of boosted gradients."""

    # --- the plan ---------------------------------------------------------------------------------

    @property
    def looks(self) -> int:
        """How many releases only look at lengths: one, or none if a bound is given."""
        return int(self.settings.bound == "auto")

    @property
    def longest(self) -> float:
        """The longest that a gradient can be, of functions that are at most 1."""
        return sqrt(self.settings.domain.items)

    @cached_property
    def is_mixed(self) -> bool:
        """Whether points between vertices are decided: the Euclidean leader leads."""
        settings, domain = self.settings, self.settings.domain
        noise = self.gradient.noise * sqrt(domain.items) / settings.rounds
        is_between = TUNED.least_hidden < noise < TUNED.most_hidden
        is_hidden = is_between and domain.items >= TUNED.many * domain.rank
        return settings.leads != "vertex" and not (is_hidden and settings.mode == "auto")

    @cached_property
    def schedule(self) -> ListedBlocks:
        """The blocks: one to look, if no bound is given, and those to climb."""
        return ListedBlocks(self.settings.rounds, self.settings.lengths)

    @cached_property
    def lengths(self) -> OneRelease[OneChoice]:
        """Counts of lengths, with the whole budget of the first people."""
        privacy, bins = self.settings.privacy, OneChoice((TUNED.bins,))
        if privacy.contributions == 1:
            return OneRelease("lengths", CalibratedNoise.calibrate(privacy, bins))
        return OneRelease.for_budget("lengths", privacy.budget, bins)  # all cohorts in one measure

    @cached_property
    def gradient(self) -> RunningTotal[Rows]:
        """The running total of gradients, in units of the bound."""
        lengths = self.schedule.lengths[self.looks :]
        norm = 1 if self.settings.privacy.pure else 2
        return RunningTotal(
            "gradient",
            Rows((self.settings.domain.items,), norm=norm, nonnegative=True),
            ListedBlocks(self.settings.rounds, lengths),
            self.settings.privacy,
            people=max(lengths, default=1),
            disjoint=False,
        )

    @cached_property
    def plan(self) -> Plan:
        total, looks = self.gradient.sum, self.looks
        first = [self.lengths.charge] * looks
        return Plan.scheduled(
            self.schedule,
            lambda index: first[index] if index < looks else total.charge(index - looks),
            paid_by_cohorts(self.settings.privacy, [*first, total.spent(self.gradient.releases)]),
            cohort=lambda index: min(index, looks),
            facts={
                "method": "euclidean" if self.is_mixed else "vertex",
                "why": self._why,
                "releases": self.schedule.releases,
                "noise_in_people": self.gradient.noise,
            },
            constants=(*([self.lengths.calibrated] * looks), total),
        )

    @property
    def _why(self) -> str:
        if self.settings.play == "set":
            return "sets are vertices of the domain"
        if self.is_mixed:
            return "functions of amounts may be worth most between vertices"
        if self.settings.leads == "euclidean":
            return "noise hides what lies between vertices"
        return "the function, or the domain, is led by vertices"

    # --- from one release to the next -------------------------------------------------------------

    def start(self) -> tuple[Public, State]:
        sums, hidden = self.gradient.start()
        domain = self.settings.domain
        bound = self.longest if self.settings.bound == "auto" else self.settings.bound
        place = MixedPlace.first(domain) if self.is_mixed else VertexPlace(self.first_point())
        return Public(float(bound), sums, np.zeros(domain.items), 0.0, place), hidden

    def view(self, public: State, index: int, begin: int, coins: Coins) -> BoostedView:
        phase = Look if index < self.looks else Climb
        return phase(self, of_flat(Public, public), index, begin, coins)
