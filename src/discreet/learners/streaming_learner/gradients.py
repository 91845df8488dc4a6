"""What the methods of `StreamingLearner` share: samples that come in, and sums of their clipped gradients."""

from functools import cached_property
from typing import Any

import numpy as np

from discreet.arrays import Floats, Integers, repeated
from discreet.arrivals.feedback import as_floats, as_numbers_anyway, each_number, row_of
from discreet.arrivals.losses import CallableLoss, Samples, SoftmaxLoss
from discreet.arrivals.person import asked_of, reading
from discreet.budget.guarantee import Wording
from discreet.decide.domains import Box, Simplex
from discreet.decide.fading import fading
from discreet.errors import ConfigError, OutOfBounds
from discreet.learners.streaming_learner.settings import StreamingLearnerSettings
from discreet.learners.streams import ALIKE
from discreet.learners.totals import RunningTotal
from discreet.release.gathering import Gathered, Rows
from discreet.turn.coins import Coins
from discreet.turn.flat import FlatProblem
from discreet.turn.plan import Plan, State
from discreet.turn.questions import Asked, Batch
from discreet.turn.signals import held

__all__ = ["GradientMode", "NoisySum"]

LEAST_OF_CLASSES = 0.1
"""The least share that shrinkage leaves of a classifier, whose classes follow from directions alone."""
LARGEST = 1e100
"""Features larger than this say nothing."""
ON_BOUNDARY = 0.98
"""Published averages of points on the boundary reach this share of the way to it."""
MOST_NUMBERS, MOST_ROWS = 2**22, 4096
"""How many numbers, and how many samples, are held as dense rows at once."""


