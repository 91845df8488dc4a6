"""One boosted copy: a noisy running total of gradients averaged along the way to the point, and its leader.

    h_t = ∫₀¹ e^(z−1) · ∇f_t(z·x_t) dz        (six nodes; concave functions: ∇f_t(x_t))
    x   = argmax over the domain of ⟨v, x⟩     v the noisy total of all h        ("vertex")
    x   = argmax of ⟨v, x⟩ − stiffness · ½‖x − middle‖²                          ("euclidean")

Any linear learner that is fed h instead of the gradient has (1 − 1/e)-regret. The noised leader plays a
vertex of the domain; of a matroid that is a set, so nothing needs rounding. The Euclidean one stands between
vertices, for functions of amounts that are best where amounts are mixed. Gradients are non-negative and
clipped to a length, in units of a bound that is given, or released from the first people's lengths.

Guarantee   docs/guarantees/continuous.md, Theorems 1 and 2
Runtime     O(6·n) a person, one noise vector a block
References  Zhang et al. (2022), "Stochastic Continuous Submodular Maximization: Boosting via Non-oblivious
            Function"; Kalai, Vempala (2005), "Efficient algorithms for online decision problems"
"""

from functools import cached_property
from math import sqrt
from typing import Any

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.decide.euclidean import Euclidean
from discreet.decide.leader import Leader, LeaderMemory, Steps
from discreet.learners.continuous_maximizer.mode import PointMode
from discreet.learners.totals import RunningTotal, Total
from discreet.release.door import Door
from discreet.release.gathering import Gathering, OneChoice, Rows
from discreet.release.noise import Once
from discreet.turn.plan import Plan, State, paid_by_cohorts
from discreet.turn.questions import Batch, Block
from discreet.turn.readings import Scores
from discreet.turn.schedule import ListedBlocks
from discreet.turn.states import flat, of_flat

__all__ = ["Boosted"]

NODES, WEIGHTS = np.polynomial.legendre.leggauss(6)
NODES = (NODES + 1) / 2
WEIGHTS = WEIGHTS / 2 * np.exp(NODES - 1)
"""Of ∫₀¹ e^(z−1)·g(z) dz."""
BINS = 24
"""Lengths of gradients are counted in so many bins, a factor of √2 apart."""
HIDDEN, MANY = (0.04, 0.3), 20
"""Shares of noise between which a vertex is better than a point between vertices, if there are this number of
items per item of a basis; with more noise a point that hardly moves is better (benchmarks/ways.py)."""
USUAL, LEAST = 0.7, 0.55
"""Gradients are clipped to so many times their median length at 0: from ε = 1 on, and for the smallest ε."""


