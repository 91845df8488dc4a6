"""Base class of the regressor and the classifier: scales by public ranges, feeds a learner.

Released coefficients are mapped back to the units of the data.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import partial
from math import sqrt
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from discreet import require
from discreet.arrays import Floats
from discreet.budget.privacy import Privacy
from discreet.errors import ConfigError, StateError
from discreet.estimators.checked import as_ranges, as_shares, checked_pairs, scaled, without_data
from discreet.estimators.fits import Fits
from discreet.learners.forced import forced
from discreet.learners.streaming_learner import StreamingLearner
from discreet.losses import Loss, SoftmaxLoss
from discreet.optim.domains import LpBall

if TYPE_CHECKING:
    from sklearn.utils import Tags

    from discreet.estimators.checked import Samples


RADIUS = {"stream": 3.0, "passes": 30.0}
"""Default radius of the l_p ball of coefficients."""
HIDDEN = 0.008
"""Share of second moments hidden by noise below which many passes are better over l₁ balls, too."""
MOST_HELD = 2**30
"""Largest number of entries of a batch in memory; larger batches are streamed."""
REMOVED = {
    "method": "leave it out, fit takes many passes and partial_fit streams; facts_['method'] says "
    "how",
    "bound": "leave it out, gradients are clipped at a length that follows from ranges or is "
    "measured",
    "curvature": "leave it out, it follows from the loss and from released values",
    "pace": "leave it out, steps are as long as released values call for",
}
"""Parameters of earlier versions, each with its replacement."""


class PrivateLinear(BaseEstimator, ABC):  # type: ignore[misc]
    """A private linear model whose parameters are attributes, as scikit-learn requires."""

    forced_mode: str = "auto"
    """Mode of `StreamingLearner` to use, for audits and benchmarks; it is not a parameter."""

    @abstractmethod
    def _loss(self) -> Loss | SoftmaxLoss:
        """Return the loss of a sample."""

    def _make_learner(self, features: int, horizon: int, *, streams: bool) -> StreamingLearner:
        """Return a learner for rows of length at most 1 in the dual norm."""
        loss = self._loss()
        length = self._length(features + 1)
        rows = loss.classes if isinstance(loss, SoftmaxLoss) else 1
        size = rows * (features + 1)
        mode = self.forced_mode
        if mode == "auto" and not streams:
            mode = self._mode_of_fit(size, horizon)
        takes_passes = mode == "passes"
        default = RADIUS["passes" if takes_passes else "stream"]
        radius = default if self.radius == "auto" else self.radius
        if not isinstance(radius, int | float):
            raise ConfigError(f"radius must be a number or auto, got {require.shown(self.radius)}")
        make: Callable[..., StreamingLearner] = partial(
            StreamingLearner, method="passes" if takes_passes else "auto"
        )
        if mode not in ("auto", "passes"):
            make = partial(forced, StreamingLearner, mode)
        return make(
            LpBall(size, float(self.p), float(radius) * length),
            loss,
            horizon,
            Privacy(self.epsilon, self.delta),
            feature_bound=1.0,
            target_bound=1.0,
            block="auto" if takes_passes else self.block,
            seed=self.seed,
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

    def _publish(self, learner: StreamingLearner, features: int) -> None:
        """Set the fitted attributes from released coefficients, in the units of the data."""
        low, high = self._ranges(features)
        length = self._length(features + 1)
        rows = learner.coefficients.reshape(-1, features + 1) / length
        errors = learner.standard_errors.reshape(rows.shape) / length
        self._weights = rows[:, :-1] * 2 / (high - low)
        self._errors = errors[:, :-1] * 2 / (high - low)
        self._constants = rows[:, -1] - rows[:, :-1] @ ((high + low) / (high - low))
        self.facts_ = learner.facts
        self.guarantee_ = f"{learner.guarantee} {self._cost_of_fits}"

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
        """Pass samples on to the learner, and publish what it released."""
        features = X.shape[1]
        shares = as_shares(weights, self.weight_bound, len(y))
        learner = self._stream_learner(features) if partial else self._new_learner(features, len(y))
        is_new = not learner.clock
        learner.observe_stream(self._scaled(X), y, shares)
        if is_new:
            self._cost_of_fits = self._shared_fits().add(learner.guarantee)
        self._publish(learner, features)

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
        """Return margins of the rows to predict: NaN for a row with NaN.

        Rows that are no numbers are refused.
        """
        check_is_fitted(self, "guarantee_")
        check = partial(
            validate_data,
            self,
            X,
            reset=False,
            accept_sparse="csr",
            ensure_all_finite="allow-nan",
        )
        rows = without_data(check)
        return np.asarray(rows @ self._weights.T + self._constants, dtype=np.float64)

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
        tags.input_tags.sparse = True
        # A row that is no numbers counts as nothing, and is not refused.
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.non_deterministic = self.seed is None
        return tags
