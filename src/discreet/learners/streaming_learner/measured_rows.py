"""What samples of their own tell before a leader learns: sizes of rows and targets, and directions.

    sizes        of rows and of targets, as one histogram: bounds that fit, usual lengths, the clip
    directions   second moments of rows: those that stand out, and a map that evens them out

Where there are too few samples for second moments, and for pure guarantees, all directions count as alike,
with the moments that the lengths suggest. What is read off a stage is a function of what was released for it.

Guarantee   docs/guarantees/streaming.md, Theorem 3
"""

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
from discreet.decide.evening import Evening
from discreet.errors import StateError
from discreet.learners.streaming_learner.gradients import NoisySum
from discreet.learners.streaming_learner.histogram import Sizes
from discreet.release.gathering import Gathered, Gram, OneChoice
from discreet.release.noise import Once
from discreet.turn.plan import State
from discreet.turn.questions import Batch

__all__ = ["MeasuredRows"]

BOUNDS = Sizes(bins=20)
"""Of the bins of lengths: a millionth of the declared bound."""
ROOM = 2.0
"""How much wider than measured the target's bound is: bins halve."""
CLIPS, CLEAR = (0.4, 1.6), {"regression": 0.005, "classes": 0.016}
"""The clip, in lengths of a usual gradient at the start: between these, and CLEAR over the noise. A short
clip takes less noise; a long one learns from large residuals too."""
UNMEASURED = 0.2
"""Without second moments: the share of its longest length squared that a row usually has."""


