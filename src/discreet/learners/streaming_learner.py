"""A regression or a classifier whose coefficients are published again and again, while every sample stays private.

This file says what the learner is; how it learns is in discreet/learners/streaming/, one file a method.

Guarantee   docs/guarantees/streaming.md
"""

import os
from dataclasses import dataclass
from math import inf
from typing import Any, Literal

import numpy as np

from discreet.arrivals.interrupts import raise_interrupts
from discreet.arrivals.losses import CallableLoss, GeneralisedLinearLoss, HuberLoss, LogisticLoss, Loss, Samples, SquaredLoss
from discreet.decide.domains import Box, Domain, LpBall, Simplex
from discreet.errors import ConfigError, HorizonReached, OutOfBounds
from discreet.learners.hedge import MOST_ROUNDS
from discreet.learners.streaming.corners import FrankWolfeCorners
from discreet.learners.streaming.frank_wolfe import FrankWolfe
from discreet.learners.streaming.leader import GradientLeader
from discreet.learners.streaming.mode import Mode, Setting
from discreet.release.arrays import Floats
from discreet.release.coins import Coin
from discreet.release.config import Config
from discreet.release.door import Door
from discreet.release.entrance import as_row
from discreet.release.journal import Journal
from discreet.release.learner import Learner
from discreet.release.privacy import Privacy
from discreet.release.turn import Asked, Batch, Plan, State

__all__ = ["StreamingLearner", "StreamingLearnerConfig"]

LOSSES: dict[str, Any] = {"SquaredLoss": SquaredLoss, "LogisticLoss": LogisticLoss, "HuberLoss": HuberLoss}
MOST_NUMBERS = 10**7
LARGEST, SMALLEST = 1e8, 1e-8
"""Of bounds: far inside what floats can hold."""


@dataclass(frozen=True, kw_only=True)
class StreamingLearnerConfig(Config):
    """The public settings of a streaming learner."""

    domain: str
    dimension: int
    p: float | str | None = None
    radius: float | None = None
    low: float | None = None
    high: float | None = None
    loss: str = "SquaredLoss"
    width: float | None = None
    link: str | None = None
    feature_bound: float
    target_bound: float
    bound: float | str = "auto"
    method: str = "auto"
    curvature: float | str = "auto"
    pace: float = 1.0
    allocation: str = "anytime"
    intercept: bool = False
    block: int | str = "auto"


