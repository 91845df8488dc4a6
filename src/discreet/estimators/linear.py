"""Base class of the regressor and the classifier: feeds a learner, and publishes what it released.

Arrays are scaled here, by public ranges; tables are scaled by the learner, by the rules of
`Columns`. Released coefficients are mapped back to the units of the data.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import partial
from math import sqrt
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from discreet import require
from discreet.arrays import Floats
from discreet.budget.privacy import Privacy
from discreet.errors import ConfigError, StateError
from discreet.estimators.checked import as_ranges, as_shares, checked, checked_pairs, scaled
from discreet.estimators.fits import Fits
from discreet.estimators.tables import counted, features_of, samples_of, table_of
from discreet.learners.forced import forced
from discreet.learners.streaming_learner import StreamingLearner
from discreet.learners.streaming_learner.from_columns import REACH
from discreet.losses import Loss, SoftmaxLoss
from discreet.optim.domains import LpBall
from discreet.records.columns import Columns

if TYPE_CHECKING:
    from sklearn.utils import Tags

    from discreet.estimators.checked import Samples


RADIUS = {"stream": 3.0, "passes": 30.0, "stream of a table": REACH}
"""Default radius of the l_p ball of coefficients."""
HIDDEN = 0.008
"""Share of second moments hidden by noise below which many passes are better over l₁ balls, too."""
MOST_HELD = 2**30
"""Largest number of entries of a batch in memory; larger batches are streamed."""


class PrivateLinear(BaseEstimator, ABC):  # type: ignore[misc]
    """A private linear model whose parameters are attributes, as scikit-learn requires."""

    forced_mode: str = "auto"
    """Mode of `StreamingLearner` to use, for audits and benchmarks; it is not a parameter."""

    ranges_of_arrays: ClassVar[tuple[str, ...]]
    """Parameters that arrays need, and that follow from `columns` for tables."""

    @abstractmethod
    def _loss(self) -> Loss | SoftmaxLoss:
        """Return the loss of a sample."""

    @abstractmethod
    def _check_target(self, columns: Columns) -> None:
        """Refuse columns whose target is of the wrong kind."""

    @property
    def _rules(self) -> Columns | None:
        """The rules for tables, after a check that either they or the ranges are given."""
        columns = self.columns
        given = [name for name in self.ranges_of_arrays if getattr(self, name) is not None]
        if columns is None:
            lacking = [name for name in self.ranges_of_arrays if name not in given]
            if lacking:
                raise ConfigError(
                    f"{lacking[0]} is missing: give it, or columns with bounds for a table, as "
                    "public values that are not read from the data"
                )
            return None
        if not isinstance(columns, Columns):
            raise ConfigError(f"columns must be discreet's Columns, got {require.shown(columns)}")
        if not columns.is_scaled:
            raise ConfigError("columns need bounds: the least and the largest value of each number")
        if given:
            raise ConfigError(f"{given[0]} follows from columns: leave it out")
        self._check_target(columns)
        return columns

    def _make_learner(self, features: int, horizon: int, *, streams: bool) -> StreamingLearner:
        """Return a learner for a table, or for rows of length at most 1 in the dual norm."""
        columns = self._rules
        loss = self._loss()
        rows = loss.classes if isinstance(loss, SoftmaxLoss) else 1
        size = rows * (features + 1)
        mode = self.forced_mode
        if mode == "auto" and not streams:
            mode = self._mode_of_fit(size, horizon)
        takes_passes = mode == "passes"
        stream = "stream" if columns is None else "stream of a table"
        default = RADIUS["passes" if takes_passes else stream]
        radius = default if self.radius == "auto" else self.radius
        if not isinstance(radius, int | float):
            raise ConfigError(f"radius must be a number or auto, got {require.shown(self.radius)}")
        make: Callable[..., StreamingLearner] = partial(
            StreamingLearner, method="passes" if takes_passes else "auto"
        )
        if mode not in ("auto", "passes"):
            make = partial(forced, StreamingLearner, mode)
        length = self._length(features + 1)
        unit = length if columns is None else columns.target_bound(shifts=True)
        bounds = {"feature_bound": 1.0, "target_bound": 1.0} if columns is None else {}
        return make(
            LpBall(size, float(self.p), float(radius) * unit),
            loss,
            horizon,
            Privacy(self.epsilon, self.delta),
            columns=columns,
            block="auto" if takes_passes else self.block,
            seed=self.seed,
            **bounds,
        )

    def _mode_of_fit(self, size: int, samples: int) -> str:
        """Return "passes" if the samples fit into memory and δ > 0; l₁ balls are an exception."""
        if size * samples > MOST_HELD or not self.delta:
            return "auto"
        # Where noise hides the second moments, the leader over an l₁ ball finds sparse features.
        rho = Privacy(self.epsilon, self.delta).budget.amount
        hidden = 2 * sqrt(size / (2 * rho)) / max(1, samples)
        return "passes" if self.p != 1 or hidden < HIDDEN else "auto"

    def _length(self, size: int) -> float:
        """Return the largest dual norm of a row of `size` numbers in [−1, 1]."""
        if not isinstance(self.p, int | float) or not self.p >= 1:
            raise ConfigError(f"p must be a number, at least 1, got {require.shown(self.p)}")
        dual = LpBall(1, float(self.p)).dual
        return float(size ** (1 / dual))

    def _scaled(self, features: "Samples") -> Floats:
        """Return features mapped to [−1, 1] and clipped, and a constant 1.

        Rows are divided by their largest length, so that they are at most 1 long in the dual norm.
        """
        low, high = self._ranges(features.shape[1])
        mapped = scaled(features, low, high)
        constant = np.ones((len(mapped), 1))
        return np.hstack([mapped, constant]) / self._length(features.shape[1] + 1)

    def _ranges(self, features: int) -> tuple[Floats, Floats]:
        return as_ranges("feature_range", self.feature_range, features)

    def _publish(self, learner: StreamingLearner) -> None:
        """Set the fitted attributes from released coefficients, in the units of the data."""
        self.__dict__.pop("published_", None)
        if self.columns is None:
            self._publish_scaled(learner)
        else:
            self.published_ = published = learner.published
            self._set_coefficients(
                np.atleast_2d(published.coefficients),
                np.atleast_2d(published.standard_errors),
                np.atleast_1d(published.intercept),
            )
        self.facts_ = learner.facts
        self.guarantee_ = f"{learner.guarantee} {self._cost_of_fits}"

    def _publish_scaled(self, learner: StreamingLearner) -> None:
        """Set the coefficients from those of rows that `_scaled` returned."""
        features = self.n_features_in_
        low, high = self._ranges(features)
        length = self._length(features + 1)
        rows = learner.coefficients.reshape(-1, features + 1) / length
        errors = learner.standard_errors.reshape(rows.shape) / length
        unit, middle = self._target_scale()
        self._set_coefficients(
            rows[:, :-1] * 2 / (high - low) * unit,
            errors[:, :-1] * 2 / (high - low) * unit,
            (rows[:, -1] - rows[:, :-1] @ ((high + low) / (high - low))) * unit + middle,
        )

    def _target_scale(self) -> tuple[float, float]:
        """Return the target's units per unit of what the learner predicts of arrays, and its 0."""
        return 1.0, 0.0

    @abstractmethod
    def _set_coefficients(self, rows: Floats, errors: Floats, constants: Floats) -> None:
        """Set `coef_`, `coef_standard_errors_` and `intercept_`, from one row per class."""

    def _with_targets(
        self, X: ArrayLike, targets: ArrayLike | None, *, reset: bool, y_numeric: bool = False
    ) -> "tuple[Samples, Floats]":
        """Return features and targets as scikit-learn checks them; missing targets stay NaN."""
        filled = np.nan_to_num(targets, nan=0.0) if isinstance(targets, np.ndarray) else targets
        rows, filled = checked_pairs(
            self, X, filled, accept_sparse="csr", reset=reset, y_numeric=y_numeric
        )
        missing = np.isnan(np.asarray(targets, dtype=np.float64).reshape(-1))
        return rows, np.where(missing, np.nan, filled)

    def _observe(
        self, X: "Samples", y: Floats, weights: ArrayLike | None, *, partial: bool
    ) -> None:
        """Pass samples of arrays on to the learner, and publish what it released."""
        features = X.shape[1]
        shares = as_shares(weights, self.weight_bound, len(y))
        learner = self._stream_learner(features) if partial else self._new_learner(features, len(y))
        self._pass_on(learner, self._scaled(X), y, shares)

    def _observe_table(
        self, X: object, y: ArrayLike | None, weights: ArrayLike | None, *, partial: bool
    ) -> None:
        """Pass a table, or an array in the order of the columns, on to the learner."""
        columns = self._rules
        assert columns is not None
        _refuse_weights(weights)
        features = len(columns.names)
        samples: tuple[object, ...]
        if isinstance(X, np.ndarray) and y is not None:
            samples, count = (X, y), len(X)
        else:
            source = table_of(columns, X, y)
            source, count = (source, 0) if partial else counted(source, columns.read)
            samples = (source,)
        learner = self._stream_learner(features) if partial else self._new_learner(features, count)
        self.n_features_in_ = len(columns.features)
        self.feature_names_in_ = np.array(columns.features, dtype=object)
        self._pass_on(learner, *samples)

    def _pass_on(self, learner: StreamingLearner, *samples: object) -> None:
        """Pass samples on to the learner, and publish what it released.

        The fit is counted first, because the call may end early: after a release, a table that
        fails or is too long has spent as much as one that does not.
        """
        is_new = not learner.clock
        fits = self._shared_fits()
        guarantee = learner.guarantee
        if is_new:
            self._cost_of_fits = fits.add(guarantee)
        try:
            learner.observe_stream(*samples)
        except BaseException:
            if is_new and not learner.clock:  # refused before anybody was read
                fits.remove(guarantee)
            elif learner.releases:
                self._publish(learner)
            raise
        self._publish(learner)

    def _new_learner(self, features: int, samples: int) -> StreamingLearner:
        """Return a learner for `fit`; a stream that was begun before is dropped."""
        for name in ("_learner", "_was_pickled"):
            self.__dict__.pop(name, None)
        return self._make_learner(features, samples, streams=False)

    def _stream_learner(self, features: int) -> StreamingLearner:
        """Return the learner of `partial_fit`, made by its first call."""
        if self.horizon is None:
            raise ConfigError("partial_fit needs horizon: the total number of samples to come")
        if not hasattr(self, "_learner"):
            if getattr(self, "_was_pickled", False):
                raise StateError(
                    "this estimator was unpickled, and pickles leave out raw sums: "
                    "make a new estimator to learn from more samples"
                )
            horizon = require.whole("horizon", self.horizon)
            self._learner = self._make_learner(features, horizon, streams=True)
            self._begun_with = self._parameters()
        if self._parameters() != self._begun_with:
            raise ConfigError(
                "parameters changed since the first partial_fit: make a new estimator"
            )
        return self._learner

    def _parameters(self) -> str:
        """Return all parameters as a text, for comparisons; arrays in full."""
        parameters: dict[str, object] = self.get_params()
        for name, value in parameters.items():
            if isinstance(value, np.ndarray):
                parameters[name] = value.tolist()
        return repr(parameters)

    def _margins(self, X: ArrayLike) -> Floats:
        """Return margins of the rows to predict, one column per row of coefficients.

        A row that is no finite numbers gives NaN, and so does a row of a table that cannot be read.
        """
        check_is_fitted(self, "guarantee_")
        columns = self._rules
        if columns is not None:
            return self._margins_of(features_of(columns, X))
        return self._margins_of(checked(self, X, reset=False, accept_sparse="csr"))

    def _margins_of(self, rows: "Samples") -> Floats:
        """Return the margins of rows in the units of the data."""
        return np.asarray(rows @ np.atleast_2d(self.coef_).T + self.intercept_, dtype=np.float64)

    def _scored(
        self, X: object, y: ArrayLike | None, weights: ArrayLike | None
    ) -> tuple[Floats, Floats]:
        """Return margins, and targets or numbers of classes, of the rows of a table to score.

        A table brings its target itself if `y` is None. Rows that cannot be read are left out.
        """
        check_is_fitted(self, "guarantee_")
        columns = self._rules
        assert columns is not None
        _refuse_weights(weights)
        samples = samples_of(columns, X, y)
        is_read = np.isfinite(samples.features).all(axis=1) & np.isfinite(samples.targets)
        rows = columns.box.decoded(samples.features[is_read])
        return self._margins_of(rows), samples.targets[is_read]

    def _shared_fits(self) -> Fits:
        """Return the counter of fits that this estimator shares with its clones."""
        if not hasattr(self, "_fits"):
            self._fits = Fits()
        return self._fits

    def __sklearn_clone__(self) -> Self:
        copy: Self = super().__sklearn_clone__()
        copy._fits = self._shared_fits()
        return copy

    def __getstate__(self) -> dict[str, object]:
        state: dict[str, object] = dict(super().__getstate__())
        if state.pop("_learner", None) is not None:
            state["_was_pickled"] = True
        return state

    def __sklearn_tags__(self) -> "Tags":
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.columns is None
        # A row that is no numbers counts as nothing, and is not refused.
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.non_deterministic = self.seed is None
        return tags


def _refuse_weights(weights: object) -> None:
    if weights is not None:
        raise ConfigError("sample_weight is for arrays: with columns, every row counts once")
