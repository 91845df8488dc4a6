"""Scaling by public ranges, for pipelines: a replacement for scalers that read the data."""

from typing import TYPE_CHECKING, Self

from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from discreet.arrays import Floats
from discreet.estimators.checked import as_ranges, checked, scaled

if TYPE_CHECKING:
    from sklearn.utils import Tags


class PublicScaler(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Map features from public ranges to [−1, 1]; values outside their range are clipped.

    StandardScaler, MinMaxScaler and similar transformers read means and extremes from the data,
    which no guarantee of the estimator behind them covers: the largest income is one person's
    income. This scaler reads nothing from the data.

    Parameters
    ----------
    ranges
        A pair (low, high), or one pair per feature: public numbers, not read from the data.

    Examples
    --------
    >>> PublicScaler([(0, 10), (0, 4)]).fit_transform([[5.0, 4.0], [20.0, 1.0]])
    array([[ 0. ,  1. ],
           [ 1. , -0.5]])
    """

    def __init__(self, ranges: ArrayLike) -> None:
        self.ranges = ranges

    def fit(self, X: ArrayLike, y: ArrayLike | None = None) -> Self:
        """Count the features, and read nothing else from the data."""
        rows = checked(self, X, accept_sparse=False)
        as_ranges("ranges", self.ranges, rows.shape[1])
        return self

    def transform(self, X: ArrayLike) -> Floats:
        """Return features scaled to [−1, 1] and clipped; NaN where they are no finite number."""
        check_is_fitted(self, "n_features_in_")
        rows = checked(self, X, accept_sparse=False, reset=False)
        return scaled(rows, *as_ranges("ranges", self.ranges, rows.shape[1]))

    def __sklearn_tags__(self) -> "Tags":
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.string = True
        return tags
