"""The result of a selection: the chosen set, and what was released with it."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from discreet import html, svg
from discreet.arrays import Floats
from discreet.budget.guarantee import Guarantee
from discreet.engine.labels import Label
from discreet.frames import frame_of
from discreet.texts import number_text

if TYPE_CHECKING:
    import polars


class Traced(NamedTuple):
    """One drawn item, and the worth of the set up to it, where that was released."""

    item: Label
    worth: float | None
    """The released worth of the set up to this item, to all people together."""


@dataclass(frozen=True, eq=False)
class Chosen:
    """The result of a selection; all of it is public.

    `items` are labels if the selector has them, otherwise numbers; `numbers` are always numbers.
    `value` is the worth of the set to all people together and its standard deviation; None without
    a `report` share of the budget. `trace` has the items in the order in which they were drawn;
    after a histogram, whose noisy counts determine it, also the worth of the set up to each item.
    `counts` are those noisy counts: the released number of people per public cell, for `Nearby` a
    grid with one axis per coordinate. Some are negative, because each has noise with the standard
    deviation `counts_deviation`. Both are None without a histogram.
    """

    items: list[Label]
    numbers: list[int]
    method: str
    why: str
    guarantee: Guarantee
    trace: list[Traced]
    value: tuple[float, float] | None
    people: int
    counts: Floats | None = field(default=None, repr=False)
    counts_deviation: float | None = None

    def as_plain(self) -> dict[str, Any]:
        """Return the result as numbers, strings and lists, for a message or a file.

        The counts are left out: there may be a million of them.
        """
        value = None
        if self.value is not None:
            value = {"mean": self.value[0], "standard_deviation": self.value[1]}
        return {
            "items": self.items,
            "numbers": self.numbers,
            "method": self.method,
            "why": self.why,
            "people": self.people,
            "trace": [{"item": item, "worth": worth} for item, worth in self.trace],
            "value": value,
            "guarantee": str(self.guarantee),
        }

    def to_frame(self) -> "polars.DataFrame":
        """Return a Polars frame with one row per item, in the order in which they were drawn.

        `worth` is that of the set up to the item; NaN where it was not released. Needs the extra
        `tables`.
        """
        numbers = dict(zip(self.items, self.numbers, strict=True))
        worths = [np.nan if traced.worth is None else traced.worth for traced in self.trace]
        return frame_of(
            {
                "item": [traced.item for traced in self.trace],
                "number": [numbers[traced.item] for traced in self.trace],
                "worth": np.array(worths),
            }
        )

    def _repr_html_(self) -> str:
        """Return the items, their worth where it was released, and the guarantee."""
        guarantee = self.guarantee
        rows: list[tuple[str, object]] = [
            ("items", html.labels(self.items)),
            ("chosen by", f"{self.method}: {self.why}"),
            ("people", f"{self.people:,}"),
        ]
        if self.value is not None:
            mean, deviation = self.value
            shown = f"{number_text(mean, 2 * deviation)} (± 2 standard deviations)"
            rows.append(("worth to all people", shown))
        return html.block(
            html.facts(rows),
            self._worths(),
            guarantee.folded,
            title=f"Chosen set of {len(self.items):,}",
            warning=guarantee.warning,
        )

    def _worths(self) -> html.Html | str:
        """The worth of the set item by item; "" where it was not released."""
        trace = self.trace[: svg.MOST_BARS]
        worths = [traced.worth for traced in trace if traced.worth is not None]
        if not worths or len(worths) < len(trace):
            return ""
        names = [traced.item for traced in trace]
        note = "each bar: this item and all above it; from the released histogram"
        if len(self.trace) > len(trace):
            note += f"; the first {len(trace)} of {len(self.trace):,}"
        picture = svg.bars(svg.Bars(names, worths), title="Worth of the set", note=note)
        return html.Html(picture)
