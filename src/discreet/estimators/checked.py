"""scikit-learn's checks of data, with errors that do not quote the data as scikit-learn's own
do.
"""

import re
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Literal, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_array, check_X_y, validate_data

from discreet import require
from discreet.arrays import Floats
from discreet.errors import ConfigError
from discreet.feedback import as_separate_entries, each_number, row_by_row
from discreet.functions.person import reading, result_or

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

    Samples: TypeAlias = Floats | csr_matrix
    """One row of features per sample, as scikit-learn's checks leave them."""


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
        r"Sparse data was passed( for [Xy])?, but dense data is required\. Use '\.toarray\(\)' to "
        r"convert to "
        r"a dense numpy array\.",
        r"A column-vector y was passed when a 1d array was expected\. Please change the shape of "
        r"y to "
        r"\(n_samples, ?\), for example using ravel\(\)\.",
        r"X has feature names, but \w+ was fitted without feature names",
        r"X does not have valid feature names, but \w+ was fitted with feature names",
    )
)
"""scikit-learn's errors and warnings that tell shapes, counts and names only: a first line that is
one of
these is repeated."""
INSTEAD = {
    "Expected 2D ": "Expected a 2D array of features. Reshape your data: one row a sample.",
    "Expected a 2-dimensional ": "Expected a 2D array of features. Reshape your data: one row a sample.",
    "Complex data not supported": "Complex data not supported: features and targets must be real numbers.",
    "float() argument must be ": "argument must be a string or a number, for features and targets.",
}
"""What is said in place of errors that begin like this, which quote the data."""
NO_NUMBERS = "features and targets must be numbers"
"""What is said in place of all others."""


Found = TypeVar("Found")


def checked(
    estimator: BaseEstimator,
    X: ArrayLike,
    *,
    reset: bool = True,
    accept_sparse: str | Literal[False] = False,
) -> "Samples":
    """Features as `validate_data` gives them, or an error of the same kind that tells nothing about
    the data.

    These are many people: who brings features that are no numbers has a row with NaN, and refuses
    nobody.
    """
    rows, named = _rows_of(estimator, X, reset)

    def check() -> "Samples":
        found: Samples = check_array(
            rows,
            input_name="X",
            accept_sparse=accept_sparse,
            dtype=np.float64,
            ensure_all_finite=False,
            estimator=estimator,
        )
        validate_data(estimator, named, None, reset=reset, skip_check_array=True)
        return found

    return without_data(check)


def checked_pairs(
    estimator: BaseEstimator,
    X: ArrayLike,
    y: ArrayLike | None,
    *,
    reset: bool,
    accept_sparse: str | Literal[False],
    y_numeric: bool = False,
) -> "tuple[Samples, Floats]":
    """The same for features and targets."""
    if y is None:
        checked(
            estimator, X, reset=reset, accept_sparse=accept_sparse
        )  # refuses it in the usual words
    rows, named = _rows_of(estimator, X, reset)

    def check() -> "tuple[Samples, Floats]":
        found: tuple[Samples, Floats] = check_X_y(
            rows,
            y,
            y_numeric=y_numeric,
            accept_sparse=accept_sparse,
            dtype=np.float64,
            ensure_all_finite=False,
            estimator=estimator,
        )
        validate_data(estimator, named, y, reset=reset, skip_check_array=True)
        return found

    return without_data(check)


def _rows_of(estimator: BaseEstimator, X: ArrayLike, reset: bool) -> tuple[ArrayLike, ArrayLike]:
    """Rows of floats, and what their columns are named by."""
    width = _public_width(estimator) if reset else estimator.n_features_in_
    rows = as_features(X, width)
    return rows, X if hasattr(X, "columns") else rows


def without_data(check: Callable[[], Found]) -> Found:
    """What a check of scikit-learn's gives, with errors and warnings that tell nothing about the
    data.
    """
    with reading(), warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        found = _attempted(check)
    for warning in warned:
        if _is_harmless(str(warning.message)):
            warnings.warn(str(warning.message), warning.category, stacklevel=3)
    if isinstance(found, _Refused):
        raise found.error
    return found


def _attempted(check: Callable[[], Found]) -> "Found | _Refused":
    """What a check gives, or the error that may be shown."""
    try:
        return check()
    except Exception as error:
        kind, text = TypeError if isinstance(error, TypeError) else ValueError, str(error)
    return _Refused(kind(_without_data(text)))


@dataclass(frozen=True)
class _Refused:
    """What a check raised."""

    error: Exception


def _is_harmless(text: str) -> bool:
    return any(pattern.fullmatch(text) for pattern in HARMLESS)


def _without_data(text: str) -> str:
    """What may be said of an error of scikit-learn's: whole known lines as they are, else a text
    of ours.
    """
    first = text.partition("\n")[0]
    if _is_harmless(first):
        return first
    return next((ours for begin, ours in INSTEAD.items() if text.startswith(begin)), NO_NUMBERS)


