"""Released coefficients with the names of their columns."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet import html, svg
from discreet.arrays import Floats
from discreet.budget.guarantee import SIMULATED
from discreet.frames import FrameColumn, frame_of
from discreet.optim.roots import NORMAL_95

if TYPE_CHECKING:
    import polars

MOST_CLASSES = 20
"""The largest number of classes that are shown."""


@dataclass(frozen=True, eq=False)
class Published:
    """The newest released coefficients; all of it is public.

    `coefficients` has one entry per name, or one row per class.
    """

    names: list[str]
    coefficients: Floats
    standard_errors: Floats
    intercept: float | Floats
    intercept_standard_error: float | Floats
    simulated: bool = False
    """Whether the noise came from a seed, so that nothing is protected."""

    def as_dict(self) -> dict[str, float | list[float]]:
        """Return the coefficients and the intercept by name; one number per class if many."""
        columns = dict(zip(self.names, self.coefficients.T.tolist(), strict=True))
        return columns | {"intercept": np.asarray(self.intercept).tolist()}

    def errors(self) -> dict[str, float | list[float | None] | None]:
        """Return the standard errors by name, the intercept's too; None where they are unknown."""
        rows = np.atleast_2d(self.standard_errors)
        columns = np.column_stack([rows, np.atleast_1d(self.intercept_standard_error)]).T
        plain = [[None if np.isnan(one) else float(one) for one in column] for column in columns]
        names = [*self.names, "intercept"]
        if self.coefficients.ndim > 1:
            return dict(zip(names, plain, strict=True))
        return {name: column[0] for name, column in zip(names, plain, strict=True)}

    def to_frame(self) -> "polars.DataFrame":
        """Return a Polars frame with one row per coefficient, and one for the intercept.

        Needs the extra `tables`.
        """
        table = self._table
        rows: dict[str, FrameColumn] = {
            "name": [*self.names, "intercept"] * len(table),
            "coefficient": table[..., 0].reshape(-1),
            "standard_error": table[..., 1].reshape(-1),
        }
        if len(table) > 1:
            rows = {"class": np.repeat(np.arange(len(table)), table.shape[1]), **rows}
        return frame_of(rows)

    @property
    def _table(self) -> Floats:
        """Coefficients and standard errors by class and name, those of the intercept last."""
        values = np.atleast_2d(self.coefficients)
        errors = np.atleast_2d(self.standard_errors)
        intercepts = np.atleast_1d(np.asarray(self.intercept))
        of_intercepts = np.atleast_1d(np.asarray(self.intercept_standard_error))
        return np.stack(
            [np.column_stack([values, intercepts]), np.column_stack([errors, of_intercepts])],
            axis=-1,
        )

    def _repr_html_(self) -> str:
        """Return bars with whiskers and a table, for notebooks; one of each per class."""
        table = self._table
        if len(table) == 1:
            return html.block(*self._shown(table[0]), warning=SIMULATED * self.simulated)
        shown = [
            html.folded(f"class {number}", *self._shown(rows))
            for number, rows in enumerate(table[:MOST_CLASSES])
        ]
        more = len(table) - len(shown)
        rest = f"and {more:,} more classes" if more else ""
        return html.block(
            *shown, rest, title="Published coefficients", warning=SIMULATED * self.simulated
        )

    def _shown(self, rows: Floats) -> list[html.Html]:
        """The picture and the table of one class."""
        largest = np.argsort(-np.abs(rows[:-1, 0]), kind="stable")[: svg.MOST_BARS]
        chosen = np.sort(largest)
        notes = ["each per unit of its column"]
        if np.isfinite(rows[chosen, 1]).any():
            notes.append("whiskers: 95 % intervals")
        if len(chosen) < len(self.names):
            notes.append(f"the {len(chosen)} largest of {len(self.names):,}")
        picture = svg.bars(
            svg.Bars(
                [self.names[place] for place in chosen],
                rows[chosen, 0].tolist(),
                (NORMAL_95 * rows[chosen, 1]).tolist(),
            ),
            title="Published coefficients",
            note="; ".join(notes),
        )
        named = zip([*self.names, "intercept"], rows.tolist(), strict=True)
        table = html.table(
            ["name", "coefficient", "standard error"], [(name, *both) for name, both in named]
        )
        return [html.Html(picture), table]
