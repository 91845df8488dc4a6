"""Base classes of all modes of `StreamingLearner`, whose decisions are released coefficients."""

from functools import cached_property
from typing import Any, Generic, Protocol, TypeVar

import numpy as np

from discreet.arrays import Floats, Integers, repeated
from discreet.budget.guarantee import Wording
from discreet.engine.declarations import DecisionForm, Promise, Readings
from discreet.engine.mode import Mode
from discreet.engine.phase import Phase
from discreet.engine.request import Request
from discreet.learners.streaming_learner.sample_answer import SampleAnswer
from discreet.learners.streaming_learner.settings import StreamingLearnerSettings
from discreet.learners.streams import ALIKE
from discreet.optim.domains import Box
from discreet.records.unit_box import InUnits

ON_BOUNDARY = 0.98
"""Released averages of points on the boundary reach this share of the way to it."""


class Coefficients(Protocol):
    """Public state of a mode: it has coefficients."""

    @property
    def coefficients(self) -> Floats:
        """The newest released coefficients, one class after the other."""


Public = TypeVar("Public", bound=Coefficients)


class GradientMode(Mode):
    """A mode that learns coefficients from gradients of samples."""

    promise = Promise(
        "streaming.md",
        assumes=f"{ALIKE} and a convex loss",
        neighbours="replace one sample",
        words=Wording("sample", "all published coefficients", "coefficients"),
    )
    decisions = DecisionForm("numbers")
    settings: StreamingLearnerSettings

    @cached_property
    def answer(self) -> SampleAnswer:
        return SampleAnswer(self.settings)


class CoefficientsPhase(Phase[Public], Generic[Public]):
    """Phase of a block of samples; its decisions are the newest released coefficients."""

    mode: GradientMode

    @property
    def settings(self) -> StreamingLearnerSettings:
        """The settings of the learner."""
        return self.mode.settings

    # --- coefficients -----------------------------------------------------------------------------

    @property
    def coefficients(self) -> Floats:
        """The newest released coefficients in the user's units: one row per class."""
        rows = self._in_units(self.public.coefficients)
        columns = self.settings.columns
        if columns is None or not columns.is_scaled:
            return rows
        middle = columns.middle if self.settings.shifts else 0.0
        return _joined(columns.box.in_units(rows[..., :-1], rows[..., -1] + middle))

    @property
    def standard_errors(self) -> Floats:
        """Standard errors of the coefficients in the user's units; NaN where they are not known."""
        errors = self._errors()
        columns = self.settings.columns
        if columns is None or not columns.is_scaled:
            return self._in_units(errors)
        return errors.reshape(self.settings.shape)

    def _errors(self) -> Floats:
        """Return standard errors, computed from public values only; NaN where they are not known.

        They are those of `public.coefficients`, or of `settings.directions` of them.
        """
        return np.full(self.public.coefficients.shape, np.nan)

    def _in_units(self, numbers: Floats) -> Floats:
        """Return coefficients or standard errors with intercepts in the units of the target.

        The constant feature carries them (`StreamingLearnerSettings.constant`).
        """
        rows = numbers.reshape(self.settings.shape).copy()
        if self.settings.intercept:
            rows[..., -1] *= self.settings.constant
        return rows

    @cached_property
    def _decision(self) -> Floats:
        """The decision of every round of this block."""
        return self.coefficients.reshape(-1)

    def decide(self, rounds: Integers, request: Request) -> Floats:
        # A copy: the caller may write into it.
        return np.asarray(repeated(self._decision.copy(), len(rounds)))

    def readings(self) -> Readings:
        return Readings(self._plain(), notices=self._notices())

    def _plain(self) -> dict[str, object]:
        """Return coefficients by the names of their columns, and the intercept."""
        rows = self.coefficients
        features = self.settings.features
        plain = {"coefficients": self._named(rows[..., :features].tolist())}
        if self.settings.intercept:
            plain["intercept"] = rows[..., -1].tolist()
        return plain

    def _named(self, coefficients: list[Any]) -> object:
        """Return coefficients by the names of their columns, where the settings have columns."""
        columns = self.settings.columns
        if columns is None:
            return coefficients
        if self.settings.classes > 1:
            return [dict(zip(columns.names, row, strict=True)) for row in coefficients]
        return dict(zip(columns.names, coefficients, strict=True))

    def _notices(self) -> dict[str, str]:
        """Return a notice about coefficients on the boundary of the domain."""
        domain = self.settings.domain
        if domain.reach(self.public.coefficients) < ON_BOUNDARY:
            return {}
        wider = "widen low and high" if isinstance(domain, Box) else "enlarge radius"
        return {"boundary": f"the coefficients lie on the boundary of the domain: {wider}"}


def _joined(units: InUnits) -> Floats:
    """Return coefficients with the intercept as the last entry of each row."""
    return np.concatenate([units.coefficients, np.asarray(units.intercept)[..., None]], axis=-1)
