"""Regressions and classifiers whose coefficients are published again and again; every sample stays
private.

This file says what the learner is; how it learns is in the files beside it, one a method.

Guarantee   docs/guarantees/streaming.md
"""

from collections.abc import Callable
from typing import Any, ClassVar, Literal, cast

import numpy as np

from discreet.arrays import Floats
from discreet.budget.privacy import Privacy
from discreet.engine.people import names_of
from discreet.learners.base import Checkpoint, JournalLike, Learner, Modes, guarded
from discreet.learners.constructor import constructor
from discreet.learners.streaming_learner.frank_wolfe import FrankWolfe
from discreet.learners.streaming_learner.leader import GradientLeader
from discreet.learners.streaming_learner.many_passes import ManyPasses
from discreet.learners.streaming_learner.mode import CoefficientsView
from discreet.learners.streaming_learner.settings import StreamingLearnerSettings
from discreet.learners.streaming_learner.whitened import WhitenedLeader
from discreet.losses import Loss, SoftmaxLoss
from discreet.optim.domains import Box, LpBall, Simplex


class StreamingLearner(Learner):
    """Learn the coefficients of a linear predictor from one sample a round, without giving any
    sample away.

    After every block of samples new coefficients are released: `act()` and `coefficients` give the
    newest. Features and targets beyond their bounds are scaled and clipped, so the guarantee holds
    whatever comes in.

    Guarantee: docs/guarantees/streaming.md. Privacy assumes nothing; value assumes samples that are
    alike over time and a convex loss.

    Runtime: O(d) a sample in one compiled pass (`observe_many`); one noise vector or one draw a
    block.

    Parameters
    ----------
    domain
        Where coefficients lie: `LpBall(d, p, radius)`, `Box(d, low, high)` or `Simplex(d)` of
        discreet.domains.
    loss
        `SquaredLoss()`, `LogisticLoss()` (targets 0 and 1), `HuberLoss(width)`,
        `SoftmaxLoss(classes)` (targets 0, 1, …; the domain holds one row of coefficients after
        another, one a class), `GeneralisedLinearLoss(link)` of discreet.functions, or a callable
        `gradient(coefficients, x, y)`.
    horizon
        How many samples.
    privacy
        What is asked for; with `delta=0` the guarantee is pure and costs much more.
    feature_bound
        The longest a row of features may be, in the norm dual to the domain's: l_q for an l_p ball
        (1/p + 1/q = 1), l₁ for boxes, l_∞ for simplices. Longer rows are scaled down. A public
        number: never read it off the data.
    target_bound
        Targets are clipped to [−target_bound, target_bound].
    bound
        A loss that is a callable: the longest a sample's gradient may be; longer ones are scaled
        down. "auto": a quarter of feature_bound · target_bound.
    method
        "auto": coefficients are published after every block, by the method that public numbers call
        for (`facts["method"]` and `facts["why"]`). "passes": samples are held, two bytes per
        number, and coefficients are published once, at the end, after many passes over them.
        "frank-wolfe": the source paper's own algorithm, which is the default for pure guarantees
        over l₁ balls and simplices with 10⁵ ≤ ε · horizon ≤ 0.7 · d².
    intercept
        Whether predictions are `X @ coefficients + intercept`, in the units of features and
        targets. The intercept takes the last dimension of the domain, divided by `feature_bound`: a
        ball of radius r holds intercepts up to r · feature_bound. What `act()` and `replay()` give
        ends with it.
    block
        How many samples between releases.
    seed, journal, checkpoint
        As for `SetMaximizer`.

    Examples
    --------
    >>> import numpy as np
    >>> from discreet import Privacy, StreamingLearner
    >>> from discreet.losses import SquaredLoss
    >>> from discreet.domains import LpBall
    >>> generator = np.random.default_rng(0)
    >>> X = generator.uniform(-1, 1, size=(5000, 2)) / np.sqrt(2)
    >>> y = X @ [0.6, -0.4] + generator.normal(0, 0.05, size=5000)
    >>> bounds = {"feature_bound": 1.0, "target_bound": 1.0}
    >>> model = StreamingLearner(LpBall(2), SquaredLoss(), 5000, Privacy(1.0, 1e-6), **bounds, seed=1)
    >>> path = model.replay((X, y))                       # the coefficients that each sample met
    >>> model.coefficients.round(1)
    array([ 0.6, -0.4])

    References
    ----------
    Han et al. (2022), "Optimal Private Streaming SCO in l_p-geometry".
    Kairouz et al. (2021), "Practical and Private (Deep) Learning without Sampling or Shuffling".
    """

    settings_type = StreamingLearnerSettings
    modes: ClassVar[Modes] = {
        # too few samples to measure rows, l₁ balls, simplices, classes, callables
        "leader": GradientLeader,
        "whitened": WhitenedLeader,  # 90/ε samples are at most a tenth of all
        "passes": ManyPasses,  # published once: `fit` of estimators
        # δ = 0 over l₁ balls and simplices, between two bounds on ε · horizon
        "frank-wolfe": FrankWolfe,
    }

    @constructor
    def __init__(
        self,
        domain: LpBall | Box | Simplex,
        loss: Loss | SoftmaxLoss | type[Loss] | Callable[..., Any],
        horizon: int,
        privacy: Privacy,
        *,
        feature_bound: float,
        target_bound: float,
        bound: float | Literal["auto"] = "auto",
        method: Literal["auto", "passes", "frank-wolfe"] = "auto",
        intercept: bool = False,
        block: int | Literal["auto"] = "auto",
        seed: int | None = None,
        journal: JournalLike = None,
        checkpoint: Checkpoint = None,
    ) -> None:
        """Each argument is a field of `StreamingLearnerSettings`, but for `journal` and
        `checkpoint`.
        """

    @property
    def coefficients(self) -> Floats:
        """The newest released coefficients: one per feature, with classes one row per class.

        A prediction is `X @ coefficients + intercept`; with classes `X @ coefficients.T +
        intercept`.
        """
        return self._view.coefficients[..., : self._features]

    @property
    def intercept(self) -> Any:
        """The newest released intercept, in the units of the target; with classes one per class.

        0 without `intercept=True`.
        """
        return self._of_intercept(self._view.coefficients, 0.0)

    @property
    def standard_errors(self) -> Floats:
        """How far each newest coefficient is from the one that all people in the world would give.

        1.96 of them are a 95 % interval, for noise and sampling together
        (docs/guarantees/streaming.md says how they are computed, and why that costs no privacy).
        NaN where none is known: before enough releases, for coefficients that were not learned, for
        classes, where more gradients are clipped than not, for many coefficients, and for methods
        that measure nothing ("leader", "frank-wolfe").
        """
        return self._view.standard_errors[..., : self._features]

    @property
    def intercept_standard_error(self) -> Any:
        """The standard error of the intercept, as for coefficients; NaN without
        `intercept=True`.
        """
        return self._of_intercept(self._view.standard_errors, np.nan)

    @property
    def _view(self) -> CoefficientsView[Any]:
        """The block that people are in: all modes of this learner have one of this kind."""
        return cast(CoefficientsView[Any], self._engine.view.learning)

    @property
    def _features(self) -> int:
        features: int = self.settings.features
        return features

    def _of_intercept(self, rows: Floats, without: float) -> Any:
        """What belongs to the constant feature: a float, or an array with one entry per class."""
        found = rows[..., -1] if self.settings.intercept else np.full(rows.shape[:-1], without)
        return found if self.settings.classes > 1 else float(found)

    @guarded
    def observe_stream(
        self, features: Any, targets: Any, shares: Any = None, *, persons: Any = None
    ) -> None:
        """Feed many samples, crossing releases, and make the release that is due at the end.

        `shares` says how much each counts, from 0 to 1. A sample that is malformed, or whose share
        is no number, counts as nothing. `persons` as in `open_many`. The result is in
        `coefficients`.
        """
        samples = self._view.problem.streamed(features, targets, shares)
        names = names_of(persons, len(samples), keyed=self._keyed)
        self._refuse_beyond(samples)
        position = 0
        while position < len(samples):
            self._rounds.release_if_due()
            part = samples[position : position + self._rounds.until_release]
            self._observe_many(part, names and names[position : position + len(part)])
            position += len(part)
        self._rounds.release_if_due()
