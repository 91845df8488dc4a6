"""Private online regression and classification: coefficients are released after every block.

This file holds the public class; each method is in a file of its own beside it.

Guarantee   docs/guarantees/streaming.md
"""

from collections.abc import Callable, Iterator
from typing import ClassVar, Literal, cast

import numpy as np

from discreet.arrays import Floats
from discreet.budget.privacy import Privacy
from discreet.engine.people import Name, names_of
from discreet.errors import ConfigError, HorizonReached
from discreet.learners.base import Checkpoint, JournalLike, Learner, Modes, guarded
from discreet.learners.constructor import constructor
from discreet.learners.streaming_learner.frank_wolfe import FrankWolfe
from discreet.learners.streaming_learner.leader import GradientLeader
from discreet.learners.streaming_learner.many_passes import ManyPasses
from discreet.learners.streaming_learner.mode import Coefficients, CoefficientsPhase
from discreet.learners.streaming_learner.published import Published
from discreet.learners.streaming_learner.settings import StreamingLearnerSettings
from discreet.learners.streaming_learner.whitened import WhitenedLeader
from discreet.losses import Loss, Samples, SoftmaxLoss
from discreet.optim.domains import Box, LpBall, Simplex
from discreet.progress import Report, bar
from discreet.records.columns import Columns

Batch = tuple[Samples, list[object] | None]
"""Some samples of a table, and the name of each person where they have names."""


