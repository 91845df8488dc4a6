"""Many passes over samples that are held for one release: noisy gradient descent on rows evened out.

    lengths      a histogram of ‖x‖: rows are divided by what they usually are
    directions   second moments, once or twice: a map W to rows z = Wx whose directions are alike
    gradients    θ ← θ − step·(noisy Σ clipped gradients of z)/n, again and again

All of it reads the same people, so shares of one budget add up; that is far better than people of their own
for each, since noise grows with one over the root of a budget's share, and with one over a share of people.

Regressions of few samples, whose directions noise would hide: one release of second moments and moments, and
a ridge. Otherwise the second moments of z are about 1, so a step of 1/curvature is Newton's. What the last
step adds stays, so it has half of the budget; the clip is a quantile of lengths of gradients, read twice, as
residuals shrink. Classifiers: steps of clipped, hence nearly normalised, gradients whose sum is fixed, and an
average with weights that grow.

Guarantee   docs/guarantees/streaming.md, Theorem 4
Runtime     O(d·classes) a sample and pass, O(d²) for second moments; memory two bytes a number
References  Bassily, Smith, Thakurta (2014), "Private Empirical Risk Minimization"
            Sheffet (2017); Wang (2018), one release of second moments and moments
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import sqrt
from typing import Any

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.arrivals.losses import CallableLoss, SoftmaxLoss
from discreet.budget.privacy import Charge
from discreet.decide.evening import Evening
from discreet.decide.ridge import fit_ridges
from discreet.errors import ConfigError
from discreet.learners.streaming_learner.gradients import GradientMode
from discreet.learners.streaming_learner.histogram import SURE, Sizes
from discreet.release.door import Door
from discreet.release.gathering import Gathered, Gathering, Gram, HeldRows, Moments, OneChoice, Rows
from discreet.release.gathering.rounded import Rounded
from discreet.release.noise import Once
from discreet.turn.plan import Plan, State, Step, paid_by_cohorts
from discreet.turn.problem import Batch, Block

__all__ = ["ManyPasses"]

LENGTHS = Sizes(bins=30, ratio=sqrt(2))
USUAL = {"regression": 0.25, "classes": 0.95}
"""Which quantile of lengths rows are divided by: where second moments are released, noise is to be small."""
UNMEASURED = {"regression": 0.5, "classes": 1.0}
"""The share of the bound that takes its place where a histogram would be noise."""
CLIPS = Sizes(bins=24)
MEASURING = 0.02
"""The share of the budget for each histogram."""
EVENING = {"regression": 0.3, "classes": 0.1}
"""The share for second moments."""
REGRESSION_PASSES, CLASS_PASSES = 20, 50
CLIP = 0.1
"""Classifiers: the clip, in lengths of rows."""
WAY = {"even": 2000.0, "plain": 800.0}
"""Classifiers: how far all steps together go, in clips, if noise is small and samples are half as many."""
HIDDEN = 0.1
"""Classifiers: second moments pay if noise hides less than this share of their trace."""
PRIOR, MOST_RIDGE = 0.1, 0.2
"""Regressions: the square that evened coefficients have together, in squares of the target's bound; and the
strongest ridge."""
FEW = 0.04
"""Regressions: if noise would hide more than this share of second moments, one ridge is better."""
MOST_HELD = 2**31
"""Numbers."""


@dataclass(frozen=True)
class Passes:
    """What is paid for, part by part; every part reads everyone."""

    lengths: Once | None
    moments: Once | None
    """Everything at once, where there are too few samples for more."""
    grams: tuple[Once, ...]
    clips: tuple[Once, ...]
    steps: tuple[Once, ...]

    @property
    def parts(self) -> list[Once]:
        """All of them."""
        alone = [once for once in (self.lengths, self.moments) if once]
        return [*alone, *self.grams, *self.clips, *self.steps]

    @property
    def charge(self) -> Charge:
        """What all cost together."""
        first, *others = [once.charge for once in self.parts]
        for charge in others:
            first = first + charge
        return first


class ManyPasses(GradientMode):
    """Coefficients that are released once, after many passes over everyone."""

    @classmethod
    def serves(cls, settings: Any) -> bool:
        return bool(settings.chosen_method == "passes")

    def check(self) -> None:
        settings = self.settings
        if isinstance(settings.loss, CallableLoss) or settings.counts:
            raise ConfigError("many passes need a loss whose curvature is known: use method='leader'")
        if settings.privacy.pure:
            raise ConfigError("many passes need delta > 0: use method='leader'")
        if settings.rounds * self.columns > MOST_HELD:
            raise ConfigError(
                f"{settings.rounds} samples of {settings.width} numbers do not fit into memory: "
                "use method='auto', which streams"
            )
        for once in self.passes.parts:
            if isinstance(once.gathering, Rounded):
                once.gathering.unit  # noqa: B018  refuses grids that are too coarse, before anyone comes
            elif isinstance(once.gathering, Rows):
                self.check_grid(once.gathering)

    # --- the plan -----------------------------------------------------------------------------------------

    @property
    def columns(self) -> int:
        """How many numbers are held of a sample: its row, target, share, and whether it is there."""
        return self.settings.width + 3

    @property
    def kind(self) -> str:
        """What is learned."""
        return "classes" if self.settings.classifies else "regression"

    @cached_property
    def noise(self) -> float:
        """1/√(2ρ): the noise of a sum that one person moves by 1."""
        return 1 / sqrt(2 * self.settings.privacy.budget.amount)

    @cached_property
    def hidden(self) -> float:
        """The share of second moments that noise of the whole budget would hide."""
        return 2 * sqrt(self.settings.width) * self.noise / self.settings.rounds

    @cached_property
    def measured(self) -> bool:
        """Whether a histogram tells more than its noise."""
        noise = sqrt(2) * self.noise / sqrt(MEASURING)
        return SURE * sqrt(5) * noise <= self.settings.rounds / 4

    @cached_property
    def passes(self) -> Passes:
        """The calibrated parts."""
        budget = self.settings.privacy.budget
        histogram = Once.for_budget(budget * MEASURING, OneChoice((LENGTHS.bins,)))
        lengths = histogram if self.measured else None
        left = (1 - MEASURING * self.measured) * (1 - 1e-9)
        if self.kind == "classes":
            evening = EVENING["classes"]
            grams = self._grams(1, evening) if self.hidden <= HIDDEN * sqrt(evening) else ()
            count = self._count(CLASS_PASSES)
            steps = self._steps(np.ones(count), left - evening * len(grams))
            return Passes(lengths, None, grams, (), steps)
        if self.hidden > FEW:
            once = Once.for_budget(budget * left, Moments.of(1, self.settings.width))
            return Passes(lengths, once, (), (), ())
        evening = EVENING["regression"]
        clips = (Once.for_budget(budget * MEASURING, OneChoice((CLIPS.bins,))),) * 2
        count = self._count(REGRESSION_PASSES)
        weights = np.append(np.ones(count - 1), float(count))
        steps = self._steps(weights, left - evening - 2 * MEASURING)
        return Passes(lengths, None, self._grams(2, evening), clips, steps)

    def _count(self, most: int) -> int:
        """How many passes: not more than half as many as samples."""
        return max(4, min(most, self.settings.rounds // 2))

    def _grams(self, count: int, share: float) -> tuple[Once, ...]:
        budget = self.settings.privacy.budget * (share / count)
        return (Once.for_budget(budget, Gram.of(self.settings.width)),) * count

    def _steps(self, weights: Floats, share: float) -> tuple[Once, ...]:
        budget, rows = self.settings.privacy.budget, Rows(self.settings.shape)
        shares = share * weights / weights.sum()
        return tuple(Once.for_budget(budget * float(part), rows) for part in shares)

    @cached_property
    def plan(self) -> Plan:
        charge, rounds = self.passes.charge, self.settings.rounds
        step = Step(rounds, charge, cohort=0)
        return Plan(
            lambda index, public: None if index else step,
            paid_by_cohorts(self.settings.privacy, [charge]),
            horizon=rounds,
            releases=1,
            facts={
                "method": "one-shot" if self.passes.moments else "passes",
                "block": rounds,
                "releases": 1,
                "passes": len(self.passes.steps),
                "second_moments": len(self.passes.grams),
                "noise_in_samples": self.passes.parts[-1].standard_deviation,
            },
            constants=tuple(self.passes.parts),
        )

    # --- the hooks ----------------------------------------------------------------------------------------

    def start(self) -> tuple[State, State]:
        begin = self.settings.domain.start()
        return {"coefficients": begin, "errors": np.full(begin.shape, np.inf)}, {}

    def gatherings(self, public: State) -> dict[str, Gathering]:
        return {"held": HeldRows((self.settings.rounds, self.columns))}

    def gather(self, public: State, block: Block, batch: Batch) -> None:
        held = block["held"].gathering
        assert isinstance(held, HeldRows)
        first = 0
        for piece in self.samples(batch).dense(self.rows_at_once(self.columns)):
            rows = self.within(piece.features) / self.longest
            numbers = np.column_stack([np.ones(len(piece)), piece.shares, self._folded(piece.targets), rows])
            there = np.asarray(np.isfinite(numbers).all(axis=1))
            numbers[:, 3:] = (numbers[:, 3:] + 1) / 2
            places = batch.rounds[first : first + len(piece)] - batch.begin
            held.add(block["held"], places, np.where(there[:, None], numbers, 0.0))
            first += len(piece)

    def release(
        self, public: State, tally: State, kept: State, block: Block, door: Door
    ) -> tuple[State, State]:
        descent = Descent(self, block["held"], door)
        if self.kind == "classes":
            return descent.classify(), kept
        return descent.regress() if self.passes.grams else descent.regress_once(), kept

    # --- what is held -------------------------------------------------------------------------------------

    @property
    def longest(self) -> float:
        """The largest number in a row."""
        return max(self.settings.feature_bound, self.settings.constant)

    def _folded(self, targets: Floats) -> Floats:
        """Targets as numbers in [0, 1]; NaN for a class that is none."""
        settings = self.settings
        if settings.classes > 1:
            known = np.isin(targets, np.arange(settings.classes))
            return np.where(known, targets / (settings.classes - 1), np.nan)
        bound = settings.target_bound
        return np.asarray((np.clip(targets, -bound, bound) / bound + 1) / 2)

    def unfolded(self, numbers: Floats) -> tuple[Floats, Floats, Floats]:
        """Rows, targets and shares of some who are held; whoever is not there has a share of 0."""
        settings = self.settings
        there, targets = numbers[:, 0], numbers[:, 2]
        if settings.classes > 1:
            targets = np.rint(targets * (settings.classes - 1))
        else:
            targets = (2 * targets - 1) * settings.target_bound
        return (2 * numbers[:, 3:] - 1) * self.longest, targets, numbers[:, 1] * (there > 0.5)


class Descent:
    """One release: what the door gives for what is held, and the coefficients that follow from it."""

    def __init__(self, mode: ManyPasses, held: Gathered, door: Door) -> None:
        self.mode, self.held, self.door = mode, held, door
        self.settings, self.passes = mode.settings, mode.passes
        self.people = mode.settings.rounds
        self.width, self.classes = mode.settings.width, mode.settings.classes
        self.map = np.eye(self.width) / self._usual_length()

    def regress_once(self) -> State:
        """A ridge on noisy second moments and moments of everyone."""
        bound, once = self.settings.target_bound, self.passes.moments
        assert once is not None
        assert isinstance(once.gathering, Moments)

        def moments(rows: Floats, targets: Floats, shares: Floats) -> tuple[Floats, Floats, Integers]:
            slots = np.where(shares > 0, 0, -1)
            weights = np.sqrt(shares)  # of a row and a target: their products count as much as the sample
            return rows @ self.map.T * weights[:, None], targets / bound * weights, slots

        noise = once.standard_deviation
        grams, sums = once.gathering.parted(self._total(once, moments))
        found = fit_ridges(grams, sums, gram_noise=sqrt(2) * noise, moment_noise=noise)
        # The map is a multiple of the identity.
        coefficients = self.map.T @ found.coefficients[0] * bound
        errors = np.abs(np.diag(self.map)) * found.standard_deviations[0] * bound
        return {"coefficients": self.settings.domain.project(coefficients), "errors": errors}

    def regress(self) -> State:
        """Newton's steps on evened rows."""
        settings, loss = self.settings, self.settings.loss
        assert not isinstance(loss, CallableLoss | SoftmaxLoss)
        self._even(self.passes.grams)
        begin = settings.domain.start()
        point, clip = np.zeros(self.width), 1.0
        for index, once in enumerate(self.passes.steps):
            here = begin + self.map.T @ point
            if index in (0, 2):
                clip = self._clip(self.passes.clips[index // 2], here)
            noise = once.standard_deviation * clip / self.people / loss.curvature
            gradient = self._gradient(once, here, clip)[0] / self.people / loss.curvature
            # Where rows do not vary, noise would add up from step to step: a ridge as strong as the noise.
            ridge = min(MOST_RIDGE, noise**2 * self.width / (PRIOR * settings.target_bound**2))
            point = point - gradient - ridge * point
            point = self._inside(point, begin)
        sampled = clip**2 / self.width / self.people / loss.curvature**2
        errors = sqrt(noise**2 + sampled) * np.linalg.norm(self.map, axis=0)
        return {"coefficients": begin + self.map.T @ point, "errors": errors}

    def classify(self) -> State:
        """Steps of clipped gradients, averaged."""
        settings, steps = self.settings, self.passes.steps
        if self.passes.grams:
            self._even(self.passes.grams)
            self.map = self.map / sqrt(self.width)
        begin = settings.domain.start().reshape(self.classes, self.width)
        noise = steps[0].standard_deviation * sqrt(begin.size) / self.people
        furthest = WAY["even"] if self.passes.grams else min(WAY["plain"], 2 * self.people)
        way = furthest / max(1.0, noise)
        point = average = np.zeros_like(begin)
        for index, once in enumerate(steps):
            here = begin + point @ self.map
            gradient = self._gradient(once, here, CLIP) / CLIP / self.people
            gradient = gradient - gradient.mean(axis=0) if self.classes > 1 else gradient
            point = self._inside(point - way / len(steps) * gradient, begin)
            average = average + (point - average) * (2 / (index + 2))
        scattered = way / sqrt(len(steps)) * steps[0].standard_deviation / self.people
        errors = np.tile(scattered * np.linalg.norm(self.map, axis=0), (self.classes, 1))
        return {"coefficients": (begin + average @ self.map).reshape(-1), "errors": errors.reshape(-1)}

    # --- parts --------------------------------------------------------------------------------------------

    def _total(self, once: Once, of_rows: Callable[[Floats, Floats, Floats], Any]) -> Floats:
        """The noisy total of a function of each sample's row, target and share."""
        held, onto = self.held.gathering, once.gathering
        assert isinstance(held, HeldRows)
        assert isinstance(onto, Rows | Gram | OneChoice | Moments)
        total = held.total(self.held, lambda numbers: of_rows(*self.mode.unfolded(numbers)), onto)
        return self.door.release(once, total)

    def _usual_length(self) -> float:
        """What rows usually are long, or could be."""
        settings = self.settings
        wider = settings.features ** max(0.0, 0.5 - 1 / settings.domain.dual)
        top = sqrt((settings.feature_bound * wider) ** 2 + settings.constant**2)
        once, level = self.passes.lengths, USUAL[self.mode.kind]
        if once is None:
            return UNMEASURED[self.mode.kind] * top

        def cells(rows: Floats, targets: Floats, shares: Floats) -> Any:
            return np.where(shares > 0, LENGTHS.cells(np.linalg.norm(rows, axis=1), top), -1)

        counts = self._total(once, cells)
        noise = once.standard_deviation
        return LENGTHS.quantile(counts, top=top, level=level, people=self.people, noise=noise)

    def _even(self, grams: tuple[Once, ...]) -> None:
        """A map to rows whose directions are alike; what noise hides is no more than it."""
        longest = 1.0
        for once in grams:
            assert isinstance(once.gathering, Gram)
            way = self.map / longest

            def mapped(rows: Floats, targets: Floats, shares: Floats, way: Floats = way) -> Floats:
                return np.asarray(rows @ way.T * (shares > 0)[:, None])

            matrix = once.gathering.parted(self._total(once, mapped))[0] * (longest**2 / self.people)
            edge = sqrt(2 * self.width) * once.standard_deviation * longest**2 / self.people
            values, vectors = np.linalg.eigh(matrix)
            values = np.maximum(values, min(edge, longest**2))
            self.map = (vectors / np.sqrt(values)) @ vectors.T @ self.map
            longest = 1.5 * sqrt(self.width)

    def _clip(self, once: Once, here: Floats) -> float:
        """The length that nearly all gradients keep."""
        loss = self.settings.loss
        assert not isinstance(loss, CallableLoss | SoftmaxLoss)
        top = 16 * loss.curvature * self.settings.target_bound * sqrt(self.width)

        def cells(rows: Floats, targets: Floats, shares: Floats) -> Any:
            lengths = np.linalg.norm(rows @ self.map.T, axis=1) * np.abs(loss.slopes(rows @ here, targets))
            return np.where(shares > 0, CLIPS.cells(lengths, top), -1)

        counts = self._total(once, cells)
        noise = once.standard_deviation
        return CLIPS.quantile(counts, top=top, level=0.97, people=self.people, noise=noise)

    def _gradient(self, once: Once, here: Floats, clip: float) -> Floats:
        """The noisy sum of gradients of evened rows, one row a class."""
        loss = self.settings.loss
        assert not isinstance(loss, CallableLoss)
        rows_of_here = here.reshape(self.classes, self.width)

        def gradients(rows: Floats, targets: Floats, shares: Floats) -> Floats:
            margins = rows @ rows_of_here.T
            slopes = loss.slopes(margins if self.classes > 1 else margins[:, 0], targets)
            weighted = slopes.reshape(len(rows), -1) * (shares / clip)[:, None]
            evened = rows @ self.map.T
            return np.ascontiguousarray(weighted[:, :, None] * evened[:, None, :]).reshape(len(rows), -1)

        return self._total(once, gradients).reshape(self.classes, self.width) * clip

    def _inside(self, point: Floats, begin: Floats) -> Floats:
        """The point of evened coefficients whose coefficients lie in the domain, near it where rows vary.

        First in the Euclidean ball around the domain: where directions differ much, the nearest point in the
        usual norm would be a bad one.
        """
        domain = self.settings.domain
        there = (begin + point @ self.map).reshape(-1)
        if np.array_equal(domain.project(there), there):
            return point
        moved = point @ self.map
        if self.classes == 1:
            unmapped = np.linalg.inv(self.map)
            values, vectors = np.linalg.eigh(unmapped @ unmapped.T)
            near = Evening(vectors.T, values, 1.0).nearest(moved.reshape(-1), domain.diameter(2.0) / 2)
            moved = near.reshape(begin.shape)
        inside = domain.project((begin + moved).reshape(-1)).reshape(begin.shape)
        return np.asarray(np.linalg.solve(self.map.T, (inside - begin).T).T, dtype=np.float64)
