"""The log adapter of `SetMaximizer`: rows of a log as preferences, rewards or clicks.

* `feedback = "full"`: one column per number of a row, named by its item, by `columns`, or in order;
* "bandit" and "clicks": `slate` (the shown items, separated by spaces, or a JSON list), and
  `reward` or `click` (the item; empty for none).

A log of slates declares their origin. If another policy showed them, all rows enter one warm start:

    propensity = "p"            # a column: one propensity per row, or one per shown item
    least_propensity = 0.01     # smaller ones count as this; public, never computed from the log

or `propensity = "uniform"`, if slates were drawn uniformly from all items. If this run itself
decided them, `slates = "decided"`: a row counts if its slate is the one that was decided.

Logs with one row per position or per event become such logs by `layout` (records/layouts.py).
"""

from collections.abc import Sequence
from typing import Any, Literal, TypedDict

import numpy as np

from discreet.arrays import Mask
from discreet.engine.tickets import Tickets
from discreet.errors import ConfigError
from discreet.learners.labels import Label, names_by_number
from discreet.learners.log_adapter import (
    DECIDED,
    UNLISTED,
    LogAdapter,
    OfAnotherPolicy,
    Table,
    check_decided,
    check_propensity,
    names_of_row,
    present,
    row_columns,
    shown,
)
from discreet.learners.set_maximizer.settings import SetMaximizerSettings
from discreet.records.log_cells import (
    UNIFORM,
    are_probabilities,
    item_text,
    names_in,
    numbers_in,
)

SLATE = "slate"


class SetMaximizerLog(TypedDict, total=False):
    """Keys about a log of preferences, or of slates that visitors saw.

    Parameters
    ----------
    columns
        With `feedback = "full"`: the columns of a row's numbers, in order. Without it they are
        those named like the items, or all columns of the log.
    propensity
        For slates that another policy showed: the column with the probability of the shown items
        at their positions, or "uniform" for slates drawn uniformly from all items. The whole log
        then enters one warm start.
    least_propensity
        With a column of propensities: smaller ones count as this number. It is public: choose it
        without a look at the log.
    slates
        For slates that this run itself decided: "decided". A row counts if its slate is the one
        that was decided.
    """

    columns: Sequence[str]
    propensity: str
    least_propensity: float
    slates: Literal["decided"]