class StreamingLearner(Learner):
    """Learn the coefficients of a linear predictor from one sample a round, and publish them without giving any sample away.

    After every block of samples new coefficients are released: `act()` and `coefficients` give the newest. Features and targets beyond
    their bounds are scaled and clipped, so the guarantee holds whatever comes in.

    Guarantee: docs/guarantees/streaming.md. Privacy assumes nothing; value assumes samples that are alike over time and a convex loss.
    Runtime: O(d) a sample in one compiled pass (`observe_many`); one noise vector or one draw a block.

    Parameters
    ----------
    domain
        Where coefficients lie: `LpBall(d, p, radius)`, `Box(d, low, high)` or `Simplex(d)` of discreet.domains.
    loss
        `SquaredLoss()`, `LogisticLoss()` (targets 0 and 1), `HuberLoss(width)`, `GeneralisedLinearLoss(link)` of discreet.arrivals, or a
        callable `gradient(coefficients, x, y)`.
    horizon
        How many samples.
    privacy
        What is asked for; with `delta=0` the guarantee is pure and costs much more.
    feature_bound
        The longest a row of features may be, in the norm dual to the domain's: l_q for an l_p ball (1/p + 1/q = 1), l₁ for boxes, l_∞ for
        simplices. Longer rows are scaled down. A public number: never read it off the data.
    target_bound
        Targets are clipped to [−target_bound, target_bound].
    bound
        The longest a sample's gradient may be; longer ones are scaled down. "auto": a quarter (frank-wolfe: half) of feature_bound ·
        target_bound; for classifiers of feature_bound.
    method
        "leader" (regularised leader on noisy sums of gradients), "frank-wolfe" (corners of the domain; for l₁ balls and simplices drawn
        by the exponential mechanism), or "auto": leader, but for pure guarantees over l₁ balls and simplices frank-wolfe.
    curvature
        Leader: how strongly convex the expected loss is; 0 for a loss that is only convex. "auto": a sixteenth of what features
        that are spread evenly over the coordinates would give; 0 for l₁ balls, simplices and callables.
    pace
        A factor for the step length.
    allocation
        Draws of corners: "anytime" (all coefficients are good) or "final" (the last ones).
    intercept
        The last coefficient belongs to a constant feature.
    block
        How many samples between releases.

    Examples
    --------
    >>> from discreet import Privacy, StreamingLearner
    >>> from discreet.arrivals import SquaredLoss
    >>> from discreet.domains import LpBall
    >>> generator = np.random.default_rng(0)
    >>> X = generator.uniform(-1, 1, size=(5000, 2)) / np.sqrt(2)
    >>> y = X @ [0.6, -0.4] + generator.normal(0, 0.05, size=5000)
    >>> model = StreamingLearner(LpBall(2), SquaredLoss(), 5000, Privacy(1.0, 1e-6), feature_bound=1.0, target_bound=1.0, seed=1)
    >>> path = model.replay((X, y))                       # the coefficients that each sample met
    >>> model.coefficients.round(1)
    array([ 0.6, -0.4])

    References
    ----------
    Han et al. (2022), "Optimal Private Streaming SCO in l_p-geometry"; Kairouz et al. (2021), "Practical and Private (Deep)
    Learning without Sampling or Shuffling".
    """

    configuration = StreamingLearnerConfig
    proof = "streaming.md"
    assumes = "samples that are alike over time (i.i.d.) and a convex loss"
    config: StreamingLearnerConfig

    def __init__(
        self,
        domain: Domain,
        loss: Any,
        horizon: int,
        privacy: Privacy,
        *,
        feature_bound: float,
        target_bound: float,
        bound: float | Literal["auto"] = "auto",
        method: Literal["auto", "frank-wolfe", "leader"] = "auto",
        curvature: float | Literal["auto"] = "auto",
        pace: float = 1.0,
        allocation: Literal["anytime", "final"] = "anytime",
        intercept: bool = False,
        block: int | Literal["auto"] = "auto",
        calibration: Literal["tight"] = "tight",
        seed: int | None = None,
        journal: Journal | str | os.PathLike[str] | None = None,
    ) -> None:
        config = StreamingLearnerConfig(
            epsilon=privacy.epsilon, delta=privacy.delta, contributions=privacy.contributions, horizon=horizon, seed=seed,
            calibration=calibration, feature_bound=feature_bound, target_bound=target_bound, bound=bound, method=method,
            curvature=curvature, pace=pace, allocation=allocation, intercept=intercept, block=block, **_domain_settings(domain),
            **_loss_settings(loss),
        )  # fmt: skip
        self._callable = loss if config.loss == "callable" else None
        super().__init__(config, journal)

    @property
    def coefficients(self) -> Floats:
        """The newest released coefficients; the last one is the intercept if there is one."""
        found: Floats = self._turn.public["coefficients"]
        return found.copy()

    def observe_many(self, rows: Any) -> None:
        """End many rounds with `(X, y)`: one row of features (an array or a SciPy sparse matrix) and one target a round."""
        super().observe_many(_samples(rows))

    def observe_stream(self, features: Any, targets: Any) -> None:
        """Feed many samples, crossing releases, and make the release that is due at the end; `coefficients` has the result."""
        samples = Samples(features, targets)
        left = (self.config.horizon or 0) - self._next_rounds(1)[0]
        if len(samples) > left:
            raise HorizonReached(f"{len(samples)} samples, but {left} of the planned rounds are left: nothing was learned from them")
        position = 0
        while position < len(samples):
            count = max(1, self.rounds_until_release)
            self.observe_many(samples[position : position + count])
            position += count
        self.turn()

    def replay(self, rows: Any) -> Any:
        """Feed `(X, y)`, crossing releases, and give the coefficients that each sample met."""
        return super().replay(_samples(rows))

    # --- the hooks --------------------------------------------------------------------------------------------------------------

    def plan(self) -> Plan:
        self._check_config()
        self._setting, self._mode = self._make()
        self._mode.gradients.check()
        return self._mode.plan()

    def start(self) -> tuple[State, State]:
        return self._mode.start()

    def digest(self, public: State, secret: State, batch: Batch) -> State:
        features = self.config.dimension - self.config.intercept
        if batch.single:
            pair = batch.feedback
            if not isinstance(pair, tuple | list) or len(pair) != 2:
                raise OutOfBounds("feedback must be a pair (features, target)")
            samples = Samples(as_row(_dense(pair[0]), features), as_row(pair[1], 1)[0])
        else:
            samples = batch.feedback if isinstance(batch.feedback, Samples) else _paired(batch.feedback)
            if samples.features.shape != (len(batch.rounds), features):
                raise OutOfBounds(f"feedback must be a pair (features, targets) with {features} features a round")
        return self._mode.digest(public, secret, samples, batch.index)

    def release(self, public: State, secret: State, door: Door) -> tuple[State, State]:
        return self._mode.release(public, secret, door)

    def decide(self, public: State, round: int, asked: Asked, coin: Coin) -> Floats:
        coefficients: Floats = public["coefficients"]
        return coefficients

    def decide_many(self, public: State, rounds: range, coin_key: bytes) -> Floats:
        coefficients: Floats = public["coefficients"]
        return np.broadcast_to(coefficients, (len(rounds), len(coefficients)))

    def blank(self) -> Any:
        # Adds nothing; with an intercept it is a sample with target 0.
        return np.zeros(self.config.dimension - self.config.intercept), 0.0

    def _digest(self, batch: Batch) -> None:
        super()._digest(batch)
        raise_interrupts()

    # --- the configuration ------------------------------------------------------------------------------------------------------

    def _check_config(self) -> None:
        config = self.config
        config.check_whole("horizon", "dimension")
        if config.dimension > MOST_NUMBERS or (config.horizon or 0) > MOST_ROUNDS:
            raise ConfigError(f"at most {MOST_NUMBERS} coefficients and {MOST_ROUNDS} samples, got {config.dimension} and {config.horizon}")
        config.check_one_of(method=("auto", "leader", "frank-wolfe"), allocation=("anytime", "final"))
        for name in ("feature_bound", "target_bound", "pace"):
            config.check_number(name, SMALLEST, LARGEST)
        for name in ("bound", "curvature"):
            if getattr(config, name) != "auto" and (name == "bound" or getattr(config, name) != 0):
                config.check_number(name, SMALLEST, LARGEST)
        if config.block != "auto":
            config.check_whole("block")
        if config.calibration != "tight":
            raise ConfigError("the published noise is not private as printed: see discreet.lab.streaming_rivals, or leave calibration")
        for name, least in (("radius", SMALLEST), ("low", -LARGEST), ("high", -LARGEST), ("width", SMALLEST)):
            if getattr(config, name) is not None:
                config.check_number(name, least, LARGEST)
        if (
            config.domain == "Box"
            and not (1.0 if config.high is None else config.high) - (-1.0 if config.low is None else config.low) >= SMALLEST
        ):
            raise ConfigError(f"low and high must be at least {SMALLEST:g} apart, got {config.low} and {config.high}")
        if config.p is not None and config.p != "inf":
            config.check_number("p", 1.0, inf)
        if not isinstance(config.intercept, bool):
            raise ConfigError(f"intercept must be true or false, got {config.intercept!r}")
        if config.intercept and config.dimension < 2:
            raise ConfigError("an intercept needs a domain with one more dimension than there are features")

    def _make(self) -> tuple[Setting, Mode]:
        config = self.config
        domain, loss = _domain(config), self._loss()
        method = config.method
        if method == "auto":  # a pure guarantee for many coefficients: one draw costs less than noise in all of them
            method = "frank-wolfe" if domain.corners and config.privacy.pure and config.dimension > 20 else "leader"
        classifier = not isinstance(loss, CallableLoss) and loss.classifies
        clip = config.feature_bound * (1.0 if classifier else config.target_bound) * (0.25 if method == "leader" else 0.5)
        assert config.horizon is not None
        setting = Setting(
            domain=domain, loss=loss, horizon=config.horizon, budget=config.privacy.budget,
            clip=clip if config.bound == "auto" else float(config.bound), feature_bound=config.feature_bound,
            targets=(-config.target_bound, config.target_bound), constant=config.feature_bound if config.intercept else 0.0,
            block=None if config.block == "auto" else config.block, pace=config.pace,  # type: ignore[arg-type]
        )  # fmt: skip
        if method == "leader":
            return setting, GradientLeader(setting, self._curvature(domain, loss))
        return setting, FrankWolfeCorners(setting, config.allocation) if domain.corners else FrankWolfe(setting)

    def _curvature(self, domain: Domain, loss: Loss | CallableLoss) -> float:
        """A sixteenth of the curvature that features of the largest length, spread evenly over the coordinates, would give.

        Too large a guess stops learning where features vary little; too small a one only leaves the work to the regulariser.
        """
        config = self.config
        if config.curvature != "auto":
            return float(config.curvature)
        if isinstance(loss, CallableLoss) or domain.dual == inf:
            return 0.0
        squared_length = config.feature_bound**2 * config.dimension ** (1 - 2 / domain.dual)
        return float(loss.curvature / 16 * squared_length / config.dimension)

    def _loss(self) -> Loss | CallableLoss:
        config = self.config
        if config.loss == "callable":
            if getattr(self, "_callable", None) is None:
                raise ConfigError("a loss that is a callable is not kept in files: make the learner with it and journal=path")
            return CallableLoss(self._callable)  # type: ignore[arg-type]
        if config.loss == "GeneralisedLinearLoss":
            return GeneralisedLinearLoss("identity" if config.link is None else config.link)  # type: ignore[arg-type]
        if config.loss == "HuberLoss":
            return HuberLoss(1.0 if config.width is None else config.width)
        if config.loss not in LOSSES:
            raise ConfigError(f"loss must be one of {', '.join(LOSSES)}, GeneralisedLinearLoss, got {config.loss!r}")
        made: Loss = LOSSES[config.loss]()
        return made