class Boosted(PointMode):
    """Sets or points of a matroid or a knapsack, from one running total of boosted gradients."""

    # --- the plan -----------------------------------------------------------------------------------------

    @property
    def _looks(self) -> int:
        """How many releases only look at lengths: one, or none if a bound is given."""
        return int(self.settings.bound == "auto")

    @cached_property
    def leader(self) -> Leader | None:
        """The Euclidean leader, if it leads: of losses, so gradients come to it with a minus."""
        settings, domain = self.settings, self.settings.domain
        noise = self.gradient.noise * sqrt(domain.items) / settings.rounds
        is_hidden = HIDDEN[0] < noise < HIDDEN[1] and domain.items >= MANY * domain.rank
        if settings.leads == "vertex" or (is_hidden and settings.mode == "auto"):
            return None
        return Leader(Euclidean(domain))  # type: ignore[arg-type]

    @cached_property
    def schedule(self) -> ListedBlocks:
        return ListedBlocks(self.settings.rounds, self.settings.lengths)

    @cached_property
    def looking(self) -> Once[Any]:
        """Counts of lengths, with the whole budget of the first people."""
        privacy = self.settings.privacy
        if privacy.contributions == 1:
            return Once.calibrate(privacy, OneChoice((BINS,)))
        return Once.for_budget(privacy.budget, OneChoice((BINS,)))  # all cohorts in one measure

    @cached_property
    def gradient(self) -> RunningTotal[Any]:
        lengths = self.schedule.lengths[self._looks :]
        norm = 1 if self.settings.privacy.pure else 2
        return RunningTotal(
            "gradient",
            Rows((self.settings.domain.items,), norm=norm, nonnegative=True),
            ListedBlocks(self.settings.rounds, lengths),
            self.settings.privacy,
            people=max(lengths, default=1),
            fresh=False,
        )

    @cached_property
    def plan(self) -> Plan:
        total, looks = self.gradient.sum, self._looks
        first = [self.looking.charge] * looks
        return Plan.scheduled(
            self.schedule,
            lambda index: first[index] if index < looks else total.charge(index - looks),
            paid_by_cohorts(self.settings.privacy, [*first, total.spent(self.gradient.releases)]),
            cohort=lambda index: min(index, looks),
            facts={
                "method": "vertex" if self.leader is None else "euclidean",
                "why": self._why,
                "releases": self.schedule.releases,
                "noise_in_people": self.gradient.noise,
            },
            constants=(*([self.looking] * looks), total),
        )

    @property
    def _why(self) -> str:
        if self.settings.play == "set":
            return "sets are vertices of the domain"
        if self.leader is not None:
            return "functions of amounts may be worth most between vertices"
        if self.settings.leads == "euclidean":
            return "noise hides what lies between vertices"
        return "the function, or the domain, is led by vertices"

    # --- the hooks ----------------------------------------------------------------------------------------

    def start(self) -> tuple[State, State]:
        sums, kept = self.gradient.start()
        sums = self.gradient.named(sums)
        bound = self._longest if self.settings.bound == "auto" else self.settings.bound
        begin = {"stage": 0, "bound": float(bound), "total": np.zeros(self.settings.domain.items)}
        return begin | {"variance": 0.0} | self.first() | sums, kept

    def first(self) -> State:
        """What is decided before anyone came."""
        if self.leader is None:
            return {"point": self.first_point()}
        memory = self.leader.start()
        return {"point": memory.point} | flat(memory.steps, "steps.")

    @property
    def _longest(self) -> float:
        """The longest that a gradient can be, of functions that are at most 1."""
        return sqrt(self.settings.domain.items)

    def gatherings(self, public: State) -> dict[str, Gathering]:
        if public["stage"] < self._looks:
            return {"lengths": self.looking.gathering}
        return {"gradient": self.gradient.gathering}

    def gather(self, public: State, block: Block, batch: Batch) -> None:
        with np.errstate(all="ignore"):  # a warning would tell about a person
            for _, rows in self.people(batch):
                self._add(public, block, rows)

    def _add(self, public: State, block: Block, rows: Floats) -> None:
        if "lengths" in block:
            lengths = block["lengths"].gathering
            assert isinstance(lengths, OneChoice)
            gradients = self.settings.function.gradients(rows, np.zeros(self.settings.domain.items))
            lengths.add(block["lengths"], self._bins(gradients))
            return
        gathering = block["gradient"].gathering
        assert isinstance(gathering, Rows)
        gathering.add(block["gradient"], self.added(public, rows) / public["bound"])

    def added(self, public: State, rows: Floats) -> Floats:
        """What is added up of each person."""
        function, point = self.settings.function, public["point"]
        if function.is_concave:
            return function.gradients(rows, point)
        total = np.zeros((len(rows), len(point)))
        for node, weight in zip(NODES, WEIGHTS, strict=True):
            total += weight * function.gradients(rows, node * point)
        return total

    def _bins(self, gradients: Floats) -> Integers:
        """The bin of each gradient's length: 0 for the longest, −1 for none at all."""
        norm = 1 if self.settings.privacy.pure else 2
        lengths = np.linalg.norm(np.maximum(gradients, 0.0), ord=norm, axis=1) / self._longest**2
        bins = np.floor(-2 * np.log2(lengths))
        return np.where(lengths > 0, np.clip(np.nan_to_num(bins), 0, BINS - 1), -1).astype(np.int64)

    def release(
        self, public: State, tally: State, kept: State, block: Block, door: Door
    ) -> tuple[State, State]:
        after = public | {"stage": public["stage"] + 1}
        if "lengths" in block:
            return after | {"bound": self._typical(door.release(self.looking, block["lengths"]))}, kept
        total = self.gradient.next(self.gradient.own(public), kept, block, door)
        return after | self.gradient.named(total.public) | self.led(public, total), total.kept

    def led(self, public: State, total: Total) -> State:
        """Where a new total leads, from released values alone."""
        bound = public["bound"]
        values, variance = total.values * bound, total.variance * bound**2
        found = {"total": values, "variance": variance}
        if self.leader is None:
            return found | {"point": self.settings.domain.vertex(total.values)}
        memory = self.leader.follow(
            LeaderMemory(public["point"], -public["total"], of_flat(Steps, public, "steps.")),
            -values,
            variance=variance,
            step_variance=total.step_variance * bound**2,
        )
        return found | {"point": memory.point} | flat(memory.steps, "steps.")

    def _typical(self, counts: Floats) -> float:
        """A bound from noisy counts of lengths: some of the median of bins that stand out from the noise."""
        least = min(2 * self.looking.standard_deviation, float(counts.max()))
        seen = np.where(counts >= least, np.maximum(counts, 0.0), 0.0)
        falling = np.cumsum(seen)
        middle = int(np.searchsorted(falling, falling[-1] / 2)) if falling[-1] > 0 else 0
        privacy = self.settings.privacy
        # The more noise, the more it pays to count typical people in full and to cut the others.
        usual = LEAST + (USUAL - LEAST) * min(1.0, privacy.epsilon / privacy.contributions)
        return float(usual * self._longest**2 * 2 ** (-(middle + 0.5) / 2))

    def scores(self, public: State, index: int, context: Any) -> Scores:
        return Scores(public["total"].copy(), np.full(len(public["total"]), sqrt(public["variance"])))