class MeasuredRows(NoisySum):
    """A leader whose rows are measured first, by stages with samples of their own."""

    growing = (("directions",), ("moments",))

    @property
    def loss(self) -> SquaredLoss | LogisticLoss | HuberLoss | GeneralisedLinearLoss:
        """The loss of a margin."""
        loss = self.settings.loss
        assert not isinstance(loss, CallableLoss | SoftmaxLoss)
        return loss

    @property
    def size(self) -> int:
        """How many numbers a row has, the constant included."""
        return self.settings.domain.dimension

    @cached_property
    def preparation(self) -> tuple[int, ...]:
        """The samples of each stage."""
        return self.settings.preparation

    # --- what each stage releases -------------------------------------------------------------------------

    @cached_property
    def bounds(self) -> Once[Any]:
        """The histogram of sizes: half of the cells for lengths of rows, half for targets."""
        privacy, cells = self.settings.privacy, OneChoice((2 * BOUNDS.bins,))
        if privacy.contributions > 1:  # all stages in one measure
            return Once.for_budget(privacy.budget, cells)
        return Once.calibrate(privacy, cells)

    @cached_property
    def gram(self) -> Once[Any] | None:
        """Second moments, if they pay."""
        if len(self.preparation) == 1:
            return None
        return Once.for_budget(self.settings.privacy.budget, Gram.of(self.size))

    @cached_property
    def stages(self) -> list[Once[Any]]:
        """All of them, in order."""
        return [self.bounds, *([self.gram] if self.gram else [])]

    def layout(self, public: State, index: int) -> tuple[State, State]:
        if public["stage"] < 0 or len(public["moments"]) != len(public["directions"]) + 1:
            raise StateError("no stage has measured rows like this")
        return super().layout(public, index)

    def unmeasured(self) -> State:
        """What is assumed before anything was measured."""
        flat = Evening(np.empty((0, self.size)), np.empty(0), 1.0)
        bounds = {"target": self.settings.target_bound, "length": self.longest}
        return {"stage": 0, "clip": 1.0} | bounds | flat.state()

    @property
    def longest(self) -> float:
        """The greatest Euclidean length of a row within its bound, with the constant."""
        settings = self.settings
        wider = settings.features ** max(0.0, 0.5 - 1 / settings.domain.dual)
        return sqrt((settings.feature_bound * wider) ** 2 + settings.constant**2)

    # --- measuring ----------------------------------------------------------------------------------------

    def measure(self, public: State, measured: Gathered, batch: Batch, samples: Samples) -> None:
        """Add samples to the stage that is on; a sample without a share or finite numbers adds nothing."""
        gathering, first = measured.gathering, 0
        with np.errstate(all="ignore"):  # a warning would tell about a sample
            for piece in samples.dense(self.rows_at_once(self.size)):
                says = np.isfinite(piece.targets) & (piece.shares > 0)
                rounds = batch.rounds[first : first + len(piece)]
                first += len(piece)
                if isinstance(gathering, Gram):
                    rows = self.within(piece.features) / public["length"]
                    gathering.add(measured, np.where(says[:, None], rows, np.nan))
                    continue
                assert isinstance(gathering, OneChoice)
                cells = self._lengths_and_targets(rounds, piece.features, piece.targets)
                gathering.add(measured, np.where(says, cells, -1))

    def _lengths_and_targets(self, rounds: Integers, features: Floats, targets: Floats) -> Integers:
        """Cells of the first histogram: whose round is even counts by their row, others by their target."""
        settings = self.settings
        by_target = rounds % 2
        lengths = np.hypot(self._lengths(features), settings.constant)
        sizes = np.where(by_target, np.abs(targets) / settings.target_bound, lengths / self.longest)
        cells = BOUNDS.cells(np.where(np.isfinite(lengths), sizes, np.nan), 1.0)
        return np.asarray(np.where(cells < 0, -1, by_target * BOUNDS.bins + cells), dtype=np.int64)

    def evened_rows(self, evening: Evening, features: Floats) -> Floats:
        """Rows within the declared bound, with the constant, as the map sees them."""
        return self.evened(features, evening.vectors, evening.values**-0.5, float(evening.rest**-0.5))

    def _lengths(self, rows: Floats) -> Floats:
        from discreet.arrivals import measured

        lengths = np.empty(len(rows))
        measured.row_lengths(rows, 0.0, 2.0, lengths)
        return lengths

    # --- what is read off ---------------------------------------------------------------------------------

    def read(self, public: State, found: Floats) -> State:
        """What follows from the release of the stage that is on."""
        stage = public["stage"]
        if stage == 0:
            after = self.bounded(found)
        else:
            assert self.gram is not None
            after = self._evened(public, self.gram, found)
        return public | after | {"stage": stage + 1}

    def bounded(self, counts: Floats) -> State:
        """Bounds that fit, and without second moments what lengths suggest of them."""
        settings = self.settings
        of_rows, of_targets = counts.reshape(2, -1)
        people, noise = self.preparation[0] / 2, self.bounds.standard_deviation
        length = BOUNDS.quantile(of_rows, top=self.longest, level=0.95, people=people, noise=noise)
        target = BOUNDS.quantile(
            of_targets, top=settings.target_bound, level=0.98, people=people, noise=noise
        )
        target = settings.target_bound if settings.classifies else target
        squared = BOUNDS.mean(of_rows, top=self.longest, noise=noise, power=2.0) or UNMEASURED * length**2
        flat = Evening(np.empty((0, self.size)), np.empty(0), squared / self.size)
        usual = BOUNDS.mean(of_targets, top=settings.target_bound, noise=noise) or UNMEASURED * target
        slope = 0.5 if settings.classifies else self.loss.curvature * usual
        clip = self.clip_over_usual * slope * self._usual_norm
        return {"length": length, "target": target, "clip": clip} | flat.state()

    @cached_property
    def clip_over_usual(self) -> float:
        """The clip, in lengths of a usual gradient at the start, by public numbers."""
        least, most = CLIPS
        return min(most, max(least, CLEAR[self.settings.learns] / self.noise_share))

    @cached_property
    def noise_share(self) -> float:
        """The noise of the last total, over the length of that many clipped gradients in one direction."""
        return self.gradient.noise * self._usual_norm / self.settings.rounds

    @property
    def _usual_norm(self) -> float:
        """The norm of an evened row, in which gradients are clipped: l₂, or l₁ for a pure guarantee."""
        return float(self.size) if self.settings.privacy.pure else sqrt(self.size)

    def widest(self, public: State) -> float:
        """The target's bound with room: to cut a little of what was measured costs more than noise does."""
        return float(min(ROOM * public["target"], self.settings.target_bound))

    def _evened(self, public: State, once: Once[Any], totals: Floats) -> State:
        assert isinstance(once.gathering, Gram)
        matrix, people = once.gathering.parted(totals)
        unit = public["length"] ** 2 / max(people, self.preparation[1] / 8)
        return Evening.read(matrix * unit, noise=once.standard_deviation / sqrt(2) * unit).state()