class GradientMode(FlatProblem):
    """A method that learns coefficients from sums of gradients."""

    proof = "streaming.md"
    neighbours = "replace one sample"
    words = Wording("sample", "all published coefficients", "coefficients")
    settings: StreamingLearnerSettings

    @property
    def assumes(self) -> str:
        return f"{ALIKE} and a convex loss"

    def check_grid(self, rows: Rows) -> None:
        """Refuse grids that are too coarse for so many coefficients."""
        if rows.limit < rows.levels / 2:
            raise ConfigError(
                f"{rows.size} coefficients are too many for this budget: ask for fewer releases "
                "(a larger block), or use method='frank-wolfe' over an l₁ ball or a simplex"
            )

    def standard_errors(self, public: State) -> Floats:
        """How far off the published coefficients are, from what is public; NaN where that is not known."""
        return np.full(public["coefficients"].shape, np.nan)

    def faded(self, average: Floats, learned: Floats, squared: float) -> Floats:
        """The average with what it learned drawn to the start, if that has this squared length in noise."""
        settings = self.settings
        kept = fading(squared, settings.features * settings.classes)
        if settings.classifies:
            kept = max(kept, LEAST_OF_CLASSES)
        return average - (1 - kept) * learned

    def learned(self, coefficients: Floats) -> Floats:
        """What coefficients learned from features: how far they are from the start, but for intercepts."""
        settings = self.settings
        moved = coefficients - settings.domain.start()
        if isinstance(settings.domain, Simplex):  # its coefficients only move together
            return moved
        moved.reshape(settings.shape)[..., settings.features :] = 0.0
        return moved

    def decide(self, public: State, rounds: Integers, asked: Asked, coins: Coins) -> Floats:
        found = self.in_units(public["coefficients"]).reshape(-1)
        return np.asarray(repeated(found, len(rounds)))

    def in_units(self, numbers: Floats) -> Floats:
        """Coefficients or their errors, one row per class, with intercepts in the units of the target.

        The constant feature is as large as the bound of the others, so that noise is alike for all.
        """
        rows = numbers.reshape(self.settings.shape).copy()
        if self.settings.intercept:
            rows[..., -1] *= self.settings.constant
        return rows

    def noticed(self, public: State) -> dict[str, str]:
        domain = self.settings.domain
        if domain.reach(public["coefficients"]) < ON_BOUNDARY:
            return {}
        wider = "widen low and high" if isinstance(domain, Box) else "enlarge radius"
        return {"boundary": f"the coefficients lie on the boundary of the domain: {wider}"}

    def blank(self) -> Any:
        # Without a target it adds nothing, also with an intercept.
        return np.zeros(self.settings.features), float("nan")

    def plain(self, public: State) -> dict[str, Any]:
        found = self.in_units(public["coefficients"])
        if not self.settings.intercept:
            return {"coefficients": found.tolist()}
        return {"coefficients": found[..., :-1].tolist(), "intercept": found[..., -1].tolist()}

    # --- samples ------------------------------------------------------------------------------------------

    @held
    def rows(self, feedback: Any) -> Samples:
        """The samples of a pair (X, y), or of a sequence with one pair per round.

        A tuple is (X, y) only if X is a matrix (an array, a frame, a sparse matrix) with one row for each
        target, which the caller made: people bring numbers, texts, lists and pairs. Any other tuple holds one
        person per entry, like a list: what a person brings never decides how others are read.
        """
        if isinstance(feedback, Samples):
            return feedback
        if isinstance(feedback, tuple) and len(feedback) == 2 and _are_many(*feedback):
            return self.streamed(*feedback)
        try:
            pairs = list(feedback)
        except Exception:
            raise OutOfBounds(
                "feedback must be a pair (array of features, targets), or a list of pairs (features, target)"
            ) from None
        return self._each(pairs)

    @held
    def streamed(self, features: Any, targets: Any, shares: Any = None) -> Samples:
        """Features and targets, of which somebody's may be anything; unusable shares count as 0."""
        if _is_numeric(features):
            samples = Samples(features, targets if _is_numeric(targets) else each_number(targets))
        else:
            samples = self._each(_paired(features, targets))
        if shares is None:
            return samples
        counted = each_number(shares)
        if counted is None or counted.shape != samples.targets.shape:
            raise OutOfBounds("shares must be one number a round")
        samples.shares = np.where(counted >= 0, counted, 0.0)
        return samples

    def _each(self, pairs: list[Any]) -> Samples:
        """One pair a round, of which some may be anything."""
        features = np.full((len(pairs), self.settings.features), np.nan)
        targets = np.full(len(pairs), np.nan)
        for place, pair in enumerate(pairs):
            if type(pair) in (tuple, list) and len(pair) == 2:
                x, y = self._features(pair[0]), as_floats(pair[1])
                if x is not None and y is not None and y.size == 1:
                    features[place], targets[place] = x, y.reshape(-1)[0]
        return Samples(features, targets)

    def _features(self, row: Any) -> Floats | None:
        """One row of features, which may be sparse; None if it is anything else."""
        width = self.settings.features
        if hasattr(row, "toarray") and row.shape in ((width,), (1, width)):
            with reading():
                return row_of(asked_of(lambda: row.toarray().reshape(-1), None), width)
        return row_of(row, width)

    def samples(self, batch: Batch) -> Samples:
        """The samples of a batch, with as many features as there are coefficients for."""
        if not batch.single:
            if batch.feedback.features.shape != (len(batch), self.settings.features):
                wanted = self.settings.features
                raise OutOfBounds(
                    f"feedback must be a pair (features, targets) with {wanted} features a round"
                )
            return batch.feedback  # type: ignore[no-any-return]
        pair = batch.feedback
        if type(pair) not in (tuple, list) or len(pair) != 2:
            raise OutOfBounds("feedback must be a pair (features, target)")
        x, y = self._features(pair[0]), as_floats(pair[1])
        if x is None or y is None or y.size != 1:
            raise OutOfBounds(
                f"feedback must be a pair ({self.settings.features} features, a target) of numbers"
            )
        if not (np.isfinite(x).all() and np.isfinite(y).all()):
            raise OutOfBounds(
                "feedback must be finite: replace NaN and infinite entries before you pass them on"
            )
        return Samples(x.reshape(1, -1), y.reshape(1))

    def within(self, features: Floats) -> Floats:
        """Rows within the declared bound, with the constant if there is one; NaN if they are not finite."""
        return self.evened(features, np.empty((0, self.settings.width)), np.empty(0), 1.0)

    def evened(self, features: Floats, directions: Floats, factors: Floats, rest: float) -> Floats:
        """The same, with each of these directions multiplied by its factor and all else by `rest`."""
        from discreet.arrivals import measured

        settings = self.settings
        rows = np.empty((len(features), settings.width))
        measured.even_rows(
            features, settings.constant, self.dual, settings.feature_bound, directions, factors, rest, rows
        )
        return rows

    # --- gradients ----------------------------------------------------------------------------------------

    @property
    def dual(self) -> float:
        """In which norm features are bounded; 0 stands for l_∞."""
        dual = self.settings.domain.dual
        return 0.0 if np.isinf(dual) else float(dual)

    def rows_at_once(self, size: int) -> int:
        """How many samples of so many numbers are held as dense rows at once."""
        return max(1, min(MOST_ROWS, MOST_NUMBERS // size))

    def add_gradients(
        self, rows: Rows, total: Gathered, samples: Samples, here: Floats, before: Floats, weight: float
    ) -> None:
        """Add ∇f(here) + weight·(∇f(here) − ∇f(before)) of every sample, clipped and quantised by `rows`."""
        settings, loss = self.settings, self.settings.loss
        pieces = samples.dense(self.rows_at_once(rows.size))
        if isinstance(loss, CallableLoss):
            with reading():
                for piece in pieces:
                    pairs = zip(piece.features, piece.targets, piece.shares, strict=True)
                    called = [self._called(here, before, weight, *sample) for sample in pairs]
                    rows.add(total, np.array(called))
            return
        bound, most, constant = settings.feature_bound, settings.target_bound, settings.constant
        for piece in pieces:
            sample = (piece.features, piece.targets, piece.shares)
            if isinstance(loss, SoftmaxLoss):
                table = here.reshape(loss.classes, -1)
                bounds = (self.dual, bound, constant, 1.0)
                rows.add_through("add_class_gradients", total, len(piece), *sample, table, *bounds)
                continue
            slope = (here, before, float(weight), loss.code, float(loss.parameter))
            within = (self.dual, bound, -most, most, constant, 1.0)
            rows.add_through("add_gradients", total, len(piece), *sample, *slope, *within)

    def _called(
        self, here: Floats, before: Floats, weight: float, x: Floats, y: float, share: float
    ) -> Floats:
        """The gradient of one sample by the user's own function."""
        settings, loss = self.settings, self.settings.loss
        assert isinstance(loss, CallableLoss)
        largest = float(np.max(np.abs(x), initial=0.0))
        if not (largest <= LARGEST and np.isfinite(y) and np.isfinite(share)):
            return np.zeros_like(here)
        length = float(np.linalg.norm(x / max(largest, 1e-300), settings.domain.dual)) * largest
        x = x if length <= settings.feature_bound else x * (settings.feature_bound / length)
        x = np.append(x, settings.constant) if settings.constant else x
        y = float(np.clip(y, -settings.target_bound, settings.target_bound))
        newest = loss.of(here, x, y)
        found = newest + weight * (newest - loss.of(before, x, y)) if weight else newest
        return found * min(1.0, max(0.0, share))


class NoisySum(GradientMode):
    """A method that stands on one noisy running total of gradients, clipped to l₂ length (pure: l₁)."""

    def check(self) -> None:
        self.check_grid(self.gradient_rows)

    @cached_property
    def gradient(self) -> RunningTotal[Any]:
        settings = self.settings
        norm = 1 if settings.privacy.pure else 2
        rows = Rows(settings.shape, settings.clip, norm)
        schedule = settings.schedule
        return RunningTotal("gradient", rows, schedule, settings.privacy, people=schedule.block)

    @property
    def gradient_rows(self) -> Rows:
        rows = self.gradient.gathering
        assert isinstance(rows, Rows)
        return rows

    def planned(self, **facts: Any) -> Plan:
        """The plan, with these facts and the usual ones."""
        schedule = self.settings.schedule
        facts |= {"why": self.settings.why, "clip": self.settings.clip}
        facts |= {"block": schedule.block, "releases": schedule.releases}
        return self.gradient.plan(facts | {"noise_in_samples": self.gradient.noise})


def _is_numeric(part: Any) -> bool:
    """Whether this is a whole array of numbers, or a sparse matrix."""
    part = part.to_numpy() if hasattr(part, "to_numpy") else part
    return hasattr(part, "tocsr") or (isinstance(part, np.ndarray) and part.dtype.kind in "biuf")


def _paired(features: Any, targets: Any) -> list[tuple[Any, Any]]:
    """One pair a round, of lists in which some may be anything."""
    try:
        return list(zip(_one_a_round(features), _one_a_round(targets), strict=True))
    except Exception:
        raise OutOfBounds(
            "feedback must be a pair (features, targets): one row and one target a round"
        ) from None


def _one_a_round(part: Any) -> list[Any]:
    part = part.to_numpy() if hasattr(part, "to_numpy") else part
    if isinstance(part, np.ndarray) and part.dtype.kind in "cUS":  # one entry made all texts, or complex
        part = as_numbers_anyway(part)
    return list(part)


def _are_many(features: Any, targets: Any) -> bool:
    """Whether these are a matrix of features and as many targets, rather than two people."""
    rows: tuple[int, ...] = getattr(features, "shape", ())
    known = isinstance(targets, list) or hasattr(targets, "to_numpy") or isinstance(targets, np.ndarray)
    return len(rows) == 2 and known and bool(len(targets) == rows[0])
