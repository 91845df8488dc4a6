"""Private logistic regression with scikit-learn's interface, for two classes or more.

Guarantee   docs/guarantees/streaming.md
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassifierMixin

from discreet import require
from discreet.arrays import Floats
from discreet.engine.settings import refuses_removed
from discreet.errors import ConfigError
from discreet.estimators.checked import as_classes
from discreet.estimators.linear import REMOVED, PrivateLinear
from discreet.losses import LogisticLoss, SoftmaxLoss

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
        The classes, two or more: public labels. They have no default, because the set of labels
        that occur is information about the people.
    epsilon, delta, feature_range, p, radius, weight_bound, horizon
        See `PrivateStreamingRegressor`. Weights that balance classes read other people's labels,
        and are not covered by the guarantee.
    block, seed
        See `PrivateStreamingRegressor`.

    Attributes
    ----------
    coef_, intercept_, coef_standard_errors_, facts_, guarantee_
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

    @refuses_removed(REMOVED)
    def __init__(
        self,
        epsilon: float = 1.0,
        delta: float = 1e-6,
        *,
        classes: Sequence[object] | np.ndarray,
        feature_range: ArrayLike,
        p: float = 2.0,
        radius: float | str = "auto",
        weight_bound: float = 1.0,
        horizon: int | None = None,
        block: int | str = "auto",
        seed: int | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.classes = classes
        self.feature_range = feature_range
        self.p = p
        self.radius = radius
        self.weight_bound = weight_bound
        self.horizon = horizon
        self.block = block
        self.seed = seed

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from all samples, with one release."""
        return self._learn(X, y, sample_weight, partial=False)

    def partial_fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Learn from further samples of a stream of `horizon` samples.

        `classes` is accepted as scikit-learn passes it, and must agree with the parameter.
        """
        if classes is not None:
            public = set(np.asarray(self.classes).reshape(-1).tolist())
            if set(np.asarray(classes).tolist()) != public:
                raise ConfigError("classes must be those of the parameter `classes`")
        return self._learn(X, y, sample_weight, partial=True)

    def _learn(
        self, X: ArrayLike, y: ArrayLike, weights: ArrayLike | None, *, partial: bool
    ) -> Self:
        is_list = isinstance(self.classes, tuple | list | np.ndarray)
        if not is_list or len(self.classes) < 2 or len(set(self.classes)) < len(self.classes):
            raise ConfigError(
                f"classes must be two or more different labels, got {require.shown(self.classes)}"
            )
        first = not (partial and hasattr(self, "_learner"))
        classes = np.array(self.classes)
        rows, targets = self._with_targets(X, as_classes(y, classes), reset=first)
        self.classes_ = classes
        self._observe(rows, targets, weights, partial=partial)
        self.coef_ = self._weights.copy()
        self.intercept_ = self._constants.copy()
        self.coef_standard_errors_ = self._errors.copy()
        return self

    def _loss(self) -> LogisticLoss | SoftmaxLoss:
        return LogisticLoss() if len(self.classes) == 2 else SoftmaxLoss(len(self.classes))

    def decision_function(self, X: ArrayLike) -> Floats:
        """Return margins, positive for the second class; with more classes one column per class."""
        margins = self._margins(X)
        return margins[:, 0] if len(self.classes) == 2 else margins

    def predict(self, X: ArrayLike) -> np.ndarray:
        """Return the likeliest class per row.

        A row with NaN is replaced by the middle of the ranges.
        """
        probabilities = self.predict_proba(X)
        middle = np.mean(self._ranges(self.n_features_in_), axis=0)
        of_middle = self._probabilities(middle @ self._weights.T + self._constants)
        probabilities[np.isnan(probabilities).any(axis=1)] = of_middle
        predicted: np.ndarray = self.classes_[probabilities.argmax(axis=1)]
        return predicted

    def predict_proba(self, X: ArrayLike) -> Floats:
        """Return the probability of each class, one row per sample; NaN for a row with NaN."""
        return self._probabilities(self._margins(X))

    def _probabilities(self, margins: Floats) -> Floats:
        margins = np.atleast_2d(margins)
        if len(self.classes) > 2:
            return SoftmaxLoss(len(self.classes)).predict(margins)
        second = LogisticLoss().predict(margins[:, 0])
        return np.stack([1 - second, second], axis=1)

    def __sklearn_tags__(self) -> "Tags":
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = len(self.classes) > 2
        tags.classifier_tags.poor_score = True
        return tags
