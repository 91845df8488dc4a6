"""Private linear regression with scikit-learn's interface.

Guarantee   docs/guarantees/streaming.md
"""

from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import RegressorMixin
from sklearn.metrics import r2_score

from discreet import require
from discreet.arrays import Floats
from discreet.errors import ConfigError
from discreet.estimators.checked import as_targets, without_data
from discreet.estimators.linear import PrivateLinear
from discreet.losses import HuberLoss, SquaredLoss
from discreet.records.columns import Columns

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
    columns
        How tables are read: `Columns(features, target, bounds=…, categories=…)` of discreet. `fit`
        and `partial_fit` then take a table without `y`: a frame of Polars or pandas, any Arrow
        stream, the path of a file or a folder, a glob, or an iterator of frames. `X` and `y` are
        taken too. Rows that cannot be read add nothing.
    feature_range, target_range
        Public ranges of arrays, where `columns` are left out: a pair (low, high), or for features
        one pair per feature. Values outside are clipped. One of `columns` and the ranges must be
        given: a wrong guess would silently ruin the fit.
    loss
        "squared" or "huber".
    p, radius
        Coefficients (for features and targets scaled to [−1, 1]) lie in an l_p ball of this radius.
        "auto" is 3 for streams (4 for tables), whose noise grows with the radius, and 30 for many
        passes, whose noise does not.
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
    published_
        With `columns`: coefficients and standard errors by the names of columns and categories,
        with `as_dict()` and `to_frame()`.
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

    A table, with one coefficient per column and per category:

    >>> from discreet.records.columns import Columns
    >>> import polars
    >>> table = polars.DataFrame({"age": 50 + 30 * X[:, 0], "plan": ["a", "b"] * 10_000})
    >>> table = table.with_columns(spent=100 + 2 * polars.col("age"))
    >>> columns = Columns(
    ...     ["age", "plan"], "spent", bounds={"age": (18, 100), "spent": (0, 500)},
    ...     categories={"plan": ["a", "b"]},
    ... )
    >>> model = PrivateStreamingRegressor(columns=columns, seed=1).fit(table)
    >>> {name: round(value) for name, value in model.published_.as_dict().items()}["age"]
    2
    """

    ranges_of_arrays: ClassVar[tuple[str, ...]] = ("feature_range", "target_range")

    def __init__(
        self,
        epsilon: float = 1.0,
        delta: float = 1e-6,
        *,
        columns: Columns | None = None,
        feature_range: ArrayLike | None = None,
        target_range: tuple[float, float] | None = None,
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
        self.columns = columns
        self.feature_range = feature_range
        self.target_range = target_range
        self.loss = loss
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
        self, X: ArrayLike, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Learn from further samples of a stream of `horizon` samples."""
        return self._learn(X, y, sample_weight, partial=True)

    def _learn(
        self, X: ArrayLike, y: ArrayLike | None, weights: ArrayLike | None, *, partial: bool
    ) -> Self:
        if self._rules is not None:
            self._observe_table(X, y, weights, partial=partial)
            return self
        first = not (partial and hasattr(self, "_learner"))
        rows, given = self._with_targets(X, as_targets(y), reset=first, y_numeric=True)
        unit, middle = self._target_scale()
        with np.errstate(all="ignore"):
            targets = np.clip((given - middle) / unit, -1.0, 1.0)
        self._observe(rows, targets, weights, partial=partial)
        return self

    def _set_coefficients(self, rows: Floats, errors: Floats, constants: Floats) -> None:
        self.coef_ = rows[0].copy()
        self.coef_standard_errors_ = errors[0].copy()
        self.intercept_ = float(constants[0])

    def _check_target(self, columns: Columns) -> None:
        if columns.classes is not None:
            raise ConfigError(f"{columns.target} has categories: use PrivateStreamingClassifier")

    def _target_scale(self) -> tuple[float, float]:
        low, high = self._target_range()
        return (high - low) / 2, (high + low) / 2

    def _target_range(self) -> tuple[float, float]:
        columns = self._rules
        given: Any = self.target_range if columns is None else columns.bounds[columns.target]
        try:
            low, high = (float(value) for value in given)
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
        if self.loss == "squared":
            return SquaredLoss()
        # Half of the unit in which the learner has targets: that of tables, 1 for scaled arrays.
        return HuberLoss(0.5 * (1.0 if self.columns is None else self._target_scale()[0]))

    def predict(self, X: ArrayLike) -> Floats:
        """Return predictions by the newest released coefficients, clipped to the target range.

        A row that is no finite numbers gives NaN, and so does a row of a table that cannot be read.
        """
        return self._clipped(self._margins(X))

    def _clipped(self, margins: Floats) -> Floats:
        return np.clip(margins[:, 0], *self._target_range())

    def score(
        self, X: ArrayLike, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> float:
        """Return the coefficient of determination R², as scikit-learn defines it.

        With `columns`, a table brings its target itself if `y` is left out, and rows that cannot
        be read do not count.
        """
        if self._rules is None:
            return float(without_data(partial(super().score, X, y, sample_weight)))
        margins, targets = self._scored(X, y, sample_weight)
        return float(r2_score(targets, self._clipped(margins)))

    def __sklearn_tags__(self) -> "Tags":
        tags = super().__sklearn_tags__()
        # scikit-learn's checks use data sets that are too small for a private fit.
        tags.regressor_tags.poor_score = True
        return tags