def _samples(rows: Any) -> Samples:
    if isinstance(rows, Samples):
        return rows
    if isinstance(rows, tuple) and len(rows) == 2:
        return Samples(*rows)
    return _paired(rows)


def _dense(row: Any) -> Any:
    """One sparse row as numbers."""
    if not hasattr(row, "toarray"):
        return row
    try:
        return np.asarray(row.toarray(), dtype=np.float64).reshape(-1)
    except Exception:  # whatever a person's own type raises may tell about them
        raise OutOfBounds("feedback must be a pair (features, target) of numbers") from None


def _paired(pairs: Any) -> Samples:
    """A list of (x, y) pairs as samples."""
    try:
        features, targets = zip(*pairs, strict=True)
    except Exception:
        raise OutOfBounds("feedback must be a pair (features, targets), or a list of pairs (features, target)") from None
    return Samples(list(features), list(targets))


def _domain_settings(domain: Any) -> dict[str, Any]:
    if type(domain) is LpBall:
        p = "inf" if domain.p == inf else float(domain.p)
        return {"domain": "LpBall", "dimension": domain.dimension, "p": p, "radius": float(domain.radius)}
    if type(domain) is Box:
        return {"domain": "Box", "dimension": domain.dimension, "low": float(domain.low), "high": float(domain.high)}
    if type(domain) is Simplex:
        return {"domain": "Simplex", "dimension": domain.dimension, "radius": float(domain.total)}
    raise ConfigError(f"domain must be an LpBall, a Box or a Simplex of discreet.domains, got {domain!r}")


