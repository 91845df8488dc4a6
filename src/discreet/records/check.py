"""Checks of people's rows before any budget is spent: how many cannot be read, and by which rule.

A check reads people's data and publishes counts of it without noise, so it is NOT private. It has
counts of unreadable rows only: no values, no extremes, no categories that it found.
"""

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from discreet import html
from discreet.arrays import Mask
from discreet.frames import frame_of
from discreet.records.cells import Cells

if TYPE_CHECKING:
    import polars

    from discreet.progress import Report

Rows = TypeVar("Rows", bound=Cells)
NOT_PRIVATE = (
    "NOT private: these counts depend on people's data. Keep this output where the data is."
)


@dataclass(frozen=True)
class Check:
    """The number of rows that cannot be read, in all and by rule; NOT private.

    >>> print(Check(rows=53_940, unreadable=12, by_rule={"carat: no number": 12}))
    NOT private: these counts depend on people's data. Keep this output where the data is.
    carat: no number (12 rows)
    rows that cannot be read, in all: 12 of 53,940
    """

    rows: int
    unreadable: int
    """The number of rows that one or several rules name."""
    by_rule: dict[str, int] = field(default_factory=dict)
    """The number of rows per rule, for rules that name some."""
    notices: tuple[str, ...] = ()
    """Public facts about the table and the settings."""

    def as_plain(self) -> dict[str, object]:
        """Return the check as plain data."""
        return {"warning": NOT_PRIVATE} | asdict(self)

    def to_frame(self) -> "polars.DataFrame":
        """Return a Polars frame with one row per rule; it is NOT private.

        Needs the extra `tables`.
        """
        rules = np.array(list(self.by_rule), dtype=np.str_)
        rows = np.array(list(self.by_rule.values()), dtype=np.int64)
        return frame_of({"rule": rules, "rows": rows})

    def _repr_html_(self) -> str:
        """Return the warning, the notices and a table of the rules, for notebooks."""
        return html.block(
            *(f"Note: {notice}" for notice in self.notices),
            html.table(["rule", "rows"], list(self.by_rule.items())),
            title=f"Rows that cannot be read: {self.unreadable:,} of {self.rows:,}",
            warning=NOT_PRIVATE,
        )

    def __str__(self) -> str:
        lines = [NOT_PRIVATE, *(f"Note: {notice}" for notice in self.notices)]
        for rule, count in self.by_rule.items():
            lines.append(f"{rule} ({count:,} {'row' if count == 1 else 'rows'})")
        lines.append(f"rows that cannot be read, in all: {self.unreadable:,} of {self.rows:,}")
        return "\n".join(lines)


def checked(
    batches: Iterable[Rows],
    unreadable: Callable[[Rows], dict[str, Mask]],
    blank_row: str,
    notices: Iterable[str] = (),
    report: "Report" = lambda count: None,
) -> Check:
    """Return the check of a table that comes in batches.

    Parameters
    ----------
    batches
        Rows with all columns of the table that are known.
    unreadable
        Returns which rows cannot be read, by the name of the rule.
    blank_row
        The rule of unreadable rows that have no cell at all; no other rule names them.
    notices
        Public facts about the table and the settings.
    report
        Is called with the number of rows of each batch.
    """
    rows = 0
    in_all = 0
    by_rule: dict[str, int] = {}
    for batch in batches:
        found = unreadable(batch)
        unread = np.zeros(len(batch), dtype=np.bool_)
        for named in found.values():
            unread |= named
        blank = _blank(batch, unread)
        for rule, named in {blank_row: blank, **found}.items():
            others = named if rule == blank_row else named & ~blank
            by_rule[rule] = by_rule.get(rule, 0) + int(others.sum())
        in_all += int(unread.sum())
        rows += len(batch)
        report(len(batch))
    return Check(rows, in_all, {rule: n for rule, n in by_rule.items() if n}, tuple(notices))


def checked_rows(rows: Cells, found: dict[str, Mask]) -> Check:
    """Return the check of rows that are in memory, with the rows that each rule names."""
    return checked([rows], lambda batch: found, "row: all cells are empty")


def _blank(rows: Cells, among: Mask) -> Mask:
    """Return which of these rows have no cell in any column."""
    blank = among.copy()
    for name in rows.columns:
        if not blank.any():
            break
        blank &= rows.is_missing(name)
    return blank
