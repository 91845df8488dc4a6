"""Private linear models with scikit-learn's interface: put them where you have SGDRegressor today.

Everything that scaling needs is a public parameter: ranges of features and targets, and the classes. Nothing
is read off the data but what the guarantee covers. A fitted estimator holds released values only, so it may
be pickled and shown; the learner behind `partial_fit` holds raw sums and is left out of pickles.

Every `fit` spends its ε anew, also those that a grid search or a cross-validation makes. As scikit-learn asks
for, features or targets that are not finite are refused with an error, which depends on the data: clean them
before, one sample at a time. How many samples there are is public.

Guarantee   docs/guarantees/streaming.md
"""

import re
from abc import ABC, abstractmethod
from typing import Any, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from discreet import require
from discreet.arrays import Floats
from discreet.arrivals.losses import HuberLoss, LogisticLoss, SquaredLoss
from discreet.budget.privacy import Privacy
from discreet.decide.domains import LpBall
from discreet.errors import ConfigError, StateError
from discreet.learners.streaming_learner import StreamingLearner

__all__ = ["PrivateStreamingClassifier", "PrivateStreamingRegressor"]

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


class _PrivateLinear(BaseEstimator, ABC):  # type: ignore[misc]
    """What regressor and classifier share: scaling by public ranges, feeding, reading coefficients back."""

    @abstractmethod
    def _loss(self) -> Any:
        """The loss of a sample."""

    def _begin(self, features: int, horizon: int) -> StreamingLearner:
        """A learner for features in [−1, 1], divided so that a row is at most 1 long in the dual norm."""
        size, length = features + 1, self._length(features + 1)
        if not isinstance(self.radius, int | float):
            raise ConfigError(f"radius must be a number, got {self.radius!r}")
        domain = LpBall(size, float(self.p), float(self.radius) * length)
        return StreamingLearner(
            domain,
            self._loss(),
            horizon,
            Privacy(self.epsilon, self.delta),
            feature_bound=1.0,
            target_bound=1.0,
            method=self.method,
            bound=self.bound,
            pace=self.pace,
            curvature=self.curvature,
            block=self.block,
            seed=self.seed,
        )

    def _length(self, size: int) -> float:
        """The longest row of numbers in [−1, 1], in the dual norm."""
        if not isinstance(self.p, int | float) or not self.p >= 1:
            raise ConfigError(f"p must be a number, at least 1, got {self.p!r}")
        dual = LpBall(1, float(self.p)).dual
        return float(size ** (1 / dual))

    def _scaled(self, features: Any) -> Any:
        """Features mapped from their public ranges to [−1, 1] and clipped, and a constant 1.

        All are divided by the longest that a row can be.
        """
        low, high = self._ranges(features.shape[1])
        dense = features.toarray() if hasattr(features, "toarray") else features
        with np.errstate(all="ignore"):  # a warning would tell about the sample
            mapped = np.clip((2 * dense - low - high) / (high - low), -1.0, 1.0)
        return np.hstack([mapped, np.ones((len(mapped), 1))]) / self._length(features.shape[1] + 1)

    def _ranges(self, features: int) -> tuple[Floats, Floats]:
        try:
            ranges = np.broadcast_to(np.asarray(self.feature_range, dtype=np.float64), (features, 2))
        except (TypeError, ValueError):
            raise ConfigError(
                f"feature_range must be a pair (low, high) or one pair for each of {features} features"
            ) from None
        if not (np.isfinite(ranges).all() and (ranges[:, 0] < ranges[:, 1]).all()):
            raise ConfigError(
                "feature_range must be finite, with low < high: public numbers, not read off the data"
            )
        return ranges[:, 0], ranges[:, 1]

    def _take(self, learner: StreamingLearner, features: int) -> None:
        """Released coefficients, in the units of the features as they came."""
        low, high = self._ranges(features)
        weights = learner.coefficients / self._length(features + 1)
        self._weights = weights[:-1] * 2 / (high - low)
        self._constant = float(weights[-1] - weights[:-1] @ ((high + low) / (high - low)))
        beyond = "This is the guarantee of this fit: every other fit of the same people adds to it."
        self.guarantee_ = f"{learner.guarantee} {beyond}"

    def _checked(self, *data: Any, **checks: Any) -> Any:
        """scikit-learn's checks, with errors that do not quote the data as scikit-learn's own do."""
        try:
            with np.errstate(all="ignore"):  # a warning would tell about a sample
                return validate_data(self, *data, accept_sparse="csr", **checks)
        except Exception as error:
            kind = TypeError if isinstance(error, TypeError) else ValueError
            text = str(error)
        raise kind(_without_data(text))

    def _fed(self, X: Any, y: Floats, *, partial: bool) -> None:
        features = X.shape[1]
        learner = self._going_on(features) if partial else self._anew(features, len(y))
        learner.observe_stream(self._scaled(X), y)
        self._take(learner, features)

    def _anew(self, features: int, samples: int) -> StreamingLearner:
        for name in ("_learner", "_was_pickled"):
            self.__dict__.pop(name, None)
        return self._begin(features, samples)

    def _going_on(self, features: int) -> StreamingLearner:
        if self.horizon is None:
            raise ConfigError("partial_fit needs horizon: how many samples will come in all")
        if not hasattr(self, "_learner"):
            if getattr(self, "_was_pickled", False):
                raise StateError(
                    "this estimator came from a pickle, which leaves out raw sums: it cannot go on learning"
                )
            self._learner = self._begin(features, require.whole("horizon", self.horizon))
            self._begun_with = self._parameters()
        if self._parameters() != self._begun_with:
            raise ConfigError("parameters changed since the first partial_fit: make a new estimator")
        return self._learner

    def _parameters(self) -> str:
        found: dict[str, Any] = self.get_params()
        whole = {name: value.tolist() for name, value in found.items() if isinstance(value, np.ndarray)}
        return repr(found | whole)

    def _margins(self, X: Any) -> Floats:
        check_is_fitted(self, "guarantee_")
        X = self._checked(X, reset=False)
        return np.asarray(X @ self._weights + self._constant, dtype=np.float64)

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = dict(super().__getstate__())
        if state.pop("_learner", None) is not None:
            state["_was_pickled"] = True
        return state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.non_deterministic = self.seed is None
        return tags


