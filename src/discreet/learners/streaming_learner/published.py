"""Released coefficients with the names of their columns."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.arrays import Floats
from discreet.errors import ConfigError

if TYPE_CHECKING:
    import polars


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
        """Return a Polars frame with one row per coefficient, and one for the intercept."""
        try:
            import polars
        except ImportError:
            raise ConfigError("frames need Polars: pip install 'discreet[tables]'") from None
        values = np.atleast_2d(self.coefficients)
        errors = np.atleast_2d(self.standard_errors)
        intercepts = np.atleast_1d(np.asarray(self.intercept))
        of_intercepts = np.atleast_1d(np.asarray(self.intercept_standard_error))
        rows = {
            "name": [*self.names, "intercept"] * len(values),
            "coefficient": np.column_stack([values, intercepts]).reshape(-1),
            "standard_error": np.column_stack([errors, of_intercepts]).reshape(-1),
        }
        if len(values) > 1:
            classes = np.repeat(np.arange(len(values)), len(self.names) + 1)
            rows = {"class": classes, **rows}
        return polars.DataFrame(rows)
