"""Rows of features, scaled into their declared bound, with the constant, and whitened."""

from math import sqrt

import numpy as np

from discreet.arrays import Floats
from discreet.learners.streaming_learner.settings import StreamingLearnerSettings
from discreet.optim.spiked_covariance import SpikedCovariance

MOST_NUMBERS = 2**22
MOST_ROWS = 4096
"""The most numbers, and the most samples, that are held as dense rows at once."""


def rows_at_once(numbers: int) -> int:
    """Return the number of samples that are held as dense rows at once, at `numbers` each."""
    return max(1, min(MOST_ROWS, MOST_NUMBERS // numbers))


def dual_norm_code(settings: StreamingLearnerSettings) -> float:
    """Return the order of the norm that bounds features, as kernels take it; 0 stands for l_∞."""
    dual = settings.domain.dual
    return 0.0 if np.isinf(dual) else float(dual)


def longest_row(settings: StreamingLearnerSettings) -> float:
    """Return the largest Euclidean norm of a row within its bound, with the constant."""
    wider = settings.features ** max(0.0, 0.5 - 1 / settings.domain.dual)
    return sqrt((settings.feature_bound * wider) ** 2 + settings.constant**2)


def euclidean_lengths(rows: Floats) -> Floats:
    """Return the Euclidean norm of each row; NaN if a row is not finite."""
    from discreet.learners.streaming_learner import row_kernels

    lengths = np.empty(len(rows))
    row_kernels.row_lengths(rows, 0.0, 2.0, lengths)
    return lengths


def within(settings: StreamingLearnerSettings, features: Floats) -> Floats:
    """Return rows scaled into the declared bound, with the constant; NaN if a row is not finite."""
    return _scaled_rows(settings, features, np.empty((0, settings.width)), np.empty(0), 1.0)


def whitened_rows(
    settings: StreamingLearnerSettings, features: Floats, covariance: SpikedCovariance
) -> Floats:
    """Return H^(−½)x for rows x scaled into the declared bound, with the constant."""
    factors = covariance.values**-0.5
    rest = float(covariance.rest**-0.5)
    return _scaled_rows(settings, features, covariance.vectors, factors, rest)


def _scaled_rows(
    settings: StreamingLearnerSettings,
    features: Floats,
    directions: Floats,
    factors: Floats,
    rest: float,
) -> Floats:
    """Return bounded rows with each direction multiplied by its factor, the rest by `rest`."""
    from discreet.learners.streaming_learner import row_kernels

    rows = np.empty((len(features), settings.width))
    row_kernels.whiten_rows(
        features,
        settings.constant,
        dual_norm_code(settings),
        settings.feature_bound,
        directions,
        factors,
        rest,
        rows,
    )
    return rows
