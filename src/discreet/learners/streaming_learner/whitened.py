"""The leader on rows that were measured first: lengths, directions and clip come from other samples.

    stage 0    lengths of rows and sizes of targets, as one histogram: bounds that fit
    stage 1    second moments of rows: the directions that stand out, and a map that evens them out
    stage 2    lengths of gradients, as a histogram: the clip
    then       the regularised leader on evened rows, through one running total of clipped gradients

Every sample enters one stage only, so each has the whole budget. Where no direction stands out, rows stay as
they are, and the leader is that of leader.py with the measured bounds. Where one does, coefficients of evened
rows z = H^(−½)x have a curvature of about that of the loss in every direction, and

    θ′_{r+1} = (μb·mean(θ′) − v_r) / (μb + h)        h = var(v_r) / (μb · w · H)

v_r the noisy total of gradients of z after b samples, μ half the loss's curvature, w the variance that the
domain allows a coefficient: a ridge for each direction, as a Bayesian would choose it. One for all would
shrink the strong direction. Points are then moved into the domain, first in the norm of H.

Guarantee   docs/guarantees/streaming.md, Theorem 3
Runtime     O(d·(1 + spikes)) a sample, O(d²) for those of stage 1
References  Kairouz et al. (2021), "Practical and Private (Deep) Learning without Sampling or Shuffling"
"""

from dataclasses import replace
from functools import cached_property
from math import sqrt
from typing import Any

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.arrivals.losses import (
    CallableLoss,
    GeneralisedLinearLoss,
    HuberLoss,
    LogisticLoss,
    Samples,
    SoftmaxLoss,
    SquaredLoss,
)
from discreet.budget.privacy import Charge
from discreet.decide.evening import Evening
from discreet.decide.leader import Leader
from discreet.errors import ConfigError
from discreet.learners.streaming_learner.gradients import NoisySum
from discreet.learners.streaming_learner.histogram import Sizes
from discreet.learners.streaming_learner.leader import curvature_of
from discreet.learners.totals import RunningTotal, Total
from discreet.release.door import Door
from discreet.release.gathering import Gathering, Gram, OneChoice, Rows
from discreet.release.noise import Once
from discreet.turn.plan import Plan, State, paid_by_cohorts
from discreet.turn.problem import Batch, Block
from discreet.turn.schedule import ListedBlocks

__all__ = ["WhitenedLeader"]

BOUNDS = Sizes(bins=20)
"""Of the bins of stage 0: a millionth of the declared bound."""
CLIPS = Sizes(bins=24)
ROOM = 2.0
"""How much wider than measured bounds are: bins halve."""
FLAT_CLIP, EVENED_CLIP = 0.25, 0.7
"""The clip: of the bounds, and of the length that nine in ten gradients keep."""
FLAT_CURVATURE = 0.15
"""Of the curvature that second moments tell: too large a guess stops learning, a small one costs little."""
FAR = 1e100
"""A bound that no evened row reaches."""


