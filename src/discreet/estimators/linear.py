"""What regressor and classifier share: scaling by public ranges, feeding, reading coefficients
back.
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
"""Where coefficients lie if nobody says."""
HIDDEN = 0.008
"""A share of second moments that noise hides: below it many passes are better over l₁ balls too."""
MOST_HELD = 2**30
"""The most numbers that a batch may hold; larger ones are streamed."""
REMOVED = {
    "method": "leave it out, fit takes many passes and partial_fit streams; facts_['method'] says "
    "how",
    "bound": "leave it out, gradients are clipped at a length that follows from ranges or is "
    "measured",
    "curvature": "leave it out, it follows from the loss and from released values",
    "pace": "leave it out, steps are as long as released values call for",
}
"""Parameters of earlier versions, each with what to write instead."""


class PrivateLinear(BaseEstimator, ABC):  # type: ignore[misc]
    """A linear model whose parameters are attributes, as scikit-learn asks for."""

    forced_mode: str = "auto"
    """The mode of `StreamingLearner` that learns, for audits and benchmarks; no parameter."""

    @abstractmethod
    def _loss(self) -> Loss | SoftmaxLoss:
        """The loss of a sample."""

    def _begin(self, features: int, horizon: int, *, streams: bool) -> StreamingLearner:
        """A learner for features in [−1, 1], divided so that a row is at most 1 long in the dual
        norm.
        """
        loss, size, length = self._loss(), features + 1, self._length(features + 1)
        rows = loss.classes if isinstance(loss, SoftmaxLoss) else 1
        mode = self.forced_mode
        if mode == "auto" and not streams:
            mode = self._mode_of_fit(rows * size, horizon)
        usual = RADIUS["passes" if mode == "passes" else "stream"]
        radius = usual if self.radius == "auto" else self.radius
        if not isinstance(radius, int | float):
            raise ConfigError(f"radius must be a number or auto, got {require.shown(self.radius)}")
        domain = LpBall(rows * size, float(self.p), float(radius) * length)
        make: Callable[..., StreamingLearner] = partial(
            StreamingLearner, method="passes" if mode == "passes" else "auto"
        )
        if mode not in ("auto", "passes"):
            make = partial(forced, StreamingLearner, mode)
        learner: StreamingLearner = make(
            domain,
            loss,
            horizon,
            Privacy(self.epsilon, self.delta),
            feature_bound=1.0,
            target_bound=1.0,
            block="auto" if mode == "passes" else self.block,
            seed=self.seed,
        )
        return learner

    def _mode_of_fit(self, size: int, samples: int) -> str:
        """Many passes where everyone is there at once, if the samples fit into memory and there
        is a δ.
        """
        if size * samples > MOST_HELD or not self.delta:
            return "auto"
        # Over an l₁ ball the leader finds few features among many, where noise hides second
        # moments.
        rho = Privacy(self.epsilon, self.delta).budget.amount
        hidden = 2 * sqrt(size / (2 * rho)) / max(1, samples)
        return "passes" if self.p != 1 or hidden < HIDDEN else "auto"

    def _length(self, size: int) -> float:
        """The longest row of numbers in [−1, 1], in the dual norm."""
        if not isinstance(self.p, int | float) or not self.p >= 1:
            raise ConfigError(f"p must be a number, at least 1, got {require.shown(self.p)}")
        dual = LpBall(1, float(self.p)).dual
        return float(size ** (1 / dual))

    def _scaled(self, features: "Samples") -> Floats:
        """Features mapped from their public ranges to [−1, 1] and clipped, and a constant 1.

        All are divided by the longest that a row can be.
        """
        mapped = scaled(features, *self._ranges(features.shape[1]))
        return np.hstack([mapped, np.ones((len(mapped), 1))]) / self._length(features.shape[1] + 1)

    def _ranges(self, features: int) -> tuple[Floats, Floats]:
        return as_ranges("feature_range", self.feature_range, features)

    def _take(self, learner: StreamingLearner, features: int) -> None:
        """Released coefficients, in the units of the features as they came."""
        low, high = self._ranges(features)
        rows = learner.coefficients.reshape(-1, features + 1) / self._length(features + 1)
        errors = learner.standard_errors.reshape(rows.shape) / self._length(features + 1)
        self._weights = rows[:, :-1] * 2 / (high - low)
        self._errors = errors[:, :-1] * 2 / (high - low)
        self._constants = rows[:, -1] - rows[:, :-1] @ ((high + low) / (high - low))
        self.facts_ = learner.facts
        self.guarantee_ = f"{learner.guarantee} {self._beyond}"

    def _with_targets(
        self, X: ArrayLike, targets: ArrayLike | None, *, reset: bool, y_numeric: bool = False
    ) -> "tuple[Samples, Floats]":
        """Features and targets as scikit-learn checks them; who has no target stays, and says
        nothing.
        """
        there = np.nan_to_num(targets, nan=0.0) if isinstance(targets, np.ndarray) else targets
        rows, there = checked_pairs(
            self, X, there, accept_sparse="csr", reset=reset, y_numeric=y_numeric
        )
        missing = np.isnan(np.asarray(targets, dtype=np.float64).reshape(-1))
        return rows, np.where(missing, np.nan, there)

    def _fed(self, X: "Samples", y: Floats, weights: ArrayLike | None, *, partial: bool) -> None:
        features = X.shape[1]
        shares = as_shares(weights, self.weight_bound, len(y))
        learner = self._going_on(features) if partial else self._anew(features, len(y))
        is_new = not learner.clock
        learner.observe_stream(self._scaled(X), y, shares)
        if is_new:
            self._beyond = self._shared_fits().add(learner.guarantee)
        self._take(learner, features)

    def _anew(self, features: int, samples: int) -> StreamingLearner:
        for name in ("_learner", "_was_pickled"):
            self.__dict__.pop(name, None)
        return self._begin(features, samples, streams=False)

    def _going_on(self, features: int) -> StreamingLearner:
        if self.horizon is None:
            raise ConfigError("partial_fit needs horizon: how many samples will come in all")
        if not hasattr(self, "_learner"):
            if getattr(self, "_was_pickled", False):
                raise StateError(
                    "this estimator came from a pickle, which leaves out raw sums: it cannot go "
                    "on learning"
                )
            self._learner = self._begin(
                features, require.whole("horizon", self.horizon), streams=True
            )
            self._begun_with = self._parameters()
        if self._parameters() != self._begun_with:
            raise ConfigError(
                "parameters changed since the first partial_fit: make a new estimator"
            )
        return self._learner

    def _parameters(self) -> str:
        found: dict[str, object] = self.get_params()
        whole = {
            name: value.tolist() for name, value in found.items() if isinstance(value, np.ndarray)
        }
        return repr(found | whole)

    def _margins(self, X: ArrayLike) -> Floats:
        """Margins of rows that the caller asks about; NaN for a row with NaN, an error if X is
        no numbers.
        """
        check_is_fitted(self, "guarantee_")
        rows = without_data(
            partial(
                validate_data,
                self,
                X,
                reset=False,
                accept_sparse="csr",
                ensure_all_finite="allow-nan",
            )
        )
        return np.asarray(rows @ self._weights.T + self._constants, dtype=np.float64)

    def _shared_fits(self) -> Fits:
        """The fits of this estimator and of its clones."""
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
        tags.input_tags.allow_nan = tags.input_tags.string = (
            True  # a row that is no numbers says nothing
        )
        tags.non_deterministic = self.seed is None
        return tags