class SetMaximizerLogAdapter(LogAdapter):
    """Reads rows of a log as preferences, rewards or clicks."""

    settings_type = SetMaximizerSettings
    settings: SetMaximizerSettings
    log_type = SetMaximizerLog

    @property
    def _answer(self) -> str:
        """The column of rewards or clicks."""
        return "reward" if self.settings.feedback == "bandit" else "click"

    @property
    def _width(self) -> int:
        """The number of numbers of whole preferences; callables are refused: no log holds them."""
        settings = self.settings
        if settings.functions is None:
            raise ConfigError("a log holds numbers: set function to a family of discreet.functions")
        return settings.functions.width(settings.room)

    @property
    def answer_names(self) -> list[str]:
        if self.settings.feedback != "full":
            return [self._answer]
        return names_of_row(self._width, self.settings.labels)

    def answer_columns(self, header: Sequence[str]) -> list[str]:
        if self.settings.feedback != "full":
            return present(header, [self._answer])
        has_names = self.settings.labels is not None and self._width == self.settings.room
        return present(header, list(self._named)) if has_names else self.columns(header)

    def check_columns(self, header: Sequence[str]) -> list[str]:
        """Return the columns of answers, and that of the slates if the table has it."""
        if self.warm_starts:
            return self.columns(header)
        shown = [SLATE] if self.settings.feedback != "full" and SLATE in list(header) else []
        return [*shown, *self.answer_columns(header)]

    def columns(self, header: Sequence[str]) -> list[str]:
        settings = self.settings
        if settings.feedback != "full":
            if "columns" in self.log:
                raise ConfigError(f'columns is for feedback = "full", got {settings.feedback!r}')
            return self._columns_of_slates(header)
        for key in ("propensity", "least_propensity", "slates"):
            if key in self.log:
                raise ConfigError(
                    f'{key} is for feedback = "bandit" or "clicks", got {settings.feedback!r}'
                )
        width = self._width
        names = self.log.get("columns")
        if names is None and settings.labels is not None and width == settings.items:
            names = [str(label) for label in settings.labels]
        return row_columns(header, width, names)

    def _columns_of_slates(self, header: Sequence[str]) -> list[str]:
        names = [SLATE, self._answer]
        if "propensity" not in self.log:
            check_decided(
                self.log,
                f'; or propensity = "{UNIFORM}" or a column of propensities, '
                "if another policy showed it",
            )
            if "least_propensity" in self.log:
                raise ConfigError(
                    f'least_propensity is for another policy, not for slates = "{DECIDED}"'
                )
            return present(header, names)
        check_propensity(self.log, names, "item")
        if "slates" in self.log:
            raise ConfigError(
                "give propensity if another policy showed the slates, or slates = ..., not both"
            )
        # The column of propensities is no answer: a run with its own decisions has none.
        present(header, [*names, *([] if self._uniform else [self.log["propensity"]])])
        return names

    @property
    def _labels(self) -> Sequence[Label]:
        settings = self.settings
        return (
            names_by_number(settings.items, settings.labels) if self.labels is None else self.labels
        )

    @property
    def _uniform(self) -> bool:
        return bool(self.log["propensity"] == UNIFORM)

    @property
    def warm_starts(self) -> bool:
        return "propensity" in self.log

    @property
    def slots(self) -> int | None:
        return None if self.settings.feedback == "full" else self.settings.slots

    def numeric(self, columns: Sequence[str]) -> list[str]:
        if self.settings.feedback == "full":
            return list(columns)
        return [self._answer] if self.settings.feedback == "bandit" else []

    def of_another_policy(self, rows: Table, columns: Sequence[str]) -> OfAnotherPolicy:
        named = self._named
        slates = [[named.get(name) for name in names_in(text)] for text in rows.texts(SLATE)]
        answers = list(self.answers(rows, columns))
        propensity = self.log["propensity"]
        propensities = (
            UNIFORM if self._uniform else [numbers_in(text) for text in rows.texts(propensity)]
        )
        shown_rows = list(zip(slates, answers, strict=True))
        return OfAnotherPolicy(shown_rows, propensities, self.log.get("least_propensity"))

    @property
    def _named(self) -> dict[str, Label]:
        """The items by the texts that logs have for them."""
        return {str(label): label for label in self._labels}

    def answers(self, rows: Table, columns: Sequence[str]) -> Any:
        if self.settings.feedback == "full":
            answers = rows.numbers(columns)
            later = self._width - len(columns)  # nobody wants items that may be added later
            return np.pad(answers, ((0, 0), (0, later))) if later else answers
        if self.settings.feedback == "bandit":
            return rows.numbers([self._answer])[:, 0]
        named = self._named
        return [_named(value, named) for value in rows.values(self._answer)]

    def feedback(self, rows: Table, columns: Sequence[str], tickets: Tickets) -> object:
        answers = self.answers(rows, columns)
        if self.settings.feedback == "full":
            return answers
        matches = shown(rows.texts(SLATE), tickets.numbers, list(self._named), ordered=True)
        if self.settings.feedback == "bandit":
            return np.where(matches, answers, np.nan)
        return [click if match else None for match, click in zip(matches, answers, strict=True)]

    # --- checks, which are not private ------------------------------------------------------------

    def unreadable(self, rows: Table, columns: Sequence[str]) -> dict[str, Mask]:
        found = super().unreadable(rows, columns)
        if self.settings.feedback == "full":
            return found
        slates = None
        if SLATE in columns:
            slates = [names_in(text)[: self.settings.slots] for text in rows.texts(SLATE)]
            found |= self._unread_slates(slates)
        if self.settings.feedback == "clicks":
            found |= self._unread_clicks(rows, slates)
        if self.warm_starts and not self._uniform:
            column = self.log["propensity"]
            texts = rows.texts(column)
            found[f"{column}: no probability"] = ~np.array(
                [_has_probabilities(text) for text in texts], dtype=np.bool_
            )
        return found

    def _unread_slates(self, slates: list[list[str]]) -> dict[str, Mask]:
        known = set(self._named)
        return {
            f"{SLATE}: no items": np.array([not slate for slate in slates], dtype=np.bool_),
            f"{SLATE}: {UNLISTED}": np.array(
                [not known.issuperset(slate) for slate in slates], dtype=np.bool_
            ),
        }

    def _unread_clicks(self, rows: Table, slates: list[list[str]] | None) -> dict[str, Mask]:
        """Return which clicks are on none of the shown items, or of all items without slates."""
        clicks = rows.values(self._answer)
        empty = rows.is_missing(self._answer)
        rule = UNLISTED if slates is None else "not a shown item"
        among = [list(self._named)] * len(clicks) if slates is None else slates
        strange = [
            item_text(click) not in items for click, items in zip(clicks, among, strict=True)
        ]
        return {f"{self._answer}: {rule}": np.array(strange, dtype=np.bool_) & ~empty}


def _has_probabilities(text: str) -> bool:
    """Whether a cell has one or several probabilities, and nothing else."""
    numbers = np.array(numbers_in(text), dtype=np.float64)
    return bool(len(numbers)) and bool(are_probabilities(numbers).all())


def _named(value: object, labels: dict[str, Label]) -> Label | None:
    """Return the item that a cell names; None for none."""
    return None if value is None else labels.get(item_text(value))
