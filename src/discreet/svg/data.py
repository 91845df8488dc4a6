"""What a picture shows: axes, lines with their bands, levels and bars."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

MOST_BARS = 20
"""The number of bars that fit into a picture; of more, show the largest."""


@dataclass(frozen=True)
class Axis:
    """The quantity of an axis, and how its numbers are shown.

    Parameters
    ----------
    name
        The quantity and its unit.
    percent
        Whether the numbers are shares, shown as percentages.
    logarithmic
        Whether equal distances are equal factors; only positive numbers are then shown.
    within
        The range shown; by default that of the data. What lies outside is drawn at the border.
    """

    name: str = ""
    percent: bool = False
    logarithmic: bool = False
    within: tuple[float, float] | None = None


@dataclass(frozen=True)
class Band:
    """A range around a line: its lower and its upper heights."""

    low: Sequence[float]
    high: Sequence[float]


@dataclass(frozen=True)
class Line:
    """A line through points; with one x more than y, steps between these edges.

    A number that is not finite leaves a gap.
    """

    x: Sequence[float]
    y: Sequence[float]
    name: str = ""
    band: Band | None = None

    @property
    def heights(self) -> list[float]:
        """All heights of the line and of its band."""
        return [*self.y, *self.band.low, *self.band.high] if self.band else [*self.y]


@dataclass(frozen=True)
class Level:
    """A dotted horizontal line with a name: a goal, or the best that is possible."""

    y: float
    name: str


@dataclass(frozen=True)
class Bars:
    """Horizontal bars from zero, one per name, with whiskers of these half-lengths.

    A whisker that is not finite is left out.
    """

    names: Sequence[object]
    values: Sequence[float]
    whiskers: Sequence[float] | None = None


@dataclass(frozen=True)
class Groups:
    """Groups of horizontal bars from zero, one group per name, with one bar per series each.

    A number that is not finite has no bar.
    """

    names: Sequence[object]
    series: Mapping[str, Sequence[float]]
