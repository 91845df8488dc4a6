"""`rename` and `layout` in a TOML file: how the columns and the rows of a log are read.

The file is that of a run, or has these two tables alone (`discreet evaluate --log`).
"""

from collections.abc import Mapping, MutableMapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TypedDict

from discreet.records.files import open_table
from discreet.records.layouts import Layout, Positions, laid_out, layout_of
from discreet.records.renamed import checked_names, renamed
from discreet.records.sources import Source

ROW_PER_SLATE = "one row per slate"
"""The layout of a log without a declared one, in columns.json."""


class LogKeys(TypedDict, total=False):
    """The TOML of a log that another policy wrote: `discreet evaluate --log log.toml`.

    Parameters
    ----------
    rename
        Columns of the log with the names that the learner knows: `item_id = "item"` reads the
        column item_id as item.
    layout
        How the rows of a log of slates are arranged. Without it, one row per slate: slate, click
        or reward, and propensities.
    """

    rename: Mapping[str, str]
    layout: Layout


@dataclass(frozen=True)
class LogSettings:
    """The names of a log's columns, and its layout."""

    rename: Mapping[str, str] | None = None
    """The names of columns that learners know, by their names in the log; None: unchanged."""
    layout: Layout | None = None

    @classmethod
    def taken_from(cls, plain: MutableMapping[str, object]) -> "LogSettings":
        """Return the settings among those of a TOML file, and remove them there."""
        rename = plain.pop("rename", None)
        names = None if rename is None else checked_names(rename)
        return cls(names, layout_of(plain.pop("layout", None)))

    @property
    def has_propensity_per_place(self) -> bool:
        """Whether a column of propensities has one number per position, none for whole slates."""
        return isinstance(self.layout, Positions)

    @property
    def described(self) -> object:
        """The layout as plain data."""
        if self.layout is None:
            return ROW_PER_SLATE
        return {"kind": self.layout.KIND, **asdict(self.layout)}

    def opened(self, data: Path, *, slots: int = 1, propensity: str | None = None) -> Source:
        """Return the log at a path, with one row per slate if it has a layout.

        Parameters
        ----------
        data
            A file, a folder of files, or a glob.
        slots
            The number of items of a slate.
        propensity
            The column with propensities; None without one.
        """
        log = renamed(open_table(data), self.rename)
        return laid_out(log, self.layout, slots=slots, propensity=propensity)
