"""Rows of features as modes use them: within their declared bound, with the constant, whitened."""

from math import sqrt

import numpy as np

from discreet.arrays import Floats
from discreet.learners.streaming_learner.settings import StreamingLearnerSettings
from discreet.optim.spiked_covariance import SpikedCovariance

MOST_NUMBERS, MOST_ROWS = 2**22, 4096
"""How many numbers, and how many samples, are held as dense rows at once."""


def rows_at_once(numbers: int) -> int:
    """Return how many samples of this many numbers are held as dense rows at once."""
    return max(1, min(MOST_ROWS, MOST_NUMBERS // numbers))


def dual_norm_code(settings: StreamingLearnerSettings) -> float:
    """Return the norm in which features are bounded, as compiled code takes it: 0 is l_∞."""
    dual = settings.domain.dual
    return 0.0 if np.isinf(dual) else float(dual)


def longest_row(settings: StreamingLearnerSettings) -> float:
    """Return the greatest Euclidean length of a row within its bound, with the constant."""
    wider = settings.features ** max(0.0, 0.5 - 1 / settings.domain.dual)
    return sqrt((settings.feature_bound * wider) ** 2 + settings.constant**2)


def euclidean_lengths(rows: Floats) -> Floats:
    """Return the Euclidean length of each row; NaN if it is not finite."""
    from discreet.learners.streaming_learner import row_kernels

    lengths = np.empty(len(rows))
    row_kernels.row_lengths(rows, 0.0, 2.0, lengths)
    return lengths


def within(settings: StreamingLearnerSettings, features: Floats) -> Floats:
    """Return rows within the declared bound, with the constant; NaN if they are not finite."""
    return _scaled_rows(settings, features, np.empty((0, settings.width)), np.empty(0), 1.0)


def whitened_rows(
    settings: StreamingLearnerSettings, features: Floats, covariance: SpikedCovariance
) -> Floats:
    """Return rows within the declared bound, with the constant, whitened: H^(−½)x."""
    factors, rest = covariance.values**-0.5, float(covariance.rest**-0.5)
    return _scaled_rows(settings, features, covariance.vectors, factors, rest)


def _scaled_rows(
    settings: StreamingLearnerSettings,
    features: Floats,
    directions: Floats,
    factors: Floats,
    rest: float,
) -> Floats:
    """Return bounded rows with each of these directions multiplied by its factor, others by
    `rest`.
    """
    from discreet.learners.streaming_learner import row_kernels

    constant, bound = settings.constant, settings.feature_bound
    rows = np.empty((len(features), settings.width))
    row_kernels.whiten_rows(
        features, constant, dual_norm_code(settings), bound, directions, factors, rest, rows
    )
    return rows
