"""The measuring phases: sizes of rows and targets, then directions, each by a block of samples.

    sizes        one histogram of norms of rows and of targets: bounds, usual norms, the clip
    directions   second moments of rows: the spiked covariance by which rows are whitened

Where there are too few samples for second moments, and for pure guarantees, all directions have one
second moment, which follows from the norms. All results are functions of released values.

Guarantee   docs/guarantees/streaming.md, Theorem 3
"""

from dataclasses import replace
from math import sqrt

import numpy as np

from discreet.arrays import Floats, Integers, Mask
from discreet.engine.request import Block
from discreet.engine.statistics import Released
from discreet.learners.streaming_learner.feature_rows import euclidean_lengths, longest_row, within
from discreet.learners.streaming_learner.histogram import Sizes
from discreet.learners.streaming_learner.sample_answer import Answers
from discreet.learners.streaming_learner.whitened.phase import WhitenedPhase
from discreet.learners.streaming_learner.whitened.public import Measured, Public
from discreet.learners.streaming_learner.whitened.tuning import TUNED
from discreet.losses import Samples
from discreet.optim.spiked_covariance import SpikedCovariance

SIZES = Sizes(bins=20)
"""The bins of sizes, down to a millionth of the declared bound."""


class MeasuringSizes(WhitenedPhase):
    """Phase of the first block: a histogram of norms of rows, followed by one of targets."""

    def gather(self, block: Block, answers: Answers) -> None:
        sizes = self.mode.sizes
        with np.errstate(all="ignore"):  # a warning would reveal a sample
            for piece in answers.pieces(self.mode.size):
                cells = np.where(is_valid(piece.samples), self._cells(piece), -1)
                sizes.aggregator.add(sizes.of(block), cells)

    def _cells(self, answers: Answers) -> Integers:
        """Return the cell of each sample: of its row in even rounds, of its target in odd ones."""
        settings = self.settings
        samples = answers.samples
        by_target = answers.rounds % 2
        lengths = np.hypot(euclidean_lengths(samples.features), settings.constant)
        of_targets = np.abs(samples.targets) / settings.target_bound
        sizes = np.where(by_target, of_targets, lengths / longest_row(settings))
        cells = SIZES.cells(np.where(np.isfinite(lengths), sizes, np.nan), 1.0)
        return np.asarray(np.where(cells < 0, -1, by_target * SIZES.bins + cells), dtype=np.int64)

    def update(self, released: Released) -> Public:
        measured = self.bounded(released[self.mode.sizes])
        return replace(self.public, measured=measured)

    def bounded(self, counts: Floats) -> Measured:
        """Return measured bounds, the clip, and one second moment for all directions."""
        mode = self.mode
        of_rows, of_targets = counts.reshape(2, -1)
        noise = mode.sizes.standard_deviation
        people = mode.preparation[0] / 2
        top = longest_row(self.settings)
        length = SIZES.quantile(
            of_rows, top=top, level=TUNED.length_level, people=people, noise=noise
        )
        squared = SIZES.mean(of_rows, top=top, noise=noise, power=2.0)
        squared = squared or TUNED.unmeasured * length**2
        target = self._target(of_targets, people, noise)
        slope = self._slope(of_targets, target, noise)
        return Measured(
            length=length,
            target=target,
            clip=mode.clip_over_usual * slope * mode.usual_norm,
            moments=SpikedCovariance.flat(mode.size, squared / mode.size),
        )

    def _target(self, counts: Floats, people: float, noise: float) -> float:
        """Return the measured bound of targets; classifiers use the declared one."""
        declared = float(self.settings.target_bound)
        if self.settings.classifies:
            return declared
        level = TUNED.target_level
        return SIZES.quantile(counts, top=declared, level=level, people=people, noise=noise)

    def _slope(self, counts: Floats, target: float, noise: float) -> float:
        """Return the usual slope of the loss at the start."""
        if self.settings.classifies:
            return 0.5
        usual = SIZES.mean(counts, top=self.settings.target_bound, noise=noise)
        return self.mode.loss.curvature * (usual or TUNED.unmeasured * target)


class MeasuringDirections(WhitenedPhase):
    """Phase of the second block, if it pays: second moments of rows."""

    def gather(self, block: Block, answers: Answers) -> None:
        directions = self.mode.directions
        length = self.public.measured.length
        with np.errstate(all="ignore"):  # a warning would reveal a sample
            for piece in answers.pieces(self.mode.size):
                rows = within(self.settings, piece.samples.features) / length
                rows = np.where(is_valid(piece.samples)[:, None], rows, np.nan)
                directions.aggregator.add(directions.of(block), rows)

    def update(self, released: Released) -> Public:
        directions = self.mode.directions
        measured = self.public.measured
        matrix, people = directions.aggregator.parted(released[directions])
        unit = measured.length**2 / max(people, self.mode.preparation[1] / 8)
        noise = directions.standard_deviation / sqrt(2) * unit
        moments = SpikedCovariance.read(matrix * unit, noise=noise)
        return replace(self.public, measured=replace(measured, moments=moments))


def is_valid(samples: Samples) -> Mask:
    """Return a mask of the samples with a positive share and a finite target."""
    return np.asarray(np.isfinite(samples.targets) & (samples.shares > 0))