def _domain(config: StreamingLearnerConfig) -> Domain:
    if config.domain == "LpBall":
        return LpBall(config.dimension, float(2 if config.p is None else config.p), 1.0 if config.radius is None else config.radius)
    if config.domain == "Box":
        return Box(config.dimension, -1.0 if config.low is None else config.low, 1.0 if config.high is None else config.high)
    if config.domain == "Simplex":
        return Simplex(config.dimension, 1.0 if config.radius is None else config.radius)
    raise ConfigError(f"domain must be one of LpBall, Box, Simplex, got {config.domain!r}")


def _loss_settings(loss: Any) -> dict[str, Any]:
    kind = loss if isinstance(loss, type) else type(loss)
    if kind is HuberLoss:
        return {"loss": "HuberLoss", "width": float((loss() if loss is kind else loss).width)}
    if kind is GeneralisedLinearLoss:
        return {"loss": "GeneralisedLinearLoss", "link": (loss() if loss is kind else loss).link}
    if LOSSES.get(kind.__name__) is kind:
        return {"loss": kind.__name__}
    if callable(loss) and not isinstance(loss, type):
        return {"loss": "callable"}
    raise ConfigError(f"loss must be a loss of discreet.arrivals or a callable gradient(coefficients, x, y), got {loss!r}")