def _without_data(text: str) -> str:
    """What may be said of an error of scikit-learn's: whole known lines as they are, else a text of ours."""
    first = text.partition("\n")[0]
    if any(pattern.fullmatch(first) for pattern in HARMLESS):
        return first
    return next((ours for begin, ours in INSTEAD.items() if text.startswith(begin)), NO_NUMBERS)


class PrivateStreamingRegressor(RegressorMixin, _PrivateLinear):  # type: ignore[misc]
    """Private linear regression from a stream: coefficients are published, every sample stays private.

    Parameters
    ----------
    epsilon, delta
        The guarantee that is asked for.
    feature_range, target_range
        Public ranges, a pair (low, high) or (features) one for each feature; what lies outside is clipped.
    loss
        "squared" or "huber".
    p, radius
        Coefficients (per scaled feature) lie in an l_p ball of this radius.
    horizon
        How many samples `partial_fit` will see in all; `fit` sees as many as it is given.
    method, bound, pace, curvature, block
        As for `discreet.StreamingLearner`.
    seed
        None (default) is the operating system's randomness; a whole number makes a simulation, which is not
        private, and `guarantee_` says so. It is not called `random_state` because bagging, boosting and
        others set that on whatever they wrap.

    Examples
    --------
    >>> generator = np.random.default_rng(0)
    >>> X = generator.uniform(-1, 1, size=(20_000, 3))
    >>> y = X @ [0.5, -0.3, 0.0] + 0.1
    >>> model = PrivateStreamingRegressor(epsilon=1.0, seed=1).fit(X, y)
    >>> bool(model.score(X, y) > 0.9)
    True
    """

    def __init__(
        self,
        epsilon: float = 1.0,
        delta: float = 1e-6,
        *,
        feature_range: Any = (-1.0, 1.0),
        target_range: tuple[float, float] = (-1.0, 1.0),
        loss: Literal["squared", "huber"] = "squared",
        p: float = 2.0,
        radius: float = 1.0,
        horizon: int | None = None,
        method: str = "auto",
        bound: float | str = "auto",
        pace: float = 1.0,
        curvature: float | str = "auto",
        block: int | str = "auto",
        seed: int | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.feature_range = feature_range
        self.target_range = target_range
        self.loss = loss
        self.p = p
        self.radius = radius
        self.horizon = horizon
        self.method = method
        self.bound = bound
        self.pace = pace
        self.curvature = curvature
        self.block = block
        self.seed = seed

    def fit(self, X: Any, y: Any) -> Self:
        """Learn from all samples, once."""
        return self._learn(X, y, partial=False)

    def partial_fit(self, X: Any, y: Any) -> Self:
        """Learn from some more samples; `horizon` says how many there will be in all."""
        return self._learn(X, y, partial=True)

    def _learn(self, X: Any, y: Any, *, partial: bool) -> Self:
        first = not (partial and hasattr(self, "_learner"))
        X, y = self._checked(X, y, reset=first, y_numeric=True, dtype=np.float64)
        low, high = self._targets()
        with np.errstate(all="ignore"):
            targets = np.clip((2 * y - low - high) / (high - low), -1.0, 1.0)
        self._fed(X, targets, partial=partial)
        self.coef_ = self._weights * (high - low) / 2
        self.intercept_ = self._constant * (high - low) / 2 + (high + low) / 2
        return self

    def _targets(self) -> tuple[float, float]:
        try:
            low, high = (float(value) for value in self.target_range)
        except (TypeError, ValueError):
            raise ConfigError(f"target_range must be a pair (low, high), got {self.target_range!r}") from None
        if not (np.isfinite([low, high]).all() and low < high):
            raise ConfigError(f"target_range must be finite, with low < high, got {self.target_range!r}")
        return low, high

    def _loss(self) -> Any:
        if self.loss not in ("squared", "huber"):
            raise ConfigError(f"loss must be squared or huber, got {self.loss!r}")
        return SquaredLoss() if self.loss == "squared" else HuberLoss(0.5)

    def predict(self, X: Any) -> Floats:
        """The targets that the newest released coefficients expect."""
        low, high = self._targets()
        return self._margins(X) * (high - low) / 2 + (high + low) / 2

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # On the tiny data sets of scikit-learn's checks, privacy leaves little.
        tags.regressor_tags.poor_score = True
        return tags


class PrivateStreamingClassifier(ClassifierMixin, _PrivateLinear):  # type: ignore[misc]
    """Private logistic regression from a stream, for two classes that are publicly known.

    Parameters
    ----------
    classes
        The two classes. A parameter, because which classes occur is something about the people.
    epsilon, delta, feature_range, p, radius, horizon, method, bound, pace, curvature, block, seed
        As for `PrivateStreamingRegressor`.

    Examples
    --------
    >>> generator = np.random.default_rng(0)
    >>> X = generator.uniform(-1, 1, size=(20_000, 3))
    >>> y = np.where(X @ [2.0, -1.0, 0.0] > 0, "yes", "no")
    >>> model = PrivateStreamingClassifier(classes=("no", "yes"), radius=3.0, seed=1).fit(X, y)
    >>> bool(model.score(X, y) > 0.9)
    True
    """

    def __init__(
        self,
        epsilon: float = 1.0,
        delta: float = 1e-6,
        *,
        classes: tuple[Any, Any] = (0, 1),
        feature_range: Any = (-1.0, 1.0),
        p: float = 2.0,
        radius: float = 3.0,
        horizon: int | None = None,
        method: str = "auto",
        bound: float | str = "auto",
        pace: float = 1.0,
        curvature: float | str = "auto",
        block: int | str = "auto",
        seed: int | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.classes = classes
        self.feature_range = feature_range
        self.p = p
        self.radius = radius
        self.horizon = horizon
        self.method = method
        self.bound = bound
        self.pace = pace
        self.curvature = curvature
        self.block = block
        self.seed = seed

    def fit(self, X: Any, y: Any) -> Self:
        """Learn from all samples, once."""
        return self._learn(X, y, partial=False)

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Self:
        """Learn from some more samples.

        `classes` is accepted as scikit-learn passes it, and must agree with the parameter.
        """
        if classes is not None and set(np.asarray(classes).tolist()) != set(
            np.asarray(self.classes).tolist()
        ):
            raise ConfigError("classes must be those of the parameter `classes`")
        return self._learn(X, y, partial=True)

    def _learn(self, X: Any, y: Any, *, partial: bool) -> Self:
        is_list = isinstance(self.classes, tuple | list | np.ndarray)
        if not is_list or len(self.classes) != 2 or self.classes[0] == self.classes[1]:
            raise ConfigError(f"classes must be two different ones, got {self.classes!r}")
        first = not (partial and hasattr(self, "_learner"))
        X, y = self._checked(X, y, reset=first, dtype=np.float64)
        self.classes_ = np.array(self.classes)
        # A label that is neither class counts as a sample that says nothing.
        targets = np.where(y == self.classes_[1], 1.0, np.where(y == self.classes_[0], 0.0, np.nan))
        self._fed(X, targets, partial=partial)
        self.coef_, self.intercept_ = self._weights[None], np.array([self._constant])
        return self

    def _loss(self) -> Any:
        return LogisticLoss()

    def decision_function(self, X: Any) -> Floats:
        """Positive for the second class."""
        return self._margins(X)

    def predict(self, X: Any) -> Any:
        """The likelier class."""
        likelier = (self._margins(X) > 0).astype(int)
        return self.classes_[likelier]

    def predict_proba(self, X: Any) -> Floats:
        """The chance of each class."""
        chance = LogisticLoss().predict(self._margins(X))
        return np.stack([1 - chance, chance], axis=1)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.classifier_tags.poor_score = True
        return tags