class StreamingLearner(Learner[Floats, Floats]):
    """Learn the coefficients of a linear predictor, one private sample per round.

    New coefficients are released after every block of samples; `act()` and `coefficients` return
    the newest. Features beyond their bound are scaled down and targets are clipped, so the
    guarantee holds for every input.

    Guarantee: docs/guarantees/streaming.md. Privacy assumes nothing; value assumes samples that are
    alike over time and a convex loss.

    Runtime: O(d) per sample in one compiled pass (`observe_many`); one noise vector or one draw per
    block.

    Parameters
    ----------
    domain
        The set of admissible coefficients: `LpBall(d, p, radius)`, `Box(d, low, high)` or
        `Simplex(d)` of discreet.domains.
    loss
        A loss of discreet.losses: `SquaredLoss()`, `LogisticLoss()` (targets 0 and 1),
        `HuberLoss(width)`, `SoftmaxLoss(classes)` (targets 0, 1, …; the domain holds one row of
        coefficients per class, one row after another) or `GeneralisedLinearLoss(link)`; or a
        callable `gradient(coefficients, x, y)`.
    horizon
        The number of samples.
    privacy
        The requested guarantee. With `delta=0` it is pure, and value is much lower.
    columns
        How tables are read: `Columns(features, target, bounds=…, categories=…)` of discreet. With
        bounds, features are scaled inside, coefficients are in the units of the table, there is an
        intercept, and `feature_bound`, `target_bound` and the size of the domain follow: `LpBall`
        without parentheses is a ball that suits. The domain holds coefficients of scaled features.
    feature_bound
        The largest norm of a row of features, in the norm dual to the domain's: l_q for an l_p ball
        (1/p + 1/q = 1), l₁ for boxes, l_∞ for simplices. Longer rows are scaled down. The bound is
        public: never compute it from the data.
    target_bound
        Targets are clipped to [−target_bound, target_bound].
    bound
        For a callable loss: the largest norm of the gradient of one sample; longer gradients are
        scaled down. "auto" is a quarter of feature_bound · target_bound.
    method
        "auto": coefficients are released after every block, by the method that suits the public
        settings (`facts["method"]` and `facts["why"]`). "passes": samples are held, two bytes per
        number, and coefficients are released once, at the end, after many passes over them.
        "frank-wolfe": the algorithm of Han et al. (2022), which is the default for pure guarantees
        over l₁ balls and simplices with 10⁵ ≤ ε · horizon ≤ 0.7 · d².
    intercept
        Whether predictions are `X @ coefficients + intercept`, in the units of features and
        targets. The intercept takes the last dimension of the domain, divided by `feature_bound`: a
        ball of radius r holds intercepts up to r · feature_bound, or up to r with `columns` that
        have bounds. It is the last entry of what `act()` and `replay()` return.
    block
        The number of samples between releases.
    seed, journal, checkpoint
        See `SetMaximizer`.

    Examples
    --------
    >>> import numpy as np
    >>> from discreet import Privacy, StreamingLearner
    >>> from discreet.losses import SquaredLoss
    >>> from discreet.domains import LpBall
    >>> generator = np.random.default_rng(0)
    >>> X = generator.uniform(-1, 1, size=(5000, 2)) / np.sqrt(2)
    >>> y = X @ [0.6, -0.4] + generator.normal(0, 0.05, size=5000)
    >>> model = StreamingLearner(
    ...     LpBall(2), SquaredLoss(), 5000, Privacy(1.0, 1e-6),
    ...     feature_bound=1.0, target_bound=1.0, seed=1,
    ... )
    >>> path = model.replay((X, y))           # the coefficients in force at each sample
    >>> model.coefficients.round(1)
    array([ 0.6, -0.4])

    References
    ----------
    Han et al. (2022), "Optimal Private Streaming SCO in l_p-geometry".
    Kairouz et al. (2021), "Practical and Private (Deep) Learning without Sampling or Shuffling".
    """

    settings_type = StreamingLearnerSettings
    modes: ClassVar[Modes] = {
        # too few samples to measure rows; l₁ balls, simplices, several classes, callables
        "leader": GradientLeader,
        # 90/ε samples are at most a tenth of the horizon
        "whitened": WhitenedLeader,
        # one release: `fit` of the estimators
        "passes": ManyPasses,
        # δ = 0 over l₁ balls and simplices, between two bounds on ε · horizon
        "frank-wolfe": FrankWolfe,
    }

    @classmethod
    def choose(cls, settings: StreamingLearnerSettings) -> str:
        return settings.chosen_method

    @constructor
    def __init__(
        self,
        domain: LpBall | Box | Simplex | type[LpBall | Box | Simplex],
        loss: Loss | SoftmaxLoss | type[Loss] | Callable[..., object],
        horizon: int,
        privacy: Privacy,
        *,
        columns: Columns | None = None,
        feature_bound: float | None = None,
        target_bound: float | None = None,
        bound: float | Literal["auto"] = "auto",
        method: Literal["auto", "passes", "frank-wolfe"] = "auto",
        intercept: bool = False,
        block: int | Literal["auto"] = "auto",
        seed: int | None = None,
        journal: JournalLike = None,
        checkpoint: Checkpoint = None,
    ) -> None:
        """Take the fields of `StreamingLearnerSettings`, a `journal` and a `checkpoint`."""

    @property
    def coefficients(self) -> Floats:
        """The newest released coefficients: one per feature, or one row per class.

        Predictions are `X @ coefficients + intercept`; with several classes their scores are
        `X @ coefficients.T + intercept`.
        """
        return self._phase.coefficients[..., : self._features]

    @property
    def intercept(self) -> float | Floats:
        """The newest released intercept in the units of the target, or one entry per class.

        It is 0 without `intercept=True`.
        """
        return self._last_entry(self._phase.coefficients, default=0.0)

    @property
    def standard_errors(self) -> Floats:
        """Standard errors of the newest coefficients, for noise and sampling together.

        A coefficient ± 1.96 standard errors is a 95 % interval for the coefficient of the whole
        population. docs/guarantees/streaming.md shows how they are computed, and why that costs no
        privacy. They are NaN where none is known: before enough releases, for coefficients that
        were not learned, for classifiers, where more gradients are clipped than not, for many
        coefficients, and for the methods that measure nothing ("leader", "frank-wolfe").
        """
        return self._phase.standard_errors[..., : self._features]

    @property
    def intercept_standard_error(self) -> float | Floats:
        """The standard error of the intercept; NaN where `standard_errors` would be.

        It is NaN without `intercept=True`, too.
        """
        return self._last_entry(self._phase.standard_errors, default=np.nan)

    @property
    def _phase(self) -> CoefficientsPhase[Coefficients]:
        """The current block; all modes of this learner have this type of phase."""
        return cast(CoefficientsPhase[Coefficients], self._engine.view.phase)

    @property
    def _features(self) -> int:
        """The number of features, without the constant."""
        features: int = self.settings.features
        return features

    def _last_entry(self, rows: Floats, *, default: float) -> float | Floats:
        """Return the entry of the constant feature: a float, or an array with one per class."""
        has_intercept = self.settings.intercept
        entries = rows[..., -1] if has_intercept else np.full(rows.shape[:-1], default)
        return entries if self.settings.classes > 1 else float(entries)

    @property
    def published(self) -> Published:
        """The newest coefficients with the names of their columns, and their standard errors."""
        columns = self.settings.columns
        names = range(self._features) if columns is None else columns.names
        return Published(
            [str(name) for name in names],
            self.coefficients,
            self.standard_errors,
            self.intercept,
            self.intercept_standard_error,
            self.guarantee.simulated,
        )

    @guarded
    def observe_stream(
        self,
        features: object,
        targets: object = None,
        shares: object = None,
        *,
        persons: object = None,
    ) -> None:
        """Observe many samples in order, and make every release that falls due on the way.

        The newest result is in `coefficients`.

        Parameters
        ----------
        features, targets
            A matrix with one row per sample, and one target per row; or a table alone, which
            `columns` describes: a frame of Polars or pandas, any Arrow stream, the path of a file
            or a folder, a glob, or an iterator of frames. Tables are read in batches. A malformed
            sample adds nothing.
        shares
            The weight of each sample, from 0 to 1; by default 1. A sample whose share is not a
            number adds nothing.
        persons
            One name per sample if the privacy is `keyed`, as in `open_many`; for a table, the name
            of the column.

        Raises
        ------
        OutOfBounds
            If features, targets and shares differ in length.
        HorizonReached
            If there are more samples than rounds left; nothing is learned from them. Of a table
            whose length is not known, the rows up to the horizon are learned from.

        Examples
        --------
        >>> import numpy as np
        >>> from discreet import Privacy, StreamingLearner
        >>> from discreet.losses import SquaredLoss
        >>> from discreet.domains import LpBall
        >>> model = StreamingLearner(
        ...     LpBall(1), SquaredLoss(), 400, Privacy(1.0, 1e-6),
        ...     feature_bound=1.0, target_bound=1.0, seed=1,
        ... )
        >>> model.observe_stream(np.ones((400, 1)), np.full(400, 0.5))
        >>> model.clock, model.releases
        (400, 14)
        """
        answer = self._phase.mode.answer
        if targets is not None:
            samples = answer.streamed(features, targets, shares)
            names = names_of(persons, len(samples), keyed=self._keyed)
            with bar("samples", len(samples)) as report:
                self._stream(samples, names, report)
            return
        if shares is not None:
            raise ConfigError("shares are for arrays: a table has none")
        reader = answer.table_reader(features, persons)
        left = self._rounds.until_horizon
        if reader.count is not None and reader.count > left:
            raise HorizonReached(
                f"{reader.count} rows, but {left} of the planned rounds are left: nothing was "
                "learned from them"
            )
        first = self.clock
        with bar("samples", reader.count) as report:
            for samples, named in _with_count(reader.batches(), lambda: self.clock - first):
                left = self._rounds.until_horizon
                fitting = samples[:left] if len(samples) > left else samples
                names = names_of(named, len(samples), keyed=self._keyed)
                self._stream(fitting, names and names[:left], report)
                if len(samples) > left:
                    raise HorizonReached(
                        f"the table has more rows than the {left} that were left of the planned "
                        "rounds: those were learned from"
                    )

    def _stream(self, samples: Samples, names: list[Name] | None, report: Report) -> None:
        """Observe samples, and make every release that falls due on the way."""
        self._refuse_beyond(samples)
        position = 0
        while position < len(samples):
            self._rounds.release_if_due()
            part = samples[position : position + self._rounds.until_release]
            self._observe_many(part, names and names[position : position + len(part)])
            position += len(part)
            report(len(part))
        self._rounds.release_if_due()


def _with_count(batches: Iterator[Batch], learned: Callable[[], int]) -> Iterator[Batch]:
    """Yield batches; an error of a later one says how many rows were learned from before it."""
    try:
        yield from batches
    except ConfigError as error:
        if not learned():
            raise
        raise ConfigError(
            f"{error}; the {learned()} rows before it were learned from: go on after them"
        ) from None
