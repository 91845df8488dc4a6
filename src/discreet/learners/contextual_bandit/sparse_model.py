"""A small linear model per arm, on the few features that were found for it.

    prediction = reference_a · z        z: the constant, and the arm's features around the centre

Contexts are centred, and scaled by the typical length of an arm's features together with the
constant, so that most have a length of at most 1. All of it is computed from released values.
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
    """Coefficients after a ridge on features found before, with their covariances."""

    supports: Supports
    covariances: Floats

    @property
    def deviations(self) -> Floats:
        """Standard deviation of each coefficient."""
        return np.asarray(np.sqrt(np.einsum("kii->ki", self.covariances)))


@dataclass(frozen=True, eq=False)
class SparseModel:
    """Where contexts lie, the features of every arm, and what rewards are compared with."""

    centre: Floats
    """The mean context, each feature in units of its bound."""
    typical: float
    """A typical distance of a feature from the centre."""
    unit: float
    """Largest distance of a reward from its prediction that is not clipped."""
    supports: Supports
    """The features of every arm, and their newest coefficients."""
    reference: Floats
    """The coefficients that rewards are predicted with: those when features were last drawn."""

    @classmethod
    def none(cls, settings: ContextualBanditSettings, most: int) -> "SparseModel":
        """Return the model before anything is learned, with room for `most` features per arm."""
        nothing = Supports.empty(settings.slots, most)
        return cls(
            centre=np.zeros(settings.features),
            typical=1.0,
            unit=1.0,
            supports=nothing,
            reference=nothing.coefficients,
        )

    # --- contexts as the regressions see them ---------------------------------------------------

    @property
    def constant(self) -> float:
        """The constant in front of an arm's features, before they are scaled."""
        return SCREEN.constant * self.typical

    @cached_property
    def lengths(self) -> Floats:
        """Typical length of each arm's features with the constant: what is clipped to 1."""
        sizes = self.supports.sizes
        return np.asarray(self.typical * np.sqrt(SCREEN.constant**2 + sizes))

    @cached_property
    def constants(self) -> Floats:
        """The constant in front of each arm's features, as mapped."""
        return np.asarray(self.constant / self.lengths)

    def centred(self, contexts: Floats, scales: Floats) -> Floats:
        """Return contexts around the centre, each feature in units of its bound."""
        return contexts * scales - self.centre

    def rows(self, centred: Floats, arms: Integers) -> Floats:
        """Return each person's numbers on the features of their arm, with the constant in front."""
        rows = self.supports.of_rows(centred, arms) / self.lengths[arms][:, None]
        return np.concatenate([self.constants[arms][:, None], rows], axis=1)

    def on_every_arm(self, centred: Floats) -> Floats:
        """Return each person's numbers on the features of all arms, not scaled."""
        slots, most = self.supports.features.shape
        found = np.empty((len(centred), slots, most + 1))
        found[:, :, 0] = self.constant
        for arm in range(slots):
            everyone = np.full(len(centred), arm)
            found[:, arm, 1:] = self.supports.of_rows(centred, everyone)
        return found

    def surprise(self, rows: Floats, people: People) -> Floats:
        """Return rewards less what the reference predicts, in units of what is clipped to 1."""
        reference = self.reference * self.lengths[:, None]
        predicted = (rows * reference[people.arms]).sum(axis=1)
        return np.asarray((people.rewards - predicted) / self.unit)

    # --- what released sums teach ---------------------------------------------------------------

    def refitted(self, grams: Floats, moments: Floats, noise: float) -> Refitted:
        """Return new coefficients, and the covariances of what they add to the reference.

        `noise` is the standard deviation of a moment.
        """
        units = (self.unit / self.lengths)[:, None]
        found, covariances = self.supports.refitted(grams, moments, self.reference / units, noise)
        supports = Supports(found.features, found.coefficients * units)
        return Refitted(supports, covariances * units[:, :, None] ** 2)

    def estimates(self, covariances: Floats, active: int, bounds: Floats) -> Estimates:
        """Return coefficients as weights on contexts as they come."""
        weights, offsets = self.supports.folded(len(bounds), self.centre, self.constant)
        return Estimates(
            weights=np.ascontiguousarray(weights / bounds[:, None]),
            offsets=offsets,
            covariances=covariances,
            apart=self._variance(weights[:, :active], covariances[:active]),
        )

    def _variance(self, weights: Floats, covariances: Floats) -> float:
        """Return the variance of these arms' scores for a usual context, beyond noise.

        Features are centred, and of one size.
        """
        arms = len(covariances)
        if arms < 2:
            return FAR_APART
        at_centre = self.supports.coefficients[:arms, 0] * SCREEN.constant
        seen = float(np.var(at_centre, ddof=1) + np.var(weights, axis=1, ddof=1).sum())
        sizes = np.full(covariances.shape[1], 1.0)
        sizes[0] = SCREEN.constant
        noise = float(np.einsum("kii,i->", covariances, sizes**2)) / arms
        numbers = (arms - 1) * (1 + int(self.supports.sizes[:arms].mean()))
        return excess_variance(seen, noise, numbers) * float(self.typical) ** 2


def clipping_unit(mean_square: float) -> float:
    """Return what rewards are clipped to, from the mean square of their distance to predictions.

    That is a multiple of their typical size, or all of the range if that is not much more.
    """
    unit = SCREEN.typical * sqrt(max(mean_square, 1e-4))
    return max(unit, 0.1) if unit < 0.8 else 1.0
