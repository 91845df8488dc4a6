"""One boosted copy: a noisy running total of gradients averaged along the way to the point, and its leader.

    h_t = ∫₀¹ e^(z−1) · ∇f_t(z·x_t) dz        (six nodes; concave functions: ∇f_t(x_t))
    x   = argmax over the domain of ⟨v, x⟩     v the noisy total of all h

Any linear learner that is fed h instead of the gradient has (1 − 1/e)-regret. The noised leader plays a
vertex of the domain; of a matroid that is a set, so nothing needs rounding. Gradients are non-negative and
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

from discreet.arrays import Floats, Integers, repeated
from discreet.arrivals.feedback import as_rows
from discreet.decide.knapsack import Knapsack
from discreet.decide.rounding import rounded_knapsack
from discreet.errors import OutOfBounds
from discreet.learners.continuous_maximizer.settings import ContinuousMaximizerSettings
from discreet.learners.labels import labels_of
from discreet.learners.totals import RunningTotal
from discreet.release.door import Door
from discreet.release.gathering import Gathering, OneChoice, Rows
from discreet.release.noise import Once
from discreet.turn.coins import Coin, Coins
from discreet.turn.plan import Plan, State, paid_by_cohorts
from discreet.turn.problem import Asked, Batch, Block, Problem, Scores
from discreet.turn.schedule import ListedBlocks

__all__ = ["Boosted"]

NODES, WEIGHTS = np.polynomial.legendre.leggauss(6)
NODES = (NODES + 1) / 2
WEIGHTS = WEIGHTS / 2 * np.exp(NODES - 1)
"""Of ∫₀¹ e^(z−1)·g(z) dz."""
BINS = 24
"""Lengths of gradients are counted in so many bins, a factor of √2 apart."""
USUAL, LEAST = 0.7, 0.55
"""Gradients are clipped to so many times their median length at 0: from ε = 1 on, and for the smallest ε."""
CHUNK = 4096
"""How many people's gradients are held at once."""


class Boosted(Problem):
    """Sets or points of a matroid or a knapsack, from one running total of boosted gradients."""

    proof = "continuous.md"
    settings: ContinuousMaximizerSettings

    # --- the plan -----------------------------------------------------------------------------------------

    @property
    def _looks(self) -> int:
        """How many releases only look at lengths: one, or none if a bound is given."""
        return int(self.settings.bound == "auto")

    @cached_property
    def schedule(self) -> ListedBlocks:
        return ListedBlocks(self.settings.rounds, self.settings.lengths)

    @cached_property
    def looking(self) -> Once:
        """Counts of lengths, with the whole budget of the first people."""
        privacy = self.settings.privacy
        if privacy.contributions == 1:
            return Once.calibrate(privacy, OneChoice((BINS,)))
        return Once.for_budget(privacy.budget, OneChoice((BINS,)))  # all cohorts in one measure

    @cached_property
    def gradient(self) -> RunningTotal:
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
                "method": "boosted",
                "releases": self.schedule.releases,
                "noise_in_people": self.gradient.noise,
            },
            constants=(*([self.looking] * looks), total),
        )

    # --- the hooks ----------------------------------------------------------------------------------------

    def start(self) -> tuple[State, State]:
        sums, kept = self.gradient.start()
        domain, settings = self.settings.domain, self.settings
        generator = Coin(self.name, 0).generator()  # public, chosen before anyone came
        bound = self._longest if settings.bound == "auto" else settings.bound
        begin = {"stage": 0, "bound": float(bound), "point": domain.vertex(generator.random(domain.items))}
        return begin | sums | {"total": np.zeros(domain.items), "variance": 0.0}, kept

    @property
    def _longest(self) -> float:
        """The longest that a gradient can be, of functions that are at most 1."""
        return sqrt(self.settings.domain.items)

    def gatherings(self, public: State) -> dict[str, Gathering]:
        if public["stage"] < self._looks:
            return {"lengths": self.looking.gathering}
        return {"gradient": self.gradient.gathering}

    def gather(self, public: State, block: Block, batch: Batch) -> None:
        function, items = self.settings.function, self.settings.domain.items
        rows, fine = function.admit(as_rows(batch, function.width(items)), items)
        if batch.single and not fine.all():
            raise OutOfBounds(
                f"feedback must be {function.width(items)} numbers in the range of {type(function).__name__}"
            )
        for first in range(0, len(rows), CHUNK):
            self._add(public, block, rows[first : first + CHUNK])

    def _add(self, public: State, block: Block, rows: Floats) -> None:
        if "lengths" in block:
            lengths = block["lengths"].gathering
            assert isinstance(lengths, OneChoice)
            gradients = self.settings.function.gradients(rows, np.zeros(self.settings.domain.items))
            lengths.add(block["lengths"], self._bins(gradients))
            return
        gathering = block["gradient"].gathering
        assert isinstance(gathering, Rows)
        gathering.add(block["gradient"], self._boosted(rows, public["point"]) / public["bound"])

    def _boosted(self, rows: Floats, point: Floats) -> Floats:
        function = self.settings.function
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
        with np.errstate(all="ignore"):
            bins = np.floor(-2 * np.log2(lengths))
        return np.where(lengths > 0, np.clip(np.nan_to_num(bins), 0, BINS - 1), -1).astype(np.int64)

    def release(
        self, public: State, tally: State, kept: State, block: Block, door: Door
    ) -> tuple[State, State]:
        after = public | {"stage": public["stage"] + 1}
        if "lengths" in block:
            return after | {"bound": self._typical(door.release(self.looking, block["lengths"]))}, kept
        total = self.gradient.next(public, kept, block, door)
        return after | total.public | {
            "point": self.settings.domain.vertex(total.values),
            "total": total.values * public["bound"],
            "variance": total.variance * public["bound"] ** 2,
        }, total.kept

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

    # --- what is decided ----------------------------------------------------------------------------------

    def decide(self, public: State, rounds: Integers, asked: Asked, coins: Coins) -> Any:
        point = public["point"]
        if self.settings.play == "point":
            return np.asarray(repeated(point, len(rounds)))
        if not isinstance(self.settings.domain, Knapsack):
            return np.asarray(repeated(np.flatnonzero(point > 0.5), len(rounds)))
        sets = [
            rounded_knapsack(self.settings.domain, point, Coin(coins.key, int(round))) for round in rounds
        ]
        table = np.full((len(rounds), self.settings.domain.rank), -1)
        for place, chosen in enumerate(sets):
            table[place, : len(chosen)] = sorted(chosen)
        return table

    def single(self, decisions: Any) -> Any:
        found = decisions[0]
        return found if self.settings.play == "point" else found[found >= 0]

    def blank(self) -> Any:
        return np.zeros(self.settings.function.width(self.settings.domain.items))

    def plain(self, public: State) -> dict[str, Any]:
        names = labels_of(self.settings.domain.items, self.settings.labels).tolist()
        point = public["point"]
        return {"point": {str(names[item]): float(point[item]) for item in np.flatnonzero(point)}}

    def scores(self, public: State, index: int, context: Any) -> Scores:
        return Scores(public["total"].copy(), np.full(len(public["total"]), sqrt(public["variance"])))
