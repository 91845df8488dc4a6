"""Private linear regression with scikit-learn's interface.

Guarantee   docs/guarantees/streaming.md
"""

from typing import TYPE_CHECKING, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import RegressorMixin

from discreet import require
from discreet.arrays import Floats
from discreet.engine.settings import refuses_removed
from discreet.errors import ConfigError
from discreet.estimators.checked import as_targets
from discreet.estimators.linear import REMOVED, PrivateLinear
from discreet.losses import HuberLoss, SquaredLoss

if TYPE_CHECKING:
    from sklearn.utils import Tags


class PrivateStreamingRegressor(RegressorMixin, PrivateLinear):  # type: ignore[misc]
    """Private linear regression: publishes coefficients and protects every sample.

    `fit` takes many passes over its samples and releases once; `partial_fit` learns from a stream.

    Guarantee: docs/guarantees/streaming.md.

    Parameters
    ----------
    epsilon, delta
        The requested (ε, δ).
    feature_range, target_range
        Public ranges: a pair (low, high), or for features one pair per feature. Values outside are
        clipped. The ranges have no default, because a wrong guess would silently ruin the fit.
    loss
        "squared" or "huber".
    p, radius
        Coefficients (for features and targets scaled to [−1, 1]) lie in an l_p ball of this radius.
        "auto" is 3 for streams, whose noise grows with the radius, and 30 for many passes, whose
        noise does not.
    weight_bound
        The largest `sample_weight` that counts, a public number. Larger weights count as the bound,
        and weights that are no number of at least 0 count as 0. A weight must follow from the
        person's own sample: balanced classes, normalised weights, boosting, and bootstraps that
        repeat a person are not covered by the guarantee.
    horizon
        Total number of samples that `partial_fit` will see; `fit` sees as many as it is given.
    block
        Number of samples between two releases of `partial_fit`; `fit` releases once.
    seed
        None (default) uses the operating system's randomness. A whole number makes the fit a
        simulation, which is not private, and `guarantee_` states that. The parameter is not called
        `random_state`, because bagging, boosting and others set that on the estimators they wrap.

    Attributes
    ----------
    coef_, intercept_
        The newest released coefficients, in the units of the data.
    coef_standard_errors_
        Standard errors of the coefficients, by noise and sampling together: ±1.96 standard errors
        are a 95 % interval. They follow from released values only, and are NaN where no standard
        error is known (`StreamingLearner.standard_errors`).
    facts_
        What was planned, for instance the method.
    guarantee_
        The guarantee of this fit and of its clones, as a paragraph.

    Examples
    --------
    >>> generator = np.random.default_rng(0)
    >>> X = generator.uniform(-1, 1, size=(20_000, 3))
    >>> y = X @ [0.5, -0.3, 0.0] + 0.1
    >>> model = PrivateStreamingRegressor(feature_range=(-1, 1), target_range=(-1, 1), seed=1)
    >>> bool(model.fit(X, y).score(X, y) > 0.9)
    True
    """

    @refuses_removed(REMOVED)
    def __init__(
        self,
        epsilon: float = 1.0,
        delta: float = 1e-6,
        *,
        feature_range: ArrayLike,
        target_range: tuple[float, float],
        loss: Literal["squared", "huber"] = "squared",
        p: float = 2.0,
        radius: float | str = "auto",
        weight_bound: float = 1.0,
        horizon: int | None = None,
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
        self.weight_bound = weight_bound
        self.horizon = horizon
        self.block = block
        self.seed = seed

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from all samples, with one release."""
        return self._learn(X, y, sample_weight, partial=False)

    def partial_fit(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Learn from further samples of a stream of `horizon` samples."""
        return self._learn(X, y, sample_weight, partial=True)

    def _learn(
        self, X: ArrayLike, y: ArrayLike, weights: ArrayLike | None, *, partial: bool
    ) -> Self:
        first = not (partial and hasattr(self, "_learner"))
        rows, given = self._with_targets(X, as_targets(y), reset=first, y_numeric=True)
        low, high = self._target_range()
        with np.errstate(all="ignore"):
            targets = np.clip((2 * given - low - high) / (high - low), -1.0, 1.0)
        self._observe(rows, targets, weights, partial=partial)
        self.coef_ = self._weights[0] * (high - low) / 2
        self.coef_standard_errors_ = self._errors[0] * (high - low) / 2
        self.intercept_ = float(self._constants[0]) * (high - low) / 2 + (high + low) / 2
        return self

    def _target_range(self) -> tuple[float, float]:
        try:
            low, high = (float(value) for value in self.target_range)
        except (TypeError, ValueError):
            raise ConfigError(
                f"target_range must be a pair (low, high), got {require.shown(self.target_range)}"
            ) from None
        if not (np.isfinite([low, high]).all() and low < high):
            raise ConfigError(
                f"target_range must be finite, with low < high, got {low:g} and {high:g}"
            )
        return low, high

    def _loss(self) -> SquaredLoss | HuberLoss:
        if self.loss not in ("squared", "huber"):
            raise ConfigError(f"loss must be squared or huber, got {require.shown(self.loss)}")
        return SquaredLoss() if self.loss == "squared" else HuberLoss(0.5)

    def predict(self, X: ArrayLike) -> Floats:
        """Return predictions by the newest released coefficients, clipped to the target range.

        A row with NaN gives NaN; features that are no numbers are refused.
        """
        low, high = self._target_range()
        scaled = np.clip(self._margins(X)[:, 0], -1.0, 1.0)
        return scaled * (high - low) / 2 + (high + low) / 2

    def __sklearn_tags__(self) -> "Tags":
        tags = super().__sklearn_tags__()
        # scikit-learn's checks use data sets that are too small for a private fit.
        tags.regressor_tags.poor_score = True
        return tags
