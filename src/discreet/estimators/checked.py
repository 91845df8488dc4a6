"""scikit-learn's checks of data, with errors that do not quote the data as scikit-learn's own do."""

import re
from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data

from discreet.arrays import Floats
from discreet.errors import ConfigError

__all__ = ["as_ranges", "checked"]

SHAPE = r"\((\d+(, ?\d*)*)?\)"
LEAST = r"while a minimum of \d+ is required( by \w+)?\."
HARMLESS = tuple(
    re.compile(pattern)
    for pattern in (
        rf"Found array with \d+ (sample|feature)\(s\) \(shape={SHAPE}\) {LEAST}",
        r"Found array with dim \d+, while dim <= 2 is required( by \w+)?\.",
        r"Found input variables with inconsistent numbers of samples: \[\d+(, \d+)*\]",
        r"Input( [Xy])? contains NaN\.?",
        r"Input( [Xy])? contains infinity or a value too large for dtype\('\w+'\)\.",
        r"X has \d+ features, but \w+ is expecting \d+ features as input\.",
        r"X does not contain any features, but \w+ is expecting \d+ features",
        rf"y should be a 1d array, got an array of shape {SHAPE} instead\.",
        r"(This )?\w+( estimator)? requires y to be passed, but the target y is None\.?",
        r"The feature names should match those that were passed during fit\.",
        r"Sparse data was passed( for [Xy])?, but dense data is required\. Use '\.toarray\(\)' to convert to "
        r"a dense numpy array\.",
    )
)
"""scikit-learn's errors that tell shapes and counts only: a first line that is one of these is repeated."""
INSTEAD = {
    "Expected 2D ": "Expected a 2D array of features. Reshape your data: one row a sample.",
    "Expected a 2-dimensional ": "Expected a 2D array of features. Reshape your data: one row a sample.",
    "Complex data not supported": "Complex data not supported: features and targets must be real numbers.",
    "float() argument must be ": "argument must be a string or a number, for features and targets.",
}
"""What is said in place of errors that begin like this, which quote the data."""
NO_NUMBERS = "features and targets must be numbers"
"""What is said in place of all others."""


def checked(estimator: Any, *data: Any, **checks: Any) -> Any:
    """What `validate_data` gives, or an error of the same kind that tells nothing about the data."""
    try:
        with np.errstate(all="ignore"):  # a warning would tell about a sample
            return validate_data(estimator, *data, **checks)
    except Exception as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        text = str(error)
    raise kind(_without_data(text))


def _without_data(text: str) -> str:
    """What may be said of an error of scikit-learn's: whole known lines as they are, else a text of ours."""
    first = text.partition("\n")[0]
    if any(pattern.fullmatch(first) for pattern in HARMLESS):
        return first
    return next((ours for begin, ours in INSTEAD.items() if text.startswith(begin)), NO_NUMBERS)


def as_ranges(name: str, ranges: Any, features: int) -> tuple[Floats, Floats]:
    """Public ranges as the lows and the highs of so many features."""
    try:
        pairs = np.broadcast_to(np.asarray(ranges, dtype=np.float64), (features, 2))
    except (TypeError, ValueError):
        raise ConfigError(
            f"{name} must be a pair (low, high) or one pair for each of {features} features"
        ) from None
    if not (np.isfinite(pairs).all() and (pairs[:, 0] < pairs[:, 1]).all()):
        raise ConfigError(f"{name} must be finite, with low < high: public numbers, not read off the data")
    return pairs[:, 0], pairs[:, 1]


def scaled(features: Any, low: Floats, high: Floats) -> Floats:
    """Features mapped from their public ranges to [−1, 1], and clipped."""
    dense = features.toarray() if hasattr(features, "toarray") else features
    with np.errstate(all="ignore"):  # a warning would tell about the sample
        return np.asarray(np.clip((2 * dense - low - high) / (high - low), -1.0, 1.0), dtype=np.float64)


def as_shares(weights: Any, bound: Any, samples: int) -> Floats | None:
    """Weights of samples, as shares of the public bound; larger ones count as it."""
    if not isinstance(bound, int | float) or not (np.isfinite(bound) and bound > 0):
        raise ConfigError(f"weight_bound must be a finite number greater than 0, got {bound!r}")
    if weights is None:
        return None
    try:
        found = np.asarray(weights, dtype=np.float64)
    except Exception:  # whatever a person's own type raises may tell about them
        found = np.empty(0)
    found = np.full(samples, float(found)) if found.ndim == 0 else found
    if found.shape != (samples,) or not np.isfinite(found).all() or (found < 0).any():
        raise ValueError("sample_weight must be 1D: one finite number, at least 0, for every sample")
    return np.minimum(found / bound, 1.0)
