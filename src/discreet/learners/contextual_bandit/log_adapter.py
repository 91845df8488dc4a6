"""What a log says to a contextual bandit: who came, which arm they were given, and what came of it.

    propensity = "propensity"     # a column: the probability with which the logged arm was drawn
    least_propensity = 0.1        # the least that any arm ever had; public, never read off the log
    context = ["age", "weight"]   # columns; without it, the names of the features

or `propensity = "uniform"`, if all arms were equally likely for everybody. Besides, a log has the
columns `arm` (by name, or by number if arms have none) and `reward`.

Everybody in the log is asked about, and few were given what the learner decides for them. A row
counts

    if its arm is the one that was decided, and with probability least_propensity / propensity

and adds nothing otherwise. Without the second condition, people whose arm was likely would count
more often than others. With it, whoever has the context x counts with probability p(a|x) · least /
p(a|x) = least, where a is the arm that was decided for them: the same for everybody. So the rows
that count are a uniform sample of all people, each with the arm that the learner chose and the
reward of it, as if the learner had played that share of the rounds itself. The coin that thins is a
public function of the round and of the settings: a run that goes on after a kill tosses the same. A
propensity below the least is kept always, and so counts too seldom; a row with no proper context,
arm, reward or propensity adds nothing.

Privacy rests on none of this: what a row adds depends on that row and on what is public.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import Any

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
)
from discreet.records.log_cells import UNIFORM, item_text

ARM, REWARD = "arm", "reward"


class ContextualBanditLogAdapter(LogAdapter):
    """Rows of a log as contexts, and as rewards of those who were given what was decided for
    them.
    """

    settings_type = ContextualBanditSettings
    settings: ContextualBanditSettings
    keys = ("context", "propensity", "least_propensity")

    @property
    def unanswered(self) -> float:
        return self.settings.middle

    @property
    def meaning(self) -> str:
        return (
            "what the decided arms would have earned, estimated from the share of rows that "
            "count, "
            f"{self._rate:.4g} by the declared propensities; whoever gave no answer counts with "
            f"{self.unanswered:.4g}"
        )

    @property
    def lasting(self) -> dict[str, Any]:
        return {
            name: self.log[name] for name in ("propensity", "least_propensity") if name in self.log
        }

    def estimated(self, report: Report) -> Report | None:
        """What the decisions earned: everybody's row counts with the same declared probability.

        A block's mean is middle + rate · (earned − middle) in expectation, because the rows that do
        not count add the middle of the range. The error has two parts: the noise, over the rate;
        and which rows count, at most half the range · √((1 − rate) / (rate · rows)).
        """
        if "propensity" not in self.log:
            return None
        rate, middle = self._rate, self.settings.middle
        rows = np.diff(report.rounds, prepend=0)
        chance = self.settings.half_range * np.sqrt((1 - rate) / (rate * rows))
        return Report(
            report.rounds,
            middle + (report.value - middle) / rate,
            np.hypot(report.standard_deviation / rate, chance),
        )

    @property
    def _rate(self) -> float:
        """The probability with which a row counts: public, and the same for everybody."""
        return 1 / self.settings.arms if self._uniform else float(self.log["least_propensity"])

    @classmethod
    def completed(cls, plain: dict[str, Any], log: dict[str, Any]) -> dict[str, Any]:
        """Checks what is said of propensities; features without names are called like their
        columns.
        """
        check_propensity(log, (ARM, REWARD), "arm")
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
        others = [ARM, REWARD, *([] if self._uniform else [self.log["propensity"]])]
        for name in others:
            if name in context:
                raise ConfigError(f"the column {name} cannot be part of the context as well")
        return present(header, [*context, *others])

    def contexts(self, rows: Table, columns: Sequence[str]) -> Floats:
        return rows.numbers(columns[: self.settings.features])

    def feedback(self, rows: Table, columns: Sequence[str], tickets: Tickets) -> Floats:
        rewards = rows.numbers([REWARD])[:, 0]
        counts = self._was_decided(rows, tickets)
        counts &= np.isfinite(self.contexts(rows, columns)).all(axis=1)
        if not self._uniform:
            counts &= self._is_kept(rows, tickets)
        return np.where(counts, rewards, np.nan)

    @property
    def _uniform(self) -> bool:
        return bool(self.log["propensity"] == UNIFORM)

    def _was_decided(self, rows: Table, tickets: Tickets) -> Mask:
        """Which rows were given the arm that was decided for them."""
        labels = self.settings.labels
        if labels is None:
            return np.asarray(rows.numbers([ARM])[:, 0] == tickets.numbers)
        numbers = {str(label): number for number, label in enumerate(labels)}
        logged = np.array([numbers.get(item_text(value), -1) for value in rows.values(ARM)])
        return np.asarray(logged == tickets.numbers)

    def _is_kept(self, rows: Table, tickets: Tickets) -> Mask:
        """Which rows the public coin keeps; none whose propensity is no probability."""
        propensities = rows.numbers([self.log["propensity"]])[:, 0]
        with np.errstate(invalid="ignore"):
            proper = (propensities > 0) & (propensities <= 1)
            kept = self._coins.uniform(tickets.rounds) * propensities < self.log["least_propensity"]
        return np.asarray(proper & kept)

    @cached_property
    def _coins(self) -> Coins:
        """Others than the learner's own, whose arms are played by coins at first."""
        return Coins(bytes.fromhex(fingerprint("which rows of a log count", self.settings)))
