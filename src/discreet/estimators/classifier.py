"""Private logistic regression with scikit-learn's interface, for two classes or more."""

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
    """Private logistic regression, for classes that are publicly known.

    With more than two, all classes share one gradient of the softmax loss, and so one budget: there
    is no ε per class. `fit` takes many passes over its samples and releases once; `partial_fit`
    streams.

    Parameters
    ----------
    classes
        The classes, two or more. A parameter without default, because which classes occur is
        something about the people.
    epsilon, delta, feature_range, p, radius, weight_bound, horizon
        As for `PrivateStreamingRegressor`; weights that balance classes read everybody's labels,
        and are not covered by the guarantee.
    block, seed
        As for `PrivateStreamingRegressor`.

    Attributes
    ----------
    coef_, intercept_, coef_standard_errors_, facts_, guarantee_
        As for `PrivateStreamingRegressor`; one row per class if there are more than two. Standard
        errors are NaN: none are known for classes.

    Examples
    --------
    >>> generator = np.random.default_rng(0)
    >>> X = generator.uniform(-1, 1, size=(20_000, 3))
    >>> y = np.where(X @ [2.0, -1.0, 0.0] > 0, "yes", "no")
    >>> model = PrivateStreamingClassifier(classes=("no", "yes"), feature_range=(-1, 1), seed=1).fit(X, y)
    >>> bool(model.score(X, y) > 0.9)
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
        """Learn from all samples, once."""
        return self._learn(X, y, sample_weight, partial=False)

    def partial_fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Learn from some more samples.

        `classes` is accepted as scikit-learn passes it, and must agree with the parameter.
        """
        if classes is not None and set(np.asarray(classes).tolist()) != set(
            np.asarray(self.classes).tolist()
        ):
            raise ConfigError("classes must be those of the parameter `classes`")
        return self._learn(X, y, sample_weight, partial=True)

    def _learn(
        self, X: ArrayLike, y: ArrayLike, weights: ArrayLike | None, *, partial: bool
    ) -> Self:
        is_list = isinstance(self.classes, tuple | list | np.ndarray)
        if not is_list or len(self.classes) < 2 or len(set(self.classes)) < len(self.classes):
            raise ConfigError(
                f"classes must be two or more different ones, got {require.shown(self.classes)}"
            )
        first = not (partial and hasattr(self, "_learner"))
        classes = np.array(self.classes)
        rows, targets = self._with_targets(X, as_classes(y, classes), reset=first)
        self.classes_ = classes
        self._fed(rows, targets, weights, partial=partial)
        self.coef_, self.intercept_ = self._weights.copy(), self._constants.copy()
        self.coef_standard_errors_ = self._errors.copy()
        return self

    def _loss(self) -> LogisticLoss | SoftmaxLoss:
        return LogisticLoss() if len(self.classes) == 2 else SoftmaxLoss(len(self.classes))

    def decision_function(self, X: ArrayLike) -> Floats:
        """Positive for the second class; with more than two, one column a class."""
        margins = self._margins(X)
        return margins[:, 0] if len(self.classes) == 2 else margins

    def predict(self, X: ArrayLike) -> np.ndarray:
        """The likeliest class; for a row with NaN, that of the middle of the ranges."""
        chances = self.predict_proba(X)
        middle = np.mean(self._ranges(self.n_features_in_), axis=0)
        chances[np.isnan(chances).any(axis=1)] = self._chances(
            middle @ self._weights.T + self._constants
        )
        found: np.ndarray = self.classes_[chances.argmax(axis=1)]
        return found

    def predict_proba(self, X: ArrayLike) -> Floats:
        """The chance of each class; NaN for a row with NaN."""
        return self._chances(self._margins(X))

    def _chances(self, margins: Floats) -> Floats:
        margins = np.atleast_2d(margins)
        if len(self.classes) > 2:
            return SoftmaxLoss(len(self.classes)).predict(margins)
        chance = LogisticLoss().predict(margins[:, 0])
        return np.stack([1 - chance, chance], axis=1)

    def __sklearn_tags__(self) -> "Tags":
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = len(self.classes) > 2
        tags.classifier_tags.poor_score = True
        return tags