def as_ranges(name: str, ranges: ArrayLike, features: int) -> tuple[Floats, Floats]:
    """Public ranges as the lows and the highs of so many features."""
    try:
        pairs = np.broadcast_to(np.asarray(ranges, dtype=np.float64), (features, 2))
    except (TypeError, ValueError):
        raise ConfigError(
            f"{name} must be a pair (low, high) or one pair for each of {features} features"
        ) from None
    if not (np.isfinite(pairs).all() and (pairs[:, 0] < pairs[:, 1]).all()):
        raise ConfigError(
            f"{name} must be finite, with low < high: public numbers, not read off the data"
        )
    return pairs[:, 0], pairs[:, 1]


def scaled(features: "Samples", low: Floats, high: Floats) -> Floats:
    """Features mapped from their public ranges to [−1, 1], and clipped."""
    dense = features.toarray() if hasattr(features, "toarray") else features
    with np.errstate(all="ignore"):  # a warning would tell about the sample
        # Floats first: small integers wrap around, and one float among them would decide whether
        # they do.
        dense = np.asarray(dense, dtype=np.float64)
        return np.clip((2 * dense - low - high) / (high - low), -1.0, 1.0)


def as_features(values: ArrayLike, width: int | None = None) -> ArrayLike:
    """One row of floats per sample, each cell read by itself; NaN for what is no finite number.

    Rows in a list have `width` numbers, a public number: none of them may tell it. A row of another
    length is NaN. What is no table of rows stays what it is: scikit-learn's own checks say what is
    wrong.

    >>> as_features([[1, 2.5], ["x", 3], [4], [5, 10**400]], 2)
    array([[1. , 2.5],
           [nan, nan],
           [nan, nan],
           [nan, nan]])
    """
    if _is_for_scikit_learn(values):
        return values
    entries: Sequence[object]
    if isinstance(values, list | tuple):
        entries = values
    else:
        with reading():
            table = result_or(lambda: np.asarray(values), None)
        if table is not None and table.ndim == 2:
            return _numbers(table)
        if table is None or table.ndim != 1 or table.dtype.kind != "O":
            return values
        entries = table.tolist()  # rows of which one is too long or too short
    if width is None:
        raise ConfigError(
            "how many features there are is not read off a list of rows: give one range per "
            "feature, "
            "or an array"
        )
    rows = row_by_row(entries, width)
    return np.where(np.isfinite(rows), rows, np.nan)


def _public_width(estimator: BaseEstimator) -> int | None:
    """How many features the public ranges say there are; None if one range is for all of them."""
    ranges: ArrayLike = (
        estimator.ranges if hasattr(estimator, "ranges") else estimator.feature_range
    )
    try:
        shape = np.shape(ranges)
    except ValueError:  # as_ranges says what is wrong with it
        return None
    return shape[0] if len(shape) == 2 else None


def as_targets(values: ArrayLike | None) -> ArrayLike | None:
    """One float per entry; NaN, which says nothing, for what is no finite number.

    Nobody's entry decides what becomes of the others'. None and sparse matrices stay what they are.
    """
    return values if _is_for_scikit_learn(values) else _numbers(values)


def _numbers(values: ArrayLike | None) -> Floats:
    found = each_number(values)
    if found is None:
        raise ValueError(NO_NUMBERS)
    return found


def as_classes(values: ArrayLike | None, classes: np.ndarray) -> ArrayLike | None:
    """The number of each sample's class; NaN, which says nothing, for a label that is none of
    them.
    """
    if _is_for_scikit_learn(values):
        return values
    found = as_separate_entries(values)
    if found is None:
        raise ValueError(NO_NUMBERS)
    labels = classes.tolist()
    if found.dtype.kind == "O":
        with reading():
            each = [
                result_or(partial(_place, entry, labels), np.nan)
                for entry in found.reshape(-1).tolist()
            ]
        return np.array(each, dtype=np.float64).reshape(found.shape)
    if found.dtype.kind in "cUS" and classes.dtype.kind in "biuf":
        found = each_number(found)  # one label made an array of numbers one of texts
    assert found is not None
    places = np.full(found.shape, np.nan)
    with reading():
        for number, label in enumerate(labels):
            places[found == label] = number
    return places


def _is_for_scikit_learn(values: ArrayLike | None) -> bool:
    """Whether these are no values at all (None, a sparse matrix): its own checks say what is
    wrong.
    """
    return values is None or hasattr(values, "tocsr")


def _place(entry: object, labels: list[object]) -> float:
    """Where a label stands in a list."""
    return next((float(number) for number, label in enumerate(labels) if entry == label), np.nan)


def as_shares(weights: ArrayLike | None, bound: object, samples: int) -> Floats | None:
    """Weights of samples, as shares of the public bound; larger ones count as it.

    A weight that is no finite number, or negative, is 0: it must not decide whether others are
    counted.
    """
    if not isinstance(bound, int | float) or not (np.isfinite(bound) and bound > 0):
        raise ConfigError(
            f"weight_bound must be a finite number greater than 0, got {require.shown(bound)}"
        )
    if weights is None:
        return None
    found = each_number(weights)
    if found is not None and found.ndim == 0 and found >= 0:  # one for all, who do not decide it
        found = np.full(samples, float(found))
    if found is None or found.shape != (samples,):
        raise ValueError("sample_weight must be 1D: one number, at least 0, for every sample")
    with np.errstate(all="ignore"):  # a warning would tell about a sample
        return np.where(found >= 0, np.minimum(found / bound, 1.0), 0.0)
