"""scikit-learn's checks of data, with errors that do not quote the data as scikit-learn's do."""

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
from discreet.entries import listed, plain_entry, whole_in
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
        r"convert to a dense numpy array\.",
        r"A column-vector y was passed when a 1d array was expected\. Please change the shape of "
        r"y to \(n_samples, ?\), for example using ravel\(\)\.",
        r"X has feature names, but \w+ was fitted without feature names",
        r"X does not have valid feature names, but \w+ was fitted with feature names",
    )
)
"""scikit-learn's errors and warnings that state shapes, counts and names only.

A first line that matches one of these is repeated.
"""
WRONG_SHAPE = "Expected a 2D array of features. Reshape your data: one row per sample."
COMPLEX = "Complex data not supported: features and targets must be real numbers."
INSTEAD = {
    "Expected 2D ": WRONG_SHAPE,
    "Expected a 2-dimensional ": WRONG_SHAPE,
    "Complex data not supported": COMPLEX,
    "float() argument must be ": "argument must be a string or a number, for features and targets.",
}
"""Replacements for errors that begin like this, which quote the data."""
NO_NUMBERS = "features and targets must be numbers"
"""Replacement for all other errors."""


Checked = TypeVar("Checked")


def checked(
    estimator: BaseEstimator,
    X: ArrayLike,
    *,
    reset: bool = True,
    accept_sparse: str | Literal[False] = False,
    needs_targets: bool = False,
) -> "Samples":
    """Return features as `validate_data` does; errors state nothing about the data.

    The rows belong to many people: a row whose features are no numbers becomes NaN, and the other
    rows are accepted.
    """
    rows, named = _rows_of(estimator, X, reset)

    def check() -> "Samples":
        features: Samples = check_array(
            rows,
            input_name="X",
            accept_sparse=accept_sparse,
            dtype=np.float64,
            ensure_all_finite=False,
            estimator=estimator,
        )
        missing = {"y": None} if needs_targets else {}
        validate_data(estimator, named, reset=reset, skip_check_array=True, **missing)
        return features

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
    """Return features and targets as `check_X_y` does; errors state nothing about the data."""
    if y is None:  # scikit-learn refuses this in its own words
        checked(estimator, X, reset=reset, accept_sparse=accept_sparse, needs_targets=True)
    rows, named = _rows_of(estimator, X, reset)

    def check() -> "tuple[Samples, Floats]":
        pairs: tuple[Samples, Floats] = check_X_y(
            rows,
            y,
            y_numeric=y_numeric,
            accept_sparse=accept_sparse,
            dtype=np.float64,
            ensure_all_finite=False,
            estimator=estimator,
        )
        validate_data(estimator, named, y, reset=reset, skip_check_array=True)
        return pairs

    return without_data(check)


def _rows_of(estimator: BaseEstimator, X: ArrayLike, reset: bool) -> tuple[ArrayLike, ArrayLike]:
    """Return rows of floats, and the object that names their columns."""
    width = _public_width(estimator) if reset else estimator.n_features_in_
    rows = as_features(X, width)
    return rows, X if hasattr(X, "columns") else rows


def without_data(check: Callable[[], Checked]) -> Checked:
    """Return the result of a check; errors and warnings state nothing about the data."""
    with reading(), warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        outcome = _attempted(check)
    for warning in warned:
        if _is_harmless(str(warning.message)):
            warnings.warn(str(warning.message), warning.category, stacklevel=3)
    if isinstance(outcome, _Refused):
        raise outcome.error
    return outcome


def _attempted(check: Callable[[], Checked]) -> "Checked | _Refused":
    """Return the result of a check, or the error that may be shown."""
    try:
        return check()
    except Exception as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        text = str(error)
    return _Refused(kind(_without_data(text)))  # outside: the new error must not hold the old one


@dataclass(frozen=True)
class _Refused:
    """The error of a check, in words that may be shown."""

    error: Exception


def _is_harmless(text: str) -> bool:
    return any(pattern.fullmatch(text) for pattern in HARMLESS)


def _without_data(text: str) -> str:
    """Return the text to show for an error: a known first line unchanged, else our own text."""
    first = text.partition("\n")[0]
    if _is_harmless(first):
        return first
    return next((ours for begin, ours in INSTEAD.items() if text.startswith(begin)), NO_NUMBERS)


def as_ranges(name: str, ranges: ArrayLike, features: int) -> tuple[Floats, Floats]:
    """Return the lows and the highs of public ranges, one of each per feature."""
    try:
        pairs = np.broadcast_to(np.asarray(ranges, dtype=np.float64), (features, 2))
    except (TypeError, ValueError):
        raise ConfigError(
            f"{name} must be a pair (low, high), or one pair for each of the {features} features"
        ) from None
    if not (np.isfinite(pairs).all() and (pairs[:, 0] < pairs[:, 1]).all()):
        raise ConfigError(
            f"{name} must be finite, with low < high: public numbers, not read from the data"
        )
    return pairs[:, 0], pairs[:, 1]


