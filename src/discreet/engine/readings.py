"""Readings of released values: scores of candidates, and reports of what decisions earned."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet import html, svg
from discreet.arrays import Floats, Integers
from discreet.budget.guarantee import SIMULATED
from discreet.engine.labels import Label
from discreet.frames import FrameColumn, frame_of

if TYPE_CHECKING:
    import polars

MOST_SLOTS = 10
"""The largest number of slots that are shown."""
MOST_STEPS = 1000
"""The largest number of releases in the picture of a report: a screen has no more columns."""
UNSURE = 5.0
"""Entries of a report that are more than this many times as noisy as the median one do not set the
range of its picture."""


@dataclass(frozen=True)
class Scores:
    """Estimated value of each candidate and its standard deviation, from released values only.

    One entry per candidate, in the order of `labels` (their numbers if they have no labels); for
    slates, one row per slot.
    """

    values: Floats
    standard_deviations: Floats | None
    labels: tuple[Label, ...] = ()
    simulated: bool = False
    """Whether the noise came from a seed, so that nothing is protected."""

    def as_dict(self) -> dict[Label, float] | list[dict[Label, float]]:
        """Return the values by label: a dictionary; for slates, a list with one per slot.

        >>> import numpy as np
        >>> Scores(np.array([0.25, 0.5]), None, ("tea", "milk")).as_dict()
        {'tea': 0.25, 'milk': 0.5}
        """
        if self.values.ndim == 1:
            return dict(zip(self._names, self.values.tolist(), strict=True))
        return [dict(zip(self._names, row, strict=True)) for row in self.values.tolist()]

    @property
    def _names(self) -> tuple[Label, ...]:
        """The labels; numbers where what is estimated has no names, such as entries of a sum."""
        return self.labels or tuple(range(self.values.shape[-1]))

    def to_frame(self) -> "polars.DataFrame":
        """Return a Polars frame with one row per candidate; for slates, per slot and candidate.

        Needs the extra `tables`.
        """
        rows = np.atleast_2d(self.values)
        deviations = self.standard_deviations
        unknown = np.full(rows.shape, np.nan)
        columns: dict[str, FrameColumn] = {
            "label": list(self._names) * len(rows),
            "value": rows.reshape(-1),
            "standard_deviation": (unknown if deviations is None else deviations).reshape(-1),
        }
        if self.values.ndim > 1:
            columns = {"slot": np.repeat(np.arange(len(rows)), rows.shape[1]), **columns}
        return frame_of(columns)

    def _repr_html_(self) -> str:
        """Return bars with whiskers for the best candidates, for notebooks."""
        if self.values.ndim == 1:
            return html.block(self._bars(0, "Scores"), warning=SIMULATED * self.simulated)
        slots = len(self.values)
        first, *others = [
            self._bars(slot, f"Scores in slot {slot + 1} of {slots}")
            for slot in range(min(slots, MOST_SLOTS))
        ]
        more = html.folded("the next slots", *others) if others else ""
        return html.block(first, more, warning=SIMULATED * self.simulated)

    def _bars(self, slot: int, title: str) -> html.Html:
        """The largest values of a slot."""
        values = np.atleast_2d(self.values)[slot]
        best = np.argsort(-np.nan_to_num(values, nan=-np.inf), kind="stable")[: svg.MOST_BARS]
        whiskers = None
        notes = ["estimated from released values"]
        if self.standard_deviations is not None:
            whiskers = (2 * np.atleast_2d(self.standard_deviations)[slot][best]).tolist()
            notes.append("whiskers: ± 2 standard deviations")
        if len(best) < len(values):
            notes.append(f"the {len(best)} largest of {len(values):,}")
        names = [self._names[place] for place in best]
        shown = svg.Bars(names, values[best].tolist(), whiskers)
        return html.Html(svg.bars(shown, title=title, note="; ".join(notes)))


@dataclass(frozen=True)
class Report:
    """What decisions earned, from released values only: one entry per release.

    `value` is the mean reward (clicks: the share of people who clicked; costs: the mean cost) of
    the people between two releases, up to `rounds`. People who gave no answer count with the value
    of a missing answer: the middle of the rewards' range (ContextualBandit), or 0 (sets: no reward,
    no click, no cost).
    """

    rounds: Integers
    value: Floats
    standard_deviation: Floats
    what: str = "mean reward"
    """Name of the quantity in `value`."""
    simulated: bool = False
    """Whether the noise came from a seed, so that nothing is protected."""

    @property
    def shown_range(self) -> tuple[float, float]:
        """The range of values that a picture shows: the bands of all entries but very noisy ones.

        A band has two standard deviations on each side. There must be an entry.
        """
        deviation = self.standard_deviation
        sure = deviation <= UNSURE * float(np.median(deviation))
        low = float((self.value - 2 * deviation)[sure].min())
        high = float((self.value + 2 * deviation)[sure].max())
        margin = 0.08 * (high - low)
        return low - margin, high + margin

    def to_frame(self) -> "polars.DataFrame":
        """Return a Polars frame with one row per release.

        Needs the extra `tables`.
        """
        return frame_of(
            {
                "rounds": self.rounds,
                "value": self.value,
                "standard_deviation": self.standard_deviation,
            }
        )

    def _repr_html_(self) -> str:
        """Return a step line in a band of two standard deviations, for notebooks."""
        title = f"What was earned: {self.what}, block by block"
        if not len(self.rounds):
            return html.block("Nothing is released yet.", title=title)
        edges = np.concatenate([[0], self.rounds])[-MOST_STEPS - 1 :]
        value = self.value[-MOST_STEPS:]
        noise = 2 * self.standard_deviation[-MOST_STEPS:]
        band = svg.Band((value - noise).tolist(), (value + noise).tolist())
        note = "one step per release, from released values only; band: ± 2 standard deviations"
        if len(value) < len(self.value):
            note += f"; the newest {len(value):,} of {len(self.value):,}"
        picture = svg.curves(
            [svg.Line(edges.tolist(), value.tolist(), band=band)],
            title=title,
            note=note,
            x=svg.Axis("rounds"),
            y=svg.Axis(percent=self.what.startswith("share"), within=self.shown_range),
        )
        return html.block(html.Html(picture), warning=SIMULATED * self.simulated)
