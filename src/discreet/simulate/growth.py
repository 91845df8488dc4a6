"""How regret grows with the horizon."""

from collections.abc import Sequence

import numpy as np

__all__ = ["growth"]


def growth(horizons: Sequence[int], regrets: Sequence[float]) -> dict[str, float]:
    """The power of the horizon by which regret grows: least squares in logarithms, with a 95 % interval.

    Regrets come in order of horizons, equally many for each; what is below 1 counts as 1.

    >>> found = growth([100, 400, 1600], [10.1, 9.9, 20.2, 19.8, 40.4, 39.6])
    >>> f"{found['slope']:.2f}, between {found['low']:.2f} and {found['high']:.2f}"
    '0.50, between 0.49 and 0.51'
    """
    from scipy import stats

    times = np.repeat(horizons, len(regrets) // len(horizons))
    fit = stats.linregress(np.log(times), np.log(np.maximum(regrets, 1.0)))
    slope = float(fit.slope)
    half = float(stats.t.ppf(0.975, len(times) - 2) * fit.stderr)
    return {"slope": slope, "low": slope - half, "high": slope + half}
