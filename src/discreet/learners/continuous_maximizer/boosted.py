"""Boosted gradients: the leader of one noisy running total of non-oblivious gradients.

    h_t = ∫₀¹ e^(z−1) · ∇f_t(z·x_t) dz         (six nodes; concave functions: ∇f_t(x_t))
    x   = argmax over the domain of ⟨v, x⟩     v: the noisy total of all h       ("vertex")
    x   = argmax of ⟨v, x⟩ − stiffness · ½‖x − middle‖²                          ("euclidean")

    phase    a block of it
    look     counts lengths of gradients, and releases a bound; skipped if a bound is given
    climb    adds up gradients; the point follows their total (places.py)

A linear learner that takes h instead of the gradient has (1 − 1/e)-regret. The perturbed leader
plays a vertex of the domain; a vertex of a matroid is a set, so it needs no rounding. The Euclidean
leader plays points between vertices, for functions of amounts whose optimum is a mixture. Gradients
are non-negative and clipped to a length, in units of a bound that is given, or released from the
lengths of the first people's gradients.

Guarantee   docs/guarantees/continuous.md, Theorems 1 and 2
Runtime     O(6·n) per person, one noise vector per block
References  Zhang et al. (2022), "Stochastic Continuous Submodular Maximization: Boosting via
            Non-oblivious Function"; Kalai, Vempala (2005), "Efficient algorithms for online
            decision problems"
"""

from dataclasses import dataclass, replace
from functools import cached_property
from math import sqrt

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.engine.declarations import Readings
from discreet.engine.phases import Run, Scheduled
from discreet.engine.readings import Scores
from discreet.engine.request import Block
from discreet.engine.schedule import ListedBlocks
from discreet.engine.statistics import OneRelease, Released, RunningTotal
from discreet.learners.continuous_maximizer.mode import People, PointMode, PointPhase
from discreet.learners.continuous_maximizer.places import Gradients, MixedPlace, VertexPlace
from discreet.release.aggregators import OneChoice, Rows
from discreet.release.noise import CalibratedNoise

NODES, WEIGHTS = np.polynomial.legendre.leggauss(6)
NODES = (NODES + 1) / 2
WEIGHTS = WEIGHTS / 2 * np.exp(NODES - 1)
"""Nodes and weights of ∫₀¹ e^(z−1)·g(z) dz by Gauss and Legendre."""


@dataclass(frozen=True)
class Tuning:
    """The tuned constants of this mode; no record says what chose those without a benchmark."""

    bins: int = 24
    """Number of bins in which lengths of gradients are counted, a factor of √2 apart."""
    standing_out: float = 2.0
    """Standard deviations of noise by which the count of a bin must stand out."""
    least_hidden: float = 0.04
    """Noise per person above which vertices are better than points between them, if items are
    many (benchmarks/ways.py)."""
    most_hidden: float = 0.3
    """Noise per person above which points that hardly move are better again
    (benchmarks/ways.py)."""
    many: int = 20
    """Number of items per unit of rank from which items are many (benchmarks/ways.py)."""
    usual_clip: float = 0.7
    """Clip at ε = 1 and above, in median lengths of gradients at 0."""
    least_clip: float = 0.55
    """Clip in the limit of ε = 0, in median lengths of gradients at 0."""


TUNED = Tuning()


@dataclass(frozen=True, eq=False)
class Public:
    """Everything that releases have produced."""

    bound: float
    """Length to which gradients are clipped."""
    total: Floats
    """The newest total, in the units of the functions."""
    variance: float
    """Variance of the noise of each number of the total."""
    place: VertexPlace | MixedPlace
    """The point of this block, with the memory of its leader."""

    @property
    def point(self) -> Floats:
        """Amount of each item in the decision."""
        return self.place.point


# --- the phases -----------------------------------------------------------------------------------


class BoostedPhase(PointPhase[Public]):
    """Base class of the two phases."""

    mode: "Boosted"

    def readings(self) -> Readings:
        return replace(super().readings(), scores=self._scores)

    def _scores(self, context: object) -> Scores:
        """Return the total gradient of each item."""
        total = self.public.total
        return Scores(total.copy(), np.full(len(total), sqrt(self.public.variance)))


class Look(BoostedPhase):
    """The first block if no bound is given: it counts the lengths of gradients at 0."""

    def gather(self, block: Block, answers: People) -> None:
        lengths = self.mode.lengths
        origin = np.zeros(self.settings.domain.items)
        with np.errstate(all="ignore"):  # a warning would reveal personal data
            for rows in answers.parts():
                gradients = self.settings.function.gradients(rows, origin)
                lengths.aggregator.add(lengths.of(block), self._bins(gradients))

    def _bins(self, gradients: Floats) -> Integers:
        """Return the bin of each gradient's length: 0 for the longest, −1 for length 0."""
        norm = 1 if self.settings.privacy.pure else 2
        lengths = np.linalg.norm(np.maximum(gradients, 0.0), ord=norm, axis=1)
        shares = lengths / self.mode.longest**2
        bins = np.clip(np.nan_to_num(np.floor(-2 * np.log2(shares))), 0, TUNED.bins - 1)
        return np.where(shares > 0, bins, -1).astype(np.int64)

    def update(self, released: Released) -> Public:
        bound = self._bound_from(released[self.mode.lengths])
        return replace(self.public, bound=bound)

    def _bound_from(self, counts: Floats) -> float:
        """Return a bound from noisy counts: a share of the median length.

        Only bins whose counts stand out from the noise enter the median.
        """
        noise = self.mode.lengths.calibrated.standard_deviation
        least = min(TUNED.standing_out * noise, float(counts.max()))
        denoised = np.where(counts >= least, np.maximum(counts, 0.0), 0.0)
        cumulated = np.cumsum(denoised)
        total = cumulated[-1]
        middle = int(np.searchsorted(cumulated, total / 2)) if total > 0 else 0
        privacy = self.settings.privacy
        # The more noise, the better it is to clip more people.
        budget = min(1.0, privacy.epsilon / privacy.contributions)
        clip = TUNED.least_clip + (TUNED.usual_clip - TUNED.least_clip) * budget
        return float(clip * self.mode.longest**2 * 2 ** (-(middle + 0.5) / 2))


