"""Public state of the mode of many passes."""

from dataclasses import dataclass

from discreet.arrays import Floats


@dataclass(frozen=True, eq=False)
class Public:
    """Public state: the result of the one release."""

    coefficients: Floats
    errors: Floats
    """Standard errors; NaN where they are not known."""
