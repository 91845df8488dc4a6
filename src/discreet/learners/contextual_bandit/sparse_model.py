"""A small linear model per arm, on the few features that were drawn for it.

    prediction = reference_a · z        z: the constant, and the centred features of the arm

Contexts are centred, and scaled by the typical norm of the features of an arm together with the
constant, so most have norm at most 1. The model is computed from released values.
"""

from dataclasses import dataclass
from functools import cached_property
from math import sqrt

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.learners.contextual_bandit.phase import People
from discreet.learners.contextual_bandit.public import FAR_APART, Estimates
from discreet.learners.contextual_bandit.settings import ContextualBanditSettings
from discreet.learners.contextual_bandit.tuning import SCREEN
from discreet.optim.shrinkage import excess_variance
from discreet.optim.support import Supports


@dataclass(frozen=True, eq=False)
class Refitted:
    """Coefficients after a ridge on features of earlier draws, with their covariances."""

    supports: Supports
    covariances: Floats

    @property
    def deviations(self) -> Floats:
        """The standard deviation of each coefficient."""
        return np.asarray(np.sqrt(np.einsum("kii->ki", self.covariances)))


@dataclass(frozen=True, eq=False)
class SparseModel:
    """Location and scale of contexts, the features of every arm, and the reference model."""

    centre: Floats
    """The mean context, each feature in units of its bound."""
    typical: float
    """A typical distance of a feature from the centre."""
    unit: float
    """The largest residual of a reward that is not clipped."""
    supports: Supports
    """The features of every arm, and their newest coefficients."""
    reference: Floats
    """The coefficients that predict rewards: those of the last draw of features."""

    @classmethod
    def none(cls, settings: ContextualBanditSettings, most: int) -> "SparseModel":
        """Return the model before the first release, with room for `most` features per arm."""
        empty = Supports.empty(settings.slots, most)
        return cls(
            centre=np.zeros(settings.features),
            typical=1.0,
            unit=1.0,
            supports=empty,
            reference=empty.coefficients,
        )

    # --- contexts for the regressions -----------------------------------------------------------

    @property
    def constant(self) -> float:
        """The constant in front of the features of an arm, before scaling."""
        return SCREEN.constant * self.typical

    @cached_property
    def lengths(self) -> Floats:
        """The typical norm of the features of each arm with the constant, which is scaled to 1."""
        sizes = self.supports.sizes
        return np.asarray(self.typical * np.sqrt(SCREEN.constant**2 + sizes))

    @cached_property
    def constants(self) -> Floats:
        """The constant in front of the features of each arm, after scaling."""
        return np.asarray(self.constant / self.lengths)

    def centred(self, contexts: Floats, scales: Floats) -> Floats:
        """Return contexts around the centre, each feature in units of its bound."""
        return contexts * scales - self.centre

    def rows(self, centred: Floats, arms: Integers) -> Floats:
        """Return the scaled features of the arm of each person, with the constant in front."""
        rows = self.supports.of_rows(centred, arms) / self.lengths[arms][:, None]
        return np.concatenate([self.constants[arms][:, None], rows], axis=1)

    def on_every_arm(self, centred: Floats) -> Floats:
        """Return the features of every arm for each person, with the constant and not scaled."""
        slots, most = self.supports.features.shape
        rows = np.empty((len(centred), slots, most + 1))
        rows[:, :, 0] = self.constant
        for arm in range(slots):
            arms = np.full(len(centred), arm)
            rows[:, arm, 1:] = self.supports.of_rows(centred, arms)
        return rows

    def residuals(self, rows: Floats, people: People) -> Floats:
        """Return rewards minus predictions of the reference, in units of the clip."""
        reference = self.reference * self.lengths[:, None]
        predicted = (rows * reference[people.arms]).sum(axis=1)
        return np.asarray((people.rewards - predicted) / self.unit)

    # --- estimates from released sums -----------------------------------------------------------

    def refitted(self, grams: Floats, moments: Floats, noise: float) -> Refitted:
        """Return new coefficients, and the covariances of their difference from the reference.

        `noise` is the standard deviation of a moment.
        """
        units = (self.unit / self.lengths)[:, None]
        scaled = self.reference / units
        fitted, covariances = self.supports.refitted(grams, moments, scaled, noise)
        supports = Supports(fitted.features, fitted.coefficients * units)
        return Refitted(supports, covariances * units[:, :, None] ** 2)

    def estimates(self, covariances: Floats, active: int, bounds: Floats) -> Estimates:
        """Return coefficients as weights on contexts in the user's units."""
        weights, offsets = self.supports.folded(len(bounds), self.centre, self.constant)
        return Estimates(
            weights=np.ascontiguousarray(weights / bounds[:, None]),
            offsets=offsets,
            covariances=covariances,
            apart=self._variance(weights[:, :active], covariances[:active]),
        )

    def _variance(self, weights: Floats, covariances: Floats) -> float:
        """Return the variance between the scores of arms in a usual context, without noise.

        It assumes centred features of equal variance.
        """
        arms = len(covariances)
        if arms < 2:
            return FAR_APART
        at_centre = self.supports.coefficients[:arms, 0] * SCREEN.constant
        observed = float(np.var(at_centre, ddof=1) + np.var(weights, axis=1, ddof=1).sum())
        sizes = np.full(covariances.shape[1], 1.0)
        sizes[0] = SCREEN.constant
        noise = float(np.einsum("kii,i->", covariances, sizes**2)) / arms
        numbers = (arms - 1) * (1 + int(self.supports.sizes[:arms].mean()))
        return excess_variance(observed, noise, numbers) * float(self.typical) ** 2


def clipping_unit(mean_square: float) -> float:
    """Return the bound to which residuals are clipped, from their mean square.

    It is a multiple of their typical size, or the whole range if that is not much larger.
    """
    unit = SCREEN.typical * sqrt(max(mean_square, 1e-4))
    return max(unit, 0.1) if unit < 0.8 else 1.0
