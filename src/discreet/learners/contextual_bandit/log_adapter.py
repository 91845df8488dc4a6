"""Log adapter of `ContextualBandit`: contexts, and rewards of the arms that were logged.

    propensity = "propensity"     # a column: the probability with which the logged arm was drawn
    least_propensity = 0.1        # the least propensity of any arm; public, never read off the log
    context = ["age", "weight"]   # columns; without it, the names of the features

or `propensity = "uniform"`, if all arms were equally likely in every row. The other columns are
`arm` (by label, or by number if arms have no labels) and `reward`.

The learner decides an arm for every row, and few rows have a reward of that arm. A row counts

    if its arm is the decided one, and then with probability least_propensity / propensity

and adds nothing otherwise. The second condition removes the bias towards people whose arm was
likely: a person with context x counts with probability p(a|x) · least / p(a|x) = least, where a is
the arm that was decided for them. The probability is equal for all people, so the rows that count
are a uniform sample of all people, each with the decided arm and its reward, as if the learner had
played that share of the rounds itself. The coin that samples is a public function of the round and
of the settings, so a run that resumes after a kill tosses the same coins. A row with a propensity
below the least always counts if its arm was decided, which is too seldom. A row with a malformed
context, arm, reward or propensity adds nothing.

Privacy does not depend on this: the contribution of a row depends on that row and on public values.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import ClassVar, Required, TypedDict

import numpy as np

from discreet import require
from discreet.arrays import Floats, Mask
from discreet.engine.codec import fingerprint
from discreet.engine.coins import Coins
from discreet.engine.readings import Report
from discreet.engine.tickets import Tickets
from discreet.errors import ConfigError
from discreet.learners.contextual_bandit.settings import ContextualBanditSettings
from discreet.learners.log_adapter import (
    LogAdapter,
    Table,
    check_propensity,
    list_of_columns,
    present,
    row_columns,
)
from discreet.records.log_cells import UNIFORM, are_probabilities, item_text

ARM = "arm"
REWARD = "reward"


class ContextualBanditLog(TypedDict, total=False):
    """Keys about a log of contexts, arms that another policy chose, and their rewards.

    Parameters
    ----------
    context
        The columns of the context, in order. Without it they are those named like the features.
    propensity
        The column with the probability with which the logged arm was drawn, or "uniform" if all
        arms were equally likely in every row.
    least_propensity
        With a column of propensities: the least probability that any arm had. It is public: never
        read it from the log.
    """

    context: Sequence[str]
    propensity: Required[str]
    least_propensity: float


class ContextualBanditLogAdapter(LogAdapter):
    """Reads the rows of a log as contexts, and as rewards of rows whose arm was decided."""

    settings_type = ContextualBanditSettings
    settings: ContextualBanditSettings
    log_type = ContextualBanditLog
    follows: ClassVar[Mapping[str, tuple[str, ...]]] = {"features": ("context",)}

    @property
    def unanswered(self) -> float:
        return self.settings.middle

    @property
    def meaning(self) -> str:
        return (
            "what the decided arms would have earned, estimated from the share of rows that "
            f"count, {self._rate:.4g} by the declared propensities; a row without a reward counts "
            f"with {self.unanswered:.4g}"
        )

    @property
    def lasting(self) -> dict[str, object]:
        return {
            name: self.log[name] for name in ("propensity", "least_propensity") if name in self.log
        }

    def estimated(self, report: Report) -> Report | None:
        """Return the estimated mean reward of the decided arms.

        Every row counts with the same declared probability, the rate. The mean of a block is
        middle + rate · (earned − middle) in expectation, because the rows that do not count add the
        middle of the range. The error has two parts: the noise, over the rate; and the sampling of
        rows, at most half the range · √((1 − rate) / (rate · rows)).
        """
        if "propensity" not in self.log:
            return None
        rate = self._rate
        middle = self.settings.middle
        rows = np.diff(report.rounds, prepend=0)
        sampling_error = self.settings.half_range * np.sqrt((1 - rate) / (rate * rows))
        return replace(
            report,
            value=middle + (report.value - middle) / rate,
            standard_deviation=np.hypot(report.standard_deviation / rate, sampling_error),
        )

    @property
    def _rate(self) -> float:
        """The probability with which a row counts: public, and equal for all rows."""
        return 1 / self.settings.arms if self._uniform else float(self.log["least_propensity"])

    @classmethod
    def check_log(cls, log: dict[str, object], plain: dict[str, object]) -> None:
        check_propensity(log, (ARM, REWARD), "arm")

    @classmethod
    def completed(cls, plain: dict[str, object], log: dict[str, object]) -> dict[str, object]:
        """Return the settings with features named like their columns."""
        if "context" not in log:
            return plain
        columns = list_of_columns("context", log["context"])
        features = plain.get("features", columns)
        count = len(features) if isinstance(features, list) else features
        if count != len(columns):
            raise ConfigError(
                f"context names {len(columns)} columns, but features is {require.shown(features)}"
            )
        return plain | {"features": features if isinstance(features, list) else columns}

    def columns(self, header: Sequence[str]) -> list[str]:
        labels = self.settings.feature_labels
        if labels is None:
            raise ConfigError(
                f"name the columns of the {self.settings.features} features: in `context`, "
                "or as names of the features"
            )
        context = self.log.get("context", [str(label) for label in labels])
        propensity = [] if self._uniform else [self.log["propensity"]]
        outcome = [ARM, REWARD, *propensity]
        for name in outcome:
            if name in context:
                raise ConfigError(f"the column {name} cannot be part of the context as well")
        return present(header, [*context, *outcome])

    def numeric(self, columns: Sequence[str]) -> list[str]:
        return [name for name in columns if name not in (ARM, self.log.get("propensity"))]

    def answer_columns(self, header: Sequence[str]) -> list[str]:
        return present(header, [REWARD])

    def context_columns(self, header: Sequence[str]) -> list[str]:
        labels = self.settings.feature_labels
        names = None if labels is None else [str(label) for label in labels]
        return row_columns(header, self.settings.features, names)

    def check_columns(self, header: Sequence[str]) -> list[str]:
        """Return the columns of contexts, and of arms and rewards that are there."""
        outcome = [name for name in (ARM, REWARD) if name in list(header)]
        rest = [name for name in list(header) if name not in outcome]
        labels = self.settings.feature_labels
        return [*self.context_columns(rest if labels is None else header), *outcome]

    def contexts(self, rows: Table, columns: Sequence[str]) -> Floats:
        return rows.numbers(columns[: self.settings.features])

    def answers(self, rows: Table, columns: Sequence[str]) -> Floats:
        return rows.numbers([REWARD])[:, 0]

    @property
    def answer_names(self) -> list[str]:
        return [REWARD]

    def unreadable(self, rows: Table, columns: Sequence[str]) -> dict[str, Mask]:
        found = super().unreadable(rows, columns)
        if ARM in columns:
            empty = rows.is_missing(ARM)
            found[f"{ARM}: empty"] = empty
            found[f"{ARM}: none of the arms"] = ~empty & (self._arms(rows) < 0)
        propensity = self.log.get("propensity", UNIFORM)
        if propensity != UNIFORM:
            found[f"{propensity}: no probability"] = ~are_probabilities(
                rows.numbers([propensity])[:, 0]
            )
        return found

    def feedback(self, rows: Table, columns: Sequence[str], tickets: Tickets) -> Floats:
        rewards = self.answers(rows, columns)
        counts = self._was_decided(rows, tickets)
        counts &= np.isfinite(self.contexts(rows, columns)).all(axis=1)
        if not self._uniform:
            counts &= self._is_sampled(rows, tickets)
        return np.where(counts, rewards, np.nan)

    @property
    def _uniform(self) -> bool:
        """Whether all arms of the log were equally likely."""
        return bool(self.log["propensity"] == UNIFORM)

    def _was_decided(self, rows: Table, tickets: Tickets) -> Mask:
        """Return a mask of the rows whose logged arm is the decided one."""
        return np.asarray(self._arms(rows) == tickets.numbers)

    def _arms(self, rows: Table) -> Floats:
        """Return the number of each row's logged arm; −1 for none of the arms."""
        labels = self.settings.labels
        if labels is None:
            numbers = rows.numbers([ARM])[:, 0]
            with np.errstate(invalid="ignore"):
                is_arm = (numbers >= 0) & (numbers < self.settings.slots) & (numbers % 1 == 0)
            return np.where(is_arm, numbers, -1.0)
        places = {str(label): float(number) for number, label in enumerate(labels)}
        return np.array([places.get(item_text(value), -1.0) for value in rows.values(ARM)])

    def _is_sampled(self, rows: Table, tickets: Tickets) -> Mask:
        """Return a mask of the rows that the public coin samples; invalid propensities never."""
        propensities = rows.numbers([self.log["propensity"]])[:, 0]
        with np.errstate(invalid="ignore"):
            is_valid = are_probabilities(propensities)
            drawn = self._coins.uniform(tickets.rounds) * propensities
            is_sampled = drawn < self.log["least_propensity"]
        return np.asarray(is_valid & is_sampled)

    @cached_property
    def _coins(self) -> Coins:
        """Coins that differ from those of the learner, which draw arms in the first blocks."""
        return Coins(bytes.fromhex(fingerprint("which rows of a log count", self.settings)))