class WhitenedLeader(NoisySum):
    """Coefficients of the regularised leader, on rows measured and evened out by stages before it."""

    @classmethod
    def serves(cls, settings: Any) -> bool:
        return bool(settings.chosen_method == "whitened")

    def check(self) -> None:
        settings = self.settings
        if isinstance(settings.loss, CallableLoss | SoftmaxLoss):
            raise ConfigError(
                "rows are measured for losses of one margin that are known: use method='leader'"
            )
        if settings.privacy.pure or settings.domain.corners:
            raise ConfigError(
                "measuring rows needs delta > 0, and no l₁ ball or simplex as domain: use method='leader'"
            )
        if sum(self.preparation) >= settings.rounds:
            raise ConfigError(
                f"{settings.rounds} samples are all measured, and none is left to learn from: use "
                "method='leader', or a longer horizon"
            )
        super().check()
        if self.gram is not None:
            assert isinstance(self.gram.gathering, Gram)
            self.gram.gathering.unit  # noqa: B018  refuses grids that are too coarse, before anyone comes

    @property
    def loss(self) -> SquaredLoss | LogisticLoss | HuberLoss | GeneralisedLinearLoss:
        """The loss of a margin."""
        loss = self.settings.loss
        assert not isinstance(loss, CallableLoss | SoftmaxLoss)
        return loss

    # --- the plan -----------------------------------------------------------------------------------------

    @property
    def size(self) -> int:
        """How many numbers a row has, the constant included."""
        return self.settings.domain.dimension

    @cached_property
    def preparation(self) -> tuple[int, ...]:
        """The samples of each stage."""
        return self.settings.preparation

    @cached_property
    def schedule(self) -> ListedBlocks:
        rounds, begin = self.settings.rounds, sum(self.preparation)
        block = self.settings.schedule.block
        full, last = divmod(rounds - begin, block)
        return ListedBlocks(rounds, (*self.preparation, *(block,) * full, *((last,) if last else ())))

    @cached_property
    def gradient(self) -> RunningTotal:
        lengths = self.schedule.lengths[len(self.preparation) :]
        return RunningTotal(
            "gradient",
            Rows((self.size,)),
            ListedBlocks(self.settings.rounds, lengths),
            self.settings.privacy,
            people=max(lengths),
            # Who comes several times may enter stages and total: all must be in one measure.
            fresh=self.settings.privacy.contributions == 1,
        )

    def counted(self, cells: int) -> Once:
        """Noise for a histogram of a stage."""
        privacy = self.settings.privacy
        if privacy.contributions > 1:  # all stages in one measure
            return Once.for_budget(privacy.budget, OneChoice((cells,)))
        return Once.calibrate(privacy, OneChoice((cells,)))

    @cached_property
    def bounds(self) -> Once:
        """Stage 0: a third each for lengths in the dual norm, Euclidean lengths, and sizes of targets."""
        return self.counted(3 * BOUNDS.bins)

    @cached_property
    def gram(self) -> Once | None:
        """Stage 1, if it pays."""
        if len(self.preparation) < 3:
            return None
        return Once.for_budget(self.settings.privacy.budget, Gram.of(self.size))

    @cached_property
    def clips(self) -> Once:
        """Stage 2."""
        return self.counted(CLIPS.bins)

    @cached_property
    def stages(self) -> list[Once]:
        """What each stage releases."""
        return [self.bounds, *([self.gram] if self.gram else []), self.clips]

    @cached_property
    def plan(self) -> Plan:
        stages, total = self.stages, self.gradient.sum
        count = len(stages)

        def charge(index: int) -> Charge:
            return stages[index].charge if index < count else total.charge(index - count)

        def cohort(index: int) -> int:
            return index if index < count or total.has_cohorts else count

        later = total.spent(self.gradient.releases)
        return Plan.scheduled(
            self.schedule,
            charge,
            paid_by_cohorts(self.settings.privacy, [*(once.charge for once in stages), later]),
            cohort=cohort,
            facts={
                "method": "whitened" if self.gram else "scaled",
                "block": self.settings.schedule.block,
                "releases": self.schedule.releases,
                "preparation": sum(self.preparation),
                "noise_in_samples": self.gradient.noise,
            },
            constants=(*stages, total),
        )

    # --- the hooks ----------------------------------------------------------------------------------------

    @cached_property
    def leader(self) -> Leader:
        return Leader(self.settings.domain, pace=self.settings.pace)

    def start(self) -> tuple[State, State]:
        settings = self.settings
        public, kept = self.gradient.start()
        begin = settings.domain.start()
        flat = Evening(np.empty((0, self.size)), np.empty(0), 1.0)
        measured = {"bound": settings.feature_bound, "target": settings.target_bound, "clip": 1.0}
        unknown = np.full(begin.shape, np.inf)
        state = {"stage": 0, "coefficients": begin, "mean": begin, "errors": unknown, "length": self.longest}
        return public | self.leader.start() | flat.state() | measured | state, kept

    @property
    def longest(self) -> float:
        """The greatest Euclidean length of a row within its bound, with the constant."""
        settings = self.settings
        dual = settings.domain.dual
        wider = settings.features ** max(0.0, 0.5 - 1 / dual)
        return sqrt((settings.feature_bound * wider) ** 2 + settings.constant**2)

    def gatherings(self, public: State) -> dict[str, Gathering]:
        stage = int(public["stage"])
        if stage < len(self.stages):
            return {"measured": self.stages[stage].gathering}
        return {"gradient": self.gradient.gathering}

    def gather(self, public: State, block: Block, batch: Batch) -> None:
        samples = self.samples(batch)
        if "gradient" in block:
            self._add_gradients(public, block, samples)
            return
        measured = block["measured"]
        gathering = measured.gathering
        first = 0
        with np.errstate(all="ignore"):  # a warning would tell about a sample
            for piece in samples.dense(self.rows_at_once(self.size)):
                if isinstance(gathering, Gram):
                    gathering.add(measured, self._present(piece, public) / public["length"])
                else:
                    assert isinstance(gathering, OneChoice)
                    rounds = batch.rounds[first : first + len(piece)]
                    gathering.add(measured, self._cells(public, rounds, piece.features, piece.targets))
                first += len(piece)

    def release(
        self, public: State, tally: State, kept: State, block: Block, door: Door
    ) -> tuple[State, State]:
        stage = int(public["stage"])
        if stage >= len(self.stages):
            return self._followed(public, kept, block, door)
        found = door.release(self.stages[stage], block["measured"])
        if stage == 0:
            after = self._bounded(found)
        elif stage < len(self.stages) - 1:
            after = self._evened(public, found)
        else:
            after = self._clipped(public, found)
        return public | after | {"stage": stage + 1}, kept

    # --- stage 0: bounds that fit -------------------------------------------------------------------------

    def _cells(self, public: State, rounds: Integers, features: Floats, targets: Floats) -> Integers:
        if int(public["stage"]) > 0:
            sizes = self._lengths(self._evened_rows(public, features), 2.0) * self._slopes(public, targets)
            return CLIPS.cells(sizes, self._most)
        settings, third = self.settings, rounds % 3
        lengths = self._lengths(features, settings.domain.dual)
        euclidean = np.hypot(self._lengths(features, 2.0), settings.constant)
        sizes = np.choose(third, [lengths, euclidean, np.abs(targets)])
        tops = np.choose(third, [settings.feature_bound, self.longest, settings.target_bound])
        cells = BOUNDS.cells(sizes / tops, 1.0)
        there = (cells >= 0) & np.isfinite(lengths) & np.isfinite(targets)
        return np.asarray(np.where(there, third * BOUNDS.bins + cells, -1), dtype=np.int64)

    def _bounded(self, counts: Floats) -> State:
        settings, people = self.settings, self.preparation[0] / 3
        noise = self.bounds.standard_deviation
        tops = (settings.feature_bound, self.longest, settings.target_bound)
        found = [
            BOUNDS.quantile(part, top=top, level=level, people=people, noise=noise)
            for part, top, level in zip(counts.reshape(3, -1), tops, (0.95, 0.95, 0.98), strict=True)
        ]
        target = settings.target_bound if settings.classifies else found[2]
        return {"bound": found[0], "length": found[1], "target": target}

    def _wide(self, public: State) -> dict[str, float]:
        """Bounds with room: to cut what was measured a little short costs more than noise does."""
        settings = self.settings
        return {
            "bound": min(ROOM * public["bound"], settings.feature_bound),
            "target": min(ROOM * public["target"], settings.target_bound),
        }

    # --- stage 1: directions that stand out ---------------------------------------------------------------

    def _evened(self, public: State, totals: Floats) -> State:
        assert self.gram is not None
        gathering = self.gram.gathering
        assert isinstance(gathering, Gram)
        matrix = gathering.parted(totals)[0] * (public["length"] ** 2 / self.preparation[1])
        noise = self.gram.standard_deviation / sqrt(2) * public["length"] ** 2 / self.preparation[1]
        evening = Evening.read(matrix, noise=noise)
        return evening.state()

    def _present(self, samples: Samples, public: State) -> Floats:
        rows = self._evened_rows(public, samples.features)
        rows[~np.isfinite(samples.targets)] = np.nan  # whoever has no target says nothing
        return rows

    # --- stage 2: the clip --------------------------------------------------------------------------------

    @property
    def _most(self) -> float:
        """The longest gradient that has a bin of its own."""
        settings = self.settings
        slope = 1.0 if settings.classifies else settings.target_bound
        return 32 * self.loss.curvature * slope * sqrt(self.size)

    def _clipped(self, public: State, counts: Floats) -> State:
        if not len(public["directions"]):
            slope = 1.0 if self.settings.classifies else self._wide(public)["target"]
            return {"clip": FLAT_CLIP * public["bound"] * slope}
        noise, people = self.clips.standard_deviation, self.preparation[-1]
        clip = CLIPS.quantile(counts, top=self._most, level=0.9, people=people, noise=noise)
        return {"clip": EVENED_CLIP * clip}

    def _slopes(self, public: State, targets: Floats) -> Floats:
        """How steep the loss is before anything is learned."""
        most = self._wide(public)["target"]
        clipped = np.clip(targets, -most, most)
        return np.asarray(np.abs(self.loss.slopes(np.zeros(len(targets)), clipped)))

    # --- then: the leader ---------------------------------------------------------------------------------

    def _add_gradients(self, public: State, block: Block, samples: Samples) -> None:
        evening = Evening.of_state(public)
        here, worth = public["point"], 1 / public["clip"]
        bounds = self._wide(public) | {"worth": worth}
        if not evening.spikes:
            self.add_gradients(self.gradient_rows, block["gradient"], samples, here, here, 0.0, **bounds)
            return
        bounds["bound"] = FAR
        here = evening.times(here, 0.5)
        for piece in samples.dense(self.rows_at_once(self.size)):
            mapped = Samples(self._evened_rows(public, piece.features), piece.targets, piece.shares)
            self.add_gradients(
                self.gradient_rows, block["gradient"], mapped, here, here, 0.0, evened=True, **bounds
            )

    def _followed(self, public: State, kept: State, block: Block, door: Door) -> tuple[State, State]:
        clip = public["clip"]
        noisy = self.gradient.next(public, kept, block, door)
        total = replace(
            noisy,
            values=noisy.values * clip,
            variance=noisy.variance * clip**2,
            step_variance=noisy.step_variance * clip**2,
        )
        count = door.index + 1 - len(self.stages)
        samples = self.schedule.end(door.index) - sum(self.preparation)
        mean = public["mean"] + (public["point"] - public["mean"]) / count
        evening = Evening.of_state(public)
        if evening.spikes:
            memory = {"point": self._ridged(evening, total, mean, samples)}
            bent = self.loss.curvature * samples
            errors = np.sqrt(evening.diagonal(-1.0))
        else:
            bent = self._curvature(public, evening) * samples
            memory = self.leader.bent(public, total.values, mean, bent, **total.variances)
            bent += self.leader.stiffness(memory)
            errors = np.ones(self.size)
        errors = errors * self.scattered(total.variance, samples, clip, bent)
        average = public["coefficients"] + (memory["point"] - public["coefficients"]) * (2 / (count + 1))
        found = {"mean": mean, "coefficients": average, "errors": errors}
        return public | total.public | memory | found, kept | total.kept

    def _curvature(self, public: State, evening: Evening) -> float:
        """How strongly the loss curves where no direction stands out: by second moments, or by the bound."""
        if self.gram is None:
            return curvature_of(self.settings, public["bound"])
        return FLAT_CURVATURE * self.loss.curvature * evening.rest

    def _ridged(self, evening: Evening, total: Total, mean: Floats, samples: int) -> Floats:
        """The point of evened coefficients with a ridge for each direction, moved into the domain."""
        domain = self.settings.domain
        bent = self.loss.curvature / 2 * samples
        radius = domain.diameter(2.0) / 2
        begin = domain.start()
        ridge = total.variance / bent / (radius**2 / self.size)
        pulled = bent * evening.times(mean - begin, 0.5) - self.settings.pace * total.values
        weights = 1 / (bent + ridge / evening.values)
        found = evening.shaped(pulled, 1 / (bent + ridge / evening.rest), weights)
        moved = evening.nearest(evening.times(found, -0.5), radius)
        return domain.project(begin + moved)

    # --- rows ---------------------------------------------------------------------------------------------

    def _lengths(self, features: Floats, order: float) -> Floats:
        from discreet.arrivals import measured

        lengths = np.empty(len(features))
        measured.row_lengths(features, 0.0, 0.0 if np.isinf(order) else float(order), lengths)
        return lengths

    def _evened_rows(self, public: State, features: Floats) -> Floats:
        """Rows within the declared bound, with the constant, as the map sees them."""
        evening = Evening.of_state(public)
        power = -0.5 if evening.spikes else 0.0
        return self.evened(features, evening.vectors, evening.values**power, float(evening.rest**power))