def scaled(features: "Samples", low: Floats, high: Floats) -> Floats:
    """Return features mapped from their public ranges to [−1, 1], and clipped."""
    dense = features.toarray() if hasattr(features, "toarray") else features
    with np.errstate(all="ignore"):  # a warning would reveal a person's data
        # Floats first: small integers wrap around, and one person's float would change that.
        dense = np.asarray(dense, dtype=np.float64)
        return np.clip((2 * dense - low - high) / (high - low), -1.0, 1.0)


def as_features(values: ArrayLike, width: int | None = None) -> ArrayLike:
    """Return one row of floats per sample; NaN where an entry is no finite number.

    Every entry is read separately. Rows in a list have `width` numbers. The width is public, so no
    row may determine it; a row of another length is NaN. Anything that is no table of rows is
    returned unchanged, and scikit-learn's own checks refuse it.

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
        entries = table.tolist()  # rows of different lengths
    if width is None:
        raise ConfigError(
            "the number of features is not read from a list of rows: give one range per feature, "
            "or an array"
        )
    rows = row_by_row(entries, width)
    return np.where(np.isfinite(rows), rows, np.nan)


def _public_width(estimator: BaseEstimator) -> int | None:
    """Return the number of features that the public ranges state; None if one range is for all."""
    ranges: ArrayLike = (
        estimator.ranges if hasattr(estimator, "ranges") else estimator.feature_range
    )
    try:
        shape = np.shape(ranges)
    except ValueError:  # as_ranges raises the error
        return None
    return shape[0] if len(shape) == 2 else None


def as_targets(values: ArrayLike | None) -> ArrayLike | None:
    """Return one float per entry; NaN, which counts as nothing, where it is no finite number.

    The entries are read separately, so no entry changes another one. None and sparse matrices are
    returned unchanged.
    """
    return values if _is_for_scikit_learn(values) else _numbers(values)


def _numbers(values: ArrayLike | None) -> Floats:
    numbers = each_number(values)
    if numbers is None:
        raise ValueError(NO_NUMBERS)
    return numbers


def as_classes(values: ArrayLike | None, classes: np.ndarray) -> ArrayLike | None:
    """Return the number of each sample's class; NaN, which counts as nothing, for others."""
    if _is_for_scikit_learn(values):
        return values
    labels = as_separate_entries(values)
    if labels is None:
        raise ValueError(NO_NUMBERS)
    known = classes.tolist()
    if classes.dtype.kind == "S":  # single labels are read as texts, too
        known = list(map(plain_entry, known))
    kind = labels.dtype.kind
    if kind not in "biu" and (kind in "OcS" or kind != classes.dtype.kind):
        entries = listed(labels.reshape(-1))
        with reading():
            numbers = [result_or(partial(_class_number, label, known), np.nan) for label in entries]
        return np.array(numbers, dtype=np.float64).reshape(labels.shape)
    of_classes = np.full(labels.shape, np.nan)
    with reading():
        for number, label in enumerate(known):
            of_classes[labels == label] = number
    return of_classes


def _is_for_scikit_learn(values: ArrayLike | None) -> bool:
    """Whether these are None or a sparse matrix, which scikit-learn's own checks handle."""
    return values is None or hasattr(values, "tocsr")


def _class_number(label: object, classes: list[object]) -> float:
    """Return the position of a label among the classes, NaN if it is none of them.

    One label may have turned the others of an array into floats or texts, or kept them apart where
    NumPy made texts of all classes.
    """
    label = plain_entry(label)
    if isinstance(label, int | float) and str(label) in classes:
        label = str(label)
    if isinstance(label, str) and label not in classes:
        whole = whole_in(label)
        label = _numbers([label])[0] if whole is None else whole
    return next((float(number) for number, known in enumerate(classes) if label == known), np.nan)


def as_shares(weights: ArrayLike | None, bound: object, samples: int) -> Floats | None:
    """Return the weights of samples as shares of the public bound, at most 1.

    A weight that is negative or no finite number counts as 0: it must not decide whether other
    people are counted.
    """
    if not isinstance(bound, int | float) or not (np.isfinite(bound) and bound > 0):
        raise ConfigError(
            f"weight_bound must be a finite number greater than 0, got {require.shown(bound)}"
        )
    if weights is None:
        return None
    numbers = each_number(weights)
    if numbers is not None and numbers.ndim == 0 and numbers >= 0:  # one public number for all
        numbers = np.full(samples, float(numbers))
    if numbers is None or numbers.shape != (samples,):
        raise ValueError("sample_weight must be 1D: one number, at least 0, for every sample")
    with np.errstate(all="ignore"):  # a warning would reveal a person's data
        return np.where(numbers >= 0, np.minimum(numbers / bound, 1.0), 0.0)
