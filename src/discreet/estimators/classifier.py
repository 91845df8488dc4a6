"""Private logistic regression with scikit-learn's interface, for two classes or more.

Guarantee   docs/guarantees/streaming.md
"""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassifierMixin
from sklearn.metrics import accuracy_score

from discreet import require
from discreet.arrays import Floats
from discreet.errors import ConfigError
from discreet.estimators.checked import as_classes, without_data
from discreet.estimators.linear import PrivateLinear
from discreet.losses import LogisticLoss, SoftmaxLoss
from discreet.records.columns import Columns

if TYPE_CHECKING:
    from sklearn.utils import Tags


class PrivateStreamingClassifier(ClassifierMixin, PrivateLinear):  # type: ignore[misc]
    """Private logistic regression: publishes coefficients and protects every sample.

    With more than two classes, all classes share one gradient of the softmax loss, and so one
    budget: there is no ε per class. `fit` takes many passes over its samples and releases once;
    `partial_fit` learns from a stream.

    Guarantee: docs/guarantees/streaming.md.

    Parameters
    ----------
    classes
        The classes, two or more: public labels, because the set of labels that occur is
        information about the people. With `columns` they are the categories of the target.
    epsilon, delta, columns, feature_range, p, radius, weight_bound, horizon
        See `PrivateStreamingRegressor`. Weights that balance classes read other people's labels,
        and are not covered by the guarantee.
    block, seed
        See `PrivateStreamingRegressor`.

    Attributes
    ----------
    coef_, intercept_, coef_standard_errors_, published_, facts_, guarantee_
        See `PrivateStreamingRegressor`; one row per class if there are more than two. Standard
        errors are NaN: none are known for classes.

    Examples
    --------
    >>> generator = np.random.default_rng(0)
    >>> X = generator.uniform(-1, 1, size=(20_000, 3))
    >>> y = np.where(X @ [2.0, -1.0, 0.0] > 0, "yes", "no")
    >>> model = PrivateStreamingClassifier(classes=("no", "yes"), feature_range=(-1, 1), seed=1)
    >>> bool(model.fit(X, y).score(X, y) > 0.9)
    True
    """

    ranges_of_arrays: ClassVar[tuple[str, ...]] = ("classes", "feature_range")

    def __init__(
        self,
        epsilon: float = 1.0,
        delta: float = 1e-6,
        *,
        columns: Columns | None = None,
        classes: Sequence[object] | np.ndarray | None = None,
        feature_range: ArrayLike | None = None,
        p: float = 2.0,
        radius: float | str = "auto",
        weight_bound: float = 1.0,
        horizon: int | None = None,
        block: int | str = "auto",
        seed: int | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.columns = columns
        self.classes = classes
        self.feature_range = feature_range
        self.p = p
        self.radius = radius
        self.weight_bound = weight_bound
        self.horizon = horizon
        self.block = block
        self.seed = seed

    def fit(
        self, X: ArrayLike, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Learn from all samples, with one release; with `columns`, from a table without `y`."""
        return self._learn(X, y, sample_weight, partial=False)

    def partial_fit(
        self,
        X: ArrayLike,
        y: ArrayLike | None = None,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Learn from further samples of a stream of `horizon` samples.

        `classes` is accepted as scikit-learn passes it, and must agree with the parameter.
        """
        if classes is not None:
            public = set(self._labels().tolist())
            if set(np.asarray(classes).tolist()) != public:
                raise ConfigError("classes must be those of the parameters")
        return self._learn(X, y, sample_weight, partial=True)

    def _learn(
        self, X: ArrayLike, y: ArrayLike | None, weights: ArrayLike | None, *, partial: bool
    ) -> Self:
        classes = self._labels()
        if self._rules is not None:
            self._observe_table(X, y, weights, partial=partial)
        else:
            first = not (partial and hasattr(self, "_learner"))
            rows, targets = self._with_targets(X, as_classes(y, classes), reset=first)
            self._observe(rows, targets, weights, partial=partial)
        self.classes_ = classes
        return self

    def _labels(self) -> np.ndarray:
        """Return the public classes: the parameter, or the categories of the target."""
        columns = self._rules
        if columns is not None:
            return np.array(columns.categories[columns.target])
        classes: Any = self.classes
        is_list = isinstance(classes, tuple | list | np.ndarray)
        if not is_list or len(classes) < 2 or len(set(classes)) < len(classes):
            raise ConfigError(
                f"classes must be two or more different labels, got {require.shown(classes)}"
            )
        return np.array(classes)

    def _check_target(self, columns: Columns) -> None:
        if columns.classes is None:
            raise ConfigError(
                f"{columns.target} has no categories: list its classes there, or use "
                "PrivateStreamingRegressor"
            )

    def _set_coefficients(self, rows: Floats, errors: Floats, constants: Floats) -> None:
        self.coef_ = rows.copy()
        self.coef_standard_errors_ = errors.copy()
        self.intercept_ = constants.copy()

    def _loss(self) -> LogisticLoss | SoftmaxLoss:
        count = len(self._labels())
        return LogisticLoss() if count == 2 else SoftmaxLoss(count)

    def decision_function(self, X: ArrayLike) -> Floats:
        """Return margins, positive for the second class; with more classes one column per class."""
        margins = self._margins(X)
        return margins[:, 0] if margins.shape[1] == 1 else margins

    def predict(self, X: ArrayLike) -> np.ndarray:
        """Return the likeliest class per row.

        A row with NaN, or a row of a table that cannot be read, is replaced by the middle of the
        ranges.
        """
        probabilities = self.predict_proba(X)
        of_middle = self._probabilities(self._margins_of(self._middle()))
        probabilities[np.isnan(probabilities).any(axis=1)] = of_middle
        predicted: np.ndarray = self.classes_[probabilities.argmax(axis=1)]
        return predicted

    def _middle(self) -> Floats:
        """Return the middle of the ranges, as one row."""
        columns = self._rules
        if columns is not None:
            return columns.box.centre[None, :]
        low, high = self._ranges(self.n_features_in_)
        return ((low + high) / 2)[None, :]

    def predict_proba(self, X: ArrayLike) -> Floats:
        """Return the probability of each class, one row per sample; NaN for a row with NaN.

        `fit` clips gradients far below their norms, which finds classes with little noise but makes
        probabilities too sure: coefficients are two to four times too large where labels are noisy.
        `partial_fit` does not.
        """
        return self._probabilities(self._margins(X))

    def _probabilities(self, margins: Floats) -> Floats:
        if margins.shape[1] > 1:
            return SoftmaxLoss(margins.shape[1]).predict(margins)
        second = LogisticLoss().predict(margins[:, 0])
        return np.stack([1 - second, second], axis=1)

    def score(
        self, X: ArrayLike, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> float:
        """Return the accuracy, as scikit-learn defines it.

        With `columns`, a table brings its target itself if `y` is left out, and rows that cannot
        be read do not count.
        """
        if self._rules is None:
            return float(without_data(partial(super().score, X, y, sample_weight)))
        margins, targets = self._scored(X, y, sample_weight)
        return float(accuracy_score(targets, self._probabilities(margins).argmax(axis=1)))

    def __sklearn_tags__(self) -> "Tags":
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = self._are_many()
        tags.classifier_tags.poor_score = True
        return tags

    def _are_many(self) -> bool:
        """Whether there are more than two classes; scikit-learn asks this before any check."""
        if isinstance(self.columns, Columns):
            return (self.columns.classes or 0) > 2
        return self.classes is not None and len(self.classes) > 2
