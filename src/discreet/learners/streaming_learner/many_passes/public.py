"""What the one release of many passes publishes."""

from dataclasses import dataclass

from discreet.arrays import Floats


@dataclass(frozen=True, eq=False)
class Public:
    """What the one release produces."""

    coefficients: Floats
    errors: Floats
    """Standard errors; NaN where they are not known."""