class Climb(BoostedPhase):
    """A block whose boosted gradients enter the running total."""

    def gather(self, block: Block, answers: People) -> None:
        gradient = self.mode.gradient
        with np.errstate(all="ignore"):  # a warning would reveal personal data
            for rows in answers.parts():
                gradient.aggregator.add(gradient.of(block), self._boosted(rows) / self.public.bound)

    def _boosted(self, rows: Floats) -> Floats:
        """Return the boosted gradient h of each person, averaged along the way to the point."""
        function = self.settings.function
        point = self.public.point
        if function.is_concave:
            return function.gradients(rows, point)
        total = np.zeros((len(rows), len(point)))
        for node, weight in zip(NODES, WEIGHTS, strict=True):
            total += weight * function.gradients(rows, node * point)
        return total

    def update(self, released: Released) -> Public:
        public = self.public
        total = released[self.mode.gradient]
        gradients = Gradients(total, public.bound, before=public.total)
        return Public(
            bound=public.bound,
            total=gradients.values,
            variance=gradients.variance,
            place=public.place.next(self.settings.domain, gradients),
        )


# --- the mode -------------------------------------------------------------------------------------


class Boosted(PointMode):
    """Sets or points of a matroid or a knapsack, from a running total of boosted gradients."""

    # --- the plan ---------------------------------------------------------------------------------

    @property
    def looks(self) -> int:
        """Number of releases of lengths: 1, or 0 if a bound is given."""
        return int(self.settings.bound == "auto")

    @property
    def longest(self) -> float:
        """Largest length of a gradient of a function with values up to 1."""
        return sqrt(self.settings.domain.items)

    @cached_property
    def is_mixed(self) -> bool:
        """Whether the Euclidean leader decides, with points between vertices."""
        settings = self.settings
        domain = settings.domain
        noise = self.gradient.noise * sqrt(domain.items) / settings.rounds
        is_hidden_by_noise = TUNED.least_hidden < noise < TUNED.most_hidden
        has_many_items = domain.items >= TUNED.many * domain.rank
        prefers_vertices = is_hidden_by_noise and has_many_items and settings.mode == "auto"
        return settings.leads != "vertex" and not prefers_vertices

    @cached_property
    def schedule(self) -> ListedBlocks:
        """The blocks: one to look, if no bound is given, then those to climb."""
        return ListedBlocks(self.settings.rounds, self.settings.lengths)

    @cached_property
    def lengths(self) -> OneRelease[OneChoice]:
        """The release of counts of lengths, with the whole budget of the first people."""
        privacy = self.settings.privacy
        bins = OneChoice((TUNED.bins,))
        if privacy.contributions == 1:
            return OneRelease("lengths", CalibratedNoise.calibrate(privacy, bins))
        return OneRelease.for_budget("lengths", privacy.budget, bins)  # all cohorts in one measure

    @cached_property
    def gradient(self) -> RunningTotal[Rows]:
        """The running total of gradients, in units of the bound."""
        norm = 1 if self.settings.privacy.pure else 2
        return RunningTotal(
            "gradient",
            Rows((self.settings.domain.items,), norm=norm, nonnegative=True),
            self.climbs,
            self.settings.privacy,
            people=max(self.climbs.lengths, default=1),
            disjoint=False,
        )

    @cached_property
    def climbs(self) -> ListedBlocks:
        """The blocks that climb."""
        return ListedBlocks(self.settings.rounds, self.schedule.lengths[self.looks :])

    @cached_property
    def phases(self) -> Scheduled:
        rounds = self.settings.rounds
        looks = ListedBlocks(rounds, self.schedule.lengths[: self.looks])
        first = (Run(Look, looks, (self.lengths,)),) * self.looks
        return Scheduled((*first, Run(Climb, self.climbs, (self.gradient,))), rounds)

    @property
    def facts(self) -> dict[str, object]:
        return {
            "method": "euclidean" if self.is_mixed else "vertex",
            "why": self._why,
            "releases": self.schedule.releases,
            "noise_in_people": self.gradient.noise,
        }

    @property
    def _why(self) -> str:
        if self.settings.play == "set":
            return "sets are vertices of the domain"
        if self.is_mixed:
            return "functions of amounts may have their optimum between vertices"
        if self.settings.leads == "euclidean":
            return "noise hides the gain of points between vertices"
        return "the function, or the domain, is optimised at vertices"

    # --- from one release to the next -------------------------------------------------------------

    @property
    def first(self) -> Public:
        domain = self.settings.domain
        bound = self.longest if self.settings.bound == "auto" else self.settings.bound
        place = MixedPlace.first(domain) if self.is_mixed else VertexPlace(self.first_point())
        return Public(float(bound), np.zeros(domain.items), 0.0, place)
